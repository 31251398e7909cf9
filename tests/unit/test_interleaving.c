// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The charge protocol in all orders: random interleavings of its single steps on virtual CPUs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "abi.h"
#include "algorithm.h"
#include "random.h"

/*
 * Each access to a shared word and each reading of the clock is one step; between any two steps
 * other CPUs may run and time may pass. The arithmetic is that of algorithm.h. A packet's time is
 * the clock reading that it was judged with, however old that has become, and over-admission is
 * measured on these stamps.
 */
#define CPUS_MAX    6
#define LIMITS_MAX  3
#define PACKETS_MAX 8 /* per CPU */
#define TRIES_MAX   8
#define CLAMP_TRIES 4
#define SLACK	    64

/* How the protocol may be got wrong: each of these must be caught, or the model proves nothing. */
enum mistake {
	NO_MISTAKE,
	UNDO_BY_SUBTRACTION,
	ADMIT_ON_IDLE_ADDITION, /* what fetch-and-add found lies before now: the clamp is missing */
	UNDO_BLINDLY,		/* store what was there before */
	REPAIR_BY_OLD_CLOCK,	/* without reading it again */
	REPAIR_CLOCK_BEFORE_WORD /* a CPU held up between the two takes a good word for foreign */
};

struct scenario {
	const char *name;
	enum mistake mistake;
	unsigned int runs;
	unsigned int cpus_max;
	unsigned int limits_max;
	unsigned int burst_max; /* in packets */
	unsigned int skew;	/* ticks that CPU clocks may differ, below SLACK */
	bool clock_stands;
	bool foreign_words;
};

enum step {
	READ_CLOCK,
	CHECK,
	LOAD,
	SWAP,
	ADD,
	CLAMP,
	TAKE_BACK,
	UNDO,
	REPAIR_LOAD,
	REPAIR_CLOCK,
	REPAIR_SWAP,
	FINISHED,
	STEP_COUNT = FINISHED,
};

struct cpu {
	enum step step;
	unsigned int packets; /* still to come */
	unsigned int weight;  /* how often it gets to run */
	unsigned int skew;
	unsigned int at; /* the limit in hand */
	unsigned int undone;
	unsigned int tries;
	bool foreign; /* repair limits[at] once the packet is undone */
	uint64_t now;
	uint64_t seen;
	uint64_t repair_now;
	uint64_t cost[LIMITS_MAX];
	uint64_t left[LIMITS_MAX];
};

struct admission {
	uint64_t stamp; /* since the start */
	uint64_t cost[LIMITS_MAX];
};

/* What happened, to know that everything did. */
struct happened {
	uint64_t steps[STEP_COUNT];
	uint64_t admitted, undone, undo_lost, tries_ran_out, repaired, over;
};

struct world {
	const struct scenario *scenario;
	uint64_t seed;
	uint64_t start, clock;
	uint64_t gap; /* the clock moves by less than this at a time */
	unsigned int cpu_count, limit_count;
	struct limit limits[LIMITS_MAX];
	uint64_t words[LIMITS_MAX], first_words[LIMITS_MAX];
	uint64_t lost[LIMITS_MAX]; /* ticks that stand although their packet was dropped */
	struct cpu cpus[CPUS_MAX];
	struct admission admissions[CPUS_MAX * PACKETS_MAX];
	unsigned int admitted;
	struct happened *happened;
};

static uint32_t fanout(const struct world *world)
{
	return world->cpu_count + 1;
}

static bool swap(uint64_t *word, uint64_t old, uint64_t new)
{
	if (*word != old)
		return false;
	*word = new;
	return true;
}

/* ---- the protocol, step by step ---- */

static void next_packet(struct cpu *cpu)
{
	cpu->step = cpu->packets ? READ_CLOCK : FINISHED;
}

/*
 * The word first, the clock after it: then a word of this limit is at most a burst ahead of the
 * reading, however long the CPU is held up in between.
 */
static void start_repair(struct world *world, struct cpu *cpu)
{
	cpu->repair_now = cpu->now;
	cpu->step = world->scenario->mistake == REPAIR_CLOCK_BEFORE_WORD ? REPAIR_CLOCK
									 : REPAIR_LOAD;
}

static void drop_packet(struct world *world, struct cpu *cpu)
{
	if (cpu->undone < cpu->at)
		cpu->step = UNDO;
	else if (cpu->foreign)
		start_repair(world, cpu);
	else
		next_packet(cpu);
}

