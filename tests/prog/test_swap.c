// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A new policy on the same table: what the buckets know survives, no change is a fresh burst. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <bpf/bpf.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include "prog.h"
#include "threads.h"
#include "units.h"
#include "yaml_policy.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define MS	 1000000ULL
#define SECOND	 NS_PER_SECOND
#define HOUR	 (3600 * SECOND)
#define START	 (1000 * SECOND + 7)

static void open_at(struct limiter *limiter, const char *rate, const char *burst, uint64_t now_ns)
{
	struct policy policy = packet_policy(rate, burst);

	limiter_open(limiter, &policy, NULL);
	clock_set(limiter, now_ns);
}

/* The next program on the table of @old, as an attach loads it. */
static void reopen(struct limiter *next, const struct limiter *old, const char *rate,
		   const char *burst)
{
	struct policy policy = packet_policy(rate, burst);

	limiter_reopen(next, old, &policy);
}

static uint64_t repaired(const struct limiter *limiter)
{
	struct counters counters;

	counters_of(limiter, &counters);
	return counters.events.repaired;
}

/* ---- a changed rate and burst ---------------------------------------------------------------- */

/*
 * The first policy's burst is used up; then the second one judges, at once and for 10 s more. Its
 * rate counts from the switch; what is owed is owed in time, so it takes no longer than before.
 */
static const struct change {
	const char *name;
	const char *rate, *burst;
	unsigned int used; /* of the first burst */
	const char *new_rate, *new_burst;
	uint64_t at_once; /* passed right after the switch */
	uint64_t later;	  /* passed in the 10 s that follow */
	uint64_t repaired;
} changes[] = {
	{"the same again gives no fresh burst", "100 pps", "100", 100, "100 pps", "100", 0, 1000,
	 0},
	{"the same again keeps what is left", "100 pps", "100", 60, "100 pps", "100", 40, 1000, 0},
	{"a doubled rate gives no fresh burst", "100 pps", "100", 100, "200 pps", "200", 0, 2000,
	 0},
	{"a halved rate gives no fresh burst", "100 pps", "100", 100, "50 pps", "50", 0, 500, 0},
	{"a lowered rate owes the same time, so half of the same burst", "100 pps", "100", 100,
	 "50 pps", "100", 50, 500, 0},
	{"a lowered burst is exhausted, not refilled", "100 pps", "100", 100, "100 pps", "96", 0,
	 10 * 100 - 4, 0},
	{"a much lowered burst is put back to exhausted once", "100 pps", "1000", 1000, "100 pps",
	 "10", 0, 1000, 1},
	{"a lowered burst hands out the new burst at most", "100 pps", "1000", 0, "100 pps", "10",
	 10, 1000, 0},
	{"a raised burst adds its difference", "100 pps", "100", 100, "100 pps", "150", 50, 1000,
	 0},
	{"a much raised burst adds its difference", "100 pps", "100", 100, "100 pps", "1000", 900,
	 1000, 0},
};

static void test_change(void **state)
{
	const struct change *row = *state;
	struct limiter old, next;
	struct frame frame;

	frame_named(&frame, P4U);
	open_at(&old, row->rate, row->burst, START);
	assert_int_equal(send_many(&old, &frame, row->used), row->used);
	reopen(&next, &old, row->new_rate, row->new_burst);
	assert_int_equal(send_many(&next, &frame, 2000), row->at_once);
	assert_int_equal(send_stepped(&next, &frame, 10001, MS), row->later);
	assert_int_equal(repaired(&next), row->repaired);
	clock_advance(&next, HOUR);
	assert_int_equal(send_many(&next, &frame, 2000), next.running.config.labels[0].burst);
	limiter_close(&next);
	limiter_close(&old);
}

/* A packet that still meets the old program must not take away what the new burst gave. */
static void test_old_program_repairs_nothing(void **state)
{
	struct limiter old, next;
	struct bucket before, after;
	struct frame frame;

	(void)state;
	frame_named(&frame, P4U);
	open_at(&old, "100 pps", "100", START);
	assert_int_equal(send_many(&old, &frame, 100), 100);
	reopen(&next, &old, "100 pps", "1000");
	assert_int_equal(send_many(&next, &frame, 2000), 900);
	source_of(&next, CLIENT4, &before);
	assert_int_equal(send_many(&old, &frame, 10), 0); /* 9 s beyond its own burst */
	source_of(&next, CLIENT4, &after);
	assert_int_equal(after.word, before.word);
	assert_int_equal(repaired(&old), 0);
	clock_set(&next, START + SECOND);
	assert_int_equal(send_many(&next, &frame, 2000), 100);
	limiter_close(&next);
	limiter_close(&old);
}

