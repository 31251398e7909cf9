/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of attaching that trials use too; for kernel_*.c only. */
#ifndef XDP_LIMIT_KERNEL_ATTACH_H
#define XDP_LIMIT_KERNEL_ATTACH_H

#include "kernel.h"

/** attach_former - switch the link of @running to @former and pin it: 0 or -errno. */
int attach_former(unsigned int ifindex, const struct running *running,
		  const struct running *former);

#endif
