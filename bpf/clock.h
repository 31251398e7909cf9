/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Time as an argument: read at most once for a packet, and only when a stage first needs it. */
#ifndef XDP_LIMIT_CLOCK_H
#define XDP_LIMIT_CLOCK_H

#include "common.h"

/*
 * Each object provides its own: the real one reads the boot clock, which counts suspend; the
 * one for tests reads a variable.
 */
INLINE __u64 clock_source(void);

struct clock {
	__u64 ns; /* 0: not read yet */
};

/** Nanoseconds since boot, the same for a packet's whole way. Half of the hot path's cost. */
INLINE __u64 clock_ns(struct clock *clock)
{
	if (!clock->ns)
		clock->ns = clock_source();
	return clock->ns;
}

#endif
