// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads a limiter again and again, for top, without ever taking more than a share of one CPU. */
#include "top_sample.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/*
 * After each part of a walk there is a pause of so many times what it cost: a twenty-fifth of one CPU at most,
 * whatever the size of the table. So a large one is walked over slowly, spread over the interval or longer.
 */
#define PAUSES 24

/* CPU time of this process, the kernel's work for it included. */
static uint64_t cpu_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static void start_reading(struct top_sampler *sampler, uint64_t interval_ns)
{
	struct target *target = &sampler->target;

	sampler->reading = (struct top_reading){
		.running = &target->running,
		.interface = target->netdev.name,
		.interval_ns = interval_ns,
	};
	top_table_start(&sampler->reading.table, target->running.table.seed);
	sampler->walk = NULL;
	sampler->counters_due_ns = sampler->walk_due_ns = boot_clock_ns();
}

static void end_reading(struct top_sampler *sampler)
{
	if (sampler->walk)
		bucket_walk_end(sampler->walk);
	sampler->walk = NULL;
	top_table_free(&sampler->reading.table);
}

enum exit_status top_sampler_open(struct top_sampler *sampler, const char *name,
				  uint64_t interval_ns)
{
	enum exit_status status = target_open(name, &sampler->target);

	if (status == EXIT_DONE)
		start_reading(sampler, interval_ns);
	return status;
}

void top_sampler_close(struct top_sampler *sampler)
{
	end_reading(sampler);
	target_close(&sampler->target);
}

uint64_t top_sampler_due(const struct top_sampler *sampler)
{
	return sampler->walk_due_ns < sampler->counters_due_ns ? sampler->walk_due_ns
							       : sampler->counters_due_ns;
}

/* ---- another policy, or none ---- */

static int look_again(struct top_sampler *sampler)
{
	struct target *target = &sampler->target;
	struct attachment there;
	int err = attachment_find(target->netdev.ifindex, &there);

	if (err)
		return err == -ENODEV ? -ENOENT : err;
	if (!there.ours)
		return -ENOENT;
	if (there.program_id == target->running.attachment.program_id)
		return 0;
	end_reading(sampler);
	target_close(target);
	err = running_open(target->netdev.ifindex, &target->running);
	start_reading(sampler, sampler->reading.interval_ns);
	return err ?: TOP_NEWS_POLICY;
}

/* ---- counters ---- */

/* Rates are of the raw counters: a `reset --counters` in between doesn't touch them. */
static int read_meters(struct top_sampler *sampler, uint64_t now_ns)
{
	struct top_reading *reading = &sampler->reading;
	const struct config *config = &reading->running->config;
	struct counters raw, sum;
	struct top_counts counts;
	int err = read_raw_counters(reading->running, &raw)
			  ?: read_counters(reading->running, &sum);

	if (err)
		return err;
	top_count_all(&raw, &counts);
	top_meter_read(&reading->total, &counts, now_ns);
	top_count_all(&sum, &reading->total_sum);
	for (uint32_t i = 0; i < config->limit_count; i++) {
		top_count_limit(&raw, config->limits[i].id, &counts);
		top_meter_read(&reading->limits[i], &counts, now_ns);
		top_count_limit(&sum, config->limits[i].id, &reading->limit_sums[i]);
	}
	reading->gate_closed = gate_is_closed(reading->running);
	reading->trial_left_ns = trial_left_ns(reading->running);
	return 0;
}

/* The next of the ticks, one interval apart, that has not passed yet. */
static uint64_t next_tick(uint64_t tick_ns, uint64_t interval_ns, uint64_t now_ns)
{
	return tick_ns + ((now_ns - tick_ns) / interval_ns + 1) * interval_ns;
}

static int work_on_counters(struct top_sampler *sampler)
{
	uint64_t now = boot_clock_ns();
	int news = look_again(sampler);

	if (news < 0)
		return news;
	sampler->counters_due_ns = next_tick(sampler->counters_due_ns, sampler->reading.interval_ns,
					     now);
	return read_meters(sampler, boot_clock_ns()) ?: news | TOP_NEWS_COUNTERS;
}

/* ---- buckets ---- */

struct step {
	struct top_table *table;
	uint64_t now_ns;
};

static int take_bucket(const struct bucket *bucket, void *context)
{
	struct step *step = context;

	return top_table_add(step->table, bucket, step->now_ns);
}

static int begin_walk(struct top_sampler *sampler)
{
	struct top_reading *reading = &sampler->reading;
	uint64_t now = boot_clock_ns();

	if (reading->table.started_ns)
		reading->walk_ns = now - reading->table.started_ns;
	top_table_begin(&reading->table, now);
	return bucket_walk_start(reading->running, &sampler->walk);
}

static void end_walk(struct top_sampler *sampler)
{
	bucket_walk_end(sampler->walk);
	sampler->walk = NULL;
	top_table_end(&sampler->reading.table);
}

static int work_on_walk(struct top_sampler *sampler)
{
	struct top_reading *reading = &sampler->reading;
	uint64_t cost = cpu_clock_ns(), next = 0;
	struct step step = {.table = &reading->table};
	int more = sampler->walk ? 0 : begin_walk(sampler);

	if (more)
		return more;
	step.now_ns = boot_clock_ns();
	more = bucket_walk_step(sampler->walk, take_bucket, &step);
	if (more < 0)
		return more;
	if (!more) {
		end_walk(sampler);
		next = reading->table.started_ns + reading->interval_ns;
	}
	sampler->walk_due_ns = boot_clock_ns() + (cpu_clock_ns() - cost) * PAUSES;
	if (sampler->walk_due_ns < next)
		sampler->walk_due_ns = next;
	return more ? 0 : TOP_NEWS_BUCKETS;
}

int top_sampler_work(struct top_sampler *sampler)
{
	uint64_t now = boot_clock_ns();
	int news = now >= sampler->counters_due_ns ? work_on_counters(sampler) : 0;
	int found;

	if (news < 0 || now < sampler->walk_due_ns)
		return news;
	found = work_on_walk(sampler);
	return found < 0 ? found : news | found;
}
