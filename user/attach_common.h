/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From a policy to the limiter that runs it: what attach and apply have in common. */
#ifndef XDP_LIMIT_ATTACH_COMMON_H
#define XDP_LIMIT_ATTACH_COMMON_H

#include "exit_status.h"
#include "kernel.h"

enum mode_word {
	WORD_NATIVE,
	WORD_GENERIC,
	WORD_AUTO, /* generic where native is refused */
};

/* All say what is wrong, and return the exit status to end with then. */

/** find_interface - by its name, waiting for it at most @wait_ns. */
enum exit_status find_interface(const char *name, uint64_t wait_ns, struct netdev *netdev);
/** check_interface - whether a limiter makes sense there. */
enum exit_status check_interface(const struct netdev *netdev);
/** prepare_change - make bpffs ready and be the only command that changes this interface. */
enum exit_status prepare_change(const struct netdev *netdev, uint64_t wait_ns);
/** attach_policy - guard the SSH peer, switch the policy in, and say what runs now. */
enum exit_status attach_policy(struct attach_request *request, enum mode_word mode);

/** parse_confirm - the value of --confirm, NULL for 0: 0, or -EINVAL or -ERANGE with a sentence. */
int parse_confirm(const char *text, uint64_t *confirm_ns, struct complaint *why);

/** note_meaning - what the operator of a first limiter should know. */
void note_meaning(const struct policy *policy, const struct netdev *netdev, bool generic);

#endif
