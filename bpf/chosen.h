/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Several limits, all or nothing: check each, charge those in short supply first, undo on a lost race. */
#ifndef XDP_LIMIT_CHOSEN_H
#define XDP_LIMIT_CHOSEN_H

#include "lists.h"
#include "one_limit.h"
#include "tally.h"

/* In and out of charge_chosen(). */
struct choice {
	struct load load;
	__u32 met;	     /* limits, bit i for config.limits[i] */
	__u32 tier;	     /* of the source, from 1; 0 for none */
	__u32 observed;	     /* out: limits that only observe and would have dropped it */
	__u32 only_observed; /* out: what found no place for it only observes */
};

/* A packet under way with its limits. */
struct course {
	struct packet *packet;
	struct choice *choice;
	struct charge_log *log;
	void *groups[MAX_KINDS]; /* by position in config.kinds; see find_groups() */
};

/*
 * Limits of one kind that are in the set, in charge order, at the cost of those alone. @k is a constant
 * and so is the kind's number of limits: the verifier walks through each limit of the policy once.
 */
#define for_each_of_kind(k, i, set)                                              \
	for (__u32 turn = 0, left_ = (set)&config.kinds[k].limits, i = 0;        \
	     left_ && turn < MAX_LIMITS && turn < config.kinds[k].limit_count && \
	     (i = lowest(left_), true);                                          \
	     turn++, left_ &= left_ - 1)

/* Kinds in charge order: those that only one source touches first, the interface last. */
#define for_each_kind(k) \
	_Pragma("unroll") for (__u32 k = 0; k < MAX_KINDS; k++) if (k < config.kind_count)

/* A limit's place in config.limits for the packet's tier. */
INLINE __u32 place_of(const struct course *course, __u32 i)
{
	__u32 place = course->choice->tier * MAX_LIMITS + i;

	/*
	 * Else the compiler masks the two apart and puts them together by `or`, of which kernels
	 * before 6.10 know no bounds.
	 */
	asm("" : "+r"(place));
	return place % LIMIT_PLACES;
}

INLINE const volatile struct limit *limit_of(const struct course *course, __u32 i)
{
	return &config.limits[place_of(course, i)];
}

/* ---- the groups of a packet ---- */

INLINE __u64 *interface_word(__u32 slot)
{
	struct shared_word *shared = bpf_map_lookup_elem(&iface_words, &slot);

	return shared ? &shared->word : NULL;
}

/* Words per interface are in no group. */
INLINE __u64 *word_of(void *group, __u32 k, const volatile struct limit *limit)
{
	if (config.kinds[k].per == PER_INTERFACE)
		return interface_word(limit->slot);
	return group ? group_word(group, limit->slot) : NULL;
}

/* Whether a limit of this kind that the packet meets may drop it. */
INLINE bool enforces(const struct course *course, __u32 k)
{
	return course->choice->met & config.kinds[k].limits & ~config.observed_limits;
}

/*
 * The groups of the kinds that this packet's limits have. The others' places get a copy of one that
 * was found, which nobody uses: with "NULL or a group" in each place the verifier would walk the
 * rest of the program once for each combination.
 */
INLINE enum reason find_groups(struct course *course)
{
	bool closed = false;
	void *any = NULL;

	/* All of them first: the verifier doesn't see that nobody looks at them after a failure. */
#pragma unroll
	for (__u32 k = 0; k < MAX_KINDS; k++)
		course->groups[k] = NULL;
	for_each_kind(k)
	{
		struct bucket_key *key = &course->log->key.bucket; /* for the stack's sake */

		if (config.kinds[k].per == PER_INTERFACE ||
		    !(course->choice->met & config.kinds[k].limits))
			continue;
		fill_key(course->packet, k, key);
		course->groups[k] = find_or_create(key, course->choice->load.now_ns, &closed);
		if (!course->groups[k]) {
			course->choice->only_observed = !enforces(course, k);
			return closed ? REASON_GATE_CLOSED : REASON_TABLE_FULL;
		}
		any = course->groups[k];
	}
	for_each_kind(k)
	{
		if (!course->groups[k])
			course->groups[k] = any;
	}
	return REASON_NONE;
}

/* ---- one of the limits ---- */

/* A call, so that the verifier walks through it once and not at each limit. */
__noinline int name_log(struct packet *packet, __u32 place)
{
	struct log_key *key = key_of_log();
	const volatile struct limit *limit;

	if (!packet || !key || place >= LIMIT_PLACES)
		return 0;
	limit = &config.limits[place];
	__builtin_memset(key, 0, sizeof(*key));
	kind_key(packet, &config.kinds[limit->group % KIND_SLOTS], &key->bucket);
	key->limit = limit->id;
	return 0;
}

