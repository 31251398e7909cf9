// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The traffic that a network dies without is neither dropped nor charged, what only looks like it
 * is, and its budget keeps it from being a way around. The table's limit admits nothing.
 */
#include "table.h"

#define LINK_LOCAL6 "fe80::1"
#define LINK_LOCAL4 "169.254.1.1"
#define NOBODY4	    "0.0.0.0"
#define NOBODY6	    "::"

#define BUDGET	 1000
#define MS	 (NS_PER_SECOND / 1000)
#define IGMP	 2
#define UDP_LITE 136

#define FROM4(from, ...) IPV4(.source = (from), ##__VA_ARGS__)
#define FROM6(from, ...) IPV6(.source = (from), ##__VA_ARGS__)
#define PORTS(from, to)	 UDP(.source_port = (from), .destination_port = (to))
#define CHAIN(...)	 .extensions = {__VA_ARGS__}

static const struct row rows[] = {
	{"ordinary IPv4 is refused here", {.named = "P4U"}, REFUSED(CLIENT4)},
	{"ordinary IPv6 is refused here", {.named = "P6U"}, REFUSED(CLIENT6)},

	{"O-024: ARP", {.named = "PARP"}, CONTROL},
	{"ARP of one byte", {.named = "PARP", .cut_to = 15}, CONTROL},
	{"RARP is not ARP", {ETHERNET(.type = 0x8035), .payload = 46}, NON_IP},

	{"O-024, O-025: neighbour solicitation", {.named = "PNS"}, CONTROL},
	{"O-025: router solicitation", {IPV6(.hop_limit = 255), ICMPV6(.type = 133)}, CONTROL},
	{"O-025: router advertisement",
	 {FROM6(LINK_LOCAL6, .hop_limit = 255), ICMPV6(.type = 134)},
	 CONTROL},
	{"O-025: neighbour solicitation of an address in doubt",
	 {FROM6(NOBODY6, .hop_limit = 255), ICMPV6(.type = 135), .payload = 16},
	 CONTROL},
	{"O-025: neighbour advertisement", {IPV6(.hop_limit = 255), ICMPV6(.type = 136)}, CONTROL},
	{"O-025: redirect", {IPV6(.hop_limit = 255), ICMPV6(.type = 137)}, CONTROL},
	{"neighbour discovery in tags",
	 {.tags = {0x88a8, 0x8100}, IPV6(.hop_limit = 255), ICMPV6(.type = 136)},
	 CONTROL},
	{"router solicitation, forwarded",
	 {IPV6(.hop_limit = 254), ICMPV6(.type = 133)},
	 REFUSED(CLIENT6)},
	{"router advertisement, forwarded",
	 {IPV6(.hop_limit = 254), ICMPV6(.type = 134)},
	 REFUSED(CLIENT6)},
	{"neighbour solicitation, forwarded",
	 {IPV6(.hop_limit = 254), ICMPV6(.type = 135)},
	 REFUSED(CLIENT6)},
	{"neighbour advertisement, forwarded",
	 {IPV6(.hop_limit = 254), ICMPV6(.type = 136)},
	 REFUSED(CLIENT6)},
	{"redirect, forwarded", {IPV6(.hop_limit = 254), ICMPV6(.type = 137)}, REFUSED(CLIENT6)},
	{"hop limit 1", {IPV6(.hop_limit = 1), ICMPV6(.type = 135)}, REFUSED(CLIENT6)},
	{"hop limit 0", {IPV6(.hop_limit = FRAME_ZERO), ICMPV6(.type = 135)}, REFUSED(CLIENT6)},
	{"router solicitation with a code",
	 {IPV6(.hop_limit = 255), ICMPV6(.type = 133, .code = 1)},
	 REFUSED(CLIENT6)},
	{"neighbour solicitation with a code",
	 {IPV6(.hop_limit = 255), ICMPV6(.type = 135, .code = 1)},
	 REFUSED(CLIENT6)},
	{"redirect with a code",
	 {IPV6(.hop_limit = 255), ICMPV6(.type = 137, .code = 255)},
	 REFUSED(CLIENT6)},
	{"router renumbering is not discovery",
	 {IPV6(.hop_limit = 255), ICMPV6(.type = 138)},
	 REFUSED(CLIENT6)},
	{"echo request with hop limit 255", {IPV6(.hop_limit = 255), ICMPV6()}, REFUSED(CLIENT6)},
	{"neighbour solicitation, first fragment",
	 {IPV6(.hop_limit = 255, .more_fragments = 1, CHAIN(EXT_FRAGMENT)), ICMPV6(.type = 135)},
	 REFUSED(CLIENT6)},
	{"later fragment whose bytes look like a solicitation",
	 {IPV6(.hop_limit = 255, .fragment_offset = 8, CHAIN(EXT_FRAGMENT)), ICMPV6(.type = 135)},
	 REFUSED(CLIENT6)},
	{"neighbour solicitation as IPv4's payload",
	 {IPV4(.ttl = 255), ICMPV6(.type = 135)},
	 REFUSED(CLIENT4)},

	{"O-025: packet too big", {IPV6(), ICMPV6(.type = 2)}, CONTROL},
	{"packet too big from afar", {IPV6(.hop_limit = 3), ICMPV6(.type = 2)}, CONTROL},
	{"packet too big with a code", {IPV6(), ICMPV6(.type = 2, .code = 1)}, REFUSED(CLIENT6)},
	{"packet too big, first fragment",
	 {IPV6(.more_fragments = 1, CHAIN(EXT_FRAGMENT)), ICMPV6(.type = 2)},
	 REFUSED(CLIENT6)},
	{"destination unreachable, IPv6", {IPV6(), ICMPV6(.type = 1)}, REFUSED(CLIENT6)},
	{"time exceeded, IPv6", {IPV6(), ICMPV6(.type = 3)}, REFUSED(CLIENT6)},

	{"fragmentation needed", {IPV4(), ICMP(.type = 3, .code = 4)}, CONTROL},
	{"fragmentation needed behind options",
	 {IPV4(.options = "\1\1\1", .options_size = 4), ICMP(.type = 3, .code = 4)},
	 CONTROL},
	{"port unreachable", {IPV4(), ICMP(.type = 3, .code = 3)}, REFUSED(CLIENT4)},
	{"source route failed", {IPV4(), ICMP(.type = 3, .code = 5)}, REFUSED(CLIENT4)},
	{"source quench with code 4", {IPV4(), ICMP(.type = 4, .code = 4)}, REFUSED(CLIENT4)},
	{"time exceeded with code 4", {IPV4(), ICMP(.type = 11, .code = 4)}, REFUSED(CLIENT4)},
	{"echo request", {IPV4(), ICMP()}, REFUSED(CLIENT4)},
	{"fragmentation needed, first fragment",
	 {IPV4(.more_fragments = 1), ICMP(.type = 3, .code = 4)},
	 REFUSED(CLIENT4)},
	{"later fragment whose bytes look like fragmentation needed",
	 {IPV4(.fragment_offset = 8), ICMP(.type = 3, .code = 4)},
	 REFUSED(CLIENT4)},
	{"fragmentation needed as IPv6's payload",
	 {IPV6(), ICMP(.type = 3, .code = 4)},
	 REFUSED(CLIENT6)},

	{"MLD query", {FROM6(LINK_LOCAL6, .hop_limit = 1), ICMPV6(.type = 130)}, CONTROL},
	{"MLD report", {FROM6(LINK_LOCAL6, .hop_limit = 1), ICMPV6(.type = 131)}, CONTROL},
	{"MLD done", {FROM6(LINK_LOCAL6, .hop_limit = 1), ICMPV6(.type = 132)}, CONTROL},
	{"MLDv2 report with router alert",
	 {FROM6(LINK_LOCAL6, .hop_limit = 1, CHAIN(EXT_HOP_BY_HOP)), ICMPV6(.type = 143)},
	 CONTROL},
	{"MLDv2 report without an address yet",
	 {FROM6(NOBODY6, .hop_limit = 1, CHAIN(EXT_HOP_BY_HOP)), ICMPV6(.type = 143)},
	 CONTROL},
	{"MLD report from a global address",
	 {IPV6(.hop_limit = 1), ICMPV6(.type = 131)},
	 REFUSED(CLIENT6)},
	{"MLDv2 report from a global address",
	 {IPV6(.hop_limit = 1), ICMPV6(.type = 143)},
	 REFUSED(CLIENT6)},
	{"MLD query with hop limit 2",
	 {FROM6(LINK_LOCAL6, .hop_limit = 2), ICMPV6(.type = 130)},
	 REFUSED(LINK_LOCAL6)},
	{"MLD query with hop limit 255",
	 {FROM6(LINK_LOCAL6, .hop_limit = 255), ICMPV6(.type = 130)},
	 REFUSED(LINK_LOCAL6)},
	{"echo reply with hop limit 1",
	 {FROM6(LINK_LOCAL6, .hop_limit = 1), ICMPV6(.type = 129)},
	 REFUSED(LINK_LOCAL6)},
	{"router solicitation with hop limit 1",
	 {FROM6(LINK_LOCAL6, .hop_limit = 1), ICMPV6(.type = 133)},
	 REFUSED(LINK_LOCAL6)},
	{"inverse solicitation with hop limit 1",
	 {FROM6(LINK_LOCAL6, .hop_limit = 1), ICMPV6(.type = 141)},
	 REFUSED(LINK_LOCAL6)},
	{"home agent discovery with hop limit 1",
	 {FROM6(LINK_LOCAL6, .hop_limit = 1), ICMPV6(.type = 144)},
	 REFUSED(LINK_LOCAL6)},

	{"IGMP", {IPV4(.ttl = 1, .protocol = IGMP), .payload = 8}, CONTROL},
	{"IGMP with router alert",
	 {IPV4(.ttl = 1, .protocol = IGMP, .options = "\x94\4\0", .options_size = 4), .payload = 8},
	 CONTROL},
	{"IGMP with TTL 2", {IPV4(.ttl = 2, .protocol = IGMP), .payload = 8}, REFUSED(CLIENT4)},
	{"IGMP with TTL 0",
	 {IPV4(.ttl = FRAME_ZERO, .protocol = IGMP), .payload = 8},
	 REFUSED(CLIENT4)},
	{"IGMP with TTL 255", {IPV4(.ttl = 255, .protocol = IGMP), .payload = 8}, REFUSED(CLIENT4)},
	{"IGMP, first fragment",
	 {IPV4(.ttl = 1, .protocol = IGMP, .more_fragments = 1), .payload = 8},
	 REFUSED(CLIENT4)},
	{"IGMP, later fragment",
	 {IPV4(.ttl = 1, .protocol = IGMP, .fragment_offset = 8), .payload = 8},
	 REFUSED(CLIENT4)},
	{"IGMP's number in IPv6",
	 {IPV6(.hop_limit = 1, .next_header = IGMP), .payload = 8},
	 REFUSED(CLIENT6)},
	{"UDP with TTL 1", {IPV4(.ttl = 1), UDP()}, REFUSED(CLIENT4)},

	{"DHCP discover", {FROM4(NOBODY4), PORTS(68, 67), .payload = 240}, CONTROL},
	{"DHCP from a link-local address", {FROM4(LINK_LOCAL4), PORTS(68, 67)}, CONTROL},
	{"DHCP offer from a link-local server", {FROM4(LINK_LOCAL4), PORTS(67, 68)}, CONTROL},
	{"DHCP in tags", {.tags = {0x8100}, FROM4(NOBODY4), PORTS(68, 67)}, CONTROL},
	{"O-070: DHCP behind options",
	 {FROM4(NOBODY4, .options = "\x94\4\0", .options_size = 4), PORTS(68, 67)},
	 CONTROL},
	{"O-070: options that read like DHCP's ports",
	 {FROM4(NOBODY4, .options = "\0\x44\0\x43\0\x14\0", .options_size = 8), UDP()},
	 REFUSED(NOBODY4)},
	{"the first of link-local", {FROM4("169.254.0.0"), PORTS(68, 67)}, CONTROL},
	{"the last of link-local", {FROM4("169.254.255.255"), PORTS(68, 67)}, CONTROL},
	{"before link-local",
	 {FROM4("169.253.255.255"), PORTS(68, 67)},
	 REFUSED("169.253.255.255")},
	{"after link-local", {FROM4("169.255.0.0"), PORTS(68, 67)}, REFUSED("169.255.0.0")},
	{"DHCP from 0.0.0.1", {FROM4("0.0.0.1"), PORTS(68, 67)}, REFUSED("0.0.0.1")},
	{"DHCP renewal of an ordinary address", {IPV4(), PORTS(68, 67)}, REFUSED(CLIENT4)},
	{"DHCP from an ordinary server", {IPV4(), PORTS(67, 68)}, REFUSED(CLIENT4)},
	{"DHCP between servers", {FROM4(NOBODY4), PORTS(67, 67)}, REFUSED(NOBODY4)},
	{"DHCP between clients", {FROM4(NOBODY4), PORTS(68, 68)}, REFUSED(NOBODY4)},
	{"from DHCP's port to another", {FROM4(NOBODY4), PORTS(68, 53)}, REFUSED(NOBODY4)},
	{"to DHCP's port from another", {FROM4(NOBODY4), PORTS(40000, 67)}, REFUSED(NOBODY4)},
	{"from the server's port to another", {FROM4(NOBODY4), PORTS(67, 53)}, REFUSED(NOBODY4)},
	{"DHCP's ports in TCP",
	 {FROM4(NOBODY4), TCP(.source_port = 68, .destination_port = 67)},
	 REFUSED(NOBODY4)},
	{"DHCP's ports in UDP-Lite",
	 {FROM4(NOBODY4, .protocol = UDP_LITE), BODY("\0\x44\0\x43\0\0\0\0")},
	 REFUSED(NOBODY4)},
	{"DHCP, first fragment",
	 {FROM4(NOBODY4, .more_fragments = 1), PORTS(68, 67)},
	 REFUSED(NOBODY4)},
	{"O-066: later fragment whose bytes look like DHCP",
	 {FROM4(NOBODY4, .fragment_offset = 1480), PORTS(68, 67)},
	 REFUSED(NOBODY4)},
	{"DHCPv6's ports in IPv4", {FROM4(NOBODY4), PORTS(546, 547)}, REFUSED(NOBODY4)},

	{"DHCPv6 solicit", {FROM6(LINK_LOCAL6), PORTS(546, 547)}, CONTROL},
	{"DHCPv6 reply", {FROM6(LINK_LOCAL6), PORTS(547, 546)}, CONTROL},
	{"DHCPv6 without an address", {FROM6(NOBODY6), PORTS(546, 547)}, CONTROL},
	{"O-068: DHCPv6 behind extension headers",
	 {FROM6(LINK_LOCAL6, CHAIN(EXT_HOP_BY_HOP, EXT_DESTINATION)), PORTS(546, 547)},
	 CONTROL},
	{"DHCPv6 from the last of fe80::/10", {FROM6("febf::1"), PORTS(546, 547)}, CONTROL},
	{"DHCPv6 from before fe80::/10", {FROM6("fe7f::1"), PORTS(546, 547)}, REFUSED("fe7f::1")},
	{"DHCPv6 from after fe80::/10", {FROM6("fec0::1"), PORTS(546, 547)}, REFUSED("fec0::1")},
	{"DHCPv6 from ::1", {FROM6("::1"), PORTS(546, 547)}, REFUSED("::1")},
	{"DHCPv6 from an address that only ends like ::",
	 {FROM6("2001:db8::"), PORTS(546, 547)},
	 REFUSED("2001:db8::")},
	{"DHCPv6 from a global address", {IPV6(), PORTS(546, 547)}, REFUSED(CLIENT6)},
	{"DHCPv6 from a global server", {IPV6(), PORTS(547, 546)}, REFUSED(CLIENT6)},
	{"DHCPv6 between servers", {FROM6(LINK_LOCAL6), PORTS(547, 547)}, REFUSED(LINK_LOCAL6)},
	{"from DHCPv6's port to another",
	 {FROM6(LINK_LOCAL6), PORTS(546, 53)},
	 REFUSED(LINK_LOCAL6)},
	{"to DHCPv6's port from another",
	 {FROM6(LINK_LOCAL6), PORTS(53, 547)},
	 REFUSED(LINK_LOCAL6)},
	{"DHCP's ports in IPv6", {FROM6(LINK_LOCAL6), PORTS(68, 67)}, REFUSED(LINK_LOCAL6)},
	{"O-066: later fragment whose bytes look like DHCPv6",
	 {FROM6(LINK_LOCAL6, .fragment_offset = 8, CHAIN(EXT_FRAGMENT)), PORTS(546, 547)},
	 REFUSED(LINK_LOCAL6)},
	{"IPv6 from the unspecified address is charged like any other",
	 {FROM6(NOBODY6), UDP()},
	 REFUSED(NOBODY6)},
};

