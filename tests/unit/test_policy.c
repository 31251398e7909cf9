// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The policy: its defaults, and every refusal across its fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "policy.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct rate rate_of(const char *text, enum unit unit)
{
	struct complaint why;
	struct rate rate;

	if (parse_rate(text, unit, &rate, &why))
		fail_msg("%s", why.text);
	return rate;
}

/* A valid policy: `default` of 1000 pps and `bytes` of 10 Mbit/s. */
static void make_valid(struct policy *policy)
{
	struct rate packets = rate_of("1000 pps", UNIT_PACKETS);
	struct rate bytes = rate_of("10 Mbit/s", UNIT_BYTES);
	struct complaint why;

	policy_defaults(policy);
	assert_non_null(policy_add_limit(policy, "default", &packets, &why));
	assert_non_null(policy_add_limit(policy, "bytes", &bytes, &why));
}

static void has_defaults(void **state)
{
	struct complaint why = {""};
	struct policy policy;

	(void)state;
	memset(&policy, 0xff, sizeof(policy));
	policy_defaults(&policy);
	assert_int_equal(policy.sources, 1048576);
	assert_int_equal(policy.ipv4_prefix, 32);
	assert_int_equal(policy.ipv6_prefix, 64);
	assert_int_equal(policy.when_full, WHEN_FULL_PASS);
	assert_int_equal(policy.fragments, FRAGMENTS_COUNT);
	assert_int_equal(policy.malformed, MALFORMED_DROP);
	assert_false(policy.dry_run);
	assert_int_equal(policy.limit_count, 0);
	assert_int_equal(policy_check(&policy, &why), -EINVAL);
	assert_non_null(strstr(why.text, "no limit"));
}

/* O-100: everything optional left out. */
static void adds_limits_with_defaults(void **state)
{
	struct complaint why;
	struct policy policy;

	(void)state;
	make_valid(&policy);
	assert_int_equal(policy.limit_count, 2);
	assert_string_equal(policy.limits[0].name, "default");
	assert_int_equal(policy.limits[0].rate.amount, 1000);
	assert_int_equal(policy.limits[0].burst, 1000);
	assert_int_equal(policy.limits[0].algorithm, ALGORITHM_TOKEN_BUCKET);
	assert_int_equal(policy.limits[0].per.per, PER_SOURCE);
	assert_false(policy.limits[0].observe);
	assert_string_equal(policy.limits[1].name, "bytes");
	assert_int_equal(policy.limits[1].rate.unit, UNIT_BYTES);
	assert_int_equal(policy.limits[1].burst, 312500);
	assert_int_equal(policy_check(&policy, &why), 0);
}

static void refuses_names(void **state)
{
	static const char *const refused[] = {
		"", "Default", "a b", "a.b", "a/b", "\xc3\xa4", "a23456789012345678901234567890xx"};
	static const char *const accepted[] = {"a", "0", "dns-udp_53",
					       "a23456789012345678901234567890x"};
	struct rate rate = rate_of("1 pps", UNIT_PACKETS);
	struct complaint why = {""};
	struct policy policy;

	(void)state;
	make_valid(&policy);
	for (size_t i = 0; i < COUNT(refused); i++) {
		assert_null(policy_add_limit(&policy, refused[i], &rate, &why));
		assert_non_null(strstr(why.text, "1 to 31 characters of a-z 0-9 - _"));
		assert_int_equal(policy.limit_count, 2);
	}
	assert_null(policy_add_limit(&policy, "bytes", &rate, &why));
	assert_non_null(strstr(why.text, "limit named \"bytes\" already"));
	for (size_t i = 0; i < COUNT(accepted); i++)
		assert_non_null(policy_add_limit(&policy, accepted[i], &rate, &why));
}

static void refuses_the_33rd_limit(void **state)
{
	struct rate rate = rate_of("1 pps", UNIT_PACKETS);
	struct complaint why = {""};
	struct policy policy;
	char name[NAME_SIZE];

	(void)state;
	policy_defaults(&policy);
	for (int i = 0; i < MAX_LIMITS; i++) {
		snprintf(name, sizeof(name), "limit-%d", i);
		assert_non_null(policy_add_limit(&policy, name, &rate, &why));
	}
	assert_int_equal(policy_check(&policy, &why), 0);
	assert_null(policy_add_limit(&policy, "one-more", &rate, &why));
	assert_non_null(strstr(why.text, "maximum is 32"));
	assert_int_equal(policy.limit_count, MAX_LIMITS);
}

/* Sets in a valid policy what is not 0 here; @zero names the one field that shall be 0. */
struct check_case {
	const char *name;
	uint64_t sources;
	unsigned int ipv4_prefix, ipv6_prefix;
	uint64_t packet_burst, byte_burst;
	enum { NOTHING, SOURCES, IPV4, IPV6, PACKETS, BYTES, RATE } zero;
	const char *says; /* NULL: accepted */
};

