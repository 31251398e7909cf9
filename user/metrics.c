// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The families of /metrics: a row for each, with the function that writes its samples. */
#include "metrics.h"

#include "bucket_name.h"
#include "words.h"

/* The interface, and labels behind it. */
#define WITH(interface, ...) \
	((const struct metric_label[LABELS_MAX]){{"interface", (interface)->name}, ##__VA_ARGS__})

typedef void write_samples(struct metrics_writer *writer, const struct interface_metrics *of);

/* ---- the interface ---- */

static void write_attached(struct metrics_writer *writer, const struct interface_metrics *of)
{
	metrics_number(writer,
		       WITH(of, {"mode", mode_name(of->summary->attachment.mode)},
			    {"table", table_words[of->summary->table.type]}),
		       of->summary->config.attached_ns / NS_PER_SECOND);
}

static void write_problems(struct metrics_writer *writer, const struct interface_metrics *of)
{
	struct problems problems;

	summary_problems(of->summary, &problems);
	metrics_number(writer, WITH(of), (uint64_t)problems.count);
}

static void write_dry_run(struct metrics_writer *writer, const struct interface_metrics *of)
{
	metrics_number(writer, WITH(of), of->summary->config.dry_run);
}

static void write_trial(struct metrics_writer *writer, const struct interface_metrics *of)
{
	metrics_decimal(writer, WITH(of), (double)of->summary->trial_left_ns / NS_PER_SECOND);
}

/* ---- packets ---- */

static const struct {
	const char *name;
	bool dropped;
} verdicts[] = {{"passed", false}, {"dropped", true}};

#define VERDICTS (sizeof(verdicts) / sizeof(verdicts[0]))

/* What only a dry run let pass has passed, as in `status`. */
static struct count count_of(const struct reason_count *reason, bool dropped)
{
	if (dropped)
		return reason->dropped;
	return (struct count){reason->passed.packets + reason->would_drop.packets,
			      reason->passed.bytes + reason->would_drop.bytes};
}

static void write_reasons(struct metrics_writer *writer, const struct interface_metrics *of,
			  bool bytes)
{
	for (unsigned int reason = 0; reason < REASON_COUNT; reason++)
		for (size_t i = 0; i < VERDICTS; i++) {
			struct count count = count_of(&of->summary->counters.reasons[reason],
						      verdicts[i].dropped);

			metrics_number(writer,
				       WITH(of, {"reason", reason_name(reason)},
					    {"verdict", verdicts[i].name}),
				       bytes ? count.bytes : count.packets);
		}
}

static void write_packets(struct metrics_writer *writer, const struct interface_metrics *of)
{
	write_reasons(writer, of, false);
}

static void write_bytes(struct metrics_writer *writer, const struct interface_metrics *of)
{
	write_reasons(writer, of, true);
}

static void write_would_drop(struct metrics_writer *writer, const struct interface_metrics *of)
{
	for (unsigned int reason = 0; reason < REASON_COUNT; reason++)
		metrics_number(writer, WITH(of, {"reason", reason_name(reason)}),
			       of->summary->counters.reasons[reason].would_drop.packets);
}

static const struct limit_count *limit_count_of(const struct interface_metrics *of,
						unsigned int limit)
{
	return &of->summary->counters.limits[of->summary->config.limits[limit].id];
}

static void write_limits(struct metrics_writer *writer, const struct interface_metrics *of,
			 bool bytes)
{
	const struct config *config = &of->summary->config;

	for (unsigned int limit = 0; limit < config->limit_count; limit++) {
		const struct tally *tally = &limit_count_of(of, limit)->tally;
		const uint64_t values[VERDICTS] = {
			bytes ? tally->passed_bytes : tally->passed_packets,
			bytes ? tally->dropped_bytes : tally->dropped_packets,
		};

		for (size_t i = 0; i < VERDICTS; i++)
			metrics_number(writer,
				       WITH(of, {"limit", config->labels[limit].name},
					    {"verdict", verdicts[i].name}),
				       values[i]);
	}
}

static void write_limit_packets(struct metrics_writer *writer, const struct interface_metrics *of)
{
	write_limits(writer, of, false);
}

static void write_limit_bytes(struct metrics_writer *writer, const struct interface_metrics *of)
{
	write_limits(writer, of, true);
}

static void write_limit_would_drop(struct metrics_writer *writer,
				   const struct interface_metrics *of)
{
	const struct config *config = &of->summary->config;

	for (unsigned int limit = 0; limit < config->limit_count; limit++)
		metrics_number(writer, WITH(of, {"limit", config->labels[limit].name}),
			       limit_count_of(of, limit)->would_drop_packets);
}

/* ---- the table ---- */

static void write_capacity(struct metrics_writer *writer, const struct interface_metrics *of)
{
	metrics_number(writer, WITH(of), summary_capacity(of->summary));
}

static void write_used(struct metrics_writer *writer, const struct interface_metrics *of)
{
	metrics_number(writer, WITH(of), of->summary->used);
}

static void write_young(struct metrics_writer *writer, const struct interface_metrics *of)
{
	metrics_number(writer, WITH(of), of->summary->young);
}

static void write_fill(struct metrics_writer *writer, const struct interface_metrics *of)
{
	metrics_decimal(writer, WITH(of), summary_fill(of->summary));
}

static void write_evicted(struct metrics_writer *writer, const struct interface_metrics *of)
{
	metrics_number(writer, WITH(of), of->evicted);
}

static void write_deleted(struct metrics_writer *writer, const struct interface_metrics *of)
{
	metrics_number(writer, WITH(of), of->summary->deleted);
}

/* The kernel tells nobody what an LRU table evicts. */
static void write_evicted_live(struct metrics_writer *writer, const struct interface_metrics *of)
{
	if (of->summary->config.flat)
		metrics_number(writer, WITH(of), of->summary->counters.events.evicted_live);
}

static void write_unrecorded(struct metrics_writer *writer, const struct interface_metrics *of)
{
	if (of->summary->config.flat)
		metrics_number(writer, WITH(of), of->summary->counters.events.unrecorded);
}

#define EVENT_SAMPLES(function, field)                                                          \
	static void function(struct metrics_writer *writer, const struct interface_metrics *of) \
	{                                                                                       \
		metrics_number(writer, WITH(of), of->summary->counters.events.field);           \
	}

EVENT_SAMPLES(write_created, created)
EVENT_SAMPLES(write_create_raced, create_raced)
EVENT_SAMPLES(write_insert_failures, insert_failures)
EVENT_SAMPLES(write_undo_lost, undo_lost)
EVENT_SAMPLES(write_repaired, repaired)

static void write_gate_closed(struct metrics_writer *writer, const struct interface_metrics *of)
{
	if (of->summary->config.gate_used)
		metrics_number(writer, WITH(of), of->summary->gate_closed);
}

/* ---- lists, the program, sources ---- */

static void write_lists(struct metrics_writer *writer, const struct interface_metrics *of)
{
	static const char *const names[LIVE_COUNT] = {
		[LIVE_ALLOW] = "allow",
		[LIVE_DENY] = "deny",
		[LIVE_BAN] = "ban",
	};

	for (int i = 0; i < LIVE_COUNT; i++)
		metrics_number(writer, WITH(of, {"list", names[i]}), of->list_entries[i]);
}

static void write_runs(struct metrics_writer *writer, const struct interface_metrics *of)
{
	if (of->has_run)
		metrics_number(writer, WITH(of), of->run_count);
}

static void write_run_time(struct metrics_writer *writer, const struct interface_metrics *of)
{
	if (of->has_run)
		metrics_decimal(writer, WITH(of), (double)of->run_ns / NS_PER_SECOND);
}

/* Exact bounds up to a millisecond; what a check takes lies well within. */
#define FIRST_BOUND 5
#define LAST_BOUND  20
#define BOUNDS	    (LAST_BOUND - FIRST_BOUND + 1)

static void write_durations(struct metrics_writer *writer, const struct interface_metrics *of)
{
	uint64_t counts[BOUNDS + 1] = {0};
	double bounds[BOUNDS];
	const struct metric_histogram histogram = {
		.counts = counts,
		.bounds = bounds,
		.count = BOUNDS + 1,
		.sum = (double)of->durations.sum_ns / NS_PER_SECOND,
	};

	if (!of->summary->config.measure)
		return;
	for (int i = 0; i < BOUNDS; i++)
		bounds[i] = (double)(1ULL << (FIRST_BOUND + i)) / NS_PER_SECOND;
	/* What is counted at i is shorter than 2^(i+1) ns. */
	for (int i = 0; i < DURATION_BUCKETS; i++) {
		int at = i + 1 < FIRST_BOUND ? 0 : i + 1 - FIRST_BOUND;

		counts[at < BOUNDS ? at : BOUNDS] += of->durations.counts[i];
	}
	metrics_histogram(writer, WITH(of), &histogram);
}

static void write_events_lost(struct metrics_writer *writer, const struct interface_metrics *of)
{
#define X_KIND(NAME, name, per_second, text) #name,
	static const char *const kinds[] = {XDP_LIMIT_EVENT_KINDS(X_KIND)};
	const struct telling_count *telling = &of->summary->counters.telling;
	uint64_t overflowed = 0;

	for (int i = 0; i < EVENT_KERNEL_KINDS; i++)
		metrics_number(writer, WITH(of, {"cause", "rate_cap"}, {"kind", kinds[i]}),
			       telling->capped[i]);
	for (int i = 0; i < EVENT_READERS; i++)
		overflowed += telling->overflowed[i];
	metrics_number(writer, WITH(of, {"cause", "reader_full"}), overflowed);
}

static void write_sources(struct metrics_writer *writer, const struct interface_metrics *of)
{
	const struct selection *selection = of->sources ? &of->sources->selection : NULL;
	char name[BUCKET_NAME_SIZE];

	for (size_t i = 0; selection && i < selection->count; i++) {
		const struct bucket *bucket = &selection->buckets[i];

		bucket_name(of->sources->running, bucket, name);
		metrics_number(writer,
			       WITH(of, {"limit", of->summary->config.labels[bucket->limit].name},
				    {"source", name}),
			       bucket->tally.dropped_packets);
	}
}

/* ---- the families ---- */

static const struct family {
	const char *name;
	enum metric_kind kind;
	write_samples *write;
	const char *help;
} families[] = {
	{"xdp_limit_attached_timestamp_seconds", METRIC_GAUGE, write_attached,
	 "When the limiter was attached first, with its mode and type of table."},
	{"xdp_limit_problems", METRIC_GAUGE, write_problems, "What `status --check` finds wrong."},
	{"xdp_limit_dry_run", METRIC_GAUGE, write_dry_run,
	 "Whether nothing is dropped, only counted."},
	{"xdp_limit_trial_remaining_seconds", METRIC_GAUGE, write_trial,
	 "Until a policy on trial falls back; 0 when none is."},
	{"xdp_limit_packets", METRIC_COUNTER, write_packets,
	 "Packets by reason and by what became of them; the sum is all that were seen."},
	{"xdp_limit_bytes", METRIC_COUNTER, write_bytes, "Bytes of these packets, whole frames."},
	{"xdp_limit_would_drop_packets", METRIC_COUNTER, write_would_drop,
	 "Packets that passed only because of a dry run; they count as passed too."},
	{"xdp_limit_limit_packets", METRIC_COUNTER, write_limit_packets,
	 "Packets that a limit judged. One packet may meet several limits."},
	{"xdp_limit_limit_bytes", METRIC_COUNTER, write_limit_bytes, "Bytes of these packets."},
	{"xdp_limit_limit_would_drop_packets", METRIC_COUNTER, write_limit_would_drop,
	 "Packets that a limit would drop if it were not for a dry run or its mode observe."},
	{"xdp_limit_table_capacity_entries", METRIC_GAUGE, write_capacity,
	 "Entries that the table has room for; slots of a flat table."},
	{"xdp_limit_table_entries", METRIC_GAUGE, write_used,
	 "Entries in use; of a flat table slots with an owner."},
	{"xdp_limit_table_young_entries", METRIC_GAUGE, write_young,
	 "Entries made within the longest refill of the policy; of a flat table slots in debt."},
	{"xdp_limit_table_fill_ratio", METRIC_GAUGE, write_fill,
	 "How full the table is, 1 for full; a flood may bring a flat table up to 2."},
	{"xdp_limit_table_created", METRIC_COUNTER, write_created, "Entries made."},
	{"xdp_limit_table_evicted", METRIC_COUNTER, write_evicted,
	 "Entries that made room for others."},
	{"xdp_limit_table_evicted_live", METRIC_COUNTER, write_evicted_live,
	 "Slots of a flat table that were in debt when they went to another source."},
	{"xdp_limit_table_deleted", METRIC_COUNTER, write_deleted, "Entries removed by `reset`."},
	{"xdp_limit_table_insert_failures", METRIC_COUNTER, write_insert_failures,
	 "Packets for which no entry could be made: judged by when-full."},
	{"xdp_limit_table_create_races", METRIC_COUNTER, write_create_raced,
	 "Entries that another CPU made first."},
	{"xdp_limit_undo_lost_packets", METRIC_COUNTER, write_undo_lost,
	 "Packets that lost a race and left their own cost behind."},
	{"xdp_limit_repaired_words", METRIC_COUNTER, write_repaired,
	 "Buckets too far ahead of the clock, put back to just exhausted."},
	{"xdp_limit_unrecorded_packets", METRIC_COUNTER, write_unrecorded,
	 "Dropped packets that a flat table counted for no source."},
	{"xdp_limit_gate_closed", METRIC_GAUGE, write_gate_closed,
	 "Whether new sources are refused now; how many packets: reason gate_closed."},
	{"xdp_limit_list_entries", METRIC_GAUGE, write_lists,
	 "Entries that live on the live lists; bans with those that limits made."},
	{"xdp_limit_events_lost", METRIC_COUNTER, write_events_lost,
	 "Events that no reader got: too many of a kind, or a reader's buffer was full."},
	{"xdp_limit_check_duration_seconds", METRIC_HISTOGRAM, write_durations,
	 "What checks took, of the packets that the policy's key measure samples."},
	{"xdp_limit_program_runs", METRIC_COUNTER, write_runs,
	 "Runs of the program that the kernel measured; a new policy begins at 0."},
	{"xdp_limit_program_run_seconds", METRIC_COUNTER, write_run_time, "Time of these runs."},
	{"xdp_limit_source_dropped_packets", METRIC_COUNTER, write_sources,
	 "Packets dropped of the sources with most drops; only with serve --top."},
};

static bool any_is_up(const struct metrics *metrics)
{
	for (size_t i = 0; i < metrics->interface_count; i++)
		if (metrics->interfaces[i].summary)
			return true;
	return false;
}

static void write_family(struct metrics_writer *writer, const struct family *family,
			 const struct metrics *metrics)
{
	metrics_family(writer, family->name, family->kind, family->help);
	for (size_t i = 0; i < metrics->interface_count; i++)
		if (metrics->interfaces[i].summary)
			family->write(writer, &metrics->interfaces[i]);
}

/* What there is to say without any limiter. */
static void write_always(struct metrics_writer *writer, const struct metrics *metrics)
{
	const struct metric_label build[LABELS_MAX] = {{"version", metrics->version},
						       {"libbpf", metrics->libbpf}};

	metrics_family(writer, "xdp_limit_build_info", METRIC_GAUGE,
		       "1, with the versions of xdp-limit and libbpf.");
	metrics_number(writer, build, 1);
	metrics_family(writer, "xdp_limit_up", METRIC_GAUGE,
		       "Whether a limiter is attached to the interface and can be read.");
	for (size_t i = 0; i < metrics->interface_count; i++)
		metrics_number(writer, WITH(&metrics->interfaces[i]),
			       metrics->interfaces[i].summary != NULL);
}

void metrics_write(const struct metrics *metrics, enum metrics_format format, FILE *out)
{
	struct metrics_writer writer = {.out = out, .format = format};
	bool up = any_is_up(metrics);

	write_always(&writer, metrics);
	for (size_t i = 0; up && i < sizeof(families) / sizeof(families[0]); i++)
		write_family(&writer, &families[i], metrics);
	metrics_end(&writer);
}
