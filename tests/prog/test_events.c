// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the program tells to those who listen: once, never too often, and nothing when nobody does (O-108). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include "frames.h"
#include "prefix.h"
#include "prog.h"
#include "yaml_policy.h"

#define KIND(NAME) (1U << EVENT_##NAME)
#define ALL_KINDS  ((1U << EVENT_KERNEL_KINDS) - 1)
#define HEARD_MAX  2048

#define LIMITED "limits: [{name: default, rate: 1/h, burst: 1}]\n"
/* The same by the walk over several limits. */
#define SEVERAL                                               \
	"limits:\n"                                           \
	"  - {name: wide, rate: 1000000/s, burst: 1000000}\n" \
	"  - {name: narrow, rate: 1/h, burst: 1}\n"

static struct limiter limiter;
static struct policy policy;
static struct events *events;

/* What came, in the order that it came. */
static struct event heard[HEARD_MAX];
static uint8_t bytes[HEARD_MAX][EVENT_SNAP];
static unsigned int heard_count;

static int hear(const struct event *event, const uint8_t *frame, void *context)
{
	(void)context;
	assert_true(heard_count < HEARD_MAX);
	memcpy(bytes[heard_count], frame, event->captured);
	heard[heard_count++] = *event;
	return 0;
}

/* How many of this kind came since the last time. */
static unsigned int listen_to(struct events *reader, enum event_kind kind)
{
	unsigned int count = 0;

	heard_count = 0;
	while (events_poll(reader, 0, hear, NULL) > 0)
		;
	for (unsigned int i = 0; i < heard_count; i++)
		count += heard[i].kind == kind;
	return count;
}

static struct events *start(uint32_t kinds, uint32_t sample_every)
{
	const struct event_request request = {kinds, sample_every};
	struct events *reader;

	assert_int_equal(events_open(&limiter.running, &request, &reader), 0);
	return reader;
}

/* Leases are on the boot clock, so the test's must stay behind it. */
static void open_policy(const char *text, uint32_t kinds)
{
	if (boot_clock_ns() < 10 * NS_PER_SECOND) {
		print_message("the machine has not run for ten seconds yet\n");
		skip();
	}
	yaml_policy(&policy, text);
	limiter_open(&limiter, &policy, NULL);
	clock_set(&limiter, NS_PER_SECOND);
	events = kinds ? start(kinds, 0) : NULL;
}

static void close_policy(void)
{
	events_close(events);
	limiter_close(&limiter);
	policy_free(&policy);
}

static void make_frame(struct frame *frame, const char *source, size_t payload)
{
	frame_start(frame);
	frame_ethernet(frame);
	if (strchr(source, ':'))
		frame_ipv6(frame, .source = source);
	else
		frame_ipv4(frame, .source = source);
	frame_udp(frame);
	frame_payload(frame, payload);
	frame_finish(frame);
}

static unsigned int send_from(const char *source, unsigned int count)
{
	struct frame frame;

	make_frame(&frame, source, 20);
	return send_many(&limiter, &frame, count);
}

static void send_from_many(unsigned int sources, unsigned int count)
{
	char source[32];

	for (unsigned int i = 0; i < sources; i++) {
		snprintf(source, sizeof(source), "10.1.%u.%u", i >> 8, i & 255);
		send_from(source, count);
	}
}

static void lost_now(const struct events *reader, struct events_lost *lost)
{
	assert_int_equal(events_lost(reader, &limiter.running, lost), 0);
}

static void assert_source(const struct event *event, const char *text)
{
	struct address address;
	struct complaint why;

	assert_int_equal(parse_address(text, &address, &why), 0);
	assert_memory_equal(event->source, &address, sizeof(address));
}

/* ---- drops ---- */

