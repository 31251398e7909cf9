/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The clock of programs that are attached. */
#ifndef XDP_LIMIT_BOOT_CLOCK_H
#define XDP_LIMIT_BOOT_CLOCK_H

#include "clock.h"

INLINE __u64 clock_source(void)
{
	return bpf_ktime_get_boot_ns();
}

#endif
