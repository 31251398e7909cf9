/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which capabilities this process has, for messages that name a missing one. */
#ifndef XDP_LIMIT_CAPABILITIES_H
#define XDP_LIMIT_CAPABILITIES_H

#include <stdbool.h>
#include <stdint.h>

/** Bits by CAP_* number; 0 when the kernel doesn't say. */
uint64_t effective_capabilities(void);
/** Whether this process may make maps: CAP_BPF, or what stands in for it. */
bool may_make_maps(void);

/** root_hint - what to add to a refused system call's error for who isn't root; else nothing. */
const char *root_hint(int err);

#endif
