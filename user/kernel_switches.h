/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The few words that a running program looks at before anything else; for kernel_*.c only. */
#ifndef XDP_LIMIT_KERNEL_SWITCHES_H
#define XDP_LIMIT_KERNEL_SWITCHES_H

#include "kernel.h"

/** switches_read - those in @maps of a limiter: 0 or -errno. */
int switches_read(const int maps[MAP_COUNT], struct switches *switches);
/** switches_write - all of them at once, so under the lock of who may change them: 0 or -errno. */
int switches_write(const int maps[MAP_COUNT], const struct switches *switches);

#endif
