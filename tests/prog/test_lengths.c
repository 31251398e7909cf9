// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Bytes are those of the frame, whatever its headers claim and however many buffers it takes; and
 * without help from the kernel, a merged frame in generic mode counts as its estimated segments.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "table.h"

#define CHAIN(...) .extensions = {__VA_ARGS__}

/* clang-format off */
#define OF(source, packets_, bytes_)                                                              \
	{.verdict = XDP_PASS, .reason = REASON_CONFORMING, .charged = (source),                   \
	 .packets = (packets_), .bytes = (bytes_)}
/* clang-format on */

/* Headers of P4U take 42 bytes: a payload of 8000 makes 8042. */
static const struct row whole_frames[] = {
	{"46 bytes", {.named = "P4U"}, OF(CLIENT4, 1, 46)},
	{"O-097: padding counts", {.named = "P4U", .pad_to = 60}, OF(CLIENT4, 1, 60)},
	{"a full frame", {IPV4(), UDP(), .payload = 1472}, OF(CLIENT4, 1, 1514)},
	{"a full frame in two tags",
	 {.tags = {0x88a8, 0x8100}, IPV4(), UDP(), .payload = 1472},
	 OF(CLIENT4, 1, 1522)},
	{"O-059: 8042 bytes", {IPV4(), UDP(), .payload = 8000}, OF(CLIENT4, 1, 8042)},
	{"9000 bytes", {IPV4(), UDP(), .payload = 8958}, OF(CLIENT4, 1, 9000)},
	{"9014 bytes of IPv6", {IPV6(), TCP(), .payload = 8940}, OF(CLIENT6, 1, 9014)},
	{"a jumbo in tags and a session",
	 {.tags = {0x88a8, 0x8100}, PPPOE(), IPV4(), UDP(), .payload = 8942},
	 OF(CLIENT4, 1, 9000)},
	{"9000 bytes whose IP length says 28",
	 {IPV4(.total_length = 28), UDP(.length = 8), .payload = 8958},
	 OF(CLIENT4, 1, 9000)},
	{"9000 bytes whose IPv6 length says 8",
	 {IPV6(.payload_length = 8), UDP(.length = 8), .payload = 8938},
	 OF(CLIENT6, 1, 9000)},
	{"a jumbo whose IP length says one more",
	 {IPV4(.total_length = 8987), UDP(), .payload = 8958},
	 MALFORMED},
	{"a jumbo that is not IP", {ETHERNET(.type = 0x88cc), .payload = 8986}, NON_IP},
	{"a jumbo fragment",
	 {IPV4(.protocol = 17, .fragment_offset = 8), .payload = 8966},
	 OF(CLIENT4, 1, 9000)},
	{"total length 0 is no merged frame here",
	 {IPV4(.total_length = FRAME_ZERO), UDP(), .payload = 8958},
	 MALFORMED},
};

static const struct limiter_facts asked = {.no_skb_facts = true, .may_have_frags = true};
static const struct limiter_facts estimated = {
	.generic = true, .no_skb_facts = true, .may_have_frags = true};

/* One frame of up to 1514 bytes and a tag for each packet that the wire carried. */
static const struct row merged_frames[] = {
	{"46 bytes", {.named = "P4U"}, OF(CLIENT4, 1, 46)},
	{"a full frame", {IPV4(), UDP(), .payload = 1472}, OF(CLIENT4, 1, 1514)},
	{"a full frame and a tag", {IPV4(), UDP(), .payload = 1476}, OF(CLIENT4, 1, 1518)},
	{"one byte more: two, the headers twice",
	 {IPV4(), UDP(), .payload = 1477},
	 OF(CLIENT4, 2, 1519 + 42)},
	{"3028 bytes", {IPV4(), UDP(), .payload = 2986}, OF(CLIENT4, 2, 3028 + 42)},
	{"3029 bytes", {IPV4(), UDP(), .payload = 2987}, OF(CLIENT4, 3, 3029 + 2 * 42)},
	{"9000 bytes", {IPV4(), UDP(), .payload = 8958}, OF(CLIENT4, 6, 9000 + 5 * 42)},
	{"9000 bytes of TCP with 12 bytes of options",
	 {IPV4(), TCP(.data_offset = 8), .payload = 8946},
	 OF(CLIENT4, 6, 9000 + 5 * 66)},
	{"9000 bytes of IPv6 in a tag",
	 {.tags = {0x8100}, IPV6(), TCP(), .payload = 8922},
	 OF(CLIENT6, 6, 9000 + 5 * 78)},
	{"9000 bytes behind an extension header",
	 {IPV6(CHAIN(EXT_DESTINATION)), UDP(), .payload = 8930},
	 OF(CLIENT6, 6, 9000 + 5 * 70)},
	{"what is not IP counts as it is", {ETHERNET(.type = 0x88cc), .payload = 8986}, NON_IP},
	{"so does what is malformed", {IPV4(.ihl = 4), UDP(), .payload = 8958}, MALFORMED},
};

/* Where the first buffer ends: the frame is whole on both sides of it. */
static void charges_every_length_near_a_page(void **state)
{
	static const struct outcome charged = CHARGED(CLIENT4);
	char name[32];

	(void)state;
	for (size_t payload = 3300; payload < 4200; payload++) {
		snprintf(name, sizeof(name), "payload of %zu", payload);
		judge_recipe(name, &(struct recipe){IPV4(), UDP(), .payload = payload}, &charged);
	}
}

