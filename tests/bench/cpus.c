// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A batch on one CPU or on several at once. */
#include "cpus.h"

#include <err.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include "measure.h"

#define CPUS_MAX 2
/* A packet's wall time may be so much more than what it had of the CPU; else somebody else had it. */
#define WALL_MORE 1.03
#define ROUNDED	  1 /* ns */
#define OVERHEADS 20

struct runner {
	const struct contestant *contestant;
	pthread_barrier_t *start;
	unsigned int index;
	uint32_t packets;
	double overhead_ns;
	double ns; /* of one packet */
	bool disturbed;
};

static cpu_set_t usable;

unsigned int cpus_usable(void)
{
	if (!CPU_COUNT(&usable) && sched_getaffinity(0, sizeof(usable), &usable))
		err(1, "sched_getaffinity");
	return CPU_COUNT(&usable);
}

/* From the last one down: the first one has most of the machine's interrupts. */
void stay_on(unsigned int index)
{
	unsigned int wanted = cpus_usable() - 1 - index;
	cpu_set_t one;

	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &usable) && !wanted--)
			CPU_SET(cpu, &one);
	if (pthread_setaffinity_np(pthread_self(), sizeof(one), &one))
		errx(1, "cannot stay on one CPU");
}

static void *run(void *argument)
{
	struct runner *runner = argument;
	const struct contestant *contestant = runner->contestant;
	double cpu, wall;

	stay_on(runner->index);
	pthread_barrier_wait(runner->start);
	cpu = cpu_ns();
	wall = bench_run(contestant->bench, contestant->program, contestant->frame,
			 runner->packets);
	runner->ns = (cpu_ns() - cpu - runner->overhead_ns) / runner->packets;
	runner->disturbed = wall > runner->ns * WALL_MORE + ROUNDED;
	return NULL;
}

/*
 * What a run costs this thread without its packets. The kernel changes a table of programs before and
 * after, and waits for all CPUs then: milliseconds of wall time, microseconds of CPU time. So it is CPU
 * time that counts here.
 */
static double overhead(const struct contestant *contestant)
{
	double least = 1e9;

	for (int i = 0; i < OVERHEADS; i++) {
		double start = cpu_ns();

		bench_run(contestant->bench, contestant->program, contestant->frame, 2);
		least = fmin(least, cpu_ns() - start);
	}
	return least;
}

double batch_on_cpus(void *context, uint32_t packets, bool *disturbed)
{
	static double overhead_ns;
	const struct contestant *contestant = context;
	struct runner runners[CPUS_MAX];
	pthread_t threads[CPUS_MAX];
	pthread_barrier_t start;
	double sum = 0;

	if (!overhead_ns)
		overhead_ns = overhead(contestant);
	*disturbed = false;
	pthread_barrier_init(&start, NULL, contestant->cpus);
	for (unsigned int i = 0; i < contestant->cpus; i++) {
		runners[i] = (struct runner){
			.contestant = contestant,
			.start = &start,
			.index = i,
			.packets = packets,
			.overhead_ns = overhead_ns,
		};
		if (pthread_create(&threads[i], NULL, run, &runners[i]))
			errx(1, "cannot start a thread");
	}
	for (unsigned int i = 0; i < contestant->cpus; i++) {
		pthread_join(threads[i], NULL);
		sum += runners[i].ns;
		*disturbed |= runners[i].disturbed;
	}
	pthread_barrier_destroy(&start);
	return sum / contestant->cpus;
}
