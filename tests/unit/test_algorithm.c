// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The enforced rate against an exact model, and faults reported of other limiters' arithmetic. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "bucket.h"
#include "compile.h"
#include "random.h"

__extension__ typedef unsigned __int128 u128;

#define SECOND NS_PER_SECOND
#define MS     1000000ULL
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define YEAR   (365 * DAY)
/* Some boot time to start at. */
#define START (5 * DAY + 12345)

#define FRAME 1500

struct rate_case {
	const char *name;
	enum unit unit;
	uint64_t amount;
	uint64_t per_ns;
};

static const struct rate_case named_rates[] = {
	{"1 per day", UNIT_PACKETS, 1, DAY},
	{"1 per minute", UNIT_PACKETS, 1, MINUTE},
	{"7 pps", UNIT_PACKETS, 7, SECOND},
	{"100 pps", UNIT_PACKETS, 100, SECOND},
	{"999 pps", UNIT_PACKETS, 999, SECOND},
	{"1000 pps", UNIT_PACKETS, 1000, SECOND},
	{"1001 pps", UNIT_PACKETS, 1001, SECOND},
	{"65535 pps", UNIT_PACKETS, 65535, SECOND},
	{"1000003 pps", UNIT_PACKETS, 1000003, SECOND},
	{"10 M pps", UNIT_PACKETS, 10000000, SECOND},
	{"8 kbit/s", UNIT_BYTES, 1000, SECOND},
	{"1 Mbit/s", UNIT_BYTES, 125000, SECOND},
	{"100 Mbit/s", UNIT_BYTES, 12500000, SECOND},
	{"1 Gbit/s", UNIT_BYTES, 125000000, SECOND},
	{"10 Gbit/s", UNIT_BYTES, 1250000000, SECOND},
	{"200 Gbit/s", UNIT_BYTES, 25000000000, SECOND},
	{"400 Gbit/s", UNIT_BYTES, 50000000000, SECOND},
};
#define RATES (sizeof(named_rates) / sizeof(named_rates[0]))

/* 1e-4 of packets, 1e-3 of 1500-byte frames: what rounding may cost. */
static const uint64_t promise[] = {[UNIT_PACKETS] = 10000, [UNIT_BYTES] = 1000};

static struct policy_limit limit_of(enum unit unit, uint64_t amount, uint64_t per_ns,
				    uint64_t burst)
{
	return (struct policy_limit){
		.name = "test",
		.rate = {LIMIT_METERED, unit, amount, per_ns},
		.burst = burst,
	};
}

static struct limit compiled(enum unit unit, uint64_t amount, uint64_t per_ns, uint64_t burst)
{
	struct policy_limit limit = limit_of(unit, amount, per_ns, burst);
	struct complaint why = {""};
	struct limit result;

	if (compile_limit(&limit, -1, 2, &result, &why))
		fail_msg("%llu per %llu ns, burst %llu: %s", (unsigned long long)amount,
			 (unsigned long long)per_ns, (unsigned long long)burst, why.text);
	return result;
}

static struct limit packets_per_second(uint64_t amount, uint64_t burst)
{
	return compiled(UNIT_PACKETS, amount, SECOND, burst);
}

/*
 * A token bucket in whole numbers, without any rounding: one unit is per_ns * scale tokens, and
 * amount tokens come in every nanosecond.
 */
struct exact_bucket {
	u128 tokens, capacity, refill, unit;
	uint64_t last_ns;
};

static struct exact_bucket exact_new(u128 refill, u128 unit, u128 capacity, uint64_t now_ns)
{
	return (struct exact_bucket){capacity, capacity, refill, unit, now_ns};
}

static bool exact_charge(struct exact_bucket *bucket, uint64_t now_ns, uint64_t units)
{
	u128 room = bucket->capacity - bucket->tokens;
	u128 come = bucket->refill * (now_ns - bucket->last_ns);

	bucket->tokens += come < room ? come : room;
	bucket->last_ns = now_ns;
	if (bucket->tokens < units * bucket->unit)
		return false;
	bucket->tokens -= units * bucket->unit;
	return true;
}

/* Gaps of all kinds: none, the smallest, about the cost of a packet, a burst, a long time idle. */
static uint64_t random_gap(uint64_t *seed, const struct limit *limit, uint64_t cost_ns)
{
	uint64_t burst_ns = limit->burst >> limit->tick;

	switch (random_below(seed, 8)) {
	case 0:
		return 0;
	case 1:
		return 1;
	case 2:
		return cost_ns;
	case 3:
		return cost_ns + 1;
	case 4:
		return random_below(seed, burst_ns + 2);
	case 5:
		return burst_ns + random_below(seed, burst_ns + 2);
	default:
		return random_below(seed, 2 * cost_ns + 2);
	}
}

