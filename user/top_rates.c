// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What top shows: rates and peaks out of two readings of the same counters; no kernel, no output. */
#include "top_rates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "flat.h"
#include "summary.h"

#define FIRST_ROWS  1024
#define FIRST_INDEX (4 * FIRST_ROWS)

/*
 * What a counter gained. One that went back was reset, or a CPU's cache was seen twice the last time (in it
 * and in its bucket): how much came is not known then, and 0 is never too much.
 */
static uint64_t gain(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static double per_second(uint64_t count, uint64_t elapsed_ns)
{
	return (double)count * 1e9 / (double)elapsed_ns;
}

/* ---- meters ---- */

void top_meter_read(struct top_meter *meter, const struct top_counts *counts, uint64_t now_ns)
{
	const struct tally *now = &counts->tally, *before = &meter->counts.tally;
	uint64_t elapsed = now_ns - meter->read_ns;

	meter->known = meter->read_ns && now_ns > meter->read_ns;
	if (meter->known)
		meter->rates = (struct top_rates){
			.passed_packets = per_second(
				gain(now->passed_packets, before->passed_packets), elapsed),
			.passed_bytes = per_second(gain(now->passed_bytes, before->passed_bytes),
						   elapsed),
			.dropped_packets = per_second(
				gain(now->dropped_packets, before->dropped_packets), elapsed),
			.dropped_bytes = per_second(gain(now->dropped_bytes, before->dropped_bytes),
						    elapsed),
			.would_drop_packets = per_second(
				gain(counts->would_drop_packets, meter->counts.would_drop_packets),
				elapsed),
		};
	meter->counts = *counts;
	meter->read_ns = now_ns;
}

void top_count_all(const struct counters *counters, struct top_counts *counts)
{
	struct totals totals;

	counter_totals(counters, &totals);
	*counts = (struct top_counts){
		.tally = {totals.passed.packets, totals.passed.bytes, totals.dropped.packets,
			  totals.dropped.bytes},
		.would_drop_packets = totals.would_drop_packets,
	};
}

void top_count_limit(const struct counters *counters, unsigned int id, struct top_counts *counts)
{
	counts->tally = counters->limits[id].tally;
	counts->would_drop_packets = counters->limits[id].would_drop_packets;
}

/* ---- the index over rows ---- */

void top_table_start(struct top_table *table, uint64_t seed)
{
	*table = (struct top_table){.seed = seed};
}

void top_table_free(struct top_table *table)
{
	free(table->rows);
	free(table->index);
	*table = (struct top_table){0};
}

/* The place of a source under a limit in the index: its row's, or a free one. */
static uint32_t *find_place(const struct top_table *table, const struct address *source,
			    uint16_t limit)
{
	uint64_t words[2];
	size_t at;

	memcpy(words, source->bytes, sizeof(words));
	at = flat_hash(table->seed + limit, words[0], words[1]);
	for (;; at++) {
		uint32_t *place = &table->index[at & (table->index_size - 1)];
		const struct top_row *row;

		if (!*place)
			return place;
		row = &table->rows[*place - 1];
		if (row->limit == limit && !memcmp(&row->source, source, sizeof(*source)))
			return place;
	}
}

/*
 * Two walks come by in the same order, but for what came or went: the row behind the last one is mostly the
 * one that is looked for, and costs no look into a large index.
 */
static struct top_row *find_row(struct top_table *table, const struct address *source,
				uint16_t limit)
{
	struct top_row *row = &table->rows[table->next];
	uint32_t *place;

	if (table->next >= table->count || row->limit != limit ||
	    memcmp(&row->source, source, sizeof(*source))) {
		place = find_place(table, source, limit);
		if (!*place)
			return NULL;
		row = &table->rows[*place - 1];
	}
	table->next = row - table->rows + 1;
	return row;
}

static void fill_index(const struct top_table *table)
{
	memset(table->index, 0, table->index_size * sizeof(*table->index));
	for (size_t i = 0; i < table->count; i++)
		*find_place(table, &table->rows[i].source, table->rows[i].limit) = i + 1;
}

static int grow_index(struct top_table *table)
{
	size_t size = table->index_size ? table->index_size * 2 : FIRST_INDEX;
	void *index = realloc(table->index, size * sizeof(*table->index));

	if (!index)
		return -ENOMEM;
	table->index = index;
	table->index_size = size;
	fill_index(table);
	return 0;
}

static int grow_rows(struct top_table *table)
{
	size_t capacity = table->capacity ? table->capacity + table->capacity / 2 : FIRST_ROWS;
	void *rows = realloc(table->rows, capacity * sizeof(*table->rows));

	if (!rows)
		return -ENOMEM;
	table->rows = rows;
	memset(&table->rows[table->count], 0, (capacity - table->count) * sizeof(*table->rows));
	table->capacity = capacity;
	return 0;
}

/* ---- rows ---- */

/* The highest of what was seen: 0 as long as nothing is known. */
static void note_peaks(struct top_row *row)
{
	float packets = row->passed + row->dropped;

	if (packets > row->peak_packets)
		row->peak_packets = packets;
	if (row->bytes > row->peak_bytes)
		row->peak_bytes = row->bytes;
}

/* What came since @before, which is all zeros for a bucket that was not there then. */
static void rate_row(struct top_row *row, const struct tally *now, const struct tally *before,
		     uint64_t elapsed_ns)
{
	row->known = elapsed_ns;
	if (!row->known)
		return;
	row->passed = per_second(gain(now->passed_packets, before->passed_packets), elapsed_ns);
	row->dropped = per_second(gain(now->dropped_packets, before->dropped_packets), elapsed_ns);
	row->bytes = per_second(gain(now->passed_bytes, before->passed_bytes) +
					gain(now->dropped_bytes, before->dropped_bytes),
				elapsed_ns);
	note_peaks(row);
}

static const struct tally nothing;

/* The same key in another life has all its counts since it was last seen. */
static void see_again(struct top_row *row, const struct bucket *bucket, uint64_t now_ns)
{
	bool reborn = row->born_ns != bucket->born_ns;

	rate_row(row, &bucket->tally, reborn ? &nothing : &row->tally, now_ns - row->read_ns);
}

static void see_first(const struct top_table *table, struct top_row *row,
		      const struct bucket *bucket)
{
	bool is_new = table->former_started_ns && bucket->born_ns > table->former_started_ns;

	*row = (struct top_row){.source = bucket->source, .limit = bucket->limit};
	/* The last walk came by here as long ago as it began before this one. */
	rate_row(row, &bucket->tally, &nothing,
		 is_new ? table->started_ns - table->former_started_ns : 0);
}

void top_table_begin(struct top_table *table, uint64_t now_ns)
{
	table->former_started_ns = table->started_ns;
	table->started_ns = now_ns;
	table->next = 0;
	table->walk++;
}

static int make_room(struct top_table *table)
{
	int err = !table->rows || table->count == table->capacity ? grow_rows(table) : 0;

	if (!err && 2 * (table->count + 1) > table->index_size)
		err = grow_index(table);
	return err;
}

static struct top_row *new_row(struct top_table *table, const struct bucket *bucket)
{
	struct top_row *row = &table->rows[table->count++];

	see_first(table, row, bucket);
	*find_place(table, &row->source, row->limit) = table->count;
	return row;
}

int top_table_add(struct top_table *table, const struct bucket *bucket, uint64_t now_ns)
{
	int err = make_room(table);
	struct top_row *row = err ? NULL : find_row(table, &bucket->source, bucket->limit);

	if (err)
		return err;
	if (row)
		see_again(row, bucket, now_ns);
	else
		row = new_row(table, bucket);
	row->walk = table->walk;
	row->read_ns = now_ns;
	row->born_ns = bucket->born_ns;
	row->tally = bucket->tally;
	return 0;
}

/* Rows that are gone may come back and keep their peaks, until they are many. */
void top_table_end(struct top_table *table)
{
	size_t left = 0;

	table->living = 0;
	for (size_t i = 0; i < table->count; i++)
		table->living += table->rows[i].walk == table->walk;
	table->complete = table->walk;
	if (table->count - table->living <= table->count / 4)
		return;
	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].walk == table->walk)
			table->rows[left++] = table->rows[i];
	table->count = left;
	fill_index(table);
}

