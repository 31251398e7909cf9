// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One limit's rate and burst through the real program, under a clock that is set: exact counts. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <bpf/bpf.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include "prog.h"
#include "units.h"

__extension__ typedef unsigned __int128 u128;

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define MS	 1000000ULL
#define SECOND	 NS_PER_SECOND
#define MINUTE	 (60 * SECOND)
#define HOUR	 (60 * MINUTE)
#define DAY	 (24 * HOUR)
#define YEAR	 (365 * DAY)
#define START	 (1000 * SECOND + 7)

/* An IPv4 UDP frame of @length bytes from the default client. */
static void make_frame(struct frame *frame, uint32_t length)
{
	frame_start(frame);
	frame_ethernet(frame);
	frame_ipv4(frame);
	frame_udp(frame);
	frame_pad_to(frame, length);
	frame_finish(frame);
}

static struct policy byte_policy(const char *rate, const char *burst)
{
	struct policy policy;

	policy_defaults(&policy);
	policy.sources = 65536;
	add_byte_limit(&policy, rate, burst);
	return policy;
}

static void open_at(struct limiter *limiter, const struct policy *policy, uint64_t now_ns)
{
	limiter_open(limiter, policy, NULL);
	clock_set(limiter, now_ns);
}

/* floor(burst + rate * T): what one bucket may admit in @elapsed_ns, in units. */
static uint64_t most_units(const struct policy_limit *limit, uint64_t elapsed_ns)
{
	u128 numerator = (u128)limit->rate.amount * elapsed_ns;

	return limit->burst + (uint64_t)(numerator / limit->rate.per_ns);
}

/* ---- rates and bandwidths: never more, less only by rounding --------------------------------- */

struct stream {
	const char *name;
	enum unit unit;
	const char *rate, *burst;
	uint32_t length; /* of each frame */
	uint64_t step_ns;
	uint32_t count;
};

#define PACKETS(text, rate_, burst_, step, count_)                                              \
	{                                                                                       \
		.name = text ", packets", .unit = UNIT_PACKETS, .rate = rate_, .burst = burst_, \
		.length = 60, .step_ns = step, .count = count_                                  \
	}
#define BYTES(rate_, burst_, length_, step, count_)                                                \
	{                                                                                          \
		.name = rate_ ", frames of " #length_ " bytes", .unit = UNIT_BYTES, .rate = rate_, \
		.burst = burst_, .length = length_, .step_ns = step, .count = count_               \
	}

/*
 * Steps that are no divisor of the interval, unless the burst is one packet: that can't keep what
 * is left of a step. At least 10 000 admitted where time allows it.
 */
static const struct stream streams[] = {
	PACKETS("1/day, burst 1", "1/day", "1", HOUR, 200000),
	PACKETS("1/day, burst 10 000", "1/day", "10000", HOUR - 7, 200000),
	PACKETS("1/min", "1/min", "1", SECOND + 7, 300000),
	PACKETS("1 pps", "1pps", "1", 100 * MS + 1, 200000),
	PACKETS("7 pps", "7pps", "7", MS, 300000),
	PACKETS("100 pps", "100pps", "100", MS + 3, 300000),
	PACKETS("999 pps", "999pps", "999", 333 * 1000, 300000),
	PACKETS("1000 pps", "1000pps", "1000", 333 * 1000, 300000),
	PACKETS("1001 pps", "1001pps", "1001", 333 * 1000, 300000),
	PACKETS("65535 pps", "65535pps", "100", 5003, 300000),
	PACKETS("1000003 pps", "1000003pps", "1000", 331, 500000),
	PACKETS("10 M pps", "10 Mpps", "1000", 33, 500000),
	PACKETS("10 M pps, burst 1", "10 Mpps", "1", 25, 500000),
	PACKETS("1 G pps", "1 Gpps", "10", 1, 200000),
	PACKETS("8000 per 30s", "8000 per 30s", "50", MS + 9, 300000),
	BYTES("8 kbit/s", "1514 B", 60, 5 * MS, 300000),
	BYTES("8 kbit/s", "1514 B", 1500, 300 * MS + 1, 300000),
	BYTES("1 Mbit/s", "64 KiB", 1500, 4 * MS + 1, 300000),
	BYTES("100 Mbit/s", "64 KiB", 1500, 41 * 1000, 300000),
	BYTES("1 Gbit/s", "64 KiB", 1500, 4001, 300000),
	BYTES("10 Gbit/s", "64 KiB", 1500, 401, 300000),
	BYTES("40 Gbit/s", "64 KiB", 1500, 101, 300000),
	BYTES("100 Gbit/s", "64 KiB", 1500, 41, 300000),
	BYTES("400 Gbit/s", "64 KiB", 1500, 11, 300000),
	BYTES("400 Gbit/s", "18028 B", 9014, 61, 300000),
};

