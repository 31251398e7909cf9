/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The limits that a packet meets: one alone is charged on the spot, several by chosen.h. */
#ifndef XDP_LIMIT_LIMITS_H
#define XDP_LIMIT_LIMITS_H

#include "chosen.h"
#include "chosen_flat.h"
#include "classify.h"
#include "events.h"
#include "one_limit.h"
#include "tiers.h"

/* What the limits said of a packet, for the verdict to count. */
struct judgement {
	struct bucket_key key __attribute__((aligned(8))); /* of group, where one limit is alone */
	bool observed; /* passes only because a limit does no more than observe */
	void *group;   /* or block; NULL: chosen.h has counted already, or no limit was asked */
};

/* Cold: another CPU was faster. */
__noinline int charge_again(__u64 *word, __u64 now, __u64 cost)
{
	enum charge result;
	__u64 left;

	if (!word)
		return REFUSED;
	result = charge_word(word, now, &config.limits[0], cost, &left);
	return result == REFUSED ? LOST_RACE : result;
}

INLINE int charge_alone(__u64 *word, const struct load *load)
{
	const volatile struct limit *limit = &config.limits[0];
	__u64 cost, now = now_in_ticks(limit, load->now_ns);
	enum charge result;

	if (!limit_cost(limit, load->packets, load->bytes, &cost))
		return REFUSED;
	result = try_charge_word(word, now, limit, cost);
	return result == LOST_RACE ? charge_again(word, now, cost) : (int)result;
}

/* A refusal is where a word that isn't ours shows, and where a lost cost is known. */
INLINE enum reason refuse_alone(enum charge result, __u64 *word)
{
	if (result == LOST_COST)
		count_event(EVENT_UNDO_LOST);
	if (result == FOREIGN && repair_word(word, &config.limits[0]))
		count_event(EVENT_REPAIRED);
	return refusal_reason(result);
}

/* A policy of one token bucket that every packet meets: no choice, no call, no second look. */
INLINE enum reason limit_alone(const struct packet *packet, __u64 now_ns,
			       struct judgement *judgement)
{
	const struct load load = {now_ns, packet->segments, packet->length, 0};
	bool closed = false;
	enum charge result;
	__u64 *word;

	kind_key(packet, &config.kinds[0], &judgement->key);
	judgement->group = find_or_create(&judgement->key, now_ns, &closed);
	if (!judgement->group)
		return closed ? REASON_GATE_CLOSED : REASON_TABLE_FULL;
	word = group_word(judgement->group, config.limits[0].slot);
	result = charge_alone(word, &load);
	return result == CHARGED ? REASON_CONFORMING : refuse_alone(result, word);
}

/* The same out of a flat table. What found no slot is not counted by the limit. */
INLINE enum reason limit_alone_flat(const struct packet *packet, __u64 now_ns,
				    struct judgement *judgement)
{
	struct load load = {now_ns, packet->segments, packet->length, 0};
	enum charge result;
	__u64 hash;

	kind_key(packet, &config.kinds[0], &judgement->key);
	hash = key_hash(&judgement->key);
	judgement->group = find_block(&config.limits[0], hash);
	if (!judgement->group)
		return REASON_TABLE_FULL;
	result = charge_slot(judgement->group, hash, &load);
	if (result == LOST_COST)
		count_event(EVENT_UNDO_LOST);
	if (result == NO_PLACE || result == GATED)
		judgement->group = NULL;
	return result == CHARGED ? REASON_CONFORMING : refusal_reason(result);
}

INLINE int charge_several(struct packet *packet, struct choice *choice, bool flat)
{
	int reason;

	if (!flat)
		return charge_chosen(packet, choice);
	reason = charge_chosen_flat(packet, choice);
	if (reason == REASON_OVER_LIMIT || reason == REASON_CONTENDED)
		record_refused(packet, choice);
	return reason;
}

INLINE enum reason limit_several(struct packet *packet, __u32 met, __u64 now_ns,
				 struct judgement *judgement, bool flat)
{
	struct choice choice = {
		.load = {now_ns, packet->segments, packet->length, 0},
		.met = met,
		.tier = find_tier(packet),
	};
	int reason = charge_several(packet, &choice, flat);

	/* Limits that only observe drop nothing, for want of a place neither. */
	if (config.observed_limits && config.observed_limits != config.all_limits &&
	    choice.only_observed) {
		choice.met &= ~config.observed_limits;
		reason = charge_several(packet, &choice, flat);
	}
	judgement->observed = choice.observed;
	/* The comparison is a bound to the verifier, which knows nothing of what a call returns. */
	return reason >= 0 && reason < REASON_COUNT ? reason : REASON_UNLIMITED;
}

/**
 * Charge @packet to every limit that it meets, or to none. @flat, the table's type, is a constant of each
 * program: it has no code for the other type.
 */
INLINE enum reason limits(struct packet *packet, struct clock *clock, struct judgement *judgement,
			  bool flat)
{
	__u32 met = classify(packet);

	if (!met)
		return REASON_UNLIMITED;
	if (!config.alone)
		return limit_several(packet, met, clock_ns(clock), judgement, flat);
	return flat ? limit_alone_flat(packet, clock_ns(clock), judgement)
		    : limit_alone(packet, clock_ns(clock), judgement);
}

#endif
