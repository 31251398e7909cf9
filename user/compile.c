// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From the policy to the numbers that the kernel program charges with: all arithmetic is exact. */
#include "compile.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <linux/bpf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "algorithm.h"

__extension__ typedef unsigned __int128 u128;

#define TICK_MAX 7
/* Rounding the cost of a unit up costs at most 1 / UNIT_TICKS_MIN of the rate: 6.1e-5. */
#define UNIT_TICKS_MIN (1ULL << 14)
/* The tick is the coarsest that gives this: an 8 times faster rate can keep it, and its buckets. */
#define UNIT_TICKS_WANTED (1ULL << 17)
/* A kept tick is good enough down to here: 1e-4. */
#define UNIT_TICKS_KEPT 10000ULL
#define SHIFT_MAX	    31
/* Of multiplier and units, while the scale is sought: half of what the kernel's product may be. */
#define PRODUCT_MAX (1ULL << 62)

#define FULL_FRAME 1500 /* bytes of the packet that byte limits are compared and checked by */

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

/* What one unit costs, in ticks or for fast byte limits in fractions of one, and the whole burst. */
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
			limit->name, burst, rate, (unsigned long long)largest_burst(&limit->rate, tick),
			traits->noun);
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

/* ---- identities ---- */

static struct limit_identity *find_identity(struct table_identity *table,
					    const struct policy_limit *limit)
{
	for (unsigned int id = 0; id < MAX_LIMITS; id++) {
		struct limit_identity *identity = &table->limits[id];

		if (identity->used && identity->unit == limit->rate.unit &&
		    identity->algorithm == limit->algorithm && identity->per == limit->per &&
		    !strncmp(identity->name, limit->name, NAME_SIZE))
			return identity;
	}
	return NULL;
}

/* Slots are counted for each kind of `per`; an identity that left the policy still holds its own. */
static unsigned int next_slot(const struct table_identity *table, enum per per)
{
	unsigned int slot = 0;

	for (unsigned int id = 0; id < MAX_LIMITS; id++)
		if (table->limits[id].used && table->limits[id].per == per)
			slot++;
	return slot;
}

static int add_identity(struct table_identity *table, const struct policy_limit *limit,
			struct complaint *why)
{
	unsigned int slot = next_slot(table, limit->per);
	struct limit_identity *identity;
	struct limit compiled;
	unsigned int id = 0;
	int err;

	while (id < MAX_LIMITS && table->limits[id].used)
		id++;
	if (id == MAX_LIMITS || slot >= table->words)
		return complain(why, -ESTALE,
				"the table has no word left for limit %s: words of limits that "
				"left the policy are not given to others",
				limit->name);
	err = compile_limit(limit, -1, 1, &compiled, why);
	if (err)
		return err;
	identity = &table->limits[id];
	*identity = (struct limit_identity){
		.used = 1,
		.unit = compiled.unit,
		.algorithm = compiled.algorithm,
		.tick = compiled.tick,
		.per = compiled.per,
		.slot = (__u8)slot,
	};
	memcpy(identity->name, limit->name, NAME_SIZE);
	return 0;
}

static unsigned int words_for(unsigned int limits)
{
	unsigned int words = 1;

	while (words < limits)
		words *= 2;
	return words;
}

int table_new(const struct policy *policy, struct table_identity *table, struct complaint *why)
{
	struct table_identity fresh = {
		.abi = XDP_LIMIT_ABI,
		.capacity = (__u32)policy->sources,
		.words = words_for(policy->limit_count),
		.ipv4_prefix = (__u8)policy->ipv4_prefix,
		.ipv6_prefix = (__u8)policy->ipv6_prefix,
	};
	int err;

	for (unsigned int i = 0; i < policy->limit_count; i++) {
		err = add_identity(&fresh, &policy->limits[i], why);
		if (err)
			return err;
	}
	*table = fresh;
	return 0;
}

