/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The arithmetic of limits: pure functions on one 64-bit word, for the kernel and for tests. */
#ifndef XDP_LIMIT_ALGORITHM_H
#define XDP_LIMIT_ALGORITHM_H

#include <linux/types.h>
#include "abi.h"

#define PURE static inline __attribute__((always_inline))

/*
 * Token bucket and leaky bucket (as a meter: it lets through or drops, and queues nothing; its
 * queue is the burst). GCRA. The word is the theoretical arrival time (TAT) in ticks: the moment at which the bucket
 * would be full again. All differences are modular, so a word "ahead" by 2^62 or more is one of
 * the past: the bucket is idle, as good as new.
 */
#define GCRA_PAST      (1ULL << 62)
#define GCRA_BURST_MAX (1ULL << 60)
/* No frame is larger; keeps units * multiplier below 2^63 (checked when a policy is compiled). */
#define UNITS_MAX (1U << 20)

/** Ticks that the bucket owes at @now (ticks); 0 when idle. */
PURE __u64 gcra_debt(__u64 word, __u64 now)
{
	__u64 debt = word - now;

	return debt >= GCRA_PAST ? 0 : debt;
}

/** The bits of a slot's word that are no time but its source's fingerprint; 0 where words have none. */
PURE __u64 fingerprint_mask(const volatile struct limit *limit)
{
	return (1ULL << limit->fingerprint_bits) - 1;
}

/** @now_ns in the ticks of @limit, as its words count. */
PURE __u64 limit_ticks(const volatile struct limit *limit, __u64 now_ns)
{
	return now_ns << limit->tick & ~fingerprint_mask(limit);
}

/** Whether @cost (ticks) still fits on @debt under @burst (ticks). */
PURE int gcra_fits(__u64 debt, __u64 cost, __u64 burst)
{
	return debt + cost <= burst;
}

/**
 * Whether a bucket with @debt has room for every CPU at once: then a fetch-and-add can't overshoot.
 * @share is burst / fanout, so the product can't overflow. An idle bucket (debt 0) must be clamped
 * to now, which only a compare-and-swap can do.
 */
PURE int gcra_roomy(__u64 debt, __u64 cost, __u64 burst, __u64 share, __u32 fanout)
{
	return debt && cost <= share && debt + fanout * cost <= burst;
}

/** Whether a word with @debt was not written under this clock and burst. */
PURE int gcra_foreign(__u64 debt, __u64 burst, __u64 slack)
{
	return debt > burst + slack;
}

/**
 * Ticks that @units cost under a limit, rounded up.
 * @units must be at most the limit's max_units, which keeps the product below 2^63.
 */
PURE __u64 cost_ticks(__u64 units, __u64 multiplier, __u8 shift)
{
	return (units * multiplier + ((1ULL << shift) - 1)) >> shift;
}

/**
 * Ticks that a frame of @units costs under a token bucket. In a slot of the flat table they are whole grains.
 */
PURE __u64 limit_cost_ticks(const volatile struct limit *limit, __u64 units)
{
	return (cost_ticks(units, limit->multiplier, limit->shift) + limit->frame_cost)
	       << limit->fingerprint_bits;
}

/*
 * Windows. They tile time in the same way on every CPU and without a division: a moment is
 * (now_ns >> shift) * multiplier, modular, and a window is 2^34 of it. Above stands the index of
 * the window, below the position in it. User space takes shift and multiplier so that a window is
 * never shorter than was asked for, and a shift is at most 1/16384 of it.
 *
 * fixed-window, the word:   index (30 bits), count (34)
 * sliding-window, the word: index (24 bits), count of the previous window (20), of this one (20)
 *
 * Counts are units. A word whose window is over is rolled on to the present one before anything
 * else. A word ahead of the clock is that of a CPU with a later reading: its window is charged, and
 * no word ever goes back. One further ahead than `slack` windows is doubtful: no state of this limit,
 * or so old that the index came round; or this CPU was held up after it read its clock. Once the
 * clock has been read again, after the word, such a word counts as one of the past.
 */