static struct policy stream_policy(const struct stream *stream)
{
	return stream->unit == UNIT_BYTES ? byte_policy(stream->rate, stream->burst)
					  : packet_policy(stream->rate, stream->burst);
}

/* 1e-4 of a packet rate, 1e-3 of a bandwidth; and a packet may stand over the last tick. */
static void check_stream(const struct stream *stream, const struct policy_limit *limit,
			 uint64_t passed)
{
	uint64_t units = stream->unit == UNIT_BYTES ? stream->length : 1;
	uint64_t most = most_units(limit, (stream->count - 1) * stream->step_ns) / units;
	uint64_t tolerance = most / (stream->unit == UNIT_BYTES ? 1000 : 10000) + 1;

	if (passed > most || passed + tolerance < most)
		fail_msg("%s: %llu of %u passed, expected %llu less at most %llu", stream->name,
			 (unsigned long long)passed, stream->count, (unsigned long long)most,
			 (unsigned long long)tolerance);
}

static void test_stream(void **state)
{
	const struct stream *stream = *state;
	struct policy policy = stream_policy(stream);
	struct limiter limiter;
	struct frame frame;
	uint64_t passed;

	make_frame(&frame, stream->length);
	open_at(&limiter, &policy, START);
	passed = send_stepped(&limiter, &frame, stream->count, stream->step_ns);
	check_stream(stream, &policy.limits[0], passed);
	assert_int_equal(packets_seen(&limiter), stream->count);
	limiter_close(&limiter);
}

/* ---- field cases ----------------------------------------------------------------------------- */

static void limit_all_alike(enum named_frame name)
{
	struct policy policy = packet_policy("100pps", "100");
	struct limiter limiter;
	struct frame frame;

	frame_named(&frame, name);
	open_at(&limiter, &policy, START);
	assert_int_equal(send_stepped(&limiter, &frame, 5001, MS), 100 + 5 * 100);
	limiter_close(&limiter);
}

static void test_o031(void **state)
{
	(void)state;
	limit_all_alike(P4U);
	limit_all_alike(P4S);
	limit_all_alike(P6U);
}

static void test_o035(void **state)
{
	struct policy policy = packet_policy("10pps", "10");
	struct limiter limiter;
	struct frame frame, other;

	(void)state;
	frame_named(&frame, P4U);
	make_frame(&other, 60);
	frame_set_source(&other, "\xc0\x00\x02\x0b"); /* 192.0.2.11 */
	open_at(&limiter, &policy, START);
	assert_int_equal(send_many(&limiter, &frame, 11), 10);
	clock_advance(&limiter, 1050 * MS);
	assert_int_equal(send_many(&limiter, &frame, 12), 10);
	assert_int_equal(send_many(&limiter, &other, 12), 10);
	limiter_close(&limiter);
}

static void test_o036(void **state)
{
	struct policy policy = packet_policy("100pps", "100");
	struct limiter limiter;
	struct frame frame;

	(void)state;
	frame_named(&frame, P4U);
	open_at(&limiter, &policy, START);
	assert_int_equal(send_stepped(&limiter, &frame, 3000, 20 * MS), 3000);
	limiter_close(&limiter);
}