static int check_table(const struct policy *policy, const struct table_identity *table,
		       struct complaint *why)
{
	const struct {
		const char *noun;
		unsigned long long has, wants;
	} facts[] = {
		{"layout version", table->abi, XDP_LIMIT_ABI},
		{"size", table->capacity, policy->sources},
		{"IPv4 prefix length", table->ipv4_prefix, policy->ipv4_prefix},
		{"IPv6 prefix length", table->ipv6_prefix, policy->ipv6_prefix},
	};

	for (unsigned int i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (facts[i].has != facts[i].wants)
			return complain(why, -ESTALE, "the table's %s is %llu, not %llu",
					facts[i].noun, facts[i].has, facts[i].wants);
	return 0;
}

/* Whether @identity's words can go on to mean what @limit says. */
static int keep_identity(const struct limit_identity *identity, const struct policy_limit *limit,
			 struct complaint *why)
{
	struct limit compiled;
	int err = compile_limit(limit, identity->tick, 1, &compiled, why);

	return err == -EDOM ? -ESTALE : err;
}

int table_extend(const struct policy *policy, struct table_identity *table, struct complaint *why)
{
	struct table_identity extended = *table;
	int err = check_table(policy, table, why);

	for (unsigned int i = 0; !err && i < policy->limit_count; i++) {
		const struct policy_limit *limit = &policy->limits[i];
		const struct limit_identity *identity = find_identity(&extended, limit);

		err = identity ? keep_identity(identity, limit, why)
			       : add_identity(&extended, limit, why);
	}
	if (!err)
		*table = extended;
	return err;
}

/* ---- the program's read-only data ---- */

/* A limit on its way to its place in the charge order. */
struct ranked_limit {
	struct limit limit;
	struct limit_label label;
	u128 packet_time; /* finest ticks that a full packet costs */
	unsigned int position;
};

static u128 packet_time(const struct limit *limit, enum limit_kind kind)
{
	u128 ticks = (u128)unit_traits[limit->unit].full * limit->multiplier >> limit->shift;

	return kind == LIMIT_BLOCK ? ~(u128)0 : ticks << (TICK_MAX - limit->tick);
}

/*
 * Slowest first. A charge that loses a race is undone, so the limit most likely to be out of room
 * goes first, when there is nothing to undo yet. Which one that is decides the packet rate that
 * each can sustain, hence bytes are taken as full packets; how long a whole burst takes to refill
 * says nothing about it. Among equals the smaller burst runs out first.
 * Every kind of `per` so far has words that only one source can touch; shared ones would go last.
 */
static int by_charge_order(const void *a, const void *b)
{
	const struct ranked_limit *left = a, *right = b;
	u128 left_burst = (u128)left->limit.burst << (TICK_MAX - left->limit.tick);
	u128 right_burst = (u128)right->limit.burst << (TICK_MAX - right->limit.tick);

	if (left->packet_time != right->packet_time)
		return left->packet_time > right->packet_time ? -1 : 1;
	if (left_burst != right_burst)
		return left_burst < right_burst ? -1 : 1;
	return left->position < right->position ? -1 : 1;
}

static int rank_limit(const struct policy_limit *limit, struct table_identity *table,
		      unsigned int possible_cpus, struct ranked_limit *ranked,
		      struct complaint *why)
{
	const struct limit_identity *identity = find_identity(table, limit);
	int err;

