/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An opened object and its maps; for kernel_*.c and for tests of the program. */
#ifndef XDP_LIMIT_KERNEL_OBJECT_H
#define XDP_LIMIT_KERNEL_OBJECT_H

#include <bpf/libbpf.h>
#include "kernel.h"

/** object_share_maps - load @object on the maps of another program: 0 or -errno. */
int object_share_maps(struct bpf_object *object, const int maps[MAP_COUNT]);

/** object_fresh_maps - a bucket table for @table, typed for bpftool; the rest as declared. */
int object_fresh_maps(struct bpf_object *object, const struct table_identity *table);

/**
 * object_load - verify and load; @maps gets the file descriptors, which the object owns.
 * Returns the program's file descriptor, or -errno.
 */
int object_load(struct bpf_object *object, bool xdp_frags, int maps[MAP_COUNT]);

#endif
