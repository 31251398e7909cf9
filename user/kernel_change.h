/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One interface on its way to another program; for kernel_*.c only. */
#ifndef XDP_LIMIT_KERNEL_CHANGE_H
#define XDP_LIMIT_KERNEL_CHANGE_H

#include "kernel.h"
#include "kernel_load.h"

struct change {
	struct attach_target *target;
	struct running running; /* before */
	bool readable;		/* it is ours, and of this ABI */
	bool kept;		/* its table goes on */
	struct loaded loaded;	/* after */
	int old;  /* the program that was there, held so that it can be put back; -1 */
	int link; /* once the new program runs; else -1 */
};

/* ---- the hook and the pins (kernel_switch.c) ---- */

/** Whether the link is updated, so that every packet meets the old or the new program. */
bool switches_in_place(const struct change *change);
/** switch_over - the new program takes the hook, and its pins are put in place: 0 or -errno. */
int switch_over(struct change *change, struct refusal *refusal);
/** switch_back - hook and pins as before, however far switch_over() came; says what it can't do. */
void switch_back(struct change *change);
/** switch_finish - once all is done: what was switched off leaves its dispatcher, unless it may come back. */
void switch_finish(const struct change *change, bool on_trial);
/** switch_leave - what was put into a dispatcher leaves it, when the new program doesn't come to run. */
void switch_leave(const struct change *change);
/** switch_to_former - @former takes the place of @running, which was on trial: 0 or -errno. */
int switch_to_former(unsigned int ifindex, const struct running *running,
		     const struct running *former);

/* ---- what the maps say of the program that is about to run (kernel_state.c) ---- */

/**
 * state_write - guards, switches and the table's identity. Before the switch: from here on the older
 * program repairs no word any more. 0 or -errno.
 */
int state_write(const struct attach_request *request, const struct loaded *loaded);
/** state_generation - of the newest program on the table of @running; 0 when it can't be read. */
uint64_t state_generation(const struct running *running);
/** state_restore - the old program's view of its table: when the new one didn't come to run. */
void state_restore(const struct change *change);
/** state_end_guards - nobody is exempt any more. */
void state_end_guards(const struct loaded *loaded);

#endif
