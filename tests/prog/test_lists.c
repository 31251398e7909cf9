// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bans, allow and deny lists, tiers and the penalty box. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include "frames.h"
#include "prefix.h"
#include "prog.h"
#include "threads.h"
#include "yaml_policy.h"

static struct limiter limiter;
static struct policy policy;

static void open_policy(const char *text)
{
	yaml_policy(&policy, text);
	limiter_open(&limiter, &policy, NULL);
}

static void close_policy(void)
{
	limiter_close(&limiter);
	policy_free(&policy);
}

static void make_frame(struct frame *frame, const char *source)
{
	frame_start(frame);
	frame_ethernet(frame);
	if (strchr(source, ':'))
		frame_ipv6(frame, .source = source);
	else
		frame_ipv4(frame, .source = source);
	frame_udp(frame);
	frame_payload(frame, 20);
	frame_finish(frame);
}

static int send_from(const char *source)
{
	struct frame frame;

	make_frame(&frame, source);
	return send_frame(&limiter, &frame);
}

/* Sends one packet and says by which reason it went. */
static enum reason reason_of(const char *source)
{
	uint64_t before[REASON_COUNT];
	enum reason found = REASON_NONE;

	for (int i = 0; i < REASON_COUNT; i++)
		before[i] = packets_of(&limiter, i);
	send_from(source);
	for (int i = 0; i < REASON_COUNT; i++)
		if (packets_of(&limiter, i) != before[i]) {
			assert_int_equal(found, REASON_NONE);
			found = i;
		}
	return found;
}

static void live(enum live_list list, const char *text, uint64_t until_ns)
{
	struct policy_prefix prefix;
	struct complaint why;

	if (parse_prefix(text, &prefix, &why) ||
	    live_add(&limiter.running, list, &prefix, 1, until_ns, &why))
		fail_msg("%s", why.text);
}

static void unlive(enum live_list list, const char *text)
{
	struct policy_prefix prefix;
	struct complaint why;

	if (parse_prefix(text, &prefix, &why))
		fail_msg("%s", why.text);
	assert_int_equal(live_delete(&limiter.running, list, &prefix, 1), 1);
}

#define LIMITS "limits: [{name: default, rate: 1/h, burst: 2}]\n"

/* ---- the policy's own lists ---- */

static void file_lists(void **state)
{
	(void)state;
	open_policy("allow: [192.0.2.0/24, '2001:db8:1::/48', 203.0.113.9]\n"
		    "deny: [192.0.2.66, 203.0.113.0/24, '2001:db8:1:5::/64']\n" LIMITS);
	assert_int_equal(reason_of("192.0.2.10"), REASON_ALLOWED);
	assert_int_equal(reason_of("192.0.2.66"), REASON_DENIED);
	assert_int_equal(reason_of("203.0.113.8"), REASON_DENIED);
	assert_int_equal(reason_of("203.0.113.9"), REASON_ALLOWED);
	assert_int_equal(reason_of("2001:db8:1:4::1"), REASON_ALLOWED);
	assert_int_equal(reason_of("2001:db8:1:5::1"), REASON_DENIED);
	assert_int_equal(reason_of("2001:db8:2::1"), REASON_CONFORMING);
	assert_int_equal(reason_of("198.51.100.7"), REASON_CONFORMING);
	/* O-023: no bucket is made for who is allowed. */
	assert_int_equal(count_entries(&limiter.running), 2);
	close_policy();
}

static void a_tie_denies(void **state)
{
	(void)state;
	open_policy("allow: [192.0.2.0/24, 198.51.100.1]\n"
		    "deny: [192.0.2.0/24, 198.51.100.1]\n" LIMITS);
	assert_int_equal(reason_of("192.0.2.10"), REASON_DENIED);
	assert_int_equal(reason_of("198.51.100.1"), REASON_DENIED);
	close_policy();
}

static void everything(void **state)
{
	(void)state;
	open_policy("deny: [0.0.0.0/0]\nallow: [192.0.2.0/25]\n" LIMITS);
	assert_int_equal(reason_of("192.0.2.10"), REASON_ALLOWED);
	assert_int_equal(reason_of("192.0.2.200"), REASON_DENIED);
	assert_int_equal(reason_of("10.1.2.3"), REASON_DENIED);
	assert_int_equal(reason_of("2001:db8::1"), REASON_CONFORMING);
	close_policy();
}

