/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs the rows of a table, and sweeps beside them, as tests of one limiter. */
#ifndef TESTS_TABLE_H
#define TESTS_TABLE_H

#include "expect.h"

struct table {
	const char *name;
	struct policy (*policy)(void); /* NULL: roomy_policy() */
	const struct limiter_facts *facts;
	const struct row *rows;
	size_t row_count;
	const struct CMUnitTest *sweeps; /* after the rows, in order */
	size_t sweep_count;
};

/* What rows and sweeps share; open while the table runs. */
extern struct limiter shared;

/** expect() on the shared limiter; its packets count as sent. */
void judge(const char *name, const struct frame *frame, const struct outcome *want);
void judge_recipe(const char *name, const struct recipe *recipe, const struct outcome *want);
/** Packets that a sweep sent by itself. */
void count_sent(uint64_t frames);

/** Ends with a test that the packets seen are those that were sent. For main() to return. */
int run_table(const struct table *table);

#endif
