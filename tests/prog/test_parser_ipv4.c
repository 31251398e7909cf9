// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* IPv4 and what follows it: header and total length, options, fragments, transport headers. */
#include <stdio.h>
#include "table.h"

#define UDP_LITE      136
#define DCCP	      33
#define ESP	      50
#define AH	      51
#define TEST_PROTOCOL 253

static const struct row rows[] = {
	{"O-097: 46 bytes of frame, 32 of IP: 46 are charged",
	 {.named = "P4U"},
	 {XDP_PASS, REASON_CONFORMING, CLIENT4, .packets = 1, .bytes = 46}},
	{"O-097: the same in a tag: 50 are charged",
	 {.named = "PV8100"},
	 {XDP_PASS, REASON_CONFORMING, CLIENT4, .packets = 1, .bytes = 50}},
	{"O-097: the same padded to the least of Ethernet: 60 are charged",
	 {.named = "P4U", .pad_to = 60},
	 {XDP_PASS, REASON_CONFORMING, CLIENT4, .packets = 1, .bytes = 60}},
	{"TCP", {.named = "P4S"}, CHARGED(CLIENT4)},
	{"another source", {IPV4(.source = OTHER4), UDP()}, CHARGED(OTHER4)},
	{"O-074: GRE is charged to its outer source", {.named = "PGRE"}, CHARGED(OTHER4)},
	{"IPv4 in IPv4", {IPV4(.source = OTHER4, .protocol = 4), .payload = 28}, CHARGED(OTHER4)},
	{"IPv6 in IPv4", {IPV4(.source = OTHER4, .protocol = 41), .payload = 48}, CHARGED(OTHER4)},
	{"ESP", {IPV4(.protocol = ESP), .payload = 8}, CHARGED(CLIENT4)},
	{"AH ends the walk in IPv4", {IPV4(.protocol = AH)}, CHARGED(CLIENT4)},
	{"an unknown protocol without a byte", {IPV4(.protocol = TEST_PROTOCOL)}, CHARGED(CLIENT4)},
	{"protocol 0 is no extension header here",
	 {IPV4(.protocol = FRAME_ZERO)},
	 CHARGED(CLIENT4)},

	{"version 6 under IPv4's type", {IPV4(.version = 6), UDP()}, MALFORMED},
	{"version 0", {IPV4(.version = FRAME_ZERO), UDP()}, MALFORMED},
	{"version 5", {IPV4(.version = 5), UDP()}, MALFORMED},
	{"O-071: 8 bytes of a header", {.named = "PSHORT"}, MALFORMED},
	{"O-072: header length 0", {.named = "PIHL0"}, MALFORMED},
	{"O-070: router alert", {.named = "P4OPT"}, CHARGED(CLIENT4)},
	{"options beyond the total length", {IPV4(.ihl = 15), UDP()}, MALFORMED},
	{"options up to the total length",
	 {IPV4(.ihl = 6, .protocol = TEST_PROTOCOL), .payload = 4},
	 CHARGED(CLIENT4)},
	{"options one word beyond it",
	 {IPV4(.ihl = 7, .protocol = TEST_PROTOCOL), .payload = 4},
	 MALFORMED},
	{"options in the padding",
	 {IPV4(.ihl = 7, .protocol = TEST_PROTOCOL), .payload = 4, .pad_to = 60},
	 MALFORMED},

	{"total length 0", {IPV4(.total_length = FRAME_ZERO), UDP()}, MALFORMED},
	{"total length below the header", {IPV4(.total_length = 19), UDP()}, MALFORMED},
	{"total length below the options",
	 {IPV4(.ihl = 6, .total_length = 23, .protocol = TEST_PROTOCOL), .payload = 8},
	 MALFORMED},
	{"total length of the header alone",
	 {IPV4(.total_length = 20, .protocol = TEST_PROTOCOL), .payload = 8},
	 CHARGED(CLIENT4)},
	{"total length one byte beyond the frame",
	 {IPV4(.total_length = 33), UDP(), .payload = 4},
	 MALFORMED},
	{"total length 65535", {IPV4(.total_length = 65535), UDP(), .payload = 4}, MALFORMED},
	{"total length that cuts the UDP header", {IPV4(.total_length = 27), UDP()}, MALFORMED},
	{"total length that hides bytes: all of the frame is charged",
	 {IPV4(.total_length = 28), UDP(.length = 8), .payload = 1000},
	 CHARGED(CLIENT4)},
	{"padding holds no UDP header", {IPV4(.total_length = 20), UDP(), .pad_to = 60}, MALFORMED},

	{"O-067: first fragment", {.named = "PFRAG1"}, CHARGED(CLIENT4)},
	{"O-066, O-067: last fragment", {.named = "PFRAGN"}, CHARGED(CLIENT4)},
	{"a later fragment in the middle",
	 {IPV4(.protocol = 17, .fragment_offset = 8, .more_fragments = 1), .payload = 8},
	 CHARGED(CLIENT4)},
	{"a later fragment that must not be fragmented",
	 {IPV4(.protocol = 17, .fragment_offset = 1480, .dont_fragment = 1), .payload = 3},
	 CHARGED(CLIENT4)},
	{"a first fragment that must not be fragmented",
	 {IPV4(.more_fragments = 1, .dont_fragment = 1), UDP(), .payload = 8},
	 CHARGED(CLIENT4)},
	{"a later fragment that overwrites TCP's flags",
	 {IPV4(.protocol = 6, .fragment_offset = 8), .payload = 8},
	 CHARGED(CLIENT4)},
	{"a later fragment at 32768, one bit of the offset",
	 {IPV4(.protocol = 17, .fragment_offset = 32768), .payload = 3},
	 CHARGED(CLIENT4)},
	{"a later fragment without a byte",
	 {IPV4(.protocol = 17, .fragment_offset = 65528)},
	 CHARGED(CLIENT4)},
	{"a later fragment shorter than its claim",
	 {IPV4(.protocol = 17, .fragment_offset = 8, .total_length = 100), .payload = 8},
	 MALFORMED},
	{"a tiny first fragment without UDP's length",
	 {IPV4(.protocol = 17, .more_fragments = 1), .payload = 7},
	 MALFORMED},
	{"a tiny first fragment with 8 bytes of TCP",
	 {IPV4(.protocol = 6, .more_fragments = 1), .payload = 8},
	 MALFORMED},
	{"a first fragment with UDP's header alone, of a longer datagram",
	 {IPV4(.more_fragments = 1), UDP(.length = 2000)},
	 CHARGED(CLIENT4)},
	{"a first fragment whose TCP options are in the next",
	 {IPV4(.more_fragments = 1), TCP(.data_offset = 15)},
	 CHARGED(CLIENT4)},
	{"a first fragment with a TCP header of 16 bytes",
	 {IPV4(.more_fragments = 1), TCP(.data_offset = 4)},
	 MALFORMED},
	{"the reserved bit makes no fragment: the UDP length is checked",
	 {IPV4(), UDP(.length = 2000), .poke = {{.at = 20, .byte = 0x80}}},
	 MALFORMED},
	{"don't-fragment makes no fragment either",
	 {IPV4(.dont_fragment = 1), UDP(.length = 2000)},
	 MALFORMED},

	{"UDP length 0 (all of a jumbogram)",
	 {IPV4(), UDP(.length = FRAME_ZERO)},
	 CHARGED(CLIENT4)},
	{"UDP length below its header", {IPV4(), UDP(.length = 7), .payload = 4}, MALFORMED},
	{"UDP length of its header", {IPV4(), UDP(.length = 8), .payload = 4}, CHARGED(CLIENT4)},
	{"UDP length of all", {IPV4(), UDP(.length = 12), .payload = 4}, CHARGED(CLIENT4)},
	{"UDP length one beyond", {IPV4(), UDP(.length = 13), .payload = 4}, MALFORMED},
	{"UDP length into the padding",
	 {IPV4(), UDP(.length = 13), .payload = 4, .pad_to = 60},
	 MALFORMED},
	{"UDP, 7 bytes", {IPV4(.protocol = 17), .payload = 7}, MALFORMED},
	{"UDP-Lite covers all",
	 {IPV4(.protocol = UDP_LITE), BODY("\1\1\1\1\0\0\0\0AAAA")},
	 CHARGED(CLIENT4)},
	{"UDP-Lite covers its header",
	 {IPV4(.protocol = UDP_LITE), BODY("\1\1\1\1\0\x8\0\0AAAA")},
	 CHARGED(CLIENT4)},
	{"UDP-Lite covers part of its header",
	 {IPV4(.protocol = UDP_LITE), BODY("\1\1\1\1\0\7\0\0AAAA")},
	 MALFORMED},
	{"TCP, 19 bytes", {IPV4(.protocol = 6), .payload = 19}, MALFORMED},
	{"TCP with 40 bytes of options",
	 {IPV4(), TCP(.data_offset = 15), .payload = 40},
	 CHARGED(CLIENT4)},
	{"TCP with one byte less", {IPV4(), TCP(.data_offset = 15), .payload = 39}, MALFORMED},
	{"TCP options in the padding", {IPV4(), TCP(.data_offset = 6), .pad_to = 60}, MALFORMED},
	{"SCTP", {IPV4(), SCTP()}, CHARGED(CLIENT4)},
	{"SCTP, 12 bytes", {IPV4(.protocol = 132), .payload = 12}, CHARGED(CLIENT4)},
	{"SCTP, 11 bytes", {IPV4(.protocol = 132), .payload = 11}, MALFORMED},
	{"DCCP, 12 bytes", {IPV4(.protocol = DCCP), .payload = 12}, CHARGED(CLIENT4)},
	{"DCCP, 11 bytes", {IPV4(.protocol = DCCP), .payload = 11}, MALFORMED},
	{"ICMP echo", {IPV4(), ICMP()}, CHARGED(CLIENT4)},
	{"ICMP, 8 bytes", {IPV4(.protocol = 1), .payload = 8}, CHARGED(CLIENT4)},
	{"ICMP, 7 bytes", {IPV4(.protocol = 1), .payload = 7}, MALFORMED},
	{"ICMPv6 over IPv4 is nothing to parse", {IPV4(.protocol = 58)}, CHARGED(CLIENT4)},
};

