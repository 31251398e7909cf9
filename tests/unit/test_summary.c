// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Status over made-up counters: sums, what --check complains about, and numbers printed in full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "json.h"
#include "summary.h"
#include "units.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct summary healthy(void)
{
	struct summary summary = {
		.netdev = {.name = "rv0", .ifindex = 2},
		.attachment = {.mode = MODE_NATIVE, .program_id = 7, .link_id = 3, .ours = true},
		.config = {.limit_count = 1,
			   .limits = {{.id = 0, .unit = UNIT_PACKETS}},
			   .labels = {{.name = "default",
				       .kind = LIMIT_METERED,
				       .amount = 1000,
				       .per_ns = NS_PER_SECOND,
				       .burst = 2000}}},
		.table = {.capacity = 1024, .words = 1, .ipv4_prefix = 32, .ipv6_prefix = 64},
		.pins_complete = true,
		.attached_seconds = 3600,
		.table_seconds = 3600,
		.seen_since_attach = 1000,
		.device_packets = 1000,
	};

	return summary;
}

/* ---- totals ---- */

static void test_totals(void **state)
{
	struct summary summary = healthy();
	struct totals totals;

	(void)state;
	summary.counters.reasons[REASON_CONFORMING].passed = (struct count){5, 500};
	summary.counters.reasons[REASON_OVER_LIMIT].dropped = (struct count){3, 300};
	summary.counters.reasons[REASON_OVER_LIMIT].would_drop = (struct count){2, 200};
	summary.counters.reasons[REASON_COUNT - 1].passed = (struct count){1, 60};
	summary_totals(&summary, &totals);
	assert_int_equal(totals.passed.packets, 8);
	assert_int_equal(totals.passed.bytes, 760);
	assert_int_equal(totals.dropped.packets, 3);
	assert_int_equal(totals.dropped.bytes, 300);
	assert_int_equal(totals.would_drop_packets, 2);
	assert_int_equal(totals.all.packets, 11);
	assert_int_equal(totals.all.bytes, 1060);
}

/* ---- evicted ---- */

struct evicted_row {
	const char *name;
	uint64_t created, deleted, used, evicted;
};

static struct evicted_row evicted_rows[] = {
	{"evicted: nothing was created", 0, 0, 0, 0},
	{"evicted: all are still there", 10, 0, 10, 0},
	{"evicted: created - deleted - used", 100, 20, 30, 50},
	{"evicted: never below 0 while packets come in between two reads", 10, 4, 8, 0},
	{"evicted: beyond 32 bits", UINT64_C(1) << 40, 1, 1, (UINT64_C(1) << 40) - 2},
};

static void test_evicted(void **state)
{
	const struct evicted_row *row = *state;
	struct summary summary = healthy();

	summary.counters.events.created = row->created;
	summary.deleted = row->deleted;
	summary.used = row->used;
	assert_int_equal(summary_evicted(&summary), row->evicted);
}

/* ---- what --check looks for ---- */

struct problem_row {
	const char *name;
	uint64_t seconds, seen, device, failures;
	bool pins;
	int count;
	const char *text; /* in the first problem */
};

static struct problem_row problem_rows[] = {
	{"check: a healthy limiter", 3600, 1000, 1000, 0, true, 0, NULL},
	{"O-063: after 60 s the device has received, the program saw nothing", 60, 0, 500, 0, true,
	 1, "attached but blind: rv0 received 500 packets"},
	{"O-063: not before 60 s", 59, 0, 500, 0, true, 0, NULL},
	{"O-063: one packet seen is enough", 3600, 1, 500000, 0, true, 0, NULL},
	{"O-063: a device that receives nothing is only idle", 3600, 0, 0, 0, true, 0, NULL},
	{"O-063: a handful of packets before the program ran is no proof", 3600, 0, 9, 0, true, 0,
	 NULL},
	{"check: pins that are missing", 3600, 1, 1, 0, false, 1, "pins are missing"},
	{"check: sources that found no place", 3600, 1, 1, 7, true, 1,
	 "7 packets found no place in the table"},
	{"check: a larger table is proposed", 3600, 1, 1, 7, true, 1, "--sources 2048"},
	{"check: several problems, each said", 3600, 0, 500, 7, false, 3, "pins are missing"},
};

