/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the maps of a limiter take of the kernel's memory; pure. */
#ifndef XDP_LIMIT_MEMORY_H
#define XDP_LIMIT_MEMORY_H

#include <stdint.h>
#include "abi.h"
#include "policy.h"

/** penalty_entries - the size of the penalty box: next to nothing where nobody uses it. */
uint32_t penalty_entries(const struct config *config);

/** memory_base - of a limiter that uses nothing but its table: everything else. */
uint64_t memory_base(unsigned int possible_cpus);

/**
 * memory_limiter - bytes that all maps together take at most, before any live list or buckets come:
 * both are made at once. The formula is in docs/design.md, and a test holds the kernel to it.
 */
uint64_t memory_limiter(const struct table_identity *table, const struct policy *policy,
			const struct config *config, unsigned int possible_cpus);

#endif
