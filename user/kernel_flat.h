/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The flat table as commands see it; for kernel_read.c. */
#ifndef XDP_LIMIT_KERNEL_FLAT_H
#define XDP_LIMIT_KERNEL_FLAT_H

#include "kernel.h"

/** flat_read - what @key's source has or, as a newcomer, would find under @limit. 0 or -errno. */
int flat_read(const struct running *running, const struct bucket_key *key, unsigned int limit,
	      struct bucket *bucket);

/** flat_walk - read_buckets() of a flat table: the sources that lost packets. */
int flat_walk(const struct running *running,
	      int (*visit)(const struct bucket *bucket, void *context), void *context);

/** flat_occupancy - over all regions at @now_ns (boot clock): 0 or -errno. */
int flat_occupancy(const struct running *running, uint64_t now_ns, struct occupancy *occupancy);

/** flat_reset_source - free the slots of a source; returns how many it had, or -errno. */
int64_t flat_reset_source(const struct running *running, const struct address *address);

/** flat_reset_all - free all slots; returns how many had an owner, or -errno. */
int64_t flat_reset_all(const struct running *running);

#endif
