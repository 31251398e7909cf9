// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A summary as text for people. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include "summary.h"
#include "units.h"

static void print_head(const struct summary *summary)
{
	time_t since = summary->config.attached_ns / NS_PER_SECOND;
	char when[32], age[UNITS_TEXT_SIZE], members[MEMBERS_TEXT_SIZE];
	struct tm local;

	localtime_r(&since, &local);
	strftime(when, sizeof(when), "%F %T", &local);
	format_time(summary->attached_seconds * NS_PER_SECOND, age, sizeof(age));
	printf("%s (index %u): %s mode, program %u, by %s, since %s (%s)%s\n", summary->netdev.name,
	       summary->netdev.ifindex, mode_name(summary->attachment.mode),
	       summary->attachment.program_id, attachment_way(&summary->attachment), when, age,
	       summary->config.dry_run ? ", DRY RUN: drops nothing" : "");
	printf("  ingress only: what %s sends is not seen\n", summary->netdev.name);
	if (!summary->attachment.dispatcher_id)
		return;
	describe_members(&summary->attachment, members, sizeof(members));
	printf("  members of the dispatcher, by priority: %s\n", members);
}

static void print_gate(const struct summary *summary)
{
	const struct limit *gate = &summary->config.gate;
	const struct reason_count *count = &summary->counters.reasons[REASON_GATE_CLOSED];

	if (!summary->config.gate_used)
		return;
	printf("  gate: %.1f new sources a second, %llu at once; %s now, %llu packets refused\n",
	       (double)NS_PER_SECOND / (double)gate->multiplier, gate->burst / gate->multiplier,
	       summary->gate_closed ? "CLOSED" : "open",
	       count->dropped.packets + count->passed.packets + count->would_drop.packets);
}

static void print_lru(const struct summary *summary)
{
	const struct event_count *events = &summary->counters.events;

	printf("  table: lru, %u entries, %" PRIu64 " used, %llu created, %" PRIu64
	       " evicted, %llu insert failures\n",
	       summary->table.capacity, summary->used, events->created, summary_evicted(summary),
	       events->insert_failures);
}

static void print_flat(const struct summary *summary)
{
	const struct event_count *events = &summary->counters.events;

	printf("  table: flat, %" PRIu64 " slots for %u sources, %" PRIu64 " used, %" PRIu64
	       " in debt, %llu created, %llu evicted, %llu of them in debt, "
	       "%llu insert failures\n",
	       summary_capacity(summary), summary->table.capacity, summary->used, summary->young,
	       events->created, events->evicted, events->evicted_live, events->insert_failures);
	printf("  told apart by %u bits and the block; %.1f bytes a source and limit\n",
	       summary_fingerprint_bits(summary),
	       (double)summary->table.blocks * sizeof(struct flat_block) / summary->table.capacity);
	if (events->unrecorded)
		printf("  %llu dropped packets are in no source's record: too many sources at once\n",
		       events->unrecorded);
}

static void print_shared(const struct summary *summary)
{
	if (!summary->table.shared_name[0])
		return;
	printf("  shared table %s, ", summary->table.shared_name);
	for (size_t i = 0; i < summary->shared_count; i++)
		printf("%s%s", i ? ", " : "with ", summary->shared_with[i]);
	puts(summary->shared_count ? "" : "with nobody else in this network namespace");
}

static void print_table(const struct summary *summary)
{
	if (summary->config.flat)
		print_flat(summary);
	else
		print_lru(summary);
	printf("  a source is an IPv4 /%u, an IPv6 /%u\n", summary->table.ipv4_prefix,
	       summary->table.ipv6_prefix);
}

static void print_limit(const struct summary *summary, unsigned int index)
{
	const struct limit_label *label = &summary->config.labels[index];
	const struct limit *limit = &summary->config.limits[index];
	const struct limit_count *count = &summary->counters.limits[limit->id];
	const struct rate rate = {label->kind, limit->unit, label->amount, label->per_ns};
	char rate_text[UNITS_TEXT_SIZE], burst_text[UNITS_TEXT_SIZE] = "";

	format_rate(&rate, rate_text, sizeof(rate_text));
	if (label->kind == LIMIT_METERED)
		describe_burst(label->burst, &rate, burst_text, sizeof(burst_text));
	printf("  %-12s %-16s %-18s %14llu %14llu", label->name, rate_text, burst_text,
	       count->tally.passed_packets, count->tally.dropped_packets);
	if (summary->config.dry_run || count->would_drop_packets)
		printf("   (%llu would have been dropped)", count->would_drop_packets);
	putchar('\n');
}

static void print_limits(const struct summary *summary)
{
	printf("\n  %-12s %-16s %-18s %14s %14s\n", "limit", "rate", "burst", "passed", "dropped");
	for (unsigned int i = 0; i < summary->config.limit_count; i++)
		print_limit(summary, i);
}

static void print_reasons(const struct summary *summary)
{
	printf("\n  %-12s %14s %14s %18s\n", "reason", "passed", "dropped", "bytes");
	for (unsigned int i = 0; i < REASON_COUNT; i++) {
		const struct reason_count *count = &summary->counters.reasons[i];
		uint64_t passed = count->passed.packets + count->would_drop.packets;

		if (!passed && !count->dropped.packets)
			continue;
		printf("  %-12s %14" PRIu64 " %14llu %18llu   %s\n", reason_name(i), passed,
		       count->dropped.packets,
		       count->passed.bytes + count->would_drop.bytes + count->dropped.bytes,
		       reason_text(i));
	}
}

static void print_totals(const struct summary *summary)
{
	struct totals totals;

	summary_totals(summary, &totals);
	printf("  %-12s %14llu %14llu %18llu   %llu packets seen\n", "total", totals.passed.packets,
	       totals.dropped.packets, totals.all.bytes, totals.all.packets);
	if (summary->config.dry_run || totals.would_drop_packets)
		printf("  would have been dropped: %" PRIu64 " packets\n",
		       totals.would_drop_packets);
}

static void print_queues(const struct summary *summary)
{
	uint64_t total = 0;
	unsigned int idle = 0;

	for (unsigned int i = 0; i < summary->cpus; i++) {
		total += summary->cpu_packets[i];
		idle += !summary->cpu_packets[i];
	}
	printf("\n  %-12s %14s %8s\n", "cpu", "packets", "share");
	for (unsigned int i = 0; i < summary->cpus; i++)
		if (summary->cpu_packets[i])
			printf("  %-12u %14" PRIu64 " %6.1f %%\n", i, summary->cpu_packets[i],
			       100.0 * (double)summary->cpu_packets[i] / (double)total);
	if (idle)
		printf("  %u more saw none\n", idle);
}

static void print_remarks(const struct summary *summary)
{
	struct problems problems;
	struct warnings warnings;

	summary_problems(summary, &problems);
	summary_warnings(summary, &warnings);
	for (int i = 0; i < problems.count; i++)
		printf("\n  ! %s\n", problems.text[i]);
	for (int i = 0; i < warnings.count; i++)
		printf("\n  note: %s\n", warnings.text[i]);
}

void summary_print(const struct summary *summary)
{
	print_head(summary);
	if (summary->trial_left_ns)
		printf("  ON TRIAL: goes back in %.0f s unless `xdp-limit confirm %s` comes\n",
		       (double)summary->trial_left_ns / NS_PER_SECOND, summary->netdev.name);
	print_shared(summary);
	print_table(summary);
	print_gate(summary);
	print_limits(summary);
	print_reasons(summary);
	print_totals(summary);
	if (summary->cpu_packets)
		print_queues(summary);
	print_remarks(summary);
}
