/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether the packets that were measured ended as the column promises: by the limiter's counters. */
#ifndef BENCH_MIX_H
#define BENCH_MIX_H

#include "bench_object.h"

enum mix {
	MIX_ANY,
	MIX_DROPPED, /* over a limit */
	MIX_PASSED,  /* within it */
	MIX_CLOSED,  /* new, and the gate was closed */
	MIX_DENIED,
	MIX_MALFORMED,
};

#define MIX_LEAST 0.98

/**
 * mix_start, mix_check - ends the program when too few of the packets between them were @mix; with
 * @anyhow only says so.
 */
void mix_start(const struct bench *bench, struct counters *before);
void mix_check(const struct bench *bench, const struct counters *before, enum mix mix,
	       const char *what, bool anyhow);

#endif
