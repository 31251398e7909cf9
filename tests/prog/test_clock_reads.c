// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The clock, half of the hot path's cost, is read once at most, and not for what needs no time. */
#include "table.h"

static const struct clock_case {
	const char *name;
	struct recipe recipe;
	unsigned int readings;
} cases[] = {
	{"what is not IP", {ETHERNET(.type = 0x88cc), .payload = 46}, 0},
	{"ARP", {.named = "PARP"}, 0},
	{"what is malformed", {.named = "PIHL0"}, 0},
	{"a forged mapped source", {IPV6(.source = "::ffff:192.0.2.10"), UDP()}, 0},
	{"a fragment that the policy drops", {.named = "PFRAGN"}, 0},
	{"the first packet of a source", {.named = "P4U"}, 1},
	{"another packet of it", {.named = "P4S"}, 1},
	{"IPv6", {.named = "P6U"}, 1},
	{"control traffic", {.named = "PNS"}, 1},
};

static void reads(void **state)
{
	const struct clock_case *row = *state;
	uint64_t before = clock_now(&shared);
	struct frame frame;

	cook(&row->recipe, &frame);
	clock_step(&shared, 1);
	send_frame(&shared, &frame);
	count_sent(1);
	assert_int_equal(clock_now(&shared) - before, row->readings);
}

/* Refused ones are most of an attack; the budget's end asks no second time either. */
static void reads_once_to_refuse(void **state)
{
	struct policy policy = packet_policy("1/day", "1");
	struct limiter limiter;
	struct frame packet, solicitation;

	(void)state;
	frame_named(&packet, P6U);
	frame_named(&solicitation, PNS);
	open_limiter(&limiter, &policy, NULL);
	send_many(&limiter, &solicitation, 1000);
	clock_step(&limiter, 1);
	assert_int_equal(send_many(&limiter, &packet, 3), 1);
	assert_int_equal(clock_now(&limiter), 1000 * NS_PER_SECOND + 3);
	assert_int_equal(send_frame(&limiter, &solicitation), XDP_DROP);
	assert_int_equal(clock_now(&limiter), 1000 * NS_PER_SECOND + 4);
	limiter_close(&limiter);
}

static struct policy drop_fragments(void)
{
	struct policy policy = roomy_policy();

	policy.fragments = FRAGMENTS_DROP;
	return policy;
}

int main(void)
{
	static struct CMUnitTest sweeps[COUNT(cases) + 1] = {
		cmocka_unit_test(reads_once_to_refuse),
	};
	static const struct table table = {
		.name = "readings of the clock",
		.policy = drop_fragments,
		.sweeps = sweeps,
		.sweep_count = COUNT(sweeps),
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		sweeps[i + 1] = (struct CMUnitTest){
			.name = cases[i].name,
			.test_func = reads,
			.initial_state = (void *)(uintptr_t)&cases[i],
		};
	return run_table(&table);
}
