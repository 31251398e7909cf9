// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which limits a packet meets, and what they count per. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include "frames.h"
#include "prog.h"
#include "yaml_policy.h"

/* A limit that blocks what it matches, beside nothing else: dropped means met. */
static bool meets(const char *match, const struct frame *frame)
{
	struct limiter limiter;
	struct policy policy;
	char text[512];
	bool met;

	snprintf(text, sizeof(text), "limits: [{name: it, match: %s, rate: block}]", match);
	yaml_policy(&policy, text);
	limiter_open(&limiter, &policy, NULL);
	met = send_frame(&limiter, frame) == XDP_DROP;
	assert_int_equal(packets_of(&limiter, met ? REASON_OVER_LIMIT : REASON_UNLIMITED), 1);
	limiter_close(&limiter);
	policy_free(&policy);
	return met;
}

static void build(struct frame *frame, const char *what)
{
	frame_start(frame);
	frame_ethernet(frame);
	if (!strcmp(what, "priority, vlan 10"))
		frame_vlan(frame, 0x88a8, 0);
	if (strstr(what, "vlan 10"))
		frame_vlan(frame, 0x8100, 10);
	if (!strcmp(what, "udp6") || !strcmp(what, "icmp6"))
		frame_ipv6(frame);
	else if (!strcmp(what, "later fragment"))
		frame_ipv4(frame, .fragment_offset = 1480, .protocol = 17);
	else
		frame_ipv4(frame);
	if (!strcmp(what, "syn"))
		frame_tcp(frame, .flags = TCP_SYN, .destination_port = 22);
	else if (!strcmp(what, "syn-ack"))
		frame_tcp(frame, .flags = TCP_SYN | TCP_ACK, .destination_port = 22);
	else if (!strcmp(what, "icmp"))
		frame_icmp(frame, .type = 8);
	else if (!strcmp(what, "icmp6"))
		frame_icmpv6(frame, .type = 128);
	else if (!strcmp(what, "sctp"))
		frame_sctp(frame, .destination_port = 53);
	else if (strcmp(what, "later fragment"))
		frame_udp(frame, .destination_port = 53, .source_port = 40000);
	frame_payload(frame, 20);
	frame_finish(frame);
}

static const struct row {
	const char *name, *match, *frame;
	bool met;
} rows[] = {
	{"udp is udp", "{protocol: udp}", "udp", true},
	{"tcp is not udp", "{protocol: udp}", "syn", false},
	{"a protocol by number", "{protocol: 132}", "sctp", true},
	{"one of several protocols", "{protocol: [tcp, icmp]}", "icmp", true},
	{"none of several protocols", "{protocol: [tcp, icmp]}", "udp", false},
	{"icmp is not icmpv6", "{protocol: icmp}", "icmp6", false},
	{"the destination port", "{protocol: udp, destination-port: 53}", "udp", true},
	{"another destination port", "{protocol: udp, destination-port: 54}", "udp", false},
	{"a port of any protocol that has some", "{destination-port: 53}", "sctp", true},
	{"O-030: a port limit leaves other ports alone", "{protocol: udp, destination-port: 9000}",
	 "syn", false},
	{"a range of ports", "{destination-port: 50-60}", "udp", true},
	{"outside a range of ports", "{destination-port: 54-60}", "udp", false},
	{"a list of ports and ranges", "{destination-port: [1, 2-3, 53]}", "udp", true},
	{"the source port", "{source-port: 40000}", "udp", true},
	{"the ports are not swapped", "{source-port: 53}", "udp", false},
	{"O-066: a later fragment has no ports", "{destination-port: 0-65535}", "later fragment",
	 false},
	{"a later fragment has a protocol", "{protocol: udp}", "later fragment", true},
	{"icmp has no ports", "{destination-port: 0-65535}", "icmp", false},
	{"syn is set", "{tcp-flags: syn}", "syn", true},
	{"syn among others", "{tcp-flags: syn}", "syn-ack", true},
	{"syn and not ack", "{tcp-flags: [syn, '!ack']}", "syn", true},
	{"syn and not ack, with ack", "{tcp-flags: [syn, '!ack']}", "syn-ack", false},
	{"udp has no flags", "{tcp-flags: '!ack'}", "udp", false},
	{"IPv4", "{family: ipv4}", "udp", true},
	{"IPv6 is not IPv4", "{family: ipv4}", "udp6", false},
	{"IPv6", "{family: ipv6}", "udp6", true},
	{"a VLAN", "{vlan: 10}", "vlan 10", true},
	{"another VLAN", "{vlan: 11}", "vlan 10", false},
	{"a VLAN below a priority tag", "{vlan: 10}", "priority, vlan 10", true},
	{"untagged", "{vlan: 0}", "udp", true},
	{"tagged is not untagged", "{vlan: 0}", "vlan 10", false},
	{"a length", "{length: 62}", "udp", true},
	{"a range of lengths", "{length: 60-64}", "udp", true},
	{"too short", "{length: 63-1500}", "udp", false},
	{"a destination prefix", "{destination: 198.51.100.0/24}", "udp", true},
	{"another destination", "{destination: 203.0.113.0/24}", "udp", false},
	{"one of several destinations", "{destination: [203.0.113.0/24, 198.51.100.1]}", "udp",
	 true},
	{"an IPv6 destination", "{destination: 2001:db8:0:2::/64}", "udp6", true},
	{"IPv4 is in no IPv6 destination", "{destination: 2001:db8::/32}", "udp", false},
	{"all fields must fit", "{protocol: udp, destination-port: 53, family: ipv6}", "udp",
	 false},
};

