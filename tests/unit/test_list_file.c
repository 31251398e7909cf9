// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files of addresses and prefixes: what is read of each line, and which line is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "list_file.h"
#include "prefix.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A text with its length, for zero bytes in it. */
#define TEXT(text) text, sizeof(text) - 1

struct file_case {
	const char *name;
	const char *text;
	size_t size;
	const char *prefixes; /* as printed, with a blank behind each; NULL: refused */
	const char *says;     /* behind the file's name */
};

#define LINE_LONGEST 4095

/* An address and a comment. */
static char longest_line[LINE_LONGEST + 1];

static const struct file_case cases[] = {
	{"an empty file", TEXT(""), "", NULL},
	{"comments and blank lines", TEXT("# all of it\n\n \t\n"), "", NULL},
	{"an address and a prefix", TEXT("192.0.2.1\n2001:db8::/32\n"), "192.0.2.1 2001:db8::/32 ",
	 NULL},
	{"no line break at the end", TEXT("192.0.2.1\n192.0.2.2"), "192.0.2.1 192.0.2.2 ", NULL},
	{"blanks, a comment and a carriage return", TEXT("\t192.0.2.1 # one\r\n"), "192.0.2.1 ",
	 NULL},
	{"lines that end in a carriage return alone", TEXT("192.0.2.1\r192.0.2.2\r"), NULL,
	 ":1: a carriage return within the line"},
	{"one behind which anything stands", TEXT("192.0.2.1 # one\r192.0.2.2\r\n"), NULL,
	 ":1: a carriage return within the line"},
	{"a byte order mark",
	 TEXT("\xef\xbb\xbf"
	      "192.0.2.1\n192.0.2.2\n"),
	 "192.0.2.1 192.0.2.2 ", NULL},
	{"a byte order mark alone", TEXT("\xef\xbb\xbf"), "", NULL},
	{"one that is not at the beginning",
	 TEXT("192.0.2.1\n\xef\xbb\xbf"
	      "192.0.2.2\n"),
	 NULL, ":2: "},
	{"two words", TEXT("192.0.2.1 192.0.2.2\n"), NULL, ":1: \"192.0.2.1 192.0.2.2\" is not an"},
	{"the number of the line", TEXT("# one\n\n192.0.2.1\nnone\n"), NULL, ":4: \"none\" is not"},
	{"a zero byte behind an address", TEXT("192.0.2.1\0.192.0.2.2\n"), NULL,
	 ":1: a zero byte; write plain text"},
	{"a zero byte before one",
	 TEXT("192.0.2.1\n\0"
	      "192.0.2.2\n"),
	 NULL, ":2: a zero byte"},
	{"a zero byte in a comment", TEXT("# \0\n"), NULL, ":1: a zero byte"},
	{"the longest line", longest_line, LINE_LONGEST, "192.0.2.1 ", NULL},
	{"a line that is longer, as of a file that is no list", longest_line, LINE_LONGEST + 1,
	 NULL, ":1: longer than 4095 bytes"},
	{"an escape sequence is not shown", TEXT("\033[2J\302\233\n"), NULL,
	 ":1: \"?[2J??\" is not"},
};

static void check_prefixes(const struct policy_prefixes *list, const char *want)
{
	char text[ADDRESS_TEXT_SIZE], all[512] = "";

	for (size_t i = 0; i < list->count; i++) {
		size_t used = strlen(all);

		format_prefix(&list->prefixes[i], text);
		snprintf(all + used, sizeof(all) - used, "%s ", text);
	}
	assert_string_equal(all, want);
}

static void reads(void **state)
{
	const struct file_case *row = *state;
	struct policy_prefixes list = {0};
	int file = memfd_create("list", 0), err;
	struct complaint why = {""};
	char path[64];

	assert_true(file >= 0);
	assert_int_equal(write(file, row->text, row->size), row->size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	err = list_file_read(path, &list, &why);
	if (row->prefixes) {
		assert_int_equal(err, 0);
		check_prefixes(&list, row->prefixes);
	} else {
		assert_int_equal(err, -EINVAL);
		if (strncmp(why.text + strlen(path), row->says, strlen(row->says)) != 0)
			fail_msg("says %s", why.text);
	}
	free(list.prefixes);
	close(file);
}

int main(void)
{
	struct CMUnitTest tests[COUNT(cases)];

	memset(longest_line, '#', sizeof(longest_line));
	memcpy(longest_line, TEXT("192.0.2.1"));
	for (size_t i = 0; i < COUNT(cases); i++)
		tests[i] = (struct CMUnitTest){.name = cases[i].name,
					       .test_func = reads,
					       .initial_state = (void *)(uintptr_t)&cases[i]};
	return cmocka_run_group_tests_name("list_file", tests, NULL, NULL);
}
