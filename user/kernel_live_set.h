/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The hash of the commands' addresses, which grows by being replaced; for kernel_*.c only. */
#ifndef XDP_LIMIT_KERNEL_LIVE_SET_H
#define XDP_LIMIT_KERNEL_LIVE_SET_H

#include "kernel.h"

/**
 * live_set_prepare - the first, empty set of @outer: a descriptor, or -errno; -EEXIST when it has a set
 * already.
 */
int live_set_prepare(int outer);

/**
 * live_set_find - the set that stands in @outer now, by its pin for @ifindex or by its id: a descriptor,
 * or -errno.
 */
int live_set_find(unsigned int ifindex, int outer);

/** live_set_open - the set that packets ask now: a descriptor, or -errno. */
int live_set_open(const struct running *running);

/**
 * live_set_grow - put a copy of *@set with room for @more addresses in its place; *@set is that one
 * then. Under the interface's lock. 0; -E2BIG when it is as large as it may be; -errno.
 */
int live_set_grow(const struct running *running, int *set, size_t more);

/** live_set_renew - back to the first size, where we may; the set is empty. 0 or -errno. */
int live_set_renew(const struct running *running, int set);

#endif
