// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files of addresses and prefixes. */
#include "list_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "prefix.h"

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

static int read_lines(FILE *file, const char *path, struct policy_prefixes *list,
		      struct complaint *why)
{
	struct policy_prefix prefix;
	struct complaint detail;
	unsigned long number = 0;
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	while (!err && getline(&line, &room, file) >= 0) {
		char *word = strip(line);

		number++;
		if (!*word)
			continue;
		if (parse_prefix(word, &prefix, &detail))
			err = complain(why, -EINVAL, "%s:%lu: %s", path, number, detail.text);
		else if (policy_add_prefix(list, &prefix))
			err = complain(why, -ENOMEM, "%s:%lu: not enough memory", path, number);
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
	err = read_lines(file, path, list, why);
	if (file != stdin)
		fclose(file);
	return err;
}
