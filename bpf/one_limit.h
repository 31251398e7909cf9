/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One limit, whatever its algorithm: room for a packet, its charge, and taking that back. */
#ifndef XDP_LIMIT_ONE_LIMIT_H
#define XDP_LIMIT_ONE_LIMIT_H

#include "buckets.h"
#include "charge.h"
#include "sliding_log.h"

/* What a packet costs, small enough to be handed to a global function. */
struct load {
	__u64 now_ns;
	__u32 packets;
	__u32 bytes;
	__u64 left; /* out of the flat table: what the last charge left in its slot */
};

/* Algorithms that no limit of the policy has cost nothing: the verifier removes them. */
INLINE bool counts_windows(const volatile struct limit *limit)
{
	return config.algorithms & (1 << ALGORITHM_FIXED_WINDOW | 1 << ALGORITHM_SLIDING_WINDOW) &&
	       is_window(limit->algorithm);
}

INLINE bool keeps_log(const volatile struct limit *limit)
{
	return has_logs() && limit->algorithm == ALGORITHM_SLIDING_LOG;
}

/* @tight: there is no room for as much from every CPU at once, so that a charge may lose a race. */
INLINE enum charge check_bucket(const __u64 *word, const volatile struct limit *limit,
				const struct load *load, bool *tight)
{
	__u64 cost;

	if (!limit_cost(limit, load->packets, load->bytes, &cost))
		return REFUSED;
	return check_word(READ_ONCE(*word), now_in_ticks(limit, load->now_ns), limit, cost, tight);
}

/* What the charge left goes to @left. */
INLINE enum charge charge_bucket(__u64 *word, const volatile struct limit *limit,
				 const struct load *load, __u64 *left)
{
	__u64 cost;

	if (!limit_cost(limit, load->packets, load->bytes, &cost))
		return REFUSED;
	return charge_word(word, now_in_ticks(limit, load->now_ns), limit, cost, left);
}

/*
 * Those that more than a token bucket needs. Global functions are verified once, whatever the policy;
 * their pointers may be NULL to the verifier.
 */
__noinline int check_window_apart(__u64 *word, __u32 place, struct load *load)
{
	const volatile struct limit *limit;

	if (!word || !load || place >= LIMIT_PLACES)
		return REFUSED;
	limit = &config.limits[place];
	return check_window(word, load->now_ns, limit,
			    limit_units(limit, load->packets, load->bytes));
}

__noinline int charge_limit_apart(__u64 *word, __u32 place, struct load *load, __u64 *left)
{
	const volatile struct limit *limit;

	if (!word || !load || !left || place >= LIMIT_PLACES)
		return REFUSED;
	limit = &config.limits[place];
	if (!counts_windows(limit))
		return charge_bucket(word, limit, load, left);
	return charge_window(word, load->now_ns, limit,
			     limit_units(limit, load->packets, load->bytes), left);
}

__noinline int undo_limit_apart(__u64 *word, __u32 place, struct load *load, __u64 left)
{
	const volatile struct limit *limit;
	__u64 cost;

	if (!word || !load || place >= LIMIT_PLACES)
		return true;
	limit = &config.limits[place];
	if (counts_windows(limit))
		return undo_window(word, limit, left,
				   limit_units(limit, load->packets, load->bytes));
	return !limit_cost(limit, load->packets, load->bytes, &cost) ||
	       undo_charge(word, left, cost);
}

#endif
