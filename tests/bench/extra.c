// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Comparisons beside the main table: other ways of a packet, other policies. */
#include "extra.h"

#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "columns.h"
#include "cpus.h"
#include "large_policy.h"
#include "mix.h"
#include "rows.h"

#define TABLE	      "table: {type: lru, sources: 1048576, new-sources: unlimited}\n"
#define DROPPING      TABLE "limits: [{name: default, rate: 1/h, burst: 1}]\n"
#define PASSING	      TABLE "limits: [{name: default, rate: 100000000 pps, burst: 1000000}]\n"
#define FLAT	      "table: {type: flat, sources: 1048576}\n"
#define FLAT_DROPPING FLAT "limits: [{name: default, rate: 1/h, burst: 1}]\n"
#define FLAT_PASSING  FLAT "limits: [{name: default, rate: 100000000 pps, burst: 1000000}]\n"
/* What an operator would write: its gate lets some new sources in while it is closed to most. */
#define USUAL "table: {sources: 1048576}\nlimits: [{name: default, rate: 1000 pps, burst: 2000}]\n"

#define SUBJECTS_MAX 8
#define NEWCOMERS    2000000

/* One line of the second table. Those with the same group are measured side by side. */
struct extra {
	const char *group;
	const char *name;
	const char *policy;	    /* or NULL: */
	char *(*make_policy)(void); /* a long one */
	enum bench_program program;
	const char *sources;
	unsigned int cpus;
	bool apart;	/* each CPU has sources of its own */
	bool malformed; /* frames */
	enum mix mix;
};

