// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Several limits on one source: a packet is charged to all that it meets or to none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include "prog.h"
#include "units.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define MS	 1000000ULL
#define SECOND	 NS_PER_SECOND
#define START	 (1000 * SECOND + 7)
#define LENGTH	 1000

static void make_frame(struct frame *frame, uint32_t length)
{
	frame_start(frame);
	frame_ethernet(frame);
	frame_ipv4(frame);
	frame_udp(frame);
	frame_pad_to(frame, length);
	frame_finish(frame);
}

static struct policy two_limits(const char *packets, const char *packet_burst, const char *bytes,
				const char *byte_burst)
{
	struct policy policy = packet_policy(packets, packet_burst);

	add_byte_limit(&policy, bytes, byte_burst);
	return policy;
}

static void open_at(struct limiter *limiter, const struct policy *policy, uint64_t now_ns)
{
	limiter_open(limiter, policy, NULL);
	clock_set(limiter, now_ns);
}

/* Limits stand in charge order, which is the compiler's affair: they are found by unit. */
static unsigned int limit_of(const struct limiter *limiter, enum unit unit)
{
	const struct config *config = &limiter->running.config;
	unsigned int i = 0;

	while (i + 1 < config->limit_count && config->limits[i].unit != unit)
		i++;
	assert_int_equal(config->limits[i].unit, unit);
	return i;
}

static uint64_t remaining(const struct limiter *limiter, enum unit unit)
{
	struct limit_state state;

	state_of(limiter, CLIENT4, limit_of(limiter, unit), &state);
	return state.remaining;
}

static void bucket_of(const struct limiter *limiter, enum unit unit, struct bucket *bucket)
{
	struct bucket buckets[MAX_LIMITS];
	struct address source;
	struct complaint why;

	assert_int_equal(parse_address(CLIENT4, &source, &why), 0);
	assert_int_equal(read_source(&limiter->running, &source, buckets), 0);
	*bucket = buckets[limit_of(limiter, unit)];
}

/* ---- all or nothing -------------------------------------------------------------------------- */

/* What 20 packets of 1000 bytes at once leave: the same for both limits, whichever refuses. */
static const struct refusal_case {
	const char *name;
	const char *packet_rate, *packet_burst;
	const char *byte_rate, *byte_burst;
	unsigned int passed;
	uint64_t packets_left, bytes_left;
} refusals[] = {
	{"dropped for bytes: no packet is charged", "1/h", "100", "1 B/s", "5000 B", 5, 95, 0},
	{"dropped for packets: no byte is charged", "1/h", "5", "1 B/s", "64000 B", 5, 0, 59000},
	{"dropped for bytes by the faster limit", "1/day", "100", "1 MB/s", "5999 B", 5, 95, 999},
	{"dropped for packets by the faster limit", "1000 pps", "5", "1 B/s", "64000 B", 5, 0,
	 59000},
	{"dropped by both at once", "1/h", "5", "1 B/s", "5000 B", 5, 0, 0},
	{"larger than the whole byte burst: no packet is charged", "1/h", "100", "1 B/s", "999 B",
	 0, 100, 999},
	{"bytes blocked: no packet is charged", "1/h", "100", "block", NULL, 0, 100, 0},
	{"packets blocked: no byte is charged", "block", NULL, "1 B/s", "64000 B", 0, 0, 64000},
	{"bytes unlimited: packets alone decide", "1/h", "5", "unlimited", NULL, 5, 0, UINT64_MAX},
	{"within both: both are charged", "1/h", "100", "1 B/s", "64000 B", 20, 80, 44000},
};

static void test_refusal(void **state)
{
	const struct refusal_case *row = *state;
	struct policy policy = two_limits(row->packet_rate, row->packet_burst, row->byte_rate,
					  row->byte_burst);
	struct limiter limiter;
	struct frame frame;

	make_frame(&frame, LENGTH);
	open_at(&limiter, &policy, START);
	assert_int_equal(send_many(&limiter, &frame, 20), row->passed);
	assert_int_equal(remaining(&limiter, UNIT_PACKETS), row->packets_left);
	assert_int_equal(remaining(&limiter, UNIT_BYTES), row->bytes_left);
	limiter_close(&limiter);
}

/* A small packet still fits where a large one did not: the large one left nothing behind. */
static void test_small_after_large(void **state)
{
	struct policy policy = two_limits("1/h", "10", "1 B/s", "1100 B");
	struct frame large, small;
	struct limiter limiter;

	(void)state;
	make_frame(&large, LENGTH);
	make_frame(&small, 100);
	open_at(&limiter, &policy, START);
	assert_int_equal(send_many(&limiter, &large, 50), 1);
	assert_int_equal(send_many(&limiter, &small, 50), 1);
	assert_int_equal(remaining(&limiter, UNIT_PACKETS), 8);
	assert_int_equal(remaining(&limiter, UNIT_BYTES), 0);
	limiter_close(&limiter);
}

