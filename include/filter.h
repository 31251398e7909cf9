/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where an address falls in a filter: the same on both sides. Pure functions. */
#ifndef XDP_LIMIT_FILTER_H
#define XDP_LIMIT_FILTER_H

#include <linux/types.h>

#define FILTER_INLINE static inline __attribute__((always_inline))

/* Keyed: nobody outside knows which addresses share a place. */
FILTER_INLINE __u64 mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

/** A bit of 2^20 for a whole address, given as its two words as they lie in memory. */
FILTER_INLINE __u32 exact_filter_bit(__u64 seed, __u64 first, __u64 second)
{
	return (mix(mix(seed, first), second) * 0x9e3779b97f4a7c15ULL) >> 44;
}

/** A bit of 2^20 for the first @bits of @top, an address's first word (64 bits) in host order. */
FILTER_INLINE __u32 prefix_filter_bit(__u64 seed, __u64 top, __u32 bits, __u32 family)
{
	__u64 kept = bits ? top >> (64 - bits) : 0;

	return (mix(mix(seed, family), kept) * 0x9e3779b97f4a7c15ULL) >> 44;
}

#endif
