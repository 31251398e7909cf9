// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A summary as JSON: keys are added, never renamed; what a limiter has not is null. */
#include "event_print.h"
#include "json.h"
#include "summary.h"
#include "words.h"

/* What a limit of the gate would be called: entries a second, and at once. */
static void put_gate(struct json_object *table, const struct summary *summary)
{
	const struct limit *limit = &summary->config.gate;
	const struct reason_count *count = &summary->counters.reasons[REASON_GATE_CLOSED];
	struct json_object *gate;

	if (!summary->config.gate_used) {
		json_put_null(table, "gate");
		return;
	}
	gate = json_put_object(table, "gate");
	json_object_object_add(
		gate, "rate",
		json_object_new_double((double)NS_PER_SECOND / (double)limit->multiplier));
	json_put_number(gate, "burst", limit->burst / limit->multiplier);
	json_put_number(gate, "closed_packets",
			count->passed.packets + count->dropped.packets + count->would_drop.packets);
	json_put_bool(gate, "closed", summary->gate_closed);
}

static void put_shared(struct json_object *table, const struct summary *summary)
{
	struct json_object *list = json_object_new_array();

	if (summary->table.shared_name[0])
		json_put_text(table, "shared_name", summary->table.shared_name);
	else
		json_put_null(table, "shared_name");
	for (size_t i = 0; i < summary->shared_count; i++)
		json_object_array_add(list, json_object_new_string(summary->shared_with[i]));
	json_object_object_add(table, "shared_with", list);
}

static void put_table(struct json_object *object, const struct summary *summary)
{
	struct json_object *table = json_put_object(object, "table");
	const struct event_count *events = &summary->counters.events;

	json_put_text(table, "type", table_words[summary->table.type]);
	put_shared(table, summary);
	json_put_number(table, "capacity", summary_capacity(summary));
	json_put_number(table, "sources", summary->table.capacity);
	json_put_number(table, "used", summary->used);
	json_object_object_add(table, "fill", json_object_new_double(summary_fill(summary)));
	json_put_number(table, "young", summary->young);
	json_put_seconds(table, "longest_refill_seconds",
			 (double)summary->refill_ns / NS_PER_SECOND);
	json_put_number(table, "created", events->created);
	json_put_number(table, "evicted", summary_evicted(summary));
	if (summary->config.flat)
		json_put_number(table, "evicted_live", events->evicted_live);
	else
		json_put_null(table, "evicted_live"); /* the kernel tells nobody what it evicts */
	json_put_number(table, "insert_failures", events->insert_failures);
	put_gate(table, summary);
	json_put_number(table, "deleted", summary->deleted);
	json_put_number(table, "create_raced", events->create_raced);
	json_put_number(table, "undo_lost", events->undo_lost);
	json_put_number(table, "repaired", events->repaired);
	if (summary->config.flat) {
		json_put_number(table, "unrecorded_packets", events->unrecorded);
		json_put_number(table, "fingerprint_bits", summary_fingerprint_bits(summary));
	} else {
		json_put_null(table, "unrecorded_packets");
		json_put_null(table, "fingerprint_bits");
	}
	json_put_number(table, "ipv4_prefix", summary->table.ipv4_prefix);
	json_put_number(table, "ipv6_prefix", summary->table.ipv6_prefix);
}

/* What was not told to readers of events. */
static void put_events_lost(struct json_object *object, const struct summary *summary)
{
	struct json_object *lost = json_put_object(object, "events_lost");
	const struct telling_count *telling = &summary->counters.telling;
	uint64_t unread = 0;

	for (unsigned int i = 0; i < EVENT_KERNEL_KINDS; i++)
		json_put_number(lost, event_kind_name(i), telling->capped[i]);
	for (unsigned int i = 0; i < EVENT_READERS; i++)
		unread += telling->overflowed[i];
	json_put_number(lost, "unread", unread);
}

static void put_totals(struct json_object *object, const struct summary *summary)
{
	struct json_object *json = json_put_object(object, "totals");
	struct totals totals;

	summary_totals(summary, &totals);
	json_put_number(json, "packets", totals.all.packets);
	json_put_number(json, "bytes", totals.all.bytes);
	json_put_number(json, "passed_packets", totals.passed.packets);
	json_put_number(json, "passed_bytes", totals.passed.bytes);
	json_put_number(json, "dropped_packets", totals.dropped.packets);
	json_put_number(json, "dropped_bytes", totals.dropped.bytes);
	json_put_number(json, "would_drop_packets", totals.would_drop_packets);
}