static void send_recipe(const char *name, const struct recipe *recipe, bool good)
{
	static const struct outcome charged = CHARGED(CLIENT4), malformed = MALFORMED;

	judge_recipe(name, recipe, good ? &charged : &malformed);
}

/* O-072: header lengths 0 to 4 are malformed; all others find UDP behind their options. */
static void judges_header_lengths(void **state)
{
	static const uint8_t options[40] = {[0 ... 39] = 1};
	char name[32];

	(void)state;
	for (int ihl = 0; ihl < 16; ihl++) {
		snprintf(name, sizeof(name), "ihl %d", ihl);
		send_recipe(name,
			    &(struct recipe){IPV4(.ihl = ihl ?: FRAME_ZERO, .options = options,
						  .options_size = ihl > 5 ? ihl * 4U - 20 : 0),
					     UDP()},
			    ihl >= 5);
	}
}

/* The length that UDP would claim is found where the options end, and nowhere else. */
static void judges_udp_behind_options(void **state)
{
	static const uint8_t options[40] = {[0 ... 39] = 1};
	char name[32];

	(void)state;
	for (size_t words = 0; words <= 10; words++) {
		snprintf(name, sizeof(name), "%zu words of options", words);
		send_recipe(name,
			    &(struct recipe){IPV4(.options = options, .options_size = words * 4),
					     UDP(.length = 9)},
			    false);
	}
}