/* ::/0 is all of IPv6 and nothing of IPv4, whose addresses lie in ::ffff:0:0/96 here. */
static void families_apart(void **state)
{
	(void)state;
	open_policy("deny: ['::/0']\n"
		    "tiers: [{name: six, sources: ['::/0']}]\n"
		    "limits:\n"
		    "  - {name: x, rate: 1/h, tiers: {six: block}}\n"
		    "  - {name: y, match: {destination: '::/0'}, rate: block}\n");
	assert_int_equal(reason_of("2001:db8::1"), REASON_DENIED);
	assert_int_equal(reason_of("192.0.2.10"), REASON_CONFORMING);
	live(LIVE_BAN, "::/1", FOREVER);
	assert_int_equal(reason_of("2001:db8::1"), REASON_BANNED);
	assert_int_equal(reason_of("192.0.2.11"), REASON_CONFORMING);
	close_policy();
}

/* A policy that passes what can't be parsed still asks the lists, but never for a forged source. */
static void malformed_and_lists(void **state)
{
	struct frame frame;

	(void)state;
	open_policy("malformed: pass\ndeny: [192.0.2.66]\nallow: [192.0.2.7]\n" LIMITS);
	frame_start(&frame);
	frame_ethernet(&frame);
	frame_ipv4(&frame, .source = "192.0.2.66", .ihl = 3);
	frame_udp(&frame);
	frame_finish(&frame);
	assert_int_equal(send_frame(&limiter, &frame), XDP_DROP);
	assert_int_equal(packets_of(&limiter, REASON_DENIED), 1);
	frame_start(&frame);
	frame_ethernet(&frame);
	frame_ipv6(&frame, .source = "::ffff:192.0.2.7");
	frame_udp(&frame);
	frame_finish(&frame);
	assert_int_equal(send_many(&limiter, &frame, 9), 2);
	assert_int_equal(packets_of(&limiter, REASON_ALLOWED), 0);
	close_policy();
}

/* Where every limit only observes, nothing drops: not the gate either. */
static void observing_gate(void **state)
{
	struct frame frame;

	(void)state;
	open_policy("table: {sources: 1024, new-sources: 1/h}\n"
		    "limits: [{name: x, rate: 1/h, mode: observe}]\n");
	for (int i = 0; i < 1000; i++) {
		frame_newcomer(&frame, i);
		assert_int_equal(send_frame(&limiter, &frame), XDP_PASS);
	}
	assert_int_not_equal(packets_of(&limiter, REASON_GATE_CLOSED), 0);
	close_policy();
}

/* ---- live lists ---- */

static void live_lists(void **state)
{
	(void)state;
	open_policy("deny: [192.0.2.0/24]\n" LIMITS);
	assert_int_equal(reason_of("192.0.2.10"), REASON_DENIED);
	live(LIVE_ALLOW, "192.0.2.10", FOREVER);
	assert_int_equal(reason_of("192.0.2.10"), REASON_ALLOWED);
	assert_int_equal(reason_of("192.0.2.11"), REASON_DENIED);
	live(LIVE_BAN, "192.0.2.0/28", FOREVER);
	assert_int_equal(reason_of("192.0.2.10"), REASON_BANNED);
	unlive(LIVE_BAN, "192.0.2.0/28");
	assert_int_equal(reason_of("192.0.2.10"), REASON_ALLOWED);
	unlive(LIVE_ALLOW, "192.0.2.10");
	assert_int_equal(reason_of("192.0.2.10"), REASON_DENIED);
	close_policy();
}

/* O-093: the entry ends in the kernel, at its time, without anybody's help. */
static void entries_end(void **state)
{
	const uint64_t start = 1ULL << 60; /* after the real boot clock: nothing is swept early */

	(void)state;
	open_policy(LIMITS);
	clock_set(&limiter, start);
	live(LIVE_BAN, "192.0.2.10", start + 2 * NS_PER_SECOND);
	live(LIVE_DENY, "198.51.100.0/24", start + 5 * NS_PER_SECOND);
	clock_set(&limiter, start + 2 * NS_PER_SECOND - 1);
	assert_int_equal(reason_of("192.0.2.10"), REASON_BANNED);
	assert_int_equal(reason_of("198.51.100.3"), REASON_DENIED);
	clock_set(&limiter, start + 2 * NS_PER_SECOND);
	assert_int_equal(reason_of("192.0.2.10"), REASON_CONFORMING);
	clock_set(&limiter, start + 5 * NS_PER_SECOND);
	assert_int_equal(reason_of("198.51.100.3"), REASON_CONFORMING);
	close_policy();
}

