// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The frame builder of the tests against the named frames, whose bytes were checked with tcpdump.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <arpa/inet.h>
#include <cmocka.h>

#include "frames.h"

#define TEST "TEST"

static void add_udp(struct frame *f)
{
	frame_udp(f);
	frame_bytes(f, TEST, 4);
}

static void build_p4u(struct frame *f)
{
	frame_ethernet(f);
	frame_ipv4(f);
	add_udp(f);
}

static void build_p4s(struct frame *f)
{
	frame_ethernet(f);
	frame_ipv4(f);
	frame_tcp(f, .destination_port = 22);
}

static void build_p6u(struct frame *f)
{
	frame_ethernet(f);
	frame_ipv6(f);
	add_udp(f);
}

static void build_pv8100(struct frame *f)
{
	frame_ethernet(f);
	frame_vlan(f, 0x8100, 10);
	frame_ipv4(f);
	add_udp(f);
}

static void build_pfrag1(struct frame *f)
{
	frame_ethernet(f);
	frame_ipv4(f, .id = 0x101, .more_fragments = 1);
	frame_udp(f, .length = 12, .checksum = 0x6635);
	frame_bytes(f, TEST "\0\0\0\0", 8);
}

static void build_pfragn(struct frame *f)
{
	frame_ethernet(f);
	frame_ipv4(f, .id = 0x101, .fragment_offset = 1480, .protocol = 17);
	frame_payload(f, 16);
}

static void build_p4opt(struct frame *f)
{
	frame_ethernet(f);
	frame_ipv4(f, .options = "\x94\x04\0", .options_size = 4);
	add_udp(f);
}

static void build_pihl0(struct frame *f)
{
	frame_ethernet(f);
	frame_ipv4(f, .ihl = FRAME_ZERO);
	add_udp(f);
}

static void build_p6hbh(struct frame *f)
{
	frame_ethernet(f);
	frame_ipv6(f, .extensions = {EXT_HOP_BY_HOP});
	add_udp(f);
}

static void build_p6chain(struct frame *f)
{
	frame_ethernet(f);
	frame_ipv6(f, .extensions = {EXT_HOP_BY_HOP, EXT_DESTINATION});
	add_udp(f);
}

static void build_p6fragn(struct frame *f)
{
	frame_ethernet(f);
	frame_ipv6(f, .extensions = {EXT_FRAGMENT}, .fragment_offset = 1480, .next_header = 17);
	frame_payload(f, 16);
}

static void build_parp(struct frame *f)
{
	frame_ethernet(f, .type = 0x0806);
	frame_bytes(f, "\0\1\x08\0\6\4\0\1", 8);
	frame_bytes(f, "\0\0\x5e\0\x53\2\xc0\0\2\x0a", 10);
	frame_bytes(f, "\0\0\0\0\0\0\xc0\0\2\1", 10);
}

static void build_pns(struct frame *f)
{
	struct in6_addr target;

	inet_pton(AF_INET6, "2001:db8:0:1::1", &target);
	frame_ethernet(f);
	frame_ipv6(f, .destination = "ff02::1:ff00:1", .hop_limit = 255);
	frame_icmpv6(f, .type = 135);
	frame_bytes(f, &target, 16);
	frame_bytes(f, "\1\1\0\0\x5e\0\x53\2", 8);
}

static void build_pgre(struct frame *f)
{
	frame_ethernet(f);
	frame_ipv4(f, .source = OTHER4);
	frame_gre(f);
	frame_ipv4(f);
	add_udp(f);
}

static void build_ppppoe(struct frame *f)
{
	frame_ethernet(f);
	frame_pppoe(f);
	frame_ipv4(f);
	add_udp(f);
}

static void (*const builders[NAMED_FRAME_COUNT])(struct frame *f) = {
	[P4U] = build_p4u,	 [P4S] = build_p4s,	    [P6U] = build_p6u,
	[PV8100] = build_pv8100, [PFRAG1] = build_pfrag1,   [PFRAGN] = build_pfragn,
	[P4OPT] = build_p4opt,	 [PIHL0] = build_pihl0,	    [PSHORT] = NULL, /* below */
	[P6HBH] = build_p6hbh,	 [P6CHAIN] = build_p6chain, [P6FRAGN] = build_p6fragn,
	[PARP] = build_parp,	 [PNS] = build_pns,	    [PGRE] = build_pgre,
	[PPPPOE] = build_ppppoe,
};