static const struct check_case check_cases[] = {
	{"O-006: a table of 16", .sources = 16, .says = "minimum is 1024"},
	{"O-006: a table of 1023", .sources = 1023, .says = "minimum is 1024"},
	{"O-006: the smallest table", .sources = 1024},
	{"the largest table", .sources = 1ULL << 28},
	{"a table too large", .sources = (1ULL << 28) + 1, .says = "maximum is 268435456"},
	{"O-100: a table of 0", .zero = SOURCES, .says = "table size 0 is too small"},
	{"O-019: IPv6 /1", .ipv6_prefix = 1},
	{"O-019: IPv6 /128", .ipv6_prefix = 128},
	{"O-019: IPv6 /0", .zero = IPV6,
	 .says = "IPv6 prefix length 0 is too small; the minimum is 1"},
	{"O-019: IPv6 /129", .ipv6_prefix = 129, .says = "maximum is 128"},
	{"O-019: IPv4 /1", .ipv4_prefix = 1},
	{"O-019: IPv4 /0", .zero = IPV4,
	 .says = "IPv4 prefix length 0 is too small; the minimum is 1"},
	{"O-019: IPv4 /33", .ipv4_prefix = 33, .says = "maximum is 32"},
	{"a burst of one packet", .packet_burst = 1},
	{"O-100: a burst of 0 packets", .zero = PACKETS,
	 .says = "limit \"default\": burst \"0 packets\""},
	{"too many packets", .packet_burst = (1ULL << 31) + 1, .says = "to 2147483648 packets"},
	{"O-046: a burst of one smallest frame", .byte_burst = 60},
	{"O-046: a burst of 59 bytes", .byte_burst = 59, .says = "limit \"bytes\": burst \"59 B\""},
	{"O-100: a burst of 0 bytes", .zero = BYTES, .says = "limit \"bytes\": burst \"0 B\""},
	{"too many bytes", .byte_burst = (1ULL << 40) + 1, .says = "to 1024 GiB"},
	{"O-101: a rate of 0", .zero = RATE, .says = "limit \"default\": a rate can't be 0"},
};

static void clear_field(struct policy *policy, const struct check_case *c)
{
	if (c->zero == SOURCES)
		policy->sources = 0;
	if (c->zero == IPV4)
		policy->ipv4_prefix = 0;
	if (c->zero == IPV6)
		policy->ipv6_prefix = 0;
	if (c->zero == PACKETS)
		policy->limits[0].burst = 0;
	if (c->zero == BYTES)
		policy->limits[1].burst = 0;
	if (c->zero == RATE)
		policy->limits[0].rate.amount = 0;
}

static void checks_policy(void **state)
{
	const struct check_case *c = *state;
	struct complaint why = {""};
	struct policy policy;
	int err;

	make_valid(&policy);
	policy.sources = c->sources ? c->sources : policy.sources;
	policy.ipv4_prefix = c->ipv4_prefix ? c->ipv4_prefix : policy.ipv4_prefix;
	policy.ipv6_prefix = c->ipv6_prefix ? c->ipv6_prefix : policy.ipv6_prefix;
	policy.limits[0].burst = c->packet_burst ? c->packet_burst : policy.limits[0].burst;
	policy.limits[1].burst = c->byte_burst ? c->byte_burst : policy.limits[1].burst;
	clear_field(&policy, c);
	err = policy_check(&policy, &why);
	assert_int_equal(err, c->says ? -ERANGE : 0);
	if (c->says && !strstr(why.text, c->says))
		fail_msg("the refusal is: %s", why.text);
}

/* O-101: the words have no burst, and need none. */
static void accepts_words(void **state)
{
	static const char *const words[] = {"unlimited", "block"};

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++) {
		struct rate rate = rate_of(words[i], UNIT_PACKETS);
		struct complaint why;
		struct policy policy;

		policy_defaults(&policy);
		assert_non_null(policy_add_limit(&policy, "default", &rate, &why));
		assert_int_equal(policy.limits[0].burst, 0);
		assert_int_equal(policy_check(&policy, &why), 0);
	}
}

int main(void)
{
	static const struct CMUnitTest plain[] = {
		cmocka_unit_test(has_defaults),
		{.name = "O-100: limits with all defaults", .test_func = adds_limits_with_defaults},
		cmocka_unit_test(refuses_names),
		cmocka_unit_test(refuses_the_33rd_limit),
		{.name = "O-101: unlimited and block", .test_func = accepts_words},
	};
	static struct CMUnitTest tests[COUNT(plain) + COUNT(check_cases)];

	memcpy(tests, plain, sizeof(plain));
	for (size_t i = 0; i < COUNT(check_cases); i++)
		tests[COUNT(plain) + i] = (struct CMUnitTest){
			.name = check_cases[i].name,
			.test_func = checks_policy,
			.initial_state = (void *)(uintptr_t)&check_cases[i],
		};
	return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
