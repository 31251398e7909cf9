/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A program that is loaded and not yet attached; for kernel_*.c only. */
#ifndef XDP_LIMIT_KERNEL_LOAD_H
#define XDP_LIMIT_KERNEL_LOAD_H

#include "kernel.h"

struct bpf_object;

struct loaded {
	struct bpf_object *object;
	struct config *config;	     /* its read-only data, until it is loaded */
	struct table_identity table; /* to be written to the table map */
	uint64_t generation;
	uint64_t live_lists; /* of the table before, when its lists go on in a fresh one */
	int maps[MAP_COUNT]; /* owned by the object, but for MAP_TEXT and MAP_LIVE_SET */
	int program;
	bool joined; /* it stands in a dispatcher already, and has to leave it when something fails */
};

/* What a program goes on with; NULL for what it has not. */
struct heritage {
	const struct running *own;   /* on the same interface: its counters and its own words */
	const struct running *table; /* the table; NULL for a fresh one */
	const struct running *lists; /* live lists and bans, over a fresh table */
	const struct loaded *first;  /* loaded just before, and to be on the same table */
	uint64_t generation;
	int previous; /* the program that a trial falls back to; -1: to passing everything */
};

/**
 * kernel_load - compile @request's policy for @target and load its program on what it inherits. Nothing
 * of that changes. Errors as kernel_attach(). kernel_unload() in every case.
 */
int kernel_load(const struct attach_request *request, const struct attach_target *target,
		const struct heritage *heritage, struct loaded *loaded, struct refusal *refusal,
		struct complaint *why);
void kernel_unload(struct loaded *loaded);

/** refuse - note at which step the kernel refused, with what it said; returns @err. */
int refuse(struct refusal *refusal, enum attach_step step, int err);

#endif
