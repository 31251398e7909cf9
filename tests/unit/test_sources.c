// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Ranges of source addresses that tests send from.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <arpa/inet.h>
#include <cmocka.h>

#include "sources.h"

static const struct {
	const char *text;
	unsigned int step;
	uint64_t count; /* 0: refused */
	const char *first;
	const char *second;
} cases[] = {
	{"192.0.2.10", 0, 1, "192.0.2.10", "192.0.2.11"},
	{"192.0.2.254..192.0.3.1", 0, 4, "192.0.2.254", "192.0.2.255"},
	{"192.0.2.255..192.0.3.1", 0, 3, "192.0.2.255", "192.0.3.0"},
	{"192.0.2.77/24", 0, 256, "192.0.2.0", "192.0.2.1"},
	{"198.18.0.0/15", 0, 131072, "198.18.0.0", "198.18.0.1"},
	{"198.18.5.9/16", 24, 256, "198.18.0.9", "198.18.1.9"},
	{"2001:db8::1", 0, 1, "2001:db8::1", "2001:db8::2"},
	{"2001:db8:7::1/48", 0, 65536, "2001:db8:7::1", "2001:db8:7:1::1"},
	{"2001:db8::1/120", 0, 256, "2001:db8::", "2001:db8::1"},
	{"2001:db8:0:ffff::1..2001:db8:1:3::1", 0, 5, "2001:db8:0:ffff::1", "2001:db8:1::1"},
	{"2001:db8::ffff..2001:db8::1:0", 0, 2, "2001:db8::ffff", "2001:db8::1:0"},
	{"2001:db8::1/32", 56, 1 << 24, "2001:db8::1", "2001:db8:0:100::1"},
	{"", 0, 0, NULL, NULL},
	{"192.0.2", 0, 0, NULL, NULL},
	{"192.0.2.1/33", 0, 0, NULL, NULL},
	{"192.0.2.1/", 0, 0, NULL, NULL},
	{"192.0.2.1/2x", 0, 0, NULL, NULL},
	{"192.0.2.9..192.0.2.1", 0, 0, NULL, NULL},
	{"192.0.2.9..2001:db8::1", 0, 0, NULL, NULL},
	{"192.0.2.0/24", 40, 0, NULL, NULL},
	{"2001:db8::1/129", 0, 0, NULL, NULL},
};

static void assert_address(const struct source_prefix *got, const char *want, const char *text)
{
	char shown[INET6_ADDRSTRLEN];

	inet_ntop(got->family, got->bytes, shown, sizeof(shown));
	if (strcmp(shown, want))
		fail_msg("'%s': %s, not %s", text, shown, want);
}

static void ranges_are_walked_address_by_address(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sources s;
		struct source_prefix at;
		int err = sources_parse(cases[i].text, cases[i].step, &s);

		if (!!err != !cases[i].count)
			fail_msg("'%s': returned %d", cases[i].text, err);
		if (err)
			continue;
		if (s.count != cases[i].count)
			fail_msg("'%s': %llu sources, not %llu", cases[i].text,
				 (unsigned long long)s.count, (unsigned long long)cases[i].count);
		at = s.first;
		assert_address(&at, cases[i].first, cases[i].text);
		sources_next(&s, &at);
		assert_address(&at, cases[i].second, cases[i].text);
	}
}

static void prefix_contains_its_own_addresses_only(void **state)
{
	struct source_prefix prefix, inside, outside;

	(void)state;
	assert_int_equal(source_prefix_parse("198.18.0.0/15", &prefix), 0);
	assert_int_equal(source_prefix_parse("198.19.255.255", &inside), 0);
	assert_int_equal(source_prefix_parse("198.20.0.0", &outside), 0);
	assert_true(source_prefix_contains(&prefix, inside.bytes));
	assert_false(source_prefix_contains(&prefix, outside.bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_are_walked_address_by_address),
		cmocka_unit_test(prefix_contains_its_own_addresses_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
