// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files of addresses and prefixes. */
#include "list_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "prefix.h"
#include "trust.h"

/* The word of a line without blanks and comment; empty when there is none. */
static char *strip(char *line)
{
	size_t length;

	line[strcspn(line, "#\r\n")] = '\0';
	line += strspn(line, " \t");
	length = strlen(line);
	while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
		line[--length] = '\0';
	return line;
}

static int read_line(const char *word, struct policy_prefixes *list, struct complaint *why)
{
	struct policy_prefix prefix;
	int err;

	if (!*word)
		return 0;
	err = parse_prefix(word, &prefix, why);
	if (!err && policy_add_prefix(list, &prefix))
		err = complain(why, -ENOMEM, "not enough memory");
	return err;
}

static int read_lines(FILE *file, const char *path, struct policy_prefixes *list,
		      struct complaint *why)
{
	struct complaint detail;
	unsigned long number = 0;
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int err = 0;

	while (!err && (length = getline(&line, &room, file)) >= 0) {
		number++;
		/* What is behind it would be lost; of UTF-16, whole lines. */
		if (memchr(line, '\0', (size_t)length))
			err = complain(&detail, -EINVAL, "a zero byte; write plain text (UTF-8)");
		else
			err = read_line(strip(line), list, &detail);
		if (err)
			complain(why, err, "%s:%lu: %s", path, number, detail.text);
	}
	if (!err && ferror(file))
		err = complain(why, -EIO, "cannot read %s: %s", path, strerror(errno));
	free(line);
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
