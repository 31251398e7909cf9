// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sums and judgements over a summary; no kernel calls, no output. */
#include "summary.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Long enough for any live interface to have received something. */
#define BLIND_AFTER_SECONDS 60
#define BLIND_PACKETS	    10

#define X_NAME(NAME, name, action, text) #name,
#define X_TEXT(NAME, name, action, text) text,
static const char *const names[] = {XDP_LIMIT_REASONS(X_NAME)};
static const char *const texts[] = {XDP_LIMIT_REASONS(X_TEXT)};

const char *reason_name(unsigned int reason)
{
	return names[reason];
}

const char *reason_text(unsigned int reason)
{
	return texts[reason];
}

static void add(struct count *sum, const struct count *part)
{
	sum->packets += part->packets;
	sum->bytes += part->bytes;
}

void counter_totals(const struct counters *counters, struct totals *totals)
{
	*totals = (struct totals){0};
	for (int i = 0; i < REASON_COUNT; i++) {
		const struct reason_count *count = &counters->reasons[i];

		add(&totals->passed, &count->passed);
		add(&totals->passed, &count->would_drop);
		add(&totals->dropped, &count->dropped);
		totals->would_drop_packets += count->would_drop.packets;
	}
	add(&totals->all, &totals->passed);
	add(&totals->all, &totals->dropped);
}

void summary_totals(const struct summary *summary, struct totals *totals)
{
	counter_totals(&summary->counters, totals);
}

uint64_t summary_capacity(const struct summary *summary)
{
	if (!summary->config.flat)
		return summary->table.capacity;
	return (uint64_t)summary->table.words * summary->table.blocks * FLAT_SLOTS;
}

unsigned int summary_fingerprint_bits(const struct summary *summary)
{
	unsigned int least = 0;

	for (unsigned int i = 0; i < summary->config.limit_count; i++) {
		unsigned int bits = summary->config.limits[i].fingerprint_bits;

		if (bits && (!least || bits < least))
			least = bits;
	}
	return least;
}

uint64_t summary_evicted(const struct summary *summary)
{
	if (summary->config.flat)
		return summary->counters.events.evicted;
	uint64_t gone = summary->deleted + summary->used;
	uint64_t created = summary->counters.events.created;

	return created > gone ? created - gone : 0;
}

static void add_problem(struct problems *problems, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_problem(struct problems *problems, const char *format, ...)
{
	va_list arguments;

	if (problems->count == PROBLEMS_MAX)
		return;
	va_start(arguments, format);
	vsnprintf(problems->text[problems->count], sizeof(problems->text[0]), format, arguments);
	va_end(arguments);
	problems->count++;
}

static bool is_blind(const struct summary *summary)
{
	return summary->attached_seconds >= BLIND_AFTER_SECONDS && !summary->seen_since_attach &&
	       summary->device_packets >= BLIND_PACKETS;
}

void summary_problems(const struct summary *summary, struct problems *problems)
{
	uint64_t failures = summary->counters.events.insert_failures;

	problems->count = 0;
	if (!summary->pins_complete)
		add_problem(problems,
			    "pins are missing: it goes on only as long as something else holds it; "
			    "`xdp-limit attach %s ...` makes them again",
			    summary->netdev.name);
	if (summary->trial == TRIAL_OVER)
		add_problem(
			problems,
			"the policy on trial was not confirmed in time: the former state holds, and "
			"these numbers are of what was tried; link and pins follow with the next "
			"command that gets the lock of %s",
			summary->netdev.name);
	if (summary->apart[0])
		add_problem(problems,
			    "another policy or table than on %s, with which it shares %s: a "
			    "command was killed between the two; `xdp-limit apply %s FILE` puts "
			    "one on both",
			    summary->apart, summary->table.shared_name, summary->netdev.name);
	if (is_blind(summary))
		add_problem(
			problems,
			"attached but blind: %s received %" PRIu64
			" packets since, the program saw none; "
			"its traffic comes in by another device (a bridge's or tunnel's lower one)",
			summary->netdev.name, summary->device_packets);
	if (summary->gate_closed)
		add_problem(
			problems,
			"the gate is closed: new sources come faster than buckets may be made; known "
			"sources are not affected");
	if (failures)
		add_problem(problems,
			    "%" PRIu64
			    " packets found no place in the table and were judged by when-full; a "
			    "larger one: --sources %u --recreate",
			    failures, summary->table.capacity * 2);
}