INLINE enum charge check_one(const struct course *course, __u32 i, __u64 *word, bool *tight)
{
	const volatile struct limit *limit = limit_of(course, i);
	struct load *load = &course->choice->load;

	*tight = true;
	if (keeps_log(limit)) {
		name_log(course->packet, place_of(course, i));
		return check_slots(place_of(course, i), load->now_ns, load->packets);
	}
	if (counts_windows(limit))
		return check_window_apart(word, place_of(course, i), load);
	return check_bucket(word, limit, load, tight);
}

INLINE enum charge charge_one(const struct course *course, __u32 i, __u64 *word)
{
	__u64 *left = &course->log->left[i % MAX_LIMITS];
	struct load *load = &course->choice->load;

	if (!keeps_log(limit_of(course, i)))
		return charge_limit_apart(word, place_of(course, i), load, left);
	name_log(course->packet, place_of(course, i));
	return take_slots(place_of(course, i), load->now_ns, load->packets, left);
}

/* False when the charge has to stand. */
INLINE bool undo_one(const struct course *course, __u32 i, __u64 *word)
{
	__u64 left = course->log->left[i % MAX_LIMITS];
	struct load *load = &course->choice->load;

	if (!keeps_log(limit_of(course, i)))
		return undo_limit_apart(word, place_of(course, i), load, left);
	name_log(course->packet, place_of(course, i));
	return_slots(place_of(course, i), load->now_ns, left);
	return true;
}

/* ---- all of them ---- */

/* Another limit's failure is no state of this word: reads only, and ends nearly every drop. */
INLINE enum charge check_kind(struct course *course, void *group, __u32 k)
{
	for_each_of_kind(k, i, course->choice->met & ~config.observed_limits)
	{
		__u64 *word = word_of(group, k, limit_of(course, i));
		enum charge result;
		bool tight;

		if (!word)
			return REFUSED;
		result = check_one(course, i, word, &tight);
		if (tight)
			course->log->tight |= 1U << i;
		else
			course->log->roomy |= 1U << i;
		if (result != CHARGED) {
			course->log->refused_by = i;
			return result;
		}
	}
	return CHARGED;
}

INLINE enum charge check_all(struct course *course)
{
	enum charge result;

	course->log->tight = course->log->roomy = course->log->charged = 0;
	for_each_kind(k)
	{
		result = check_kind(course, course->groups[k], k);
		if (result != CHARGED)
			return result;
	}
	return CHARGED;
}

INLINE enum charge charge_kind(struct course *course, void *group, __u32 k, __u32 set)
{
	for_each_of_kind(k, i, set)
	{
		__u64 *word = word_of(group, k, limit_of(course, i));
		enum charge result = word ? charge_one(course, i, word) : REFUSED;

		if (result != CHARGED) {
			course->log->refused_by = i;
			return result;
		}
		course->log->charged |= 1U << i;
	}
	return CHARGED;
}

INLINE enum charge charge_set(struct course *course, const __u32 *set)
{
	enum charge result;

	for_each_kind(k)
	{
		result = charge_kind(course, course->groups[k], k, READ_ONCE(*set));
		if (result != CHARGED)
			return result;
	}
	return CHARGED;
}

/* Returns whether every charge could be taken back. */
INLINE bool undo_charged(const struct course *course)
{
	bool undone = true;

	for_each_kind(k)
	{
		for_each_of_kind(k, i, READ_ONCE(course->log->charged))
		{
			__u64 *word = word_of(course->groups[k], k, limit_of(course, i));

			if (word && !undo_one(course, i, word))
				undone = false;
		}
	}
	return undone;
}

/*
 * Those first that CPUs may run out of together: when they do, there is nothing to undo yet. Which
 * these are can depend on the packet's size, so the order that was compiled decides only among
 * them. The others have room for all CPUs.
 */
INLINE enum charge charge_all(struct course *course)
{
	enum charge result = charge_set(course, &course->log->tight);

	if (result == CHARGED)
		result = charge_set(course, &course->log->roomy);
	if (result != CHARGED && !undo_charged(course))
		return LOST_COST;
	return result;
}

/* The word of the limit that refused was written by nobody who knows this limit. */
INLINE void repair_refused(const struct course *course)
{
	__u32 refused_by = READ_ONCE(course->log->refused_by) % MAX_LIMITS;
	const volatile struct limit *limit = limit_of(course, refused_by);

	for_each_kind(k)
	{
		__u64 *word;

		if (!(config.kinds[k].limits >> refused_by & 1))
			continue;
		word = word_of(course->groups[k], k, limit);
		if (word && repair_word(word, limit))
			count_event(EVENT_REPAIRED);
	}
}

/* No limit's index. */
#define NOBODY MAX_LIMITS

/*
 * Limits that only observe see what passes the others, each for itself; one that would drop it changes
 * nothing. Returns whether there is a word to repair, the last of them.
 */
