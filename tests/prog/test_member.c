// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Two of ours in one dispatcher: each packet meets both, and the one whose generation holds judges it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <bpf/bpf.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include "prog.h"

#define START (1000 * NS_PER_SECOND)

/* Former and new policy on one table: a burst of 10, then another, and hardly a refill. */
struct pair {
	struct limiter former, new;
};

static void open_former(struct pair *pair, enum table_type type)
{
	static const struct limiter_facts member = {.member = true};
	struct policy policy = packet_policy("1/min", "10");

	policy.table_type = type;
	limiter_open(&pair->former, &policy, &member);
	clock_set(&pair->former, START);
}

static void hold(const struct pair *pair, uint64_t generation, uint64_t deadline_ns)
{
	struct switches switches = {.generation = generation, .deadline_ns = deadline_ns};
	uint32_t index = 0;

	assert_int_equal(bpf_map_update_elem(pair->former.running.maps[MAP_SWITCHES], &index,
					     &switches, BPF_ANY),
			 0);
}

/* The new one joins; the former goes on until the generation says otherwise. */
static void open_pair(struct pair *pair, enum table_type type, const char *new_burst)
{
	struct policy policy = packet_policy("1/min", new_burst);

	open_former(pair, type);
	policy.table_type = type;
	limiter_reopen(&pair->new, &pair->former, &policy);
	hold(pair, 1, 0);
}

static void close_pair(struct pair *pair)
{
	limiter_close(&pair->new);
	limiter_close(&pair->former);
}

/* The dispatcher's way: the second sees what the first lets through. */
static unsigned int send_to_both(struct pair *pair, unsigned int count)
{
	unsigned int passed = 0;
	struct frame frame;

	frame_named(&frame, P4U);
	while (count--)
		passed += send_frame(&pair->former, &frame) == XDP_PASS &&
			  send_frame(&pair->new, &frame) == XDP_PASS;
	return passed;
}

static void one_judges(enum table_type type)
{
	struct pair pair;

	open_pair(&pair, type, "15");
	assert_int_equal(send_to_both(&pair, 20), 10);
	assert_int_equal(packets_seen(&pair.former), 20); /* they share the counters */
	hold(&pair, 2, 0);
	assert_int_equal(send_to_both(&pair, 20), 5); /* what the larger burst adds */
	assert_int_equal(packets_seen(&pair.former), 40);
	close_pair(&pair);
}

static void one_of_two_judges(void **state)
{
	(void)state;
	one_judges(TABLE_LRU);
}

static void one_of_two_judges_flat(void **state)
{
	(void)state;
	one_judges(TABLE_FLAT);
}

static void no_generation_passes_all(void **state)
{
	struct frame frame;
	struct pair pair;

	(void)state;
	frame_named(&frame, P4U);
	open_former(&pair, TABLE_LRU);
	hold(&pair, 0, 0);
	assert_int_equal(send_many(&pair.former, &frame, 20), 20);
	assert_int_equal(packets_seen(&pair.former), 0);
	limiter_close(&pair.former);
}

/* --confirm: until its deadline the new one judges, after it the former again. */
static void trial_goes_back(void **state)
{
	struct pair pair;

	(void)state;
	open_pair(&pair, TABLE_LRU, "4");
	hold(&pair, 2, START + NS_PER_SECOND);
	assert_int_equal(send_to_both(&pair, 20), 4);
	clock_advance(&pair.former, NS_PER_SECOND + 1);
	clock_advance(&pair.new, NS_PER_SECOND + 1);
	assert_int_equal(send_to_both(&pair, 20), 6); /* what its burst has left */
	assert_int_equal(packets_seen(&pair.former), 40);
	close_pair(&pair);
}

/* A first attach on trial: after it nobody judges. */
static void first_trial_ends_in_passing(void **state)
{
	struct frame frame;
	struct pair pair;

	(void)state;
	frame_named(&frame, P4U);
	open_former(&pair, TABLE_LRU);
	hold(&pair, 1, START + NS_PER_SECOND);
	assert_int_equal(send_many(&pair.former, &frame, 20), 10);
	clock_advance(&pair.former, NS_PER_SECOND + 1);
	assert_int_equal(send_many(&pair.former, &frame, 20), 20);
	assert_int_equal(packets_seen(&pair.former), 20);
	limiter_close(&pair.former);
}

static void confirmed_stays(void **state)
{
	struct pair pair;

	(void)state;
	open_pair(&pair, TABLE_LRU, "4");
	hold(&pair, 2, START + NS_PER_SECOND);
	assert_int_equal(send_to_both(&pair, 20), 4);
	hold(&pair, 2, 0);
	clock_advance(&pair.former, NS_PER_SECOND + 1);
	clock_advance(&pair.new, NS_PER_SECOND + 1);
	assert_int_equal(send_to_both(&pair, 20), 0);
	close_pair(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_two_judges),
		cmocka_unit_test(one_of_two_judges_flat),
		cmocka_unit_test(no_generation_passes_all),
		cmocka_unit_test(trial_goes_back),
		cmocka_unit_test(first_trial_ends_in_passing),
		cmocka_unit_test(confirmed_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