static void test_row(void **state)
{
	const struct row *row = *state;
	struct frame frame;

	build(&frame, row->frame);
	assert_int_equal(meets(row->match, &frame), row->met);
}

/* ---- several limits ---- */

static void nested_destinations(void **state)
{
	struct limiter limiter;
	struct policy policy;
	struct frame frame;

	(void)state;
	yaml_policy(
		&policy,
		"limits:\n"
		"  - {name: wide, match: {destination: 198.51.0.0/16}, rate: 1/h, burst: 3}\n"
		"  - {name: narrow, match: {destination: 198.51.100.0/24}, rate: 1/h, burst: 2}\n"
		"  - {name: all, rate: 1/h, burst: 9}\n");
	limiter_open(&limiter, &policy, NULL);
	build(&frame, "udp");
	assert_int_equal(send_many(&limiter, &frame, 5), 2);
	limiter_close(&limiter);
	policy_free(&policy);
}

/* 32 limits, each for one port: only the one that matches is charged. */
static void thirty_two_limits(void **state)
{
	char text[8192] = "limits:\n";
	struct counters counters;
	struct limiter limiter;
	struct policy policy;
	struct frame frame;

	(void)state;
	for (int i = 0; i < 32; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "  - {name: l%d, match: {destination-port: %d}, rate: 1/h, burst: %d}\n",
			 i, 1000 + i, i + 1);
	yaml_policy(&policy, text);
	limiter_open(&limiter, &policy, NULL);
	for (int i = 0; i < 32; i++) {
		frame_start(&frame);
		frame_ethernet(&frame);
		frame_ipv4(&frame);
		frame_udp(&frame, .destination_port = 1000 + i);
		frame_payload(&frame, 20);
		frame_finish(&frame);
		assert_int_equal(send_many(&limiter, &frame, 40), i + 1);
	}
	assert_int_equal(read_counters(&limiter.running, &counters), 0);
	assert_int_equal(counters.events.undo_lost, 0);
	assert_int_equal(packets_of(&limiter, REASON_CONFORMING), 32 * 33 / 2);
	limiter_close(&limiter);
	policy_free(&policy);
}

/* ---- what limits count per ---- */

static void send_from(struct limiter *limiter, const char *source, const char *destination,
		      unsigned int count, unsigned int passing)
{
	bool ipv6 = strchr(source, ':');
	struct frame frame;

	frame_start(&frame);
	frame_ethernet(&frame);
	if (ipv6)
		frame_ipv6(&frame, .source = source, .destination = destination);
	else
		frame_ipv4(&frame, .source = source, .destination = destination);
	frame_udp(&frame);
	frame_payload(&frame, 20);
	frame_finish(&frame);
	assert_int_equal(send_many(limiter, &frame, count), passing);
}

