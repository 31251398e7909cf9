/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the exit status of every command means. */
#ifndef XDP_LIMIT_EXIT_STATUS_H
#define XDP_LIMIT_EXIT_STATUS_H

#include <stdbool.h>

enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,	       /* bad usage or configuration */
	EXIT_NOT_ATTACHED = 3, /* not attached, or not ours */
	EXIT_UNSUPPORTED = 4,  /* not supported here */
	EXIT_BUSY = 5,	       /* a foreign program, or another command's lock */
};

/** exit_worse - of several interfaces the first failure counts; that one is not attached is none, if there is another. */
static inline enum exit_status exit_worse(enum exit_status so_far, enum exit_status next)
{
	bool open = so_far == EXIT_DONE || so_far == EXIT_NOT_ATTACHED;

	return next != EXIT_DONE && open ? next : so_far;
}

#endif
