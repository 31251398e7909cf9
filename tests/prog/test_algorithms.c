// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* All five algorithms through the real program, on one and on two CPUs, under a clock that is set. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <arpa/inet.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include "algorithm.h"
#include "prog.h"
#include "threads.h"
#include "units.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define MS	 1000000ULL
#define SECOND	 NS_PER_SECOND
#define START	 (1000 * SECOND + 7)

static struct policy policy_of(enum algorithm algorithm, const char *rate, uint64_t burst)
{
	struct policy policy = packet_policy(rate, NULL);

	policy.limits[0].algorithm = algorithm;
	policy.limits[0].burst = burst;
	return policy;
}

static void open_at(struct limiter *limiter, const struct policy *policy, struct frame *frame)
{
	frame_named(frame, P4U);
	limiter_open(limiter, policy, NULL);
	clock_set(limiter, START);
}

/* The first reading of the clock in the window after the one at @now_ns. */
static uint64_t next_window(const struct limiter *limiter, uint64_t now_ns)
{
	struct window window = window_of(&limiter->running.config.limits[0]);
	uint64_t rest = WINDOW_SPAN - window_position(window_moment(&window, now_ns));
	uint64_t steps = (rest + window.multiplier - 1) / window.multiplier;

	return ((now_ns >> window.shift) + steps) << window.shift;
}

/* Where the next window starts; any second will do where there are none. */
static uint64_t boundary(const struct limiter *limiter)
{
	return is_window(limiter->running.config.limits[0].algorithm) ? next_window(limiter, START)
								      : START + SECOND;
}

/* ---- the edge between two windows ---- */

static const struct edge_case {
	const char *name;
	enum algorithm algorithm;
	const char *rate;
	unsigned int count, first, second; /* the most of the second group */
} edges[] = {
	{"O-032: token-bucket does not double at the boundary", ALGORITHM_TOKEN_BUCKET, "100 pps",
	 100, 100, 11},
	{"O-032: leaky-bucket does not double at the boundary", ALGORITHM_LEAKY_BUCKET, "100 pps",
	 100, 100, 11},
	{"O-032: sliding-window does not double at the boundary", ALGORITHM_SLIDING_WINDOW,
	 "100 pps", 100, 100, 11},
	{"O-032: sliding-log does not double at the boundary", ALGORITHM_SLIDING_LOG, "30 pps", 30,
	 30, 0},
	{"fixed-window does, and never more", ALGORITHM_FIXED_WINDOW, "100 pps", 100, 100, 100},
};

/* Evenly over the last 50 ms before the boundary, and over the first 50 ms after it. */
static void test_edge(void **state)
{
	const struct edge_case *row = *state;
	struct policy policy = policy_of(row->algorithm, row->rate, row->count);
	uint64_t step = 50 * MS / row->count, passed;
	struct limiter limiter;
	struct frame frame;

	open_at(&limiter, &policy, &frame);
	clock_set(&limiter, boundary(&limiter) - 50 * MS);
	passed = send_stepped(&limiter, &frame, row->count, step);
	assert_int_equal(passed, row->first);
	passed = send_stepped(&limiter, &frame, row->count, step);
	print_message("# %s: %llu, then %llu\n", row->name, (unsigned long long)row->first,
		      (unsigned long long)passed);
	assert_in_range(passed, 0, row->second);
	if (row->algorithm == ALGORITHM_FIXED_WINDOW)
		assert_int_equal(passed, row->second);
	limiter_close(&limiter);
}

/* ---- steady floods, one CPU and two ---- */

static const struct flood_case {
	const char *name;
	enum algorithm algorithm;
	const char *rate;
	uint64_t count, window_ns;
	double least; /* of count, in each window */
} floods[] = {
	{"token-bucket", ALGORITHM_TOKEN_BUCKET, "1000 per 10ms", 1000, 10 * MS, 0.999},
	{"leaky-bucket", ALGORITHM_LEAKY_BUCKET, "1000 per 10ms", 1000, 10 * MS, 0.999},
	{"fixed-window", ALGORITHM_FIXED_WINDOW, "1000 per 10ms", 1000, 10 * MS, 0.999},
	{"sliding-window", ALGORITHM_SLIDING_WINDOW, "1000 per 10ms", 1000, 10 * MS, 0.995},
	{"sliding-log", ALGORITHM_SLIDING_LOG, "32 per 1ms", 32, MS, 0.99},
};