static void per_prefix(void **state)
{
	struct limiter limiter;
	struct policy policy;

	(void)state;
	yaml_policy(&policy,
		    "limits: [{name: net, per: [source/24, source/48], rate: 1/h, burst: 5}]");
	limiter_open(&limiter, &policy, NULL);
	send_from(&limiter, "192.0.2.1", SERVER4, 3, 3);
	send_from(&limiter, "192.0.2.200", SERVER4, 3, 2);
	send_from(&limiter, "192.0.3.1", SERVER4, 3, 3);
	send_from(&limiter, "2001:db8:5:1::1", SERVER6, 3, 3);
	send_from(&limiter, "2001:db8:5:2::1", SERVER6, 3, 2);
	send_from(&limiter, "2001:db8:6:2::1", SERVER6, 3, 3);
	limiter_close(&limiter);
	policy_free(&policy);
}

/* The ladder: /32 under /24; what the narrow one drops costs the wide one nothing. */
static void ladder(void **state)
{
	struct limiter limiter;
	struct policy policy;

	(void)state;
	yaml_policy(&policy, "limits:\n"
			     "  - {name: host, rate: 1/h, burst: 3}\n"
			     "  - {name: net, per: source/24, rate: 1/h, burst: 7}\n");
	limiter_open(&limiter, &policy, NULL);
	send_from(&limiter, "192.0.2.1", SERVER4, 100, 3);
	send_from(&limiter, "192.0.2.2", SERVER4, 100, 3);
	send_from(&limiter, "192.0.2.3", SERVER4, 100, 1);
	send_from(&limiter, "192.0.3.3", SERVER4, 100, 3);
	limiter_close(&limiter);
	policy_free(&policy);
}

static void per_destination(void **state)
{
	struct limiter limiter;
	struct policy policy;

	(void)state;
	yaml_policy(&policy, "limits: [{name: to, per: destination, rate: 1/h, burst: 4}]");
	limiter_open(&limiter, &policy, NULL);
	send_from(&limiter, "192.0.2.1", "198.51.100.1", 3, 3);
	send_from(&limiter, "192.0.2.2", "198.51.100.1", 3, 1);
	send_from(&limiter, "192.0.2.2", "198.51.100.2", 3, 3);
	limiter_close(&limiter);
	policy_free(&policy);
}

static void per_pair(void **state)
{
	struct limiter limiter;
	struct policy policy;

	(void)state;
	yaml_policy(&policy,
		    "limits: [{name: pair, per: source+destination, rate: 1/h, burst: 4}]");
	limiter_open(&limiter, &policy, NULL);
	send_from(&limiter, "192.0.2.1", "198.51.100.1", 9, 4);
	send_from(&limiter, "192.0.2.2", "198.51.100.1", 9, 4);
	send_from(&limiter, "192.0.2.1", "198.51.100.2", 9, 4);
	send_from(&limiter, "192.0.2.1", "198.51.100.1", 9, 0);
	send_from(&limiter, "2001:db8::1", "2001:db8:1::1", 9, 4);
	send_from(&limiter, "2001:db8::1", "2001:db8:1::2", 9, 4);
	send_from(&limiter, "2001:db8::1", "2001:db8:1::1", 9, 0);
	limiter_close(&limiter);
	policy_free(&policy);
}

static void per_interface(void **state)
{
	struct limiter limiter;
	struct policy policy;

	(void)state;
	yaml_policy(&policy, "limits:\n"
			     "  - {name: total, per: interface, rate: 1/h, burst: 10}\n"
			     "  - {name: each, rate: 1/h, burst: 6}\n");
	limiter_open(&limiter, &policy, NULL);
	send_from(&limiter, "192.0.2.1", SERVER4, 9, 6);
	send_from(&limiter, "2001:db8::1", SERVER6, 9, 4);
	send_from(&limiter, "192.0.2.2", SERVER4, 9, 0);
	limiter_close(&limiter);
	policy_free(&policy);
}

