// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The budget of new entries: its arithmetic, and when a policy is warned about. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include "algorithm.h"
#include "compile.h"
#include "compile_gate.h"
#include "yaml_policy.h"

static const struct row {
	const char *name, *text;
	uint64_t entries;
	double per_second; /* new entries */
	uint64_t burst;	   /* entries at once; 0: no gate */
	const char *warns; /* part of the warning; NULL: none */
	int action;
} rows[] = {
	{"auto: 0.4 of the entries at once, 0.2 of them in each longest refill",
	 "table: {sources: 10000, new-sources: auto}\n"
	 "limits: [{name: x, rate: 100 pps, burst: 1000}]",
	 10000, 200, 4000, NULL, XDP_DROP},
	{"auto: the slowest limit decides",
	 "table: {sources: 10000, new-sources: auto}\n"
	 "limits: [{name: x, rate: 100 pps, burst: 1000}, {name: y, rate: 1/s, burst: 100}]",
	 10000, 20, 4000, NULL, XDP_DROP},
	{"auto: so does the slowest tier",
	 "table: {sources: 10000, new-sources: auto}\n"
	 "tiers: [{name: a, sources: [10.0.0.0/8]}]\n"
	 "limits: [{name: x, rate: 100 pps, burst: 100, tiers: {a: {rate: 1/s, burst: 100}}}]",
	 10000, 20, 4000, NULL, XDP_DROP},
	{"auto: never below a six-hundredth of the entries a second, and said so",
	 "table: {sources: 60000, new-sources: auto}\n"
	 "limits: [{name: slow, rate: 1/min, burst: 20}]",
	 60000, 100, 24000, "limit 'slow' takes 20m", XDP_DROP},
	{"the warning names a table that would be proof",
	 "table: {sources: 60000, new-sources: auto}\n"
	 "limits: [{name: slow, rate: 1/min, burst: 20}]",
	 60000, 100, 24000, "a table of 600000 sources with `new-sources: 6000/min`", XDP_DROP},
	{"or a slower gate where no table is large enough",
	 "table: {sources: 1048576, new-sources: auto}\n"
	 "limits: [{name: slow, rate: 1/day, burst: 10}]",
	 1048576, 1747.6, 419430, "`new-sources: 20971/day`", XDP_DROP},
	{"a given rate is taken as it is",
	 "table: {sources: 60000, new-sources: 30/min}\nlimits: [{name: x, rate: 1/day, burst: 9}]",
	 60000, 0.5, 24000, NULL, XDP_DROP},
	{"a given rate so slow that the burst would overflow is held below it",
	 "table: {sources: 268435456, new-sources: 1/day}\nlimits: [{name: x, rate: 9/s}]",
	 268435456, 1.0 / 86400, GCRA_BURST_MAX / (86400 * NS_PER_SECOND), NULL, XDP_DROP},
	{"unlimited: no gate",
	 "table: {sources: 60000, new-sources: unlimited}\nlimits: [{name: x, rate: 1/day}]", 60000,
	 0, 0, NULL, XDP_DROP},
	{"beyond: pass",
	 "table: {sources: 10000, new-sources: auto, new-sources-beyond: pass}\n"
	 "limits: [{name: x, rate: 100 pps, burst: 1000}]",
	 10000, 200, 4000, NULL, XDP_PASS},
	{"where all only observe, the gate drops nothing",
	 "table: {sources: 10000, new-sources: auto}\n"
	 "limits: [{name: x, rate: 100 pps, burst: 1000, mode: observe}]",
	 10000, 200, 4000, NULL, XDP_PASS},
};

static void test_row(void **state)
{
	static const struct compile_facts facts = {.possible_cpus = 4};
	const struct row *row = *state;
	struct table_identity table;
	struct complaint why = {""};
	struct policy policy;
	struct config config;

	yaml_policy(&policy, row->text);
	assert_int_equal(table_new(&policy, &table, &why), 0);
	assert_int_equal(compile_policy(&policy, &table, &facts, &config, &why), 0);
	assert_int_equal(table.capacity, row->entries);
	assert_int_equal(config.gate_used, row->burst != 0);
	assert_int_equal(config.actions[REASON_GATE_CLOSED], row->action);
	if (row->burst) {
		double rate = (double)NS_PER_SECOND / (double)config.gate.multiplier;

		assert_int_equal(config.gate.burst / config.gate.multiplier, row->burst);
		assert_true(rate > row->per_second * 0.999 && rate < row->per_second * 1.001);
	}
	assert_int_equal(gate_warning(&policy, table.capacity, &config, &why), row->warns != NULL);
	if (row->warns && !strstr(why.text, row->warns))
		fail_msg("'%s' does not say '%s'", why.text, row->warns);
	policy_free(&policy);
}

int main(void)
{
	struct CMUnitTest tests[sizeof(rows) / sizeof(rows[0])];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		tests[i] = (struct CMUnitTest){
			.name = rows[i].name,
			.test_func = test_row,
			.initial_state = (void *)&rows[i],
		};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