/* Once the newest is the older one again (an attach that failed), that one repairs. */
static void test_switched_back(void **state)
{
	struct switches switches;
	struct limiter old, next;
	struct frame frame;
	uint32_t index = 0;

	(void)state;
	frame_named(&frame, P4U);
	open_at(&old, "100 pps", "100", START);
	reopen(&next, &old, "100 pps", "1000");
	assert_int_equal(send_many(&next, &frame, 2000), 1000);
	switches = (struct switches){.generation = old.running.config.generation};
	assert_int_equal(bpf_map_update_elem(old.running.maps[MAP_SWITCHES], &index, &switches, 0),
			 0);
	assert_int_equal(send_many(&old, &frame, 10), 0);
	assert_int_equal(repaired(&old), 1);
	clock_advance(&old, SECOND);
	assert_int_equal(send_many(&old, &frame, 2000), 100);
	limiter_close(&next);
	limiter_close(&old);
}

/* ---- words that the next policy can't read --------------------------------------------------- */

static void open_yaml(struct limiter *limiter, const struct limiter *old, const char *text)
{
	struct policy policy;

	yaml_policy(&policy, text);
	if (old) {
		limiter_reopen(limiter, old, &policy);
	} else {
		limiter_open(limiter, &policy, NULL);
		clock_set(limiter, START);
	}
	policy_free(&policy);
}

static uint64_t would_drop(const struct limiter *limiter)
{
	struct counters counters;

	counters_of(limiter, &counters);
	return counters.limits[limiter->running.config.limits[0].id].would_drop_packets;
}

/* A limit that only observes repairs its word like any other, or it would say "drop" for ages. */
static void test_observer_repairs(void **state)
{
	struct limiter old, next;
	struct frame frame;
	uint64_t before;

	(void)state;
	frame_named(&frame, P4U);
	open_yaml(&old, NULL, "limits: [{name: x, rate: 100pps, burst: 1000, mode: observe}]\n");
	assert_int_equal(send_many(&old, &frame, 1000), 1000);
	open_yaml(&next, &old, "limits: [{name: x, rate: 100pps, burst: 10, mode: observe}]\n");
	assert_int_equal(send_many(&next, &frame, 1), 1);
	assert_int_equal(repaired(&next), 1);
	clock_advance(&next, SECOND);
	before = would_drop(&next);
	assert_int_equal(send_many(&next, &frame, 10), 10);
	assert_int_equal(would_drop(&next), before);
	limiter_close(&next);
	limiter_close(&old);
}

static bool newcomer_passes(struct limiter *limiter, unsigned int number)
{
	struct frame frame;

	frame_newcomer(&frame, number);
	return send_frame(limiter, &frame) == XDP_PASS;
}

/* A gate that an hour's budget closed opens again soon under a policy with a fast one. */
static void test_gate_repairs(void **state)
{
	struct limiter old, next;
	unsigned int newcomer = 0;

	(void)state;
	open_yaml(&old, NULL,
		  "table: {sources: 1024, new-sources: 1/h}\n"
		  "limits: [{name: x, rate: 1/h, burst: 9}]\n");
	while (newcomer_passes(&old, newcomer++))
		assert_true(newcomer < 2000);
	open_yaml(&next, &old,
		  "table: {new-sources: 1000/s}\nlimits: [{name: x, rate: 1/h, burst: 9}]\n");
	assert_false(newcomer_passes(&next, newcomer++));
	clock_advance(&next, 10 * SECOND);
	assert_true(newcomer_passes(&next, newcomer));
	limiter_close(&next);
	limiter_close(&old);
}