/* An inner prefix that has ended gives way to the one around it. */
static void nested_ends(void **state)
{
	const uint64_t start = 1ULL << 60;

	(void)state;
	open_policy(LIMITS);
	clock_set(&limiter, start);
	live(LIVE_DENY, "10.0.0.0/8", FOREVER);
	live(LIVE_ALLOW, "10.1.0.0/16", start + 10);
	live(LIVE_DENY, "10.1.2.0/24", start + 5);
	assert_int_equal(reason_of("10.1.2.3"), REASON_DENIED);
	assert_int_equal(reason_of("10.1.3.3"), REASON_ALLOWED);
	clock_set(&limiter, start + 5);
	assert_int_equal(reason_of("10.1.2.3"), REASON_ALLOWED);
	clock_set(&limiter, start + 10);
	assert_int_equal(reason_of("10.1.2.3"), REASON_DENIED);
	close_policy();
}

/* O-094 */
static void long_times(void **state)
{
	const uint64_t day = 86400 * NS_PER_SECOND, start = 5 * NS_PER_SECOND;

	(void)state;
	open_policy(LIMITS);
	clock_set(&limiter, start);
	live(LIVE_BAN, "192.0.2.30", boot_clock_ns() + 30 * day);
	live(LIVE_BAN, "192.0.2.40", boot_clock_ns() + 400 * day);
	clock_set(&limiter, boot_clock_ns() + 29 * day);
	assert_int_equal(reason_of("192.0.2.30"), REASON_BANNED);
	clock_set(&limiter, boot_clock_ns() + 399 * day);
	assert_int_equal(reason_of("192.0.2.30"), REASON_CONFORMING);
	assert_int_equal(reason_of("192.0.2.40"), REASON_BANNED);
	close_policy();
}

static int count_visits(const struct policy_prefix *prefix, uint64_t until_ns, void *context)
{
	(void)prefix;
	(void)until_ns;
	++*(int *)context;
	return 0;
}

static struct policy_prefix *numbered_addresses(size_t count)
{
	struct policy_prefix *prefixes = calloc(count, sizeof(*prefixes));
	struct complaint why;

	assert_non_null(prefixes);
	for (size_t i = 0; i < count; i++) {
		parse_prefix("10.0.0.0", &prefixes[i], &why);
		prefixes[i].address.bytes[13] = (uint8_t)(i >> 16);
		prefixes[i].address.bytes[14] = (uint8_t)(i >> 8);
		prefixes[i].address.bytes[15] = (uint8_t)i;
	}
	return prefixes;
}

/* O-014: what does not fit is refused with its name, and nothing of the call stays. */
static void full_lists(void **state)
{
	const size_t count = LIVE_CAPACITY + 1;
	struct policy_prefix *prefixes;
	struct complaint why;
	int visits = 0;

	(void)state;
	if (emulated()) {
		print_message("a million entries take minutes under emulation\n");
		skip();
	}
	prefixes = numbered_addresses(count);
	open_policy(LIMITS);
	live(LIVE_DENY, "192.0.2.1", FOREVER);
	assert_int_equal(live_add(&limiter.running, LIVE_DENY, prefixes, count, FOREVER, &why),
			 -ENOSPC);
	assert_non_null(strstr(why.text, "1048576"));
	assert_non_null(strstr(why.text, "10.15.255.255"));
	assert_int_equal(live_visit(&limiter.running, LIVE_DENY, count_visits, &visits), 0);
	assert_int_equal(visits, 1);
	assert_int_equal(reason_of("192.0.2.1"), REASON_DENIED);
	assert_int_equal(reason_of("10.0.0.5"), REASON_CONFORMING);
	free(prefixes);
	close_policy();
}

/* One worker lists addresses in steps, and takes all off again; the other sends meanwhile. */
struct growth {
	struct frame listed, unlisted;
	struct policy_prefix *prefixes;
	uint32_t step; /* addresses */
	atomic_bool done;
	int64_t errors;
	uint64_t sent, slipped, refused;
};