#define WINDOW_BITS	   34
#define WINDOW_SPAN	   (1ULL << WINDOW_BITS)
#define FIXED_INDEX_BITS   (64 - WINDOW_BITS)
#define FIXED_COUNT_MAX	   (WINDOW_SPAN - 1)
#define SLIDING_COUNT_BITS 20
#define SLIDING_COUNT_MAX  ((1ULL << SLIDING_COUNT_BITS) - 1)
#define SLIDING_INDEX_BITS (64 - 2 * SLIDING_COUNT_BITS)

/* The parameters of one limit, read once. */
struct window {
	__u64 burst; /* units that one window admits */
	__u64 multiplier;
	__u64 slack; /* windows */
	__u8 shift;
	__u8 sliding;
};

PURE int is_window(__u8 algorithm)
{
	return algorithm == ALGORITHM_FIXED_WINDOW || algorithm == ALGORITHM_SLIDING_WINDOW;
}

PURE struct window window_of(const volatile struct limit *limit)
{
	struct window window = {
		.burst = limit->burst,
		.multiplier = limit->multiplier,
		.slack = limit->slack,
		.shift = limit->shift,
		.sliding = limit->algorithm == ALGORITHM_SLIDING_WINDOW,
	};

	return window;
}

PURE __u64 window_moment(const struct window *window, __u64 now_ns)
{
	return (now_ns >> window->shift) * window->multiplier;
}

PURE __u64 window_position(__u64 moment)
{
	return moment & (WINDOW_SPAN - 1);
}

PURE __u64 sliding_index(__u64 moment)
{
	return moment >> WINDOW_BITS & ((1ULL << SLIDING_INDEX_BITS) - 1);
}

PURE __u64 sliding_current(__u64 word)
{
	return word & SLIDING_COUNT_MAX;
}

PURE __u64 sliding_previous(__u64 word)
{
	return word >> SLIDING_COUNT_BITS & SLIDING_COUNT_MAX;
}

PURE __u64 sliding_word(__u64 index, __u64 previous, __u64 current)
{
	return index << 2 * SLIDING_COUNT_BITS | previous << SLIDING_COUNT_BITS | current;
}

/** Windows by which @word is ahead of @moment, modulo what its index holds: behind is large. */
PURE __u64 fixed_ahead(__u64 word, __u64 moment)
{
	return ((word | FIXED_COUNT_MAX) - moment) >> WINDOW_BITS;
}

PURE __u64 sliding_ahead(__u64 word, __u64 moment)
{
	return ((word >> 2 * SLIDING_COUNT_BITS) - (moment >> WINDOW_BITS)) &
	       ((1ULL << SLIDING_INDEX_BITS) - 1);
}

PURE __u64 window_ahead(const struct window *window, __u64 word, __u64 moment)
{
	return window->sliding ? sliding_ahead(word, moment) : fixed_ahead(word, moment);
}

/** Whether the clock must be read again before @word is judged. */
PURE int window_doubtful(const struct window *window, __u64 word, __u64 moment)
{
	__u64 ahead = window_ahead(window, word, moment);
	__u32 bits = window->sliding ? SLIDING_INDEX_BITS : FIXED_INDEX_BITS;

	return ahead > window->slack && ahead < 1ULL << (bits - 1);
}

PURE __u64 sliding_roll(__u64 word, __u64 moment, __u64 slack)
{
	__u64 ahead = sliding_ahead(word, moment);

	if (ahead <= slack)
		return word;
	if (ahead == (1ULL << SLIDING_INDEX_BITS) - 1) /* the window before */
		return sliding_word(sliding_index(moment), sliding_current(word), 0);
	return sliding_word(sliding_index(moment), 0, 0);
}

PURE __u64 fixed_roll(__u64 word, __u64 moment, __u64 slack)
{
	return fixed_ahead(word, moment) <= slack ? word : moment & ~FIXED_COUNT_MAX;
}