/* A free word of a new bucket is idle, not what was put there for a bucket of another kind. */
static void test_free_words_are_idle(void **state)
{
	struct limiter old, next;
	struct frame frame;

	(void)state;
	frame_named(&frame, P4U);
	open_yaml(&old, NULL,
		  "limits:\n"
		  "  - {name: a, rate: 1Mpps}\n"
		  "  - {name: b, rate: 100Mpps}\n"
		  "  - {name: net, per: source/24, rate: 1Mpps}\n");
	assert_int_equal(send_many(&old, &frame, 1), 1);
	open_yaml(&next, &old,
		  "limits:\n"
		  "  - {name: a, rate: 1Mpps}\n"
		  "  - {name: b, rate: 100Mpps}\n"
		  "  - {name: net, per: source/24, rate: 1Mpps}\n"
		  "  - {name: slow, per: source/24, rate: 1/h, burst: 5}\n");
	assert_int_equal(send_many(&next, &frame, 9), 5);
	assert_int_equal(repaired(&next), 0);
	limiter_close(&next);
	limiter_close(&old);
}

/* ---- identities and counters ----------------------------------------------------------------- */

static const struct limit *limit_named(const struct limiter *limiter, const char *name)
{
	const struct config *config = &limiter->running.config;

	for (unsigned int i = 0; i < config->limit_count; i++)
		if (!strcmp(config->labels[i].name, name))
			return &config->limits[i];
	fail_msg("no limit %s", name);
	return NULL;
}

/* The order of charge turns round with the rates; slots, ids and ticks stay with the names. */
static void test_identities(void **state)
{
	struct policy policy = packet_policy("10 pps", "20");
	struct limiter old, next;

	(void)state;
	add_byte_limit(&policy, "10 Mbit/s", NULL);
	limiter_open(&old, &policy, NULL);
	policy = packet_policy("10 kpps", NULL);
	add_byte_limit(&policy, "8 kbit/s", NULL);
	limiter_reopen(&next, &old, &policy);
	assert_string_not_equal(old.running.config.labels[0].name,
				next.running.config.labels[0].name);
	for (unsigned int i = 0; i < old.running.config.limit_count; i++) {
		const char *name = old.running.config.labels[i].name;
		const struct limit *then = limit_named(&old, name);
		const struct limit *now = limit_named(&next, name);

		assert_int_equal(now->slot, then->slot);
		assert_int_equal(now->id, then->id);
		assert_int_equal(now->tick, then->tick);
	}
	assert_int_not_equal(limit_named(&next, "default")->slot,
			     limit_named(&next, "bytes")->slot);
	limiter_close(&next);
	limiter_close(&old);
}

/* A limit that leaves and comes back finds its buckets; the other never noticed. */
static void test_limit_leaves(void **state)
{
	struct policy both = packet_policy("1/h", "100");
	struct limiter first, second, third;
	struct frame frame;
	struct limit_state now;

	(void)state;
	frame_named(&frame, P4U);
	add_byte_limit(&both, "1 B/s", "2300 B"); /* 50 frames */
	limiter_open(&first, &both, NULL);
	clock_set(&first, START);
	assert_int_equal(send_many(&first, &frame, 60), 50);
	reopen(&second, &first, "1/h", "100");
	assert_int_equal(send_many(&second, &frame, 30), 30);
	limiter_reopen(&third, &second, &both);
	assert_int_equal(send_many(&third, &frame, 30), 0);
	state_of(&third, CLIENT4, limit_named(&third, "default") - third.running.config.limits,
		 &now);
	assert_int_equal(now.remaining, 20);
	limiter_close(&third);
	limiter_close(&second);
	limiter_close(&first);
}

/* Nothing is lost between two programs: counters, nor what a CPU still caches. */
static void test_counters_go_on(void **state)
{
	struct limiter old, next;
	struct bucket bucket;
	struct frame frame;

	(void)state;
	frame_named(&frame, P4U);
	open_at(&old, "1/h", "1000", START);
	send_repeated(&old, &frame, 1100);
	reopen(&next, &old, "1/h", "2000");
	send_repeated(&next, &frame, 1100);
	assert_int_equal(packets_seen(&next), 2200);
	assert_int_equal(packets_passed(&next), 2000);
	source_of(&next, CLIENT4, &bucket);
	assert_int_equal(bucket.tally.passed_packets, 2000);
	assert_int_equal(bucket.tally.dropped_packets, 200);
	assert_int_equal(bucket.tally.passed_bytes, 2000 * frame.length);
	limiter_close(&next);
	limiter_close(&old);
}

