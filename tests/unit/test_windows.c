// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Windows and logs: their arithmetic against plain models, their bounds, their words in all orders. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "algorithm.h"
#include "compile.h"
#include "random.h"

__extension__ typedef unsigned __int128 u128;

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SECOND	 NS_PER_SECOND
#define MS	 1000000ULL
#define DAY	 (86400 * SECOND)
#define START	 (5 * DAY + 12345)

static struct policy_limit written(enum algorithm algorithm, enum unit unit, uint64_t amount,
				   uint64_t per_ns)
{
	return (struct policy_limit){
		.name = "test",
		.rate = {LIMIT_METERED, unit, amount, per_ns},
		.burst = amount,
		.algorithm = algorithm,
	};
}

static struct limit compiled(const struct policy_limit *limit)
{
	struct complaint why = {""};
	struct limit result;

	if (compile_limit(limit, -1, 2, &result, &why))
		fail_msg("%s", why.text);
	return result;
}

static struct limit packets(enum algorithm algorithm, uint64_t amount, uint64_t per_ns)
{
	struct policy_limit limit = written(algorithm, UNIT_PACKETS, amount, per_ns);

	return compiled(&limit);
}

/* ---- one source on one CPU, as the kernel does it ---- */

struct meter {
	const struct limit *limit;
	struct window window;
	__u64 word;
	struct log_slots log;
};

static struct meter meter_new(const struct limit *limit, uint64_t now_ns)
{
	return (struct meter){limit, window_of(limit), idle_word(limit, now_ns), {{0}}};
}

static bool charge_window(struct meter *meter, uint64_t now_ns, uint64_t units)
{
	uint64_t moment = window_moment(&meter->window, now_ns);
	uint64_t rolled = window_roll(&meter->window, meter->word, moment);

	if (units > meter->limit->max_units || !window_fits(&meter->window, rolled, moment, units))
		return false;
	meter->word = rolled + units;
	return true;
}

static bool charge_log(struct meter *meter, uint64_t now_ns, uint64_t units)
{
	const struct limit *limit = meter->limit;
	uint64_t now = log_time(now_ns), open = 0;

	for (uint64_t i = 0; i < limit->burst; i++)
		open += slot_free(meter->log.admitted[i], now, limit->multiplier) |
			slot_doubtful(meter->log.admitted[i], now, limit->slack);
	if (open < units)
		return false;
	for (uint64_t i = 0; units; i++)
		if (slot_free(meter->log.admitted[i], now, limit->multiplier) |
		    slot_doubtful(meter->log.admitted[i], now, limit->slack)) {
			meter->log.admitted[i] = now;
			units--;
		}
	return true;
}

static bool charge_bucket(struct meter *meter, uint64_t now_ns, uint64_t units)
{
	const struct limit *limit = meter->limit;
	uint64_t now = now_ns << limit->tick, debt = gcra_debt(meter->word, now);
	uint64_t cost = cost_ticks(units, limit->multiplier, limit->shift);

	if (units > limit->max_units || !gcra_fits(debt, cost, limit->burst))
		return false;
	meter->word = now + debt + cost;
	return true;
}

static bool meter_charge(struct meter *meter, uint64_t now_ns, uint64_t units)
{
	if (is_window(meter->limit->algorithm))
		return charge_window(meter, now_ns, units);
	if (meter->limit->algorithm == ALGORITHM_SLIDING_LOG)
		return charge_log(meter, now_ns, units);
	return charge_bucket(meter, now_ns, units);
}

static uint64_t meter_burst(struct meter *meter, uint64_t now_ns, uint64_t offered)
{
	uint64_t admitted = 0;

	while (offered--)
		admitted += meter_charge(meter, now_ns, 1);
	return admitted;
}

/* ---- how time is tiled ---- */

/* Without any wrap: the number of the window, and where it ends. */
static u128 exact_moment(const struct limit *limit, uint64_t now_ns)
{
	return (u128)(now_ns >> limit->shift) * limit->multiplier;
}

static uint64_t window_end(const struct limit *limit, uint64_t now_ns)
{
	u128 next = ((exact_moment(limit, now_ns) >> WINDOW_BITS) + 1) << WINDOW_BITS;

	return (uint64_t)((next + limit->multiplier - 1) / limit->multiplier) << limit->shift;
}

static uint64_t random_window(uint64_t *seed)
{
	uint64_t window;

	do
		window = random_magnitude(seed, 60);
	while (window < MS);
	return window;
}

static void test_tiling(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		uint64_t window = random_window(&seed), now = random_magnitude(&seed, 62);
		struct limit limit = packets(ALGORITHM_FIXED_WINDOW, 1, window);
		uint64_t begin = window_end(&limit, now), end = window_end(&limit, begin);

		assert_in_range(limit.multiplier, 1ULL << 19, 1ULL << 34);
		assert_in_range(1ULL << limit.shift, 1, window / 16384);
		/* Never shorter; longer by one step, and by what 20 bits can't say. */
		if (end - begin < window ||
		    (double)(end - begin) > (double)window * (1 + 2 / 16384. + 3e-6))
			fail_msg("window of %llu ns at %llu: %llu", (unsigned long long)window,
				 (unsigned long long)begin, (unsigned long long)(end - begin));
	}
}

static void test_mean_rate(void **state)
{
	uint64_t seed = 2;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		uint64_t window = random_window(&seed);
		struct limit limit = packets(ALGORITHM_FIXED_WINDOW, 1, window);
		double mean = (double)WINDOW_SPAN / (double)limit.multiplier *
			      (double)(1ULL << limit.shift);

		assert_true(mean >= (double)window && mean <= (double)window * (1 + 1e-4));
	}
}

