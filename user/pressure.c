// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whether the table is large enough, and the CPUs share the work: what of it is worth a warning. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compile_gate.h"
#include "policy.h"
#include "summary.h"
#include "units.h"

#define WARN_FILL      0.8
#define YOUNG_TENTHS   6 /* of the entries: the gate lets no more in within a longest refill */
#define UNEVEN_TIMES   4
#define UNEVEN_PACKETS 1000 /* fewer prove nothing */

static void warn(struct warnings *warnings, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void warn(struct warnings *warnings, const char *format, ...)
{
	va_list arguments;

	if (warnings->count == WARNINGS_MAX)
		return;
	va_start(arguments, format);
	vsnprintf(warnings->text[warnings->count], sizeof(warnings->text[0]), format, arguments);
	va_end(arguments);
	warnings->count++;
}

/* ---- the table's size ---- */

double summary_fill(const struct summary *summary)
{
	if (summary->config.flat)
		return 2 * (double)summary->young / (double)summary_capacity(summary);
	return (double)summary->used / (double)summary->table.capacity;
}

bool summary_is_early(const struct summary *summary)
{
	return !summary->table_seconds ||
	       summary->table_seconds < summary->refill_ns / NS_PER_SECOND;
}

static uint64_t packets_refused(const struct summary *summary)
{
	const struct reason_count *count = &summary->counters.reasons[REASON_GATE_CLOSED];

	return count->passed.packets + count->dropped.packets + count->would_drop.packets;
}

/* New entries of this time the table must hold: as slow as the gate gets, or five longest refills. */
static double steady_seconds(const struct summary *summary)
{
	double refills = 5 * (double)summary->refill_ns / (double)NS_PER_SECOND;

	return refills < GATE_SLOWEST ? refills : GATE_SLOWEST;
}

/* As docs/policy.md has it. A rate is known once it was seen for so long as it is asked about. */
uint64_t summary_sources(const struct summary *summary)
{
	double seconds = (double)summary->table_seconds, now = (double)summary->young * 2.5;
	double steady = summary_is_early(summary) ? 0
						  : (double)summary->counters.events.created /
							    seconds * steady_seconds(summary);
	uint64_t sources = SOURCES_MIN;

	/* An idle slot is free: only those in debt at once count. */
	if (summary->config.flat) {
		now = (double)summary->young * 1.25;
		steady = 0;
	}
	while (sources < SOURCES_MAX && ((double)sources < steady || (double)sources < now))
		sources *= 2;
	return sources;
}

/* Larger than it is: for whom what was seen is not enough. */
static uint64_t larger_table(const struct summary *summary)
{
	uint64_t least = 2ULL * summary->table.capacity, sources = summary_sources(summary);

	sources = sources > least ? sources : least;
	return sources < SOURCES_MAX ? sources : SOURCES_MAX;
}

/* A few entries always wait on the CPUs' lists of free ones: what has evicted was full. */
static bool is_full(const struct summary *summary)
{
	return summary->used >= summary->table.capacity || summary_evicted(summary);
}

static bool is_pressed(const struct summary *summary)
{
	return summary->young * 10 > (uint64_t)summary->table.capacity * YOUNG_TENTHS;
}

enum pressure summary_pressure(const struct summary *summary)
{
	double fill = summary_fill(summary);

	if (fill < WARN_FILL)
		return PRESSURE_NONE;
	if (summary->config.flat)
		return fill >= 1 ? PRESSURE_FULL : PRESSURE_FILLING;
	if (!is_full(summary))
		return PRESSURE_FILLING;
	return is_pressed(summary) ? PRESSURE_EVICTING : PRESSURE_FULL;
}

/* An idle slot is as good as a free one, so only those in debt fill a flat table. */
static void warn_flat(const struct summary *summary, struct warnings *warnings)
{
	uint64_t live = summary->counters.events.evicted_live;
	double fill = summary_fill(summary);

	if (fill >= WARN_FILL)
		warn(warnings,
		     "the table is %s%.0f %% full: %" PRIu64 " sources owe something, of %" PRIu64
		     " that it was made for; the more there are, the more newcomers find no idle slot "
		     "and meet when-full; larger: --sources %" PRIu64 " --recreate",
		     fill >= 1 ? "more than full, " : "", 100 * fill, summary->young,
		     summary_capacity(summary) / 2, larger_table(summary));
	if (live)
		warn(warnings,
		     "%" PRIu64
		     " slots in debt went to newcomers, who inherited it: they got less than a burst of "
		     "their own, nobody got more",
		     live);
}

static void warn_lru(const struct summary *summary, struct warnings *warnings)
{
	unsigned int young = (unsigned int)(100 * summary->young / summary->table.capacity);
	char state[96], refill[UNITS_TEXT_SIZE];

	if (summary_fill(summary) < WARN_FILL)
		return;
	format_time(summary->refill_ns, refill, sizeof(refill));
	if (is_full(summary))
		snprintf(state, sizeof(state), "the table is full");
	else
		snprintf(state, sizeof(state), "the table is %u %% full",
			 (unsigned int)(100 * summary_fill(summary)));
	if (is_pressed(summary))
		warn(warnings,
		     "%s, and entries for %u %% of it are younger than the longest refill (%s): a new "
		     "source may evict a bucket before it is full again, whose source then gets a "
		     "fresh burst; larger: --sources %" PRIu64 " --recreate",
		     state, young, refill, larger_table(summary));
	else
		warn(warnings,
		     "%s, which is normal after so many sources: when it is, each new one evicts the "
		     "one not seen for longest; entries for %u %% of it are younger than the longest "
		     "refill (%s), so no bucket is lost that was not full again",
		     state, young, refill);
}

static void warn_gate(const struct summary *summary, struct warnings *warnings)
{
	uint64_t refused = packets_refused(summary);

	/* Closed now is a problem, and said there. */
	if (refused && !summary->gate_closed)
		warn(warnings,
		     "the gate refused %" PRIu64
		     " packets of new sources: either somebody invented them, or the table is too "
		     "small for so many: --sources %" PRIu64 " --recreate",
		     refused, larger_table(summary));
}

/* ---- who does the work ---- */

static int more_first(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? 1 : a > b ? -1 : 0;
}

/* CPUs that are not online see nothing, and prove nothing: those online are the busiest ones. */
static void warn_queues(const struct summary *summary, struct warnings *warnings)
{
	unsigned int count = summary->cpus_online < summary->cpus ? summary->cpus_online
								  : summary->cpus;
	uint64_t *packets = calloc(summary->cpus ?: 1, sizeof(*packets));

	if (!packets || !summary->cpu_packets || count < 2) {
		free(packets);
		return;
	}
	memcpy(packets, summary->cpu_packets, summary->cpus * sizeof(*packets));
	qsort(packets, summary->cpus, sizeof(*packets), more_first);
	if (packets[0] >= UNEVEN_PACKETS && packets[0] / UNEVEN_TIMES > packets[count - 1])
		warn(warnings,
		     "the busiest of %u CPUs sees %" PRIu64 " packets, the idlest %" PRIu64
		     ": spread them by more queues (ethtool -L %s combined %u), RSS (ethtool -X %s "
		     "equal %u) and IRQ affinity (/proc/irq); RPS is too late for XDP",
		     count, packets[0], packets[count - 1], summary->netdev.name, count,
		     summary->netdev.name, count);
	free(packets);
}

void summary_warnings(const struct summary *summary, struct warnings *warnings)
{
	warnings->count = 0;
	if (summary->config.flat)
		warn_flat(summary, warnings);
	else
		warn_lru(summary, warnings);
	warn_gate(summary, warnings);
	warn_queues(summary, warnings);
}