static uint64_t packet_ns(const struct limit *limit)
{
	uint64_t units = limit->unit == UNIT_BYTES ? FRAME : 1;

	return cost_ticks(units, limit->multiplier, limit->shift) >> limit->tick;
}

/* What is admitted must pass the exact bucket too: burst + rate * W in every window. */
static void check_never_more(const struct rate_case *rate, uint64_t burst, uint64_t start_ns,
			     uint64_t seed)
{
	struct limit limit = compiled(rate->unit, rate->amount, rate->per_ns, burst);
	struct bucket bucket = bucket_new(&limit, start_ns);
	struct exact_bucket exact = exact_new(rate->amount, rate->per_ns,
					      (u128)burst * rate->per_ns, start_ns);
	uint64_t now_ns = start_ns, first_seed = seed;

	for (int i = 0; i < 400; i++) {
		uint64_t units = rate->unit == UNIT_BYTES ? 60 + random_below(&seed, 1441) : 1;

		now_ns += random_gap(&seed, &limit, packet_ns(&limit));
		if (bucket_charge(&bucket, now_ns, units) && !exact_charge(&exact, now_ns, units))
			fail_msg("%s, burst %llu, packet %d: over burst + rate * W (seed %#llx)",
				 rate->name, (unsigned long long)burst, i,
				 (unsigned long long)first_seed);
	}
}

/* A source that stays within burst and the rate less the promise loses nothing. */
static void check_never_less(const struct rate_case *rate, uint64_t burst, uint64_t start_ns,
			     uint64_t seed)
{
	uint64_t scale = promise[rate->unit];
	u128 unit = (u128)rate->per_ns * scale;
	u128 full = rate->unit == UNIT_BYTES ? unit / scale * (scale - 1) : unit;
	struct limit limit = compiled(rate->unit, rate->amount, rate->per_ns, burst);
	struct bucket bucket = bucket_new(&limit, start_ns);
	struct exact_bucket source = exact_new((u128)rate->amount * (scale - 1), unit, burst * full,
					       start_ns);
	uint64_t units = rate->unit == UNIT_BYTES ? FRAME : 1;
	uint64_t now_ns = start_ns, first_seed = seed;

	for (int i = 0; i < 400; i++) {
		now_ns += random_gap(&seed, &limit, packet_ns(&limit));
		if (exact_charge(&source, now_ns, units) && !bucket_charge(&bucket, now_ns, units))
			fail_msg("%s, burst %llu, packet %d: lost within its rate (seed %#llx)",
				 rate->name, (unsigned long long)burst, i,
				 (unsigned long long)first_seed);
	}
}

static void check_rate_arithmetic(const struct rate_case *rate)
{
	static const uint64_t bursts[][5] = {
		[UNIT_PACKETS] = {1, 2, 20, 1000, 13343},
		[UNIT_BYTES] = {1502, 9000, 65536, 1048577, 50000000},
	};

	for (unsigned int i = 0; i < 5; i++) {
		for (uint64_t seed = 1; seed <= 20; seed++) {
			check_never_more(rate, bursts[rate->unit][i], START, seed);
			check_never_less(rate, bursts[rate->unit][i], START, seed);
		}
	}
}

static void test_named_rate(void **state)
{
	check_rate_arithmetic(*state);
}

static void test_random_packet_rates(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		/* 10 Mpps is as far as the promise of 1e-4 goes. */
		struct rate_case rate = {"random packet rate", UNIT_PACKETS,
					 1 + random_magnitude(&seed, 24) % 10000000, SECOND};
		uint64_t burst = random_magnitude(&seed, 28);

		if (i % 4 == 0)
			rate.per_ns = SECOND * (1 + random_below(&seed, 86400));
		check_never_more(&rate, 1 + burst % 10000, START, seed);
		check_never_less(&rate, 1 + burst % 10000, START, seed);
	}
}

static void test_random_byte_rates(void **state)
{
	uint64_t seed = 2;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct rate_case rate = {"random byte rate", UNIT_BYTES,
					 1000 + random_magnitude(&seed, 36) % 50000000000, SECOND};
		uint64_t burst = 1502 + random_magnitude(&seed, 24);

		check_never_more(&rate, burst, START, seed);
		check_never_less(&rate, burst, START, seed);
	}
}