/* O-002: a coarse key sees what a fine one can't. */
static void low_and_slow(void **state)
{
	struct limiter limiter;
	struct policy policy;
	unsigned int passed = 0;

	(void)state;
	yaml_policy(&policy, "limits: [{name: net, per: source/24, rate: 100 pps, burst: 100}]");
	limiter_open(&limiter, &policy, NULL);
	for (int i = 0; i < 256; i++) {
		struct frame frame;
		char source[32];

		snprintf(source, sizeof(source), "198.18.7.%d", i);
		frame_start(&frame);
		frame_ethernet(&frame);
		frame_ipv4(&frame, .source = source);
		frame_udp(&frame);
		frame_finish(&frame);
		passed += send_many(&limiter, &frame, 4);
	}
	assert_int_equal(passed, 100);
	limiter_close(&limiter);
	policy_free(&policy);
}

/* ---- observing ---- */

/* An observed limit drops nothing and takes nothing from the others. */
static void observe(void **state)
{
	struct counters counters;
	struct limiter limiter;
	struct policy policy;

	(void)state;
	yaml_policy(&policy, "limits:\n"
			     "  - {name: trial, rate: 1/h, burst: 3, mode: observe}\n"
			     "  - {name: real, rate: 1/h, burst: 8}\n");
	limiter_open(&limiter, &policy, NULL);
	send_from(&limiter, "192.0.2.1", SERVER4, 10, 8);
	assert_int_equal(read_counters(&limiter.running, &counters), 0);
	for (unsigned int i = 0; i < 2; i++) {
		const char *name = limiter.running.config.labels[i].name;
		const struct limit_count *count =
			&counters.limits[limiter.running.config.limits[i].id];

		assert_int_equal(count->would_drop_packets, !strcmp(name, "trial") ? 5 : 0);
		assert_int_equal(count->tally.dropped_packets, !strcmp(name, "real") ? 2 : 0);
	}
	assert_int_equal(packets_seen(&limiter), 10);
	limiter_close(&limiter);
	policy_free(&policy);
}

/* An observed limit for which there is no bucket drops nothing either. */
static void observe_without_bucket(void **state)
{
	struct limiter limiter;
	struct policy policy;
	unsigned int passed = 0;

	(void)state;
	yaml_policy(&policy, "table: {sources: 1024, new-sources: 1/h}\n"
			     "limits:\n"
			     "  - {name: trial, rate: 1/h, mode: observe}\n"
			     "  - {name: real, per: interface, rate: 1/h, burst: 1900}\n");
	limiter_open(&limiter, &policy, NULL);
	for (int i = 0; i < 2000; i++) {
		struct frame frame;

		frame_newcomer(&frame, i);
		passed += send_frame(&limiter, &frame) == XDP_PASS;
	}
	assert_int_equal(passed, 1900);
	assert_int_equal(packets_of(&limiter, REASON_GATE_CLOSED), 0);
	limiter_close(&limiter);
	policy_free(&policy);
}

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

int main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(nested_destinations),
		cmocka_unit_test(thirty_two_limits),
		cmocka_unit_test(per_prefix),
		cmocka_unit_test(ladder),
		cmocka_unit_test(per_destination),
		cmocka_unit_test(per_pair),
		cmocka_unit_test(per_interface),
		cmocka_unit_test(low_and_slow),
		cmocka_unit_test(observe),
		cmocka_unit_test(observe_without_bucket),
	};
	const size_t other_count = sizeof(others) / sizeof(others[0]);
	struct CMUnitTest tests[ROW_COUNT + sizeof(others) / sizeof(others[0])];

	memcpy(tests, others, sizeof(others));
	for (size_t i = 0; i < ROW_COUNT; i++)
		tests[other_count + i] = (struct CMUnitTest){
			.name = rows[i].name,
			.test_func = test_row,
			.initial_state = (void *)&rows[i],
		};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
