// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * IPv6 and its chains: real extension headers are walked, anything else ends the walk. Where the
 * walk went shows in what is found there: neighbour discovery is control traffic and not charged.
 */
#include <stdio.h>
#include <string.h>
#include "table.h"

#define ESP	       50
#define SOLICITATION   ICMPV6(.type = 135)
#define TOO_BIG	       ICMPV6(.type = 2)
#define HOP_BY_HOP     0
#define ROUTING	       43
#define FRAGMENT       44
#define AUTHENTICATION 51
#define NO_NEXT	       59
#define DESTINATION    60
#define UDP_PROTOCOL   17
#define CHAIN(...)     .extensions = {__VA_ARGS__}

/* clang-format off */
#define EIGHT EXT_DESTINATION, EXT_ROUTING, EXT_DESTINATION, EXT_ROUTING, EXT_DESTINATION, \
	      EXT_ROUTING, EXT_DESTINATION, EXT_ROUTING
/* clang-format on */

static const struct row rows[] = {
	{"O-073: UDP", {.named = "P6U"}, CHARGED(CLIENT6)},
	{"TCP", {IPV6(), TCP()}, CHARGED(CLIENT6)},
	{"another source", {IPV6(.source = OTHER6), UDP()}, CHARGED(OTHER6)},
	{"IPv4 in IPv6",
	 {IPV6(.source = OTHER6, .next_header = 4), .payload = 28},
	 CHARGED(OTHER6)},
	{"IPv6 in IPv6",
	 {IPV6(.source = OTHER6, .next_header = 41), .payload = 48},
	 CHARGED(OTHER6)},
	{"echo request", {IPV6(), ICMPV6()}, CHARGED(CLIENT6)},
	{"ICMPv6, 7 bytes", {IPV6(.next_header = 58), .payload = 7}, MALFORMED},
	{"ICMP over IPv6 is nothing to parse", {IPV6(.next_header = 1)}, CHARGED(CLIENT6)},

	{"version 4 under IPv6's type", {IPV6(.version = 4), UDP()}, MALFORMED},
	{"version 0", {IPV6(.version = FRAME_ZERO), UDP()}, MALFORMED},
	{"payload length one beyond", {IPV6(.payload_length = 9), UDP()}, MALFORMED},
	{"payload length 65535", {IPV6(.payload_length = 65535), UDP()}, MALFORMED},
	{"payload length that cuts UDP", {IPV6(.payload_length = 7), UDP()}, MALFORMED},
	{"payload length that hides bytes: all of the frame is charged",
	 {IPV6(.payload_length = 8), UDP(.length = 8), .payload = 1000},
	 CHARGED(CLIENT6)},
	{"payload length 0 with nothing to find",
	 {IPV6(.payload_length = FRAME_ZERO, .next_header = NO_NEXT), .payload = 8},
	 CHARGED(CLIENT6)},
	{"payload length 0 before UDP",
	 {IPV6(.payload_length = FRAME_ZERO), UDP(), .payload = 8},
	 MALFORMED},
	{"payload length that cuts the chain",
	 {IPV6(.payload_length = 7, CHAIN(EXT_DESTINATION)), UDP()},
	 MALFORMED},
	{"an extension header in the padding",
	 {IPV6(.next_header = DESTINATION), .pad_to = 80},
	 MALFORMED},

	{"O-068: hop-by-hop", {.named = "P6HBH"}, CHARGED(CLIENT6)},
	{"O-068: hop-by-hop and destination options", {.named = "P6CHAIN"}, CHARGED(CLIENT6)},
	{"hop-by-hop is walked",
	 {IPV6(.hop_limit = 255, CHAIN(EXT_HOP_BY_HOP)), SOLICITATION, .payload = 16},
	 CONTROL},
	{"destination options are walked",
	 {IPV6(.hop_limit = 255, CHAIN(EXT_DESTINATION)), SOLICITATION, .payload = 16},
	 CONTROL},
	{"routing is walked",
	 {IPV6(.hop_limit = 255, CHAIN(EXT_ROUTING)), SOLICITATION, .payload = 16},
	 CONTROL},
	{"authentication is walked",
	 {IPV6(.hop_limit = 255, CHAIN(EXT_AUTHENTICATION)), SOLICITATION, .payload = 16},
	 CONTROL},
	{"an atomic fragment is walked", {IPV6(CHAIN(EXT_FRAGMENT)), TOO_BIG}, CONTROL},
	{"a fragment header has no length, whatever stands there",
	 {IPV6(CHAIN(EXT_FRAGMENT)), TOO_BIG, .poke = {{.at = 55, .byte = 0xff}}},
	 CONTROL},
	{"the reserved bits make no fragment",
	 {IPV6(CHAIN(EXT_FRAGMENT)), TOO_BIG, .poke = {{.at = 57, .byte = 0x06}}},
	 CONTROL},
	{"all kinds together",
	 {IPV6(.hop_limit = 255, CHAIN(EXT_HOP_BY_HOP, EXT_DESTINATION, EXT_ROUTING,
				       EXT_AUTHENTICATION, EXT_DESTINATION)),
	  SOLICITATION},
	 CONTROL},
	{"mobility ends the walk",
	 {IPV6(.hop_limit = 255, CHAIN(EXT_MOBILITY)), SOLICITATION, .payload = 16},
	 CHARGED(CLIENT6)},
	{"HIP ends the walk",
	 {IPV6(.hop_limit = 255, CHAIN(EXT_HIP)), SOLICITATION, .payload = 16},
	 CHARGED(CLIENT6)},
	{"shim6 ends the walk",
	 {IPV6(.hop_limit = 255, CHAIN(EXT_SHIM6)), SOLICITATION, .payload = 16},
	 CHARGED(CLIENT6)},
	{"ESP ends the walk",
	 {IPV6(.hop_limit = 255, .next_header = ESP), SOLICITATION, .payload = 16},
	 CHARGED(CLIENT6)},
	{"no next header ends the walk",
	 {IPV6(.hop_limit = 255, .next_header = NO_NEXT), SOLICITATION, .payload = 16},
	 CHARGED(CLIENT6)},
	{"mobility behind a real header ends it too",
	 {IPV6(.hop_limit = 255, CHAIN(EXT_DESTINATION, EXT_MOBILITY)), SOLICITATION},
	 CHARGED(CLIENT6)},
	{"mobility without a byte", {IPV6(.next_header = 135)}, CHARGED(CLIENT6)},
	{"HIP without a byte", {IPV6(.next_header = 139)}, CHARGED(CLIENT6)},
	{"shim6 without a byte", {IPV6(.next_header = 140)}, CHARGED(CLIENT6)},
	{"ESP without a byte", {IPV6(.next_header = ESP)}, CHARGED(CLIENT6)},

	{"O-068: 8 headers", {IPV6(CHAIN(EIGHT)), UDP()}, CHARGED(CLIENT6)},
	{"8 headers are walked to the end", {IPV6(CHAIN(EIGHT)), TOO_BIG}, CONTROL},
	{"8 headers and a bad UDP length", {IPV6(CHAIN(EIGHT)), UDP(.length = 9)}, MALFORMED},
	{"O-068: 9 headers", {IPV6(CHAIN(EIGHT, EXT_DESTINATION)), UDP()}, MALFORMED},
	{"9 headers, the last a fragment", {IPV6(CHAIN(EIGHT, EXT_FRAGMENT)), UDP()}, MALFORMED},
	{"8 headers, then one that ends the walk",
	 {IPV6(CHAIN(EIGHT, EXT_MOBILITY)), UDP()},
	 CHARGED(CLIENT6)},
	{"8 headers, then none", {IPV6(CHAIN(EIGHT, EXT_NONE))}, CHARGED(CLIENT6)},
	{"12 headers",
	 {IPV6(CHAIN(EIGHT, EXT_ROUTING, EXT_ROUTING, EXT_ROUTING, EXT_ROUTING)), UDP()},
	 MALFORMED},

	{"O-069: a header of 2048 bytes in 28",
	 {.named = "P6HBH", .poke = {{.at = 55, .byte = 0xff}}},
	 MALFORMED},
	{"a second header of 2048 bytes",
	 {.named = "P6CHAIN", .poke = {{.at = 63, .byte = 0xff}}},
	 MALFORMED},
	{"an authentication header of 1028 bytes",
	 {IPV6(CHAIN(EXT_AUTHENTICATION)), UDP(), .poke = {{.at = 55, .byte = 0xff}}},
	 MALFORMED},
	{"an extension header, 7 bytes",
	 {IPV6(.next_header = DESTINATION), .payload = 7},
	 MALFORMED},
	{"a fragment header, 7 bytes", {IPV6(.next_header = FRAGMENT), .payload = 7}, MALFORMED},

	{"first fragment",
	 {IPV6(.more_fragments = 1, CHAIN(EXT_FRAGMENT)), UDP(), .payload = 8},
	 CHARGED(CLIENT6)},
	{"first fragment of a longer datagram",
	 {IPV6(.more_fragments = 1, CHAIN(EXT_FRAGMENT)), UDP(.length = 2000)},
	 CHARGED(CLIENT6)},
	{"an atomic fragment of a longer datagram",
	 {IPV6(CHAIN(EXT_FRAGMENT)), UDP(.length = 2000)},
	 MALFORMED},
	{"O-066: later fragment", {.named = "P6FRAGN"}, CHARGED(CLIENT6)},
	{"later fragment with more to come",
	 {IPV6(.fragment_offset = 1480, .more_fragments = 1, .next_header = UDP_PROTOCOL,
	       CHAIN(EXT_FRAGMENT)),
	  .payload = 8},
	 CHARGED(CLIENT6)},
	{"the smallest later fragment",
	 {IPV6(.fragment_offset = 8, .next_header = UDP_PROTOCOL, CHAIN(EXT_FRAGMENT)),
	  .payload = 1},
	 CHARGED(CLIENT6)},
	{"a later fragment at 32768, one bit of the offset",
	 {IPV6(.fragment_offset = 32768, .next_header = UDP_PROTOCOL, CHAIN(EXT_FRAGMENT)),
	  .payload = 1},
	 CHARGED(CLIENT6)},
	{"the farthest later fragment",
	 {IPV6(.fragment_offset = 65528, .next_header = UDP_PROTOCOL, CHAIN(EXT_FRAGMENT))},
	 CHARGED(CLIENT6)},
	{"later fragment of a chain: its bytes are no header",
	 {IPV6(.fragment_offset = 8, .next_header = DESTINATION, CHAIN(EXT_FRAGMENT)),
	  .payload = 3},
	 CHARGED(CLIENT6)},
	{"later fragment of a chain: what looks like a chain is not walked",
	 {IPV6(.fragment_offset = 8, CHAIN(EXT_FRAGMENT, EXT_DESTINATION)), TOO_BIG},
	 CHARGED(CLIENT6)},
	{"the eighth header makes a later fragment of a chain",
	 {IPV6(.fragment_offset = 8, .next_header = DESTINATION,
	       CHAIN(EXT_DESTINATION, EXT_ROUTING, EXT_DESTINATION, EXT_ROUTING, EXT_DESTINATION,
		     EXT_ROUTING, EXT_DESTINATION, EXT_FRAGMENT)),
	  .payload = 3},
	 CHARGED(CLIENT6)},
	{"later fragment of ICMPv6 with a byte",
	 {IPV6(.fragment_offset = 8, .next_header = 58, CHAIN(EXT_FRAGMENT)), .payload = 1},
	 CHARGED(CLIENT6)},
	{"a tiny first fragment that ends in the chain",
	 {IPV6(.more_fragments = 1, .next_header = DESTINATION, CHAIN(EXT_FRAGMENT)), .payload = 7},
	 MALFORMED},
	{"a tiny first fragment that ends before TCP",
	 {IPV6(.more_fragments = 1, .next_header = 6, CHAIN(EXT_FRAGMENT)), .payload = 8},
	 MALFORMED},
	{"a tiny first fragment without UDP's header",
	 {IPV6(.more_fragments = 1, .next_header = UDP_PROTOCOL, CHAIN(EXT_FRAGMENT))},
	 MALFORMED},

	{"O-109: a source in ::ffff:0:0/96 can't be real",
	 {IPV6(.source = "::ffff:192.0.2.10"), UDP()},
	 MALFORMED},
	{"O-109: nor with an extension header",
	 {IPV6(.source = "::ffff:192.0.2.10", CHAIN(EXT_DESTINATION)), UDP()},
	 MALFORMED},
	{"O-109: nor as control traffic",
	 {IPV6(.source = "::ffff:192.0.2.10"), TOO_BIG},
	 MALFORMED},
	{"only a source in ::ffff:0:0/96 is forged, not ::fffe:0:0/96",
	 {IPV6(.source = "::fffe:c000:20a"), UDP()},
	 CHARGED("::fffe:c000:20a")},
	{"nor 1::ffff:192.0.2.10",
	 {IPV6(.source = "1::ffff:192.0.2.10"), UDP()},
	 CHARGED("1::ffff:192.0.2.10")},
	{"nor ::1:ffff:192.0.2.10",
	 {IPV6(.source = "::1:ffff:192.0.2.10"), UDP()},
	 CHARGED("::1:ffff:192.0.2.10")},
	{"a destination in ::ffff:0:0/96 is not judged",
	 {IPV6(.destination = "::ffff:192.0.2.10"), UDP()},
	 CHARGED(CLIENT6)},
};

