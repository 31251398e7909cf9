// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A slot of the flat table: how its 64 bits hold a limit's time and a source's fingerprint. */
#include "compile_flat.h"

#include <errno.h>
#include "compile.h"
#include "flat.h"
#include "words.h"

__extension__ typedef unsigned __int128 u128;

/*
 * Of a million sources, two share a slot once in 30 tables with 28 bits, once in two with 24, and with 20
 * there are seven such pairs.
 */
#define FINGERPRINT_MOST  32
#define FINGERPRINT_GOOD  24
#define FINGERPRINT_LEAST 20

/*
 * A slot counts time in grains. As long as 26 bits or more go to the fingerprint, a grain is a nanosecond
 * or less, and all is as exact as in a group. Limits whose burst takes more than 16 s to come back have
 * coarser grains. Their clock may read up to a grain early, and a packet's time would be worth a grain too
 * much: so each unit costs a grain more than it should. Never too much, and at most 2 / 2^15 too little.
 */
#define EXACT_BITS	 26
#define GRAIN_BITS_LEAST 14
#define COARSE_BITS	 15
#define GRAINS_KEPT	 10000 /* a kept scale is good enough down to here: 1e-4 */
#define COARSE_KEPT	 20000
#define FRAME_ROUNDING	 2

#define STALL_NS      (2 * NS_PER_SECOND) /* that a CPU may be held up, beyond one burst */
#define TICK_SLOT_MAX 31
#define SHIFT_MAX     31
#define PRODUCT_MAX   ((u128)1 << 62)

static u128 divide_up(u128 dividend, u128 divisor)
{
	return (dividend + divisor - 1) / divisor;
}

static bool is_metered(const struct policy_limit *limit)
{
	return limit->rate.kind == LIMIT_METERED && limit->rate.amount && limit->rate.per_ns;
}

static uint64_t smallest_frame(const struct rate *rate)
{
	return rate->unit == UNIT_BYTES ? 60 : 1;
}

/* The time in which a whole burst comes back, and a little more: it will be rounded up. */
static u128 burst_ns(const struct policy_limit *limit)
{
	u128 exact = divide_up((u128)limit->burst * limit->rate.per_ns, limit->rate.amount);

	return exact + exact / 1024 + 1;
}

/* Whether a span of @tick is four of so many bursts, and one burst and a stall: see flat.h. */
static bool span_holds(const struct policy_limit *limit, unsigned int tick, unsigned int bursts)
{
	const u128 span = (u128)1 << FLAT_SPAN_BITS;

	return bursts * burst_ns(limit) << tick <= span / 4 &&
	       (burst_ns(limit) + STALL_NS) << tick <= span;
}

/* Ticks of so many units, rounded down. */
static u128 ticks_of(const struct policy_limit *limit, uint64_t units, unsigned int tick)
{
	const struct rate *rate = &limit->rate;

	return ((u128)rate->per_ns * units << tick) / rate->amount;
}

static u128 frame_ticks(const struct policy_limit *limit, unsigned int tick)
{
	return ticks_of(limit, smallest_frame(&limit->rate), tick);
}

static int bit_length(u128 value)
{
	int bits = 0;

	while (value >> bits)
		bits++;
	return bits;
}

