/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One changing command at a time for an interface, or for a table that interfaces share. */
#ifndef XDP_LIMIT_LOCK_H
#define XDP_LIMIT_LOCK_H

#include <stdint.h>
#include "complaint.h"

#define LOCKS_MAX 64 /* that one process holds at once */

/**
 * lock_take - take the lock of @ifindex in the current network namespace, waiting for at most @wait_ns (with
 * SIGALRM and its timer). Returns what to close() then; -EBUSY with a sentence in @why when another command
 * holds it; -errno with @why.
 */
int lock_take(unsigned int ifindex, const char *name, uint64_t wait_ns, struct complaint *why);

/** lock_possible - whether there is, or could be made, a directory for locks: 0, or -errno with a sentence in @why. */
int lock_possible(struct complaint *why);

/** lock_take_table - the same for a table that interfaces share; taken after the lock of one of them. */
int lock_take_table(const char *table, uint64_t wait_ns, struct complaint *why);

/** lock_interface - lock_take() for a command, until lock_release() or the process ends: 0 or -errno with @why. */
int lock_interface(unsigned int ifindex, const char *name, uint64_t wait_ns, struct complaint *why);

/**
 * lock_table - the same for a table that interfaces share. Always taken after the lock of an interface, so
 * that nobody waits in a circle; who holds it may change all interfaces that share it. Nothing happens when
 * this process holds it already.
 */
int lock_table(const char *name, uint64_t wait_ns, struct complaint *why);

/**
 * lock_release - let go of the lock taken last, of those that are still held, if any is; with a table's of
 * the interface's taken before it.
 */
void lock_release(void);

/** parse_wait - the value of --wait, NULL for 0: 0, or -EINVAL or -ERANGE with a sentence. */
int parse_wait(const char *text, uint64_t *wait_ns, struct complaint *why);

#endif
