/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What removed interfaces have left pinned: whole tables. */
#ifndef XDP_LIMIT_SWEEP_H
#define XDP_LIMIT_SWEEP_H

/**
 * sweep_gone - remove it, in the name of all network namespaces: many end without a command in them. What can't
 * be removed now is left to the next command that changes.
 */
void sweep_gone(void);

#endif
