// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counters add up: every packet under one reason, 64 bits from the program to the output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>
#include <json-c/json.h>
#include <linux/bpf.h>
#include "prog.h"
#include "summary.h"
#include "threads.h"
#include "units.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define START	 (1000 * NS_PER_SECOND + 7)

static void summarise(const struct limiter *limiter, struct summary *summary)
{
	*summary = (struct summary){
		.config = limiter->running.config,
		.table = limiter->table,
		.pins_complete = true,
	};
	counters_of(limiter, &summary->counters);
}

/* ---- adding up ------------------------------------------------------------------------------- */

/* Frames that end for different reasons. */
#define LLDP "0180c200000e00005e00530288cc020704" /* and no more of it than this */

static const struct {
	const char *frame; /* named, or in hex */
	enum reason reason;
} ends[] = {
	{"P4U", REASON_CONFORMING},   {"P4S", REASON_CONFORMING}, {"P6U", REASON_CONFORMING},
	{LLDP, REASON_NON_IP},	      {"PARP", REASON_CONTROL},	  {"PIHL0", REASON_MALFORMED},
	{"PSHORT", REASON_MALFORMED},
};

static void make_end(struct frame *frame, size_t i)
{
	if (frame_by_name(frame, ends[i].frame))
		assert_int_equal(frame_from_hex(frame, ends[i].frame), 0);
}

static void test_each_reason(void **state)
{
	struct policy policy = packet_policy("1/h", "1000");
	struct limiter limiter;
	struct frame frame;
	uint64_t bytes = 0;
	struct summary summary;
	struct totals totals;

	(void)state;
	limiter_open(&limiter, &policy, NULL);
	clock_set(&limiter, START);
	for (size_t i = 0; i < COUNT(ends); i++) {
		uint64_t before = packets_of(&limiter, ends[i].reason);

		make_end(&frame, i);
		send_repeated(&limiter, &frame, 10);
		bytes += 10 * frame.length;
		assert_int_equal(packets_of(&limiter, ends[i].reason), before + 10);
		assert_int_equal(packets_seen(&limiter), 10 * (i + 1));
	}
	summarise(&limiter, &summary);
	summary_totals(&summary, &totals);
	assert_int_equal(totals.all.packets, 10 * COUNT(ends));
	assert_int_equal(totals.all.bytes, bytes);
	assert_int_equal(totals.passed.packets, 50);
	assert_int_equal(totals.dropped.packets, 20);
	limiter_close(&limiter);
}

/* One that joins a shared table late: what was created in it is divided by the table's age. */
static void test_ages(void **state)
{
	struct policy policy = packet_policy("1/h", "10");
	struct limiter limiter;
	struct netdev netdev = {.ifindex = 1};
	struct summary summary;

	(void)state;
	limiter_open(&limiter, &policy, NULL);
	limiter.running.table.made_ns = 1000 * NS_PER_SECOND;
	limiter.running.config.attached_ns = 4600 * NS_PER_SECOND;
	assert_int_equal(summary_read(&netdev, &limiter.running, &summary), 0);
	assert_int_equal(summary.table_seconds - summary.attached_seconds, 3600);
	summary_free(&summary);
	limiter_close(&limiter);
}

static void send_all_kinds(struct worker *worker)
{
	const struct limiter *limiter = worker->context;
	struct frame frame;

	for (size_t i = 0; i < COUNT(ends); i++) {
		make_end(&frame, (i + 3 * worker->index) % COUNT(ends));
		send_repeated(limiter, &frame, 100000);
	}
}

