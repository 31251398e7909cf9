/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* chosen.h for a flat table: no groups to find first, each limit's word is found when it is its turn. */
#ifndef XDP_LIMIT_CHOSEN_FLAT_H
#define XDP_LIMIT_CHOSEN_FLAT_H

#include "chosen.h"
#include "flat.h"
#include "records.h"

/* In charge order; a call each, verified once, whatever the number of limits. */
#define for_each_limit(i, set)                                                                     \
	for (__u32 turn = 0, left_ = (set), i = 0;                                                 \
	     left_ && turn < MAX_LIMITS && turn < config.limit_count && (i = lowest(left_), true); \
	     turn++, left_ &= left_ - 1)

INLINE bool is_of_interface(const volatile struct limit *limit)
{
	return config.kinds[limit->group % KIND_SLOTS].per == PER_INTERFACE;
}

INLINE const volatile struct limit *chosen_limit(const struct choice *choice, __u32 i)
{
	return limit_at(choice->tier * MAX_LIMITS + i);
}

/* Where the packet's source stands under @limit. */
INLINE struct flat_block *find_seat(const struct packet *packet, const volatile struct limit *limit,
				    __u64 *hash)
{
	struct bucket_key key __attribute__((aligned(8)));

	kind_key(packet, &config.kinds[limit->group % KIND_SLOTS], &key);
	*hash = key_hash(&key);
	return find_block(limit, *hash);
}

INLINE int check_interface(const volatile struct limit *limit, __u32 place, struct load *load)
{
	__u64 *word = interface_word(limit->slot);
	bool tight = true;
	int result;

	if (!word)
		return REFUSED;
	if (counts_windows(limit))
		return check_window_apart(word, place, load);
	result = check_bucket(word, limit, load, &tight);
	load->left = tight;
	/* Such a word is repaired where it is charged, so that is tried. */
	return result == FOREIGN ? CHARGED : result;
}

/* Whether the limit at position @i has room; enum charge. load.left: whether little of it. */
__noinline int check_place(struct packet *packet, struct choice *choice, __u32 i)
{
	const volatile struct limit *limit;
	struct flat_block *block;
	__u32 place;
	__u64 hash;

	if (!packet || !choice)
		return REFUSED;
	choice->load.left = true;
	limit = chosen_limit(choice, i);
	place = choice->tier * MAX_LIMITS + i;
	if (is_of_interface(limit))
		return check_interface(limit, place, &choice->load);
	block = find_seat(packet, limit, &hash);
	return block ? check_slot_apart(block, hash, place, &choice->load) : NO_PLACE;
}

INLINE int charge_interface(const volatile struct limit *limit, __u32 place, struct load *load)
{
	__u64 *word = interface_word(limit->slot);
	int result = word ? charge_limit_apart(word, place, load, &load->left) : REFUSED;

	if (result != FOREIGN)
		return result;
	if (word && repair_word(word, limit))
		count_event(EVENT_REPAIRED);
	return REFUSED;
}

/* load.left: what it left, for the undo of the interface's. */
__noinline int charge_place(struct packet *packet, struct choice *choice, __u32 i)
{
	const volatile struct limit *limit;
	struct flat_block *block;
	__u32 place;
	__u64 hash;

	if (!packet || !choice)
		return REFUSED;
	limit = chosen_limit(choice, i);
	place = choice->tier * MAX_LIMITS + i;
	if (is_of_interface(limit))
		return charge_interface(limit, place, &choice->load);
	block = find_seat(packet, limit, &hash);
	return block ? charge_slot_apart(block, hash, place, &choice->load) : NO_PLACE;
}

/* False when the charge has to stand, as it always has in a slot. */
__noinline int undo_place(struct packet *packet, struct choice *choice, __u32 i, __u64 left)
{
	const volatile struct limit *limit;
	__u64 *word;

	if (!packet || !choice)
		return true;
	limit = chosen_limit(choice, i);
	if (!is_of_interface(limit))
		return !limit->multiplier;
	word = interface_word(limit->slot);
	return !word || undo_limit_apart(word, choice->tier * MAX_LIMITS + i, &choice->load, left);
}

