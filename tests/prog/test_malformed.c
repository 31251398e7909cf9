// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * `malformed: pass` charges a source that could be read and nobody else; and under either policy
 * no frame, cut or changed anywhere, is aborted, miscounted or charged to a wrong source.
 */
#include <stdio.h>
#include <string.h>
#include "table.h"

#define TAG	   0x8100
#define CHAIN(...) .extensions = {__VA_ARGS__}
#define NOBODY	   NULL

/* clang-format off */
#define NINE EXT_ROUTING, EXT_ROUTING, EXT_ROUTING, EXT_ROUTING, EXT_ROUTING, EXT_ROUTING, \
	     EXT_ROUTING, EXT_ROUTING, EXT_ROUTING
#define LET_PASS(source) {.verdict = XDP_PASS, .reason = REASON_MALFORMED, .charged = (source)}
/* clang-format on */

static const struct row rows[] = {
	{"a good packet", {.named = "P4U"}, CHARGED(CLIENT4)},
	{"control traffic", {.named = "PNS"}, CONTROL},
	{"what is not IP", {ETHERNET(.type = 0x88cc), .payload = 46}, NON_IP},

	{"O-072: header length 0", {.named = "PIHL0"}, LET_PASS(CLIENT4)},
	{"O-071: 8 bytes of a header", {.named = "PSHORT"}, LET_PASS(NOBODY)},
	{"O-071: 14 bytes", {.named = "P4U", .cut_to = 14}, LET_PASS(NOBODY)},
	{"O-069: an extension header beyond the packet",
	 {.named = "P6HBH", .poke = {{.at = 55, .byte = 0xff}}},
	 LET_PASS(CLIENT6)},
	{"O-068: 9 extension headers", {IPV6(CHAIN(NINE)), UDP()}, LET_PASS(CLIENT6)},
	{"5 tags", {.tags = {TAG, TAG, TAG, TAG, TAG}, IPV4(), UDP()}, LET_PASS(NOBODY)},
	{"a PPPoE length beyond the frame", {PPPOE(.length = 99), IPV4(), UDP()}, LET_PASS(NOBODY)},
	{"a wrong version has no source", {IPV4(.version = 6), UDP()}, LET_PASS(NOBODY)},
	{"nor has one of IPv6", {IPV6(.version = 4), UDP()}, LET_PASS(NOBODY)},
	{"total length beyond the frame", {IPV4(.total_length = 99), UDP()}, LET_PASS(CLIENT4)},
	{"payload length beyond the frame", {IPV6(.payload_length = 99), UDP()}, LET_PASS(CLIENT6)},
	{"a UDP length beyond the packet", {IPV4(), UDP(.length = 99)}, LET_PASS(CLIENT4)},
	{"a TCP header of 16 bytes", {IPV6(), TCP(.data_offset = 4)}, LET_PASS(CLIENT6)},
	{"half an ICMP header", {IPV4(.protocol = 1), .payload = 4}, LET_PASS(CLIENT4)},
	{"a tiny first fragment",
	 {IPV4(.protocol = 6, .more_fragments = 1), .payload = 8},
	 LET_PASS(CLIENT4)},
	{"a solicitation that was cut is no control traffic",
	 {.named = "PNS", .cut_to = 80},
	 LET_PASS(CLIENT6)},
	{"DHCP with a bad length is no control traffic",
	 {IPV4(.source = "0.0.0.0"), UDP(.source_port = 68, .destination_port = 67, .length = 99)},
	 LET_PASS("0.0.0.0")},
	{"O-109: a forged mapped source shares ::/64, never IPv4's bucket",
	 {IPV6(.source = "::ffff:192.0.2.10"), UDP()},
	 LET_PASS("::")},
	{"O-109: any other of them shares it too",
	 {IPV6(.source = "::ffff:203.0.113.5"), TCP()},
	 LET_PASS("::1")},
};

/* A session that was cut claims more than there is: what is inside is not read. */
#define IN_SESSION 0xffff

