// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a policy and its table to the read-only data of the program. */
#include "compile.h"
#include "compile_gate.h"
#include "compile_lists.h"
#include "compile_match.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

/* Times are compared in ticks as fine as any limit has: 2^-31 ns. */
#define ORDER_TICK 31

/* A limit on its way to its place in the charge order. */
struct ranked_limit {
	struct limit limit;
	struct limit_label label;
	u128 packet_time; /* that a full packet costs */
	unsigned int position;
	enum per per;
};

static u128 packet_time(const struct limit *limit, enum limit_kind kind)
{
	u128 units = limit->unit == UNIT_BYTES ? FULL_FRAME : 1;
	u128 window = (u128)limit_window_ns(limit) << ORDER_TICK;

	if (kind == LIMIT_BLOCK)
		return ~(u128)0;
	if (window)
		return units * window / limit->burst;
	return units * limit->multiplier >> limit->shift << limit->fingerprint_bits
							 << (ORDER_TICK - limit->tick);
}

/* In which a whole burst comes back. */
static u128 burst_time(const struct limit *limit)
{
	u128 window = (u128)limit_window_ns(limit) << ORDER_TICK;

	return window ?: (u128)limit->burst << (ORDER_TICK - limit->tick);
}

/*
 * Slowest first. A charge that loses a race is undone, so the limit most likely to be out of room
 * goes first, when there is nothing to undo yet. Which one that is decides the packet rate that
 * each can sustain, hence bytes are taken as full packets; how long a whole burst takes to refill
 * says nothing about it. Among equals the smaller burst runs out first.
 * Words that several sources share go last, the interface's last of all: the undone words are then
 * those that nobody else touches, and the undo nearly always succeeds.
 */
static int sharing(const struct ranked_limit *ranked)
{
	static const int ranks[] = {
		[PER_SOURCE] = 0, [PER_PAIR] = 0, [PER_DESTINATION] = 1, [PER_INTERFACE] = 2};

	return ranks[ranked->per];
}

static int by_charge_order(const void *a, const void *b)
{
	const struct ranked_limit *left = a, *right = b;
	u128 left_burst = burst_time(&left->limit), right_burst = burst_time(&right->limit);

	/* Those that only observe judge what the others have let pass. */
	if (left->limit.observe != right->limit.observe)
		return left->limit.observe - right->limit.observe;
	if (sharing(left) != sharing(right))
		return sharing(left) - sharing(right);
	if (left->packet_time != right->packet_time)
		return left->packet_time > right->packet_time ? -1 : 1;
	if (left_burst != right_burst)
		return left_burst < right_burst ? -1 : 1;
	return left->position < right->position ? -1 : 1;
}

static struct limit_label make_label(const struct policy_limit *limit)
{
	struct limit_label label = {
		.amount = limit->rate.amount,
		.per_ns = limit->rate.per_ns,
		.burst = limit_burst(limit),
		.kind = (__u8)limit->rate.kind,
	};

	memcpy(label.name, limit->name, NAME_SIZE);
	return label;
}

static int rank_limit(const struct policy_limit *limit, const struct table_identity *table,
		      unsigned int possible_cpus, struct ranked_limit *ranked,
		      struct complaint *why)
{
	const struct limit_identity *identity = table_find(table, limit);
	int err;

	if (!identity)
		return complain(why, -ESTALE, "limit %s is not in the table", limit->name);
	err = compile_for(table, identity, limit, possible_cpus, &ranked->limit, why);
	if (err)
		return err;
	ranked->per = limit->per.per;
	ranked->limit.group = identity->kind; /* an id until compile_kinds() */
	ranked->limit.slot = identity->slot;
	ranked->limit.id = (__u8)(identity - table->limits);
	ranked->limit.ban_ns = limit->ban_ns;
	ranked->limit.ban_extends = limit->ban_extends;
	ranked->label = make_label(limit);
	ranked->packet_time = packet_time(&ranked->limit, limit->rate.kind);
	return 0;
}

