/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The limits that a packet meets: one alone is charged on the spot, several by chosen.h. */
#ifndef XDP_LIMIT_LIMITS_H
#define XDP_LIMIT_LIMITS_H

#include "chosen.h"
#include "classify.h"
#include "events.h"
#include "one_limit.h"
#include "tiers.h"

/* What the limits said of a packet, for the verdict to count. */
struct judgement {
	struct bucket_key key __attribute__((aligned(8))); /* of group, where one limit is alone */
	void *group;   /* NULL: chosen.h has counted already, or no limit was asked */
	bool observed; /* passes only because a limit does no more than observe */
};

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
INLINE enum reason limit_alone(const struct packet *packet, const struct load *load,
			       struct judgement *judgement)
{
	bool closed = false;
	enum charge result;
	__u64 *word, left;

	kind_key(packet, &config.kinds[0], &judgement->key);
	judgement->group = find_or_create(&judgement->key, load->now_ns, &closed);
	if (!judgement->group)
		return closed ? REASON_GATE_CLOSED : REASON_TABLE_FULL;
	word = group_word(judgement->group, config.limits[0].slot);
	result = charge_bucket(word, &config.limits[0], load, &left);
	return result == CHARGED ? REASON_CONFORMING : refuse_alone(result, word);
}

/** Charge @packet to every limit that it meets, or to none. */
INLINE enum reason limits(struct packet *packet, struct clock *clock, struct judgement *judgement)
{
	struct choice choice = {.load = {.packets = packet->segments, .bytes = packet->length}};
	enum reason reason;

	choice.met = classify(packet);
	if (!choice.met)
		return REASON_UNLIMITED;
	choice.load.now_ns = clock_ns(clock);
	if (config.alone)
		return limit_alone(packet, &choice.load, judgement);
	choice.tier = find_tier(packet);
	reason = charge_chosen(packet, &choice);
	/* Limits that only observe drop nothing, for want of a place neither. */
	if (config.observed_limits && config.observed_limits != config.all_limits &&
	    choice.only_observed) {
		choice.met &= ~config.observed_limits;
		reason = charge_chosen(packet, &choice);
	}
	judgement->observed = choice.observed;
	/* The comparison is a bound to the verifier, which knows nothing of what a call returns. */
	return reason < REASON_COUNT ? reason : REASON_UNLIMITED;
}

#endif