static void first_drop(void **state)
{
	const char *text = *state;

	open_policy(text, KIND(DROP));
	assert_int_equal(send_from("192.0.2.10", 1), 1);
	assert_int_equal(listen_to(events, EVENT_DROP), 0);
	send_from("192.0.2.10", 5);
	assert_int_equal(listen_to(events, EVENT_DROP), 1);
	assert_int_equal(heard[0].time_ns, clock_now(&limiter));
	assert_source(&heard[0], "192.0.2.10");
	assert_int_equal(heard[0].family, 4);
	assert_int_equal(heard[0].reason, REASON_OVER_LIMIT);
	assert_string_equal(limiter.running.table.limits[heard[0].limit].name,
			    policy.limits[policy.limit_count - 1].name);
	assert_int_equal(heard[0].protocol, 17);
	assert_int_equal(heard[0].source_port, CLIENT_PORT);
	assert_int_equal(heard[0].destination_port, SERVER_PORT);
	assert_int_equal(heard[0].length, 14 + 20 + 8 + 20);
	assert_int_equal(heard[0].captured, 0);
	/* Another source is another first. */
	send_from("2001:db8::5", 5);
	assert_int_equal(listen_to(events, EVENT_DROP), 1);
	assert_source(&heard[0], "2001:db8::5");
	/* Not one of the same /64, which is the same source to the table. */
	send_from("2001:db8::6", 5);
	assert_int_equal(listen_to(events, EVENT_DROP), 0);
	/* Again when the interval is over. */
	clock_advance(&limiter, 9 * NS_PER_SECOND);
	send_from("192.0.2.10", 5);
	assert_int_equal(listen_to(events, EVENT_DROP), 0);
	clock_advance(&limiter, 2 * NS_PER_SECOND);
	send_from("192.0.2.10", 5);
	assert_int_equal(listen_to(events, EVENT_DROP), 1);
	close_policy();
}

static void each_limit_apart(void **state)
{
	(void)state;
	open_policy("limits:\n"
		    "  - {name: one, match: {destination-port: 27015}, rate: 1/h, burst: 1}\n"
		    "  - {name: two, match: {protocol: tcp}, rate: block}\n",
		    KIND(DROP));
	struct frame tcp;

	frame_named(&tcp, P4S);
	send_from(CLIENT4, 3);
	send_many(&limiter, &tcp, 3);
	assert_int_equal(listen_to(events, EVENT_DROP), 2);
	assert_string_equal(limiter.running.table.limits[heard[0].limit].name, "one");
	assert_string_equal(limiter.running.table.limits[heard[1].limit].name, "two");
	close_policy();
}

static void other_reasons(void **state)
{
	struct frame frame;

	(void)state;
	open_policy(LIMITED, KIND(DROP));
	frame_named(&frame, PSHORT);
	send_many(&limiter, &frame, 3);
	assert_int_equal(listen_to(events, EVENT_DROP), 1);
	assert_int_equal(heard[0].reason, REASON_MALFORMED);
	assert_int_equal(heard[0].limit, NO_LIMIT);
	assert_int_equal(heard[0].family, 0);
	close_policy();
}

static void dry_run(void **state)
{
	(void)state;
	open_policy("dry-run: true\n" LIMITED, ALL_KINDS);
	assert_int_equal(send_from(CLIENT4, 5), 5);
	assert_int_equal(listen_to(events, EVENT_DROP), 1);
	assert_int_equal(heard[0].flags, EVENT_DRY_RUN);
	close_policy();
}

/* ---- caps ---- */

/* O-108: half of what a second may have comes at once, the rest with time; what didn't come is counted. */
static void flood(void **state)
{
	struct events_lost lost;
	unsigned int came;

	(void)state;
	open_policy(LIMITED, KIND(DROP));
	send_from_many(1000, 2);
	came = listen_to(events, EVENT_DROP);
	assert_int_equal(came, 50);
	lost_now(events, &lost);
	assert_int_equal(lost.capped[EVENT_DROP], 950);
	assert_int_equal(lost.overflowed, 0);
	/* A second of 1000 drops, a millisecond apart, of which none was told of before. */
	for (unsigned int i = 0; i < 1000; i++) {
		char source[32];

		snprintf(source, sizeof(source), "10.2.%u.%u", i >> 8, i & 255);
		send_from(source, 2);
		clock_advance(&limiter, 1000000);
	}
	came = listen_to(events, EVENT_DROP);
	assert_in_range(came, 49, 50);
	lost_now(events, &lost);
	assert_int_equal(lost.capped[EVENT_DROP] + came + 50, 2000);
	close_policy();
}

/* A source that is told of already takes nothing from what the kind may have. */
static void repeats_are_not_lost(void **state)
{
	struct events_lost lost;

	(void)state;
	open_policy(LIMITED, KIND(DROP));
	send_from(CLIENT4, 1000);
	assert_int_equal(listen_to(events, EVENT_DROP), 1);
	lost_now(events, &lost);
	assert_int_equal(lost.capped[EVENT_DROP], 0);
	close_policy();
}

