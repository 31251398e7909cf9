// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The program that is attached: the pipeline on the boot clock. */
#include "programs.h"

INLINE __u64 clock_source(void)
{
	return bpf_ktime_get_boot_ns();
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
