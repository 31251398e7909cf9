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

static int check_metered(const struct policy_limit *limit, struct complaint *why)
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
	if (!has_window(limit->algorithm))
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

static int compile_bucket(const struct policy_limit *limit, int tick, struct limit *compiled,
			  struct complaint *why)
{
	int err = check_metered(limit, why);

	if (err)
		return err;
	if (tick >= 0 && !tick_holds(limit, (unsigned int)tick))
		return complain(why, -EDOM,
				"limit %s: its buckets count in ticks that can't hold "
				"the new rate and burst",
				limit->name);
	compile_metered(limit, tick < 0 ? choose_tick(&limit->rate) : (unsigned int)tick, compiled);
	return 0;
}

/* ---- windows ---- */

#define WINDOW_NS_MIN	  1000000ULL /* shorter ones wrap their index in hours */
#define WINDOW_NS_MAX	  GCRA_BURST_MAX
#define WINDOW_STEPS_BITS 14 /* a window has at least 2^14 steps of the clock */
#define WINDOW_SLACK_MAX  (1ULL << (SLIDING_INDEX_BITS - 2))

/* What one window of an algorithm can count. */
static const struct window_traits {
	const char *name;
	uint64_t most;
	bool packets_only;
	const char *instead;
} window_traits[] = {
	[ALGORITHM_FIXED_WINDOW] = {"fixed-window", FIXED_COUNT_MAX, false, "token-bucket"},
	[ALGORITHM_SLIDING_WINDOW] = {"sliding-window", SLIDING_COUNT_MAX, false,
				      "fixed-window or token-bucket"},
	[ALGORITHM_SLIDING_LOG] = {"sliding-log", LOG_SLOTS, true,
				   "sliding-window or token-bucket"},
};

bool has_window(enum algorithm algorithm)
{
	return algorithm == ALGORITHM_FIXED_WINDOW || algorithm == ALGORITHM_SLIDING_WINDOW ||
	       algorithm == ALGORITHM_SLIDING_LOG;
}

uint64_t limit_burst(const struct policy_limit *limit)
{
	return has_window(limit->algorithm) ? limit->rate.amount : limit->burst;
}

/* One word serves all tiers of a limit. */
uint64_t index_window_ns(const struct policy_limit *limit)
{
	if (!is_window((__u8)limit->algorithm))
		return 0;
	if (limit->rate.kind == LIMIT_METERED)
		return limit->rate.per_ns;
	for (unsigned int i = 0; i < MAX_TIERS; i++)
		if (limit->tiers[i].given && limit->tiers[i].rate.kind == LIMIT_METERED)
			return limit->tiers[i].rate.per_ns;
	return 0;
}

static int check_tier_windows(const struct policy_limit *limit, struct complaint *why)
{
	uint64_t window = index_window_ns(limit);
	char ours[UNITS_TEXT_SIZE], theirs[UNITS_TEXT_SIZE];

	for (unsigned int i = 0; window && i < MAX_TIERS; i++) {
		const struct rate *rate = &limit->tiers[i].rate;

		if (!limit->tiers[i].given || rate->kind != LIMIT_METERED || rate->per_ns == window)
			continue;
		format_time(window, ours, sizeof(ours));
		format_time(rate->per_ns, theirs, sizeof(theirs));
		return complain(
			why, -EINVAL,
			"limit %s: a tier counts in windows of %s, not %s: all rates of one "
			"%s limit need the same window",
			limit->name, theirs, ours, window_traits[limit->algorithm].name);
	}
	return 0;
}

static int check_window_length(const struct policy_limit *limit, struct complaint *why)
{
	const char *name = window_traits[limit->algorithm].name;
	uint64_t window = limit->rate.per_ns;
	char text[UNITS_TEXT_SIZE];

	if (window >= WINDOW_NS_MIN && window <= WINDOW_NS_MAX)
		return 0;
	format_time(window, text, sizeof(text));
	return complain(why, -ERANGE, "limit %s: a window of %s: %s takes from 1ms to 13343d",
			limit->name, text, name);
}

static int check_window_count(const struct policy_limit *limit, struct complaint *why)
{
	const struct window_traits *traits = &window_traits[limit->algorithm];
	const struct unit_traits *unit = &unit_traits[limit->rate.unit];
	uint64_t count = limit->rate.amount;

	if (traits->packets_only && limit->rate.unit != UNIT_PACKETS)
		return complain(why, -EINVAL, "limit %s: %s counts packets only: use %s for bytes",
				limit->name, traits->name, traits->instead);
	if (count < unit->smallest || count > traits->most)
		return complain(
			why, -ERANGE,
			"limit %s: %llu %ss in a window: %s holds %llu to %llu: take another "
			"window, or %s",
			limit->name, (unsigned long long)count, unit->noun, traits->name,
			(unsigned long long)unit->smallest, (unsigned long long)traits->most,
			traits->instead);
	return 0;
}