/* ---- single steps against models ---- */

/* Counts by the true number of the window, which no word could hold. */
struct model {
	u128 window;
	uint64_t previous, current;
	uint64_t times[512]; /* of the log: the last admissions */
	unsigned int admitted;
};

static void model_roll(struct model *model, u128 window)
{
	if (window == model->window)
		return;
	model->previous = window == model->window + 1 ? model->current : 0;
	model->current = 0;
	model->window = window;
}

static bool model_window(struct model *model, const struct limit *limit, uint64_t now_ns,
			 uint64_t units)
{
	u128 moment = exact_moment(limit, now_ns), used;

	model_roll(model, moment >> WINDOW_BITS);
	used = (u128)(model->current + units) << WINDOW_BITS;
	if (limit->algorithm == ALGORITHM_SLIDING_WINDOW)
		used += (u128)model->previous * (WINDOW_SPAN - (uint64_t)(moment % WINDOW_SPAN));
	if (units > UNITS_MAX || used > (u128)limit->burst << WINDOW_BITS)
		return false;
	model->current += units;
	return true;
}

static bool model_log(struct model *model, const struct limit *limit, uint64_t now_ns,
		      uint64_t units)
{
	unsigned int within = 0, last = model->admitted;

	for (unsigned int i = last > LOG_SLOTS ? last - LOG_SLOTS : 0; i < last; i++)
		within += now_ns - model->times[i % COUNT(model->times)] < limit->multiplier;
	if (within + units > limit->burst)
		return false;
	while (units--)
		model->times[model->admitted++ % COUNT(model->times)] = now_ns;
	return true;
}

/* Gaps of all kinds: none, a step of the clock, about a packet's, about a window, many windows. */
static uint64_t random_gap(uint64_t *seed, uint64_t window, uint64_t count)
{
	switch (random_below(seed, 8)) {
	case 0:
	case 1:
		return 0;
	case 2:
		return 1;
	case 3:
		return random_below(seed, window / 8192 + 2);
	case 4:
	case 5:
		return random_below(seed, 2 * window / count + 2);
	case 6:
		return window / 2 + random_below(seed, window);
	default:
		return random_below(seed, 16) ? random_below(seed, 3) * window
					      : random_below(seed, 20 * window + 1);
	}
}

static const struct model_case {
	const char *name;
	enum algorithm algorithm;
	uint64_t count_max;
} models[] = {
	{"fixed-window: every decision is that of a plain counter for each window",
	 ALGORITHM_FIXED_WINDOW, 1ULL << 21},
	{"sliding-window: every decision is that of the exact estimate", ALGORITHM_SLIDING_WINDOW,
	 SLIDING_COUNT_MAX},
	{"sliding-log: every decision is that of a list of all times", ALGORITHM_SLIDING_LOG,
	 LOG_SLOTS},
};

static void run_model(const struct model_case *row, uint64_t seed)
{
	uint64_t count = 1 + random_magnitude(&seed, 21) % row->count_max;
	uint64_t window = MS + random_below(&seed, 4) * random_magnitude(&seed, 40);
	struct limit limit = packets(row->algorithm, count, window);
	/* Also where the moment wraps, and just after boot. */
	uint64_t now = random_below(&seed, 2) ? random_magnitude(&seed, 60) : 1;
	struct meter meter = meter_new(&limit, now);
	struct model model = {.window = exact_moment(&limit, now) >> WINDOW_BITS};

	for (int step = 0; step < 1000; step++) {
		uint64_t units = 1 + random_below(&seed, random_below(&seed, 4) ? 2 : count);
		bool want;

		now += random_gap(&seed, window, count);
		want = row->algorithm == ALGORITHM_SLIDING_LOG
			       ? model_log(&model, &limit, now, units)
			       : model_window(&model, &limit, now, units);
		if (meter_charge(&meter, now, units) != want)
			fail_msg("%llu per %llu ns, step %d: %llu units at %llu: expected %d",
				 (unsigned long long)count, (unsigned long long)window, step,
				 (unsigned long long)units, (unsigned long long)now, want);
	}
}

static void test_model(void **state)
{
	for (uint64_t seed = 1; seed <= 1000; seed++)
		run_model(*state, seed);
}

/* ---- bounds ---- */

#define TIMES_MAX 200000

static uint64_t times[TIMES_MAX];

/* The most admissions in any closed interval of @length. */
static uint64_t most_within(uint64_t count, uint64_t length)
{
	uint64_t most = 0, first = 0;

	for (uint64_t i = 0; i < count; i++) {
		while (times[i] - times[first] > length)
			first++;
		most = i - first + 1 > most ? i - first + 1 : most;
	}
	return most;
}

/* Bursts and pauses at random; returns how many were admitted, their times in `times`. */
static uint64_t random_traffic(struct meter *meter, uint64_t count, uint64_t window, uint64_t *seed)
{
	uint64_t now = START + random_below(seed, window), admitted = 0;

	for (int i = 0; i < 400; i++) {
		uint64_t burst = random_below(seed, 2 * count);

		if (random_below(seed, 2))
			now += random_below(seed, window / 10 + 1);
		else
			now += random_below(seed, window);
		while (burst-- && admitted < TIMES_MAX)
			if (meter_charge(meter, now, 1))
				times[admitted++] = now;
	}
	return admitted;
}

static uint64_t bound_of(enum algorithm algorithm, uint64_t count)
{
	switch (algorithm) {
	case ALGORITHM_FIXED_WINDOW:
		return 2 * count;
	case ALGORITHM_SLIDING_WINDOW:
		return 2 * count - 1;
	case ALGORITHM_SLIDING_LOG:
		return count;
	default: /* the burst, and what comes in one window */
		return 2 * count;
	}
}

