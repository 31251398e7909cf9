/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All limits that a packet meets, all or nothing: check each, charge, undo on a lost race. */
#ifndef XDP_LIMIT_LIMITS_H
#define XDP_LIMIT_LIMITS_H

#include "buckets.h"
#include "charge.h"
#include "classify.h"
#include "events.h"

/* What the limits said of a packet, for the verdict to count. */
struct judgement {
	struct bucket_key key __attribute__((aligned(8)));
	void *group;	  /* NULL: no limit was asked */
	__u32 met;	  /* limits, bit i for config.limits[i] */
	__u32 refused_by; /* index of the limit, when one refused */
};

/* Bounded by a constant of the frozen policy, so the verifier walks only the limits there are. */
#define for_each_limit(i, mask)                                          \
	for (__u32 i = 0; i < MAX_LIMITS && i < config.limit_count; i++) \
		if ((mask) & (1U << i))

/* Another limit's failure is no state of this word: reads only, and ends nearly every drop. */
INLINE enum charge check_all(const struct packet *packet, __u64 now_ns, struct judgement *judgement,
			     struct charge_log *log)
{
	for_each_limit(i, judgement->met) {
		const volatile struct limit *limit = &config.limits[i];
		enum charge result = REFUSED;
		bool tight = false;
		__u64 cost;

		if (limit_cost(limit, packet->segments, packet->length, &cost))
			result = check_word(group_word(judgement->group, limit->slot),
					    limit_ticks(limit, now_ns), limit, cost, &tight);
		if (tight)
			log->tight |= 1U << i;
		else
			log->roomy |= 1U << i;
		if (result != CHARGED) {
			judgement->refused_by = i;
			return result;
		}
	}
	return CHARGED;
}

/* Returns whether every charge could be taken back. */
static __noinline bool undo_charged(const struct packet *packet, const struct judgement *judgement,
				    const struct charge_log *log)
{
	bool undone = true;

	for_each_limit(i, READ_ONCE(log->charged)) {
		const volatile struct limit *limit = &config.limits[i];
		__u64 cost;

		if (limit_cost(limit, packet->segments, packet->length, &cost) &&
		    !undo_charge(group_word(judgement->group, limit->slot), log->left[i], cost))
			undone = false;
	}
	return undone;
}

/*
 * A function of its own and not static, so that the verifier goes through it once, not once for
 * each limit on each way there.
 */
__noinline int charge_one(__u64 *word, __u64 *left, __u64 now_ns, __u32 index, __u64 cost)
{
	const volatile struct limit *limit = &config.limits[index % MAX_LIMITS];

	return word && left ? charge_word(word, limit_ticks(limit, now_ns), limit, cost, left)
			    : REFUSED;
}

INLINE enum charge charge_set(const struct packet *packet, __u64 now_ns,
			      struct judgement *judgement, struct charge_log *log, const __u32 *set)
{
	for_each_limit(i, READ_ONCE(*set)) {
		const volatile struct limit *limit = &config.limits[i];
		enum charge result = REFUSED;
		__u64 cost;

		if (limit_cost(limit, packet->segments, packet->length, &cost))
			result = charge_one(group_word(judgement->group, limit->slot),
					    &log->left[i], now_ns, i, cost);
		if (result != CHARGED) {
			judgement->refused_by = i;
			return result;
		}
		log->charged |= 1U << i;
	}
	return CHARGED;
}

/*
 * Those first that CPUs may run out of together: when they do, there is nothing to undo yet. Which
 * these are can depend on the packet's size, so the order that was compiled decides only among
 * them. The others have room for all CPUs.
 */
INLINE enum charge charge_all(const struct packet *packet, __u64 now_ns,
			      struct judgement *judgement, struct charge_log *log)
{
	enum charge result = charge_set(packet, now_ns, judgement, log, &log->tight);

	if (result == CHARGED)
		result = charge_set(packet, now_ns, judgement, log, &log->roomy);
	if (result != CHARGED && !undo_charged(packet, judgement, log))
		return LOST_COST;
	return result;
}

/* One limit's charge is its check, there is nothing to undo, and no call to pay for. */
INLINE enum charge charge_only(const struct packet *packet, __u64 now_ns,
			       const struct judgement *judgement, struct charge_log *log)
{
	const volatile struct limit *limit = &config.limits[0];
	__u64 cost;

	if (!limit_cost(limit, packet->segments, packet->length, &cost))
		return REFUSED;
	return charge_word(group_word(judgement->group, limit->slot), limit_ticks(limit, now_ns),
			   limit, cost, &log->left[0]);
}

INLINE enum charge check_and_charge(const struct packet *packet, __u64 now_ns,
				    struct judgement *judgement)
{
	__u32 index = 0;
	struct charge_log *log = bpf_map_lookup_elem(&charges, &index);
	enum charge result;

	if (!log)
		return LOST_RACE;
	if (config.limit_count == 1)
		return charge_only(packet, now_ns, judgement, log);
	log->tight = log->roomy = log->charged = 0;
	result = check_all(packet, now_ns, judgement, log);
	return result == CHARGED ? charge_all(packet, now_ns, judgement, log) : result;
}

/* A refusal is where a word that isn't ours shows, and where a lost cost is known. */
INLINE enum reason refuse(enum charge result, const struct judgement *judgement)
{
	const volatile struct limit *limit;

	if (result == LOST_COST)
		count_event(EVENT_UNDO_LOST);
	if (result == FOREIGN && judgement->refused_by < MAX_LIMITS) {
		limit = &config.limits[judgement->refused_by];
		if (repair_word(group_word(judgement->group, limit->slot), limit))
			count_event(EVENT_REPAIRED);
	}
	return result == LOST_RACE || result == LOST_COST ? REASON_CONTENDED : REASON_OVER_LIMIT;
}

/** Charge @packet to every limit that it meets, or to none. */
INLINE enum reason limits(const struct packet *packet, struct clock *clock,
			  struct judgement *judgement)
{
	enum charge result;
	__u64 now_ns;

	judgement->met = classify(packet);
	if (!judgement->met)
		return REASON_UNLIMITED;
	now_ns = clock_ns(clock);
	source_key(packet, &judgement->key);
	judgement->group = find_or_create(&judgement->key, now_ns);
	if (!judgement->group)
		return REASON_TABLE_FULL;
	result = check_and_charge(packet, now_ns, judgement);
	return result == CHARGED ? REASON_CONFORMING : refuse(result, judgement);
}

#endif