/* The default stands for "not given". */
static int check_window_burst(const struct policy_limit *limit, struct complaint *why)
{
	char count[UNITS_TEXT_SIZE], burst[UNITS_TEXT_SIZE];

	if (limit->burst == limit->rate.amount || limit->burst == default_burst(&limit->rate))
		return 0;
	format_burst(limit->rate.amount, limit->rate.unit, count, sizeof(count));
	format_burst(limit->burst, limit->rate.unit, burst, sizeof(burst));
	return complain(why, -EINVAL,
			"limit %s: a burst of %s: %s admits what its rate says in each window, "
			"%s: leave the burst out",
			limit->name, burst, window_traits[limit->algorithm].name, count);
}

static int check_window(const struct policy_limit *limit, struct complaint *why)
{
	int err = 0;

	if (!limit->rate.amount || !limit->rate.per_ns)
		return check_rate(limit, why);
	if (limit->algorithm == ALGORITHM_SLIDING_LOG && limit->per.per == PER_INTERFACE)
		err = complain(
			why, -EINVAL,
			"limit %s: sliding-log can't count per interface: use sliding-window",
			limit->name);
	return err ?: check_window_length(limit, why) ?: check_window_count(limit, why) ?:
	       check_window_burst(limit, why);
}

/*
 * The steps of a window are rounded up to whole ones and the multiplier down, so that no window,
 * wherever it starts between two steps, is shorter than was asked for: three of them would touch
 * one interval of that length. It is longer by at most 1/16384 for that.
 */
static void compile_steps(uint64_t window_ns, struct limit *compiled)
{
	unsigned int shift = 0;

	while (window_ns >> (shift + 1) >> WINDOW_STEPS_BITS)
		shift++;
	compiled->shift = (__u8)shift;
	compiled->multiplier = WINDOW_SPAN / (uint64_t)divide_up(window_ns, (u128)1 << shift);
	compiled->slack = (uint64_t)divide_up(NS_PER_SECOND, window_ns);
	if (compiled->slack > WINDOW_SLACK_MAX)
		compiled->slack = WINDOW_SLACK_MAX;
}

static int compile_window(const struct policy_limit *limit, int tick, struct limit *compiled,
			  struct complaint *why)
{
	int err = check_window(limit, why);

	if (err)
		return err;
	if (tick > 0)
		return complain(why, -EDOM, "limit %s: its words are none of windows", limit->name);
	compiled->burst = limit->rate.amount;
	compiled->max_units = limit->rate.amount < UNITS_MAX ? (__u32)limit->rate.amount
							     : UNITS_MAX;
	if (is_window((__u8)limit->algorithm)) {
		compile_steps(limit->rate.per_ns, compiled);
	} else {
		compiled->multiplier = limit->rate.per_ns;
		compiled->slack = NS_PER_SECOND;
	}
	return 0;
}

uint64_t limit_window_ns(const struct limit *limit)
{
	if (limit->algorithm == ALGORITHM_SLIDING_LOG)
		return limit->multiplier;
	if (!is_window(limit->algorithm) || !limit->multiplier)
		return 0;
	return (uint64_t)(divide_up(WINDOW_SPAN, limit->multiplier) << limit->shift);
}

int compile_limit(const struct policy_limit *limit, int tick, unsigned int possible_cpus,
		  struct limit *compiled, struct complaint *why)
{
	struct limit result = {
		.unit = (__u8)limit->rate.unit,
		.algorithm = (__u8)limit->algorithm,
		.observe = limit->observe,
	};
	int err = check_tier_windows(limit, why);

	if (err)
		return err;
	if (limit->rate.kind != LIMIT_METERED)
		compile_word(limit, tick, &result);
	else if (has_window(limit->algorithm))
		err = compile_window(limit, tick, &result, why);
	else
		err = compile_bucket(limit, tick, &result, why);
	if (err)
		return err;
	if (!has_window(limit->algorithm)) {
		result.share = result.burst / (possible_cpus + 1);
		result.slack = BUCKET_SLACK_NS << result.tick;
	}
	*compiled = result;
	return 0;
}

static double seconds(uint64_t ticks, unsigned int tick)
{
	return (double)ticks / (double)(1U << tick) / (double)NS_PER_SECOND;
}

/* The largest number of units that one frame can have whose cost is no more than @room ticks. */
static uint64_t units_in(uint64_t room, const struct limit *limit)
{
	uint64_t grains = room >> limit->fingerprint_bits;

	if (grains < limit->frame_cost)
		return 0;
	return (uint64_t)(((u128)(grains - limit->frame_cost) << limit->shift) / limit->multiplier);
}

