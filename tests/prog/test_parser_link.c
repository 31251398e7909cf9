// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Nothing of the link layer hides a packet: tags, PPPoE sessions, and what is not IP. */
#include "table.h"

#define TAG  0x8100
#define STAG 0x88a8

static const struct row rows[] = {
	{"plain IPv4", {.named = "P4U"}, CHARGED(CLIENT4)},
	{"O-073: plain IPv6", {.named = "P6U"}, CHARGED(CLIENT6)},

	{"O-064: 802.1Q", {.named = "PV8100"}, CHARGED(CLIENT4)},
	{"802.1ad", {.tags = {STAG}, IPV4(), UDP(), .payload = 4}, CHARGED(CLIENT4)},
	{"QinQ", {.tags = {STAG, TAG}, IPV4(), UDP()}, CHARGED(CLIENT4)},
	{"802.1Q in 802.1Q", {.tags = {TAG, TAG}, IPV4(), UDP()}, CHARGED(CLIENT4)},
	{"3 tags", {.tags = {STAG, STAG, TAG}, IPV4(), UDP()}, CHARGED(CLIENT4)},
	{"4 tags", {.tags = {TAG, STAG, TAG, STAG}, IPV4(), UDP()}, CHARGED(CLIENT4)},
	{"4 tags, IPv6", {.tags = {STAG, TAG, TAG, TAG}, IPV6(), TCP()}, CHARGED(CLIENT6)},
	{"5 tags", {.tags = {TAG, TAG, TAG, TAG, TAG}, IPV4(), UDP()}, MALFORMED},
	{"5 tags, IPv6", {.tags = {STAG, STAG, STAG, STAG, STAG}, IPV6(), UDP()}, MALFORMED},
	{"5 tags around nothing", {.tags = {TAG, TAG, TAG, TAG, TAG}}, MALFORMED},
	{"a priority tag (VLAN 0)",
	 {.tags = {TAG}, IPV4(), UDP(), .poke = {{.at = 15, .byte = 0}}},
	 CHARGED(CLIENT4)},
	{"the old QinQ type 0x9100, which Linux does not take off",
	 {.tags = {0x9100}, IPV4(), UDP()},
	 NON_IP},
	{"a tag around a type that is not IP",
	 {.tags = {TAG},
	  .payload = 46,
	  .poke = {{.at = 16, .byte = 0x88}, {.at = 17, .byte = 0xcc}}},
	 NON_IP},
	{"ARP in a tag",
	 {.tags = {TAG}, .payload = 28, .poke = {{.at = 16, .byte = 8}, {.at = 17, .byte = 6}}},
	 CONTROL},
	{"a tag that ends the frame", {.tags = {TAG}, IPV4(), UDP(), .cut_to = 14}, MALFORMED},
	{"half a tag", {.tags = {TAG}, IPV4(), UDP(), .cut_to = 17}, MALFORMED},

	{"O-074: PPPoE session", {.named = "PPPPOE"}, CHARGED(CLIENT4)},
	{"PPPoE, IPv6", {PPPOE(), IPV6(), UDP(), .payload = 4}, CHARGED(CLIENT6)},
	{"PPPoE in a tag", {.tags = {TAG}, PPPOE(), IPV4(), UDP()}, CHARGED(CLIENT4)},
	{"PPPoE in 4 tags",
	 {.tags = {STAG, TAG, TAG, TAG}, PPPOE(), IPV6(), TCP()},
	 CHARGED(CLIENT6)},
	{"PPPoE, another session", {PPPOE(.session = 0xffff), IPV4(), UDP()}, CHARGED(CLIENT4)},
	{"PPPoE with padding", {PPPOE(), IPV4(), UDP(), .pad_to = 60}, CHARGED(CLIENT4)},
	{"PPP protocol in one byte, IPv4",
	 {ETHERNET(.type = 0x8864), RAW("\x11\0\0\1\0\x1d\x21"), IPV4(), UDP()},
	 CHARGED(CLIENT4)},
	{"PPP protocol in one byte, IPv6",
	 {ETHERNET(.type = 0x8864), RAW("\x11\0\0\1\0\x31\x57"), IPV6(), UDP()},
	 CHARGED(CLIENT6)},
	{"a version that Linux does not look at",
	 {ETHERNET(.type = 0x8864), RAW("\x21\0\0\1\0\x1e\0\x21"), IPV4(), UDP()},
	 CHARGED(CLIENT4)},
	{"a code that Linux does not look at",
	 {PPPOE(.code = 0xa7), IPV4(), UDP()},
	 CHARGED(CLIENT4)},
	{"PPP LCP", {PPPOE(.protocol = 0xc021), .payload = 8}, NON_IP},
	{"PPP IPCP", {PPPOE(.protocol = 0x8021), .payload = 8}, NON_IP},
	{"PPP protocol 0x2021, which only ends like IPv4",
	 {PPPOE(.protocol = 0x2021), IPV4(), UDP()},
	 NON_IP},
	{"a PPPoE length beyond the frame", {PPPOE(.length = 31), IPV4(), UDP()}, MALFORMED},
	{"a PPPoE length of all", {PPPOE(.length = 30), IPV4(), UDP()}, CHARGED(CLIENT4)},
	{"a PPPoE length that cuts the packet", {PPPOE(.length = 29), IPV4(), UDP()}, MALFORMED},
	{"a PPPoE length that cuts the IP header", {PPPOE(.length = 21), IPV4(), UDP()}, MALFORMED},
	{"a PPPoE length of nothing", {PPPOE(.length = FRAME_ZERO), IPV4(), UDP()}, MALFORMED},
	{"a PPPoE length of half a protocol", {PPPOE(.length = 1), IPV4(), UDP()}, MALFORMED},
	{"half a PPPoE header", {.named = "PPPPOE", .cut_to = 18}, MALFORMED},
	{"PPPoE discovery", {ETHERNET(.type = 0x8863), .payload = 46}, NON_IP},

	{"ARP", {.named = "PARP"}, CONTROL},
	{"LLDP", {ETHERNET(.type = 0x88cc), .payload = 46}, NON_IP},
	{"MPLS", {ETHERNET(.type = 0x8847), .payload = 46}, NON_IP},
	{"802.3 with a length", {ETHERNET(.type = 0x0026), .payload = 46}, NON_IP},
	{"type 0", {ETHERNET(.type = FRAME_ZERO), .payload = 46}, NON_IP},
	{"O-071: 14 bytes that are not IP", {ETHERNET(.type = 0x88b5)}, NON_IP},
	{"O-071: 14 bytes that should be IPv4", {.named = "P4U", .cut_to = 14}, MALFORMED},
	{"O-071: 14 bytes that should be IPv6", {.named = "P6U", .cut_to = 14}, MALFORMED},
};