/* ---- clocks ---- */

/* Rates on both sides of the scale: tick 0 (a nanosecond) and tick 7. */
static const struct {
	struct rate_case rate;
	uint64_t burst;
	unsigned int tick;
	uint64_t idle_ns; /* the longest that must be judged right */
} clock_cases[] = {
	{{"1 per day", UNIT_PACKETS, 1, DAY}, 5, 0, 400 * YEAR},
	{{"1 pps", UNIT_PACKETS, 1, SECOND}, 100, 0, 400 * YEAR},
	{{"10 M pps", UNIT_PACKETS, 10000000, SECOND}, 1000, 7, 3 * YEAR},
	{{"10 Gbit/s", UNIT_BYTES, 1250000000, SECOND}, 1500750, 7, 3 * YEAR},
};
#define CLOCK_CASES (sizeof(clock_cases) / sizeof(clock_cases[0]))

static struct limit clock_limit(unsigned int i)
{
	const struct rate_case *rate = &clock_cases[i].rate;
	struct limit limit = compiled(rate->unit, rate->amount, rate->per_ns, clock_cases[i].burst);

	assert_int_equal(limit.tick, clock_cases[i].tick);
	return limit;
}

static uint64_t clock_units(unsigned int i)
{
	return clock_cases[i].rate.unit == UNIT_BYTES ? FRAME : 1;
}

static void test_idle_for_years(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < CLOCK_CASES; i++) {
		struct limit limit = clock_limit(i);
		struct bucket bucket = bucket_new(&limit, START);
		uint64_t units = clock_units(i), whole = clock_cases[i].burst / units;
		uint64_t later_ns = START + clock_cases[i].idle_ns;

		assert_int_equal(bucket_burst(&bucket, START, 2 * whole, units), whole);
		assert_int_equal(bucket_burst(&bucket, later_ns, 2 * whole, units), whole);
	}
}

static void test_wrapping(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RATES; i++) {
		const struct rate_case *rate = &named_rates[i];
		uint64_t burst = rate->unit == UNIT_BYTES ? 100000 : 100;
		struct limit limit = compiled(rate->unit, rate->amount, rate->per_ns, burst);
		uint64_t burst_ns = limit.burst >> limit.tick;

		for (unsigned int bit = 61; bit <= 64; bit++) {
			/* The clock in ticks passes 2^bit a few bursts from here. */
			uint64_t edge_ns = (bit == 64 ? 0 : 1ULL << bit) >> limit.tick;

			if (bit == 64 && limit.tick)
				edge_ns = 1ULL << (64 - limit.tick);
			check_never_more(rate, burst, edge_ns - 3 * burst_ns, bit);
			check_never_less(rate, burst, edge_ns - 3 * burst_ns, bit);
		}
	}
}

static void test_clock_forward(void **state)
{
	static const uint64_t jumps_ns[] = {MS, SECOND, MINUTE, HOUR, DAY, YEAR};

	(void)state;
	for (unsigned int i = 0; i < CLOCK_CASES; i++) {
		struct limit limit = clock_limit(i);
		struct bucket bucket = bucket_new(&limit, START);
		uint64_t units = clock_units(i), whole = clock_cases[i].burst / units;
		uint64_t now_ns = START;

		for (unsigned int j = 0; j < sizeof(jumps_ns) / sizeof(jumps_ns[0]); j++) {
			bucket_burst(&bucket, now_ns, 2 * whole, units);
			now_ns += jumps_ns[j];
			assert_in_range(bucket_burst(&bucket, now_ns, 2 * whole, units), 0, whole);
		}
	}
}

/* After a jump back the bucket is exhausted, not frozen until the old time, and not refilled. */
static void test_clock_back(void **state)
{
	static const uint64_t jumps_ns[] = {MINUTE, HOUR, DAY, 4 * DAY};

	(void)state;
	for (unsigned int i = 0; i < CLOCK_CASES; i++) {
		struct limit limit = clock_limit(i);
		uint64_t units = clock_units(i), whole = clock_cases[i].burst / units;
		uint64_t cost_ns = packet_ns(&limit) + 1;

		for (unsigned int j = 0; j < sizeof(jumps_ns) / sizeof(jumps_ns[0]); j++) {
			struct bucket bucket = bucket_new(&limit, START);
			uint64_t back_ns = START - jumps_ns[j];

			bucket_burst(&bucket, START, whole, units);
			assert_int_equal(bucket_burst(&bucket, back_ns, 2 * whole, units), 0);
			assert_int_equal(
				bucket_burst(&bucket, back_ns + cost_ns + jumps_ns[j], 1, units),
				1);
			bucket = bucket_new(&limit, START);
			bucket_burst(&bucket, START, whole, units);
			bucket_charge(&bucket, back_ns, units);
			assert_in_range(bucket.word - bucket_ticks(&limit, back_ns), limit.burst,
					limit.burst + limit.slack);
		}
	}
}