static void admit_packet(struct world *world, struct cpu *cpu)
{
	struct admission *admission = &world->admissions[world->admitted++];

	admission->stamp = cpu->now - world->start;
	memcpy(admission->cost, cpu->cost, sizeof(admission->cost));
	world->happened->admitted++;
	next_packet(cpu);
}

static void charged(struct world *world, struct cpu *cpu, uint64_t left)
{
	cpu->left[cpu->at++] = left;
	if (cpu->at == world->limit_count)
		admit_packet(world, cpu);
	else
		cpu->step = LOAD;
}

static void read_clock(struct world *world, struct cpu *cpu)
{
	uint64_t units = 1 + random_below(&world->seed, 2);

	cpu->packets--;
	cpu->now = world->clock + cpu->skew;
	cpu->at = 0;
	cpu->undone = 0;
	cpu->foreign = false;
	for (unsigned int i = 0; i < world->limit_count; i++)
		cpu->cost[i] = cost_ticks(units, world->limits[i].multiplier,
					  world->limits[i].shift);
	cpu->step = world->limit_count > 1 ? CHECK : LOAD;
}

static void check(struct world *world, struct cpu *cpu)
{
	const struct limit *limit = &world->limits[cpu->at];
	uint64_t debt = gcra_debt(world->words[cpu->at], cpu->now);

	if (!gcra_fits(debt, cpu->cost[cpu->at], limit->burst)) {
		if (gcra_foreign(debt, limit->burst, limit->slack))
			start_repair(world, cpu);
		else
			next_packet(cpu);
		return;
	}
	if (++cpu->at == world->limit_count) {
		cpu->at = 0;
		cpu->step = LOAD;
	}
}

/* What to do about the word as it was seen; touches nothing shared. */
static void decide(struct world *world, struct cpu *cpu)
{
	const struct limit *limit = &world->limits[cpu->at];
	uint64_t debt = gcra_debt(cpu->seen, cpu->now), cost = cpu->cost[cpu->at];

	if (!gcra_fits(debt, cost, limit->burst)) {
		cpu->foreign = gcra_foreign(debt, limit->burst, limit->slack);
		drop_packet(world, cpu);
	} else if (gcra_roomy(debt, cost, limit->burst, limit->share, fanout(world))) {
		cpu->step = ADD;
	} else {
		cpu->step = SWAP;
	}
}

static void load(struct world *world, struct cpu *cpu)
{
	cpu->tries = 0;
	cpu->seen = world->words[cpu->at];
	decide(world, cpu);
}

static void swap_in(struct world *world, struct cpu *cpu)
{
	uint64_t debt = gcra_debt(cpu->seen, cpu->now);
	uint64_t next = cpu->now + debt + cpu->cost[cpu->at];

	if (swap(&world->words[cpu->at], cpu->seen, next)) {
		charged(world, cpu, next);
		return;
	}
	cpu->seen = world->words[cpu->at];
	if (++cpu->tries < TRIES_MAX) {
		decide(world, cpu);
		return;
	}
	world->happened->tries_ran_out++;
	drop_packet(world, cpu);
}

static void add(struct world *world, struct cpu *cpu)
{
	const struct limit *limit = &world->limits[cpu->at];
	uint64_t cost = cpu->cost[cpu->at], debt;

	cpu->seen = world->words[cpu->at];
	world->words[cpu->at] += cost;
	debt = cpu->seen - cpu->now;
	if (world->scenario->mistake == ADMIT_ON_IDLE_ADDITION)
		debt = gcra_debt(cpu->seen, cpu->now);
	if (debt >= GCRA_PAST) {
		cpu->seen += cost;
		cpu->tries = 0;
		cpu->step = CLAMP;
		return;
	}
	if (gcra_fits(debt, cost, limit->burst))
		charged(world, cpu, cpu->seen + cost);
	else
		cpu->step = TAKE_BACK;
}

static void count_lost(struct world *world, unsigned int i, uint64_t cost)
{
	world->lost[i] += cost;
	world->happened->undo_lost++;
}

/* The addition found an idle word: charged from now, as long as the word lies before it. */
static void clamp(struct world *world, struct cpu *cpu)
{
	uint64_t cost = cpu->cost[cpu->at], next = cpu->now + cost;

	if (swap(&world->words[cpu->at], cpu->seen, next)) {
		charged(world, cpu, next);
		return;
	}
	cpu->seen = world->words[cpu->at];
	if (++cpu->tries < CLAMP_TRIES && cpu->seen - cpu->now >= GCRA_PAST)
		return;
	count_lost(world, cpu->at, cost);
	drop_packet(world, cpu);
}