static void test_problems(void **state)
{
	const struct problem_row *row = *state;
	struct summary summary = healthy();
	struct problems problems;

	summary.attached_seconds = row->seconds;
	summary.seen_since_attach = row->seen;
	summary.device_packets = row->device;
	summary.pins_complete = row->pins;
	summary.counters.events.insert_failures = row->failures;
	summary_problems(&summary, &problems);
	assert_int_equal(problems.count, row->count);
	if (row->text && !strstr(problems.text[0], row->text))
		fail_msg("'%s' does not contain '%s'", problems.text[0], row->text);
}

static void test_apart(void **state)
{
	struct summary summary = healthy();
	struct problems problems;

	(void)state;
	snprintf(summary.table.shared_name, sizeof(summary.table.shared_name), "fifteen_letters");
	snprintf(summary.netdev.name, sizeof(summary.netdev.name), "fifteen-letters");
	snprintf(summary.apart, sizeof(summary.apart), "letters-fifteen");
	summary_problems(&summary, &problems);
	assert_int_equal(problems.count, 1);
	assert_string_equal(
		problems.text[0],
		"another policy or table than on letters-fifteen, with which it shares "
		"fifteen_letters: a command was killed between the two; `xdp-limit apply "
		"fifteen-letters FILE` puts one on both");
}

/* ---- what is worth knowing ---- */

struct warning_row {
	const char *name;
	uint64_t used, young, created, refused;
	bool closed;
	uint64_t packets[4]; /* by CPU; all 0: nobody asked for queues */
	unsigned int online;
	const char *text; /* in the first warning; NULL: there is none */
	const char *more; /* too */
};

// clang-format off
static struct warning_row warning_rows[] = {
	{"O-005: 79 % is nothing to say", 818, 818, 818, 0, false, {0}, 0, NULL, NULL},
	{"O-005: 80 % is", 820, 10, 820, 0, false, {0}, 0, "the table is 80 % full",
	 "no bucket is lost"},
	{"O-005: 80 % of young entries are worse", 820, 820, 820, 0, false, {0}, 0,
	 "the table is 80 % full", "--sources 4096 --recreate"},
	{"O-005: all entries used", 1024, 10, 1024, 0, false, {0}, 0, "the table is full,",
	 "which is normal"},
	{"O-005: what has evicted is full though some wait on free lists", 1000, 11, 5000, 0, false,
	 {0}, 0, "the table is full,", "1 % of it are younger than the longest refill (2s)"},
	{"O-005: full of young entries", 1000, 900, 5000, 0, false, {0}, 0, "the table is full,",
	 "may evict a bucket before it is full again"},
	{"a table that forgot its sources is not full", 10, 10, 5000, 0, false, {0}, 0, NULL, NULL},
	{"the gate refused, and is open again", 10, 10, 10, 77, false, {0}, 0,
	 "the gate refused 77 packets", "--sources 2048 --recreate"},
	{"the gate is closed: a problem, said there", 10, 10, 10, 77, true, {0}, 0, NULL, NULL},
	{"O-125: one CPU sees five times as much as another", 1, 0, 1, 0, false,
	 {5000, 1000, 2000, 2000}, 4, "the busiest of 4 CPUs sees 5000 packets, the idlest 1000",
	 "ethtool -X rv0 equal 4"},
	{"O-125: four times as much is no matter", 1, 0, 1, 0, false, {4000, 1000, 2000, 2000}, 4,
	 NULL, NULL},
	{"O-125: CPUs that are not there see nothing", 1, 0, 1, 0, false, {5000, 4000, 0, 0}, 2,
	 NULL, NULL},
	{"O-125: one that is there and sees nothing", 1, 0, 1, 0, false, {5000, 0, 4000, 0}, 3,
	 "the busiest of 3 CPUs sees 5000 packets, the idlest 0", "RSS"},
	{"O-125: a handful of packets proves nothing", 1, 0, 1, 0, false, {900, 0, 0, 0}, 4, NULL,
	 NULL},
	{"O-125: with one CPU there is nothing to spread", 1, 0, 1, 0, false, {5000, 0, 0, 0}, 1,
	 NULL, NULL},
};
// clang-format on