/* Frames to cut and change: whose they are, and from which length on that can be read. */
static const struct cut {
	const char *name;
	struct recipe recipe;
	const char *source;
	uint32_t readable;
	uint32_t source_at; /* offset of the address */
} cuts[] = {
	{"P4U", {.named = "P4U"}, CLIENT4, 34, 26},
	{"P4S", {.named = "P4S"}, CLIENT4, 34, 26},
	{"P6U", {.named = "P6U"}, CLIENT6, 54, 22},
	{"PV8100", {.named = "PV8100"}, CLIENT4, 38, 30},
	{"PFRAG1", {.named = "PFRAG1"}, CLIENT4, 34, 26},
	{"PFRAGN", {.named = "PFRAGN"}, CLIENT4, 34, 26},
	{"P4OPT", {.named = "P4OPT"}, CLIENT4, 34, 26},
	{"PIHL0", {.named = "PIHL0"}, CLIENT4, 34, 26},
	{"PSHORT", {.named = "PSHORT"}, CLIENT4, 34, 26},
	{"P6HBH", {.named = "P6HBH"}, CLIENT6, 54, 22},
	{"P6CHAIN", {.named = "P6CHAIN"}, CLIENT6, 54, 22},
	{"P6FRAGN", {.named = "P6FRAGN"}, CLIENT6, 54, 22},
	{"PNS", {.named = "PNS"}, CLIENT6, 54, 22},
	{"PGRE", {.named = "PGRE"}, OTHER4, 34, 26},
	{"PPPPOE", {.named = "PPPPOE"}, CLIENT4, IN_SESSION, 34},
	{"ICMP in QinQ", {.tags = {0x88a8, TAG}, IPV4(), ICMP(), .payload = 20}, CLIENT4, 42, 34},
	{"SCTP", {IPV4(), SCTP()}, CLIENT4, 34, 26},
	{"4 tags, PPPoE, IPv6 and a chain",
	 {.tags = {TAG, TAG, TAG, TAG},
	  PPPOE(),
	  IPV6(CHAIN(EXT_HOP_BY_HOP, EXT_ROUTING, EXT_AUTHENTICATION, EXT_FRAGMENT)),
	  TCP(.data_offset = 7),
	  .payload = 8},
	 CLIENT6,
	 IN_SESSION,
	 46},
	{"one-byte PPP protocol",
	 {ETHERNET(.type = 0x8864), RAW("\x11\0\0\1\0\x31\x57"), IPV6(), UDP()},
	 CLIENT6,
	 IN_SESSION,
	 29},
};

/* Each prefix is malformed, since what it claims is gone; the source is charged if it is there. */
static void cut_everywhere(bool pass)
{
	struct frame frame;
	char name[64];

	for (size_t i = 0; i < COUNT(cuts); i++) {
		cook(&cuts[i].recipe, &frame);
		for (uint32_t length = 14; length < frame.built; length++) {
			struct outcome want = MALFORMED;

			if (pass)
				want = (struct outcome)LET_PASS(
					length < cuts[i].readable ? NOBODY : cuts[i].source);
			frame_truncate(&frame, length);
			snprintf(name, sizeof(name), "%s, first %u bytes", cuts[i].name, length);
			judge(name, &frame, &want);
		}
	}
}

static void judges_every_prefix_and_passes_it(void **state)
{
	(void)state;
	cut_everywhere(true);
}

static void judges_every_prefix_and_drops_it(void **state)
{
	(void)state;
	cut_everywhere(false);
}

/* All 256 values of the byte at @at. */
static void change_byte(struct frame *frame, uint32_t at)
{
	uint8_t original = frame->bytes[at];

	for (int value = 0; value < 256; value++) {
		int verdict;

		frame->bytes[at] = (uint8_t)value;
		verdict = send_frame(&shared, frame);
		if (verdict != XDP_PASS && verdict != XDP_DROP)
			fail_msg("byte %u = %d: returned %d", at, value, verdict);
	}
	frame->bytes[at] = original;
	count_sent(256);
}

static void change_every_byte(const struct cut *cut)
{
	uint32_t end = cut->source_at + (strchr(cut->source, ':') ? 16 : 4);
	struct frame frame;

	cook(&cut->recipe, &frame);
	for (uint32_t at = 12; at < frame.built; at++)
		if (at < cut->source_at || at >= end)
			change_byte(&frame, at);
}

