/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which capabilities this process has, for messages that name a missing one. */
#ifndef XDP_LIMIT_CAPABILITIES_H
#define XDP_LIMIT_CAPABILITIES_H

#include <stdint.h>

/** Bits by CAP_* number; 0 when the kernel doesn't say. */
uint64_t effective_capabilities(void);

#endif