static void test_o037(void **state)
{
	static const struct {
		const char *rate, *burst;
		uint64_t step_ns;
		uint32_t count;
		uint64_t passed;
	} rows[] = {
		{"1pps", "1", 100 * MS, 301, 31},
		{"1/min", "1", 100 * MS, 18001, 31},
		{"7pps", "7", MS, 30001, 7 + 30 * 7},
		{"1/day", "1", SECOND, 30 * 86400 + 1, 31},
	};
	struct limiter limiter;
	struct frame frame;

	(void)state;
	frame_named(&frame, P4U);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct policy policy = packet_policy(rows[i].rate, rows[i].burst);

		open_at(&limiter, &policy, START);
		/* A rounded-up cost moves the last packet past the end by some ns. */
		assert_in_range(send_stepped(&limiter, &frame, rows[i].count, rows[i].step_ns),
				rows[i].passed - 1, rows[i].passed);
		limiter_close(&limiter);
	}
}

static uint64_t sweep(unsigned int rate)
{
	char text[32], burst[32];
	struct policy policy;
	struct limiter limiter;
	struct frame frame;
	uint64_t passed, most, step_ns = SECOND / (3ULL * rate);
	uint32_t count = (uint32_t)(3 * SECOND / step_ns + 1);

	snprintf(text, sizeof(text), "%u pps", rate);
	snprintf(burst, sizeof(burst), "%u", rate);
	policy = packet_policy(text, burst);
	frame_named(&frame, P4U);
	open_at(&limiter, &policy, START);
	passed = send_stepped(&limiter, &frame, count, step_ns);
	limiter_close(&limiter);
	most = most_units(&policy.limits[0], (count - 1) * step_ns);
	assert_in_range(passed, most - most / 10000 - 1, most);
	return passed;
}

static void test_o038(void **state)
{
	static const unsigned int rates[] = {1,	   3,	 7,    99,   100,   101,   333,	   999,
					     1000, 1001, 1999, 2000, 65535, 65536, 1000003};
	uint64_t before = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(rates); i++) {
		uint64_t passed = sweep(rates[i]);

		assert_true(passed > before);
		before = passed;
	}
}

/* Whether rate and burst are accepted; if so @policy is the policy. */
static bool accepts(const char *rate_text, const char *burst_text, struct policy *policy,
		    struct complaint *why)
{
	struct table_identity table;
	struct policy_limit *limit;
	struct rate rate;

	policy_defaults(policy);
	policy->sources = 1024;
	if (parse_rate(rate_text, UNIT_PACKETS, &rate, why))
		return false;
	limit = policy_add_limit(policy, "default", &rate, why);
	return limit && !parse_burst(burst_text, &rate, &limit->burst, why) &&
	       !table_new(policy, &table, why);
}

/* What an accepted pair does: the burst at once, then the rate. */
static void behaves(const struct policy *policy, uint64_t step_ns)
{
	const struct policy_limit *limit = &policy->limits[0];
	struct limiter limiter;
	struct frame frame;
	uint64_t passed, most;

	frame_named(&frame, P4U);
	open_at(&limiter, policy, START);
	passed = send_stepped(&limiter, &frame, 100001, step_ns);
	most = most_units(limit, 100000 * step_ns);
	if (most > 100001)
		most = 100001;
	assert_in_range(passed, most - most / 10000 - 1, most);
	limiter_close(&limiter);
}