#define GROWTH_STEPS 20

static void list_in_steps(struct growth *growth)
{
	struct complaint why;

	for (size_t i = 0; i < GROWTH_STEPS; i++)
		growth->errors += !!live_add(&limiter.running, LIVE_DENY,
					     growth->prefixes + i * growth->step, growth->step,
					     FOREVER, &why);
	growth->errors += live_delete(&limiter.running, LIVE_DENY, growth->prefixes,
				      growth->step * GROWTH_STEPS) != growth->step * GROWTH_STEPS;
	atomic_store(&growth->done, true);
}

static void grow_work(struct worker *worker)
{
	struct growth *growth = worker->context;

	if (!worker->index) {
		list_in_steps(growth);
		return;
	}
	while (!atomic_load(&growth->done)) {
		growth->slipped += send_frame(&limiter, &growth->listed) == XDP_PASS;
		growth->refused += send_frame(&limiter, &growth->unlisted) != XDP_PASS;
		growth->sent++;
	}
}

/* O-126: the set is replaced by a larger one several times, and a packet meets the one or the other. */
static void growing_set(void **state)
{
	struct growth growth = {.step = repeats(5000, 250)};
	struct worker workers[WORKERS];

	(void)state;
	growth.prefixes = numbered_addresses(growth.step * GROWTH_STEPS);
	open_policy("limits: [{name: default, rate: unlimited}]\n");
	live(LIVE_DENY, "192.0.2.66", FOREVER);
	make_frame(&growth.listed, "192.0.2.66");
	make_frame(&growth.unlisted, "192.0.2.10");
	run_on_two_cpus(grow_work, &growth, workers);
	assert_int_equal(growth.errors, 0);
	assert_int_equal(growth.slipped, 0);
	assert_int_equal(growth.refused, 0);
	assert_true(growth.sent > repeats(1000, 100));
	unlive(LIVE_DENY, "192.0.2.66");
	assert_int_equal(reason_of("192.0.2.66"), REASON_CONFORMING);
	live(LIVE_DENY, "192.0.2.67", FOREVER);
	assert_int_equal(reason_of("192.0.2.67"), REASON_DENIED);
	free(growth.prefixes);
	close_policy();
}

/* ---- tiers ---- */

static void tiers(void **state)
{
	(void)state;
	open_policy("tiers:\n"
		    "  - {name: pro, sources: [198.51.100.0/24, '2001:db8:7::/48']}\n"
		    "  - {name: vip, sources: [198.51.100.7, 10.0.0.0/8]}\n"
		    "  - {name: bad, sources: [198.51.100.128/25]}\n"
		    "limits:\n"
		    "  - name: default\n"
		    "    rate: 1/h\n"
		    "    burst: 2\n"
		    "    tiers: {pro: {rate: 1/h, burst: 5}, vip: unlimited, bad: block}\n");
	for (int i = 0; i < 8; i++) {
		assert_int_equal(send_from("192.0.2.1"), i < 2 ? XDP_PASS : XDP_DROP);
		assert_int_equal(send_from("198.51.100.1"), i < 5 ? XDP_PASS : XDP_DROP);
		assert_int_equal(send_from("2001:db8:7:1::1"), i < 5 ? XDP_PASS : XDP_DROP);
		assert_int_equal(send_from("2001:db8:8:1::1"), i < 2 ? XDP_PASS : XDP_DROP);
		assert_int_equal(send_from("198.51.100.7"), XDP_PASS);
		assert_int_equal(send_from("10.9.8.7"), XDP_PASS);
		assert_int_equal(send_from("198.51.100.200"), XDP_DROP);
	}
	close_policy();
}

/* ---- the penalty box ---- */

static void ban_on_exceed(void **state)
{
	const uint64_t start = 100 * NS_PER_SECOND;

	(void)state;
	open_policy(
		"limits:\n"
		"  - {name: udp, match: {protocol: udp}, rate: 1/s, burst: 2, on-exceed: {ban: 10s}}\n");
	clock_set(&limiter, start);
	assert_int_equal(reason_of("192.0.2.1"), REASON_CONFORMING);
	assert_int_equal(reason_of("192.0.2.1"), REASON_CONFORMING);
	assert_int_equal(reason_of("192.0.2.1"), REASON_OVER_LIMIT);
	assert_int_equal(reason_of("192.0.2.1"), REASON_BANNED);
	assert_int_equal(reason_of("192.0.2.2"), REASON_CONFORMING);
	clock_set(&limiter, start + 10 * NS_PER_SECOND - 1);
	assert_int_equal(reason_of("192.0.2.1"), REASON_BANNED);
	clock_set(&limiter, start + 10 * NS_PER_SECOND);
	assert_int_equal(reason_of("192.0.2.1"), REASON_CONFORMING);
	close_policy();
}