static void full_ring(void **state)
{
	struct events_lost lost;
	struct frame frame;

	(void)state;
	open_policy("limits: [{name: default, rate: block}]\n", 0);
	events = start(KIND(SAMPLE), 1);
	make_frame(&frame, CLIENT4, 400);
	/* A ring of 1 MiB holds 3120 samples of 336 bytes. */
	for (unsigned int i = 0; i < 4000; i++) {
		clock_advance(&limiter, 2000000);
		send_frame(&limiter, &frame);
	}
	lost_now(events, &lost);
	assert_int_equal(lost.capped[EVENT_SAMPLE], 0);
	assert_in_range(lost.overflowed, 800, 1000);
	close_policy();
}

/* ---- nobody listens ---- */

static void silence(void **state)
{
	struct counters counters;
	struct frame frame;

	(void)state;
	open_policy(LIMITED, 0);
	clock_step(&limiter, 1);
	send_from_many(100, 2);
	/* No drop cost another reading of the clock. */
	assert_int_equal(clock_now(&limiter), NS_PER_SECOND + 200);
	frame_named(&frame, PIHL0);
	send_frame(&limiter, &frame);
	assert_int_equal(clock_now(&limiter), NS_PER_SECOND + 200);
	counters_of(&limiter, &counters);
	for (int i = 0; i < EVENT_KERNEL_KINDS; i++)
		assert_int_equal(counters.telling.capped[i], 0);
	close_policy();
}

/* A reader that was killed doesn't renew: it is as if it had never been. */
static void lease_ends(void **state)
{
	struct events_lost lost;

	(void)state;
	open_policy(LIMITED, KIND(DROP));
	clock_set(&limiter, boot_clock_ns() + 10 * NS_PER_SECOND);
	send_from_many(200, 2);
	assert_int_equal(listen_to(events, EVENT_DROP), 0);
	lost_now(events, &lost);
	assert_int_equal(lost.capped[EVENT_DROP], 0);
	close_policy();
}

static void kinds_apart(void **state)
{
	struct events_lost lost;

	(void)state;
	open_policy(LIMITED, KIND(GATE));
	send_from_many(200, 2);
	assert_int_equal(listen_to(events, EVENT_DROP), 0);
	assert_int_equal(heard_count, 0);
	lost_now(events, &lost);
	assert_int_equal(lost.capped[EVENT_DROP], 0);
	close_policy();
}

/* ---- readers ---- */

static void all_see_all(void **state)
{
	struct events *others[EVENT_READERS - 1], *more;
	const struct event_request request = {KIND(DROP), 0};

	(void)state;
	open_policy(LIMITED, KIND(DROP));
	for (int i = 0; i < EVENT_READERS - 1; i++)
		others[i] = start(KIND(DROP), 0);
	assert_int_equal(events_open(&limiter.running, &request, &more), -EBUSY);
	assert_null(more);
	send_from(CLIENT4, 5);
	assert_int_equal(listen_to(events, EVENT_DROP), 1);
	for (int i = 0; i < EVENT_READERS - 1; i++)
		assert_int_equal(listen_to(others[i], EVENT_DROP), 1);
	/* A place that was left is free. */
	events_close(others[3]);
	others[3] = start(KIND(DROP), 0);
	send_from(OTHER4, 5);
	for (int i = 0; i < EVENT_READERS - 1; i++) {
		assert_int_equal(listen_to(others[i], EVENT_DROP), 1);
		events_close(others[i]);
	}
	assert_int_equal(listen_to(events, EVENT_DROP), 1);
	close_policy();
}

static void last_one_leaves(void **state)
{
	struct listening listening;
	uint32_t index = 0, ring;

	(void)state;
	open_policy(LIMITED, KIND(DROP));
	assert_int_equal(
		bpf_map_lookup_elem(limiter.running.maps[MAP_LISTENING], &index, &listening), 0);
	assert_true(listening.until_ns > boot_clock_ns());
	events_close(events);
	events = NULL;
	assert_int_equal(
		bpf_map_lookup_elem(limiter.running.maps[MAP_LISTENING], &index, &listening), 0);
	assert_int_equal(listening.until_ns, 0);
	assert_int_equal(listening.kinds, 0);
	assert_int_not_equal(bpf_map_lookup_elem(limiter.running.maps[MAP_RINGS], &index, &ring),
			     0);
	close_policy();
}