/* An extension header of @size bytes whose length byte says @length, then a solicitation. */
static void build_sized(struct frame *frame, int kind, unsigned int length, size_t size)
{
	static const uint8_t solicitation[24] = {135};
	uint8_t header[2048] = {58, (uint8_t)length};

	frame_start(frame);
	frame_ethernet(frame);
	frame_ipv6(frame, .hop_limit = 255, .next_header = kind ?: FRAME_ZERO);
	frame_bytes(frame, header, size);
	frame_bytes(frame, solicitation, sizeof(solicitation));
	frame_finish(frame);
}

/* O-069: each length is taken as it is; a header one byte too long for its frame is malformed. */
static void walks_every_length(void **state)
{
	static const struct {
		int kind;
		unsigned int unit, plus;
	} kinds[] = {
		{HOP_BY_HOP, 8, 1},
		{DESTINATION, 8, 1},
		{ROUTING, 8, 1},
		{AUTHENTICATION, 4, 2},
	};
	static const struct outcome control = CONTROL, malformed = MALFORMED;
	struct frame frame;
	char name[64];

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		for (unsigned int length = 0; length < 256; length++) {
			size_t size = (length + kinds[i].plus) * kinds[i].unit;

			snprintf(name, sizeof(name), "header %d, length %u", kinds[i].kind, length);
			build_sized(&frame, kinds[i].kind, length, size);
			clock_advance(&shared, NS_PER_SECOND / 1000);
			judge(name, &frame, &control);
			frame.bytes[18] = (uint8_t)((size - 1) >> 8); /* payload length */
			frame.bytes[19] = (uint8_t)(size - 1);
			judge(name, &frame, &malformed);
		}
	}
}

