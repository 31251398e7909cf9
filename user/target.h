/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From an interface's name to the limiter that runs on it, with what there is to say if none does. */
#ifndef XDP_LIMIT_TARGET_H
#define XDP_LIMIT_TARGET_H

#include "exit_status.h"
#include "kernel.h"
#include "netdev.h"

struct invocation;

struct target {
	struct netdev netdev;
	struct running running;
};

/**
 * target_open - find the interface and our limiter on it; says what is wrong otherwise.
 * Returns EXIT_DONE or the exit status to end with. target_close() only after EXIT_DONE.
 */
enum exit_status target_open(const char *name, struct target *target);

/**
 * target_open_locked - the same as the only command that changes this interface, until the process
 * ends; waits for another one at most @wait_ns.
 */
enum exit_status target_open_locked(const char *name, uint64_t wait_ns, struct target *target);
void target_close(struct target *target);

typedef enum exit_status target_work(const struct invocation *invocation,
				     const struct target *target);

/** target_run - open the target of the first positional, do @work on it, and close it. */
enum exit_status target_run(const struct invocation *invocation, target_work *work);

/** The exit status that a refusal of the lock or of an argument stands for. */
enum exit_status status_of_error(int err);

/** What to say after the text of @err, which came from looking at what is attached; "" for nothing. */
const char *permission_hint(int err);

#endif