static void take_back(struct world *world, struct cpu *cpu)
{
	uint64_t cost = cpu->cost[cpu->at];

	if (!swap(&world->words[cpu->at], cpu->seen + cost, cpu->seen))
		count_lost(world, cpu->at, cost);
	drop_packet(world, cpu);
}

static void undo_one(struct world *world, unsigned int i, uint64_t left, uint64_t cost)
{
	world->happened->undone++;
	if (world->scenario->mistake == UNDO_BY_SUBTRACTION)
		world->words[i] -= cost;
	else if (world->scenario->mistake == UNDO_BLINDLY)
		world->words[i] = left - cost;
	else if (!swap(&world->words[i], left, left - cost))
		count_lost(world, i, cost);
}

static void undo(struct world *world, struct cpu *cpu)
{
	unsigned int i = cpu->undone++;

	undo_one(world, i, cpu->left[i], cpu->cost[i]);
	drop_packet(world, cpu);
}

static void repair_load(struct world *world, struct cpu *cpu)
{
	enum mistake mistake = world->scenario->mistake;

	cpu->seen = world->words[cpu->at];
	cpu->step = mistake == REPAIR_BY_OLD_CLOCK || mistake == REPAIR_CLOCK_BEFORE_WORD
			    ? REPAIR_SWAP
			    : REPAIR_CLOCK;
}

static void repair_clock(struct world *world, struct cpu *cpu)
{
	cpu->repair_now = world->clock + cpu->skew;
	cpu->step = world->scenario->mistake == REPAIR_CLOCK_BEFORE_WORD ? REPAIR_LOAD
									 : REPAIR_SWAP;
}

static void repair_swap(struct world *world, struct cpu *cpu)
{
	const struct limit *limit = &world->limits[cpu->at];
	uint64_t debt = gcra_debt(cpu->seen, cpu->repair_now);

	if (gcra_foreign(debt, limit->burst, limit->slack))
		world->happened->repaired += swap(&world->words[cpu->at], cpu->seen,
						  cpu->repair_now + limit->burst);
	next_packet(cpu);
}

static void (*const steps[STEP_COUNT])(struct world *world, struct cpu *cpu) = {
	[READ_CLOCK] = read_clock,
	[CHECK] = check,
	[LOAD] = load,
	[SWAP] = swap_in,
	[ADD] = add,
	[CLAMP] = clamp,
	[TAKE_BACK] = take_back,
	[UNDO] = undo,
	[REPAIR_LOAD] = repair_load,
	[REPAIR_CLOCK] = repair_clock,
	[REPAIR_SWAP] = repair_swap,
};

/* ---- one run ---- */

static void make_limit(struct world *world, unsigned int i)
{
	const struct scenario *scenario = world->scenario;
	uint64_t packets = 1 + random_below(&world->seed, scenario->burst_max);
	struct limit *limit = &world->limits[i];

	limit->shift = (uint8_t)random_below(&world->seed, 3);
	limit->multiplier = (1 + random_below(&world->seed, 12)) << limit->shift;
	limit->burst = cost_ticks(packets, limit->multiplier, limit->shift);
	limit->share = limit->burst / fanout(world);
	limit->slack = SLACK;
	/* Busy by any part of the burst, or idle. */
	world->words[i] = world->start + 1 + random_below(&world->seed, limit->burst);
	if (!scenario->clock_stands && random_below(&world->seed, 2))
		world->words[i] = world->start - random_below(&world->seed, 1000);
	/*
	 * So far ahead that no clock of the run comes near: a good word that equals, to the tick,
	 * a foreign one that a CPU saw before it was held up for a second is left out.
	 */
	if (scenario->foreign_words && random_below(&world->seed, 2))
		world->words[i] = world->start + (1ULL << 32) +
				  random_below(&world->seed, 1ULL << 32);
	world->first_words[i] = world->words[i];
}