static void put_reasons(struct json_object *object, const struct summary *summary)
{
	struct json_object *reasons = json_put_object(object, "reasons");

	for (unsigned int i = 0; i < REASON_COUNT; i++) {
		const struct reason_count *count = &summary->counters.reasons[i];
		struct json_object *reason = json_put_object(reasons, reason_name(i));

		json_put_number(reason, "packets",
				count->passed.packets + count->dropped.packets +
					count->would_drop.packets);
		json_put_number(reason, "bytes",
				count->passed.bytes + count->dropped.bytes +
					count->would_drop.bytes);
		json_put_number(reason, "dropped_packets", count->dropped.packets);
	}
}

static void put_limits(struct json_object *object, const struct summary *summary)
{
	struct json_object *limits = json_put_object(object, "limits");

	for (unsigned int i = 0; i < summary->config.limit_count; i++) {
		const struct limit_count *count =
			&summary->counters.limits[summary->config.limits[i].id];
		struct json_object *limit = json_put_object(limits, summary->config.labels[i].name);

		json_put_number(limit, "passed_packets", count->tally.passed_packets);
		json_put_number(limit, "passed_bytes", count->tally.passed_bytes);
		json_put_number(limit, "dropped_packets", count->tally.dropped_packets);
		json_put_number(limit, "dropped_bytes", count->tally.dropped_bytes);
		json_put_number(limit, "would_drop_packets", count->would_drop_packets);
	}
}

static void put_problems(struct json_object *object, const struct summary *summary)
{
	struct json_object *list = json_object_new_array();
	struct problems problems;

	summary_problems(summary, &problems);
	for (int i = 0; i < problems.count; i++)
		json_object_array_add(list, json_object_new_string(problems.text[i]));
	json_object_object_add(object, "problems", list);
}

static void put_warnings(struct json_object *object, const struct summary *summary)
{
	struct json_object *list = json_object_new_array();
	struct warnings warnings;

	summary_warnings(summary, &warnings);
	for (int i = 0; i < warnings.count; i++)
		json_object_array_add(list, json_object_new_string(warnings.text[i]));
	json_object_object_add(object, "warnings", list);
}

static void put_queues(struct json_object *object, const struct summary *summary)
{
	struct json_object *list = json_object_new_array();

	for (unsigned int i = 0; i < summary->cpus; i++) {
		struct json_object *cpu = json_object_new_object();

		json_put_number(cpu, "cpu", i);
		json_put_number(cpu, "packets", summary->cpu_packets[i]);
		json_object_array_add(list, cpu);
	}
	json_object_object_add(object, "queues", list);
}

/* In the order in which they are called. */
static void put_members(struct json_object *object, const struct attachment *attachment)
{
	struct json_object *list = json_object_new_array();

	for (int i = 0; i < attachment->member_count; i++) {
		const struct member *member = &attachment->members[i];
		struct json_object *json = json_object_new_object();

		json_put_text(json, "name", member->name);
		json_put_number(json, "program_id", member->program_id);
		json_put_number(json, "priority", member->priority);
		json_put_bool(json, "ours", member->ours);
		json_object_array_add(list, json);
	}
	json_object_object_add(object, "members", list);
}

struct json_object *summary_json(const struct summary *summary)
{
	struct json_object *object = json_object_new_object();

	json_put_text(object, "interface", summary->netdev.name);
	json_put_number(object, "ifindex", summary->netdev.ifindex);
	json_put_text(object, "mode", mode_name(summary->attachment.mode));
	json_put_text(object, "attached_via", attachment_way(&summary->attachment));
	json_put_number(object, "program_id", summary->attachment.program_id);
	if (summary->attachment.dispatcher_id)
		put_members(object, &summary->attachment);
	else
		json_put_null(object, "members");
	json_put_bool(object, "dry_run", summary->config.dry_run);
	json_put_number(object, "attached_at", summary->config.attached_ns / NS_PER_SECOND);
	json_put_number(object, "attached_seconds", summary->attached_seconds);
	if (summary->trial != TRIAL_NONE)
		json_put_seconds(object, "trial_seconds",
				 (double)summary->trial_left_ns / NS_PER_SECOND);
	else
		json_put_null(object, "trial_seconds");
	put_table(object, summary);
	put_totals(object, summary);
	put_reasons(object, summary);
	put_limits(object, summary);
	put_events_lost(object, summary);
	if (summary->cpu_packets)
		put_queues(object, summary);
	put_problems(object, summary);
	put_warnings(object, summary);
	return object;
}