INLINE bool observe_all(struct course *course)
{
	__u32 observed = 0;

	course->log->refused_by = NOBODY;
	for_each_kind(k)
	{
		for_each_of_kind(k, i, course->choice->met & config.observed_limits)
		{
			__u64 *word = word_of(course->groups[k], k, limit_of(course, i));
			enum charge result = word ? charge_one(course, i, word) : CHARGED;

			if (result != CHARGED)
				observed |= 1U << i;
			if (result == FOREIGN)
				course->log->refused_by = i;
		}
	}
	course->choice->observed = observed;
	return READ_ONCE(course->log->refused_by) != NOBODY;
}

/* A refusal is where a word that isn't ours shows, and where a lost cost is known. */
INLINE enum reason refuse(enum charge result, const struct course *course)
{
	if (result == LOST_COST)
		count_event(EVENT_UNDO_LOST);
	if (result == FOREIGN)
		repair_refused(course);
	return refusal_reason(result);
}

/* The penalty of the limit that refused; a dry run bans nobody. A call, for the stack that it takes. */
__noinline int punish(struct packet *packet, struct choice *choice)
{
	__u32 index = 0;
	struct course course = {
		.choice = choice,
		.log = bpf_map_lookup_elem(&charges, &index),
	};
	const volatile struct limit *limit;

	if (!packet || !choice || !course.log)
		return 0;
	limit = limit_of(&course, READ_ONCE(course.log->refused_by) % MAX_LIMITS);
	if (limit->ban_ns && !config.dry_run)
		ban_source(packet, limit, choice->load.now_ns);
	return 0;
}

/* ---- and their counters ---- */

/* Without a branch: the verifier would walk on from each of its ends, at each limit. */
INLINE void count_limit(struct limit_count *count, const struct increment *by, __u32 would_drop)
{
	__u64 *sums = &count->tally.passed_packets + 2 * (READ_ONCE(by->dropped) & 1);

	sums[0] += by->packets;
	sums[1] += by->bytes;
	count->would_drop_packets += (__u64)by->packets * would_drop;
}

INLINE void count_kind(const struct course *course, void *group, __u32 k, struct cpu_counters *mine)
{
	struct charge_log *log = course->log;

	if (READ_ONCE(log->counted) & config.kinds[k].limits)
		fill_key(course->packet, k, &log->key.bucket);
	for_each_of_kind(k, i, READ_ONCE(log->counted))
	{
		const volatile struct limit *limit = limit_of(course, i);
		struct limit_count *count = &mine->limits[limit->id % MAX_LIMITS];

		count_limit(count, &log->by, READ_ONCE(log->would_drop) >> i & 1);
		if (group && config.kinds[k].per != PER_INTERFACE)
			count_tally_apart(&log->key.bucket, group_born(group),
					  group_tally(group, limit->slot), limit->slot, &log->by);
	}
}

/* A dropped packet is the business of the limit that refused it; a passed one of all it met. */
INLINE struct cpu_counters *start_counting(const struct course *course, enum reason reason)
{
	bool drop = config.actions[reason % REASON_SLOTS] == XDP_DROP;
	struct charge_log *log = course->log;
	__u32 refused = 1U << (READ_ONCE(log->refused_by) % MAX_LIMITS);
	__u32 index = 0;

	log->by.packets = course->choice->load.packets;
	log->by.bytes = course->choice->load.bytes;
	log->by.dropped = drop && !config.dry_run;
	log->counted = log->by.dropped ? refused : course->choice->met;
	log->would_drop = drop ? refused : course->choice->observed;
	if (log->by.dropped)
		log->would_drop = 0;
	return bpf_map_lookup_elem(&counters, &index);
}

INLINE void count_limits(const struct course *course, enum reason reason)
{
	struct cpu_counters *mine = start_counting(course, reason);

	if (!mine)
		return;
	for_each_kind(k)
	{
		count_kind(course, course->groups[k], k, mine);
	}
}

INLINE enum reason conclude(struct course *course, enum charge result)
{
	enum reason reason = REASON_CONFORMING;

	if (result != CHARGED)
		reason = refuse(result, course);
	else if (config.observed_limits && observe_all(course))
		repair_refused(course);
	if (config.penalties && reason == REASON_OVER_LIMIT)
		punish(course->packet, course->choice);
	return reason;
}

/**
 * Charge @packet to the limits of @choice, or to none, and count what they did. A global function is
 * verified once, whatever leads to it; and what goes through the log's memory is an unknown number to
 * the verifier, so the ways that a stage ends lead into the next one as one.
 */
__noinline int charge_chosen(struct packet *packet, struct choice *choice)
{
	__u32 index = 0;
	struct course course = {.packet = packet, .choice = choice};
	enum charge result;
	enum reason reason;

	course.log = bpf_map_lookup_elem(&charges, &index);
	if (!packet || !choice || !course.log)
		return REASON_UNLIMITED;
	reason = find_groups(&course);
	if (reason != REASON_NONE)
		return reason;
	result = check_all(&course);
	if (result == CHARGED)
		result = charge_all(&course);
	reason = conclude(&course, result);
	count_limits(&course, reason);
	return reason;
}

#endif