#define FLOOD_PACKETS 500000U
#define FLOOD_STEP    1000U

/* One window more for a full burst, one for the window that the flood starts or ends in. */
static void check_flood(const struct flood_case *row, uint64_t passed, uint64_t elapsed_ns)
{
	double windows = (double)elapsed_ns / (double)row->window_ns, count = (double)row->count;

	print_message("# %s: %llu passed in %.1f windows of %llu\n", row->name,
		      (unsigned long long)passed, windows, (unsigned long long)row->count);
	assert_true((double)passed <= (windows + 2) * count);
	assert_true((double)passed >= windows * count * row->least);
}

static void test_flood(void **state)
{
	const struct flood_case *row = *state;
	struct policy policy = policy_of(row->algorithm, row->rate, row->count);
	struct limiter limiter;
	struct frame frame;

	open_at(&limiter, &policy, &frame);
	check_flood(row, send_stepped(&limiter, &frame, FLOOD_PACKETS, FLOOD_STEP),
		    (uint64_t)FLOOD_PACKETS * FLOOD_STEP);
	limiter_close(&limiter);
}

struct shared_flood {
	struct limiter limiter;
	struct frame frame;
};

static void send_flood(struct worker *worker)
{
	struct shared_flood *flood = worker->context;

	send_repeated(&flood->limiter, &flood->frame, FLOOD_PACKETS);
}

static void test_flood_two_cpus(void **state)
{
	const struct flood_case *row = *state;
	struct policy policy = policy_of(row->algorithm, row->rate, row->count);
	struct worker workers[WORKERS];
	struct counters counters;
	struct shared_flood flood;

	open_at(&flood.limiter, &policy, &flood.frame);
	clock_step(&flood.limiter, FLOOD_STEP);
	run_on_two_cpus(send_flood, &flood, workers);
	assert_int_equal(packets_seen(&flood.limiter), 2 * FLOOD_PACKETS);
	check_flood(row, packets_passed(&flood.limiter), clock_now(&flood.limiter) - START);
	counters_of(&flood.limiter, &counters);
	assert_int_equal(counters.events.repaired, 0);
	limiter_close(&flood.limiter);
}

/* Time stands: what passes is what one window, or one burst, has. */
static void test_standing_two_cpus(void **state)
{
	const struct flood_case *row = *state;
	struct policy policy = policy_of(row->algorithm, row->rate, row->count);
	struct worker workers[WORKERS];
	struct shared_flood flood;

	open_at(&flood.limiter, &policy, &flood.frame);
	run_on_two_cpus(send_flood, &flood, workers);
	assert_int_equal(packets_passed(&flood.limiter), row->count);
	limiter_close(&flood.limiter);
}

/* ---- stacked: a word or slots that were taken and given back ---- */

#define ROUNDS 20000

/* In each round both CPUs bring one packet of 46 bytes of a new source: there is room for one. */
struct contest {
	struct limiter limiter;
	struct frame frames[WORKERS];
	struct meeting meeting;
};

static void contest_source(struct frame *frame, unsigned int round)
{
	uint32_t address = htonl(0xc6120000U + round); /* 198.18.0.0/15 */

	memcpy(frame->bytes + 14 + 12, &address, sizeof(address));
}

static void send_contest(struct worker *worker)
{
	struct contest *contest = worker->context;
	struct frame *frame = &contest->frames[worker->index];

	for (unsigned int round = 0; round < ROUNDS; round++) {
		contest_source(frame, round);
		meet(&contest->meeting);
		send_repeated(&contest->limiter, frame, 1);
	}
}

/* What the sources have used of the limit that was charged first. */
static uint64_t used_by_all(const struct limiter *limiter, uint64_t count)
{
	char address[INET_ADDRSTRLEN];
	struct limit_state read;
	uint64_t used = 0;

	assert_int_equal(limiter->running.config.limits[0].unit, UNIT_PACKETS);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		snprintf(address, sizeof(address), "198.18.%u.%u", round >> 8, round & 255);
		state_of(limiter, address, 0, &read);
		used += count - read.remaining;
	}
	return used;
}