static const struct bound_case {
	const char *name;
	enum algorithm algorithm;
	uint64_t count_max;
} bounds[] = {
	{"token-bucket: never more than burst + rate * W", ALGORITHM_TOKEN_BUCKET, 100},
	{"leaky-bucket: never more than burst + rate * W", ALGORITHM_LEAKY_BUCKET, 100},
	{"fixed-window: never more than 2 L in an interval of W", ALGORITHM_FIXED_WINDOW, 100},
	{"sliding-window: never more than 2 L - 1 in an interval of W", ALGORITHM_SLIDING_WINDOW,
	 100},
	{"sliding-log: never more than L in an interval shorter than W", ALGORITHM_SLIDING_LOG,
	 LOG_SLOTS},
};

static void test_bound(void **state)
{
	const struct bound_case *row = *state;

	for (uint64_t run = 1; run <= 1000; run++) {
		uint64_t seed = run, count = 1 + random_below(&seed, row->count_max);
		uint64_t window = MS + random_magnitude(&seed, 40), admitted, most;
		struct limit limit = packets(row->algorithm, count, window);
		struct meter meter = meter_new(&limit, START);

		admitted = random_traffic(&meter, count, window, &seed);
		most = most_within(admitted, window - (row->algorithm == ALGORITHM_SLIDING_LOG));
		if (most > bound_of(row->algorithm, count))
			fail_msg("run %llu: %llu of %llu within %llu ns", (unsigned long long)run,
				 (unsigned long long)most, (unsigned long long)count,
				 (unsigned long long)window);
	}
}

/* Just before the boundary, and just after it. */
static uint64_t straddle(enum algorithm algorithm, uint64_t count, uint64_t after_ns)
{
	struct limit limit = packets(algorithm, count, SECOND);
	uint64_t boundary = window_end(&limit, START);
	struct meter meter = meter_new(&limit, START);
	uint64_t before = meter_burst(&meter, boundary - 1, 2 * count);

	assert_int_equal(before, count);
	return before + meter_burst(&meter, boundary + after_ns, 2 * count);
}

static void test_fixed_reaches_its_bound(void **state)
{
	(void)state;
	assert_int_equal(straddle(ALGORITHM_FIXED_WINDOW, 100, 0), 200);
}

/* The worst that a source can do: all of it at the end of a window, then as it drains. */
static void test_sliding_adversary(void **state)
{
	struct limit limit = packets(ALGORITHM_SLIDING_WINDOW, 100, SECOND);
	uint64_t boundary = window_end(&limit, START), sent = 0;
	struct meter meter = meter_new(&limit, START);

	(void)state;
	sent = meter_burst(&meter, boundary - 1, 1000);
	for (uint64_t now = boundary; now < boundary - 1 + SECOND; now += 50000)
		sent += meter_burst(&meter, now, 3);
	print_message("# sliding-window, L = 100: %llu within W\n", (unsigned long long)sent);
	assert_in_range(sent, 195, 199);
}

/* Twice the limit, evenly: what passes in each window once it has settled. */
static void test_sliding_smooth(void **state)
{
	static const uint64_t counts[] = {100, 1000, 10000};

	(void)state;
	for (size_t i = 0; i < COUNT(counts); i++) {
		uint64_t count = counts[i], admitted = 0, step = SECOND / (2 * count), most;
		struct limit limit = packets(ALGORITHM_SLIDING_WINDOW, count, SECOND);
		struct meter meter = meter_new(&limit, START);

		for (uint64_t now = START; now < START + 12 * SECOND; now += step)
			if (meter_charge(&meter, now, 1) && now > START + 2 * SECOND)
				times[admitted++] = now;
		most = most_within(admitted, SECOND);
		assert_in_range(admitted, 10 * count - count / 5, 10 * count + 1);
		assert_in_range(most, count - count / 50, count + count / 33);
	}
}

/* What stays within the limit, evenly, loses nothing: down to a tenth below it. */
static void test_sliding_within(void **state)
{
	struct limit limit = packets(ALGORITHM_SLIDING_WINDOW, 100, SECOND);
	struct meter meter = meter_new(&limit, START);

	(void)state;
	for (uint64_t now = START; now < START + 20 * SECOND; now += SECOND / 98)
		assert_true(meter_charge(&meter, now, 1));
}

static void test_log_reaches_its_bound(void **state)
{
	struct limit limit = packets(ALGORITHM_SLIDING_LOG, 30, SECOND);
	struct meter meter = meter_new(&limit, START);
	uint64_t admitted = 0;

	(void)state;
	for (uint64_t now = START; now < START + 10 * SECOND; now += MS)
		admitted += meter_charge(&meter, now, 1);
	assert_int_equal(admitted, 300);
	assert_int_equal(meter_burst(&meter, START + 20 * SECOND, 100), 30);
	assert_int_equal(meter_burst(&meter, START + 21 * SECOND - 1, 100), 0);
	assert_int_equal(meter_burst(&meter, START + 21 * SECOND, 100), 30);
}

static void test_leaky_is_token(void **state)
{
	struct policy_limit token = written(ALGORITHM_TOKEN_BUCKET, UNIT_BYTES, 125000, SECOND);
	struct policy_limit leaky = written(ALGORITHM_LEAKY_BUCKET, UNIT_BYTES, 125000, SECOND);
	struct limit a, b;

	(void)state;
	a = compiled(&token);
	b = compiled(&leaky);
	assert_int_equal(b.algorithm, ALGORITHM_LEAKY_BUCKET);
	b.algorithm = a.algorithm;
	assert_memory_equal(&a, &b, sizeof(a));
}