/* An apply is another program on the same maps. */
static void across_apply(void **state)
{
	struct policy other;
	struct limiter next;
	struct frame frame;

	(void)state;
	open_policy(LIMITED, KIND(DROP));
	send_from(CLIENT4, 5);
	yaml_policy(&other, "limits: [{name: default, rate: block}]\n");
	limiter_reopen(&next, &limiter, &other);
	make_frame(&frame, OTHER4, 20);
	assert_int_equal(send_many(&next, &frame, 5), 0);
	assert_int_equal(listen_to(events, EVENT_DROP), 2);
	assert_source(&heard[1], OTHER4);
	limiter_close(&next);
	close_policy();
}

/* ---- bans, lists, the gate ---- */

static void ban(void **state)
{
	(void)state;
	open_policy("limits: [{name: x, rate: 1/h, burst: 1, on-exceed: {ban: 10s}}]\n", ALL_KINDS);
	send_from(CLIENT4, 2);
	assert_int_equal(listen_to(events, EVENT_BAN), 1);
	assert_int_equal(heard_count, 2);
	assert_int_equal(heard[0].kind, EVENT_DROP);
	assert_source(&heard[1], CLIENT4);
	assert_string_equal(limiter.running.table.limits[heard[1].limit].name, "x");
	assert_int_equal(heard[1].until_ns, clock_now(&limiter) + 10 * NS_PER_SECOND);
	/* From now on it meets the penalty box. */
	send_from(CLIENT4, 5);
	assert_int_equal(listen_to(events, EVENT_LIST), 1);
	assert_int_equal(heard_count, 1);
	assert_int_equal(heard[0].reason, REASON_BANNED);
	assert_int_equal(heard[0].until_ns, 0);
	close_policy();
}

static void dry_run_bans_nobody(void **state)
{
	(void)state;
	open_policy("dry-run: true\n"
		    "limits: [{name: x, rate: 1/h, burst: 1, on-exceed: {ban: 10s}}]\n",
		    ALL_KINDS);
	send_from(CLIENT4, 3);
	assert_int_equal(listen_to(events, EVENT_BAN), 0);
	close_policy();
}

static void list_hits(void **state)
{
	(void)state;
	open_policy("allow: [192.0.2.0/24]\ndeny: [203.0.113.0/24]\n" LIMITED, KIND(LIST));
	assert_int_equal(send_from("192.0.2.10", 100), 100);
	assert_int_equal(send_from("203.0.113.5", 100), 0);
	assert_int_equal(listen_to(events, EVENT_LIST), 2);
	assert_int_equal(heard[0].reason, REASON_ALLOWED);
	assert_int_equal(heard[1].reason, REASON_DENIED);
	assert_source(&heard[1], "203.0.113.5");
	close_policy();
}

static void gate(void **state)
{
	struct events_lost lost;

	(void)state;
	open_policy("table: {type: lru, sources: 1024, new-sources: 1/h}\n" LIMITED, KIND(GATE));
	send_from_many(500, 1);
	assert_int_equal(listen_to(events, EVENT_GATE), 1);
	assert_int_equal(heard[0].reason, REASON_GATE_CLOSED);
	clock_advance(&limiter, NS_PER_SECOND - 1);
	send_from("10.9.9.9", 1);
	assert_int_equal(listen_to(events, EVENT_GATE), 0);
	clock_advance(&limiter, 1);
	send_from("10.9.9.9", 1);
	assert_int_equal(listen_to(events, EVENT_GATE), 1);
	lost_now(events, &lost);
	assert_int_equal(lost.capped[EVENT_GATE], 0);
	close_policy();
}

/* ---- samples ---- */

static void samples(void **state)
{
	struct frame small, large;

	(void)state;
	open_policy("limits: [{name: default, rate: block}]\n", 0);
	events = start(KIND(SAMPLE), 4);
	make_frame(&small, CLIENT4, 20);
	make_frame(&large, OTHER4, 1000);
	for (unsigned int i = 0; i < 40; i++)
		send_frame(&limiter, i % 2 ? &small : &large);
	assert_in_range(listen_to(events, EVENT_SAMPLE), 10, 11);
	assert_int_equal(heard[0].length, large.length);
	assert_int_equal(heard[0].captured, EVENT_SNAP);
	assert_memory_equal(bytes[0], large.bytes, EVENT_SNAP);
	events_close(events);
	events = start(KIND(SAMPLE), 1);
	send_frame(&limiter, &small);
	assert_int_equal(listen_to(events, EVENT_SAMPLE), 1);
	assert_int_equal(heard[0].length, small.length);
	assert_int_equal(heard[0].captured, small.length);
	assert_memory_equal(bytes[0], small.bytes, small.length);
	close_policy();
}

