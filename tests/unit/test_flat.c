// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How a slot's bits are shared out, and the arithmetic on blocks, without a kernel. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "compile.h"
#include "compile_flat.h"
#include "flat.h"
#include "random.h"

__extension__ typedef unsigned __int128 u128;

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct policy_limit limit_of(enum unit unit, uint64_t amount, uint64_t per_ns,
				    uint64_t burst)
{
	return (struct policy_limit){
		.name = "x",
		.rate = {LIMIT_METERED, unit, amount, per_ns},
		.burst = burst,
	};
}

/* ---- which bits ---- */

static const struct scale_case {
	const char *name;
	enum unit unit;
	uint64_t amount, per_ns, burst;
	unsigned int tick, bits;
} scales[] = {
	{"1000 pps, burst 1000: a grain is a nanosecond", UNIT_PACKETS, 1000, NS_PER_SECOND, 1000,
	 26, 26},
	{"100 pps, burst 500: exact at the price of headroom", UNIT_PACKETS, 100, NS_PER_SECOND,
	 500, 27, 27},
	{"1 Mpps: grains are finer", UNIT_PACKETS, 1000000, NS_PER_SECOND, 1000000, 30, 25},
	{"10 Mpps", UNIT_PACKETS, 10000000, NS_PER_SECOND, 10000000, 30, 22},
	{"10 Mbit/s, 250 ms: whole grains for a byte", UNIT_BYTES, 1250000, NS_PER_SECOND, 312500,
	 30, 25},
	{"10 Gbit/s, 250 ms: for a frame", UNIT_BYTES, 1250000000, NS_PER_SECOND, 312500000, 30,
	 21},
	{"1 per hour, burst 100: grains are coarse", UNIT_PACKETS, 1, 3600 * NS_PER_SECOND, 100, 11,
	 32},
	{"1 per day, burst 13342", UNIT_PACKETS, 1, 86400 * NS_PER_SECOND, 13300, 0, 31},
};

static void shares_out(void **state)
{
	const struct scale_case *row = *state;
	struct policy_limit limit = limit_of(row->unit, row->amount, row->per_ns, row->burst);
	struct slot_scale scale;
	struct complaint why;

	assert_int_equal(choose_slot_scale(&limit, &scale, &why), 0);
	assert_int_equal(scale.tick, row->tick);
	assert_int_equal(scale.fingerprint_bits, row->bits);
}

static struct policy_limit random_limit(uint64_t *seed)
{
	enum unit unit = random_below(seed, 2) ? UNIT_BYTES : UNIT_PACKETS;
	uint64_t amount = random_magnitude(seed, unit == UNIT_BYTES ? 30 : 23);
	uint64_t per_ns = random_below(seed, 2) ? NS_PER_SECOND
						: NS_PER_SECOND * random_magnitude(seed, 12);
	uint64_t smallest = unit == UNIT_BYTES ? 60 : 1;

	return limit_of(unit, amount, per_ns, smallest + random_magnitude(seed, 22) - 1);
}

/* What a unit costs in real ticks, as a fraction of what it should: 1 or a little more. */
static double price(const struct limit *compiled, const struct policy_limit *limit, uint64_t units)
{
	return (double)limit_cost_ticks(compiled, units) * (double)limit->rate.amount /
	       ((double)units * (double)limit->rate.per_ns * pow(2, compiled->tick));
}

static void check_compiled(const struct policy_limit *limit, const struct limit *compiled)
{
	bool bytes = limit->rate.unit == UNIT_BYTES;
	uint64_t full = bytes ? 1500 : 1, frames;

	if (limit->burst < full)
		full = limit->burst;
	/* Never cheaper than it should be, and hardly dearer. */
	assert_true(price(compiled, limit, full) >= 1 - 1e-9);
	assert_true(price(compiled, limit, full) <= 1 + (bytes ? 1e-3 : 1.1e-4));
	assert_true(compiled->burst <= GCRA_BURST_MAX);
	assert_true(compiled->burst + compiled->slack < GCRA_PAST);
	assert_int_equal(compiled->burst & fingerprint_mask(compiled), 0);
	/* A frame of the whole burst fits; packets fit one by one, and not one more. */
	if (limit->burst <= UNITS_MAX)
		assert_true(limit_cost_ticks(compiled, limit->burst) <= compiled->burst);
	if (bytes)
		return;
	frames = compiled->burst / limit_cost_ticks(compiled, 1);
	assert_int_equal(frames, limit->burst);
}