static const struct outcome control = CONTROL;
static const struct outcome refused6 = REFUSED(CLIENT6);

static struct policy admit_nothing(void)
{
	struct policy policy = packet_policy("block", NULL);

	policy.sources = SOURCES_MIN;
	return policy;
}

static void judge_many(const char *name, const struct recipe *recipe, unsigned int count,
		       const struct outcome *want)
{
	struct frame frame;

	cook(recipe, &frame);
	while (count--)
		judge(name, &frame, want);
}

/* All of it refilled, and no more than that. */
static void refill(void)
{
	clock_advance(&shared, 100 * NS_PER_SECOND);
}

static void the_budget_ends(void **state)
{
	static const struct recipe solicitation = {.named = "PNS"};

	(void)state;
	refill();
	judge_many("within the budget", &solicitation, BUDGET, &control);
	judge_many("the 1001st at once", &solicitation, 2, &refused6);
}

static void the_budget_comes_back_each_millisecond(void **state)
{
	static const struct recipe solicitation = {.named = "PNS"};

	(void)state;
	refill();
	judge_many("within the budget", &solicitation, BUDGET, &control);
	clock_advance(&shared, MS - 1);
	judge_many("1 ns too early", &solicitation, 1, &refused6);
	clock_advance(&shared, 1);
	judge_many("after 1 ms", &solicitation, 1, &control);
	judge_many("the second after 1 ms", &solicitation, 1, &refused6);
	clock_advance(&shared, 500 * MS);
	judge_many("after half a second", &solicitation, BUDGET / 2, &control);
	judge_many("the 501st", &solicitation, 1, &refused6);
}