/* The kinds that are walked, and the protocols whose headers are looked for, need their bytes. */
static void judges_every_next_header(void **state)
{
	static const uint8_t walked[] = {HOP_BY_HOP, ROUTING, FRAGMENT, AUTHENTICATION,
					 DESTINATION};
	static const uint8_t parsed[] = {6, 17, 33, 58, 132, 136};
	static const struct outcome charged = CHARGED(CLIENT6), malformed = MALFORMED;
	char name[32];

	(void)state;
	for (int next = 0; next < 256; next++) {
		bool needy = memchr(walked, next, sizeof(walked)) ||
			     memchr(parsed, next, sizeof(parsed));

		snprintf(name, sizeof(name), "next header %d", next);
		judge_recipe(name, &(struct recipe){IPV6(.next_header = next ?: FRAME_ZERO)},
			     needy ? &malformed : &charged);
	}
}

/* Chains of one kind, from one header to more than are walked. */
static void judges_every_chain(void **state)
{
	static const uint8_t kinds[] = {EXT_HOP_BY_HOP, EXT_DESTINATION, EXT_ROUTING, EXT_FRAGMENT,
					EXT_AUTHENTICATION};
	static const struct outcome charged = CHARGED(CLIENT6), malformed = MALFORMED;
	char name[64];

	(void)state;
	for (size_t kind = 0; kind < sizeof(kinds); kind++) {
		struct ipv6_spec spec = {0};

		for (int count = 1; count <= 10; count++) {
			spec.extensions[count - 1] = kinds[kind];
			snprintf(name, sizeof(name), "%d times kind %zu", count, kind);
			judge_recipe(name, &(struct recipe){.ipv6 = &spec, UDP()},
				     count <= 8 ? &charged : &malformed);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest sweeps[] = {
		cmocka_unit_test(walks_every_length),
		cmocka_unit_test(judges_every_next_header),
		cmocka_unit_test(judges_every_chain),
	};
	static const struct table table = {
		.name = "IPv6",
		.rows = rows,
		.row_count = COUNT(rows),
		.sweeps = sweeps,
		.sweep_count = COUNT(sweeps),
	};

	return run_table(&table);
}