/* Packets that limits passed, of all sources and of this one. */
static void count_charged(const char *source, uint64_t *all, uint64_t *its)
{
	const uint8_t id = shared.running.config.limits[0].id;
	struct counters counters;
	struct bucket bucket;

	assert_int_equal(read_counters(&shared.running, &counters), 0);
	*all = counters.limits[id].tally.passed_packets;
	*its = 0;
	if (!has_source(&shared, source))
		return;
	source_of(&shared, source, &bucket);
	*its = bucket.tally.passed_packets;
}

/* Whatever value a byte has: passed or dropped, counted once; if charged, then to its source. */
static void changes_every_byte(void **state)
{
	uint64_t all[2], its[2];

	(void)state;
	for (size_t i = 0; i < COUNT(cuts); i++) {
		count_charged(cuts[i].source, &all[0], &its[0]);
		change_every_byte(&cuts[i]);
		count_charged(cuts[i].source, &all[1], &its[1]);
		if (all[1] - all[0] != its[1] - its[0])
			fail_msg("%s: other sources were charged", cuts[i].name);
	}
}

/* Good and malformed packets of a source use up one bucket; beyond it they are refused alike. */
static void malformed_packets_meet_the_limit(void **state)
{
	static const struct outcome good = CHARGED(CLIENT4), bad = LET_PASS(CLIENT4),
				    refused = REFUSED(CLIENT4);
	struct policy policy = packet_policy("1/day", "3");
	struct frame packet, malformed;
	struct limiter limiter;

	(void)state;
	frame_named(&packet, P4U);
	frame_named(&malformed, PIHL0);
	policy.malformed = MALFORMED_PASS;
	open_limiter(&limiter, &policy, NULL);
	expect(&limiter, "malformed, first", &malformed, &bad);
	expect(&limiter, "good", &packet, &good);
	expect(&limiter, "malformed, second", &malformed, &bad);
	expect(&limiter, "malformed, beyond", &malformed, &refused);
	expect(&limiter, "good, beyond", &packet, &refused);
	limiter_close(&limiter);
}

/* O-109: with whole addresses as sources the forged ones still are not IPv4's. */
static void forged_sources_never_meet_ipv4(void **state)
{
	static const struct outcome forged = LET_PASS("::"), refused = REFUSED("::"),
				    real = CHARGED(CLIENT4);
	struct policy policy = packet_policy("1/day", "1");
	struct limiter limiter;
	struct frame fake, packet;

	(void)state;
	cook(&(struct recipe){IPV6(.source = "::ffff:" CLIENT4), UDP()}, &fake);
	frame_named(&packet, P4U);
	policy.malformed = MALFORMED_PASS;
	policy.ipv6_prefix = 128;
	open_limiter(&limiter, &policy, NULL);
	expect(&limiter, "forged", &fake, &forged);
	expect(&limiter, "forged, beyond", &fake, &refused);
	assert_false(has_source(&limiter, CLIENT4));
	assert_false(has_source(&limiter, "::ffff:" CLIENT4));
	expect(&limiter, "the real one", &packet, &real);
	limiter_close(&limiter);
}

static struct policy pass_malformed(void)
{
	struct policy policy = roomy_policy();

	policy.malformed = MALFORMED_PASS;
	return policy;
}

int main(void)
{
	static const struct CMUnitTest pass_sweeps[] = {
		cmocka_unit_test(judges_every_prefix_and_passes_it),
		cmocka_unit_test(changes_every_byte),
		cmocka_unit_test(malformed_packets_meet_the_limit),
		cmocka_unit_test(forged_sources_never_meet_ipv4),
	};
	static const struct CMUnitTest drop_sweeps[] = {
		cmocka_unit_test(judges_every_prefix_and_drops_it),
		cmocka_unit_test(changes_every_byte),
	};
	static const struct table tables[] = {
		{.name = "malformed: pass",
		 .policy = pass_malformed,
		 .rows = rows,
		 .row_count = COUNT(rows),
		 .sweeps = pass_sweeps,
		 .sweep_count = COUNT(pass_sweeps)},
		{.name = "malformed: drop",
		 .sweeps = drop_sweeps,
		 .sweep_count = COUNT(drop_sweeps)},
	};

	return run_table(&tables[0]) + run_table(&tables[1]);
}