/* ---- words that are not this limit's ---- */

static const enum algorithm windows[] = {ALGORITHM_FIXED_WINDOW, ALGORITHM_SLIDING_WINDOW,
					 ALGORITHM_SLIDING_LOG};

/* One window at most at once; all of it when the words' time is over. */
static void test_garbage(void **state)
{
	uint64_t seed = 9;

	(void)state;
	for (int i = 0; i < 300000; i++) {
		uint64_t window = MS + random_magnitude(&seed, 36);
		uint64_t count = 1 + random_below(&seed, 20);
		struct limit limit = packets(windows[i % 3], count, window);
		struct meter meter = meter_new(&limit, START);
		uint64_t later = START + (limit.slack + 3) * window * 2;

		meter.word = random_below(&seed, 4)
				     ? random_next(&seed)
				     : meter.word + random_next(&seed) % (1ULL << 44);
		for (unsigned int k = 0; k < LOG_SLOTS; k++)
			meter.log.admitted[k] = random_below(&seed, 2) ? random_next(&seed)
								       : log_time(START) + window;
		if (limit.algorithm == ALGORITHM_SLIDING_LOG)
			later = START + 2 * window + limit.slack;
		assert_in_range(meter_burst(&meter, START, 2 * count + 2), 0, count);
		if (meter_burst(&meter, later, 2 * count) != count)
			fail_msg("%d of %llu per %llu ns: frozen", limit.algorithm,
				 (unsigned long long)count, (unsigned long long)window);
	}
}

/* Both after the same idle time: that of a source which came before, and that of one which didn't. */
static void test_index_comes_round(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct limit limit = packets(windows[i], 10, MS);
		uint64_t round = (i ? 1ULL << 24 : 1ULL << 30) * MS;
		struct meter meter = meter_new(&limit, START);

		assert_int_equal(meter_burst(&meter, START, 20), 10);
		assert_int_equal(meter_burst(&meter, START + round / 4, 20), 10);
		assert_int_equal(meter_burst(&meter, START + round / 4 * 3, 20), 10);
		assert_int_equal(meter_burst(&meter, START + round / 8 * 9, 20), 10);
	}
}

/* ---- undoing ---- */

static void test_undo(void **state)
{
	uint64_t seed = 11;

	(void)state;
	for (int i = 0; i < 300000; i++) {
		struct limit limit = packets(windows[i % 2], 1000, SECOND);
		struct meter with = meter_new(&limit, START), without;
		uint64_t now = START + random_below(&seed, 3 * SECOND), left;

		meter_burst(&with, now, random_below(&seed, 100));
		without = with;
		assert_true(meter_charge(&with, now, 7));
		left = with.word;
		for (int k = 0; k < 3; k++) {
			now += random_below(&seed, 2) * random_below(&seed, SECOND);
			assert_true(meter_charge(&with, now, 1 + k));
			assert_true(meter_charge(&without, now, 1 + k));
		}
		with.word = window_undone(&with.window, with.word, left, 7);
		assert_int_equal(with.word, without.word);
	}
}

/* ---- in all orders: virtual CPUs whose clocks differ ---- */

#define CPUS_MAX    4
#define PACKETS_MAX 12
#define TRIES_MAX   8
#define SKEW_MAX    (SECOND / 2) /* below the slack */

enum mistake {
	NO_MISTAKE,
	GOES_BACK,	  /* a clock that is behind makes its own window of the word */
	UNDO_ANYWHERE,	  /* subtracts whatever window the word is in by now */
	STALE_IS_GARBAGE, /* what a held up CPU finds ahead is taken for garbage at once */
};

enum step { READ_CLOCK, LOAD, LOOK_AGAIN, SWAP, OTHER_LIMIT, UNDO, FINISHED };

struct cpu {
	enum step step;
	unsigned int packets, weight, tries, slot;
	uint64_t skew, now, moment, seen, left, units;
	bool lost;
};

struct admission {
	uint64_t stamp, window, units;
};

struct world {
	enum algorithm algorithm;
	enum mistake mistake;
	uint64_t seed, clock, skew, window_ns;
	struct limit limit;
	struct meter meter; /* the shared word, or slots */
	unsigned int cpu_count, admitted;
	struct cpu cpus[CPUS_MAX];
	struct admission admissions[CPUS_MAX * PACKETS_MAX];
};

static bool is_log(const struct world *world)
{
	return world->algorithm == ALGORITHM_SLIDING_LOG;
}

static __u64 *shared_word(struct world *world, struct cpu *cpu)
{
	return is_log(world) ? &world->meter.log.admitted[cpu->slot] : &world->meter.word;
}

static bool swap(__u64 *word, uint64_t old, uint64_t new)
{
	bool same = *word == old;

	*word = same ? new : *word;
	return same;
}

static void next_packet(struct cpu *cpu)
{
	cpu->step = cpu->packets ? READ_CLOCK : FINISHED;
}

static void read_clock(struct world *world, struct cpu *cpu)
{
	cpu->packets--;
	cpu->now = world->clock + cpu->skew;
	cpu->moment = window_moment(&world->meter.window, cpu->now);
	cpu->units = is_log(world) ? 1 : 1 + random_below(&world->seed, 2);
	cpu->tries = 0;
	cpu->slot = 0;
	cpu->step = LOAD;
}

static bool doubtful(const struct world *world, const struct cpu *cpu)
{
	if (is_log(world))
		return slot_doubtful(cpu->seen, log_time(cpu->now), world->limit.slack);
	return window_doubtful(&world->meter.window, cpu->seen, cpu->moment);
}