static void test_o039(void **state)
{
	static const struct {
		const char *rate, *burst;
		const char *refused; /* by a sentence with this in it; NULL: accepted */
		uint64_t step_ns;
	} rows[] = {
		{"1pps", "1", NULL, 10 * MS},
		{"1pps", "2147483648", "burst", 0},
		{"2pps", "2147483648", NULL, MS},
		{"2147483648pps", "1", "1000000000 pps", 0},
		{"1000000000pps", "1000000000", NULL, 1},
		{"0pps", "1", "block", 0},
		{"1pps", "0", "1 packet", 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct complaint why = {{0}};
		struct policy policy;

		if (accepts(rows[i].rate, rows[i].burst, &policy, &why) == !!rows[i].refused)
			fail_msg("%s with burst %s: %s", rows[i].rate, rows[i].burst, why.text);
		if (rows[i].refused && !strstr(why.text, rows[i].refused))
			fail_msg("\"%s\" does not say \"%s\"", why.text, rows[i].refused);
		if (!rows[i].refused)
			behaves(&policy, rows[i].step_ns);
	}
}

static void test_o040(void **state)
{
	struct policy policy = packet_policy("100pps", "100");
	struct limiter limiter;
	struct frame frame;

	(void)state;
	frame_named(&frame, P4U);
	open_at(&limiter, &policy, START);
	assert_int_equal(send_many(&limiter, &frame, 10), 10);
	clock_advance(&limiter, 50 * MS);
	assert_int_equal(send_many(&limiter, &frame, 100), 95);
	limiter_close(&limiter);
}

static void test_o041(void **state)
{
	struct policy policy = packet_policy("1 Mpps", "1");
	struct limiter limiter;
	struct frame frame;

	(void)state;
	frame_named(&frame, P4U);
	open_at(&limiter, &policy, START);
	/* Ten offers for each interval of 1000 ns: the first passes, then one in ten. */
	assert_int_equal(send_stepped(&limiter, &frame, 3000001, 100), 300001);
	limiter_close(&limiter);
}

static void test_o042(void **state)
{
	static const char *const bursts[] = {"5", "100", "10000"};
	struct complaint why;
	struct policy policy;

	(void)state;
	for (size_t i = 0; i < COUNT(bursts); i++) {
		if (!accepts("1/day", bursts[i], &policy, &why))
			fail_msg("burst %s: %s", bursts[i], why.text);
		behaves(&policy, HOUR);
	}
	assert_false(accepts("1/day", "14000", &policy, &why));
	assert_non_null(strstr(why.text, "burst"));
	assert_non_null(strstr(why.text, "at most 13343"));
}

static void test_o044(void **state)
{
	struct policy policy = byte_policy("200 Gbit/s", NULL);
	struct limiter limiter;
	struct frame frame;
	struct complaint why;
	struct rate rate;

	(void)state;
	make_frame(&frame, 1000);
	open_at(&limiter, &policy, START);
	assert_int_equal(send_stepped(&limiter, &frame, 100000, MS), 100000);
	limiter_close(&limiter);
	assert_int_equal(parse_rate("9223372036854775807 B/s", UNIT_BYTES, &rate, &why), -ERANGE);
}

static void test_o045(void **state)
{
	struct policy policy = packet_policy("50pps", "50");
	struct limiter limiter;
	struct frame frame;

	(void)state;
	make_frame(&frame, 60);
	open_at(&limiter, &policy, START);
	for (uint8_t last = 10; last < 20; last++) {
		uint8_t source[4] = {192, 0, 2, last};

		frame_set_source(&frame, source);
		assert_int_equal(send_many(&limiter, &frame, 500), 50);
	}
	limiter_close(&limiter);
}

static void test_o046(void **state)
{
	struct policy policy = byte_policy("1000 B/s", NULL);
	struct limiter limiter;
	struct frame frame;

	(void)state;
	make_frame(&frame, 1500);
	open_at(&limiter, &policy, START + 5 * SECOND);
	assert_int_equal(send_frame(&limiter, &frame), XDP_PASS);
	limiter_close(&limiter);
}

static void test_o047(void **state)
{
	struct policy policies[] = {packet_policy("1/h", "100"), byte_policy("1 B/s", "4600 B")};
	struct limiter limiter;
	struct frame frame;

	(void)state;
	frame_named(&frame, P4U); /* 46 bytes */
	for (size_t i = 0; i < COUNT(policies); i++) {
		open_at(&limiter, &policies[i], START);
		assert_int_equal(send_many(&limiter, &frame, 100), 100);
		assert_int_equal(send_frame(&limiter, &frame), XDP_DROP);
		limiter_close(&limiter);
	}
}

static void test_o050(void **state)
{
	struct policy policy = packet_policy("10pps", "200");
	struct limiter limiter;
	struct frame frame;

	(void)state;
	frame_named(&frame, P4U);
	open_at(&limiter, &policy, START);
	assert_int_equal(send_stepped(&limiter, &frame, 150, 50 * MS / 150), 150);
	assert_int_equal(send_many(&limiter, &frame, 100), 50); /* and half a packet */
	assert_int_equal(send_stepped(&limiter, &frame, 10001, MS), 10 * 10);
	limiter_close(&limiter);
}

static void test_o051(void **state)
{
	struct policy policy = packet_policy("100pps", "20");
	struct limiter limiter;
	struct frame frame;

	(void)state;
	frame_named(&frame, P4U);
	open_at(&limiter, &policy, START);
	assert_int_equal(send_stepped(&limiter, &frame, 10, 1000), 10);
	limiter_close(&limiter);
}

static void put_group(const struct limiter *limiter, const struct group_1 *group)
{
	struct bucket_key key;

	key_of(limiter, CLIENT4, &key);
	assert_int_equal(bpf_map_update_elem(limiter->running.maps[MAP_BUCKETS], &key, group, 0),
			 0);
}

/* A bucket that is just exhausted at @now; all its counters stand before a 32-bit edge. */
static void preset(struct limiter *limiter, uint64_t now_ns, uint64_t word, uint64_t count)
{
	const struct group_1 group = {
		.born_ns = now_ns,
		.words = {word},
		.tallies = {{count, count, count, count}},
	};

	clock_set(limiter, now_ns);
	put_group(limiter, &group);
}

static void check_edge(struct limiter *limiter, const struct frame *frame, uint64_t count)
{
	const struct limit *limit = &limiter->running.config.limits[0];
	uint64_t burst_ns = limit->burst >> limit->tick;
	uint64_t word = 0x1fffffffeULL << limit->tick;
	struct bucket bucket;

	preset(limiter, (word >> limit->tick) - burst_ns, word, count);
	assert_int_equal(send_many(limiter, frame, 4), 0);
	source_of(limiter, CLIENT4, &bucket);
	assert_int_equal(bucket.word, word);
	assert_int_equal(bucket.tally.dropped_packets, count + 4);
	assert_int_equal(bucket.tally.dropped_bytes, count + 4 * frame->length);
	assert_int_equal(bucket.tally.passed_packets, count);
	clock_advance(limiter, limit->multiplier >> limit->tick);
	assert_int_equal(send_many(limiter, frame, 4), 1);
	source_of(limiter, CLIENT4, &bucket);
	assert_int_equal(bucket.tally.passed_packets, count + 1);
	assert_int_equal(bucket.tally.dropped_packets, count + 7);
}

static void test_o052(void **state)
{
	static const uint64_t counts[] = {0xfffffffeULL, 0xfffffffefffffffeULL};
	struct policy policy = packet_policy("100pps", "100");
	struct limiter limiter;
	struct frame frame;

	(void)state;
	frame_named(&frame, P4U);
	for (size_t i = 0; i < COUNT(counts); i++) {
		limiter_open(&limiter, &policy, NULL);
		check_edge(&limiter, &frame, counts[i]);
		limiter_close(&limiter);
	}
}

static void test_o095(void **state)
{
	struct policy policy = byte_policy("8 kbit/s", "1000 B");
	struct limiter limiter;
	struct frame frame;

	(void)state;
	make_frame(&frame, 1000);
	open_at(&limiter, &policy, START);
	assert_int_equal(send_stepped(&limiter, &frame, 31, 100 * MS), 4);
	limiter_close(&limiter);
}

static void test_o101(void **state)
{
	static const struct {
		const char *rate;
		unsigned int passed;
	} rows[] = {{"unlimited", 1000}, {"block", 0}};
	struct complaint why;
	struct limiter limiter;
	struct frame frame;
	struct rate rate;

	(void)state;
	frame_named(&frame, P4U);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct policy policy = packet_policy(rows[i].rate, NULL);

		open_at(&limiter, &policy, START);
		assert_int_equal(send_many(&limiter, &frame, 1000), rows[i].passed);
		clock_advance(&limiter, YEAR);
		assert_int_equal(send_many(&limiter, &frame, 1000), rows[i].passed);
		limiter_close(&limiter);
	}
	assert_int_not_equal(parse_rate("0 pps", UNIT_PACKETS, &rate, &why), 0);
}

