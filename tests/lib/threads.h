/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Work on several CPUs at once: pinned, and started together. */
#ifndef TESTS_THREADS_H
#define TESTS_THREADS_H

#include <stdatomic.h>
#include <stdint.h>

/* Workers can't fail a test themselves: cmocka knows only its own thread. They return results. */
#define WORKERS 2

struct worker {
	unsigned int index; /* 0 .. WORKERS - 1, each on a CPU of its own */
	int cpu;
	void *context;
	uint64_t result; /* for the work to fill */
};

/**
 * Runs @work on two CPUs at once and waits for both. Skips the running cmocka test, saying why,
 * where there is only one CPU. The calling thread is where it was afterwards.
 */
void run_on_two_cpus(void (*work)(struct worker *worker), void *context,
		     struct worker workers[WORKERS]);

/** Pins the calling thread to the first (0) or second (1) CPU that it may use, or skips. */
void stay_on_cpu(unsigned int index);
/** Lets the calling thread go where it might go at first. */
void leave_cpu(void);

/* Both workers meet here, as close together as CPUs can; good for any number of rounds. */
struct meeting {
	atomic_uint arrived;
	atomic_uint round;
};

void meet(struct meeting *meeting);

#endif
