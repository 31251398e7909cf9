/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Charging one word without a lock, and taking a charge back. */
#ifndef XDP_LIMIT_CHARGE_H
#define XDP_LIMIT_CHARGE_H

#include "clock.h"
#include "common.h"
#include "maps.h"

enum charge {
	CHARGED,
	REFUSED,   /* no room: seen by reading alone */
	LOST_RACE, /* there was room, other CPUs took it or the tries ran out */
	LOST_COST, /* the same, and the packet's own cost could not be taken back */
	FOREIGN,   /* the word is no state of this limit: see repair_word() */
	NO_PLACE,  /* the table of slots has no place for this one: as if it were full */
	GATED,	   /* it would have needed a new slot, and the gate was closed */
	MOVED,	   /* a slot was no longer as it was seen: look again */
};

/*
 * With k CPUs in the loop at once a try succeeds one time in k. Only idle buckets and those near
 * their limit come here; the others have room for all CPUs and are charged by fetch-and-add.
 */
#define CHARGE_TRIES 8
#define CLAMP_TRIES  8

/** Units of a packet under @limit. */
INLINE __u32 limit_units(const volatile struct limit *limit, __u32 packets, __u32 bytes)
{
	return limit->unit == UNIT_BYTES ? bytes : packets;
}

/** Units of @packet under @limit to ticks; false when no bucket of it could ever hold them. */
INLINE bool limit_cost(const volatile struct limit *limit, __u32 packets, __u32 bytes, __u64 *cost)
{
	__u32 units = limit_units(limit, packets, bytes);

	if (units > limit->max_units)
		return false;
	if (config.flat)
		*cost = limit_cost_ticks(limit, units);
	else
		*cost = cost_ticks(units, limit->multiplier, limit->shift);
	return true;
}

/* limit_ticks(), for the words that this policy's table has. */
INLINE __u64 now_in_ticks(const volatile struct limit *limit, __u64 now_ns)
{
	return config.flat ? limit_ticks(limit, now_ns) : now_ns << limit->tick;
}

/*
 * Whose a word is, where it says so itself: in a slot of the flat table. A group's words have no
 * fingerprint, and the mask of 0 takes all of this away.
 */
struct owner {
	__u64 mask;
	__u64 fingerprint;
};

INLINE bool is_anothers(__u64 word, const struct owner *owner)
{
	return (word ^ owner->fingerprint) & owner->mask;
}

/*
 * The bucket ran idle between the look and the addition, which then stands on an old time and must not
 * count as it is. As long as the word lies before now it is an idle one all the same, whoever added to
 * it: charged from now, as an idle word is.
 */
INLINE enum charge clamp_addition(__u64 *word, __u64 seen, __u64 now, __u64 cost, __u64 *left)
{
	for (int tries = 0; tries < CLAMP_TRIES; tries++) {
		__u64 found = CAS(word, seen, now + cost);

		if (found == seen) {
			*left = now + cost;
			return CHARGED;
		}
		if (found - now < GCRA_PAST)
			break;
		seen = found;
	}
	return LOST_COST;
}

/*
 * Room for every CPU: the addition can't overshoot, so it needs no retry and many CPUs lose
 * nothing to each other. What is found must still be judged.
 */
INLINE enum charge charge_roomy(__u64 *word, __u64 now, const volatile struct limit *limit,
				__u64 cost, __u64 *left)
{
	__u64 seen = FETCH_ADD(word, cost);
	__u64 debt = seen - now;

	if (debt >= GCRA_PAST)
		return clamp_addition(word, seen + cost, now, cost, left);
	if (gcra_fits(debt, cost, limit->burst)) {
		*left = seen + cost;
		return CHARGED;
	}
	/* Take it back if nobody built on it; else it stays, which admits less, never more. */
	return CAS(word, seen + cost, seen) == seen + cost ? LOST_RACE : LOST_COST;
}

/*
 * The same in a slot, whose words must not be lowered: an addition stands. When it went to another source, or
 * to a time that is past, or this reading of the clock is too old, the slot is looked at again.
 */