static void judges_data_offsets(void **state)
{
	char name[32];

	(void)state;
	for (int doff = 0; doff < 16; doff++) {
		snprintf(name, sizeof(name), "doff %d", doff);
		send_recipe(name,
			    &(struct recipe){IPV4(), TCP(.data_offset = doff ?: FRAME_ZERO),
					     .payload = 40},
			    doff >= 5);
		send_recipe(name, &(struct recipe){IPV4(), TCP(.data_offset = doff ?: FRAME_ZERO)},
			    doff == 5);
	}
}

/* Only the listed protocols have a header that is looked for. */
static void judges_every_protocol(void **state)
{
	static const uint8_t parsed[] = {1, 6, 17, 33, 132, 136};
	char name[32];

	(void)state;
	for (int protocol = 0; protocol < 256; protocol++) {
		bool bare = true;

		for (size_t i = 0; i < COUNT(parsed); i++)
			bare &= parsed[i] != protocol;
		snprintf(name, sizeof(name), "protocol %d", protocol);
		if (protocol != 2) /* IGMP: see test_control.c */
			send_recipe(name,
				    &(struct recipe){IPV4(.protocol = protocol ?: FRAME_ZERO)},
				    bare);
	}
}

int main(void)
{
	static const struct CMUnitTest sweeps[] = {
		cmocka_unit_test(judges_header_lengths),
		cmocka_unit_test(judges_udp_behind_options),
		cmocka_unit_test(judges_data_offsets),
		cmocka_unit_test(judges_every_protocol),
	};
	static const struct table table = {
		.name = "IPv4",
		.rows = rows,
		.row_count = COUNT(rows),
		.sweeps = sweeps,
		.sweep_count = COUNT(sweeps),
	};

	return run_table(&table);
}
