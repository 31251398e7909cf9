/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Limits whose words are slots of the flat table; no kernel calls. */
#ifndef XDP_LIMIT_COMPILE_FLAT_H
#define XDP_LIMIT_COMPILE_FLAT_H

#include "abi.h"
#include "complaint.h"
#include "policy.h"

/* How a slot's 64 bits are shared out: kept with the table, like a tick. */
struct slot_scale {
	unsigned int tick;	       /* one tick is 2^-tick ns */
	unsigned int fingerprint_bits; /* below the time; a grain is 2^fingerprint_bits ticks */
};

/**
 * choose_slot_scale - for @limit and all its tiers. Returns 0; -ERANGE for an algorithm that the flat table
 * doesn't have and when too few bits would be left for the source, with a sentence in @why.
 */
int choose_slot_scale(const struct policy_limit *limit, struct slot_scale *scale,
		      struct complaint *why);

/**
 * compile_slot_limit - compile_limit() for a slot of @scale. Returns 0, what compile_limit() refuses, or
 * -EDOM when @scale can't hold the rate and burst.
 */
int compile_slot_limit(const struct policy_limit *limit, const struct slot_scale *scale,
		       unsigned int possible_cpus, struct limit *compiled, struct complaint *why);

/** flat_blocks - blocks of one limit's region for @sources: two slots for each. */
uint32_t flat_blocks(uint64_t sources);

/** limited_entries - sources of which more than a slot is kept when they lose packets. */
uint32_t limited_entries(const struct table_identity *table);

/** flat_memory - bytes that the flat table and these take, estimated. */
uint64_t flat_memory(const struct table_identity *table);

#endif
