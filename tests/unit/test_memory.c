// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The formula of a limiter's memory, part by part (O-126); tests/net/memory.sh asks the kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "compile.h"
#include "memory.h"
#include "yaml_policy.h"

#define KIB (1ULL << 10)
#define MIB (1ULL << 20)

#define PLAIN "limits: [{name: x, rate: 9/s}]\n"

// clang-format off
/* What @text takes more than PLAIN, of the same table. */
static const struct row {
	const char *name, *text;
	uint64_t least, most;
} rows[] = {
	{"nothing more", PLAIN, 0, 0},
	{"a rate of its own costs nothing", "limits: [{name: x, rate: 50000/s}]", 0, 0},
	{"bans, and their filter", "limits: [{name: x, rate: 9/s, on-exceed: {ban: 1m}}]",
	 6 * MIB + 127 * KIB, 6 * MIB + 129 * KIB},
	{"a port", "limits: [{name: x, rate: 9/s, match: {protocol: udp, destination-port: 53}}]",
	 514 * KIB, 514 * KIB},
	{"an address and a prefix on a list, and their filters",
	 "deny: [192.0.2.1, 198.51.100.0/24]\n" PLAIN, 256 * KIB + 256, 257 * KIB},
	{"a tier, and its filter",
	 "tiers: [{name: a, sources: [10.0.0.0/8]}]\n"
	 "limits: [{name: x, rate: 9/s, tiers: {a: 99/s}}]",
	 128 * KIB + 100, 128 * KIB + 200},
	{"a sliding log", "limits: [{name: x, rate: 9/s, algorithm: sliding-log}]", 340 * 1024,
	 350 * 1024},
};
// clang-format on

static uint64_t memory_of(const char *text)
{
	const struct compile_facts facts = {.possible_cpus = 2};
	struct table_identity table;
	struct policy policy;
	struct complaint why;
	static struct config config;
	uint64_t memory;

	yaml_policy(&policy, text);
	policy.sources = 1024;
	if (table_new(&policy, &table, &why) ||
	    compile_policy(&policy, &table, &facts, &config, &why))
		fail_msg("%s", why.text);
	memory = memory_limiter(&table, &policy, &config, 2);
	policy_free(&policy);
	return memory;
}

static void test_row(void **state)
{
	const struct row *row = *state;
	uint64_t more = memory_of(row->text) - memory_of(PLAIN);

	assert_in_range(more, row->least, row->most);
}

static void test_unused(void **state)
{
	(void)state;
	assert_true(memory_base(1) < 700 * KIB);
	assert_true(memory_base(32) <= MIB);
	assert_int_equal(memory_base(9) - memory_base(8), memory_base(2) - memory_base(1));
}

#define ROWS (sizeof(rows) / sizeof(rows[0]))

int main(void)
{
	struct CMUnitTest tests[ROWS + 1] = {
		cmocka_unit_test(test_unused),
	};

	for (size_t i = 0; i < ROWS; i++)
		tests[i + 1] = (struct CMUnitTest){.name = rows[i].name,
						   .test_func = test_row,
						   .initial_state = (void *)(uintptr_t)&rows[i]};
	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