/** @word as it stands at @moment, before this packet. */
PURE __u64 window_roll(const struct window *window, __u64 word, __u64 moment)
{
	return window->sliding ? sliding_roll(word, moment, window->slack)
			       : fixed_roll(word, moment, window->slack);
}

/**
 * What the previous window still counts in a sliding window: its part that the last window's length
 * before now covers, rounded up, so that no packet is admitted beyond the estimate. Wholly, for a
 * clock that has not reached the word's window.
 */
PURE __u64 sliding_carried(__u64 rolled, __u64 moment)
{
	__u64 weight = WINDOW_SPAN;

	if (!sliding_ahead(rolled, moment))
		weight -= window_position(moment);
	return (sliding_previous(rolled) * weight + (WINDOW_SPAN - 1)) >> WINDOW_BITS;
}

/** Units that a rolled word counts against the burst at @moment. */
PURE __u64 window_used(const struct window *window, __u64 rolled, __u64 moment)
{
	if (window->sliding)
		return sliding_current(rolled) + sliding_carried(rolled, moment);
	return rolled & FIXED_COUNT_MAX;
}

/** Whether @units fit; the word is rolled + units then. */
PURE int window_fits(const struct window *window, __u64 rolled, __u64 moment, __u64 units)
{
	return window_used(window, rolled, moment) + units <= window->burst;
}

/**
 * @word without the @units whose charge left @left there, whatever came on top meanwhile: they are
 * in the window that they were charged to, in the one after it, or gone.
 */
PURE __u64 sliding_undone(__u64 word, __u64 left, __u64 units)
{
	__u64 passed = sliding_ahead(word, left >> 2 * SLIDING_COUNT_BITS << WINDOW_BITS);

	if (!passed && sliding_current(word) >= units)
		return word - units;
	if (passed == 1 && sliding_previous(word) >= units)
		return word - (units << SLIDING_COUNT_BITS);
	return word;
}

PURE __u64 fixed_undone(__u64 word, __u64 left, __u64 units)
{
	return fixed_ahead(word, left) || (word & FIXED_COUNT_MAX) < units ? word : word - units;
}

PURE __u64 window_undone(const struct window *window, __u64 word, __u64 left, __u64 units)
{
	return window->sliding ? sliding_undone(word, left, units)
			       : fixed_undone(word, left, units);
}

/*
 * sliding-log. Each of up to 32 slots lets one packet through per window and remembers when: N of
 * them are at most N in any window, even with clocks that differ between CPUs. Their times are counted
 * from long before the machine started, so that a slot of 0 has been free ever since. Bits instead of
 * truth values: a choice at each slot would make the verifier walk all sets of them.
 */
#define LOG_EPOCH (1ULL << 62)

PURE __u64 log_time(__u64 now_ns)
{
	return now_ns + LOG_EPOCH;
}

/** 1 when a slot lets a packet through at @now (log time), else 0. */
PURE __u64 slot_free(__u64 slot, __u64 now, __u64 window_ns)
{
	return ~(now - slot - window_ns) >> 63;
}

/** 1 when a slot is too far ahead to be a time of this clock: see window_doubtful(). */
PURE __u64 slot_doubtful(__u64 slot, __u64 now, __u64 slack_ns)
{
	return ~(slot - now - slack_ns - 1) >> 63;
}

/** What an undone charge leaves: as good as what was there, for every clock at or after @now. */
PURE __u64 slot_undone(__u64 now, __u64 window_ns)
{
	return now - window_ns;
}

/** A word that owes nothing at @now_ns. Not 0: that would be a time, and time comes round. */
PURE __u64 idle_word(const volatile struct limit *limit, __u64 now_ns)
{
	struct window window = window_of(limit);
	__u64 moment = window_moment(&window, now_ns);

	if (!is_window(limit->algorithm))
		return now_ns << limit->tick;
	return window.sliding ? sliding_word(sliding_index(moment), 0, 0)
			      : moment & ~FIXED_COUNT_MAX;
}

#endif