static struct summary pressed(struct warning_row *row)
{
	struct summary summary = healthy();

	summary.used = row->used;
	summary.young = row->young;
	summary.refill_ns = 2 * NS_PER_SECOND;
	summary.counters.events.created = row->created;
	summary.counters.reasons[REASON_GATE_CLOSED].dropped.packets = row->refused;
	summary.gate_closed = row->closed;
	if (row->online) {
		summary.cpu_packets = row->packets;
		summary.cpus = COUNT(row->packets);
		summary.cpus_online = row->online;
	}
	return summary;
}

static void test_warnings(void **state)
{
	struct warning_row *row = *state;
	struct summary summary = pressed(row);
	struct warnings warnings;
	struct problems problems;

	summary_warnings(&summary, &warnings);
	assert_int_equal(warnings.count, row->text ? 1 : 0);
	if (row->text &&
	    (!strstr(warnings.text[0], row->text) || !strstr(warnings.text[0], row->more)))
		fail_msg("'%s' does not contain '%s' and '%s'", warnings.text[0], row->text,
			 row->more);
	/* Events tell of what these say about the table, and of nothing else. */
	assert_int_equal(summary_pressure(&summary) != PRESSURE_NONE,
			 row->text && !strncmp(row->text, "the table", strlen("the table")));
	/* They don't make --check fail. */
	summary_problems(&summary, &problems);
	assert_int_equal(problems.count, row->closed ? 1 : 0);
}

static void test_longest_warning(void **state)
{
	struct warning_row row = {
		.used = UINT32_MAX,
		.young = UINT32_MAX,
		.created = UINT64_MAX,
		.refused = UINT64_MAX,
	};
	struct summary summary = pressed(&row);
	struct warnings warnings;

	(void)state;
	summary.table.capacity = UINT32_MAX;
	summary_warnings(&summary, &warnings);
	assert_int_equal(warnings.count, 2);
	for (int i = 0; i < warnings.count; i++)
		assert_true(strlen(warnings.text[i]) < sizeof(warnings.text[i]) - 1);
}

struct size_row {
	const char *name;
	uint64_t created, seconds, young, refill_s, sources;
};

static struct size_row size_rows[] = {
	{"size: the smallest will do for a few", 10, 3600, 10, 2, 1024},
	{"size: five times what comes in a longest refill", 3000 * 3600, 3600, 0, 60, 1048576},
	{"size: 2.5 times what came at once", 50000, 3600, 50000, 2, 131072},
	{"size: never beyond the largest", UINT64_MAX, 90000, 0, 86400, 268435456},
	{"size: at the gate's floor what lets the newcomers in", 1000000, 100000, 0, 86400, 8192},
	{"size: not before it has run for a longest refill", 1000000, 59, 400, 60, 1024},
};

static void test_sources(void **state)
{
	const struct size_row *row = *state;
	struct summary summary = healthy();

	summary.counters.events.created = row->created;
	summary.attached_seconds = 10; /* it came to the table just now */
	summary.table_seconds = row->seconds;
	summary.young = row->young;
	summary.refill_ns = row->refill_s * NS_PER_SECOND;
	assert_int_equal(summary_sources(&summary), row->sources);
}

/* ---- O-107: every number in full, in text and in JSON ---- */

static uint64_t presets[] = {
	(UINT64_C(1) << 32) - 1,
	UINT64_C(1) << 53,
	(UINT64_C(1) << 63) - 1,
};

static struct summary counted(uint64_t preset)
{
	struct summary summary = healthy();
	struct limit_count *limit = &summary.counters.limits[0];

	summary.counters.reasons[REASON_CONFORMING].passed = (struct count){preset + 1, preset + 1};
	limit->tally.passed_packets = preset + 1;
	limit->tally.dropped_packets = preset + 1;
	summary.counters.events.created = preset + 1;
	return summary;
}

/* What @print writes to stdout, for the caller to free. */
static char *printed(const struct summary *summary)
{
	char *text = calloc(1, 65536);
	FILE *file = tmpfile();
	int kept = dup(STDOUT_FILENO);

	assert_non_null(text);
	assert_non_null(file);
	fflush(stdout);
	assert_true(dup2(fileno(file), STDOUT_FILENO) >= 0);
	summary_print(summary);
	fflush(stdout);
	assert_true(dup2(kept, STDOUT_FILENO) >= 0);
	close(kept);
	rewind(file);
	assert_true(fread(text, 1, 65535, file) > 0);
	fclose(file);
	return text;
}

