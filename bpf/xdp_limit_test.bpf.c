// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* For tests only: the same pipeline on a clock that the test sets. */
#include "frame_facts.h"
#include "programs.h"

/* Each reading returns ns and moves it on by step_ns. */
struct test_clock {
	__u64 ns;
	__u64 step_ns;
} test_clock = {.ns = 1};

INLINE __u64 clock_source(void)
{
	return FETCH_ADD(&test_clock.ns, READ_ONCE(test_clock.step_ns));
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