	if (!identity)
		return complain(why, -ESTALE, "limit %s is not in the table", limit->name);
	err = compile_limit(limit, identity->tick, possible_cpus, &ranked->limit, why);
	if (err)
		return err;
	ranked->limit.slot = identity->slot;
	ranked->limit.id = (__u8)(identity - table->limits);
	ranked->label = (struct limit_label){
		.amount = limit->rate.amount,
		.per_ns = limit->rate.per_ns,
		.burst = limit->burst,
		.kind = (__u8)limit->rate.kind,
	};
	memcpy(ranked->label.name, limit->name, NAME_SIZE);
	ranked->packet_time = packet_time(&ranked->limit, limit->rate.kind);
	return 0;
}

static int compile_limits(const struct policy *policy, const struct table_identity *table,
			  unsigned int possible_cpus, struct config *config, struct complaint *why)
{
	struct ranked_limit ranked[MAX_LIMITS] = {0};
	struct table_identity identities = *table;
	int err;

	for (unsigned int i = 0; i < policy->limit_count; i++) {
		ranked[i].position = i;
		err = rank_limit(&policy->limits[i], &identities, possible_cpus, &ranked[i], why);
		if (err)
			return err;
	}
	qsort(ranked, policy->limit_count, sizeof(ranked[0]), by_charge_order);
	for (unsigned int i = 0; i < policy->limit_count; i++) {
		config->limits[i] = ranked[i].limit;
		config->labels[i] = ranked[i].label;
	}
	config->limit_count = policy->limit_count;
	return 0;
}

static void compile_actions(const struct policy *policy, __u8 *actions)
{
	static const __u8 defaults[REASON_COUNT] = {
#define XDP_LIMIT_ACTION(NAME, name, action, text) [REASON_##NAME] = XDP_##action,
		XDP_LIMIT_REASONS(XDP_LIMIT_ACTION)
#undef XDP_LIMIT_ACTION
	};

	/* 0 would be XDP_ABORTED, which is never returned. */
	memset(actions, XDP_PASS, REASON_SLOTS);
	memcpy(actions, defaults, sizeof(defaults));
	actions[REASON_MALFORMED] = policy->malformed == MALFORMED_PASS ? XDP_PASS : XDP_DROP;
	actions[REASON_TABLE_FULL] = policy->when_full == WHEN_FULL_PASS ? XDP_PASS : XDP_DROP;
	actions[REASON_FRAGMENT] = policy->fragments == FRAGMENTS_PASS ? XDP_PASS : XDP_DROP;
}

/* The first @length bits of 64; a shift by 64 would be undefined. */
static uint64_t prefix_bits(unsigned int length)
{
	return length ? UINT64_MAX << (64 - (length < 64 ? length : 64)) : 0;
}

static void compile_masks(const struct table_identity *table, struct config *config)
{
	unsigned int low_bits = table->ipv6_prefix > 64 ? table->ipv6_prefix - 64U : 0;

	config->ipv4_mask = htonl((uint32_t)(prefix_bits(table->ipv4_prefix) >> 32));
	config->ipv6_mask[0] = htobe64(prefix_bits(table->ipv6_prefix));
	config->ipv6_mask[1] = htobe64(prefix_bits(low_bits));
}

int compile_policy(const struct policy *policy, const struct table_identity *table,
		   const struct compile_facts *facts, struct config *config, struct complaint *why)
{
	struct config result = {
		.magic = XDP_LIMIT_MAGIC,
		.abi = XDP_LIMIT_ABI,
		.words = table->words,
		.fanout = facts->possible_cpus + 1,
		.generic = facts->generic,
		.skb_facts = facts->skb_facts,
		.may_have_frags = facts->may_have_frags,
		.dry_run = policy->dry_run,
		.fragments = (__u8)policy->fragments,
	};
	int err = compile_limits(policy, table, facts->possible_cpus, &result, why);

	if (err)
		return err;
	compile_actions(policy, result.actions);
	compile_masks(table, &result);
	*config = result;
	return 0;
}

/*
 * An LRU hash as the kernel lays it out: per entry its header, key and value, each rounded up to
 * 8 bytes; per bucket (as many as entries, rounded up to a power of two) a list head and a lock.
 */
uint64_t table_memory(uint64_t sources, unsigned int words)
{
	const uint64_t header = 48, bucket = 16, key = (sizeof(struct bucket_key) + 7) / 8 * 8;
	uint64_t buckets = 1;

	while (buckets < sources)
		buckets *= 2;
	return sources * (header + key + GROUP_SIZE(words)) + buckets * bucket;
}

/* ---- what a word says ---- */

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
	state->remaining = !debt		? label->burst
			   : debt < limit->burst ? units_in(limit->burst - debt, limit)
						 : 0;
	state->reset_seconds = seconds(debt, limit->tick);
	state->retry_after_seconds =
		gcra_fits(debt, cost, limit->burst)
			? 0
			: seconds(debt + cost - limit->burst, limit->tick);
}
