// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Events as lines, as JSON and as comments of a capture. */
#include <errno.h>
#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "event_print.h"
#include "prefix.h"

#define EPOCH_NS (1764500000ULL * NS_PER_SECOND) /* 2025-11-30 10:53:20 UTC */
#define NOW_NS	 (1ULL * NS_PER_SECOND + 123456789)

static struct running running;

struct row {
	const char *name;
	const char *source, *destination; /* NULL: none is known */
	struct event event;
	const char *text;
	const char *line, *json, *comment;
};

#define PACKET(the_kind, the_reason, the_limit)                                        \
	.kind = EVENT_##the_kind, .reason = REASON_##the_reason, .limit = (the_limit), \
	.length = 60, .protocol = 17, .source_port = 4000, .destination_port = 53
#define NO_PACKET(the_kind) .kind = EVENT_##the_kind, .reason = REASON_COUNT, .limit = NO_LIMIT

#define NO_PACKET_JSON                                                                         \
	"\"reason\": null, \"destination\": null, \"protocol\": null, \"source_port\": null, " \
	"\"destination_port\": null, \"bytes\": null, \"dry_run\": false, "

// clang-format off
static const struct row rows[] = {
	{"a drop by a limit", "192.0.2.1", "198.51.100.1", {PACKET(DROP, OVER_LIMIT, 3)}, NULL,
	 "10:53:21.123 drop 192.0.2.1 limit default (1000 pps) udp 4000 > 198.51.100.1:53 60 bytes\n",
	 "{ \"time\": 1764500001.123456789, \"kind\": \"drop\", \"source\": \"192.0.2.1\", "
	 "\"limit\": \"default\", \"reason\": \"over_limit\", \"destination\": \"198.51.100.1\", "
	 "\"protocol\": \"udp\", \"source_port\": 4000, \"destination_port\": 53, \"bytes\": 60, "
	 "\"dry_run\": false, \"until\": null, \"text\": null }",
	 "over_limit, limit default"},
	{"IPv6, in a dry run", "2001:db8::1", "2001:db8::2",
	 {PACKET(DROP, CONTENDED, 3), .flags = EVENT_DRY_RUN}, NULL,
	 "10:53:21.123 drop 2001:db8::1 limit default (1000 pps) contended udp 4000 > "
	 "[2001:db8::2]:53 60 bytes (dry run)\n",
	 NULL, "contended, limit default, dry run"},
	{"a limit that the policy has no more", "192.0.2.1", "198.51.100.1",
	 {PACKET(DROP, OVER_LIMIT, 4)}, NULL,
	 "10:53:21.123 drop 192.0.2.1 limit former udp 4000 > 198.51.100.1:53 60 bytes\n",
	 NULL, "over_limit, limit former"},
	{"what could not be parsed", NULL, NULL,
	 {.kind = EVENT_DROP, .reason = REASON_MALFORMED, .limit = NO_LIMIT, .length = 60}, NULL,
	 "10:53:21.123 drop malformed 60 bytes\n",
	 "{ \"time\": 1764500001.123456789, \"kind\": \"drop\", \"source\": null, \"limit\": null, "
	 "\"reason\": \"malformed\", \"destination\": null, \"protocol\": null, "
	 "\"source_port\": null, \"destination_port\": null, \"bytes\": 60, \"dry_run\": false, "
	 "\"until\": null, \"text\": null }",
	 "malformed"},
	{"a protocol without a name and ports", "192.0.2.1", "198.51.100.1",
	 {.kind = EVENT_LIST, .reason = REASON_DENIED, .limit = NO_LIMIT, .length = 60,
	  .protocol = 47}, NULL,
	 "10:53:21.123 list 192.0.2.1 denied protocol 47 > 198.51.100.1 60 bytes\n", NULL, "denied"},
	{"a ban by a limit", "192.0.2.1", "198.51.100.1",
	 {PACKET(BAN, OVER_LIMIT, 3), .until_ns = NOW_NS + 60 * NS_PER_SECOND}, NULL,
	 "10:53:21.123 ban 192.0.2.1 limit default (1000 pps) until 10:54:21\n", NULL,
	 "over_limit, limit default"},
	{"a ban by a command", "198.51.100.0/24", NULL,
	 {NO_PACKET(BAN), .until_ns = NOW_NS + 864000 * NS_PER_SECOND}, NULL,
	 "10:53:21.123 ban 198.51.100.0/24 listed until 2025-12-10 10:53\n",
	 "{ \"time\": 1764500001.123456789, \"kind\": \"ban\", \"source\": \"198.51.100.0/24\", "
	 "\"limit\": null, " NO_PACKET_JSON "\"until\": 1765364001.123456789, \"text\": null }",
	 NULL},
	{"a ban for ever", "198.51.100.7", NULL, {NO_PACKET(BAN), .until_ns = FOREVER}, NULL,
	 "10:53:21.123 ban 198.51.100.7 listed for ever\n",
	 "{ \"time\": 1764500001.123456789, \"kind\": \"ban\", \"source\": \"198.51.100.7\", "
	 "\"limit\": null, " NO_PACKET_JSON "\"until\": null, \"text\": null }",
	 NULL},
	{"an end", "198.51.100.7", NULL, {NO_PACKET(UNBAN), .until_ns = NOW_NS}, "its time is over",
	 "10:53:21.123 unban 198.51.100.7 its time is over\n", NULL, NULL},
	{"pressure", NULL, NULL, {NO_PACKET(PRESSURE)}, "the table is 83 % full",
	 "10:53:21.123 pressure the table is 83 % full\n",
	 "{ \"time\": 1764500001.123456789, \"kind\": \"pressure\", \"source\": null, "
	 "\"limit\": null, " NO_PACKET_JSON "\"until\": null, \"text\": \"the table is 83 % full\" }",
	 NULL},
};
// clang-format on