/* The next slot of a log; a window's word is tried again. */
static void try_next(struct world *world, struct cpu *cpu)
{
	if (is_log(world) ? ++cpu->slot < world->limit.burst : ++cpu->tries < TRIES_MAX)
		cpu->step = LOAD;
	else
		next_packet(cpu);
}

static void decide(struct world *world, struct cpu *cpu)
{
	uint64_t rolled = window_roll(&world->meter.window, cpu->seen, cpu->moment);

	if (is_log(world)) {
		uint64_t now = log_time(cpu->now);

		cpu->left = now;
		cpu->step = SWAP;
		if (!slot_free(cpu->seen, now, world->limit.multiplier) && !cpu->lost)
			try_next(world, cpu);
		return;
	}
	if (world->mistake == GOES_BACK &&
	    window_ahead(&world->meter.window, cpu->seen, cpu->moment))
		rolled = idle_word(&world->limit, cpu->now);
	cpu->left = rolled + cpu->units;
	if (window_fits(&world->meter.window, rolled, cpu->moment, cpu->units))
		cpu->step = SWAP;
	else
		next_packet(cpu);
}

static void load(struct world *world, struct cpu *cpu)
{
	cpu->seen = *shared_word(world, cpu);
	cpu->lost = false;
	if (!doubtful(world, cpu)) {
		decide(world, cpu);
	} else if (world->mistake == STALE_IS_GARBAGE) {
		cpu->lost = true;
		decide(world, cpu);
	} else {
		cpu->step = LOOK_AGAIN;
	}
}

/* The word was read before: if it is still ahead, it is garbage. A slot's stamp stays what it was. */
static void look_again(struct world *world, struct cpu *cpu)
{
	struct cpu again = *cpu;

	again.now = world->clock + cpu->skew;
	again.moment = window_moment(&world->meter.window, again.now);
	cpu->lost = doubtful(world, &again);
	if (!is_log(world))
		cpu->moment = again.moment;
	decide(world, cpu);
}

static void admit(struct world *world, struct cpu *cpu)
{
	struct admission *admission = &world->admissions[world->admitted++];
	unsigned int bits = world->algorithm == ALGORITHM_SLIDING_WINDOW ? 2 * SLIDING_COUNT_BITS
									 : WINDOW_BITS;

	*admission = (struct admission){cpu->now, cpu->left >> bits, cpu->units};
	next_packet(cpu);
}

static void swap_in(struct world *world, struct cpu *cpu)
{
	if (swap(shared_word(world, cpu), cpu->seen, cpu->left))
		cpu->step = OTHER_LIMIT;
	else
		try_next(world, cpu);
}

/* It refuses every fourth. */
static void ask_other(struct world *world, struct cpu *cpu)
{
	if (random_below(&world->seed, 4))
		admit(world, cpu);
	else
		cpu->step = UNDO;
}

static void undo(struct world *world, struct cpu *cpu)
{
	__u64 *word = shared_word(world, cpu);

	if (is_log(world))
		swap(word, cpu->left, slot_undone(cpu->left, world->limit.multiplier));
	else if (world->mistake == UNDO_ANYWHERE)
		*word -= cpu->units;
	else
		*word = window_undone(&world->meter.window, *word, cpu->left, cpu->units);
	next_packet(cpu);
}

static void (*const steps[FINISHED])(struct world *world, struct cpu *cpu) = {
	[READ_CLOCK] = read_clock, [LOAD] = load, [LOOK_AGAIN] = look_again, [SWAP] = swap_in,
	[OTHER_LIMIT] = ask_other, [UNDO] = undo,
};

static void make_world(struct world *world, enum algorithm algorithm, enum mistake mistake,
		       uint64_t seed)
{
	uint64_t count;

	*world = (struct world){.algorithm = algorithm, .mistake = mistake, .seed = seed};
	count = 1 + random_below(&world->seed, 6);
	/* Slack is a second: up to a thousand windows of a millisecond, or one of an hour. */
	world->window_ns = random_below(&world->seed, 2) ? MS : random_magnitude(&world->seed, 35);
	if (world->window_ns < MS)
		world->window_ns = MS;
	world->limit = packets(algorithm, count + (algorithm != ALGORITHM_SLIDING_LOG),
			       world->window_ns);
	/* Near a wrap of the moment, or of nothing. */
	world->clock = START + random_below(&world->seed, 4 * world->window_ns);
	world->meter = meter_new(&world->limit, world->clock);
	world->cpu_count = 2 + (unsigned int)random_below(&world->seed, CPUS_MAX - 1);
	if (random_below(&world->seed, 2))
		world->skew = random_below(&world->seed, world->window_ns / 3) % SKEW_MAX;
	for (unsigned int i = 0; i < world->cpu_count; i++)
		world->cpus[i] = (struct cpu){
			.packets = 1 + (unsigned int)random_below(&world->seed, PACKETS_MAX),
			.weight = (unsigned int)random_magnitude(&world->seed, 7),
			.skew = world->skew ? random_below(&world->seed, world->skew) : 0,
		};
}

static struct cpu *pick_cpu(struct world *world)
{
	uint64_t total = 0, ticket;

	for (unsigned int i = 0; i < world->cpu_count; i++)
		total += world->cpus[i].step == FINISHED ? 0 : world->cpus[i].weight;
	if (!total)
		return NULL;
	ticket = random_below(&world->seed, total);
	for (unsigned int i = 0;; i++) {
		uint64_t weight = world->cpus[i].step == FINISHED ? 0 : world->cpus[i].weight;

		if (ticket < weight)
			return &world->cpus[i];
		ticket -= weight;
	}
}