static void test_o130(void **state)
{
	struct policy policy = packet_policy("10pps", "50");
	struct limiter limiter;
	struct frame frame;

	(void)state;
	frame_named(&frame, P4U);
	open_at(&limiter, &policy, START);
	assert_int_equal(send_many(&limiter, &frame, 60), 50);
	clock_advance(&limiter, 120 * SECOND);
	assert_int_equal(send_many(&limiter, &frame, 1000), 50);
	clock_advance(&limiter, SECOND);
	assert_int_equal(send_many(&limiter, &frame, 1000), 10);
	limiter_close(&limiter);
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static void test_idle_for_years(void **state)
{
	static const struct {
		const char *rate;
		uint64_t years;
	} rows[] = {{"100pps", 1},  {"100pps", 10}, {"100pps", 145},
		    {"10 Mpps", 1}, {"10 Mpps", 3}, {"1/day", 145}};
	struct limiter limiter;
	struct frame frame;

	(void)state;
	frame_named(&frame, P4U);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct policy policy = packet_policy(rows[i].rate, "50");

		open_at(&limiter, &policy, START);
		assert_int_equal(send_many(&limiter, &frame, 60), 50);
		clock_advance(&limiter, rows[i].years * YEAR);
		assert_int_equal(send_many(&limiter, &frame, 60), 50);
		limiter_close(&limiter);
	}
}

