/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What removed interfaces of this network namespace have left pinned: whole tables. */
#ifndef XDP_LIMIT_SWEEP_H
#define XDP_LIMIT_SWEEP_H

/** sweep_gone - remove it; what can't be removed now is left to the next command that changes. */
void sweep_gone(void);

#endif