static const struct extra extras[] = {
	/* The generator: the difference of these two. */
	{"generator", "floor", DROPPING, NULL, BENCH_FLOOR, "1", 1, false, false, MIX_ANY},
	{"generator", "still", DROPPING, NULL, BENCH_STILL, "1", 1, false, false, MIX_ANY},
	{"generator-1k", "floor", DROPPING, NULL, BENCH_FLOOR, "1k", 1, false, false, MIX_ANY},
	{"generator-1k", "still", DROPPING, NULL, BENCH_STILL, "1k", 1, false, false, MIX_ANY},
#define PASS_DROP(n)                                                                               \
	{"pass-" n, "dropping", DROPPING, NULL, BENCH_LIMITER, n, 1, false, false, MIX_DROPPED},   \
	{                                                                                          \
		"pass-" n, "passing", PASSING, NULL, BENCH_LIMITER, n, 1, false, false, MIX_PASSED \
	}
/* Where the time goes. */
#define STAGES(n)                                                                                   \
	{"stages-" n, "floor", DROPPING, NULL, BENCH_FLOOR, n, 1, false, false, MIX_ANY},           \
		{"stages-" n, "lookup", DROPPING, NULL, BENCH_LOOKUP, n, 1, false, false, MIX_ANY}, \
		{"stages-" n, "judge", DROPPING, NULL, BENCH_JUDGE, n, 1, false, false, MIX_ANY},   \
		{"stages-" n, "reasons", DROPPING, NULL,  BENCH_REASONS,                            \
		 n,	      1,	 false,	   false, MIX_ANY},                                 \
	{                                                                                           \
		"stages-" n, "all", DROPPING, NULL, BENCH_LIMITER, n, 1, false, false, MIX_DROPPED  \
	}
	STAGES("1"),
	STAGES("1k"),
	STAGES("64k"),
	STAGES("1m"),
#undef STAGES
	PASS_DROP("1"),
	PASS_DROP("1k"),
	PASS_DROP("64k"),
	PASS_DROP("1m"),
#undef PASS_DROP
/* The same of the other table, which has no look-up to be cut off after. */
#define FLAT_GROUP(n)                                                                             \
	{                                                                                         \
		"flat-stages-" n, "floor", FLAT_DROPPING, NULL, BENCH_FLOOR, n, 1, false, false,  \
		MIX_ANY},                                                                         \
		{"flat-stages-" n, "judge", FLAT_DROPPING, NULL, BENCH_JUDGE, n, 1, false, false, \
		 MIX_ANY},                                                                        \
		{"flat-stages-" n,                                                                \
		 "reasons",                                                                       \
		 FLAT_DROPPING,                                                                   \
		 NULL,                                                                            \
		 BENCH_REASONS,                                                                   \
		 n,                                                                               \
		 1,                                                                               \
		 false,                                                                           \
		 false,                                                                           \
		 MIX_ANY},                                                                        \
		{"flat-stages-" n, "all", FLAT_DROPPING, NULL, BENCH_LIMITER, n, 1, false, false, \
		 MIX_DROPPED},                                                                    \
		{"flat-pass-" n, "dropping", FLAT_DROPPING, NULL, BENCH_LIMITER, n, 1,            \
		 false,		 false,	     MIX_DROPPED},                                        \
	{                                                                                         \
		"flat-pass-" n, "passing", FLAT_PASSING, NULL, BENCH_LIMITER, n, 1, false, false, \
			MIX_PASSED                                                                \
	}
	FLAT_GROUP("1"),
	FLAT_GROUP("1k"),
	FLAT_GROUP("64k"),
	FLAT_GROUP("1m"),
#undef FLAT_GROUP
	{"flat-shared", "passing", FLAT_PASSING, NULL, BENCH_LIMITER, "1", 1, false, false,
	 MIX_PASSED},
	{"flat-shared", "passing-2", FLAT_PASSING, NULL, BENCH_LIMITER, "1", 2, false, false,
	 MIX_PASSED},
	{"flat-apart-1k", "1", FLAT_DROPPING, NULL, BENCH_LIMITER, "1k", 1, true, false,
	 MIX_DROPPED},
	{"flat-apart-1k", "2", FLAT_DROPPING, NULL, BENCH_LIMITER, "1k", 2, true, false,
	 MIX_DROPPED},
	{"denied-1", "floor", DROPPING, NULL, BENCH_FLOOR, "1", 1, false, false, MIX_ANY},
	{"denied-1", "denied", NULL, denying_policy, BENCH_LIMITER, "1", 1, false, false,
	 MIX_DENIED},
	{"denied-1k", "floor", DROPPING, NULL, BENCH_FLOOR, "1k", 1, false, false, MIX_ANY},
	{"denied-1k", "denied", NULL, denying_policy, BENCH_LIMITER, "1k", 1, false, false,
	 MIX_DENIED},
	{"malformed", "floor", DROPPING, NULL, BENCH_FLOOR, "1k", 1, false, false, MIX_ANY},
	{"malformed", "malformed", DROPPING, NULL, BENCH_LIMITER, "1k", 1, false, true,
	 MIX_MALFORMED},
	{"large", "single", DROPPING, NULL, BENCH_LIMITER, "1k", 1, false, false, MIX_DROPPED},
	{"large", "large", NULL, large_policy, BENCH_LIMITER, "1k", 1, false, false, MIX_DROPPED},
	{"large", "large-no-lists", NULL, stacked_policy, BENCH_LIMITER, "1k", 1, false, false,
	 MIX_DROPPED},
	{"shared", "dropping", DROPPING, NULL, BENCH_LIMITER, "1", 1, false, false, MIX_DROPPED},
	{"shared", "dropping-2", DROPPING, NULL, BENCH_LIMITER, "1", 2, false, false, MIX_DROPPED},
	{"shared", "passing", PASSING, NULL, BENCH_LIMITER, "1", 1, false, false, MIX_PASSED},
	{"shared", "passing-2", PASSING, NULL, BENCH_LIMITER, "1", 2, false, false, MIX_PASSED},
	{"apart-1k", "1", DROPPING, NULL, BENCH_LIMITER, "1k", 1, true, false, MIX_DROPPED},
	{"apart-1k", "2", DROPPING, NULL, BENCH_LIMITER, "1k", 2, true, false, MIX_DROPPED},
	{"apart-64k", "1", DROPPING, NULL, BENCH_LIMITER, "64k", 1, true, false, MIX_DROPPED},
	{"apart-64k", "2", DROPPING, NULL, BENCH_LIMITER, "64k", 2, true, false, MIX_DROPPED},
	{"usual-gate", "floor", DROPPING, NULL, BENCH_FLOOR, "spoofed", 1, false, false, MIX_ANY},
	{"usual-gate", "spoofed", USUAL, NULL, BENCH_LIMITER, "spoofed", 1, false, false, MIX_ANY},
};

