/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How long a check takes, of one packet in so many, where the policy asks for it. */
#ifndef XDP_LIMIT_MEASURE_H
#define XDP_LIMIT_MEASURE_H

#include "clock.h"
#include "maps.h"

INLINE struct durations *own_durations(void)
{
	__u32 index = 0;

	return bpf_map_lookup_elem(&durations, &index);
}

/*
 * When this packet's check began; 0 when it is not its turn. A call, so that the verifier takes it for any
 * number and walks through the pipeline once.
 */
__noinline __u64 start_measuring(void)
{
	struct durations *mine = own_durations();

	if (!mine)
		return 0;
	if (mine->left > 1) {
		mine->left--;
		return 0;
	}
	mine->left = config.measure;
	return clock_source();
}

INLINE __u32 duration_bucket(__u64 ns)
{
	__u32 bucket = 0;

	for (__u32 step = DURATION_BUCKETS / 2; step; step /= 2)
		if (ns >> (bucket + step))
			bucket += step;
	return bucket % DURATION_BUCKETS;
}

__noinline int end_measuring(__u64 started_ns)
{
	struct durations *mine = own_durations();
	__u64 ns = clock_source() - started_ns;

	if (!mine)
		return 0;
	mine->counts[ns >> (DURATION_BUCKETS - 1) ? DURATION_BUCKETS - 1 : duration_bucket(ns)]++;
	mine->sum_ns += ns;
	return 0;
}

#endif