/* Any type that is neither IP, ARP, a tag nor a session is counted and passed. */
static void judges_every_ethertype(void **state)
{
	static const uint16_t known[] = {0x0800, 0x0806, 0x8100, 0x86dd, 0x8864, 0x88a8};
	const struct recipe recipe = {ETHERNET(.type = FRAME_ZERO), .payload = 46};
	uint64_t before = packets_of(&shared, REASON_NON_IP);
	struct frame frame;
	bool other;

	(void)state;
	cook(&recipe, &frame);
	for (unsigned int type = 0; type < 0x10000; type++) {
		frame.bytes[12] = (uint8_t)(type >> 8);
		frame.bytes[13] = (uint8_t)type;
		other = true;
		for (size_t i = 0; i < COUNT(known); i++)
			other &= known[i] != type;
		if (other)
			assert_int_equal(send_frame(&shared, &frame), XDP_PASS);
	}
	count_sent(0x10000 - COUNT(known));
	assert_int_equal(packets_of(&shared, REASON_NON_IP) - before, 0x10000 - COUNT(known));
}

int main(void)
{
	static const struct CMUnitTest sweeps[] = {
		cmocka_unit_test(judges_every_ethertype),
	};
	static const struct table table = {
		.name = "link layer",
		.rows = rows,
		.row_count = COUNT(rows),
		.sweeps = sweeps,
		.sweep_count = COUNT(sweeps),
	};

	return run_table(&table);
}