static void compiles_any_limit(void **state)
{
	uint64_t seed = 11;
	unsigned int compiled_count = 0;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		struct policy_limit limit = random_limit(&seed);
		struct slot_scale scale;
		struct limit compiled;
		struct complaint why;

		if (choose_slot_scale(&limit, &scale, &why))
			continue;
		if (compile_slot_limit(&limit, &scale, 2, &compiled, &why))
			continue; /* what compile_limit() refuses */
		assert_in_range(compiled.fingerprint_bits, 20, 32);
		check_compiled(&limit, &compiled);
		compiled_count++;
	}
	assert_true(compiled_count > 100000);
}

static void tiers_share_a_scale(void **state)
{
	struct policy_limit limit = limit_of(UNIT_PACKETS, 100, NS_PER_SECOND, 100);
	struct slot_scale alone, both;
	struct limit compiled;
	struct complaint why;

	(void)state;
	assert_int_equal(choose_slot_scale(&limit, &alone, &why), 0);
	limit.tiers[3] = (struct policy_tier_rate){
		true, {LIMIT_METERED, UNIT_PACKETS, 1000000, NS_PER_SECOND}, 4000000};
	assert_int_equal(choose_slot_scale(&limit, &both, &why), 0);
	assert_true(both.fingerprint_bits < alone.fingerprint_bits);
	assert_int_equal(compile_slot_limit(&limit, &both, 2, &compiled, &why), 0);
	limit = limit_for_tier(&limit, 3);
	assert_int_equal(compile_slot_limit(&limit, &both, 2, &compiled, &why), 0);
	assert_int_equal(compile_slot_limit(&limit, &alone, 2, &compiled, &why), -EDOM);
}

static void refuses(void **state)
{
	struct policy_limit fast = limit_of(UNIT_PACKETS, 100000000, NS_PER_SECOND, 100000000);
	struct policy_limit window = limit_of(UNIT_PACKETS, 100, NS_PER_SECOND, 100);
	struct slot_scale scale;
	struct complaint why;

	(void)state;
	assert_int_equal(choose_slot_scale(&fast, &scale, &why), -ERANGE);
	assert_non_null(
		strstr(why.text, "of a flat table's 64 bits to tell sources apart, and 20 are"));
	window.algorithm = ALGORITHM_SLIDING_WINDOW;
	assert_int_equal(choose_slot_scale(&window, &scale, &why), -ERANGE);
	assert_non_null(strstr(why.text, "not sliding-window"));
}

/* ---- blocks ---- */

/* Neighbouring addresses spread like random ones, and no fingerprint is that of a free slot. */
static void spreads_neighbours(void **state)
{
	static unsigned int sources[8192];
	uint64_t mask = (1ULL << 28) - 1;
	unsigned int most = 0;

	(void)state;
	for (uint64_t i = 0; i < 8192 * 8; i++) {
		uint64_t hash = flat_hash(0x1234, 0, (i + 0x0a000000) << 32 | 0xffff0000);
		uint32_t block = flat_block_of(hash, COUNT(sources));

		assert_true(block < COUNT(sources));
		assert_int_not_equal(flat_fingerprint(hash, mask), 0);
		if (++sources[block] > most)
			most = sources[block];
	}
	/* Poisson, 8 each: the fullest of 8192 has 22 or so. */
	assert_in_range(most, 16, 28);
	assert_int_equal(flat_fingerprint(mask + 1, mask), 1);
}

/* Addresses that differ in one way fall together no more often than others, whatever the seed. */
static void cannot_be_aimed(void **state)
{
	uint64_t seed = 5;
	unsigned int met = 0;

	(void)state;
	for (unsigned int i = 0; i < 1000000; i++) {
		uint64_t key = random_next(&seed), first = random_next(&seed) << 32 | 0xffff0000;
		/* What a single multiplication by this constant would leave in one block. */
		uint64_t second = first ^ 0x144cbc89ULL << 32;

		met += flat_block_of(flat_hash(key, 0, first), 1024) ==
		       flat_block_of(flat_hash(key, 0, second), 1024);
	}
	assert_in_range(met, 800, 1160);
}

