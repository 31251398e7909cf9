// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Runs the rows of a table, and sweeps beside them, as tests of one limiter. */
#include "table.h"

#define TESTS_MAX 256

struct limiter shared;

static const struct table *running;
static uint64_t sent;

void count_sent(uint64_t frames)
{
	sent += frames;
}

void judge(const char *name, const struct frame *frame, const struct outcome *want)
{
	count_sent(want->packets ?: 1);
	expect(&shared, name, frame, want);
}

void judge_recipe(const char *name, const struct recipe *recipe, const struct outcome *want)
{
	struct frame frame;

	cook(recipe, &frame);
	judge(name, &frame, want);
}

static void judges_row(void **state)
{
	const struct row *row = *state;

	judge_recipe(row->name, &row->recipe, &row->want);
}

static void counts_every_frame(void **state)
{
	(void)state;
	assert_int_equal(packets_seen(&shared), sent);
}

static int open_shared(void **state)
{
	struct policy policy = running->policy ? running->policy() : roomy_policy();

	(void)state;
	sent = 0;
	open_limiter(&shared, &policy, running->facts);
	return 0;
}

static int close_shared(void **state)
{
	(void)state;
	limiter_close(&shared);
	return 0;
}

int run_table(const struct table *table)
{
	static struct CMUnitTest tests[TESTS_MAX];
	size_t count = 0;

	assert_true(table->row_count + table->sweep_count < TESTS_MAX);
	for (size_t i = 0; i < table->row_count; i++)
		tests[count++] = (struct CMUnitTest){
			.name = table->rows[i].name,
			.test_func = judges_row,
			.initial_state = (void *)(uintptr_t)&table->rows[i],
		};
	for (size_t i = 0; i < table->sweep_count; i++)
		tests[count++] = table->sweeps[i];
	tests[count++] = (struct CMUnitTest)cmocka_unit_test(counts_every_frame);
	running = table;
	return _cmocka_run_group_tests(table->name, tests, count, open_shared, close_shared);
}