/* O-106: seen = passed + dropped, whatever the reasons, after two CPUs at once. */
static void test_two_cpus(void **state)
{
	struct policy policy = packet_policy("10pps", "100");
	struct worker workers[WORKERS];
	struct counters counters;
	const struct tally *tally;
	struct limiter limiter;
	struct summary summary;
	struct totals totals;

	(void)state;
	limiter_open(&limiter, &policy, NULL);
	clock_set(&limiter, START);
	run_on_two_cpus(send_all_kinds, &limiter, workers);
	assert_int_equal(packets_seen(&limiter), 2 * 100000 * COUNT(ends));
	assert_int_equal(packets_of(&limiter, REASON_NON_IP), 200000);
	assert_int_equal(packets_of(&limiter, REASON_MALFORMED), 400000);
	assert_int_equal(packets_of(&limiter, REASON_CONTROL), 200000);
	summarise(&limiter, &summary);
	summary_totals(&summary, &totals);
	assert_int_equal(totals.all.packets, totals.passed.packets + totals.dropped.packets);
	assert_int_equal(totals.all.bytes, totals.passed.bytes + totals.dropped.bytes);
	assert_int_equal(totals.all.packets, packets_seen(&limiter));
	assert_int_equal(totals.passed.packets, packets_passed(&limiter));
	counters_of(&limiter, &counters);
	tally = &counters.limits[limiter.running.config.limits[0].id].tally;
	assert_int_equal(tally->passed_packets, counters.reasons[REASON_CONFORMING].passed.packets);
	assert_int_equal(tally->dropped_packets,
			 counters.reasons[REASON_OVER_LIMIT].dropped.packets +
				 counters.reasons[REASON_CONTENDED].dropped.packets);
	limiter_close(&limiter);
}

/* ---- 64 bits --------------------------------------------------------------------------------- */

/* All counters of one CPU to @value, of the others to 0. */
static void preset(const struct limiter *limiter, uint64_t value)
{
	int cpus = libbpf_num_possible_cpus();
	struct cpu_counters *parts = calloc(cpus, sizeof(*parts));
	uint64_t *words = (uint64_t *)&parts[cpus - 1];
	uint32_t index = 0;
	int err;

	for (size_t i = 0; i < sizeof(*parts) / sizeof(*words); i++)
		words[i] = value;
	err = bpf_map_update_elem(limiter->running.maps[MAP_COUNTERS], &index, parts, BPF_ANY);
	free(parts);
	assert_int_equal(err, 0);
}

/* The text that scripts get, not what json-c would make of it. */
static void assert_json_has(const struct limiter *limiter, const char *key, uint64_t value)
{
	struct summary summary;
	struct json_object *json;
	char expected[96];

	summarise(limiter, &summary);
	json = summary_json(&summary);
	snprintf(expected, sizeof(expected), "\"%s\":%llu,", key, (unsigned long long)value);
	if (!strstr(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN), expected))
		fail_msg("no %s in %s", expected,
			 json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN));
	json_object_put(json);
}

static void test_o107(void **state)
{
	static const uint64_t values[] = {UINT32_MAX, 1ULL << 53, INT64_MAX};
	struct policy policy = packet_policy("1/h", "1");
	struct counters counters;
	struct limiter limiter;
	struct frame frame;

	(void)state;
	frame_named(&frame, P4U);
	limiter_open(&limiter, &policy, NULL);
	clock_set(&limiter, START);
	for (size_t i = 0; i < COUNT(values); i++) {
		preset(&limiter, values[i]);
		send_frame(&limiter, &frame);
		counters_of(&limiter, &counters);
		if (!i) { /* the burst of one */
			assert_int_equal(counters.reasons[REASON_CONFORMING].passed.packets,
					 values[i] + 1);
			assert_int_equal(counters.limits[0].tally.passed_packets, values[i] + 1);
			assert_json_has(&limiter, "passed_packets", values[i] + 1);
			preset(&limiter, values[i]);
			send_frame(&limiter, &frame);
			counters_of(&limiter, &counters);
		}
		assert_int_equal(counters.reasons[REASON_OVER_LIMIT].dropped.packets,
				 values[i] + 1);
		assert_int_equal(counters.reasons[REASON_OVER_LIMIT].dropped.bytes,
				 values[i] + frame.length);
		assert_int_equal(counters.limits[0].tally.dropped_packets, values[i] + 1);
		assert_json_has(&limiter, "dropped_packets", values[i] + 1);
		assert_json_has(&limiter, "dropped_bytes", values[i] + frame.length);
	}
	limiter_close(&limiter);
}