/* Of IPv6: what a product by any odd constant would carry on to the same bit. */
static void cannot_be_aimed_by_two_words(void **state)
{
	uint64_t seed = 5;
	unsigned int met = 0;

	(void)state;
	for (unsigned int i = 0; i < 100000; i++) {
		uint64_t key = random_next(&seed), top = 1ULL << (63 - i % 2);
		uint64_t first = random_next(&seed), second = random_next(&seed);

		met += flat_hash(key, first, second) == flat_hash(key, first ^ top, second ^ top);
	}
	assert_int_equal(met, 0);
}

static void knows_a_stale_block(void **state)
{
	static const __u8 ticks[] = {0, 14, 28, 31};

	(void)state;
	for (size_t i = 0; i < COUNT(ticks); i++) {
		uint64_t half = 1ULL << (61 - ticks[i]);

		assert_false(flat_is_stale(0, ticks[i]));
		assert_false(flat_is_stale(half - 1, ticks[i]));
		assert_true(flat_is_stale(half, ticks[i]));
		assert_true(flat_is_stale(-1ULL, ticks[i]));
		assert_false(flat_all_idle(4 * half - 1, ticks[i]));
		if (ticks[i] > 1)
			assert_true(flat_all_idle(4 * half, ticks[i]));
	}
}

/* A word is only raised, is idle then, and stays idle for half a span. */
static void refreshes_words(void **state)
{
	const struct limit limit = {.tick = 28, .fingerprint_bits = 28};
	uint64_t mask = fingerprint_mask(&limit), seed = 2;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		uint64_t now_ns = random_next(&seed) >> 4, word = random_next(&seed);
		uint64_t now = limit_ticks(&limit, now_ns);
		uint64_t later = limit_ticks(&limit, now_ns + (1ULL << (61 - 28)) - 1);
		uint64_t floor = flat_floor(now, mask), fresh = floor;

		if (!flat_is_behind(word, floor, mask))
			continue;
		assert_int_equal(gcra_debt(fresh & ~mask, now), 0);
		assert_int_equal(gcra_debt(fresh & ~mask, later), 0);
		assert_true(fresh - (word & ~mask) < 1ULL << 63);
	}
}

static void finds_the_least_debt(void **state)
{
	uint64_t mask = (1ULL << 28) - 1, seed = 8;

	(void)state;
	for (int round = 0; round < 100000; round++) {
		uint64_t now = random_next(&seed) & ~mask, best = 0, least = 0;
		uint64_t words[FLAT_SLOTS];
		unsigned int slot = 0;

		for (unsigned int i = 0; i < FLAT_SLOTS; i++) {
			/* Up to half a span behind or ahead, some of them alike. */
			uint64_t ahead = random_below(&seed, 8) << 58;

			words[i] = ((now - (1ULL << 60) + ahead) & ~mask) |
				   random_below(&seed, mask);
			best = i ? flat_lower_rank(best, flat_rank(words[i], mask, i))
				 : flat_rank(words[i], mask, i);
			if (!i || ahead < least) {
				least = ahead;
				slot = i;
			}
		}
		assert_int_equal(flat_ranked_slot(best), slot);
		assert_int_equal(best & ~mask, words[slot] & ~mask);
	}
}

static void takes_little_memory(void **state)
{
	static const uint64_t sources[] = {1024, 65536, 1000000, 1048576, 268435456};

	(void)state;
	for (size_t i = 0; i < COUNT(sources); i++) {
		double bytes = (double)flat_blocks(sources[i]) * sizeof(struct flat_block);

		assert_true(bytes / (double)sources[i] < 17.3);
		assert_true(flat_blocks(sources[i]) * (uint64_t)FLAT_SLOTS >= 2 * sources[i]);
	}
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(compiles_any_limit),
		cmocka_unit_test(tiers_share_a_scale),
		cmocka_unit_test(refuses),
		cmocka_unit_test(spreads_neighbours),
		cmocka_unit_test(cannot_be_aimed),
		cmocka_unit_test(cannot_be_aimed_by_two_words),
		cmocka_unit_test(knows_a_stale_block),
		cmocka_unit_test(refreshes_words),
		cmocka_unit_test(finds_the_least_debt),
		cmocka_unit_test(takes_little_memory),
	};
	struct CMUnitTest tests[COUNT(scales) + COUNT(cases)];
	struct CMUnitTest *test = tests;

	for (size_t i = 0; i < COUNT(scales); i++)
		*test++ = (struct CMUnitTest){.name = scales[i].name,
					      .test_func = shares_out,
					      .initial_state = (void *)&scales[i]};
	memcpy(test, cases, sizeof(cases));
	return cmocka_run_group_tests_name("flat", tests, NULL, NULL);
}
