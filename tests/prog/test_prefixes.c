// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What one source is: an address cut to the configured prefix, but whole within fe80::/10. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include "expect.h"

#define BASE4 "192.0.2.10"
/* No run of equal bits, so that each flipped bit is another address of the same kind. */
#define BASE6 "2001:db8:5555:aaaa:5555:aaaa:5555:aaaa"

static struct policy with_prefixes(const char *burst, unsigned int ipv4, unsigned int ipv6)
{
	struct policy policy = packet_policy("10/day", burst);

	policy.sources = SOURCES_MIN;
	policy.ipv4_prefix = ipv4;
	policy.ipv6_prefix = ipv6;
	return policy;
}

/* One packet from each address: how many pass of ten a bucket, and how many buckets they make. */
static const struct shared_bucket {
	const char *name;
	unsigned int ipv4_prefix, ipv6_prefix;
	const char *base;
	unsigned int byte;  /* of the address, which takes all values ... */
	unsigned int first; /* ... from this one to 255 */
	unsigned int passed, buckets;
} cases[] = {
	{"O-018: addresses of a /64 share a bucket", 32, 64, "2001:db8:0:1::", 15, 1, 10, 1},
	{"O-018: with /128 each has its own", 32, 128, "2001:db8:0:1::", 15, 1, 255, 255},
	{"O-019: with /64 the owner of a /48 has many", 32, 64, "2001:db8:5::1", 7, 0, 256, 256},
	{"O-019: with /48 he has one", 32, 48, "2001:db8:5::1", 7, 0, 10, 1},
	{"with /48 strangers have their own", 32, 48, "2001:db8::1", 5, 0, 256, 256},
	{"IPv4 addresses have a bucket each", 32, 64, "192.0.2.0", 3, 0, 256, 256},
	{"with /24 they share it", 24, 64, "192.0.2.0", 3, 0, 10, 1},
	{"with /24 the next /24 has its own", 24, 64, "192.0.0.1", 2, 0, 256, 256},
	{"an IPv6 prefix leaves IPv4 alone", 32, 1, "192.0.2.0", 3, 0, 256, 256},
	{"an IPv4 prefix leaves IPv6 alone", 1, 128, "2001:db8::", 15, 0, 256, 256},
	{"fe80::/64 is kept per address", 32, 64, "fe80::", 15, 1, 255, 255},
	{"the last of fe80::/10 too", 32, 64, "febf:ffff::", 15, 1, 255, 255},
	{"fe80::/10 is kept per address even with /1", 32, 1, "fe80::", 15, 1, 255, 255},
	{"before fe80::/10 it is one /64", 32, 64, "fe7f:ffff::", 15, 1, 10, 1},
	{"after fe80::/10 it is one /64", 32, 64, "fec0::", 15, 1, 10, 1},
	{"IPv4's link-local has no exception", 16, 64, "169.254.0.0", 3, 0, 10, 1},
};

static unsigned int send_from_each(struct limiter *limiter, const struct shared_bucket *row)
{
	bool ipv6 = strchr(row->base, ':');
	unsigned int passed = 0;
	uint8_t source[16];
	struct frame frame;

	if (ipv6)
		cook(&(struct recipe){IPV6(), UDP()}, &frame);
	else
		cook(&(struct recipe){IPV4(), UDP()}, &frame);
	assert_int_equal(inet_pton(ipv6 ? AF_INET6 : AF_INET, row->base, source), 1);
	for (unsigned int value = row->first; value < 256; value++) {
		source[row->byte] = (uint8_t)value;
		frame_set_source(&frame, source);
		passed += send_frame(limiter, &frame) == XDP_PASS;
	}
	return passed;
}

static void shares_buckets(void **state)
{
	const struct shared_bucket *row = *state;
	unsigned int sent = 256 - row->first;
	struct policy policy = with_prefixes("10", row->ipv4_prefix, row->ipv6_prefix);
	struct counters counters;
	struct limiter limiter;

	open_limiter(&limiter, &policy, NULL);
	assert_int_equal(send_from_each(&limiter, row), row->passed);
	assert_int_equal(read_counters(&limiter.running, &counters), 0);
	assert_int_equal(counters.events.created, row->buckets);
	assert_int_equal(count_entries(&limiter.running), row->buckets);
	assert_int_equal(packets_of(&limiter, REASON_CONFORMING), row->passed);
	assert_int_equal(packets_of(&limiter, REASON_OVER_LIMIT), sent - row->passed);
	assert_int_equal(packets_seen(&limiter), sent);
	limiter_close(&limiter);
}

/* Nothing in the policy names a family or a tag. */
static void limits_both_families_alike(void **state)
{
	static const enum named_frame frames[] = {P4U, P6U, PV8100, P4S};
	static const char *const sources[] = {CLIENT4, CLIENT6, CLIENT4, CLIENT4};
	struct policy policy = packet_policy("10/day", "10");

	(void)state;
	for (size_t i = 0; i < COUNT(frames); i++) {
		struct limiter limiter;
		struct bucket bucket;
		struct frame frame;

		frame_named(&frame, frames[i]);
		open_limiter(&limiter, &policy, NULL);
		assert_int_equal(send_many(&limiter, &frame, 20), 10);
		source_of(&limiter, sources[i], &bucket);
		assert_int_equal(bucket.tally.passed_packets, 10);
		assert_int_equal(bucket.tally.dropped_packets, 10);
		assert_int_equal(packets_of(&limiter, REASON_OVER_LIMIT), 10);
		limiter_close(&limiter);
	}
}