static void test_stacked(void **state)
{
	const struct flood_case *row = *state;
	struct policy policy = policy_of(row->algorithm, "20 per 1h", 20);
	struct worker workers[WORKERS];
	struct counters counters;
	struct contest contest = {0};
	uint64_t passed, used;

	frame_named(&contest.frames[1], P4U);
	add_byte_limit(&policy, "1 kB/s", "60 B");
	open_at(&contest.limiter, &policy, &contest.frames[0]);
	run_on_two_cpus(send_contest, &contest, workers);
	passed = packets_passed(&contest.limiter);
	used = used_by_all(&contest.limiter, 20);
	counters_of(&contest.limiter, &counters);
	print_message("# %s: %llu of %u packets lost a race, %llu charges not undone\n", row->name,
		      (unsigned long long)packets_of(&contest.limiter, REASON_CONTENDED),
		      2 * ROUNDS, (unsigned long long)counters.events.undo_lost);
	assert_int_equal(passed, ROUNDS);
	assert_int_equal(used, passed + counters.events.undo_lost);
	assert_in_range(packets_of(&contest.limiter, REASON_CONTENDED), 1, ROUNDS);
	limiter_close(&contest.limiter);
}

/* ---- words ---- */

static void test_words(void **state)
{
	const struct flood_case *row = *state;
	struct policy policy = packet_policy("unlimited", NULL);
	struct limiter limiter;
	struct frame frame;

	policy.limits[0].algorithm = row->algorithm;
	open_at(&limiter, &policy, &frame);
	assert_int_equal(send_many(&limiter, &frame, 100), 100);
	limiter_close(&limiter);
	policy = packet_policy("block", NULL);
	policy.limits[0].algorithm = row->algorithm;
	open_at(&limiter, &policy, &frame);
	assert_int_equal(send_many(&limiter, &frame, 100), 0);
	limiter_close(&limiter);
}

/* ---- what `get` says, believed ---- */

static void believe(struct limiter *limiter, const struct frame *frame, unsigned int count)
{
	struct limit_state read;
	uint64_t now = clock_now(limiter), retry;

	state_of(limiter, CLIENT4, 0, &read);
	assert_int_equal(send_many(limiter, frame, count + 2), read.remaining);
	state_of(limiter, CLIENT4, 0, &read);
	assert_int_equal(read.remaining, 0);
	retry = (uint64_t)llround(read.retry_after_seconds * (double)SECOND);
	assert_in_range(retry, 1, 10 * SECOND);
	clock_set(limiter, now + retry - 1);
	assert_int_equal(send_many(limiter, frame, 1), 0);
	clock_set(limiter, now + retry);
	state_of(limiter, CLIENT4, 0, &read);
	assert_in_range(read.remaining, 1, count);
	assert_int_equal(send_many(limiter, frame, 1), 1);
}

static void test_believe(void **state)
{
	const struct flood_case *row = *state;
	struct policy policy = policy_of(row->algorithm, row->rate, row->count);
	struct limit_state read;
	struct limiter limiter;
	struct frame frame;

	open_at(&limiter, &policy, &frame);
	for (unsigned int i = 0; i < 50; i++) {
		send_many(&limiter, &frame, i);
		clock_advance(&limiter, i * row->window_ns / 37);
		believe(&limiter, &frame, (unsigned int)row->count);
	}
	state_of(&limiter, CLIENT4, 0, &read);
	clock_advance(&limiter, (uint64_t)llround(read.reset_seconds * (double)SECOND));
	assert_int_equal(send_many(&limiter, &frame, (unsigned int)row->count + 2), row->count);
	limiter_close(&limiter);
}

/* ---- the log's own table ---- */