static void make_world(struct world *world, const struct scenario *scenario, uint64_t seed,
		       struct happened *happened)
{
	*world = (struct world){.scenario = scenario, .seed = seed, .happened = happened};
	/* Near a wrap of the clock, so that all differences must be modular. */
	world->start = random_below(&world->seed, 400) - 200;
	world->clock = world->start;
	world->gap = random_magnitude(&world->seed, 8);
	world->cpu_count = 1 + (unsigned int)random_below(&world->seed, scenario->cpus_max);
	world->limit_count = 1 + (unsigned int)random_below(&world->seed, scenario->limits_max);
	for (unsigned int i = 0; i < world->limit_count; i++)
		make_limit(world, i);
	for (unsigned int i = 0; i < world->cpu_count; i++) {
		struct cpu *cpu = &world->cpus[i];

		cpu->packets = 1 + (unsigned int)random_below(&world->seed, PACKETS_MAX);
		cpu->weight = (unsigned int)random_magnitude(&world->seed, 6);
		if (scenario->skew)
			cpu->skew = (unsigned int)random_below(&world->seed, scenario->skew);
		cpu->step = READ_CLOCK;
	}
}

/* The next to run, by weight: a light one is held up for long between two of its steps. */
static struct cpu *pick_cpu(struct world *world)
{
	uint64_t total = 0, ticket;

	for (unsigned int i = 0; i < world->cpu_count; i++)
		if (world->cpus[i].step != FINISHED)
			total += world->cpus[i].weight;
	if (!total)
		return NULL;
	ticket = random_below(&world->seed, total);
	for (unsigned int i = 0; i < world->cpu_count; i++) {
		if (world->cpus[i].step == FINISHED)
			continue;
		if (ticket < world->cpus[i].weight)
			return &world->cpus[i];
		ticket -= world->cpus[i].weight;
	}
	return NULL;
}

static void run_world(struct world *world)
{
	struct cpu *cpu;

	while ((cpu = pick_cpu(world)) != NULL) {
		world->happened->steps[cpu->step]++;
		steps[cpu->step](world, cpu);
		if (!world->scenario->clock_stands && !random_below(&world->seed, 4))
			world->clock += random_below(&world->seed, world->gap);
	}
}

static int by_stamp(const void *a, const void *b)
{
	const struct admission *first = a, *second = b;

	return (first->stamp > second->stamp) - (first->stamp < second->stamp);
}

/* Ticks by which the worst window on stamps is over burst + W, for one limit; 0 when none is. */
static uint64_t over_admission(const struct world *world, unsigned int i)
{
	uint64_t burst = world->limits[i].burst, full = 0, worst = 0;

	for (unsigned int n = 0; n < world->admitted; n++) {
		const struct admission *admission = &world->admissions[n];

		if (full < admission->stamp)
			full = admission->stamp;
		full += admission->cost[i];
		if (full - admission->stamp > burst + worst)
			worst = full - admission->stamp - burst;
	}
	return worst;
}

/* With a standing clock nothing drains: the word is the sum of what was admitted and lost. */
static uint64_t unexplained(const struct world *world, unsigned int i)
{
	uint64_t sum = world->first_words[i] + world->lost[i];

	for (unsigned int n = 0; n < world->admitted; n++)
		sum += world->admissions[n].cost[i];
	return world->words[i] - sum;
}

static void judge_world(struct world *world, uint64_t seed)
{
	const struct scenario *scenario = world->scenario;
	uint64_t over, rest;

	qsort(world->admissions, world->admitted, sizeof(world->admissions[0]), by_stamp);
	for (unsigned int i = 0; i < world->limit_count; i++) {
		over = over_admission(world, i);
		world->happened->over += over > 0;
		if (over && !scenario->mistake)
			fail_msg("seed %llu: limit %u over by %llu ticks", (unsigned long long)seed,
				 i, (unsigned long long)over);
		rest = unexplained(world, i);
		if (scenario->clock_stands && rest)
			fail_msg("seed %llu: limit %u has %lld ticks that nobody was admitted for",
				 (unsigned long long)seed, i, (long long)rest);
	}
	if (world->cpu_count == 1 && (world->lost[0] || world->lost[1] || world->lost[2]))
		fail_msg("seed %llu: a single CPU lost a charge", (unsigned long long)seed);
}

static struct happened run_scenario(const struct scenario *scenario)
{
	static struct world world;
	struct happened happened = {0};

	/* A mistake is proven by the first run that shows it. */
	for (uint64_t seed = 1; seed <= scenario->runs && !happened.over; seed++) {
		make_world(&world, scenario, seed, &happened);
		run_world(&world);
		judge_world(&world, seed);
	}
	return happened;
}

/* ---- scenarios ---- */