/* The places of each tier: the same limits in the same order, with rates of their own. */
static int compile_tiers(const struct policy *policy, const struct table_identity *table,
			 const struct ranked_limit *ranked, unsigned int possible_cpus,
			 struct config *config, struct complaint *why)
{
	for (unsigned int tier = 0; tier < policy->tier_count; tier++)
		for (unsigned int i = 0; i < policy->limit_count; i++) {
			unsigned int place = (tier + 1) * MAX_LIMITS + i;
			struct policy_limit own = limit_for_tier(
				&policy->limits[ranked[i].position], tier);
			struct limit *limit = &config->limits[place];
			int err = compile_for(table, &table->limits[ranked[i].limit.id], &own,
					      possible_cpus, limit, why);

			if (err)
				return err;
			limit->group = ranked[i].limit.group;
			limit->slot = ranked[i].limit.slot;
			limit->id = ranked[i].limit.id;
			limit->ban_ns = ranked[i].limit.ban_ns;
			limit->ban_extends = ranked[i].limit.ban_extends;
			config->labels[place] = make_label(&own);
		}
	for (unsigned int tier = 0; tier < policy->tier_count; tier++)
		memcpy(config->tier_names[tier], policy->tiers[tier].name, NAME_SIZE);
	config->tiers = (__u8)policy->tier_count;
	return 0;
}

/* Whether sources of several tiers may share a word of @kind. */
static bool tiers_meet(const struct policy *policy, const struct kind_identity *kind)
{
	if (kind->per == PER_INTERFACE || kind->per == PER_DESTINATION)
		return true;
	for (unsigned int tier = 0; tier < policy->tier_count; tier++) {
		const struct policy_prefixes *sources = &policy->tiers[tier].sources;

		for (size_t i = 0; i < sources->count; i++)
			if (sources->prefixes[i].length >
			    (address_is_ipv4(&sources->prefixes[i].address) ? kind->ipv4_prefix
									    : kind->ipv6_prefix))
				return true;
	}
	return false;
}

/*
 * What a shared word owes under the largest burst is no foreign word to the other tiers, whose
 * repair would hand that burst out again. Where words aren't shared it is: a source that came into
 * another tier must not be held to the time that it owed in the former.
 */
static void share_slack(struct config *config, unsigned int index)
{
	uint64_t most = 0;

	for (unsigned int place = index; place < LIMIT_PLACES; place += MAX_LIMITS)
		if (config->limits[place].multiplier && config->limits[place].burst > most)
			most = config->limits[place].burst;
	for (unsigned int place = index; place < LIMIT_PLACES; place += MAX_LIMITS)
		if (config->limits[place].multiplier)
			config->limits[place].slack += most - config->limits[place].burst;
}

static int compile_limits(const struct policy *policy, const struct table_identity *table,
			  unsigned int possible_cpus, struct config *config, struct complaint *why)
{
	struct ranked_limit ranked[MAX_LIMITS] = {0};
	int err;

	for (unsigned int i = 0; i < policy->limit_count; i++) {
		ranked[i].position = i;
		err = rank_limit(&policy->limits[i], table, possible_cpus, &ranked[i], why);
		if (err)
			return err;
	}
	qsort(ranked, policy->limit_count, sizeof(ranked[0]), by_charge_order);
	for (unsigned int i = 0; i < policy->limit_count; i++) {
		config->limits[i] = ranked[i].limit;
		config->labels[i] = ranked[i].label;
		config->observed_limits |= (uint32_t)ranked[i].limit.observe << i;
		config->penalties |= ranked[i].limit.ban_ns != 0;
		config->algorithms |= (__u8)(1U << ranked[i].limit.algorithm);
	}
	config->limit_count = policy->limit_count;
	config->all_limits = (__u32)((1ULL << policy->limit_count) - 1);
	err = compile_tiers(policy, table, ranked, possible_cpus, config, why);
	for (unsigned int i = 0; !err && i < config->limit_count; i++)
		if (!has_window(ranked[i].limit.algorithm) &&
		    tiers_meet(policy, &table->kinds[ranked[i].limit.group]))
			share_slack(config, i);
	return err;
}

static void compile_actions(const struct policy *policy, enum when_full when_full, __u8 *actions)
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
	actions[REASON_TABLE_FULL] = when_full == WHEN_FULL_PASS ? XDP_PASS : XDP_DROP;
	actions[REASON_FRAGMENT] = policy->fragments == FRAGMENTS_PASS ? XDP_PASS : XDP_DROP;
}