static void flip(uint8_t *bytes, unsigned int bit)
{
	bytes[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
}

/*
 * Under a prefix of @length bits: the last bit inside makes another source, the first one outside
 * does not, nor do all bits outside.
 */
static void check_length(struct limiter *limiter, struct frame *frame, const char *base,
			 unsigned int length, unsigned int bits)
{
	int family = bits == 32 ? AF_INET : AF_INET6;
	uint8_t inside[16], outside[16], all[16];
	struct bucket bucket;
	char name[32];

	snprintf(name, sizeof(name), "%s/%u", base, length);
	assert_int_equal(inet_pton(family, base, inside), 1);
	memcpy(outside, inside, sizeof(outside));
	memcpy(all, inside, sizeof(all));
	for (unsigned int bit = length; bit < bits; bit++)
		flip(all, bit);
	if (length < bits)
		flip(outside, length);

	frame_set_source(frame, inside);
	expect(limiter, name, frame, &(struct outcome)CHARGED(base));
	frame_set_source(frame, outside);
	expect(limiter, name, frame, &(struct outcome)CHARGED(base));
	frame_set_source(frame, all);
	expect(limiter, name, frame, &(struct outcome)CHARGED(base));
	flip(inside, length - 1);
	frame_set_source(frame, inside);
	assert_int_equal(send_frame(limiter, frame), XDP_PASS);
	source_of(limiter, base, &bucket);
	assert_int_equal(bucket.tally.passed_packets, 3);
	assert_int_equal(count_entries(&limiter->running), 2);
}

static void cuts_ipv4_at_every_length(void **state)
{
	(void)state;
	for (unsigned int length = 1; length <= 32; length++) {
		struct policy policy = with_prefixes("1000", length, 64);
		struct limiter limiter;
		struct frame frame;

		cook(&(struct recipe){IPV4(), UDP()}, &frame);
		open_limiter(&limiter, &policy, NULL);
		check_length(&limiter, &frame, BASE4, length, 32);
		limiter_close(&limiter);
	}
}

static void cuts_ipv6_at_every_length(void **state)
{
	(void)state;
	for (unsigned int length = 1; length <= 128; length++) {
		struct policy policy = with_prefixes("1000", 32, length);
		struct limiter limiter;
		struct frame frame;

		cook(&(struct recipe){IPV6(), UDP()}, &frame);
		open_limiter(&limiter, &policy, NULL);
		check_length(&limiter, &frame, BASE6, length, 128);
		limiter_close(&limiter);
	}
}

/* O-019: 1..32 and 1..128 are lengths, 0 and the next are not. */
static void refuses_other_lengths(void **state)
{
	struct complaint why;

	(void)state;
	for (unsigned int length = 0; length <= 129; length++) {
		struct policy ipv4 = with_prefixes("10", length, 64);
		struct policy ipv6 = with_prefixes("10", 32, length);

		assert_int_equal(!policy_check(&ipv4, &why), length >= 1 && length <= 32);
		assert_int_equal(!policy_check(&ipv6, &why), length >= 1 && length <= 128);
	}
}

/* O-109: one bucket by either name. */
static void mapped_text_names_the_ipv4_bucket(void **state)
{
	struct policy policy = packet_policy("10/day", "10");
	struct limiter limiter;
	struct bucket bucket;
	struct frame frame;

	(void)state;
	frame_named(&frame, P4U);
	open_limiter(&limiter, &policy, NULL);
	assert_int_equal(send_many(&limiter, &frame, 3), 3);
	source_of(&limiter, "::ffff:" CLIENT4, &bucket);
	assert_int_equal(bucket.tally.passed_packets, 3);
	limiter_close(&limiter);
}

int main(void)
{
	static const struct CMUnitTest plain[] = {
		{.name = "O-073, O-064: IPv6 and tags without a word about them",
		 .test_func = limits_both_families_alike},
		cmocka_unit_test(cuts_ipv4_at_every_length),
		cmocka_unit_test(cuts_ipv6_at_every_length),
		{.name = "O-019: lengths that are none", .test_func = refuses_other_lengths},
		{.name = "O-109: mapped text", .test_func = mapped_text_names_the_ipv4_bucket},
	};
	static struct CMUnitTest tests[COUNT(plain) + COUNT(cases)];

	memcpy(tests, plain, sizeof(plain));
	for (size_t i = 0; i < COUNT(cases); i++)
		tests[COUNT(plain) + i] = (struct CMUnitTest){
			.name = cases[i].name,
			.test_func = shares_buckets,
			.initial_state = (void *)(uintptr_t)&cases[i],
		};
	return cmocka_run_group_tests_name("prefixes", tests, NULL, NULL);
}