/* ---- questions ---- */

/* A pair of IPv4 addresses has the destination before the mapped source: bpf/buckets.h. */
static struct address source_of(const struct top_row *row)
{
	static const uint8_t mapped[] = {0, 0, 0xff, 0xff};
	static const uint8_t none[4];
	struct address source = row->source;

	if (!memcmp(source.bytes + 8, mapped, 4) && !memcmp(source.bytes, none, 4))
		memset(source.bytes, 0, 8);
	return source;
}

static bool is_inside(const struct top_row *row, const struct policy_prefix *prefix)
{
	struct address source = source_of(row);

	if (address_is_ipv4(&source) != address_is_ipv4(&prefix->address))
		return false;
	address_cut(&source, prefix->length);
	return !memcmp(&source, &prefix->address, sizeof(source));
}

static bool is_met(const struct top_table *table, const struct top_question *question,
		   const struct top_row *row)
{
	return row->walk >= table->complete &&
	       (question->limit < 0 || row->limit == question->limit) &&
	       (!question->filtered || is_inside(row, &question->prefix));
}

/* What no rate is known of is behind all others, by its counts. */
static double measure(const struct top_row *row, enum top_order order)
{
	switch (order) {
	case TOP_BY_PEAK_PACKETS:
		return row->peak_packets;
	case TOP_BY_PEAK_BYTES:
		return row->peak_bytes;
	case TOP_BY_PASSED:
		return row->known ? row->passed : -1;
	case TOP_BY_BYTES:
		return row->known ? row->bytes : -1;
	default:
		return row->known ? row->dropped : -1;
	}
}