INLINE enum charge charge_roomy_slot(__u64 *word, __u64 now, const volatile struct limit *limit,
				     __u64 cost, const struct owner *owner, __u64 *left)
{
	__u64 seen = FETCH_ADD(word, cost);
	__u64 debt = (seen & ~owner->mask) - now;

	if (is_anothers(seen, owner) || debt >= GCRA_PAST)
		return MOVED;
	*left = seen + cost;
	return gcra_fits(debt, cost, limit->burst) ? CHARGED : LOST_COST;
}

/**
 * Charge @cost ticks to @word, which held @seen, at @now ticks, in so many tries at most. @left is what the
 * charge left there, for undo. Refusing reads only: a bucket over its limit costs other CPUs nothing.
 */
INLINE enum charge charge_seen(__u64 *word, __u64 seen, __u64 now,
			       const volatile struct limit *limit, __u64 cost,
			       const struct owner *owner, int most_tries, __u64 *left)
{
	/* The word `unlimited`: nothing to write, so nothing to lose to another CPU. */
	if (!limit->multiplier)
		return CHARGED;
	for (int tries = 0; tries < most_tries; tries++) {
		__u64 debt = gcra_debt(seen & ~owner->mask, now);
		__u64 next = (now + debt + cost) | owner->fingerprint;
		__u64 found;

		if (!gcra_fits(debt, cost, limit->burst)) {
			if (gcra_foreign(debt, limit->burst, limit->slack))
				return FOREIGN;
			return tries ? LOST_RACE : REFUSED;
		}
		if (gcra_roomy(debt, cost, limit->burst, limit->share, config.fanout))
			return owner->mask ? charge_roomy_slot(word, now, limit, cost, owner, left)
					   : charge_roomy(word, now, limit, cost, left);
		found = CAS(word, seen, next);
		if (found == seen) {
			*left = next;
			return CHARGED;
		}
		if (owner->mask)
			return MOVED;
		seen = found;
	}
	return LOST_RACE;
}

/* The same of a word in a group. */
INLINE enum charge charge_word(__u64 *word, __u64 now, const volatile struct limit *limit,
			       __u64 cost, __u64 *left)
{
	const struct owner nobody = {0, 0};

	return charge_seen(word, READ_ONCE(*word), now, limit, cost, &nobody, CHARGE_TRIES, left);
}

/* The same in one try, where another CPU's being faster leads to a call and not through each of the others. */
INLINE enum charge try_charge_word(__u64 *word, __u64 now, const volatile struct limit *limit,
				   __u64 cost)
{
	const struct owner nobody = {0, 0};
	__u64 left;

	return charge_seen(word, READ_ONCE(*word), now, limit, cost, &nobody, 1, &left);
}

/**
 * Whether a word that holds @seen has room for @cost at @now. @tight: not for as much from every CPU at
 * once, so that a charge may lose a race.
 */
INLINE enum charge check_word(__u64 seen, __u64 now, const volatile struct limit *limit, __u64 cost,
			      bool *tight)
{
	__u64 debt = gcra_debt(seen, now);

	*tight = !gcra_roomy(debt ?: 1, cost, limit->burst, limit->share, config.fanout);
	if (gcra_fits(debt, cost, limit->burst))
		return CHARGED;
	return gcra_foreign(debt, limit->burst, limit->slack) ? FOREIGN : REFUSED;
}

/**
 * Take a charge back that left @left: only when no other CPU has moved the word since. Then no
 * admitted packet stands on it, and setting it back is "never happened". Subtracting instead
 * would hand out the time that another CPU's clamp has already counted.
 * Returns false when the charge has to stand.
 */
INLINE bool undo_charge(__u64 *word, __u64 left, __u64 cost)
{
	return !cost || CAS(word, left, left - cost) == left;
}