/* ---- the tighter one decides ----------------------------------------------------------------- */

static const struct tighter_case {
	const char *name;
	const char *packet_rate, *byte_rate;
	uint64_t passed; /* in 100 s, of 100001 packets of 1000 bytes, bursts 10 and 10000 B */
} tighter[] = {
	{"packets are tighter: their rate passes", "100 pps", "1 MB/s", 10 + 10000},
	{"bytes are tighter: their rate passes", "1000 pps", "100 kB/s", 10 + 10000},
	{"equally tight: that rate passes", "100 pps", "100 kB/s", 10 + 10000},
};

static void test_tighter(void **state)
{
	const struct tighter_case *row = *state;
	struct policy policy = two_limits(row->packet_rate, "10", row->byte_rate, "10000 B");
	struct limiter limiter;
	struct frame frame;

	make_frame(&frame, LENGTH);
	open_at(&limiter, &policy, START);
	assert_int_equal(send_stepped(&limiter, &frame, 100001, MS), row->passed);
	limiter_close(&limiter);
}

/* Small frames meet the packet limit, large ones the byte limit, of the same policy. */
static void test_tighter_by_size(void **state)
{
	static const struct {
		uint32_t length;
		uint64_t passed;
	} rows[] = {{100, 10 + 1000}, {1000, 10 + 100}};
	struct limiter limiter;
	struct frame frame;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct policy policy = two_limits("100 pps", "10", "10 kB/s", "10000 B");

		make_frame(&frame, rows[i].length);
		open_at(&limiter, &policy, START);
		assert_in_range(send_stepped(&limiter, &frame, 10001, MS), rows[i].passed - 1,
				rows[i].passed);
		limiter_close(&limiter);
	}
}

/* ---- what is counted ------------------------------------------------------------------------- */

static void assert_tally(const struct tally *tally, uint64_t passed, uint64_t dropped)
{
	assert_int_equal(tally->passed_packets, passed);
	assert_int_equal(tally->passed_bytes, passed * LENGTH);
	assert_int_equal(tally->dropped_packets, dropped);
	assert_int_equal(tally->dropped_bytes, dropped * LENGTH);
}

static void check_counts(const struct limiter *limiter, enum unit unit, uint64_t passed,
			 uint64_t dropped)
{
	unsigned int id = limiter->running.config.limits[limit_of(limiter, unit)].id;
	struct counters counters;
	struct bucket bucket;

	bucket_of(limiter, unit, &bucket);
	assert_tally(&bucket.tally, passed, dropped);
	counters_of(limiter, &counters);
	assert_tally(&counters.limits[id].tally, passed, dropped);
	assert_int_equal(counters.limits[id].would_drop_packets, 0);
}

/* A passed packet is counted by both, a dropped one by the limit that refused it. */
static void test_counts(void **state)
{
	struct policy policy = two_limits("1/h", "600", "1 B/s", "300000 B");
	struct limiter limiter;
	struct frame frame;

	(void)state;
	make_frame(&frame, LENGTH);
	open_at(&limiter, &policy, START);
	send_repeated(&limiter, &frame, 1000);
	check_counts(&limiter, UNIT_BYTES, 300, 700);
	check_counts(&limiter, UNIT_PACKETS, 300, 0);
	limiter_close(&limiter);
	policy = two_limits("1/h", "300", "1 B/s", "600000 B");
	open_at(&limiter, &policy, START);
	send_repeated(&limiter, &frame, 1000);
	check_counts(&limiter, UNIT_PACKETS, 300, 700);
	check_counts(&limiter, UNIT_BYTES, 300, 0);
	limiter_close(&limiter);
}

static void test_reasons(void **state)
{
	struct policy policy = two_limits("1/h", "600", "1 B/s", "300000 B");
	struct counters counters;
	struct limiter limiter;
	struct frame frame;

	(void)state;
	make_frame(&frame, LENGTH);
	open_at(&limiter, &policy, START);
	send_repeated(&limiter, &frame, 1000);
	counters_of(&limiter, &counters);
	assert_int_equal(counters.reasons[REASON_CONFORMING].passed.packets, 300);
	assert_int_equal(counters.reasons[REASON_CONFORMING].passed.bytes, 300 * LENGTH);
	assert_int_equal(counters.reasons[REASON_OVER_LIMIT].dropped.packets, 700);
	assert_int_equal(counters.reasons[REASON_OVER_LIMIT].dropped.bytes, 700 * LENGTH);
	assert_int_equal(packets_seen(&limiter), 1000);
	assert_int_equal(counters.events.undo_lost, 0);
	limiter_close(&limiter);
}