/* A budget for each kind or each source would be as many ways around. */
static void all_kinds_and_sources_share_the_budget(void **state)
{
	const struct row kinds[] = {
		{"discovery", {.named = "PNS"}, REFUSED(CLIENT6)},
		{"packet too big", {IPV6(.source = OTHER6), ICMPV6(.type = 2)}, REFUSED(OTHER6)},
		{"fragmentation needed", {IPV4(), ICMP(.type = 3, .code = 4)}, REFUSED(CLIENT4)},
		{"IGMP",
		 {IPV4(.source = OTHER4, .ttl = 1, .protocol = IGMP), .payload = 8},
		 REFUSED(OTHER4)},
		{"MLD",
		 {FROM6(LINK_LOCAL6, .hop_limit = 1), ICMPV6(.type = 143)},
		 REFUSED(LINK_LOCAL6)},
		{"DHCP", {FROM4(NOBODY4), PORTS(68, 67)}, REFUSED(NOBODY4)},
		{"DHCPv6", {FROM6("fe80::2"), PORTS(546, 547)}, REFUSED("fe80::2")},
		{"tagged",
		 {.tags = {0x8100}, IPV6(.hop_limit = 255), ICMPV6(.type = 136)},
		 REFUSED(CLIENT6)},
	};

	(void)state;
	refill();
	for (size_t i = 0; i < COUNT(kinds); i++)
		judge_many(kinds[i].name, &kinds[i].recipe, BUDGET / COUNT(kinds), &control);
	for (size_t i = 0; i < COUNT(kinds); i++)
		judge_many(kinds[i].name, &kinds[i].recipe, 1, &kinds[i].want);
}