static uint64_t repaired(const struct limiter *limiter)
{
	struct counters counters;

	counters_of(limiter, &counters);
	return counters.events.repaired;
}

/* 100 pps with burst 50, exhausted at START; then the clock stands at @now_ns. */
static void exhaust(struct limiter *limiter, struct frame *frame, uint64_t now_ns)
{
	struct policy policy = packet_policy("100pps", "50");

	frame_named(frame, P4U);
	open_at(limiter, &policy, START);
	assert_int_equal(send_many(limiter, frame, 60), 50);
	clock_set(limiter, now_ns);
}

static void test_clock_back(void **state)
{
	/* The largest that a modular clock can tell from the future: 2^62 ns. */
	static const uint64_t jumps[] = {1501 * MS, 10 * SECOND, START - 1};
	struct limiter limiter;
	struct frame frame;

	(void)state;
	for (size_t i = 0; i < COUNT(jumps); i++) {
		exhaust(&limiter, &frame, START - jumps[i]);
		assert_int_equal(send_many(&limiter, &frame, 60), 0);
		assert_int_equal(repaired(&limiter), 1);
		assert_int_equal(send_stepped(&limiter, &frame, 10001, MS), 10 * 100);
		clock_advance(&limiter, HOUR);
		assert_int_equal(send_many(&limiter, &frame, 60), 50);
		assert_int_equal(repaired(&limiter), 1);
		limiter_close(&limiter);
	}
}

static void test_clock_back_a_little(void **state)
{
	struct limiter limiter;
	struct frame frame;

	(void)state;
	exhaust(&limiter, &frame, START - 40 * MS);
	/* Another CPU may be behind so far: its word is left alone, and the rate goes on after. */
	assert_int_equal(send_stepped(&limiter, &frame, 41, MS), 0);
	assert_int_equal(repaired(&limiter), 0);
	clock_set(&limiter, START);
	assert_int_equal(send_stepped(&limiter, &frame, 1001, MS), 100);
	limiter_close(&limiter);
}

static void test_clock_forward(void **state)
{
	static const uint64_t jumps[] = {500 * MS, MINUTE, YEAR, 100 * YEAR};
	struct limiter limiter;
	struct frame frame;

	(void)state;
	for (size_t i = 0; i < COUNT(jumps); i++) {
		exhaust(&limiter, &frame, START + jumps[i]);
		assert_int_equal(send_many(&limiter, &frame, 60), 50);
		assert_int_equal(send_stepped(&limiter, &frame, 1001, MS), 100);
		limiter_close(&limiter);
	}
}