static void run_world(struct world *world)
{
	uint64_t gap = world->window_ns / (1 + random_below(&world->seed, 60)) + 1;
	struct cpu *cpu;

	while ((cpu = pick_cpu(world)) != NULL) {
		steps[cpu->step](world, cpu);
		if (!random_below(&world->seed, 4))
			world->clock += random_below(&world->seed, gap);
		/* Now and then all of them are held up for longer than the slack. */
		if (!random_below(&world->seed, 60))
			world->clock += 3 * SECOND + random_below(&world->seed, world->window_ns);
	}
}

static int by_stamp(const void *a, const void *b)
{
	const struct admission *first = a, *second = b;

	return (first->stamp > second->stamp) - (first->stamp < second->stamp);
}

/* Units admitted to the window with this index. */
static uint64_t admitted_to(const struct world *world, uint64_t window)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < world->admitted; i++)
		if (world->admissions[i].window == window)
			sum += world->admissions[i].units;
	return sum;
}

/*
 * No window has more than its limit, two neighbours of a sliding window one less than both, and the
 * word counts what was admitted: no more, no less.
 */
static bool windows_hold(const struct world *world)
{
	bool sliding = world->algorithm == ALGORITHM_SLIDING_WINDOW;
	uint64_t word = world->meter.word, burst = world->limit.burst;
	uint64_t index = word >> (sliding ? 2 * SLIDING_COUNT_BITS : WINDOW_BITS);
	uint64_t current = sliding ? sliding_current(word) : word & FIXED_COUNT_MAX;

	for (unsigned int i = 0; i < world->admitted; i++) {
		uint64_t window = world->admissions[i].window, here = admitted_to(world, window);

		if (here > burst ||
		    (sliding && here + admitted_to(world, window + 1) > 2 * burst - 1))
			return false;
	}
	if (sliding && sliding_previous(word) &&
	    sliding_previous(word) != admitted_to(world, index - 1))
		return false;
	return current == admitted_to(world, index);
}

/* On stamps, wherever the clocks stand and however long a CPU is held up. */
static bool log_holds(struct world *world)
{
	qsort(world->admissions, world->admitted, sizeof(world->admissions[0]), by_stamp);
	for (unsigned int i = 0; i < world->admitted; i++) {
		uint64_t sum = 0;

		for (unsigned int k = i; k < world->admitted; k++)
			sum += world->admissions[k].stamp - world->admissions[i].stamp <
			       world->window_ns;
		if (sum > world->limit.burst)
			return false;
	}
	return true;
}

static const struct scenario {
	const char *name;
	enum algorithm algorithm;
	enum mistake mistake;
} scenarios[] = {
	{"fixed-window on 2 to 4 CPUs with clocks that differ: bound and state are exact",
	 ALGORITHM_FIXED_WINDOW, NO_MISTAKE},
	{"sliding-window on 2 to 4 CPUs with clocks that differ: bound and state are exact",
	 ALGORITHM_SLIDING_WINDOW, NO_MISTAKE},
	{"sliding-log on 2 to 4 CPUs with clocks that differ: the bound is exact",
	 ALGORITHM_SLIDING_LOG, NO_MISTAKE},
	{"fixed-window: going back to an earlier window is caught", ALGORITHM_FIXED_WINDOW,
	 GOES_BACK},
	{"sliding-window: going back to an earlier window is caught", ALGORITHM_SLIDING_WINDOW,
	 GOES_BACK},
	{"fixed-window: undoing in another window is caught", ALGORITHM_FIXED_WINDOW,
	 UNDO_ANYWHERE},
	{"sliding-window: undoing in another window is caught", ALGORITHM_SLIDING_WINDOW,
	 UNDO_ANYWHERE},
	{"fixed-window: not reading the clock again is caught", ALGORITHM_FIXED_WINDOW,
	 STALE_IS_GARBAGE},
	{"sliding-window: not reading the clock again is caught", ALGORITHM_SLIDING_WINDOW,
	 STALE_IS_GARBAGE},
	{"sliding-log: not reading the clock again is caught", ALGORITHM_SLIDING_LOG,
	 STALE_IS_GARBAGE},
};

static void test_scenario(void **state)
{
	const struct scenario *row = *state;
	static struct world world;

	for (uint64_t seed = 1; seed <= 200000; seed++) {
		bool holds;

		make_world(&world, row->algorithm, row->mistake, seed);
		run_world(&world);
		holds = is_log(&world) ? log_holds(&world) : windows_hold(&world);
		if (!holds && row->mistake)
			return;
		if (!holds)
			fail_msg("seed %llu: over the bound, or the word says otherwise",
				 (unsigned long long)seed);
	}
	if (row->mistake)
		fail_msg("nobody noticed");
}

/* ---- what `get` says, believed ---- */

static uint64_t whole_ns(double seconds)
{
	return (uint64_t)llround(seconds * (double)SECOND);
}

static void read_meter(const struct meter *meter, const struct policy_limit *limit, uint64_t now_ns,
		       struct limit_state *read)
{
	struct limit_label label = {.burst = limit_burst(limit), .kind = LIMIT_METERED};

	if (limit->algorithm == ALGORITHM_SLIDING_LOG)
		limit_read_log(meter->limit, &label, &meter->log, now_ns, read);
	else
		limit_read(meter->limit, &label, meter->word, now_ns, read);
}

