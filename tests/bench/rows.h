/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Results, one line of JSON each; scripts/bench.sh makes the published files of them. */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

#include "measure.h"

struct row {
	const char *kind; /* program, path, extra */
	const char *limiter;
	const char *sources;
	unsigned int cpus;
	unsigned int family;
};

/** write_row - to stdout: what @subject measured as @row. */
void write_row(const struct row *row, const struct subject *subject);

/** say - progress, to stderr. */
#define say(...) fprintf(stderr, __VA_ARGS__)

#endif