static void test_log_for_each_source(void **state)
{
	struct policy policy = policy_of(ALGORITHM_SLIDING_LOG, "5 per 1s", 5);
	struct limiter limiter;
	struct frame one, other;

	(void)state;
	open_at(&limiter, &policy, &one);
	frame_named(&other, P6U);
	assert_int_equal(send_many(&limiter, &one, 10), 5);
	assert_int_equal(send_many(&limiter, &other, 10), 5);
	assert_int_equal(send_many(&limiter, &one, 10), 0);
	limiter_close(&limiter);
}

static void test_log_is_reset(void **state)
{
	struct policy policy = policy_of(ALGORITHM_SLIDING_LOG, "5 per 1s", 5);
	struct limiter limiter;
	struct bucket_key key;
	struct frame frame;

	(void)state;
	open_at(&limiter, &policy, &frame);
	assert_int_equal(send_many(&limiter, &frame, 10), 5);
	key_of(&limiter, CLIENT4, &key);
	assert_int_equal(reset_source(&limiter.running, (const struct address *)key.address), 0);
	assert_int_equal(send_many(&limiter, &frame, 10), 5);
	assert_int_equal(reset_sources(&limiter.running), 1);
	assert_int_equal(send_many(&limiter, &frame, 10), 5);
	limiter_close(&limiter);
}

/* Another count takes over what stands in the words and slots. */
static void test_swap(void **state)
{
	const struct flood_case *row = *state;
	struct policy policy = policy_of(row->algorithm, "20 per 1s", 20);
	bool windowed = has_window(row->algorithm);
	struct limiter limiter, next, last;
	struct frame frame;

	open_at(&limiter, &policy, &frame);
	assert_int_equal(send_many(&limiter, &frame, 15), 15);
	policy = policy_of(row->algorithm, "10 per 1s", 10);
	limiter_reopen(&next, &limiter, &policy);
	/* A bucket's debt is a time: three quarters of it are spent at any rate. */
	assert_int_equal(send_many(&next, &frame, 15), windowed ? 0 : 2);
	policy = policy_of(row->algorithm, "30 per 1s", 30);
	limiter_reopen(&last, &next, &policy);
	assert_int_equal(send_many(&last, &frame, 40), windowed ? 15 : 1);
	limiter_close(&last);
	limiter_close(&next);
	limiter_close(&limiter);
}

#define CASE(name_, function)                        \
	{                                            \
		.name = name_, .test_func = function \
	}

static const struct CMUnitTest cases[] = {
	CASE("sliding-log: each source has slots of its own", test_log_for_each_source),
	CASE("sliding-log: reset gives fresh slots", test_log_is_reset),
};

/* Every algorithm goes through all of these. */
static const struct {
	const char *name;
	CMUnitTestFunction function;
} rounds[] = {
	{"a flood passes at the limit", test_flood},
	{"a flood from two CPUs passes at the limit", test_flood_two_cpus},
	{"two CPUs at one moment get one window", test_standing_two_cpus},
	{"what another limit refused consumes nothing, on two CPUs", test_stacked},
	{"`unlimited` and `block`", test_words},
	{"remaining, reset and retry-after are what packets then meet", test_believe},
	{"another count keeps the state", test_swap},
};

int main(void)
{
	struct CMUnitTest tests[COUNT(cases) + COUNT(edges) + COUNT(rounds) * COUNT(floods)];
	static char names[COUNT(rounds) * COUNT(floods)][128];
	struct CMUnitTest *test = tests;

	memcpy(test, cases, sizeof(cases));
	test += COUNT(cases);
	for (size_t i = 0; i < COUNT(edges); i++)
		*test++ = (struct CMUnitTest){.name = edges[i].name,
					      .test_func = test_edge,
					      .initial_state = (void *)&edges[i]};
	for (size_t i = 0; i < COUNT(rounds) * COUNT(floods); i++) {
		const struct flood_case *row = &floods[i % COUNT(floods)];

		snprintf(names[i], sizeof(names[i]), "%s: %s", row->name,
			 rounds[i / COUNT(floods)].name);
		*test++ = (struct CMUnitTest){.name = names[i],
					      .test_func = rounds[i / COUNT(floods)].function,
					      .initial_state = (void *)row};
	}
	return cmocka_run_group_tests_name("algorithms", tests, NULL, NULL);
}