static int compare_counts(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

/* Below 0 when @left comes before @right; never 0 for two rows, so that the order is always the same. */
static int compare(const void *left, const void *right, void *context)
{
	const enum top_order *order = context;
	const struct top_row *a = left, *b = right;
	double first = measure(a, *order), second = measure(b, *order);

	if (first != second)
		return first > second ? -1 : 1;
	return compare_counts(a->tally.dropped_packets, b->tally.dropped_packets)
		       ?: compare_counts(a->tally.passed_packets, b->tally.passed_packets)
		       ?: memcmp(&a->source, &b->source, sizeof(a->source))
		       ?: (int)a->limit - (int)b->limit;
}

/*
 * Rows better than the worst that is kept are gathered; when there is no room left, the better half stays.
 * So most of a million rows cost one comparison.
 */
void top_ask(const struct top_table *table, const struct top_question *question,
	     struct top_answer *answer)
{
	enum top_order order = question->order;
	size_t kept = answer->room / 2;
	bool cut = false;

	answer->count = answer->matched = 0;
	for (size_t i = 0; i < table->count; i++) {
		const struct top_row *row = &table->rows[i];

		if (!is_met(table, question, row))
			continue;
		answer->matched++;
		if (cut && compare(row, &answer->rows[kept - 1], &order) > 0)
			continue;
		answer->rows[answer->count++] = *row;
		if (answer->count < answer->room)
			continue;
		qsort_r(answer->rows, answer->count, sizeof(*answer->rows), compare, &order);
		answer->count = kept;
		cut = true;
	}
	qsort_r(answer->rows, answer->count, sizeof(*answer->rows), compare, &order);
	if (answer->count > kept)
		answer->count = kept;
}
