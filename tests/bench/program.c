// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the program costs: yardsticks and tables side by side, by number of sources, CPUs and family.
 *
 * --quick: few batches, too short to mean anything, for a test that this still runs. Tables that this
 * version does not have are left out.
 */
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "columns.h"
#include "cpus.h"
#include "extra.h"
#include "mix.h"
#include "rows.h"

/*
 * One packet an hour: who has had it is refused for as long as this runs. The gate would keep most of
 * a million sources out, so it is there only where sources are new.
 */
#define ONE_AN_HOUR	  "limits: [{name: default, rate: 1/h, burst: 1}]\n"
#define TABLE(type, more) "table: {type: " type ", sources: 1048576" more "}\n"

#define NEWCOMERS 2000000 /* packets that use up the gate's burst, or fill the table */

struct limiter_kind {
	const char *name;
	const char *known; /* policy for sources that come again */
	enum mix known_mix;
	const char *new; /* policy for sources that never do */
	enum mix new_mix;
};

static const struct limiter_kind kinds[] = {
	{"lru", TABLE("lru", ", new-sources: unlimited") ONE_AN_HOUR, MIX_DROPPED,
	 TABLE("lru", "") ONE_AN_HOUR, MIX_CLOSED},
	/* New sources find an idle slot and take it: what costs most. */
	{"flat", TABLE("flat", "") ONE_AN_HOUR, MIX_DROPPED,
	 TABLE("flat", "") "limits: [{name: default, rate: 1000 pps, burst: 2000}]\n", MIX_ANY},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct round {
	const struct column *column;
	unsigned int family, cpus;
	const struct effort *effort;
};

static bool opened[KINDS];
static struct bench benches[KINDS];

/* Every known source has had its packet; new ones have used up the gate's burst. */
static void warm_up(struct bench *bench, const struct frame *frame, const struct column *column)
{
	draw_each(bench, frame, 0);
	for (int i = 0; column->count && i < 2; i++) {
		bench_run(bench, BENCH_LIMITER, frame, column->count);
		draw_each(bench, frame, 0);
	}
	draw_column(bench, frame, column);
	if (!column->count)
		bench_run(bench, BENCH_LIMITER, frame, NEWCOMERS);
}

static void open_kinds(const struct column *column, const struct frame *frame)
{
	for (size_t i = 0; i < KINDS; i++) {
		opened[i] = bench_open(&benches[i], column->count ? kinds[i].known : kinds[i].new);
		if (opened[i])
			warm_up(&benches[i], frame, column);
	}
}

static void close_kinds(void)
{
	for (size_t i = 0; i < KINDS; i++)
		if (opened[i])
			bench_close(&benches[i]);
}

static enum mix mix_of(size_t kind, const struct column *column)
{
	return column->count ? kinds[kind].known_mix : kinds[kind].new_mix;
}

static void enter(struct subject *subject, const char *name, struct contestant *contestant,
		  const struct column *column)
{
	bench_hold(contestant->bench, contestant->program);
	*subject = (struct subject){
		.name = name,
		.batch = batch_on_cpus,
		.context = contestant,
		.run_in = column_run_in(column),
	};
}

static void measure_round(const struct round *round, const struct frame *frame)
{
	struct contestant contestants[KINDS + 2];
	static struct subject subjects[KINDS + 2];
	struct counters before[KINDS];
	const char *names[KINDS + 2] = {"floor", "touch"};
	size_t count = 0;

	contestants[count++] = (struct contestant){&benches[0], BENCH_FLOOR, frame, round->cpus};
	contestants[count++] = (struct contestant){&benches[0], BENCH_TOUCH, frame, round->cpus};
	for (size_t i = 0; i < KINDS; i++) {
		if (!opened[i])
			continue;
		names[count] = kinds[i].name;
		contestants[count++] = (struct contestant){&benches[i], BENCH_LIMITER, frame,
							   round->cpus};
		mix_start(&benches[i], &before[i]);
	}
	for (size_t i = 0; i < count; i++)
		enter(&subjects[i], names[i], &contestants[i], round->column);
	measure(subjects, count, round->effort);
	for (size_t i = 0; i < KINDS; i++)
		if (opened[i])
			mix_check(&benches[i], &before[i], mix_of(i, round->column), kinds[i].name,
				  round->effort->anyhow);
	for (size_t i = 0; i < count; i++)
		write_row(&(struct row){"program", subjects[i].name, round->column->name,
					round->cpus, round->family},
			  &subjects[i]);
}

static void measure_column(const struct column *column, unsigned int family,
			   const struct effort *effort)
{
	struct frame frame;

	say("program: %s, IPv%u\n", column->name, family);
	bench_frame(&frame, family);
	open_kinds(column, &frame);
	for (unsigned int cpus = 1; cpus <= 2 && cpus <= cpus_usable(); cpus++)
		measure_round(&(struct round){column, family, cpus, effort}, &frame);
	close_kinds();
}

int main(int argc, char **argv)
{
	const struct effort *effort = &thorough;

	if (argc > 1 && !strcmp(argv[1], "--quick"))
		effort = &quick;
	else if (argc > 1)
		errx(2, "usage: %s [--quick]", argv[0]);
	/* A generator belongs to a CPU: a walk over all sources must not move to another one. */
	stay_on(0);
	for (unsigned int family = 4; family <= 6; family += 2)
		for (size_t i = 0; i < COLUMNS; i++)
			if (!effort->anyhow || (columns[i].count == 1000 && family == 4) ||
			    (!columns[i].count && family == 6))
				measure_column(&columns[i], family, effort);
	measure_extra(effort);
	return 0;
}