/* ---- dry run --------------------------------------------------------------------------------- */

/* The same packets to both: the same words, and what one drops the other would. */
static void test_dry_run(void **state)
{
	struct policy policy = two_limits("100 pps", "100", "50 kB/s", "30000 B");
	struct counters enforced, counters;
	struct limiter enforcing, dry;
	struct bucket there, here;
	struct frame frame;

	(void)state;
	make_frame(&frame, LENGTH);
	open_at(&enforcing, &policy, START);
	policy.dry_run = true;
	open_at(&dry, &policy, START);
	assert_int_equal(send_stepped(&enforcing, &frame, 3001, MS), 30 + 150);
	assert_int_equal(send_stepped(&dry, &frame, 3001, MS), 3001);
	counters_of(&enforcing, &enforced);
	counters_of(&dry, &counters);
	assert_int_equal(counters.reasons[REASON_CONFORMING].passed.packets, 180);
	assert_int_equal(counters.reasons[REASON_OVER_LIMIT].would_drop.packets, 2821);
	assert_int_equal(counters.reasons[REASON_OVER_LIMIT].would_drop.bytes, 2821 * LENGTH);
	assert_int_equal(counters.reasons[REASON_OVER_LIMIT].dropped.packets, 0);
	for (enum unit unit = UNIT_PACKETS; unit <= UNIT_BYTES; unit++) {
		unsigned int id = dry.running.config.limits[limit_of(&dry, unit)].id;

		bucket_of(&enforcing, unit, &there);
		bucket_of(&dry, unit, &here);
		assert_int_equal(here.word, there.word);
		assert_int_equal(counters.limits[id].would_drop_packets,
				 enforced.limits[id].tally.dropped_packets);
		assert_tally(&counters.limits[id].tally, 3001, 0);
	}
	limiter_close(&enforcing);
	limiter_close(&dry);
}

/* ---- as many as there may be ----------------------------------------------------------------- */

/* Limit i has a burst of 10 + i, all with one rate: the first refuses, none is charged after. */
static void test_many_limits(void **state)
{
	struct policy policy = packet_policy("1/h", "10");
	struct bucket buckets[MAX_LIMITS];
	struct limiter limiter;
	struct complaint why;
	struct address source;
	struct frame frame;
	char name[NAME_SIZE];

	(void)state;
	make_frame(&frame, LENGTH);
	for (unsigned int i = 1; i < MAX_LIMITS; i++) {
		struct policy_limit *limit;

		snprintf(name, sizeof(name), "limit-%u", i);
		limit = policy_add_limit(&policy, name, &policy.limits[0].rate, &why);
		assert_non_null(limit);
		limit->burst = 10 + i;
	}
	open_at(&limiter, &policy, START);
	assert_int_equal(send_many(&limiter, &frame, 50), 10);
	assert_int_equal(parse_address(CLIENT4, &source, &why), 0);
	assert_int_equal(read_source(&limiter.running, &source, buckets), 0);
	for (unsigned int i = 0; i < MAX_LIMITS; i++) {
		struct limit_state now;

		state_of(&limiter, CLIENT4, i, &now);
		assert_int_equal(now.remaining, limiter.running.config.labels[i].burst - 10);
		assert_tally(&buckets[i].tally, 10, now.remaining ? 0 : 40);
	}
	limiter_close(&limiter);
}

#define CASE(name_, function)                        \
	{                                            \
		.name = name_, .test_func = function \
	}

static const struct CMUnitTest cases[] = {
	CASE("a small packet fits where a large one did not", test_small_after_large),
	CASE("packet size decides which limit is tighter", test_tighter_by_size),
	CASE("a passed packet counts for both limits, a dropped one for the one that refused",
	     test_counts),
	CASE("one reason for each packet, whatever it met", test_reasons),
	CASE("dry run drops nothing, counts what it would and charges as enforcing", test_dry_run),
	CASE("32 limits are charged once each, or none", test_many_limits),
};

int main(void)
{
	struct CMUnitTest tests[COUNT(refusals) + COUNT(tighter) + COUNT(cases)];
	struct CMUnitTest *test = tests;

	for (size_t i = 0; i < COUNT(refusals); i++)
		*test++ = (struct CMUnitTest){.name = refusals[i].name,
					      .test_func = test_refusal,
					      .initial_state = (void *)&refusals[i]};
	for (size_t i = 0; i < COUNT(tighter); i++)
		*test++ = (struct CMUnitTest){.name = tighter[i].name,
					      .test_func = test_tighter,
					      .initial_state = (void *)&tighter[i]};
	memcpy(test, cases, sizeof(cases));
	return cmocka_run_group_tests_name("stacked", tests, NULL, NULL);
}