static void test_small_step_back(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < CLOCK_CASES; i++) {
		struct limit limit = clock_limit(i);
		struct bucket bucket = bucket_new(&limit, START);
		uint64_t units = clock_units(i), whole = clock_cases[i].burst / units;
		uint64_t word;

		bucket_burst(&bucket, START, whole, units);
		word = bucket.word;
		assert_false(bucket_charge(&bucket, START - SECOND / 25, units));
		assert_true(bucket.word == word);
	}
}

static void test_any_word(void **state)
{
	static const uint64_t words[] = {0,
					 1,
					 UINT64_MAX,
					 UINT32_MAX,
					 UINT32_MAX - 1ULL,
					 0xfffffffefffffffe,
					 1ULL << 62,
					 1ULL << 63,
					 (1ULL << 62) - 1,
					 (1ULL << 60) + 1,
					 0x8000000080000000};
	uint64_t seed = 3;

	(void)state;
	for (unsigned int n = 0; n < 20000; n++) {
		unsigned int known = sizeof(words) / sizeof(words[0]), i = n % CLOCK_CASES;
		struct limit limit = clock_limit(i);
		struct bucket bucket = bucket_new(&limit, START);
		uint64_t units = clock_units(i), whole = clock_cases[i].burst / units;

		bucket.word = n / CLOCK_CASES < known ? words[n / CLOCK_CASES] : random_next(&seed);
		bucket_charge(&bucket, START, units);
		assert_in_range(gcra_debt(bucket.word, bucket_ticks(&limit, START)), 0,
				limit.burst + limit.slack);
		assert_in_range(bucket_burst(&bucket, START, 2 * whole, units), 0, whole);
		/* And never frozen: after the burst and the slack it is as good as new. */
		assert_int_equal(bucket_burst(&bucket,
					      START + (limit.burst >> limit.tick) + SECOND + 1,
					      2 * whole, units),
				 whole);
	}
}

static void test_lowered_burst(void **state)
{
	struct limit before = packets_per_second(10, 1000), after = packets_per_second(10, 20);
	struct bucket bucket = bucket_new(&before, START);

	(void)state;
	assert_int_equal(bucket_burst(&bucket, START, 1000, 1), 1000);
	bucket.limit = &after;
	assert_int_equal(bucket_burst(&bucket, START, 30, 1), 0);
	/* Repaired to "just exhausted": the next one fits after 0.1 s, not after 98 s. */
	assert_int_equal(bucket_burst(&bucket, START + 100 * MS, 30, 1), 1);
}

static void test_roomy_equals_cas(void **state)
{
	uint64_t seed = 4;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct limit limit = packets_per_second(random_magnitude(&seed, 24),
							random_magnitude(&seed, 12));
		struct bucket added = bucket_new(&limit, START), swapped = added;
		uint64_t now_ns = START;

		added.fanout = 1;
		swapped.fanout = UINT32_MAX; /* never room for so many CPUs */
		for (int packet = 0; packet < 100; packet++) {
			now_ns += random_gap(&seed, &limit, packet_ns(&limit));
			assert_int_equal(bucket_charge(&added, now_ns, 1),
					 bucket_charge(&swapped, now_ns, 1));
			assert_true(gcra_debt(added.word, bucket_ticks(&limit, now_ns)) ==
				    gcra_debt(swapped.word, bucket_ticks(&limit, now_ns)));
		}
	}
}

/* ---- reported faults ---- */

static void test_o035(void **state)
{
	struct limit limit = packets_per_second(10, 10);
	struct bucket drained = bucket_new(&limit, START), untouched = drained;

	(void)state;
	assert_int_equal(bucket_burst(&drained, START, 10, 1), 10);
	assert_int_equal(bucket_burst(&drained, START + 1050 * MS, 12, 1), 10);
	assert_int_equal(bucket_burst(&untouched, START + 1050 * MS, 12, 1), 10);
}

