/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where a source stands in the flat table, and when a block needs care: the same on both sides. */
#ifndef XDP_LIMIT_FLAT_H
#define XDP_LIMIT_FLAT_H

#include <linux/types.h>
#include "algorithm.h"
#include "filter.h"

/**
 * A keyed hash of an address, given as its two words as they lie in memory, one after the other: multiplied
 * side by side, two differences could cancel whatever the seed. And keyed again before the last
 * multiplication: without it the high bits of two addresses that differ in few bits would differ by an
 * amount that hardly depends on the seed, and sources could be aimed at a block.
 */
PURE __u64 flat_hash(__u64 seed, __u64 first, __u64 second)
{
	return mix(mix(mix(seed, first), second), ~seed);
}

/** The block in its limit's region: from the high bits. */
PURE __u32 flat_block_of(__u64 hash, __u32 blocks)
{
	return (hash >> 32) * blocks >> 32;
}

/** From the low bits, in the low bits; never 0, which is a free slot. */
PURE __u64 flat_fingerprint(__u64 hash, __u64 mask)
{
	return hash & mask ?: 1;
}

/*
 * Words are compared modulo 2^64, so none may fall 2^63 behind, nor look 2^62 ahead. A span is 2^62 ticks:
 * at least four bursts, and two seconds more than one. A block that is touched when its last refresh
 * lies half a span back has words brought up that are an eighth of a span and more behind now, to there.
 * So no word is further behind than five eighths, and no word is ever lowered. Nor is one brought up that a
 * clock a little behind could still take for one in debt.
 *
 * A reading of the clock that is old when it meets the words (the CPU was held up) would take words far
 * ahead for words of the past. But who charged them has refreshed the block, which then lies ahead of
 * this reading: that is an age as good as infinite, and sends the CPU to read the clock again.
 */
#define FLAT_SPAN_BITS 62

/** Whether @age_ns since the last refresh is half a span or more of @tick; also when it is negative. */
PURE int flat_is_stale(__u64 age_ns, __u8 tick)
{
	return age_ns >> (FLAT_SPAN_BITS - 1 - tick) != 0;
}

/** Whether nothing in a block of @age_ns can be in debt any more, whatever its words look like. */
PURE int flat_all_idle(__u64 age_ns, __u8 tick)
{
	return age_ns >> (FLAT_SPAN_BITS - tick) >= 2;
}

/** Where a refresh at @now (ticks) brings a word up to, without what it owes: that is long paid. */
PURE __u64 flat_floor(__u64 now, __u64 mask)
{
	return (now - (1ULL << (FLAT_SPAN_BITS - 3))) & ~mask;
}

/** Whether a word lies further behind than that. */
PURE int flat_is_behind(__u64 word, __u64 floor, __u64 mask)
{
	return floor - (word & ~mask) - 1 < 1ULL << 63;
}

/** A source's line among a CPU's 2^LOSS_BITS, for the losses under the limit with id @limit. */
PURE __u32 flat_loss_line(__u64 first, __u64 second, __u32 limit)
{
	return ((first ^ (second + limit)) * 0x9e3779b97f4a7c15ULL) >> (64 - LOSS_BITS);
}

/*
 * The slot in least debt: the smallest of these over the block's slots, compared by their difference.
 * Its low bits tell which one it was, so ties go to the lowest.
 */
PURE __u64 flat_rank(__u64 word, __u64 mask, __u32 slot)
{
	return (word & ~mask) | slot;
}

PURE __u32 flat_ranked_slot(__u64 rank)
{
	__u32 slot = rank & 15;

	/* As in find_slot() of bpf/flat.h. */
	asm("" : "+r"(slot));
	return slot;
}

/* Without a branch: the verifier would walk the rest of the program once for each slot. */
PURE __u64 flat_lower_rank(__u64 best, __u64 rank)
{
	__u64 difference = rank - best, lower = difference >> 63;

	asm volatile("" : "+r"(lower));
	return best + difference * lower;
}

#endif