static unsigned int occurrences(const char *text, const char *what)
{
	unsigned int count = 0;

	while ((text = strstr(text, what))) {
		count++;
		text += strlen(what);
	}
	return count;
}

static void test_text_in_full(void **state)
{
	const uint64_t *preset = *state;
	struct summary summary = counted(*preset);
	char number[32], *text = printed(&summary);

	snprintf(number, sizeof(number), "%" PRIu64, *preset + 1);
	/* created, evicted, the limit's two, the reason's two, the total's passed, bytes and seen */
	if (occurrences(text, number) != 9)
		fail_msg("not 9 times %s in:\n%s", number, text);
	free(text);
}

static uint64_t number_at(struct json_object *object, const char *const *path)
{
	for (; *path; path++)
		if (!json_object_object_get_ex(object, *path, &object))
			fail_msg("no key '%s'", *path);
	return json_object_get_uint64(object);
}

static const char *const json_paths[][4] = {
	{"totals", "packets"},
	{"totals", "bytes"},
	{"totals", "passed_packets"},
	{"totals", "passed_bytes"},
	{"table", "created"},
	{"table", "evicted"},
	{"reasons", "conforming", "packets"},
	{"reasons", "conforming", "bytes"},
	{"limits", "default", "passed_packets"},
	{"limits", "default", "dropped_packets"},
};

/* Through text and back: a double on the way would have lost the last digits. */
static void test_json_in_full(void **state)
{
	const uint64_t *preset = *state;
	struct summary summary = counted(*preset);
	struct json_object *object = summary_json(&summary), *read;
	char number[32];
	const char *text = json_object_to_json_string(object);

	read = json_tokener_parse(text);
	assert_non_null(read);
	snprintf(number, sizeof(number), ": %" PRIu64, *preset + 1);
	assert_int_equal(occurrences(text, number), COUNT(json_paths));
	for (size_t i = 0; i < COUNT(json_paths); i++)
		assert_true(number_at(read, json_paths[i]) == *preset + 1);
	json_object_put(read);
	json_object_put(object);
}

/* From well to worse: an event is told when it rises. */
static void test_pressure(void **state)
{
	static const struct {
		uint64_t used, young, created;
		enum pressure pressure;
	} steps[] = {
		{818, 818, 818, PRESSURE_NONE},	      {820, 820, 820, PRESSURE_FILLING},
		{1024, 10, 1024, PRESSURE_FULL},      {1000, 11, 5000, PRESSURE_FULL},
		{1000, 614, 5000, PRESSURE_FULL},     {1000, 615, 5000, PRESSURE_EVICTING},
		{1024, 900, 1024, PRESSURE_EVICTING},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(steps); i++) {
		struct warning_row row = {.used = steps[i].used,
					  .young = steps[i].young,
					  .created = steps[i].created};
		struct summary summary = pressed(&row);

		assert_int_equal(summary_pressure(&summary), steps[i].pressure);
	}
}

/* Scripts may rely on these; keys are added, never renamed. */
static void test_json_keys(void **state)
{
	static const char *const keys[] = {
		"interface", "ifindex",	 "mode",	"attached_via", "program_id",
		"dry_run",   "table",	 "totals",	"reasons",	"limits",
		"problems",  "warnings", "events_lost",
	};
	struct summary summary = healthy();
	struct json_object *object = summary_json(&summary), *value;

	(void)state;
	for (size_t i = 0; i < COUNT(keys); i++)
		if (!json_object_object_get_ex(object, keys[i], NULL))
			fail_msg("no key '%s'", keys[i]);
	json_object_object_get_ex(object, "reasons", &value);
	assert_int_equal(json_object_object_length(value), REASON_COUNT);
	json_object_put(object);
}

