/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opening what the kernel names by an id; for kernel_*.c only. */
#ifndef XDP_LIMIT_KERNEL_OPEN_H
#define XDP_LIMIT_KERNEL_OPEN_H

#include <stdint.h>

/*
 * By a pin of @ifindex where one of them is the object with that id, which takes no capability; else by
 * the id, which takes CAP_SYS_ADMIN. A descriptor, or -errno: -ENOENT when there is none with that id.
 */
int open_program(unsigned int ifindex, uint32_t id);
int open_link(unsigned int ifindex, uint32_t id);
/** @name: of its pin. */
int open_map(unsigned int ifindex, const char *name, uint32_t id);

#endif
