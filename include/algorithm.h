/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The arithmetic of limits: pure functions on one 64-bit word, for the kernel and for tests. */
#ifndef XDP_LIMIT_ALGORITHM_H
#define XDP_LIMIT_ALGORITHM_H

#include <linux/types.h>
#include "abi.h"

/*
 * GCRA. The word is the theoretical arrival time (TAT) in ticks: the moment at which the bucket
 * would be full again. All differences are modular, so a word "ahead" by 2^62 or more is one of
 * the past: the bucket is idle, as good as new.
 */
#define GCRA_PAST      (1ULL << 62)
#define GCRA_BURST_MAX (1ULL << 60)
/* No frame is larger; keeps units * multiplier below 2^63 (checked when a policy is compiled). */
#define UNITS_MAX (1U << 20)

/** Ticks that the bucket owes at @now (ticks); 0 when idle. */
static inline __attribute__((always_inline)) __u64 gcra_debt(__u64 word, __u64 now)
{
	__u64 debt = word - now;

	return debt >= GCRA_PAST ? 0 : debt;
}

/** Whether @cost (ticks) still fits on @debt under @burst (ticks). */
static inline __attribute__((always_inline)) int gcra_fits(__u64 debt, __u64 cost, __u64 burst)
{
	return debt + cost <= burst;
}

/**
 * Whether a bucket with @debt has room for every CPU at once: then a fetch-and-add can't overshoot.
 * @share is burst / fanout, so the product can't overflow. An idle bucket (debt 0) must be clamped
 * to now, which only a compare-and-swap can do.
 */
static inline __attribute__((always_inline)) int gcra_roomy(__u64 debt, __u64 cost, __u64 burst,
							    __u64 share, __u32 fanout)
{
	return debt && cost <= share && debt + fanout * cost <= burst;
}

/** Whether a word with @debt was not written under this clock and burst. */
static inline __attribute__((always_inline)) int gcra_foreign(__u64 debt, __u64 burst, __u64 slack)
{
	return debt > burst + slack;
}

/**
 * Ticks that @units cost under a limit, rounded up.
 * @units must be at most the limit's max_units, which keeps the product below 2^63.
 */
static inline __attribute__((always_inline)) __u64 cost_ticks(__u64 units, __u64 multiplier,
							      __u8 shift)
{
	return (units * multiplier + ((1ULL << shift) - 1)) >> shift;
}

#endif