static void fill(const struct row *row, struct event *event)
{
	struct policy_prefix prefix;
	struct complaint why;

	*event = row->event;
	event->time_ns = NOW_NS;
	if (row->source) {
		assert_int_equal(parse_prefix(row->source, &prefix, &why), 0);
		memcpy(event->source, &prefix.address, sizeof(event->source));
		event->prefix = (__u8)prefix.length;
		event->family = address_is_ipv4(&prefix.address) ? 4 : 6;
	}
	if (row->destination) {
		assert_int_equal(parse_prefix(row->destination, &prefix, &why), 0);
		memcpy(event->destination, &prefix.address, sizeof(event->destination));
	}
}

static void prints(void **state)
{
	const struct row *row = *state;
	struct event event;
	const struct news news = {&event, NULL, &running, row->text};
	struct json_object *object;
	char *line = NULL, comment[128];
	size_t size;
	FILE *out = open_memstream(&line, &size);

	assert_non_null(out);
	fill(row, &event);
	event_print(&news, EPOCH_NS, out);
	fclose(out);
	assert_string_equal(line, row->line);
	free(line);
	object = event_json(&news, EPOCH_NS);
	if (row->json)
		assert_string_equal(
			json_object_to_json_string_ext(
				object, JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE),
			row->json);
	json_object_put(object);
	if (!row->comment)
		return;
	event_comment(&news, comment, sizeof(comment));
	assert_string_equal(comment, row->comment);
}

static void lost(void **state)
{
	const struct events_lost none = {0};
	const struct events_lost some = {.capped = {[EVENT_DROP] = 950, [EVENT_SAMPLE] = 7},
					 .overflowed = 3};
	struct json_object *object;
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	(void)state;
	assert_non_null(out);
	assert_false(events_lost_any(&none));
	assert_true(events_lost_any(&some));
	events_lost_print(&some, EPOCH_NS, out);
	fclose(out);
	assert_string_equal(line, "10:53:20.000 lost 950 drop (more than 100 per second), "
				  "7 sample (more than 1000 per second), "
				  "3 that were not read in time\n");
	free(line);
	object = events_lost_json(&some, EPOCH_NS);
	assert_string_equal(json_object_to_json_string_ext(object, JSON_C_TO_STRING_SPACED),
			    "{ \"time\": 1764500000.000000000, \"kind\": \"lost\", "
			    "\"lost\": { \"drop\": 950, \"list\": 0, \"gate\": 0, \"ban\": 0, "
			    "\"sample\": 7, \"unread\": 3 } }");
	json_object_put(object);
}

static void kinds(void **state)
{
	struct complaint why;
	uint32_t found;

	(void)state;
	assert_int_equal(event_kinds_parse("drop", &found, &why), 0);
	assert_int_equal(found, 1U << EVENT_DROP);
	assert_int_equal(event_kinds_parse("unban,ban,ban", &found, &why), 0);
	assert_int_equal(found, 1U << EVENT_BAN | 1U << EVENT_UNBAN);
}

static void refuses_kind(void **state)
{
	struct complaint why;
	uint32_t found = 77;

	assert_int_equal(event_kinds_parse(*state, &found, &why), -EINVAL);
	assert_int_equal(found, 77);
	assert_non_null(strstr(why.text, "write one or more of drop, list, gate, ban, unban"));
}

static int prepare(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	running.config.limit_count = 1;
	running.config.limits[0].id = 3;
	running.config.labels[0] = (struct limit_label){"default", 1000, NS_PER_SECOND,
							1000,	   0,	 {0}};
	snprintf(running.table.limits[3].name, NAME_SIZE, "default");
	snprintf(running.table.limits[4].name, NAME_SIZE, "former");
	return 0;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

int main(void)
{
	static const char *const wrong[] = {"", ",", "drop,", "drops", "dro", "drop ban", "DROP"};
	struct CMUnitTest tests[COUNT(rows) + COUNT(wrong) + 2];
	size_t count = 0;

	for (size_t i = 0; i < COUNT(rows); i++)
		tests[count++] = (struct CMUnitTest){rows[i].name, prints, NULL, NULL,
						     (void *)&rows[i]};
	for (size_t i = 0; i < COUNT(wrong); i++)
		tests[count++] = (struct CMUnitTest){wrong[i], refuses_kind, NULL, NULL,
						     (void *)wrong[i]};
	tests[count++] = (struct CMUnitTest)cmocka_unit_test(lost);
	tests[count] = (struct CMUnitTest)cmocka_unit_test(kinds);
	return cmocka_run_group_tests_name("events", tests, prepare, NULL);
}
