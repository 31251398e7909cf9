// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files of addresses and prefixes. */
#include "list_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "prefix.h"
#include "trust.h"

/* Memory is bounded whatever is read: /dev/zero is one line, a pipe may never end. */
#define LINE_LONGEST 4095
#define LIST_LONGEST \
	(4 * LIVE_CAPACITY) /* what no list takes, even when addresses are there twice */

/* The word of a line without blanks and comment; empty when there is none. */
static char *strip(char *line)
{
	size_t length;

	line[strcspn(line, "#\r")] = '\0';
	line += strspn(line, " \t");
	length = strlen(line);
	while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
		line[--length] = '\0';
	return line;
}

static int read_word(const char *word, struct policy_prefixes *list, struct complaint *why)
{
	struct policy_prefix prefix;
	int err;

	if (!*word)
		return 0;
	if (list->count == LIST_LONGEST)
		return complain(why, -EINVAL, "more than %d addresses", LIST_LONGEST);
	err = parse_prefix(word, &prefix, why);
	if (!err && policy_add_prefix(list, &prefix))
		err = complain(why, -ENOMEM, "not enough memory");
	return err;
}

/* Its length without the line break, which may be one more than fits; -1 at the end of the file. */
static ssize_t next_line(FILE *file, char line[LINE_LONGEST + 1])
{
	int byte = getc_unlocked(file);
	size_t length = 0;

	if (byte == EOF)
		return -1;
	for (; byte != EOF && byte != '\n'; byte = getc_unlocked(file)) {
		if (length == LINE_LONGEST)
			return LINE_LONGEST + 1;
		line[length++] = (char)byte;
	}
	line[length] = '\0';
	return (ssize_t)length;
}

/* As editors elsewhere put before UTF-8, and nobody sees. */
static char *skip_mark(char *line)
{
	static const char mark[] = "\xef\xbb\xbf";

	return strncmp(line, mark, sizeof(mark) - 1) ? line : line + sizeof(mark) - 1;
}

static int read_line(char *line, size_t length, bool first, struct policy_prefixes *list,
		     struct complaint *why)
{
	const char *carriage_return;

	/* What is behind it would be lost; of UTF-16, whole lines. */
	if (memchr(line, '\0', length < LINE_LONGEST ? length : LINE_LONGEST))
		return complain(why, -EINVAL, "a zero byte; write plain text (UTF-8)");
	if (length > LINE_LONGEST)
		return complain(why, -EINVAL, "longer than %d bytes; write one address a line",
				LINE_LONGEST);
	/* Where lines end in it alone, a comment would swallow the rest of the file. */
	carriage_return = strchr(line, '\r');
	if (carriage_return && carriage_return[1])
		return complain(why, -EINVAL,
				"a carriage return within the line; end lines with a line feed");
	return read_word(strip(first ? skip_mark(line) : line), list, why);
}

static int read_lines(FILE *file, const char *path, struct policy_prefixes *list,
		      struct complaint *why)
{
	struct complaint detail;
	unsigned long number = 0;
	char line[LINE_LONGEST + 1];
	ssize_t length;
	int err = 0;

	while (!err && (length = next_line(file, line)) >= 0) {
		number++;
		err = read_line(line, (size_t)length, number == 1, list, &detail);
		if (err)
			complain(why, err, "%s:%lu: %s", path, number, detail.text);
	}
	if (!err && ferror(file))
		err = complain(why, -EIO, "cannot read %s: %s", path, strerror(errno));
	return err;
}

int list_file_read(const char *path, struct policy_prefixes *list, struct complaint *why)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	int err;

	if (!file)
		return complain(why, -errno, "cannot open %s: %s", path, strerror(errno));
	err = file == stdin ? 0 : file_trusted(fileno(file), path, why);
	err = err ?: read_lines(file, path, list, why);
	if (file != stdin)
		fclose(file);
	return err;
}