static void assert_same(const struct frame *built, const struct frame *named, const char *name)
{
	uint32_t i;

	for (i = 0; i < named->length && i < built->length; i++)
		if (built->bytes[i] != named->bytes[i])
			fail_msg("%s: byte %u is %02x, not %02x", name, i, built->bytes[i],
				 named->bytes[i]);
	if (built->length != named->length)
		fail_msg("%s: %u bytes, not %u", name, built->length, named->length);
}

static void builder_makes_every_named_frame(void **state)
{
	static struct frame built, named;
	int i;

	(void)state;
	for (i = 0; i < NAMED_FRAME_COUNT; i++) {
		frame_named(&named, i);
		if (!builders[i])
			continue;
		frame_start(&built);
		builders[i](&built);
		frame_finish(&built);
		assert_same(&built, &named, frame_name(i));
	}
}

static void truncated_frame_keeps_its_claims(void **state)
{
	static struct frame built, named;

	(void)state;
	frame_named(&named, PSHORT);
	frame_start(&built);
	frame_ethernet(&built);
	frame_ipv4(&built);
	frame_finish(&built);
	frame_truncate(&built, 22);
	assert_same(&built, &named, "PSHORT");
}

static void changed_source_is_as_if_built_so(void **state)
{
	static struct frame built, changed;
	struct in6_addr other6;
	struct in_addr other4;

	(void)state;
	inet_pton(AF_INET, OTHER4, &other4);
	inet_pton(AF_INET6, OTHER6, &other6);
	frame_start(&built);
	frame_ethernet(&built);
	frame_ipv4(&built, .source = OTHER4);
	add_udp(&built);
	frame_finish(&built);
	frame_start(&changed);
	build_p4u(&changed);
	frame_set_source(&changed, &other4);
	assert_same(&changed, &built, "IPv4");

	frame_start(&built);
	frame_ethernet(&built);
	frame_ipv6(&built, .source = OTHER6);
	add_udp(&built);
	frame_finish(&built);
	frame_start(&changed);
	build_p6u(&changed);
	frame_set_source(&changed, &other6);
	assert_same(&changed, &built, "IPv6");
}

static void sctp_has_crc32c(void **state)
{
	static struct frame f;

	(void)state;
	frame_start(&f);
	frame_ethernet(&f);
	frame_ipv4(&f);
	frame_sctp(&f);
	frame_finish(&f);
	assert_int_equal(f.length, 66);
	assert_memory_equal(f.bytes + 42, "\x34\x60\x4e\x29", 4); /* by another program */
}

static void odd_payload_is_summed_to_the_end(void **state)
{
	static struct frame f;

	(void)state;
	frame_start(&f);
	frame_ethernet(&f);
	frame_ipv4(&f);
	frame_udp(&f);
	frame_payload(&f, 5);
	frame_finish(&f);
	assert_int_equal(f.length, 47);
	assert_int_equal(f.bytes[40] << 8 | f.bytes[41], 0x4a4a); /* by another program */
}

static void overrides_are_kept(void **state)
{
	static struct frame f;

	(void)state;
	frame_start(&f);
	frame_ethernet(&f);
	frame_ipv4(&f, .total_length = 9999, .checksum = FRAME_ZERO, .protocol = 6);
	frame_udp(&f, .length = FRAME_ZERO, .checksum = FRAME_ZERO);
	frame_finish(&f);
	assert_int_equal(f.bytes[16] << 8 | f.bytes[17], 9999);
	assert_int_equal(f.bytes[23], 6);
	assert_int_equal(f.bytes[24] << 8 | f.bytes[25], 0);
	assert_int_equal(f.bytes[38] << 8 | f.bytes[39], 0);
	assert_int_equal(f.bytes[40] << 8 | f.bytes[41], 0);
}

static void bad_hex_is_refused(void **state)
{
	static const char *const bad[] = {"", "0", "0g", "00 00", "0x00"};
	static struct frame f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_true(frame_from_hex(&f, bad[i]) < 0);
	assert_true(frame_by_name(&f, "P4X") < 0);
	assert_int_equal(frame_by_name(&f, "PARP"), 0);
	assert_int_equal(f.length, 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(builder_makes_every_named_frame),
		cmocka_unit_test(truncated_frame_keeps_its_claims),
		cmocka_unit_test(changed_source_is_as_if_built_so),
		cmocka_unit_test(sctp_has_crc32c),
		cmocka_unit_test(odd_payload_is_summed_to_the_end),
		cmocka_unit_test(overrides_are_kept),
		cmocka_unit_test(bad_hex_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
