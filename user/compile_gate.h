/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The budget of new table entries: what keeps invented sources from evicting limited ones. */
#ifndef XDP_LIMIT_COMPILE_GATE_H
#define XDP_LIMIT_COMPILE_GATE_H

#include "abi.h"
#include "complaint.h"
#include "policy.h"

#define GATE_SLOWEST 600 /* never below entries / this in a second */

/** compile_gate - the gate of @config for a table of @entries; its limits are compiled already. */
void compile_gate(const struct policy *policy, uint32_t entries, unsigned int possible_cpus,
		  struct config *config);

/** longest_refill_ns - after so long every bucket of @config is full again, so it equals none. */
uint64_t longest_refill_ns(const struct config *config);

/**
 * gate_warning - whether a bucket could be evicted before it is full again, since the slowest limit
 * needs a slower gate than this one; the sentence in @why names the limit and what would be proof.
 */
bool gate_warning(const struct policy *policy, uint32_t entries, const struct config *config,
		  struct complaint *why);

#endif
