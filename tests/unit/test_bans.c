// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lists of bans, compared: what came, what went, and what merely goes on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "bans.h"
#include "prefix.h"

#define SAID_SIZE 512

/* "A PREFIX" words, A: + for new, - for gone. */
static int say(const struct ban *ban, bool is_new, void *context)
{
	char *said = context, text[ADDRESS_TEXT_SIZE];
	size_t length = strlen(said);

	format_prefix(&ban->prefix, text);
	snprintf(said + length, SAID_SIZE - length, "%s%c%s", length ? " " : "", is_new ? '+' : '-',
		 text);
	return 0;
}

/* Words, each PREFIX or PREFIX@END. */
static void fill(struct ban_list *list, const char *words)
{
	char copy[SAID_SIZE], *rest = copy, *word;
	struct policy_prefix prefix;
	struct complaint why;

	snprintf(copy, sizeof(copy), "%s", words);
	while ((word = strsep(&rest, " "))) {
		char *end = strchr(word, '@');

		if (end)
			*end++ = '\0';
		if (!*word)
			continue;
		assert_int_equal(parse_prefix(word, &prefix, &why), 0);
		assert_int_equal(bans_add(list, &prefix, end ? strtoull(end, NULL, 10) : FOREVER),
				 0);
	}
}

static const struct comparison {
	const char *name, *before, *after, *said;
} comparisons[] = {
	{"nothing and nothing", "", "", ""},
	{"the first", "", "192.0.2.1", "+192.0.2.1"},
	{"the last", "192.0.2.1", "", "-192.0.2.1"},
	{"one stays", "192.0.2.1 192.0.2.2", "192.0.2.2 192.0.2.3", "-192.0.2.1 +192.0.2.3"},
	{"in any order", "192.0.2.9 10.0.0.1", "10.0.0.1 192.0.2.9 2001:db8::/32",
	 "+2001:db8::/32"},
	{"a prefix is not its first address", "10.0.0.0/8", "10.0.0.0/32", "-10.0.0.0/8 +10.0.0.0"},
	{"a ban that was made longer is none that is new", "192.0.2.1@5", "192.0.2.1@9", ""},
	{"listed and banned by a limit too", "", "192.0.2.1@5 192.0.2.1@9", "+192.0.2.1"},
	{"one of two ends", "192.0.2.1@5 192.0.2.1@9", "192.0.2.1@9", ""},
};

static void compares(void **state)
{
	const struct comparison *row = *state;
	struct ban_list before = {0}, after = {0};
	char said[SAID_SIZE] = "";

	fill(&before, row->before);
	fill(&after, row->after);
	bans_sort(&before);
	bans_sort(&after);
	assert_int_equal(bans_compare(&before, &after, say, said), 0);
	assert_string_equal(said, row->said);
	bans_free(&before);
	bans_free(&after);
}

static void has(void **state)
{
	struct policy_prefix prefix;
	struct ban_list list = {0};
	struct complaint why;

	(void)state;
	fill(&list, "192.0.2.7@7 192.0.2.3@3 192.0.2.5@5");
	bans_sort(&list);
	fill(&list, "192.0.2.1@1");
	for (unsigned int i = 0; i < 10; i++) {
		char text[ADDRESS_TEXT_SIZE];

		snprintf(text, sizeof(text), "192.0.2.%u", i);
		assert_int_equal(parse_prefix(text, &prefix, &why), 0);
		assert_int_equal(bans_have(&list, &prefix, i), i % 2 && i < 9);
		assert_false(bans_have(&list, &prefix, i + 1));
	}
	bans_free(&list);
}

#define ROWS (sizeof(comparisons) / sizeof(comparisons[0]))

int main(void)
{
	struct CMUnitTest tests[ROWS + 1];

	for (size_t i = 0; i < ROWS; i++)
		tests[i] = (struct CMUnitTest){comparisons[i].name, compares, NULL, NULL,
					       (void *)&comparisons[i]};
	tests[ROWS] = (struct CMUnitTest)cmocka_unit_test(has);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
