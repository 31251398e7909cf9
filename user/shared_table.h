/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The interfaces that share one table. */
#ifndef XDP_LIMIT_SHARED_TABLE_H
#define XDP_LIMIT_SHARED_TABLE_H

#include <stddef.h>
#include "kernel.h"

struct members {
	size_t count;
	struct attach_target list[TARGETS_MAX]; /* each in the mode that it runs in */
	/* Of each; all the same, unless a command was killed between two of them: */
	uint64_t generation[TARGETS_MAX];
	uint64_t made_ns[TARGETS_MAX];
};

/** members_find - who shares the table @name in this network namespace: 0 or -errno. */
int members_find(const char *name, struct members *members);

/** check_shared_name - of --share-table: 0, or -EINVAL with a sentence in @why. */
int check_shared_name(const char *name, struct complaint *why);

/**
 * share_table - make the targets of @request those of one shared table, under its lock: of the table
 * request->shared_name, or without one of the table that they share already, if they do. With a target
 * that has it come all others that have it, so that one policy runs on all. request->targets has room for
 * TARGETS_MAX. Returns 0, or -errno with a sentence in @why.
 */
int share_table(struct attach_request *request, uint64_t wait_ns, struct complaint *why);

#endif
