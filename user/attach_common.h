/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From a policy to the limiter that runs it: what attach and apply have in common. */
#ifndef XDP_LIMIT_ATTACH_COMMON_H
#define XDP_LIMIT_ATTACH_COMMON_H

#include "exit_status.h"
#include "kernel.h"

/**
 * attach_policy - guard the SSH peer, switch the policy in, and say what runs now, or what is wrong. With an
 * interface that shares its table come all others that do, so request->targets has room for TARGETS_MAX;
 * @wait_ns is for the table's lock. One that refuses native mode gets generic mode where @may_fall_back.
 * Returns the exit status.
 */
enum exit_status attach_policy(struct attach_request *request, uint64_t wait_ns,
			       bool may_fall_back);

/** parse_confirm - the value of --confirm, NULL for 0: 0, or -EINVAL or -ERANGE with a sentence. */
int parse_confirm(const char *text, uint64_t *confirm_ns, struct complaint *why);

#endif