static void ban_extends(void **state)
{
	uint64_t now = 100 * NS_PER_SECOND;

	(void)state;
	open_policy(
		"limits: [{name: x, rate: 1/s, burst: 1, on-exceed: {ban: 10s, extend: true}}]\n");
	clock_set(&limiter, now);
	assert_int_equal(reason_of("192.0.2.1"), REASON_CONFORMING);
	assert_int_equal(reason_of("192.0.2.1"), REASON_OVER_LIMIT);
	for (int i = 0; i < 5; i++) {
		now += 9 * NS_PER_SECOND;
		clock_set(&limiter, now);
		assert_int_equal(reason_of("192.0.2.1"), REASON_BANNED);
	}
	clock_set(&limiter, now + 10 * NS_PER_SECOND);
	assert_int_equal(reason_of("192.0.2.1"), REASON_CONFORMING);
	close_policy();
}

/* ---- the gate ---- */

/* Known sources pass whatever the gate says; new ones wait for its budget. */
static void gate(void **state)
{
	struct frame frame;
	unsigned int let_in = 0;

	(void)state;
	open_policy("table: {sources: 1024, new-sources: 100/s}\n"
		    "limits: [{name: default, rate: 1000 pps, burst: 1000}]\n");
	clock_set(&limiter, NS_PER_SECOND);
	assert_int_equal(reason_of("192.0.2.1"), REASON_CONFORMING);
	for (int i = 0; i < 2000; i++) {
		frame_newcomer(&frame, i);
		let_in += send_frame(&limiter, &frame) == XDP_PASS;
	}
	assert_int_equal(let_in, 1024 * 4 / 10 - 1);
	assert_int_equal(packets_of(&limiter, REASON_GATE_CLOSED), 2000 - let_in);
	assert_int_equal(reason_of("192.0.2.1"), REASON_CONFORMING);
	clock_advance(&limiter, NS_PER_SECOND / 100);
	assert_int_equal(reason_of("203.0.113.1"), REASON_CONFORMING);
	assert_int_equal(reason_of("203.0.113.2"), REASON_GATE_CLOSED);
	close_policy();
}

/* O-009: a limited source is never handed a fresh bucket by a flood of invented ones. */
static void gate_proof(void **state)
{
	unsigned int passed = 0;
	struct frame frame;

	(void)state;
	open_policy("table: {sources: 1024, new-sources: auto}\n"
		    "limits: [{name: default, rate: 100 pps, burst: 100}]\n");
	clock_set(&limiter, NS_PER_SECOND);
	while (send_from("192.0.2.10") == XDP_PASS)
		passed++;
	assert_int_equal(passed, 100);
	for (int i = 0; i < 10240; i++) {
		/* Twice each, with the limited source between: what evicts most. */
		frame_newcomer(&frame, i);
		send_frame(&limiter, &frame);
		send_frame(&limiter, &frame);
		passed += i % 8 == 0 && send_from("192.0.2.10") == XDP_PASS;
		clock_advance(&limiter, 1000);
	}
	/* 10 240 us at 100 pps are one packet more. */
	assert_in_range(passed, 100, 101);
	close_policy();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_lists),
		cmocka_unit_test(a_tie_denies),
		cmocka_unit_test(everything),
		cmocka_unit_test(families_apart),
		cmocka_unit_test(malformed_and_lists),
		cmocka_unit_test(observing_gate),
		cmocka_unit_test(live_lists),
		cmocka_unit_test(entries_end),
		cmocka_unit_test(nested_ends),
		cmocka_unit_test(long_times),
		cmocka_unit_test(full_lists),
		cmocka_unit_test(growing_set),
		cmocka_unit_test(tiers),
		cmocka_unit_test(ban_on_exceed),
		cmocka_unit_test(ban_extends),
		cmocka_unit_test(gate),
		cmocka_unit_test(gate_proof),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
