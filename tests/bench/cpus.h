/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A batch on one CPU or on several at once. */
#ifndef BENCH_CPUS_H
#define BENCH_CPUS_H

#include "bench_object.h"

struct contestant {
	struct bench *bench;
	enum bench_program program;
	const struct frame *frame;
	unsigned int cpus;
};

/** stay_on - this thread runs on the CPU with this index: 0 is the last that the process may use. */
void stay_on(unsigned int index);

/** cpus_usable - how many this process may use. */
unsigned int cpus_usable(void);

/**
 * batch_on_cpus - for measure(): each CPU of @context, a struct contestant, runs @packets packets.
 * CPU time of a packet of one CPU, their mean. Disturbed: another process had one of them meanwhile.
 */
double batch_on_cpus(void *context, uint32_t packets, bool *disturbed);

#endif
