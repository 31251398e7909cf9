/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The error mapper: a refusal of the kernel becomes one line that says what to do. */
#ifndef XDP_LIMIT_EXPLAIN_H
#define XDP_LIMIT_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>
#include "complaint.h"
#include "exit_status.h"
#include "netdev.h"

enum attach_step {
	STEP_PROBE, /* asking the kernel what it can do */
	STEP_FIND,  /* opening what is attached, and looking whose it is */
	STEP_CREATE_MAP,
	STEP_LOAD, /* BPF_PROG_LOAD: the verifier */
	STEP_LINK, /* BPF_LINK_CREATE or update */
	STEP_JOIN, /* a dispatcher of libxdp */
	STEP_FILL, /* writing policy and state into maps that are made */
	STEP_PIN,
};

/* Everything known about a refusal; pure data, so each case is a unit test. */
struct refusal {
	enum attach_step step;
	int err;		 /* negative errno */
	const char *kernel_text; /* extack or verifier sentence; NULL when there is none */
	bool generic;		 /* the mode that was tried */
	const struct netdev *netdev;
	bool memlock_unlimited;	  /* no hint at memlock then */
	bool kernel_pre_5_11;	  /* memlock accounting */
	uint64_t effective_caps;  /* CapEff bits */
	uint64_t memory_estimate; /* bytes, for STEP_CREATE_MAP */
	const char *map_name;	  /* for STEP_CREATE_MAP */
};

/**
 * explain_refusal - write "cannot ATTEMPT on OBJECT: REASON; WHAT TO TRY" into @line.
 * Returns the exit status: EXIT_UNSUPPORTED, EXIT_BUSY or EXIT_FAILED.
 */
enum exit_status explain_refusal(const struct refusal *refusal, struct complaint *line);

/** refusal_allows_generic - whether --mode auto may go on in generic mode after this refusal. */
bool refusal_allows_generic(const struct refusal *refusal);

#endif