static const struct scenario right[] = {
	{.name = "one to six CPUs, one to three limits: over-admission is 0",
	 .runs = 150000,
	 .cpus_max = 6,
	 .limits_max = 3,
	 .burst_max = 24},
	{.name = "few CPUs and short bursts, a million times: over-admission is 0",
	 .runs = 1000000,
	 .cpus_max = 4,
	 .limits_max = 3,
	 .burst_max = 8},
	{.name = "clocks that differ between CPUs: over-admission is 0",
	 .runs = 100000,
	 .cpus_max = 6,
	 .limits_max = 3,
	 .burst_max = 24,
	 .skew = SLACK},
	{.name = "words far ahead of the clock: repaired, over-admission is 0",
	 .runs = 100000,
	 .cpus_max = 6,
	 .limits_max = 2,
	 .burst_max = 12,
	 .foreign_words = true},
	{.name = "a dropped packet consumes nothing, but what is counted as lost",
	 .runs = 100000,
	 .cpus_max = 6,
	 .limits_max = 3,
	 .burst_max = 24,
	 .clock_stands = true},
	{.name = "O-041: one token is never spent twice",
	 .runs = 50000,
	 .cpus_max = 6,
	 .limits_max = 1,
	 .burst_max = 2},
};

static const struct scenario wrong[] = {
	{.name = "undo by subtraction over-admits",
	 .mistake = UNDO_BY_SUBTRACTION,
	 .runs = 50000,
	 .cpus_max = 6,
	 .limits_max = 3,
	 .burst_max = 24},
	{.name = "undo by a plain store over-admits",
	 .mistake = UNDO_BLINDLY,
	 .runs = 50000,
	 .cpus_max = 6,
	 .limits_max = 3,
	 .burst_max = 24},
	{.name = "admitting an addition that found an idle word over-admits",
	 .mistake = ADMIT_ON_IDLE_ADDITION,
	 .runs = 5000000,
	 .cpus_max = 4,
	 .limits_max = 3,
	 .burst_max = 8},
	{.name = "repair without reading the clock again over-admits",
	 .mistake = REPAIR_BY_OLD_CLOCK,
	 .runs = 50000,
	 .cpus_max = 6,
	 .limits_max = 2,
	 .burst_max = 12},
	{.name = "repair that reads the clock before the word over-admits",
	 .mistake = REPAIR_CLOCK_BEFORE_WORD,
	 .runs = 50000,
	 .cpus_max = 6,
	 .limits_max = 2,
	 .burst_max = 12},
};

#define RIGHT (sizeof(right) / sizeof(right[0]))
#define WRONG (sizeof(wrong) / sizeof(wrong[0]))

static void test_right(void **state)
{
	run_scenario(*state);
}

static void test_wrong(void **state)
{
	struct happened happened = run_scenario(*state);

	if (!happened.over)
		fail_msg("the model does not notice it in %llu admissions",
			 (unsigned long long)happened.admitted);
}

/* A model in which a branch is never taken says nothing about it. */
static void test_everything_happens(void **state)
{
	const struct scenario scenario = {
		.runs = 100000,
		.cpus_max = 6,
		.limits_max = 3,
		.burst_max = 24,
		.foreign_words = true,
	};
	struct happened happened = run_scenario(&scenario);

	(void)state;
	for (unsigned int step = 0; step < STEP_COUNT; step++)
		assert_in_range(happened.steps[step], 10, UINT64_MAX); /* CLAMP is rare */
	assert_in_range(happened.admitted, 100000, UINT64_MAX);
	assert_in_range(happened.undone, 1000, UINT64_MAX);
	assert_in_range(happened.undo_lost, 1000, UINT64_MAX);
	assert_in_range(happened.repaired, 1000, UINT64_MAX);
	assert_in_range(happened.tries_ran_out, 1, UINT64_MAX);
}

int main(void)
{
	struct CMUnitTest tests[RIGHT + WRONG + 1] = {
		{"every step of the protocol is taken", test_everything_happens, NULL, NULL, NULL},
	};

	for (unsigned int i = 0; i < RIGHT; i++)
		tests[1 + i] = (struct CMUnitTest){right[i].name, test_right, NULL, NULL,
						   (void *)&right[i]};
	for (unsigned int i = 0; i < WRONG; i++)
		tests[1 + RIGHT + i] = (struct CMUnitTest){wrong[i].name, test_wrong, NULL, NULL,
							   (void *)&wrong[i]};
	return cmocka_run_group_tests_name("interleaving", tests, NULL, NULL);
}
