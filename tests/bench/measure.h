/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a packet costs, from batches: several subjects in turn, outliers dropped, medians. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLES_MAX 64

struct effort {
	double batch_ns;     /* of the shorter batches; half of all are twice as long */
	unsigned int rounds; /* at most SAMPLES_MAX */
	unsigned int tries;  /* to get proportional times */
	bool anyhow;	     /* take what a busy machine gives: only to see that it runs */
};

extern const struct effort thorough, quick;

struct subject {
	const char *name;
	/* Runs @packets packets; nanoseconds of one. @disturbed: something else ran meanwhile. */
	double (*batch)(void *context, uint32_t packets, bool *disturbed);
	void *context;
	uint32_t run_in; /* packets, at least, before each batch: others had the caches meanwhile */

	/* For measure() to fill. */
	double ns;	   /* median */
	double spread;	   /* of the samples that were kept: (largest - smallest) / median */
	double proportion; /* of a packet's time in batches of 2N and of N: 1 when they are honest */
	unsigned int kept, dropped;
	uint32_t packets; /* N */
	double samples[2][SAMPLES_MAX];
	unsigned int counts[2];
};

/** measure - all @subjects, a batch of each in turn, so that noise meets all of them alike. */
void measure(struct subject *subjects, size_t count, const struct effort *effort);

/** cpu_ns - what this thread had of its CPU. */
double cpu_ns(void);

#endif