INLINE enum charge check_places(struct course *course, __u32 set)
{
	course->log->tight = course->log->roomy = course->log->charged = 0;
	for_each_limit(i, set) {
		int result = check_place(course->packet, course->choice, i);

		if (course->choice->load.left)
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

INLINE enum charge charge_places(struct course *course, __u32 set)
{
	for_each_limit(i, set) {
		int result = charge_place(course->packet, course->choice, i);

		course->log->left[i % MAX_LIMITS] = course->choice->load.left;
		if (result != CHARGED) {
			course->log->refused_by = i;
			return result;
		}
		course->log->charged |= 1U << i;
	}
	return CHARGED;
}

INLINE bool undo_places(const struct course *course)
{
	bool undone = true;

	for_each_limit(i, READ_ONCE(course->log->charged)) {
		if (!undo_place(course->packet, course->choice, i,
				course->log->left[i % MAX_LIMITS]))
			undone = false;
	}
	return undone;
}

/* Each for itself; what finds no slot would not have been dropped by the limit. */
INLINE void observe_places(struct course *course)
{
	__u32 observed = 0;

	for_each_limit(i, course->choice->met & config.observed_limits) {
		int result = charge_place(course->packet, course->choice, i);

		if (result != CHARGED && result != NO_PLACE && result != GATED)
			observed |= 1U << i;
	}
	course->choice->observed = observed;
}

INLINE void count_places(const struct course *course, enum reason reason)
{
	struct cpu_counters *mine = start_counting(course, reason);
	struct charge_log *log = course->log;

	if (!mine)
		return;
	for_each_limit(i, READ_ONCE(log->counted)) {
		count_limit(&mine->limits[limit_of(course, i)->id % MAX_LIMITS], &log->by,
			    READ_ONCE(log->would_drop) >> i & 1);
	}
}

/**
 * The packet goes into the record of its source under the limit that refused it. Called after the other,
 * not by it: the two need more of the stack together than there is.
 */
__noinline int record_refused(struct packet *packet, struct choice *choice)
{
	__u32 index = 0;
	struct charge_log *log = bpf_map_lookup_elem(&charges, &index);
	struct cpu_counters *mine = bpf_map_lookup_elem(&counters, &index);
	struct bucket_key key __attribute__((aligned(8)));
	const volatile struct limit *limit;
	struct increment by;

	if (!packet || !choice || !log || !mine)
		return 0;
	limit = limit_at(choice->tier * MAX_LIMITS + READ_ONCE(log->refused_by) % MAX_LIMITS);
	if (is_of_interface(limit))
		return 0;
	by = (struct increment){choice->load.packets, choice->load.bytes, !config.dry_run};
	kind_key(packet, &config.kinds[limit->group % KIND_SLOTS], &key);
	record_loss(mine, &key, limit->id, choice->load.now_ns, &by);
	return 0;
}

INLINE enum reason conclude_places(struct course *course, enum charge result)
{
	enum reason reason = refusal_reason(result);

	if (result == LOST_COST)
		count_event(EVENT_UNDO_LOST);
	if (result == CHARGED) {
		reason = REASON_CONFORMING;
		observe_places(course);
	}
	if (config.penalties && reason == REASON_OVER_LIMIT)
		punish(course->packet, course->choice);
	return reason;
}

/** charge_chosen(), out of a flat table. */
__noinline int charge_chosen_flat(struct packet *packet, struct choice *choice)
{
	struct course course = {.packet = packet, .choice = choice};
	enum charge result;
	enum reason reason;
	__u32 index = 0;

	course.log = bpf_map_lookup_elem(&charges, &index);
	if (!packet || !choice || !course.log)
		return REASON_UNLIMITED;
	result = check_places(&course, choice->met & ~config.observed_limits);
	if (result == CHARGED)
		result = charge_places(&course, READ_ONCE(course.log->tight));
	if (result == CHARGED)
		result = charge_places(&course, READ_ONCE(course.log->roomy));
	if (result != CHARGED && !undo_places(&course))
		result = LOST_COST;
	reason = conclude_places(&course, result);
	if (reason != REASON_TABLE_FULL && reason != REASON_GATE_CLOSED)
		count_places(&course, reason);
	return reason;
}

#endif