/* Bytes are what a byte limit counts, up to the last. */
static void a_byte_limit_counts_jumbos(void **state)
{
	static const struct outcome charged = CHARGED(CLIENT4), refused = REFUSED(CLIENT4);
	struct frame jumbo, small;
	struct limiter limiter;
	struct policy policy;

	(void)state;
	policy_defaults(&policy);
	policy.sources = SOURCES_MIN;
	add_byte_limit(&policy, "1 MB/s", "9092 B");
	cook(&(struct recipe){IPV4(), UDP(), .payload = 8958}, &jumbo);
	frame_named(&small, P4U);
	open_limiter(&limiter, &policy, NULL);
	expect(&limiter, "9000 of 9092", &jumbo, &charged);
	expect(&limiter, "9000 more", &jumbo, &refused);
	expect(&limiter, "46", &small, &charged);
	expect(&limiter, "the last 46", &small, &charged);
	expect(&limiter, "46 too many", &small, &refused);
	limiter_close(&limiter);
}

/* The parser reads the first buffer only: no honest chain of headers is longer. */
static void headers_behind_the_first_buffer_are_malformed(void **state)
{
	static const uint8_t options[2][2] = {{60, 255}, {17, 255}};
	static const uint8_t rest[2046];
	static const struct outcome malformed = MALFORMED;
	struct frame frame;

	(void)state;
	frame_start(&frame);
	frame_ethernet(&frame);
	frame_ipv6(&frame, .next_header = 60);
	for (size_t i = 0; i < 2; i++) {
		frame_bytes(&frame, options[i], sizeof(options[i]));
		frame_bytes(&frame, rest, sizeof(rest));
	}
	frame_udp(&frame);
	frame_payload(&frame, 4);
	frame_finish(&frame);
	judge("two headers of 2048 bytes", &frame, &malformed);
}

/* BIG TCP: more than 16 bits of length can say, so they say 0. */
static void merges_beyond_64k(void **state)
{
	enum { SIZE = 66000, HEADERS = 54, SEGMENTS = 44 };
	static uint8_t bytes[SIZE];
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = bytes, .data_size_in = SIZE);
	struct bucket before, after;
	struct frame frame;

	(void)state;
	cook(&(struct recipe){IPV4(.total_length = FRAME_ZERO), TCP()}, &frame);
	memcpy(bytes, frame.bytes, frame.length);
	source_of(&shared, CLIENT4, &before);
	if (bpf_prog_test_run_opts(shared.running.program, &run))
		fail_msg("BPF_PROG_TEST_RUN: %s", strerror(errno));
	source_of(&shared, CLIENT4, &after);
	assert_int_equal(run.retval, XDP_PASS);
	assert_int_equal(after.tally.passed_packets - before.tally.passed_packets, SEGMENTS);
	assert_int_equal(after.tally.passed_bytes - before.tally.passed_bytes,
			 SIZE + (SEGMENTS - 1) * HEADERS);
	count_sent(SEGMENTS);
}

/* What is attached before Linux 6.2 is another object, with an answer of its own. */
static void judge_attachable(const struct limiter_facts *facts, const struct outcome *want)
{
	struct policy policy = packet_policy("1/h", "10");
	struct limiter limiter;
	struct frame frame;

	cook(&(struct recipe){IPV4(), UDP(), .payload = 8958}, &frame);
	limiter_open_attachable(&limiter, &policy, facts);
	expect(&limiter, facts->generic ? "generic" : "native", &frame, want);
	limiter_close(&limiter);
}

static void the_attached_object_estimates_too(void **state)
{
	static const struct outcome whole = OF(CLIENT4, 1, 9000);
	static const struct outcome merged = OF(CLIENT4, 6, 9000 + 5 * 42);

	(void)state;
	judge_attachable(&asked, &whole);
	judge_attachable(&estimated, &merged);
}

int main(void)
{
	static const struct CMUnitTest whole[] = {
		cmocka_unit_test(charges_every_length_near_a_page),
		cmocka_unit_test(a_byte_limit_counts_jumbos),
		cmocka_unit_test(headers_behind_the_first_buffer_are_malformed),
	};
	static const struct CMUnitTest merged[] = {
		cmocka_unit_test(merges_beyond_64k),
		cmocka_unit_test(the_attached_object_estimates_too),
	};
	static const struct table tables[] = {
		{.name = "whole frames, fragments seen in the buffer",
		 .rows = whole_frames,
		 .row_count = COUNT(whole_frames),
		 .sweeps = whole,
		 .sweep_count = COUNT(whole)},
		{.name = "whole frames, length asked for",
		 .facts = &asked,
		 .rows = whole_frames,
		 .row_count = COUNT(whole_frames),
		 .sweeps = whole,
		 .sweep_count = COUNT(whole)},
		{.name = "merged frames, segments estimated",
		 .facts = &estimated,
		 .rows = merged_frames,
		 .row_count = COUNT(merged_frames),
		 .sweeps = merged,
		 .sweep_count = COUNT(merged)},
	};
	int failed = 0;

	for (size_t i = 0; i < COUNT(tables); i++)
		failed += run_table(&tables[i]);
	return failed;
}