/* The first @length bits of 64. */
static uint64_t prefix_bits(unsigned int length)
{
	if (!length)
		return 0;
	return length < 64 ? UINT64_MAX << (64 - length) : UINT64_MAX;
}

static struct kind compile_kind(const struct kind_identity *identity, unsigned int id)
{
	unsigned int low_bits = identity->ipv6_prefix > 64 ? identity->ipv6_prefix - 64U : 0;

	return (struct kind){
		.per = identity->per,
		.id = (__u8)id,
		.ipv4_mask = htonl((uint32_t)(prefix_bits(identity->ipv4_prefix) >> 32)),
		.ipv6_mask = {htobe64(prefix_bits(identity->ipv6_prefix)),
			      htobe64(prefix_bits(low_bits))},
	};
}

/* The position of the kind with @id in @config, added when it is new; -1 when there are too many. */
static int place_kind(const struct table_identity *table, unsigned int id, struct config *config)
{
	for (unsigned int k = 0; k < config->kind_count; k++)
		if (config->kinds[k].id == id)
			return (int)k;
	if (config->kind_count == MAX_KINDS)
		return -1;
	config->kinds[config->kind_count] = compile_kind(&table->kinds[id], id);
	return (int)config->kind_count++;
}

/* A tier's places say the same of groups as the limit itself. */
static void copy_groups(struct config *config)
{
	for (unsigned int place = MAX_LIMITS; place < LIMIT_PLACES; place++)
		config->limits[place].group = config->limits[place % MAX_LIMITS].group;
}

static int compile_kinds(const struct table_identity *table, struct config *config,
			 struct complaint *why)
{
	config->kinds[KIND_OWN] = compile_kind(&table->kinds[0], 0);
	for (unsigned int i = 0; i < config->limit_count; i++) {
		struct limit *limit = &config->limits[i];
		unsigned int id = limit->group;
		int position;

		position = place_kind(table, id, config);
		if (position < 0)
			return complain(
				why, -ERANGE,
				"limits count per more than %d different things (prefix lengths "
				"included); the maximum is %d",
				MAX_KINDS, MAX_KINDS);
		limit->group = (__u8)position;
		config->kinds[position].limits |= 1U << i;
		config->kinds[position].limit_count++;
	}
	copy_groups(config);
	return 0;
}

/* Token and leaky bucket: the same arithmetic. */
static bool is_bucket(const struct limit *limit)
{
	return limit->algorithm == ALGORITHM_TOKEN_BUCKET ||
	       limit->algorithm == ALGORITHM_LEAKY_BUCKET;
}

int compile_policy(const struct policy *policy, const struct table_identity *table,
		   const struct compile_facts *facts, struct config *config, struct complaint *why)
{
	enum when_full when_full = policy_when_full(policy, (enum table_type)table->type);
	struct config result = {
		.magic = XDP_LIMIT_MAGIC,
		.abi = XDP_LIMIT_ABI,
		.words = table->type == TABLE_FLAT ? 1 : table->words,
		.flat = table->type == TABLE_FLAT,
		.blocks = table->blocks,
		.inherits = when_full == WHEN_FULL_INHERIT,
		.fanout = facts->possible_cpus + 1,
		.generic = facts->generic,
		.skb_facts = facts->skb_facts,
		.may_have_frags = facts->may_have_frags,
		.load_bytes = facts->load_bytes,
		.dry_run = policy->dry_run,
		.measure = policy->measure,
		.fragments = (__u8)policy->fragments,
	};
	int err = compile_limits(policy, table, facts->possible_cpus, &result, why);

	if (err)
		return err;
	err = compile_kinds(table, &result, why);
	if (err)
		return err;
	compile_actions(policy, when_full, result.actions);
	compile_gate(policy, table->capacity, facts->possible_cpus, &result);
	compile_match_summary(policy, &result);
	compile_lists(policy, &result);
	result.penalties |= facts->penalties_left;
	result.seed = table->seed;
	result.alone = result.limit_count == 1 && result.kinds[0].per != PER_INTERFACE &&
		       !result.tiers && !result.match_fields && !result.observed_limits &&
		       !result.penalties && is_bucket(&result.limits[0]);
	*config = result;
	return 0;
}