static void arp_has_no_budget(void **state)
{
	static const struct recipe arp = {.named = "PARP"}, solicitation = {.named = "PNS"};

	(void)state;
	refill();
	judge_many("ARP", &arp, 2 * BUDGET, &control);
	judge_many("ARP took nothing", &solicitation, BUDGET, &control);
	judge_many("the budget's end", &solicitation, 1, &refused6);
	judge_many("ARP beyond the budget", &arp, 10, &control);
}

/* What is not control traffic takes nothing from it. */
static void others_take_nothing(void **state)
{
	static const struct recipe other = {.named = "P6U"}, solicitation = {.named = "PNS"};
	const struct recipe echo = {IPV6(.hop_limit = 255), ICMPV6()};

	(void)state;
	refill();
	judge_many("UDP", &other, BUDGET, &refused6);
	judge_many("echo", &echo, BUDGET, &refused6);
	judge_many("within the budget", &solicitation, BUDGET, &control);
}

/* O-024 and the budget, for a source that has used up its one packet. */
static void charges_beyond_the_budget(void **state)
{
	static const struct outcome charged = CHARGED(CLIENT6);
	struct policy policy = packet_policy("1/day", "1");
	struct frame solicitation, arp, packet;
	struct limiter limiter;

	(void)state;
	frame_named(&solicitation, PNS);
	frame_named(&packet, P6U);
	frame_named(&arp, PARP);
	open_limiter(&limiter, &policy, NULL);
	for (unsigned int i = 0; i < BUDGET; i++)
		expect(&limiter, "uncharged", &solicitation, &control);
	expect(&limiter, "charged", &solicitation, &charged);
	expect(&limiter, "charged and refused", &solicitation, &refused6);
	clock_advance(&limiter, NS_PER_SECOND);
	expect(&limiter, "O-024: discovery of an exhausted source", &solicitation, &control);
	expect(&limiter, "its other packets", &packet, &refused6);
	expect(&limiter, "O-024: ARP of an exhausted source", &arp, &control);
	limiter_close(&limiter);
}

int main(void)
{
	static const struct CMUnitTest sweeps[] = {
		cmocka_unit_test(the_budget_ends),
		cmocka_unit_test(the_budget_comes_back_each_millisecond),
		cmocka_unit_test(all_kinds_and_sources_share_the_budget),
		cmocka_unit_test(arp_has_no_budget),
		cmocka_unit_test(others_take_nothing),
		cmocka_unit_test(charges_beyond_the_budget),
	};
	static const struct table table = {
		.name = "control traffic",
		.policy = admit_nothing,
		.rows = rows,
		.row_count = COUNT(rows),
		.sweeps = sweeps,
		.sweep_count = COUNT(sweeps),
	};

	return run_table(&table);
}
