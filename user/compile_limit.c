// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The arithmetic of one limit, exact: from its rate to ticks, and from a word back to units. */
#include "compile.h"

#include <errno.h>
#include <math.h>
#include "algorithm.h"

__extension__ typedef unsigned __int128 u128;

/* Rounding the cost of a unit up costs at most 1 / UNIT_TICKS_MIN of the rate: 6.1e-5. */
#define UNIT_TICKS_MIN (1ULL << 14)
/* The tick is the coarsest that gives this: an 8 times faster rate can keep it, and its buckets. */
#define UNIT_TICKS_WANTED (1ULL << 17)
/* A kept tick is good enough down to here: 1e-4. */
#define UNIT_TICKS_KEPT 10000ULL
#define SHIFT_MAX	31
/* Of multiplier and units, while the scale is sought: half of what the kernel's product may be. */
#define PRODUCT_MAX (1ULL << 62)

/* What differs between counting packets and counting bytes. */
static const struct unit_traits {
	const char *noun;
	const char *slowest;
	const char *fastest;
	uint64_t rate_max; /* units per second: a full packet still costs enough ticks */
	uint64_t smallest; /* units of the smallest packet */
	uint64_t full;	   /* units of a full packet */
} unit_traits[] = {
	[UNIT_PACKETS] = {"packet", "1 per 13343d", "1000000000 pps", 1000000000ULL, 1, 1},
	/* 1536 ticks for 1500 bytes: better than 1e-3 */
	[UNIT_BYTES] = {"byte", "60 B per 13343d", "1000 Gbit/s", 125000000000ULL, 60, FULL_FRAME},
};

static u128 divide_up(u128 dividend, u128 divisor)
{
	return (dividend + divisor - 1) / divisor;
}

static u128 unit_ticks(const struct rate *rate, unsigned int tick)
{
	return divide_up((u128)rate->per_ns << tick, rate->amount);
}

/* What a unit costs, in ticks or (fast byte limits) fractions of one, and the whole burst. */
struct scale {
	u128 multiplier;
	u128 burst;
	unsigned int shift;
};

/*
 * Frames round up to whole ticks, and so must a burst that a single frame may fill. That would
 * admit up to a tick more than burst + rate * W. So the burst becomes a whole number of ticks, the
 * multiplier is fitted to it from below, which leaves burst / 2^shift of a tick, and before that
 * it is raised by as much as this can be of the shortest interval, a nanosecond.
 */
static struct scale fit_to_burst(struct scale scale, u128 burst, unsigned int tick)
{
	u128 one = (u128)1 << scale.shift;

	scale.multiplier += divide_up(scale.multiplier * burst, one << tick);
	scale.burst = divide_up(scale.multiplier * burst, one);
	scale.multiplier = (scale.burst << scale.shift) / burst;
	return scale;
}

static struct scale fraction_scale(const struct policy_limit *limit, unsigned int tick)
{
	const struct rate *rate = &limit->rate;
	uint64_t frame = limit->burst < UNITS_MAX ? limit->burst : UNITS_MAX;
	struct scale scale = {.shift = SHIFT_MAX};

	do
		scale.multiplier = divide_up((u128)rate->per_ns << (tick + scale.shift),
					     rate->amount);
	while (scale.multiplier * frame >= PRODUCT_MAX && scale.shift--);
	if (limit->burst <= UNITS_MAX)
		return fit_to_burst(scale, limit->burst, tick);
	/* No single frame fills it: it may round down. */
	scale.burst = scale.multiplier * limit->burst >> scale.shift;
	return scale;
}

static struct scale limit_scale(const struct policy_limit *limit, unsigned int tick)
{
	u128 ticks = unit_ticks(&limit->rate, tick);

	if (limit->rate.unit == UNIT_BYTES && ticks < UNIT_TICKS_MIN)
		return fraction_scale(limit, tick);
	/* From the rounded cost: otherwise a burst of 1 could never be admitted. */
	return (struct scale){.multiplier = ticks, .burst = ticks * limit->burst};
}

/* The largest burst, in units, of no more than GCRA_BURST_MAX ticks. */
static uint64_t largest_burst(const struct rate *rate, unsigned int tick)
{
	return (uint64_t)(GCRA_BURST_MAX / unit_ticks(rate, tick));
}

static bool burst_fits(const struct policy_limit *limit, unsigned int tick)
{
	return limit->burst <= largest_burst(&limit->rate, tick);
}

static unsigned int choose_tick(const struct rate *rate)
{
	unsigned int tick = 0;

	while (tick < TICK_MAX && unit_ticks(rate, tick) < UNIT_TICKS_WANTED)
		tick++;
	return tick;
}

/* Whether a tick chosen for another rate still serves this one. */
static bool tick_holds(const struct policy_limit *limit, unsigned int tick)
{
	const struct rate *rate = &limit->rate;
	u128 ticks = divide_up(((u128)rate->per_ns << tick) * unit_traits[rate->unit].full,
			       rate->amount);

	return (tick == TICK_MAX || ticks >= UNIT_TICKS_KEPT) && burst_fits(limit, tick);
}