static void believe(const struct meter *meter, const struct policy_limit *limit, uint64_t now)
{
	struct meter copy = *meter;
	struct limit_state read;
	uint64_t retry, reset, again;

	read_meter(meter, limit, now, &read);
	retry = whole_ns(read.retry_after_seconds);
	reset = whole_ns(read.reset_seconds);
	assert_int_equal(meter_burst(&copy, now, limit->rate.amount + 2), read.remaining);
	assert_int_equal(!retry, read.remaining > 0);
	copy = *meter;
	if (retry)
		assert_false(meter_charge(&copy, now + retry - 1, 1));
	assert_true(meter_charge(&copy, now + retry, 1));
	copy = *meter;
	assert_int_equal(meter_burst(&copy, now + reset, limit->rate.amount + 2),
			 limit->rate.amount);
	/* Not before: the count would be whole already. */
	if (reset) {
		read_meter(meter, limit, now + reset - 1, &read);
		assert_in_range(read.remaining, 0, limit->rate.amount - 1);
	}
	read_meter(meter, limit, now + reset, &read);
	again = whole_ns(read.reset_seconds);
	assert_int_equal(again, 0);
}

static void test_read(void **state)
{
	uint64_t seed = 21;

	(void)state;
	for (int i = 0; i < 60000; i++) {
		uint64_t count = 1 + random_below(&seed, i % 3 == 2 ? LOG_SLOTS : 40);
		uint64_t window = MS + random_magnitude(&seed, 38), now = START;
		struct policy_limit limit = written(windows[i % 3], UNIT_PACKETS, count, window);
		struct limit numbers = compiled(&limit);
		struct meter meter = meter_new(&numbers, now);

		for (int k = 0; k < 10; k++) {
			now += random_gap(&seed, window, count);
			meter_burst(&meter, now, random_below(&seed, count + 1));
		}
		believe(&meter, &limit, now + random_below(&seed, 2) * random_below(&seed, window));
	}
}

/* Another CPU's clock is ahead of the reader's. */
static void test_read_ahead(void **state)
{
	uint64_t seed = 22;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct policy_limit limit = written(windows[i % 2], UNIT_PACKETS,
						    1 + random_below(&seed, 20), 50 * MS);
		struct limit numbers = compiled(&limit);
		struct meter meter = meter_new(&numbers, START);
		struct limit_state read;
		uint64_t retry;

		meter_burst(&meter, START + random_below(&seed, 300 * MS), random_below(&seed, 25));
		read_meter(&meter, &limit, START, &read);
		retry = whole_ns(read.retry_after_seconds);
		if (retry)
			assert_false(meter_charge(&meter, START + retry - 1, 1));
		assert_true(meter_charge(&meter, START + retry, 1));
	}
}

/* ---- what is refused, and what a word means ---- */

static const struct refusal {
	const char *name;
	struct policy_limit limit;
	int err;
	const char *words; /* of the sentence */
} refusals[] = {
#define LIMIT(algorithm_, unit_, amount_, per_, burst_)                                      \
	{                                                                                    \
		.name = "x", .rate = {LIMIT_METERED, unit_, amount_, per_}, .burst = burst_, \
		.algorithm = ALGORITHM_##algorithm_                                          \
	}
	{"fixed-window holds 2^34-1 units",
	 LIMIT(FIXED_WINDOW, UNIT_BYTES, FIXED_COUNT_MAX, SECOND, FIXED_COUNT_MAX), 0, ""},
	{"fixed-window refuses 2^34, with the range",
	 LIMIT(FIXED_WINDOW, UNIT_BYTES, FIXED_COUNT_MAX + 1, SECOND, FIXED_COUNT_MAX + 1), -ERANGE,
	 "60 to 17179869183"},
	{"sliding-window holds 1048575 units",
	 LIMIT(SLIDING_WINDOW, UNIT_PACKETS, 1048575, SECOND, 1048575), 0, ""},
	{"sliding-window refuses 1048576, with the range",
	 LIMIT(SLIDING_WINDOW, UNIT_PACKETS, 1048576, SECOND, 1048576), -ERANGE, "1 to 1048575"},
	{"sliding-log holds 32 packets", LIMIT(SLIDING_LOG, UNIT_PACKETS, 32, SECOND, 32), 0, ""},
	{"sliding-log refuses 33, with the range", LIMIT(SLIDING_LOG, UNIT_PACKETS, 33, SECOND, 33),
	 -ERANGE, "1 to 32"},
	{"sliding-log refuses bytes", LIMIT(SLIDING_LOG, UNIT_BYTES, 1000, SECOND, 1000), -EINVAL,
	 "packets only"},
	{"less than a frame in a window is refused",
	 LIMIT(FIXED_WINDOW, UNIT_BYTES, 59, SECOND, 59), -ERANGE, "60 to"},
	{"O-043: a burst that was not given is the window's count",
	 LIMIT(SLIDING_WINDOW, UNIT_PACKETS, 600, 60 * SECOND, 10), 0, ""},
	{"another burst is refused", LIMIT(SLIDING_WINDOW, UNIT_PACKETS, 600, 60 * SECOND, 200),
	 -EINVAL, "leave the burst out"},
	{"a window below a millisecond is refused, with the range",
	 LIMIT(FIXED_WINDOW, UNIT_PACKETS, 10, MS - 1, 10), -ERANGE, "1ms to 13343d"},
	{"a rate of 0 is refused", LIMIT(FIXED_WINDOW, UNIT_PACKETS, 0, SECOND, 1), -ERANGE,
	 "block"},
	{"a window of a year is taken", LIMIT(FIXED_WINDOW, UNIT_PACKETS, 10, 365 * DAY, 10), 0,
	 ""},
#undef LIMIT
};