static void read_bucket(const struct limit *limit, const struct limit_label *label, uint64_t word,
			uint64_t now_ns, struct limit_state *state)
{
	uint64_t debt = gcra_debt(word & ~fingerprint_mask(limit), limit_ticks(limit, now_ns));
	uint64_t cost = limit_cost_ticks(limit, unit_traits[limit->unit].smallest);

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

/* From @now_ns to the first step of the clock that is @moments after the present window's start. */
static uint64_t until(const struct window *window, uint64_t now_ns, uint64_t moments)
{
	uint64_t position = window_position(window_moment(window, now_ns));
	uint64_t steps = (uint64_t)divide_up(moments - position, window->multiplier);

	return (((now_ns >> window->shift) + steps) << window->shift) - now_ns;
}

/*
 * When @units first fit into a sliding window that is full now, in moments after the present
 * window's start, or a little before the first step of the clock at which they do: in the word's
 * own window, in the one after it, where what is current now is previous, or in the one after that.
 */
static uint64_t sliding_retry(const struct window *window, uint64_t rolled, uint64_t ahead,
			      uint64_t units, uint64_t now_ns)
{
	uint64_t current = sliding_current(rolled), previous = sliding_previous(rolled);
	uint64_t start = ahead << WINDOW_BITS;

	for (int later = 0; later < 2; later++) {
		uint64_t room = window->burst - units, weight = WINDOW_SPAN, wait;

		if (current <= room) {
			if (previous)
				weight = ((room - current) << WINDOW_BITS) / previous;
			if (weight > WINDOW_SPAN)
				weight = WINDOW_SPAN;
			wait = until(window, now_ns, start + WINDOW_SPAN - weight);
			if (weight && wait < until(window, now_ns, start + WINDOW_SPAN))
				return wait;
		}
		start += WINDOW_SPAN;
		previous = current;
		current = 0;
	}
	return until(window, now_ns, start);
}

static uint64_t window_retry(const struct window *window, uint64_t rolled, uint64_t units,
			     uint64_t now_ns)
{
	uint64_t moment = window_moment(window, now_ns);
	uint64_t ahead = window_ahead(window, rolled, moment);

	if (window_fits(window, rolled, moment, units))
		return 0;
	if (window->sliding)
		return sliding_retry(window, rolled, ahead, units, now_ns);
	return until(window, now_ns, (ahead + 1) << WINDOW_BITS);
}

static uint64_t window_reset(const struct window *window, uint64_t rolled, uint64_t now_ns)
{
	uint64_t ahead = window_ahead(window, rolled, window_moment(window, now_ns));
	uint64_t windows = (rolled & FIXED_COUNT_MAX) != 0;

	if (window->sliding)
		windows = sliding_current(rolled) ? 2 : sliding_previous(rolled) ? 1 : 0;
	return windows ? until(window, now_ns, (ahead + windows) << WINDOW_BITS) : 0;
}

/* A doubtful word reads as idle: that is what the next packet makes of it. */
static void read_window(const struct limit *limit, uint64_t word, uint64_t now_ns,
			struct limit_state *state)
{
	struct window window = window_of(limit);
	uint64_t moment = window_moment(&window, now_ns);
	uint64_t rolled = window_roll(&window, word, moment);
	uint64_t used = window_used(&window, rolled, moment);

	state->remaining = used < limit->burst ? limit->burst - used : 0;
	state->reset_seconds = seconds(window_reset(&window, rolled, now_ns), 0);
	state->retry_after_seconds = seconds(
		window_retry(&window, rolled, unit_traits[limit->unit].smallest, now_ns), 0);
}

static void read_word(const struct limit_label *label, struct limit_state *state)
{
	bool block = label->kind == LIMIT_BLOCK;

	*state = (struct limit_state){
		.remaining = block ? 0 : UINT64_MAX,
		.retry_after_seconds = block ? INFINITY : 0,
	};
}

void limit_read(const struct limit *limit, const struct limit_label *label, uint64_t word,
		uint64_t now_ns, struct limit_state *state)
{
	if (label->kind != LIMIT_METERED)
		read_word(label, state);
	else if (is_window(limit->algorithm))
		read_window(limit, word, now_ns, state);
	else
		read_bucket(limit, label, word, now_ns, state);
}

void limit_read_log(const struct limit *limit, const struct limit_label *label,
		    const struct log_slots *log, uint64_t now_ns, struct limit_state *state)
{
	uint64_t first = UINT64_MAX, last = 0, now = log_time(now_ns);

	if (label->kind != LIMIT_METERED) {
		read_word(label, state);
		return;
	}
	*state = (struct limit_state){0};
	for (uint64_t i = 0; i < limit->burst && i < LOG_SLOTS; i++) {
		uint64_t slot = log->admitted[i], wait = slot + limit->multiplier - now;

		if (slot_free(slot, now, limit->multiplier) ||
		    slot_doubtful(slot, now, limit->slack)) {
			state->remaining++;
			wait = 0;
		}
		first = wait < first ? wait : first;
		last = wait > last ? wait : last;
	}
	state->reset_seconds = seconds(last, 0);
	state->retry_after_seconds = seconds(first, 0);
}
