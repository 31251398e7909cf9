/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which of an answer's limits speaks, and what it says: over HTTP and to applications. */
#ifndef XDP_LIMIT_VERDICT_H
#define XDP_LIMIT_VERDICT_H

#include "answer.h"

/* Which of the limits speaks, and what it says. */
struct verdict {
	int limit;		    /* index; -1: none is there to speak */
	bool refused;		    /* what it sends now is dropped */
	double retry_after_seconds; /* until the smallest packet passes; INFINITY: never; 0: now */
};

/**
 * verdict_of - the tightest of @answer's limits, or of the one with index @only unless that is -1: the
 * one that refuses longest, else the one with the least share of its burst left, else the first. Limits
 * that only observe, and all of them in a dry run, refuse nothing and don't speak unless asked for.
 */
void verdict_of(const struct answer *answer, int only, struct verdict *verdict);

#endif