/* ---- both programs at once ------------------------------------------------------------------- */

/* For a moment after the switch one CPU is still in the old program, on the same words. */
struct overlap {
	struct limiter *programs[WORKERS];
	struct frame frame;
	uint32_t repeat;
};

static void send_overlapping(struct worker *worker)
{
	const struct overlap *overlap = worker->context;

	send_repeated(overlap->programs[worker->index], &overlap->frame, overlap->repeat);
}

/*
 * Each program has a clock of its own in this test, and both run through the same time. Together
 * they admit what the looser of the two policies allows, whatever the order.
 */
static const struct pair {
	const char *name;
	const char *rate, *burst, *new_rate, *new_burst;
	uint64_t most_rate, most_burst; /* of the looser */
} pairs[] = {
	{"two programs at once, the same policy", "1 Mpps", "1000", "1 Mpps", "1000", 1000000,
	 1000},
	{"two programs at once, a lowered rate", "1 Mpps", "1000", "500000 pps", "500", 1000000,
	 1000},
	{"two programs at once, a raised rate", "500000 pps", "500", "1 Mpps", "1000", 1000000,
	 1000},
	{"two programs at once, a lowered burst", "1 Mpps", "9000", "1 Mpps", "10", 1000000, 9000},
	{"two programs at once, a raised burst", "1 Mpps", "10", "1 Mpps", "9000", 1000000, 9000},
};

static void test_overlap(void **state)
{
	const struct pair *row = *state;
	struct worker workers[WORKERS];
	struct limiter old, next;
	struct overlap overlap = {{&old, &next}, .repeat = 1000000};
	uint64_t ended, most, passed;

	frame_named(&overlap.frame, P4U);
	open_at(&old, row->rate, row->burst, START);
	reopen(&next, &old, row->new_rate, row->new_burst);
	/* 40 ms in all: the clocks stay within the slack of each other, as those of CPUs do. */
	clock_step(&old, 40);
	clock_step(&next, 40);
	run_on_two_cpus(send_overlapping, &overlap, workers);
	ended = clock_now(&old) - 40;
	assert_int_equal(ended, clock_now(&next) - 40);
	most = row->most_burst + row->most_rate * (ended - START) / SECOND;
	passed = packets_passed(&next);
	print_message("# %llu of at most %llu passed\n", (unsigned long long)passed,
		      (unsigned long long)most);
	assert_true(passed <= most);
	assert_true(passed > row->most_burst / 2 + row->most_rate / 100); /* not frozen */
	assert_int_equal(packets_seen(&next), 2 * overlap.repeat);
	limiter_close(&next);
	limiter_close(&old);
}

#define CASE(name_, function)                        \
	{                                            \
		.name = name_, .test_func = function \
	}

static const struct CMUnitTest cases[] = {
	CASE("the old program repairs nothing that the new one wrote",
	     test_old_program_repairs_nothing),
	CASE("the old program repairs again when it is the newest again", test_switched_back),
	CASE("a limit that observes repairs its word", test_observer_repairs),
	CASE("the gate repairs its word", test_gate_repairs),
	CASE("free words of a new bucket are idle", test_free_words_are_idle),
	CASE("slots, ids and ticks stay with the limit's name", test_identities),
	CASE("a limit that leaves and comes back finds its buckets", test_limit_leaves),
	CASE("counters and cached tallies go on", test_counters_go_on),
};

int main(void)
{
	struct CMUnitTest tests[COUNT(changes) + COUNT(pairs) + COUNT(cases)];
	struct CMUnitTest *test = tests;

	for (size_t i = 0; i < COUNT(changes); i++)
		*test++ = (struct CMUnitTest){.name = changes[i].name,
					      .test_func = test_change,
					      .initial_state = (void *)&changes[i]};
	for (size_t i = 0; i < COUNT(pairs); i++)
		*test++ = (struct CMUnitTest){.name = pairs[i].name,
					      .test_func = test_overlap,
					      .initial_state = (void *)&pairs[i]};
	memcpy(test, cases, sizeof(cases));
	return cmocka_run_group_tests_name("swap", tests, NULL, NULL);
}