static void test_refusal(void **state)
{
	const struct refusal *row = *state;
	struct complaint why = {""};
	struct limit limit;
	int err = compile_limit(&row->limit, -1, 2, &limit, &why);

	if (err != row->err || !strstr(why.text, row->words))
		fail_msg("%d: %s", err, why.text);
	if (!err)
		assert_int_equal(limit.burst, row->limit.rate.amount);
}

static void test_interface_log(void **state)
{
	struct policy_limit limit = written(ALGORITHM_SLIDING_LOG, UNIT_PACKETS, 10, SECOND);
	struct complaint why;
	struct limit result;

	(void)state;
	limit.per.per = PER_INTERFACE;
	assert_int_equal(compile_limit(&limit, -1, 2, &result, &why), -EINVAL);
}

static void test_tiers(void **state)
{
	struct policy_limit limit = written(ALGORITHM_FIXED_WINDOW, UNIT_PACKETS, 10, SECOND);
	struct complaint why;
	struct limit result;

	(void)state;
	limit.tiers[3] = (struct policy_tier_rate){
		true, {LIMIT_METERED, UNIT_PACKETS, 600, 60 * SECOND}, 600};
	assert_int_equal(compile_limit(&limit, -1, 2, &result, &why), -EINVAL);
	assert_non_null(strstr(why.text, "same window"));
	limit.tiers[3].rate.per_ns = SECOND;
	assert_int_equal(compile_limit(&limit, -1, 2, &result, &why), 0);
	limit.tiers[3].rate = (struct rate){.kind = LIMIT_BLOCK};
	assert_int_equal(compile_limit(&limit, -1, 2, &result, &why), 0);
	limit.algorithm = ALGORITHM_SLIDING_LOG;
	limit.tiers[3].rate = (struct rate){LIMIT_METERED, UNIT_PACKETS, 20, 60 * SECOND};
	assert_int_equal(compile_limit(&limit, -1, 2, &result, &why), 0);
}

static struct policy policy_of(enum algorithm algorithm, uint64_t amount, uint64_t per_ns)
{
	struct rate rate = {LIMIT_METERED, UNIT_PACKETS, amount, per_ns};
	struct complaint why;
	struct policy policy;

	policy_defaults(&policy);
	policy_add_limit(&policy, "x", &rate, &why)->algorithm = algorithm;
	policy.limits[0].burst = amount;
	return policy;
}

static void test_identity(void **state)
{
	struct policy policy = policy_of(ALGORITHM_FIXED_WINDOW, 10, SECOND);
	struct table_identity table;
	struct complaint why;

	(void)state;
	assert_int_equal(table_new(&policy, &table, &why), 0);
	policy = policy_of(ALGORITHM_FIXED_WINDOW, 20, SECOND);
	assert_non_null(table_find(&table, &policy.limits[0]));
	policy = policy_of(ALGORITHM_FIXED_WINDOW, 20, 2 * SECOND);
	assert_null(table_find(&table, &policy.limits[0]));
	/* A log's slots are times: they mean the same under any window. */
	policy = policy_of(ALGORITHM_SLIDING_LOG, 10, SECOND);
	assert_int_equal(table_extend(&policy, &table, &why), -ESTALE);
	assert_int_equal(table_new(&policy, &table, &why), 0);
	policy = policy_of(ALGORITHM_SLIDING_LOG, 10, 2 * SECOND);
	assert_non_null(table_find(&table, &policy.limits[0]));
	assert_int_equal(table_extend(&policy, &table, &why), 0);
}

/* ---- all of them ---- */

#define CASE(text, function)                     \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

static const struct CMUnitTest cases[] = {
	CASE("no window is shorter than asked for, none longer by more than 1.3e-4", test_tiling),
	CASE("a window's mean length is within 1e-4", test_mean_rate),
	CASE("fixed-window: 2 L across a boundary are reached", test_fixed_reaches_its_bound),
	CASE("sliding-window: an adversary gets 195 to 199 of L = 100 within W",
	     test_sliding_adversary),
	CASE("sliding-window: twice the limit, evenly, passes as L within 2 %, 3 % in any W",
	     test_sliding_smooth),
	CASE("sliding-window: 98 % of the limit, evenly, loses nothing", test_sliding_within),
	CASE("sliding-log: exactly L in every window", test_log_reaches_its_bound),
	CASE("leaky-bucket has the arithmetic of token-bucket", test_leaky_is_token),
	CASE("a word that is not this limit's gives one window at most and freezes nobody",
	     test_garbage),
	CASE("a source that was idle while the index came round has its whole window",
	     test_index_comes_round),
	CASE("an undone charge never happened, in whatever window it is undone", test_undo),
	CASE("remaining, reset and retry-after are what the limit then does", test_read),
	CASE("they hold when the word is ahead of the reader", test_read_ahead),
	CASE("sliding-log refuses to count per interface", test_interface_log),
	CASE("a tier has the window of its limit", test_tiers),
	CASE("another window is another limit, another count is not", test_identity),
};

int main(void)
{
	struct CMUnitTest tests[COUNT(cases) + COUNT(models) + COUNT(bounds) + COUNT(scenarios) +
				COUNT(refusals)];
	struct CMUnitTest *test = tests;

#define ROWS(rows, function)                                  \
	for (size_t i = 0; i < COUNT(rows); i++)              \
	*test++ = (struct CMUnitTest){.name = (rows)[i].name, \
				      .test_func = function,  \
				      .initial_state = (void *)&(rows)[i]}
	memcpy(test, cases, sizeof(cases));
	test += COUNT(cases);
	ROWS(models, test_model);
	ROWS(bounds, test_bound);
	ROWS(scenarios, test_scenario);
	ROWS(refusals, test_refusal);
#undef ROWS
	return cmocka_run_group_tests_name("windows", tests, NULL, NULL);
}