static void test_o036(void **state)
{
	struct limit limit = packets_per_second(100, 100);
	struct bucket bucket = bucket_new(&limit, START);

	(void)state;
	assert_int_equal(bucket_stream(&bucket, START, 3000, 20 * MS, 1), 3000);
}

static void test_o037(void **state)
{
	static const struct {
		uint64_t amount, per_ns, spacing_ns, offered, least, most;
	} rows[] = {
		{1, SECOND, 100 * MS, 300, 30, 31},
		{1, MINUTE, 100 * MS, 18000, 30, 31},
		{7, SECOND, MS, 30000, 210, 211},
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct limit limit = compiled(UNIT_PACKETS, rows[i].amount, rows[i].per_ns, 1);
		struct bucket bucket = bucket_new(&limit, START);

		/* 7 pps on a grid of 1 ms: every 143 ms instead of every 142.86. */
		assert_in_range(
			bucket_stream(&bucket, START, rows[i].offered, rows[i].spacing_ns, 1),
			rows[i].least - (rows[i].amount == 7), rows[i].most);
	}
}

static void test_o038(void **state)
{
	static const uint64_t rates[] = {1,    3,    7,	   99,	 100,	101,   333,    999,
					 1000, 1001, 1999, 2000, 65535, 65536, 1000003};
	uint64_t last = 0;

	(void)state;
	for (unsigned int i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct limit limit = packets_per_second(rates[i], rates[i]);
		struct bucket bucket = bucket_new(&limit, START);
		uint64_t offered = 9 * rates[i], admitted, right = 4 * rates[i], slack;

		admitted = bucket_stream(&bucket, START, offered, 3 * SECOND / offered, 1);
		slack = right / 50 > 2 ? right / 50 : 2;
		assert_in_range(admitted, right - slack, right);
		assert_true(admitted > last);
		last = admitted;
	}
}

static void test_o040(void **state)
{
	struct limit limit = packets_per_second(100, 100);
	struct bucket bucket = bucket_new(&limit, START);

	(void)state;
	assert_int_equal(bucket_burst(&bucket, START, 10, 1), 10);
	assert_int_equal(bucket_burst(&bucket, START + 50 * MS, 91, 1), 91);
	assert_int_equal(bucket_burst(&bucket, START + 50 * MS, 10, 1), 4);
}

static void test_o044(void **state)
{
	struct limit limit = compiled(UNIT_BYTES, 25000000000, SECOND, 6250000000);
	struct bucket bucket = bucket_new(&limit, START);

	(void)state;
	/* 1 MB/s is a frame of 1500 bytes each 1.5 ms, here for 10 minutes. */
	assert_int_equal(bucket_stream(&bucket, START, 400000, 1500000, FRAME), 400000);
	/* And nothing has wrapped: the whole burst is there, and ends. */
	bucket = bucket_new(&limit, START);
	assert_in_range(bucket_burst(&bucket, START, 4200000, FRAME), 4166666 * 999ULL / 1000,
			4166666);
}

static void test_o046(void **state)
{
	struct rate rate = {LIMIT_METERED, UNIT_BYTES, 1000, SECOND};
	struct limit limit = compiled(UNIT_BYTES, 1000, SECOND, default_burst(&rate));
	struct bucket bucket = bucket_new(&limit, START);

	(void)state;
	assert_true(bucket_charge(&bucket, START + 5 * SECOND, FRAME));
}

static void test_o047(void **state)
{
	struct limit packets = compiled(UNIT_PACKETS, 1, HOUR, 100);
	struct limit bytes = compiled(UNIT_BYTES, 1, HOUR, 4600);
	struct bucket by_packets = bucket_new(&packets, START);
	struct bucket by_bytes = bucket_new(&bytes, START);

	(void)state;
	for (int packet = 1; packet <= 101; packet++) {
		assert_int_equal(bucket_charge(&by_packets, START, 1), packet <= 100);
		assert_int_equal(bucket_charge(&by_bytes, START, 46), packet <= 100);
	}
}

static void test_o050(void **state)
{
	struct limit limit = packets_per_second(10, 200);
	struct bucket bucket = bucket_new(&limit, START);
	uint64_t now_ns = START + 50 * MS;

	(void)state;
	assert_int_equal(bucket_stream(&bucket, START, 150, 50 * MS / 150, 1), 150);
	bucket_burst(&bucket, now_ns, 200, 1);
	assert_int_equal(bucket_stream(&bucket, now_ns, 10000, MS, 1), 100);
}

