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
 * target_look - find the interface and our limiter on it. Returns EXIT_DONE, or the exit status that a
 * command would end with and a sentence in @why. target_close() only after EXIT_DONE.
 */
enum exit_status target_look(const char *name, struct target *target, struct complaint *why);

/**
 * target_look_locked - the same as the only one that changes this interface, until lock_release(), or
 * the process ends; waits for another one at most @wait_ns. The lock is held only after EXIT_DONE.
 */
enum exit_status target_look_locked(const char *name, uint64_t wait_ns, struct target *target,
				    struct complaint *why);

/* trial_settle() or trial_settle_quietly() */
typedef int trial_settler(unsigned int ifindex, const struct running *running);

/**
 * target_settle - a trial that nobody confirmed is over in the kernel already; the first to see it makes
 * link and pins say so too, and @target is what runs then. 0 or -errno; *@settled: it was such a trial.
 */
int target_settle(struct target *target, trial_settler *settle, bool *settled);

/** target_open, target_open_locked - the same for a command: what is wrong goes to stderr. */
enum exit_status target_open(const char *name, struct target *target);
enum exit_status target_open_locked(const char *name, uint64_t wait_ns, struct target *target);
void target_close(struct target *target);

typedef enum exit_status target_work(const struct invocation *invocation,
				     const struct target *target);

/** target_run - open the target of the first positional, do @work on it, and close it. */
enum exit_status target_run(const struct invocation *invocation, target_work *work);

/**
 * attached_visit - call @visit for each interface of this network namespace that has a limiter of ours,
 * and, with an @err, for each that could not be asked. A non-zero result of @visit ends the walk and is
 * returned; else 0 or -errno.
 */
int attached_visit(int (*visit)(const struct netdev *netdev, int err, void *context),
		   void *context);

/** lock_shared - lock_table() for the table of @running, if it is a shared one. */
int lock_shared(const struct running *running, uint64_t wait_ns, struct complaint *why);

/** The exit status that a refusal of the lock or of an argument stands for. */
enum exit_status status_of_error(int err);

/** What to say after the text of @err, which came from looking at what is attached; "" for nothing. */
const char *permission_hint(int err);

#endif
