/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Gives up what a process that goes on for long has no use for. */
#ifndef XDP_LIMIT_PRIVILEGES_H
#define XDP_LIMIT_PRIVILEGES_H

#include <stdint.h>
#include "complaint.h"

/**
 * privileges_keep - of all capabilities keep those that bits of @kept stand for, as far as this process
 * has them, and none that a program could get back by exec. 0 or -errno with a sentence.
 */
int privileges_keep(uint64_t kept, struct complaint *why);

#endif