/* What several CPUs counted, each near the edge, is one exact sum. */
static void test_sum_over_cpus(void **state)
{
	struct policy policy = packet_policy("1/h", "1");
	int cpus = libbpf_num_possible_cpus();
	struct cpu_counters *parts = calloc(cpus, sizeof(*parts));
	struct counters counters;
	struct limiter limiter;
	uint32_t index = 0;

	(void)state;
	limiter_open(&limiter, &policy, NULL);
	for (int i = 0; i < cpus; i++)
		parts[i].reasons[REASON_OVER_LIMIT].dropped.packets = UINT32_MAX;
	assert_int_equal(bpf_map_update_elem(limiter.running.maps[MAP_COUNTERS], &index, parts, 0),
			 0);
	free(parts);
	counters_of(&limiter, &counters);
	assert_int_equal(counters.reasons[REASON_OVER_LIMIT].dropped.packets,
			 (uint64_t)cpus * UINT32_MAX);
	assert_int_equal(packets_seen(&limiter), (uint64_t)cpus * UINT32_MAX);
	limiter_close(&limiter);
}

/* A million packets of one source: none is lost between the cache, the bucket and the reader. */
static void test_tallies_keep_all(void **state)
{
	static const uint32_t counts[] = {1, 2, 255, 256, 257, 1000000};
	struct policy policy = packet_policy("1/h", "100");
	struct bucket bucket;
	struct limiter limiter;
	struct frame frame;

	(void)state;
	frame_named(&frame, P4U);
	for (size_t i = 0; i < COUNT(counts); i++) {
		limiter_open(&limiter, &policy, NULL);
		clock_set(&limiter, START);
		send_repeated(&limiter, &frame, counts[i]);
		source_of(&limiter, CLIENT4, &bucket);
		assert_int_equal(bucket.tally.passed_packets + bucket.tally.dropped_packets,
				 counts[i]);
		assert_int_equal(bucket.tally.passed_bytes + bucket.tally.dropped_bytes,
				 (uint64_t)counts[i] * frame.length);
		limiter_close(&limiter);
	}
}

/* So many sources that they take every line of the cache from its owner. */
static void take_all_lines(struct limiter *limiter)
{
	struct frame frame;

	frame_start(&frame);
	frame_ethernet(&frame);
	frame_ipv4(&frame);
	frame_udp(&frame);
	frame_finish(&frame);
	for (unsigned int i = 0; i < 4 * CACHE_SLOTS; i++) {
		uint8_t source[4] = {198, 18, (uint8_t)(i >> 8), (uint8_t)i};

		frame_set_source(&frame, source);
		send_many(limiter, &frame, 130);
	}
}

static uint64_t counted(const struct limiter *limiter)
{
	struct bucket bucket;

	source_of(limiter, CLIENT4, &bucket);
	return bucket.tally.passed_packets + bucket.tally.dropped_packets;
}

/* On one CPU: what the cache holds goes to its owner when another source takes the line. */
static void test_line_changes_owner(void **state)
{
	struct policy policy = packet_policy("1/h", "100");
	struct limiter limiter;
	struct address client;
	struct complaint why;
	struct frame frame;

	(void)state;
	frame_named(&frame, P4U);
	assert_int_equal(parse_address(CLIENT4, &client, &why), 0);
	limiter_open(&limiter, &policy, NULL);
	clock_set(&limiter, START);
	stay_on_cpu(0);
	send_many(&limiter, &frame, 100);
	take_all_lines(&limiter);
	assert_int_equal(counted(&limiter), 100);
	/* Not to a later life of it: those counters went with the former. */
	send_many(&limiter, &frame, 200);
	assert_int_equal(reset_source(&limiter.running, &client), 0);
	clock_advance(&limiter, 1);
	send_many(&limiter, &frame, 1);
	take_all_lines(&limiter);
	assert_int_equal(counted(&limiter), 1);
	leave_cpu();
	limiter_close(&limiter);
}

#define CASE(name_, function)                        \
	{                                            \
		.name = name_, .test_func = function \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("every packet has one reason, totals are their sum", test_each_reason),
		CASE("a table may be older than its limiter", test_ages),
		CASE("O-106: seen = passed + dropped = sum over reasons, from two CPUs",
		     test_two_cpus),
		CASE("O-107: counters pass 2^32, 2^53 and 2^63 exactly, in JSON too", test_o107),
		CASE("O-107: the sum over CPUs is 64 bits wide", test_sum_over_cpus),
		CASE("tallies lose nothing between cache and bucket", test_tallies_keep_all),
		CASE("a cached tally goes to the life of the source that it counted",
		     test_line_changes_owner),
	};

	return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