static void test_o051(void **state)
{
	struct limit limit = packets_per_second(100, 20);
	struct bucket bucket = bucket_new(&limit, START);

	(void)state;
	assert_int_equal(bucket_stream(&bucket, START, 10, 1000, 1), 10);
}

/* Times at which the low half of the clock, of the word or of both stands before its wrap. */
static void test_o052(void **state)
{
	struct limit limit = packets_per_second(1, 4);

	(void)state;
	for (uint64_t half = 0; half < 4; half++) {
		uint64_t now_ns = (half << 32) + 0xfffffffe;
		struct bucket bucket = bucket_new(&limit, now_ns);

		assert_int_equal(bucket_burst(&bucket, now_ns, 4, 1), 4);
		assert_int_equal(bucket_stream(&bucket, now_ns, 4, 1, 1), 0);
		bucket.word = (bucket.word & ~0xffffffffULL) + 0x1fffffffeULL;
		assert_int_equal(bucket_stream(&bucket, now_ns, 4, 1, 1), 0);
	}
}

static void test_o130(void **state)
{
	struct limit limit = packets_per_second(10, 50);
	struct bucket bucket = bucket_new(&limit, START);

	(void)state;
	assert_int_equal(bucket_burst(&bucket, START, 60, 1), 50);
	assert_int_equal(bucket_burst(&bucket, START + 120 * SECOND, 200, 1), 50);
	assert_int_equal(bucket_burst(&bucket, START + 121 * SECOND, 200, 1), 10);
}

#define FIELD_CASE(number, text)                                         \
	{                                                                \
		"O-" #number ": " text, test_o##number, NULL, NULL, NULL \
	}
#define RATE_CASE(i)                                                     \
	{                                                                \
		"", test_named_rate, NULL, NULL, (void *)&named_rates[i] \
	}

static const struct CMUnitTest general_tests[] = {
	{"thousands of random packet rates: never more, at most 1e-4 less",
	 test_random_packet_rates, NULL, NULL, NULL},
	{"thousands of random byte rates: never more, at most 1e-3 less", test_random_byte_rates,
	 NULL, NULL, NULL},
	{"idle for years gives one burst", test_idle_for_years, NULL, NULL, NULL},
	{"the clock wraps without being noticed", test_wrapping, NULL, NULL, NULL},
	{"a clock that jumps forward gives at most one burst", test_clock_forward, NULL, NULL,
	 NULL},
	{"a clock that jumps back leaves the bucket exhausted, not frozen", test_clock_back, NULL,
	 NULL, NULL},
	{"a clock 40 ms behind changes nothing", test_small_step_back, NULL, NULL, NULL},
	{"any word at all admits at most a burst and recovers", test_any_word, NULL, NULL, NULL},
	{"a lowered burst holds at once and does not freeze", test_lowered_burst, NULL, NULL, NULL},
	{"fetch-and-add and compare-and-swap agree on one CPU", test_roomy_equals_cas, NULL, NULL,
	 NULL},
	FIELD_CASE(035, "a drained bucket refills, another source's is untouched"),
	FIELD_CASE(036, "half the rate for a minute loses nothing: no lifetime cap"),
	FIELD_CASE(037, "slow rates refill under frequent packets"),
	FIELD_CASE(038, "neighbouring rates behave alike, monotone"),
	FIELD_CASE(040, "a refill adds to what is left"),
	FIELD_CASE(044, "200 Gbit/s does not wrap: 1 MB/s loses nothing"),
	FIELD_CASE(046, "the default byte burst holds a full frame"),
	FIELD_CASE(047, "the last unit is inside the limit, for packets and bytes alike"),
	FIELD_CASE(050, "rate and burst both matter: 150 at once, then 10 per second"),
	FIELD_CASE(051, "a burst is a count, not a spacing"),
	FIELD_CASE(052, "32-bit edges wrap nothing to admitted"),
	FIELD_CASE(130, "two minutes of suspend refill at most a burst"),
};

int main(void)
{
	struct CMUnitTest tests[RATES + sizeof(general_tests) / sizeof(general_tests[0])];
	static char names[RATES][64];

	for (unsigned int i = 0; i < RATES; i++) {
		snprintf(names[i], sizeof(names[i]), "%s: never more, nor less than promised",
			 named_rates[i].name);
		tests[i] = (struct CMUnitTest)RATE_CASE(i);
		tests[i].name = names[i];
	}
	memcpy(&tests[RATES], general_tests, sizeof(general_tests));
	return cmocka_run_group_tests_name("algorithm", tests, NULL, NULL);
}
