// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* top without a terminal: blocks of plain text, or lines of JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "bucket_name.h"
#include "json.h"
#include "report.h"
#include "top.h"

/* ---- text: whole numbers, the same columns in each block ---- */

static void print_meter(const char *name, const struct top_meter *meter,
			const struct top_counts *sum)
{
	const struct top_rates *rates = &meter->rates;

	printf("%-28s %12.1f %12.1f %12.1f %14.0f %14llu %14llu\n", name, rates->passed_packets,
	       rates->dropped_packets, rates->would_drop_packets,
	       8 * (rates->passed_bytes + rates->dropped_bytes), sum->tally.passed_packets,
	       sum->tally.dropped_packets);
}

static void print_rate(bool known, int width, int decimals, double rate)
{
	if (known)
		printf(" %*.*f", width, decimals, rate);
	else
		printf(" %*s", width, "-");
}

static void print_row(const struct running *running, const struct top_row *row)
{
	const struct bucket bucket = {.source = row->source, .limit = row->limit};
	char source[BUCKET_NAME_SIZE];

	bucket_name(running, &bucket, source);
	printf("%-28s %-12s", source, running->config.labels[row->limit].name);
	print_rate(row->known, 12, 1, row->passed);
	print_rate(row->known, 12, 1, row->dropped);
	print_rate(row->known, 14, 0, 8.0 * row->bytes);
	print_rate(row->known, 14, 1, row->peak_packets);
	print_rate(row->known, 14, 0, 8.0 * row->peak_bytes);
	putchar('\n');
}

static void print_text(const struct top_reading *reading, const struct top_answer *answer)
{
	const struct running *running = reading->running;

	printf("%s: %zu buckets, rates over %.3f s\n", reading->interface, reading->table.living,
	       (double)reading->walk_ns / NS_PER_SECOND);
	printf("%-28s %12s %12s %12s %14s %14s %14s\n", "limit", "passed/s", "dropped/s", "would/s",
	       "bit/s", "passed", "dropped");
	print_meter("(all packets)", &reading->total, &reading->total_sum);
	for (uint32_t i = 0; i < running->config.limit_count; i++)
		print_meter(running->config.labels[i].name, &reading->limits[i],
			    &reading->limit_sums[i]);
	printf("%-28s %-12s %12s %12s %14s %14s %14s\n", "source", "limit",
	       running->config.flat ? "would/s" : "passed/s", "dropped/s", "bit/s", "peak-pps",
	       "peak-bit/s");
	for (size_t i = 0; i < answer->count; i++)
		print_row(running, &answer->rows[i]);
	putchar('\n');
}

/* ---- JSON ---- */

/* A thousandth is enough of a rate. */
static void put_rate(struct json_object *object, const char *key, bool known, double rate)
{
	char text[64];

	if (!known) {
		json_put_null(object, key);
		return;
	}
	snprintf(text, sizeof(text), "%.3f", rate);
	json_object_object_add(object, key, json_object_new_double_s(rate, text));
}

static void put_meter(struct json_object *object, const struct top_meter *meter,
		      const struct top_counts *sum)
{
	const struct top_rates *rates = &meter->rates;

	json_put_number(object, "passed_packets", sum->tally.passed_packets);
	json_put_number(object, "dropped_packets", sum->tally.dropped_packets);
	json_put_number(object, "would_drop_packets", sum->would_drop_packets);
	put_rate(object, "passed_packets_per_second", true, rates->passed_packets);
	put_rate(object, "dropped_packets_per_second", true, rates->dropped_packets);
	put_rate(object, "would_drop_packets_per_second", true, rates->would_drop_packets);
	put_rate(object, "passed_bytes_per_second", true, rates->passed_bytes);
	put_rate(object, "dropped_bytes_per_second", true, rates->dropped_bytes);
}

static struct json_object *row_json(const struct running *running, const struct top_row *row)
{
	const struct bucket bucket = {.source = row->source, .limit = row->limit};
	struct json_object *object = json_object_new_object();
	bool flat = running->config.flat, known = row->known;
	char source[BUCKET_NAME_SIZE];

	bucket_name(running, &bucket, source);
	json_put_text(object, "source", source);
	json_put_text(object, "limit", running->config.labels[row->limit].name);
	put_rate(object, "passed_packets_per_second", known && !flat, row->passed);
	put_rate(object, "dropped_packets_per_second", known, row->dropped);
	put_rate(object, "bytes_per_second", known, row->bytes);
	put_rate(object, "peak_packets_per_second", known, row->peak_packets);
	put_rate(object, "peak_bytes_per_second", known, row->peak_bytes);
	return object;
}

/* A line, so that a script can read one after the other. */
static void print_json(const struct top_reading *reading, const struct top_answer *answer)
{
	const struct running *running = reading->running;
	struct json_object *object = json_object_new_object(), *limits;
	struct json_object *sources = json_object_new_array();

	json_put_text(object, "interface", reading->interface);
	json_put_number(object, "buckets", reading->table.living);
	json_put_seconds(object, "sources_seconds", (double)reading->walk_ns / NS_PER_SECOND);
	put_meter(json_put_object(object, "totals"), &reading->total, &reading->total_sum);
	limits = json_put_object(object, "limits");
	for (uint32_t i = 0; i < running->config.limit_count; i++)
		put_meter(json_put_object(limits, running->config.labels[i].name),
			  &reading->limits[i], &reading->limit_sums[i]);
	for (size_t i = 0; i < answer->count; i++)
		json_object_array_add(sources, row_json(running, &answer->rows[i]));
	json_object_object_add(object, "sources", sources);
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
	json_object_put(object);
}

/* ---- blocks ---- */

static void sleep_until_due(const struct top_sampler *sampler)
{
	uint64_t due = top_sampler_due(sampler), now = boot_clock_ns();
	struct timespec left;

	if (due <= now)
		return;
	left = (struct timespec){(due - now) / NS_PER_SECOND, (due - now) % NS_PER_SECOND};
	nanosleep(&left, NULL);
}

/* The first walk knows no rates yet. */
static bool is_ready(const struct top_reading *reading, int news)
{
	return news > 0 && news & TOP_NEWS_BUCKETS && reading->walk_ns && reading->total.known;
}

static int print_blocks(struct top_sampler *sampler, const struct top_request *request,
			struct top_answer *answer)
{
	struct top_question question = request->question;
	uint64_t printed = 0;
	int news = 0;

	while (news >= 0 && (!request->count || printed < request->count)) {
		sleep_until_due(sampler);
		news = top_sampler_work(sampler);
		if (news > 0 && news & TOP_NEWS_POLICY)
			question.limit = -1;
		if (!is_ready(&sampler->reading, news))
			continue;
		top_ask(&sampler->reading.table, &question, answer);
		(request->json ? print_json : print_text)(&sampler->reading, answer);
		if (fflush(stdout))
			return 0; /* main says so */
		printed++;
	}
	return news < 0 ? news : 0;
}

enum exit_status top_batch(struct top_sampler *sampler, const struct top_request *request)
{
	struct top_answer answer = {.room = 2 * request->top};
	int err;

	answer.rows = calloc(answer.room, sizeof(*answer.rows));
	err = answer.rows ? print_blocks(sampler, request, &answer) : -ENOMEM;
	free(answer.rows);
	return top_report(sampler->target.netdev.name, err);
}