/*
 * A word further ahead than its burst and the slack was not written under this limit and clock: a
 * burst was lowered, or somebody wrote the map. Put it back to "just exhausted": never frozen,
 * never refilled. The clock is read again and after the word, since a CPU that was held up sees its
 * old time, and would lower a word that others have rightly moved on meanwhile. A program that is
 * no longer the newest leaves it alone, since the new burst may allow it.
 */
static __noinline bool repair_word(__u64 *word, const volatile struct limit *limit)
{
	__u32 index = 0;
	struct switches *current = bpf_map_lookup_elem(&switches, &index);
	__u64 seen, mask, now;

	if (!current || READ_ONCE(current->generation) != config.generation)
		return false;
	seen = READ_ONCE(*word);
	mask = config.flat ? fingerprint_mask(limit) : 0;
	now = now_in_ticks(limit, clock_source());
	if (!gcra_foreign(gcra_debt(seen & ~mask, now), limit->burst, limit->slack))
		return false;
	return CAS(word, seen, (now + limit->burst) | (seen & mask)) == seen;
}

/* What a charge that failed is called to the outside. */
INLINE enum reason refusal_reason(enum charge result)
{
	if (result == NO_PLACE)
		return REASON_TABLE_FULL;
	if (result == GATED)
		return REASON_GATE_CLOSED;
	return result == LOST_RACE || result == LOST_COST ? REASON_CONTENDED : REASON_OVER_LIMIT;
}

/* ---- windows ---- */

/*
 * The clock again, and after the word: a CPU that was held up since it read its clock finds words
 * further ahead than others' clocks can be, and must not take them for garbage and set them back.
 */
static __noinline __u64 moment_again(const volatile struct limit *limit)
{
	struct window window = window_of(limit);

	return window_moment(&window, clock_source());
}

/**
 * Charge @units to a word of windows. @left is what the charge left there, for undo. As above:
 * refusing reads only.
 */
INLINE enum charge charge_window(__u64 *word, __u64 now_ns, const volatile struct limit *limit,
				 __u32 units, __u64 *left)
{
	struct window window = window_of(limit);
	__u64 moment = window_moment(&window, now_ns);
	__u64 seen = READ_ONCE(*word);

	if (units > limit->max_units)
		return REFUSED;
	if (!window.multiplier)
		return CHARGED;
	for (int tries = 0; tries < CHARGE_TRIES; tries++) {
		__u64 rolled, found;

		if (window_doubtful(&window, seen, moment))
			moment = moment_again(limit);
		rolled = window_roll(&window, seen, moment);
		if (!window_fits(&window, rolled, moment, units))
			return tries ? LOST_RACE : REFUSED;
		found = CAS(word, seen, rolled + units);
		if (found == seen) {
			*left = rolled + units;
			return CHARGED;
		}
		seen = found;
	}
	return LOST_RACE;
}

/** Reads only. A doubtful word counts as idle: the charge finds out. */
INLINE enum charge check_window(const __u64 *word, __u64 now_ns, const volatile struct limit *limit,
				__u32 units)
{
	struct window window = window_of(limit);
	__u64 moment = window_moment(&window, now_ns);
	__u64 rolled = window_roll(&window, READ_ONCE(*word), moment);

	if (units > limit->max_units)
		return REFUSED;
	if (!window.multiplier || window_fits(&window, rolled, moment, units))
		return CHARGED;
	return REFUSED;
}

/**
 * Take a charge of @units back. A charge inside a window is additive, so whatever others did since,
 * subtracting where it stands now is exact. False when the tries ran out: then it has to stand.
 */
INLINE bool undo_window(__u64 *word, const volatile struct limit *limit, __u64 left, __u32 units)
{
	struct window window = window_of(limit);
	__u64 seen = READ_ONCE(*word);

	if (!window.multiplier)
		return true;
	for (int tries = 0; tries < CHARGE_TRIES; tries++) {
		__u64 undone = window_undone(&window, seen, left, units);
		__u64 found = undone == seen ? seen : CAS(word, seen, undone);

		if (found == seen)
			return true;
		seen = found;
	}
	return false;
}

#endif