static void samples_of_two(void **state)
{
	const struct event_request request = {KIND(SAMPLE), 5};
	struct events *other;

	(void)state;
	open_policy("limits: [{name: default, rate: block}]\n", 0);
	events = start(KIND(SAMPLE), 2);
	assert_int_equal(events_open(&limiter.running, &request, &other), -EALREADY);
	other = start(KIND(SAMPLE), 2);
	send_from(CLIENT4, 100);
	assert_in_range(listen_to(events, EVENT_SAMPLE), 50, 51);
	assert_in_range(listen_to(other, EVENT_SAMPLE), 50, 51);
	events_close(other);
	close_policy();
}

/* What passes is no sample, nor is it one of those that are counted to the next. */
static void only_drops_are_sampled(void **state)
{
	(void)state;
	open_policy("allow: [192.0.2.0/24]\nlimits: [{name: x, rate: block}]\n", 0);
	events = start(KIND(SAMPLE), 1);
	send_from("192.0.2.10", 10);
	assert_int_equal(listen_to(events, EVENT_SAMPLE), 0);
	send_from("203.0.113.5", 10);
	assert_int_equal(listen_to(events, EVENT_SAMPLE), 10);
	close_policy();
}

/* ---- how long a check takes ---- */

static void durations(void **state)
{
	struct histogram histogram;

	(void)state;
	open_policy("measure: 4\nlimits: [{name: default, rate: 1/h, burst: 1}]\n", 0);
	/* The pipeline reads the clock once: from the beginning to the end two steps pass. */
	clock_step(&limiter, 100);
	send_from_many(10, 4);
	assert_int_equal(read_durations(&limiter.running, &histogram), 0);
	assert_in_range(histogram.count, 10, 11);
	assert_int_equal(histogram.counts[7], histogram.count);
	assert_int_equal(histogram.sum_ns, 200 * histogram.count);
	close_policy();
}

static void no_durations(void **state)
{
	struct histogram histogram;

	(void)state;
	open_policy(LIMITED, 0);
	send_from_many(10, 4);
	assert_int_equal(read_durations(&limiter.running, &histogram), 0);
	assert_int_equal(histogram.count, 0);
	close_policy();
}

static void run_statistics(void **state)
{
	uint64_t before_ns, before, after_ns, after;
	int statistics = statistics_start();
	struct frame frame;

	(void)state;
	assert_true(statistics >= 0);
	open_policy(LIMITED, 0);
	make_frame(&frame, CLIENT4, 20);
	assert_int_equal(program_run_stats(&limiter.running, &before_ns, &before), 0);
	send_repeated(&limiter, &frame, 100);
	assert_int_equal(program_run_stats(&limiter.running, &after_ns, &after), 0);
	assert_int_equal(after - before, 100);
	assert_true(after_ns > before_ns);
	close(statistics);
	close_policy();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(first_drop, (void *)LIMITED),
		cmocka_unit_test_prestate(first_drop, (void *)SEVERAL),
		cmocka_unit_test_prestate(first_drop, (void *)"table: {type: flat}\n" LIMITED),
		cmocka_unit_test_prestate(first_drop, (void *)"table: {type: flat}\n" SEVERAL),
		cmocka_unit_test(each_limit_apart),
		cmocka_unit_test(other_reasons),
		cmocka_unit_test(dry_run),
		cmocka_unit_test(flood),
		cmocka_unit_test(repeats_are_not_lost),
		cmocka_unit_test(full_ring),
		cmocka_unit_test(silence),
		cmocka_unit_test(lease_ends),
		cmocka_unit_test(kinds_apart),
		cmocka_unit_test(all_see_all),
		cmocka_unit_test(last_one_leaves),
		cmocka_unit_test(across_apply),
		cmocka_unit_test(ban),
		cmocka_unit_test(dry_run_bans_nobody),
		cmocka_unit_test(list_hits),
		cmocka_unit_test(gate),
		cmocka_unit_test(samples),
		cmocka_unit_test(samples_of_two),
		cmocka_unit_test(only_drops_are_sampled),
		cmocka_unit_test(durations),
		cmocka_unit_test(no_durations),
		cmocka_unit_test(run_statistics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