/* The same keys for every limiter: what it has not is null. */
static void test_json_nulls(void **state)
{
	static const char *const keys[] = {"shared_name", "evicted_live", "gate",
					   "unrecorded_packets", "fingerprint_bits"};
	struct summary lru = healthy(), flat = healthy();
	struct json_object *objects[2], *table[2], *members, *value;

	(void)state;
	flat.config.flat = true;
	flat.table.blocks = 16;
	flat.attachment.dispatcher_id = 9;
	objects[0] = summary_json(&lru);
	objects[1] = summary_json(&flat);
	assert_true(json_object_object_get_ex(objects[0], "members", &members));
	assert_null(members);
	for (size_t i = 0; i < COUNT(objects); i++)
		json_object_object_get_ex(objects[i], "table", &table[i]);
	for (size_t i = 0; i < COUNT(keys); i++) {
		if (!json_object_object_get_ex(table[0], keys[i], &value))
			fail_msg("no key '%s'", keys[i]);
		assert_null(value);
	}
	for (size_t i = 0; i < COUNT(objects); i++)
		assert_int_equal(json_object_object_length(objects[i]),
				 json_object_object_length(objects[!i]));
	assert_int_equal(json_object_object_length(table[0]), json_object_object_length(table[1]));
	json_object_put(objects[0]);
	json_object_put(objects[1]);
}

/* Every reason has a text and a name of its own, in the order of the enumeration. */
static void test_reasons(void **state)
{
	(void)state;
	assert_string_equal(reason_name(REASON_CONFORMING), "conforming");
	assert_string_equal(reason_name(REASON_SSH_GUARD), "ssh_guard");
	for (unsigned int i = 0; i < REASON_COUNT; i++) {
		assert_true(strlen(reason_text(i)) > 0);
		for (unsigned int j = 0; j < i; j++)
			assert_string_not_equal(reason_name(i), reason_name(j));
	}
}

#define ROW(row, function)                                                           \
	{                                                                            \
		.name = (row).name, .test_func = (function), .initial_state = &(row) \
	}
#define PRESET(index, label, function)                                                   \
	{                                                                                \
		.name = label, .test_func = (function), .initial_state = &presets[index] \
	}

static const struct CMUnitTest plain[] = {
	{.name = "totals: passed includes what would have been dropped; all adds up",
	 .test_func = test_totals},
	{.name = "JSON: the documented keys, and every reason", .test_func = test_json_keys},
	{.name = "JSON: the same keys for every limiter, null where it has nothing",
	 .test_func = test_json_nulls},
	{.name = "check: members of a table with two policies, under the longest names",
	 .test_func = test_apart},
	{.name = "the longest warning is not cut", .test_func = test_longest_warning},
	{.name = "pressure rises step by step", .test_func = test_pressure},
	{.name = "reasons: a name and a text each", .test_func = test_reasons},
	PRESET(0, "O-107: 2^32-1 and one more, as text", test_text_in_full),
	PRESET(1, "O-107: 2^53 and one more, as text", test_text_in_full),
	PRESET(2, "O-107: 2^63-1 and one more, as text", test_text_in_full),
	PRESET(0, "O-107: 2^32-1 and one more, as JSON", test_json_in_full),
	PRESET(1, "O-107: 2^53 and one more, as JSON", test_json_in_full),
	PRESET(2, "O-107: 2^63-1 and one more, as JSON", test_json_in_full),
};

int main(void)
{
	struct CMUnitTest tests[COUNT(plain) + COUNT(evicted_rows) + COUNT(problem_rows) +
				COUNT(warning_rows) + COUNT(size_rows)];
	size_t count = 0;

	for (size_t i = 0; i < COUNT(plain); i++)
		tests[count++] = plain[i];
	for (size_t i = 0; i < COUNT(evicted_rows); i++)
		tests[count++] = (struct CMUnitTest)ROW(evicted_rows[i], test_evicted);
	for (size_t i = 0; i < COUNT(warning_rows); i++)
		tests[count++] = (struct CMUnitTest)ROW(warning_rows[i], test_warnings);
	for (size_t i = 0; i < COUNT(size_rows); i++)
		tests[count++] = (struct CMUnitTest)ROW(size_rows[i], test_sources);
	for (size_t i = 0; i < COUNT(problem_rows); i++)
		tests[count++] = (struct CMUnitTest)ROW(problem_rows[i], test_problems);
	return cmocka_run_group_tests_name("summary", tests, NULL, NULL);
}
