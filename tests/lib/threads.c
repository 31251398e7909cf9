// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Work on several CPUs at once: pinned, and started together. */
#include "threads.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

/* Beyond this the other worker is not running: on a busy machine it needs the CPU to come here. */
#define SPINS_BEFORE_YIELD 20000

struct start {
	struct worker *worker;
	void (*work)(struct worker *worker);
	struct meeting *meeting;
};

static cpu_set_t allowed;
static bool allowed_known;

static const cpu_set_t *allowed_cpus(void)
{
	if (!allowed_known)
		assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	allowed_known = true;
	return &allowed;
}

/* The number of the @index-th CPU that this process may use, or -1. */
static int nth_cpu(unsigned int index)
{
	const cpu_set_t *set = allowed_cpus();

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, set) && !index--)
			return cpu;
	return -1;
}

static int need_cpu(unsigned int index)
{
	int cpu = nth_cpu(index);

	if (cpu < 0) {
		print_message("# skipped: needs %u CPUs\n", index + 1);
		skip();
	}
	return cpu;
}

static int pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
}

void stay_on_cpu(unsigned int index)
{
	assert_int_equal(pin(need_cpu(index)), 0);
}

void leave_cpu(void)
{
	assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof(allowed), allowed_cpus()),
			 0);
}

void meet(struct meeting *meeting)
{
	unsigned int round = atomic_load(&meeting->round), spins = 0;

	if (atomic_fetch_add(&meeting->arrived, 1) + 1 == WORKERS) {
		atomic_store(&meeting->arrived, 0);
		atomic_fetch_add(&meeting->round, 1);
		return;
	}
	while (atomic_load_explicit(&meeting->round, memory_order_acquire) == round)
		if (++spins > SPINS_BEFORE_YIELD)
			sched_yield();
}

static void *run(void *argument)
{
	struct start *start = argument;
	bool pinned = !pin(start->worker->cpu);

	meet(start->meeting);
	if (pinned)
		start->work(start->worker);
	return pinned ? start : NULL;
}

void run_on_two_cpus(void (*work)(struct worker *worker), void *context,
		     struct worker workers[WORKERS])
{
	struct meeting meeting = {0};
	struct start starts[WORKERS];
	pthread_t threads[WORKERS];
	void *done;

	for (unsigned int i = 0; i < WORKERS; i++) {
		workers[i] = (struct worker){.index = i, .cpu = need_cpu(i), .context = context};
		starts[i] = (struct start){&workers[i], work, &meeting};
	}
	for (unsigned int i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run, &starts[i]), 0);
	for (unsigned int i = 0; i < WORKERS; i++) {
		assert_int_equal(pthread_join(threads[i], &done), 0);
		assert_non_null(done);
	}
}
