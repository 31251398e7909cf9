/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Our members of a dispatcher of libxdp; for kernel_*.c only. */
#ifndef XDP_LIMIT_KERNEL_DISPATCHER_H
#define XDP_LIMIT_KERNEL_DISPATCHER_H

#include "kernel.h"

struct bpf_object;
struct bpf_program;

/**
 * dispatcher_look - when @attachment is a dispatcher, fill in its members; the one of ours that was switched to
 * becomes @attachment's program. 0, also when it is no dispatcher; -errno.
 */
int dispatcher_look(struct attachment *attachment);

/* A member to be. It judges nothing before its generation is written. */
struct joining {
	unsigned int ifindex;
	bool generic;
	unsigned int priority;
	struct bpf_object *object; /* opened and sized, with nothing loaded */
	struct bpf_program *program;
};

/**
 * dispatcher_join - load the member and put it into the dispatcher, which is made when there is none.
 * 0; -EOPNOTSUPP: the kernel has no dispatchers; -ENOENT: libxdp's object is not installed; -EEXIST: the
 * dispatcher is of the other mode; -EBUSY: what is attached is no dispatcher, or can't be changed; -E2BIG:
 * it is full; -errno.
 */
int dispatcher_join(const struct joining *joining);

/**
 * dispatcher_leave - take all members that are ours out, except for the program @kept (0: none). The
 * dispatcher goes with its last member. 0, also when there were none; -errno.
 */
int dispatcher_leave(unsigned int ifindex, uint32_t kept);

/** dispatcher_log_start - libxdp's messages too go where kernel_log_start() has libbpf's go. */
void dispatcher_log_start(void);

#endif