static int check_rate(const struct policy_limit *limit, struct complaint *why)
{
	const struct rate *rate = &limit->rate;
	const struct unit_traits *traits = &unit_traits[rate->unit];

	if (!rate->amount || !rate->per_ns)
		return complain(why, -ERANGE,
				"limit %s: a rate of 0 means nothing: write `block` or `unlimited`",
				limit->name);
	if ((u128)rate->amount * NS_PER_SECOND > (u128)rate->per_ns * traits->rate_max)
		return complain(why, -ERANGE, "limit %s: the rate is too fast: at most %s",
				limit->name, traits->fastest);
	if (divide_up((u128)rate->per_ns * traits->smallest, rate->amount) > GCRA_BURST_MAX)
		return complain(why, -ERANGE, "limit %s: the rate is too slow: at least %s",
				limit->name, traits->slowest);
	return 0;
}

static int check_range(const struct policy_limit *limit, struct complaint *why)
{
	const struct unit_traits *traits = &unit_traits[limit->rate.unit];
	char burst[UNITS_TEXT_SIZE], rate[UNITS_TEXT_SIZE];
	unsigned int tick = choose_tick(&limit->rate);

	if (burst_fits(limit, tick))
		return 0;
	format_burst(limit->burst, limit->rate.unit, burst, sizeof(burst));
	format_rate(&limit->rate, rate, sizeof(rate));
	return complain(why, -ERANGE,
			"limit %s: a burst of %s at %s is more than the clock can count: "
			"lower the burst to at most %llu %ss, or raise the rate",
			limit->name, burst, rate,
			(unsigned long long)largest_burst(&limit->rate, tick), traits->noun);
}

static int check_limit(const struct policy_limit *limit, struct complaint *why)
{
	struct complaint burst;
	int err = check_rate(limit, why);

	if (err)
		return err;
	err = check_burst(limit->burst, limit->rate.unit, &burst);
	if (err)
		return complain(why, err, "limit %s: %s", limit->name, burst.text);
	return check_range(limit, why);
}

/*
 * `unlimited` and `block` never write a word that means anything, so any tick will do. The finest
 * one holds every rate that may follow them. A burst of the whole range makes no word foreign.
 */
static void compile_word(const struct policy_limit *limit, int tick, struct limit *compiled)
{
	compiled->tick = tick < 0 ? TICK_MAX : (__u8)tick;
	compiled->burst = GCRA_BURST_MAX;
	compiled->max_units = limit->rate.kind == LIMIT_UNLIMITED ? UINT32_MAX : 0;
}

static void compile_metered(const struct policy_limit *limit, unsigned int tick,
			    struct limit *compiled)
{
	struct scale scale = limit_scale(limit, tick);

	compiled->tick = (__u8)tick;
	compiled->multiplier = (__u64)scale.multiplier;
	compiled->shift = (__u8)scale.shift;
	compiled->burst = (__u64)scale.burst;
	compiled->max_units = limit->burst < UNITS_MAX ? (__u32)limit->burst : UNITS_MAX;
}

int compile_limit(const struct policy_limit *limit, int tick, unsigned int possible_cpus,
		  struct limit *compiled, struct complaint *why)
{
	struct limit result = {
		.unit = (__u8)limit->rate.unit,
		.algorithm = (__u8)limit->algorithm,
		.per = (__u8)limit->per,
		.observe = limit->observe,
	};
	int err;

	if (limit->rate.kind != LIMIT_METERED) {
		compile_word(limit, tick, &result);
	} else {
		err = check_limit(limit, why);
		if (err)
			return err;
		if (tick >= 0 && !tick_holds(limit, (unsigned int)tick))
			return complain(why, -EDOM,
					"limit %s: its buckets count in ticks that can't hold "
					"the new rate and burst",
					limit->name);
		compile_metered(limit, tick < 0 ? choose_tick(&limit->rate) : (unsigned int)tick,
				&result);
	}
	result.share = result.burst / (possible_cpus + 1);
	result.slack = NS_PER_SECOND << result.tick;
	*compiled = result;
	return 0;
}

static double seconds(uint64_t ticks, unsigned int tick)
{
	return (double)ticks / (double)(1U << tick) / (double)NS_PER_SECOND;
}

/* The largest number of units whose cost is no more than @room ticks. */
static uint64_t units_in(uint64_t room, const struct limit *limit)
{
	return (uint64_t)(((u128)room << limit->shift) / limit->multiplier);
}

void limit_read(const struct limit *limit, const struct limit_label *label, uint64_t word,
		uint64_t now_ns, struct limit_state *state)
{
	uint64_t debt = gcra_debt(word, now_ns << limit->tick);
	uint64_t cost = cost_ticks(unit_traits[limit->unit].smallest, limit->multiplier,
				   limit->shift);

	if (label->kind != LIMIT_METERED) {
		bool block = label->kind == LIMIT_BLOCK;

		*state = (struct limit_state){
			.remaining = block ? 0 : UINT64_MAX,
			.retry_after_seconds = block ? INFINITY : 0,
		};
		return;
	}
	/* The next packet would repair such a word, so that is what it says already. */
	if (gcra_foreign(debt, limit->burst, limit->slack))
		debt = limit->burst;
	/* A large burst may have been rounded down; it is whole all the same. */
	state->remaining = !debt		 ? label->burst
			   : debt < limit->burst ? units_in(limit->burst - debt, limit)
						 : 0;
	state->reset_seconds = seconds(debt, limit->tick);
	state->retry_after_seconds = gcra_fits(debt, cost, limit->burst)
					     ? 0
					     : seconds(debt + cost - limit->burst, limit->tick);
}