/* The finest tick whose span holds so many bursts; -1 when none does. */
static int finest_tick(const struct policy_limit *limit, unsigned int bursts)
{
	int tick = TICK_SLOT_MAX;

	while (tick >= 0 && !span_holds(limit, (unsigned int)tick, bursts))
		tick--;
	return tick;
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* What it leaves where a unit costs whole grains, a byte too. */
static int unit_bits(const struct policy_limit *limit, unsigned int tick)
{
	return bit_length(ticks_of(limit, 1, tick)) - 1 - GRAIN_BITS_LEAST;
}

/*
 * What a tick leaves for the fingerprint, below a time that is exact enough; may be negative. As long as it
 * is enough, a byte costs whole grains too, and a burst is exact to the byte.
 */
static int spare_bits(const struct policy_limit *limit, unsigned int tick)
{
	int unit = unit_bits(limit, tick);
	int frame = bit_length(frame_ticks(limit, tick)) - 1;

	if (tick < EXACT_BITS)
		return least(frame - COARSE_BITS, FINGERPRINT_MOST);
	return least(unit >= FINGERPRINT_GOOD ? unit : frame - GRAIN_BITS_LEAST, (int)tick);
}

static int refuse_scale(const struct policy_limit *limit, int bits, struct complaint *why)
{
	char burst[UNITS_TEXT_SIZE], rate[UNITS_TEXT_SIZE];

	format_burst(limit->burst, limit->rate.unit, burst, sizeof(burst));
	format_rate(&limit->rate, rate, sizeof(rate));
	if (bits < 0)
		bits = 0;
	return complain(
		why, -ERANGE,
		"limit %s: %s with a burst of %s leaves %d of a flat table's 64 bits to tell "
		"sources apart, and %d are needed: lower the rate or the burst, or take "
		"`type: lru`",
		limit->name, rate, burst, bits, FINGERPRINT_LEAST);
}

static int refuse_window(const struct policy_limit *limit, struct complaint *why)
{
	return complain(
		why, -ERANGE,
		"limit %s: a flat table holds token-bucket and leaky-bucket, not %s: take one of "
		"these, or `type: lru`",
		limit->name, algorithm_words[limit->algorithm]);
}

/* Calls @visit for the limit's own rate and for each tier's that is metered. */
static int visit_rates(const struct policy_limit *limit,
		       int (*visit)(const struct policy_limit *, struct slot_scale *,
				    struct complaint *),
		       struct slot_scale *scale, struct complaint *why)
{
	int err = is_metered(limit) ? visit(limit, scale, why) : 0;

	for (unsigned int tier = 0; tier < MAX_TIERS && !err; tier++) {
		struct policy_limit own = limit_for_tier(limit, tier);

		if (limit->tiers[tier].given && is_metered(&own))
			err = visit(&own, scale, why);
	}
	return err;
}

static int lower_tick(const struct policy_limit *limit, struct slot_scale *scale,
		      struct complaint *why)
{
	/* A burst may grow so much and keep its slots, or the rate fall; not at the price of exactness. */
	static const unsigned int headrooms[] = {16, 4, 1};
	int tick = -1;

	for (size_t i = 0; i < sizeof(headrooms) / sizeof(headrooms[0]); i++) {
		tick = finest_tick(limit, headrooms[i]);
		if (tick >= EXACT_BITS && unit_bits(limit, (unsigned int)tick) >= FINGERPRINT_GOOD)
			break;
	}
	if (tick < 0)
		return refuse_scale(limit, 0, why);
	if ((unsigned int)tick < scale->tick)
		scale->tick = (unsigned int)tick;
	return 0;
}

static int lower_bits(const struct policy_limit *limit, struct slot_scale *scale,
		      struct complaint *why)
{
	int bits = spare_bits(limit, scale->tick);

	if (bits < FINGERPRINT_LEAST)
		return refuse_scale(limit, bits, why);
	if ((unsigned int)bits < scale->fingerprint_bits)
		scale->fingerprint_bits = (unsigned int)bits;
	return 0;
}

int choose_slot_scale(const struct policy_limit *limit, struct slot_scale *scale,
		      struct complaint *why)
{
	bool metered = false;

	*scale = (struct slot_scale){TICK_SLOT_MAX, FINGERPRINT_MOST};
	if (has_window(limit->algorithm))
		return refuse_window(limit, why);
	for (unsigned int tier = 0; tier < MAX_TIERS; tier++)
		metered |= limit->tiers[tier].given &&
			   limit->tiers[tier].rate.kind == LIMIT_METERED;
	/* Words never write a slot: a scale that most rates can follow in. */
	if (!metered && !is_metered(limit))
		*scale = (struct slot_scale){EXACT_BITS, FINGERPRINT_GOOD};
	return visit_rates(limit, lower_tick, scale, why)
		       ?: visit_rates(limit, lower_bits, scale, why);
}

/* Whether a grain is more than a nanosecond. */
static bool is_coarse(const struct slot_scale *scale)
{
	return scale->fingerprint_bits > scale->tick;
}

static bool scale_holds(const struct policy_limit *limit, const struct slot_scale *scale)
{
	return span_holds(limit, scale->tick, 1) &&
	       frame_ticks(limit, scale->tick) >> scale->fingerprint_bits >=
		       (is_coarse(scale) ? COARSE_KEPT : GRAINS_KEPT);
}

/* Bytes round up to whole grains with each frame, and in the burst too: hence two for each frame. */
static void compile_coarse(const struct policy_limit *limit, const struct slot_scale *scale,
			   struct limit *result)
{
	const struct rate *rate = &limit->rate;
	const u128 amount = (u128)rate->amount << (scale->fingerprint_bits - scale->tick);
	u128 multiplier = divide_up(rate->per_ns, amount) + 1;

	result->frame_cost = 0;
	result->shift = 0;
	if (rate->unit == UNIT_BYTES) {
		result->frame_cost = FRAME_ROUNDING;
		result->shift = SHIFT_MAX;
		do
			multiplier = divide_up((u128)rate->per_ns << result->shift, amount);
		while (multiplier * UNITS_MAX >= PRODUCT_MAX && result->shift--);
	}
	result->multiplier = (uint64_t)multiplier;
	result->burst = (uint64_t)divide_up(multiplier * limit->burst, (u128)1 << result->shift) +
			result->frame_cost;
}

int compile_slot_limit(const struct policy_limit *limit, const struct slot_scale *scale,
		       unsigned int possible_cpus, struct limit *compiled, struct complaint *why)
{
	struct limit result;
	int tick = is_coarse(scale) ? -1 : (int)(scale->tick - scale->fingerprint_bits);
	int err = has_window(limit->algorithm) ? refuse_window(limit, why) : 0;

	if (!err && is_metered(limit) && !scale_holds(limit, scale))
		err = complain(
			why, -EDOM,
			"limit %s: its slots count in ticks that can't hold the new rate and "
			"burst",
			limit->name);
	err = err ?: compile_limit(limit, tick, possible_cpus, &result, why);
	if (err)
		return err;
	if (is_coarse(scale) && is_metered(limit))
		compile_coarse(limit, scale, &result);
	result.tick = (__u8)scale->tick;
	result.fingerprint_bits = (__u8)scale->fingerprint_bits;
	if (is_metered(limit))
		result.burst <<= scale->fingerprint_bits;
	result.share = result.burst / (possible_cpus + 1);
	result.slack = BUCKET_SLACK_NS << scale->tick;
	*compiled = result;
	return 0;
}

/* ---- sizes ---- */

uint32_t flat_blocks(uint64_t sources)
{
	return (uint32_t)((2 * sources + FLAT_SLOTS - 1) / FLAT_SLOTS);
}

uint32_t limited_entries(const struct table_identity *table)
{
	uint32_t entries = table->capacity / 16;

	if (table->type != TABLE_FLAT)
		return 1;
	if (entries < 1024)
		return 1024;
	return entries < 65536 ? entries : 65536;
}

uint64_t flat_memory(const struct table_identity *table)
{
	return (uint64_t)table->words * table->blocks * sizeof(struct flat_block) +
	       lru_memory(limited_entries(table), sizeof(struct log_key), sizeof(struct limited));
}
