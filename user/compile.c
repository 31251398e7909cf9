// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a policy and its table to the read-only data of the program. */
#include "compile.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

/* A limit on its way to its place in the charge order. */
struct ranked_limit {
	struct limit limit;
	struct limit_label label;
	u128 packet_time; /* finest ticks that a full packet costs */
	unsigned int position;
};

static u128 packet_time(const struct limit *limit, enum limit_kind kind)
{
	u128 units = limit->unit == UNIT_BYTES ? FULL_FRAME : 1;
	u128 ticks = units * limit->multiplier >> limit->shift;

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

static int rank_limit(const struct policy_limit *limit, const struct table_identity *table,
		      unsigned int possible_cpus, struct ranked_limit *ranked,
		      struct complaint *why)
{
	const struct limit_identity *identity = table_find(table, limit);
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

/* The first @length bits of 64. */
static uint64_t prefix_bits(unsigned int length)
{
	if (!length)
		return 0;
	return length < 64 ? UINT64_MAX << (64 - length) : UINT64_MAX;
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