/* Any word that somebody writes: at most a burst at once, the rate afterwards. */
static void test_foreign_words(void **state)
{
	static const uint64_t ahead[] = {
		0,    1,	  500 * MS,	    501 * MS,	1500 * MS,  1501 * MS,
		YEAR, 1ULL << 61, (1ULL << 62) - 1, 1ULL << 62, 1ULL << 63, UINT64_MAX};
	struct policy policy = packet_policy("100pps", "50");
	struct limiter limiter;
	struct frame frame;

	(void)state;
	frame_named(&frame, P4U);
	for (size_t i = 0; i < COUNT(ahead); i++) {
		const struct limit *limit;
		uint64_t first, after;

		limiter_open(&limiter, &policy, NULL);
		limit = &limiter.running.config.limits[0];
		preset(&limiter, START, (START << limit->tick) + (ahead[i] << limit->tick), 0);
		first = send_many(&limiter, &frame, 60);
		assert_true(first <= 50);
		if (ahead[i] > 500 * MS && ahead[i] < 1ULL << 61)
			assert_int_equal(first, 0);
		clock_advance(&limiter, SECOND);
		after = send_stepped(&limiter, &frame, 10001, MS);
		assert_in_range(after, 900, 50 + 1000); /* not frozen, not refilled */
		limiter_close(&limiter);
	}
}

#define CASE(name_, function)                        \
	{                                            \
		.name = name_, .test_func = function \
	}

static const struct CMUnitTest cases[] = {
	CASE("O-031: 100 pps passes 100 pps, of UDP, TCP and IPv6 alike", test_o031),
	CASE("O-035: a drained bucket refills, another source's is untouched", test_o035),
	CASE("O-036: half the rate for a minute loses nothing: no lifetime cap", test_o036),
	CASE("O-037: slow rates refill under frequent packets", test_o037),
	CASE("O-038: neighbouring rates behave alike, monotone", test_o038),
	CASE("O-039: extreme rates and bursts work or are refused with the reason", test_o039),
	CASE("O-040: a refill adds to what is left", test_o040),
	CASE("O-041: 1 Mpps with burst 1 admits one packet an interval, none twice", test_o041),
	CASE("O-042: 1 per day takes bursts to 13343 and says so", test_o042),
	CASE("O-044: 200 Gbit/s does not wrap: 1 MB/s loses nothing", test_o044),
	CASE("O-045: each new source is limited, not only the first", test_o045),
	CASE("O-046: the default byte burst holds a full frame", test_o046),
	CASE("O-047: the last unit is inside the limit, for packets and bytes alike", test_o047),
	CASE("O-050: rate and burst both matter: 150 at once, then 10 per second", test_o050),
	CASE("O-051: a burst is a count, not a spacing", test_o051),
	CASE("O-052: words and counters at 32-bit edges wrap to nothing", test_o052),
	CASE("O-095: 8 kbit/s is 1000 bytes per second", test_o095),
	CASE("O-101: unlimited passes all, block passes none, 0 is refused", test_o101),
	CASE("O-130: two minutes of suspend refill one burst", test_o130),
	CASE("idle for years gives one burst", test_idle_for_years),
	CASE("a clock that jumps back leaves the bucket exhausted, not frozen, not refilled",
	     test_clock_back),
	CASE("a clock that is behind by less than the slack repairs nothing",
	     test_clock_back_a_little),
	CASE("a clock that jumps forward gives at most one burst", test_clock_forward),
	CASE("any word at all admits at most a burst and recovers", test_foreign_words),
};

int main(void)
{
	struct CMUnitTest tests[COUNT(streams) + COUNT(cases)];

	for (size_t i = 0; i < COUNT(streams); i++)
		tests[i] = (struct CMUnitTest){.name = streams[i].name,
					       .test_func = test_stream,
					       .initial_state = (void *)&streams[i]};
	memcpy(tests + COUNT(streams), cases, sizeof(cases));
	return cmocka_run_group_tests_name("rates", tests, NULL, NULL);
}
