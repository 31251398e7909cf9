/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sliding log: slots that let one packet through per window each, in a table of their own. */
#ifndef XDP_LIMIT_SLIDING_LOG_H
#define XDP_LIMIT_SLIDING_LOG_H

#include "charge.h"
#include "events.h"
#include "maps.h"

/*
 * Whether a limit of the policy keeps a log. Each function below asks first: kernels before 6.9 verify global
 * functions that nobody calls too.
 */
INLINE bool has_logs(void)
{
	return config.algorithms & 1 << ALGORITHM_SLIDING_LOG;
}

/* Where the packet under way keeps the key of the log that it asks. */
INLINE struct log_key *key_of_log(void)
{
	__u32 index = 0;
	struct charge_log *mine = bpf_map_lookup_elem(&charges, &index);

	return mine ? &mine->key : NULL;
}

INLINE struct log_slots *find_slots(void)
{
	struct log_key *key = key_of_log();

	return key ? bpf_map_lookup_elem(&log_slots, key) : NULL;
}

/* Whoever loses the race to create charges the winner's, like anybody. */
INLINE struct log_slots *find_or_create_slots(void)
{
	static const struct log_slots none;
	struct log_key *key = key_of_log();
	struct log_slots *log;

	if (!key)
		return NULL;
	log = bpf_map_lookup_elem(&log_slots, key);
	if (log)
		return log;
	bpf_map_update_elem(&log_slots, key, &none, BPF_NOEXIST);
	log = bpf_map_lookup_elem(&log_slots, key);
	if (!log)
		count_event(EVENT_INSERT_FAILURE);
	return log;
}

/*
 * A bit for each slot that lets a packet through, as far as reading can tell: what is too far ahead
 * of the clock may be garbage, or this CPU was held up, which taking it finds out.
 */
INLINE __u32 open_slots(const struct log_slots *log, __u64 now, const volatile struct limit *limit)
{
	__u64 window = limit->multiplier, slack = limit->slack, slots = limit->burst;
	__u64 open = 0;

	for (__u32 i = 0; i < LOG_SLOTS && i < slots; i++) {
		__u64 slot = READ_ONCE(log->admitted[i]);

		open |= (slot_free(slot, now, window) | slot_doubtful(slot, now, slack)) << i;
	}
	return open;
}

INLINE enum charge take_slot(__u64 *slot, __u64 now, const volatile struct limit *limit)
{
	__u64 seen = READ_ONCE(*slot);

	if (!slot_free(seen, now, limit->multiplier) &&
	    !(slot_doubtful(seen, now, limit->slack) &&
	      slot_doubtful(seen, log_time(clock_source()), limit->slack)))
		return REFUSED;
	return CAS(slot, seen, now) == seen ? CHARGED : LOST_RACE;
}

/* Nobody else takes a slot that says now, so what isn't there any more needs no undo. */
INLINE void put_back(struct log_slots *log, __u64 now, __u64 window_ns, __u32 slots)
{
	for (__u32 turn = 0; turn < LOG_SLOTS && slots; turn++, slots &= slots - 1)
		CAS(&log->admitted[lowest(slots) % LOG_SLOTS], now, slot_undone(now, window_ns));
}

/** Whether the limit at @place has @units slots; reads only. */
__noinline int check_slots(__u32 place, __u64 now_ns, __u32 units)
{
	const volatile struct limit *limit;
	struct log_slots *log;
	__u32 open;

	if (!has_logs() || place >= LIMIT_PLACES)
		return REFUSED;
	limit = &config.limits[place];
	if (units > limit->max_units)
		return REFUSED;
	log = find_slots();
	if (!log || !limit->multiplier)
		return CHARGED;
	open = open_slots(log, log_time(now_ns), limit);
	for (__u32 turn = 0; turn < LOG_SLOTS && open; turn++, open &= open - 1)
		if (!--units)
			return CHARGED;
	return REFUSED;
}

/*
 * @units slots or none. @taken gets a bit for each. What is open goes through memory, where the
 * verifier forgets which bits it can have: else it would walk on once for each number of slots.
 */
INLINE enum charge take_from(struct log_slots *log, __u64 now, const volatile struct limit *limit,
			     __u32 units, __u64 *taken)
{
	enum charge result = REFUSED;
	__u32 open;

	*(volatile __u64 *)taken = open_slots(log, now, limit);
	open = READ_ONCE(*taken);
	*taken = 0;
	for (__u32 turn = 0; turn < LOG_SLOTS && open; turn++, open &= open - 1) {
		__u32 i = lowest(open) % LOG_SLOTS;

		if (take_slot(&log->admitted[i], now, limit) != CHARGED) {
			result = LOST_RACE;
			continue;
		}
		*taken |= 1ULL << i;
		if (!--units)
			return CHARGED;
	}
	put_back(log, now, limit->multiplier, *taken);
	return result;
}

/** Take @units slots of the limit at @place, or none; for return_slots() they go to @taken. */
__noinline int take_slots(__u32 place, __u64 now_ns, __u32 units, __u64 *taken)
{
	const volatile struct limit *limit;
	struct log_slots *log;

	if (!has_logs() || !taken || place >= LIMIT_PLACES)
		return REFUSED;
	*taken = 0;
	limit = &config.limits[place];
	if (units > limit->max_units)
		return REFUSED;
	if (!limit->multiplier)
		return CHARGED;
	log = find_or_create_slots();
	if (!log)
		return NO_PLACE;
	return take_from(log, log_time(now_ns), limit, units, taken);
}

/** Give back the slots that a packet took which another limit refused. */
__noinline int return_slots(__u32 place, __u64 now_ns, __u64 taken)
{
	struct log_slots *log = has_logs() ? find_slots() : NULL;

	if (log && place < LIMIT_PLACES)
		put_back(log, log_time(now_ns), config.limits[place].multiplier, taken);
	return 0;
}

#endif