#define EXTRAS (sizeof(extras) / sizeof(extras[0]))

struct entry {
	struct bench bench;
	struct frame frame;
	struct contestant contestant;
	struct counters before;
};

static void make_frame(const struct extra *extra, struct frame *frame)
{
	bench_frame(frame, 4);
	if (extra->malformed)
		frame->bytes[14] = 0x40; /* a header of no words */
}

static void open_policy(const struct extra *extra, struct bench *bench)
{
	char *text = extra->policy ? NULL : extra->make_policy();

	if (!bench_open(bench, extra->policy ?: text))
		errx(1, "%s: the policy is not understood", extra->group);
	free(text);
}

/* The sources of all CPUs, each at least once. */
static void warm_up(const struct extra *extra, struct entry *entry)
{
	const struct column *column = column_named(extra->sources);
	uint32_t all = column->count * (extra->apart ? cpus_usable() : 1);

	if (!column->count) {
		draw_new(&entry->bench, &entry->frame);
		bench_run(&entry->bench, BENCH_LIMITER, &entry->frame, NEWCOMERS);
		return;
	}
	draw_each(&entry->bench, &entry->frame, 0);
	bench_run(&entry->bench, BENCH_LIMITER, &entry->frame, all);
	draw_random(&entry->bench, &entry->frame, column->count, extra->apart);
}

static void enter(const struct extra *extra, struct entry *entry, struct subject *subject)
{
	make_frame(extra, &entry->frame);
	open_policy(extra, &entry->bench);
	warm_up(extra, entry);
	entry->contestant = (struct contestant){&entry->bench, extra->program, &entry->frame,
						extra->cpus};
	bench_hold(&entry->bench, extra->program);
	*subject = (struct subject){
		.name = extra->name,
		.batch = batch_on_cpus,
		.context = &entry->contestant,
		.run_in = column_run_in(column_named(extra->sources)),
	};
	mix_start(&entry->bench, &entry->before);
}

static void leave(const struct extra *extra, struct entry *entry, const struct subject *subject,
		  bool anyhow)
{
	char name[64];

	mix_check(&entry->bench, &entry->before, extra->mix, extra->group, anyhow);
	snprintf(name, sizeof(name), "%s/%s", extra->group, extra->name);
	write_row(&(struct row){"extra", name, extra->sources, extra->cpus, 4}, subject);
	bench_close(&entry->bench);
}

static void measure_group(const struct extra *first, size_t count, const struct effort *effort)
{
	static struct entry entries[SUBJECTS_MAX];
	static struct subject subjects[SUBJECTS_MAX];

	say("extra: %s\n", first->group);
	for (size_t i = 0; i < count; i++)
		enter(&first[i], &entries[i], &subjects[i]);
	measure(subjects, count, effort);
	for (size_t i = 0; i < count; i++)
		leave(&first[i], &entries[i], &subjects[i], effort->anyhow);
}

/* Loading takes most of the time of a run that is only to show that it runs. */
static bool is_sample(const char *group)
{
	static const char *const samples[] = {"generator", "denied-1", "flat-shared"};

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		if (!strcmp(samples[i], group))
			return true;
	return false;
}

static bool wanted(const struct extra *extra, size_t count, const struct effort *effort)
{
	for (size_t i = 0; i < count; i++)
		if (extra[i].cpus > cpus_usable() || (effort->anyhow && !is_sample(extra[i].group)))
			return false;
	return true;
}

void measure_extra(const struct effort *effort)
{
	size_t first = 0, end;

	for (; first < EXTRAS; first = end) {
		for (end = first; end < EXTRAS; end++)
			if (strcmp(extras[end].group, extras[first].group))
				break;
		if (wanted(&extras[first], end - first, effort))
			measure_group(&extras[first], end - first, effort);
	}
}
