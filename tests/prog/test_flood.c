// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* O-009, with both tables: no flood of invented sources, from two CPUs, gets a limited one a packet more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <arpa/inet.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include "prog.h"
#include "random.h"
#include "threads.h"
#include "units.h"
#include "yaml_policy.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define START	 (1000 * NS_PER_SECOND + 7)
#define LIMITED	 0xc0000201U /* sends all the time */
#define HONEST	 0xc0000202U /* sends within its limit */
#define PACKETS	 100000	     /* of each CPU */

struct flood {
	const char *name, *table;
	uint64_t sources;
	uint64_t step_ns; /* between two packets, of any CPU */
	uint64_t spares;  /* percent that pass of a source that was there and is within its limit */
};

/* A small LRU now and then forgets one that was seen 2 ms ago. */
static const struct flood floods[] = {
	{"lru behind its gate", "{type: lru, new-sources: auto}", 1024, 700, 100},
	{"lru behind its gate, slowly", "{type: lru, new-sources: auto}", 1024, 20000, 99},
	{"flat", "{type: flat}", 112, 700, 0},
	{"flat, one block", "{type: flat}", 7, 700, 0},
	{"flat, slowly", "{type: flat}", 112, 20000, 0},
	{"flat, when-full: drop", "{type: flat, when-full: drop}", 112, 700, 0},
	{"flat, when-full: pass", "{type: flat, when-full: pass}", 112, 700, 0},
};

struct traffic {
	struct limiter *limiter;
	uint64_t limited, honest, honest_sent; /* that passed, and how many were sent */
};

static void frame_of(struct frame *frame, uint32_t address)
{
	uint32_t source = htonl(address);

	frame_start(frame);
	frame_ethernet(frame);
	frame_ipv4(frame);
	frame_udp(frame);
	frame_pad_to(frame, 60);
	frame_finish(frame);
	memcpy(frame->bytes + 14 + 12, &source, sizeof(source));
}

static bool passes(struct limiter *limiter, uint32_t address)
{
	struct frame frame;

	frame_of(&frame, address);
	return send_frame(limiter, &frame) == XDP_PASS;
}

/* Sources without end, most of them more than once, which is what evicts; the others between them. */
static void send_flood(struct worker *worker)
{
	struct traffic *traffic = (struct traffic *)worker->context + worker->index;
	uint64_t seed = worker->index, next_ns = 0;

	for (uint32_t i = 0; i < PACKETS; i++) {
		uint32_t stranger = 0x0b000000 + (uint32_t)random_below(&seed, 1 + 2 * i) * 2 +
				    worker->index;

		if (i % 8 == 0)
			traffic->limited += passes(traffic->limiter, LIMITED);
		else
			passes(traffic->limiter, stranger);
		/* One CPU alone sends for the honest one, each two milliseconds. */
		if (worker->index || clock_now(traffic->limiter) < next_ns)
			continue;
		next_ns = clock_now(traffic->limiter) + 2000000;
		traffic->honest += passes(traffic->limiter, HONEST);
		traffic->honest_sent++;
	}
}

static void open_flood(struct limiter *limiter, const struct flood *flood)
{
	struct policy policy;
	char text[160];

	snprintf(text, sizeof(text), "table: %s\nlimits: [{name: x, rate: 1000 pps, burst: 20}]\n",
		 flood->table);
	yaml_policy(&policy, text);
	policy.sources = flood->sources;
	limiter_open(limiter, &policy, NULL);
	clock_set(limiter, START);
	assert_true(passes(limiter, HONEST));
}

static void keeps_the_bound(void **state)
{
	const struct flood *flood = *state;
	struct worker workers[WORKERS];
	struct counters counters;
	struct limiter limiter;
	struct traffic traffic[WORKERS] = {{.limiter = &limiter}, {.limiter = &limiter}};
	uint64_t passed, most;

	open_flood(&limiter, flood);
	clock_step(&limiter, flood->step_ns);
	run_on_two_cpus(send_flood, traffic, workers);
	clock_step(&limiter, 0);
	passed = traffic[0].limited + traffic[1].limited;
	most = 20 + (clock_now(&limiter) - START) / 1000000;
	counters_of(&limiter, &counters);
	print_message(
		"# %lu of at most %lu passed, %lu of %lu honest ones; %llu made, %llu evicted "
		"in debt\n",
		passed, most, traffic[0].honest, traffic[0].honest_sent, counters.events.created,
		counters.events.evicted_live);
	assert_in_range(passed, 1, most);
	assert_true(traffic[0].honest * 100 >= traffic[0].honest_sent * flood->spares);
	limiter_close(&limiter);
}

int main(void)
{
	struct CMUnitTest tests[COUNT(floods)];

	for (size_t i = 0; i < COUNT(floods); i++)
		tests[i] = (struct CMUnitTest){.name = floods[i].name,
					       .test_func = keeps_the_bound,
					       .initial_state = (void *)&floods[i]};
	return cmocka_run_group_tests_name("flood", tests, NULL, NULL);
}
