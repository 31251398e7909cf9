// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is said of default gateways and own addresses, and how rtnetlink tells them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdio.h>
#include <string.h>
#include "netroute.h"
#include "prefix.h"
#include "special.h"
#include "yaml_policy.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define GATEWAY	     "192.0.2.254"
#define GATEWAY6     "2001:db8:0:1::fe"
#define OWN	     "192.0.2.1"

/* ---- what is said ---- */

static char said[4096];

static void __attribute__((format(printf, 2, 0)))
keep(const char *kind, const char *format, va_list arguments)
{
	size_t used = strlen(said);

	used += (size_t)snprintf(said + used, sizeof(said) - used, "%s: ", kind);
	used += (size_t)vsnprintf(said + used, sizeof(said) - used, format, arguments);
	assert_true(used + 2 < sizeof(said));
	strcat(said, "\n");
}

static void __attribute__((format(printf, 1, 2))) warn(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	keep("warning", format, arguments);
	va_end(arguments);
}

static void __attribute__((format(printf, 1, 2))) note(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	keep("note", format, arguments);
	va_end(arguments);
}

static void add_special(struct specials *specials, enum special_kind kind, const char *text)
{
	struct special special = {.kind = kind};
	struct complaint why;

	assert_int_equal(parse_address(text, &special.address, &why), 0);
	assert_int_equal(specials_add(specials, &special), 0);
}

/* "gateway ADDRESS", "own ADDRESS", with commas between */
static void fill_specials(struct specials *specials, const char *text)
{
	char copy[512], *rest = copy, *word;

	snprintf(copy, sizeof(copy), "%s", text);
	*specials = (struct specials){0};
	while ((word = strsep(&rest, ","))) {
		word += strspn(word, " ");
		if (!strncmp(word, "own ", 4))
			add_special(specials, SPECIAL_OWN, word + 4);
		else
			add_special(specials, SPECIAL_GATEWAY, word + strlen("gateway "));
	}
}

#define LOSS "ICMP errors and, where it is also the resolver or an SSH jump host, its traffic "
#define GW   "gateway " GATEWAY
#define GW6  "gateway " GATEWAY6
#define ANY  "limits: [{name: default, rate: 100 pps}]\n"

#define NOTE_OF(address, more)                                                        \
	"note: the default gateway " address " is limited like any other source" more \
	"; `allow: [" address "]` or `xdp-limit allow rv0 add " address "` exempts it\n"
#define NOTE		  NOTE_OF(GATEWAY, "")
#define ALLOW_IT(address) "; allow it: `allow: [" address "]`\n"

struct policy_row {
	const char *name;
	const char *policy;
	const char *specials;
	const char *says; /* warnings, then notes */
};

static struct policy_row policies[] = {
	{"gateway: merely limited, one note", ANY, GW, NOTE},
	{"gateway: two limits, one note",
	 "limits: [{name: a, rate: 1 pps}, {name: b, rate: 1 MB/s}]", GW, NOTE},
	{"gateway: of both families, a note of each", ANY, GW ", " GW6, NOTE NOTE_OF(GATEWAY6, "")},
	{"gateway: allowed, nothing", "allow: [" GATEWAY "]\n" ANY, GW, ""},
	{"gateway: in an allowed prefix, nothing", "allow: [192.0.2.0/24]\n" ANY, GW, ""},
	{"gateway: another address is allowed", "allow: [192.0.2.253]\n" ANY, GW, NOTE},
	{"gateway: no limit of its family",
	 "limits: [{name: a, match: {family: ipv6}, rate: 1 pps}]", GW, ""},
	{"gateway: no destination of its family",
	 "limits: [{name: a, match: {destination: 2001:db8::/32}, rate: 1 pps}]", GW, ""},
	{"gateway: ::/0 is no destination of its family",
	 "limits: [{name: a, match: {destination: '::/0'}, rate: 1 pps}]", GW, ""},
	{"gateway: a destination of its family",
	 "limits: [{name: a, match: {destination: [2001:db8::/32, 192.0.2.1]}, rate: 1 pps}]", GW,
	 NOTE},
	{"gateway: only an unlimited limit", "limits: [{name: a, rate: unlimited}]", GW, ""},
	{"gateway: only an observed limit", "limits: [{name: a, rate: block, mode: observe}]", GW,
	 ""},
	{"gateway: denied by itself, where an allow would lose the tie",
	 "deny: [" GATEWAY "]\n" ANY, GW,
	 "warning: the default gateway " GATEWAY " is on the deny list: " LOSS
	 "will be dropped; take it off the list\n"},
	{"gateway: in a denied prefix, an allow helps", "deny: [192.0.2.0/24]\n" ANY, GW,
	 "warning: the default gateway " GATEWAY " is on the deny list (192.0.2.0/24): " LOSS
	 "will be dropped" ALLOW_IT(GATEWAY)},
	{"gateway: of two denied prefixes the longer is named",
	 "deny: [192.0.2.0/24, 192.0.2.128/25, 192.0.0.0/16]\n" ANY, GW,
	 "warning: the default gateway " GATEWAY " is on the deny list (192.0.2.128/25): " LOSS
	 "will be dropped" ALLOW_IT(GATEWAY)},
	{"gateway: IPv6, denied", "deny: ['2001:db8::/32']\n" ANY, GW6,
	 "warning: the default gateway " GATEWAY6 " is on the deny list (2001:db8::/32): " LOSS
	 "will be dropped" ALLOW_IT(GATEWAY6)},
	{"gateway: a longer allow wins over deny",
	 "deny: [192.0.2.0/24]\nallow: [" GATEWAY "]\n" ANY, GW, ""},
	{"gateway: a longer deny wins over allow",
	 "allow: [192.0.2.0/24]\ndeny: [192.0.2.128/25]\n" ANY, GW,
	 "warning: the default gateway " GATEWAY " is on the deny list (192.0.2.128/25): " LOSS
	 "will be dropped" ALLOW_IT(GATEWAY)},
	{"gateway: a tie of allow and deny denies",
	 "allow: [" GATEWAY "]\ndeny: [" GATEWAY "]\n" ANY, GW,
	 "warning: the default gateway " GATEWAY " is on the deny list: " LOSS
	 "will be dropped; take it off the list\n"},
	{"gateway: in a block tier",
	 "tiers: [{name: bad, sources: [192.0.2.128/25]}]\n"
	 "limits: [{name: a, rate: 1 pps}, {name: b, rate: 1 pps, tiers: {bad: block}}]",
	 GW,
	 "warning: the default gateway " GATEWAY
	 " is in the tier 'bad', which the limit 'b' blocks: " LOSS
	 "will be dropped" ALLOW_IT(GATEWAY)},
	{"gateway: in a block tier of one service, which somebody chose for it",
	 "tiers: [{name: bad, sources: [192.0.2.128/25]}]\n"
	 "limits: [{name: b, match: {protocol: tcp, destination-port: 22}, rate: 1 pps,\n"
	 "          tiers: {bad: block}}]",
	 GW,
	 "warning: the default gateway " GATEWAY
	 " is in the tier 'bad', which the limit 'b' blocks: " LOSS
	 "will be dropped" ALLOW_IT(GATEWAY)},
	{"gateway: the longer of two tiers counts",
	 "tiers: [{name: bad, sources: [192.0.2.0/24]}, {name: good, sources: [" GATEWAY "]}]\n"
	 "limits: [{name: a, rate: 1 pps, tiers: {bad: block, good: 9 pps}}]",
	 GW, NOTE_OF(GATEWAY, " of the tier 'good'")},
	{"gateway: in an unlimited tier",
	 "tiers: [{name: good, sources: [192.0.2.0/24]}]\n"
	 "limits: [{name: a, rate: block, tiers: {good: unlimited}}]",
	 GW, ""},
	{"gateway: under a block limit", "limits: [{name: a, rate: 1 pps}, {name: b, rate: block}]",
	 GW,
	 "warning: the default gateway " GATEWAY
	 " is blocked by the limit 'b' like any other source: " LOSS
	 "will be dropped" ALLOW_IT(GATEWAY)},
	{"gateway: under a block limit that stands before another",
	 "limits: [{name: b, rate: block}, {name: a, rate: 1 pps}]", GW,
	 "warning: the default gateway " GATEWAY
	 " is blocked by the limit 'b' like any other source: " LOSS
	 "will be dropped" ALLOW_IT(GATEWAY)},
	{"gateway: under a block limit on ICMP",
	 "limits: [{name: b, match: {protocol: icmp}, rate: block}]", GW,
	 "warning: the default gateway " GATEWAY
	 " is blocked by the limit 'b' like any other source: " LOSS
	 "will be dropped" ALLOW_IT(GATEWAY)},
	{"gateway: one blocked service is no warning",
	 "limits: [{name: telnet, match: {protocol: tcp, destination-port: 23}, rate: block}]", GW,
	 NOTE},
	{"gateway: what has ports or flags is no ICMP",
	 "limits: [{name: a, match: {destination-port: 23}, rate: block},\n"
	 "         {name: b, match: {source-port: 19}, rate: block},\n"
	 "         {name: c, match: {tcp-flags: syn}, rate: block}]",
	 GW, NOTE},
	{"gateway: dry run, what would be", "deny: [192.0.2.0/24]\n" ANY "# dry run", GW,
	 "warning: the default gateway " GATEWAY " is on the deny list (192.0.2.0/24): " LOSS
	 "would be dropped" ALLOW_IT(GATEWAY)},
	{"own: limited like everybody, nothing", ANY, "own " OWN, ""},
	{"own: denied in the file, nothing: forged packets are meant", "deny: [" OWN "]\n" ANY,
	 "own " OWN, ""},
	{"own: allowed, a way around", "allow: [" OWN "]\n" ANY, "own " OWN,
	 "warning: " OWN " is this host's own address and on the allow list: whoever forges it "
	 "passes every limit\n"},
	{"own: in an allowed prefix but denied itself, nothing",
	 "allow: [192.0.2.0/24]\ndeny: [" OWN "]\n" ANY, "own " OWN, ""},
	{"own: many in an allowed prefix, one line", "allow: [192.0.2.0/24]\n" ANY,
	 "own 198.51.100.1, own " OWN ", own 192.0.2.2, own 192.0.2.3",
	 "warning: " OWN " and 2 more are this host's own addresses and on the allow list: "
	 "whoever forges one passes every limit\n"},
	{"own: an address of both kinds is said as a gateway too", ANY, GW ", own " GATEWAY, NOTE},
	{"special: one that is found twice counts once", ANY, GW ", " GW, NOTE},
};

static void says_of_policy(void **state)
{
	const struct policy_row *row = *state;
	struct specials specials;
	struct policy policy;

	said[0] = '\0';
	yaml_policy(&policy, row->policy);
	policy.dry_run = strstr(row->policy, "# dry run");
	fill_specials(&specials, row->specials);
	warn_specials(&policy, &specials, warn);
	note_specials(&policy, &specials, "rv0", note);
	specials_free(&specials);
	policy_free(&policy);
	assert_string_equal(said, row->says);
}

/* ---- live lists ---- */

struct live_row {
	const char *name;
	enum live_list list;
	const char *verb;
	const char *prefix;
	const char *specials;
	const char *says;
	bool dry_run;
};

static struct live_row lives[] = {
	{"live deny: the gateway itself", LIVE_DENY, "deny", GATEWAY, GW,
	 "warning: the default gateway " GATEWAY " is on the deny list: " LOSS
	 "will be dropped; take it off: `xdp-limit deny rv0 del " GATEWAY "`\n",
	 false},
	{"live deny: a prefix around the gateway", LIVE_DENY, "deny", "192.0.2.0/24", GW,
	 "warning: the default gateway " GATEWAY " is on the deny list (192.0.2.0/24): " LOSS
	 "will be dropped; allow it: `xdp-limit allow rv0 add " GATEWAY "`\n",
	 false},
	{"live ban: an allow would not help", LIVE_BAN, "ban", "192.0.2.0/24", GW,
	 "warning: the default gateway " GATEWAY " is on the ban list (192.0.2.0/24): " LOSS
	 "will be dropped; take it off: `xdp-limit ban rv0 del 192.0.2.0/24`\n",
	 false},
	{"live ban: dry run", LIVE_BAN, "ban", GATEWAY, GW,
	 "warning: the default gateway " GATEWAY " is on the ban list: " LOSS
	 "would be dropped; take it off: `xdp-limit ban rv0 del " GATEWAY "`\n",
	 true},
	{"live deny: not the gateway", LIVE_DENY, "deny", "192.0.2.0/25", GW, "", false},
	{"live allow: the gateway is fine", LIVE_ALLOW, "allow", GATEWAY, GW, "", false},
	{"live deny: own address", LIVE_DENY, "deny", OWN, "own " OWN,
	 "note: " OWN " is this host's own address and on the deny list: harmless, as only forged "
	 "or looped packets come from there, but probably a mistake\n",
	 false},
	{"live ban: own addresses, one line", LIVE_BAN, "ban", "192.0.2.0/24",
	 "own " OWN ", own 192.0.2.2",
	 "note: " OWN " and 1 more are this host's own addresses and on the ban list: harmless, as "
	 "only forged or looped packets come from there, but probably a mistake\n",
	 false},
	{"live allow: own address", LIVE_ALLOW, "allow", OWN, "own " OWN,
	 "warning: " OWN " is this host's own address and on the allow list: whoever forges it "
	 "passes every limit\n",
	 false},
	{"live deny: ::/0 is not IPv4", LIVE_DENY, "deny", "::/0", GW, "", false},
	{"live deny: 0.0.0.0/0 is not IPv6", LIVE_DENY, "deny", "0.0.0.0/0", GW6, "", false},
};

static void says_of_live(void **state)
{
	const struct live_row *row = *state;
	struct policy_prefix prefix;
	struct policy_prefixes prefixes = {.count = 1, .prefixes = &prefix};
	struct live_change change = {row->list, row->verb, "rv0", &prefixes, row->dry_run};
	struct specials specials;
	struct complaint why;

	said[0] = '\0';
	assert_int_equal(parse_prefix(row->prefix, &prefix, &why), 0);
	fill_specials(&specials, row->specials);
	remark_specials(&change, &specials, warn, note);
	specials_free(&specials);
	assert_string_equal(said, row->says);
}

/* ---- rtnetlink ---- */

#define LINK   7
#define MASTER 8
#define OTHER  9

struct hop {
	unsigned int link;
	const char *gateway; /* NULL: none */
	const char *via;     /* of the other family */
};

struct message_row {
	const char *name;
	uint16_t type;
	uint8_t family;
	uint8_t length;	    /* of the route's destination */
	uint8_t route_type; /* 0: RTN_UNICAST */
	unsigned int table;
	struct hop hops[3]; /* more than one: multipath; of an address the first link */
	const char *local, *address;
	const char *finds; /* as fill_specials() reads it, with a comma behind each */
};

static struct message_row messages[] = {
	{"default route: its gateway", RTM_NEWROUTE, AF_INET, .hops = {{LINK, GATEWAY, NULL}},
	 .finds = GW ","},
	{"default route: IPv6", RTM_NEWROUTE, AF_INET6, .hops = {{LINK, GATEWAY6, NULL}},
	 .finds = GW6 ","},
	{"default route: a link-local gateway", RTM_NEWROUTE, AF_INET6,
	 .hops = {{LINK, "fe80::1", NULL}}, .finds = "gateway fe80::1,"},
	{"default route: IPv4 by way of IPv6", RTM_NEWROUTE, AF_INET,
	 .hops = {{LINK, NULL, "fe80::1"}}, .finds = "gateway fe80::1,"},
	{"default route: in another table", RTM_NEWROUTE, AF_INET, .table = 100,
	 .hops = {{LINK, GATEWAY, NULL}}, .finds = GW ","},
	{"default route: out of another interface", RTM_NEWROUTE, AF_INET,
	 .hops = {{OTHER, GATEWAY, NULL}}, .finds = ""},
	{"default route: out of the bridge of the interface", RTM_NEWROUTE, AF_INET,
	 .hops = {{MASTER, GATEWAY, NULL}}, .finds = GW ","},
	{"default route: without a gateway", RTM_NEWROUTE, AF_INET, .hops = {{LINK, NULL, NULL}},
	 .finds = ""},
	{"default route: out of nothing", RTM_NEWROUTE, AF_INET, .finds = ""},
	{"default route: of many hops those of the interface", RTM_NEWROUTE, AF_INET,
	 .hops = {{LINK, GATEWAY, NULL}, {OTHER, "192.0.2.252", NULL}, {LINK, "192.0.2.253", NULL}},
	 .finds = GW ",gateway 192.0.2.253,"},
	{"default route: a hop by way of IPv6", RTM_NEWROUTE, AF_INET,
	 .hops = {{OTHER, GATEWAY, NULL}, {LINK, NULL, "fe80::1"}}, .finds = "gateway fe80::1,"},
	{"default route: unreachable", RTM_NEWROUTE, AF_INET6, .route_type = RTN_UNREACHABLE,
	 .hops = {{LINK, GATEWAY6, NULL}}, .finds = ""},
	{"route: not the default one", RTM_NEWROUTE, AF_INET, .length = 8,
	 .hops = {{LINK, GATEWAY, NULL}}, .finds = ""},
	{"address: IPv4", RTM_NEWADDR, AF_INET, .hops = {{LINK, NULL, NULL}}, .local = OWN,
	 .address = OWN, .finds = "own " OWN ","},
	{"address: of a point-to-point link not the peer's", RTM_NEWADDR, AF_INET,
	 .hops = {{LINK, NULL, NULL}}, .local = OWN, .address = "192.0.2.9",
	 .finds = "own " OWN ","},
	{"address: IPv6 has no local one", RTM_NEWADDR, AF_INET6, .hops = {{LINK, NULL, NULL}},
	 .address = "2001:db8::1", .finds = "own 2001:db8::1,"},
	{"address: of another interface", RTM_NEWADDR, AF_INET, .hops = {{OTHER, NULL, NULL}},
	 .local = OWN, .address = OWN, .finds = ""},
	{"message of another type", RTM_DELROUTE, AF_INET, .hops = {{LINK, GATEWAY, NULL}},
	 .finds = ""},
};

static void put_address(struct nl_msg *message, uint16_t attribute, const char *text)
{
	bool ipv6 = text && strchr(text, ':');
	struct in6_addr bytes;

	if (!text)
		return;
	assert_int_equal(inet_pton(ipv6 ? AF_INET6 : AF_INET, text, &bytes), 1);
	nla_put(message, attribute, ipv6 ? 16 : 4, &bytes);
}

static void put_via(struct nl_msg *message, const char *text)
{
	struct {
		uint16_t family;
		struct in6_addr address;
	} via = {.family = AF_INET6};

	if (!text)
		return;
	assert_int_equal(inet_pton(AF_INET6, text, &via.address), 1);
	memmove((char *)&via + 2, &via.address, 16);
	nla_put(message, RTA_VIA, 18, &via);
}

static void put_gateway(struct nl_msg *message, const struct hop *hop)
{
	put_address(message, RTA_GATEWAY, hop->gateway);
	put_via(message, hop->via);
}

static void put_hops(struct nl_msg *message, const struct hop *hops, size_t count)
{
	struct nlattr *all = nla_nest_start(message, RTA_MULTIPATH);

	for (size_t i = 0; i < count && hops[i].link; i++) {
		struct rtnexthop *hop = nlmsg_reserve(message, sizeof(*hop), NLMSG_ALIGNTO);

		*hop = (struct rtnexthop){.rtnh_ifindex = (int)hops[i].link};
		put_gateway(message, &hops[i]);
		hop->rtnh_len = (unsigned short)((char *)nlmsg_tail(nlmsg_hdr(message)) -
						 (char *)hop);
	}
	nla_nest_end(message, all);
}

static void put_route(struct nl_msg *message, const struct message_row *row)
{
	struct rtmsg *route = nlmsg_reserve(message, sizeof(*route), NLMSG_ALIGNTO);

	route->rtm_family = row->family;
	route->rtm_dst_len = row->length;
	route->rtm_type = row->route_type ? row->route_type : RTN_UNICAST;
	nla_put_u32(message, RTA_TABLE, row->table ? row->table : RT_TABLE_MAIN);
	if (row->hops[1].link) {
		put_hops(message, row->hops, COUNT(row->hops));
		return;
	}
	if (row->hops[0].link)
		nla_put_u32(message, RTA_OIF, row->hops[0].link);
	put_gateway(message, &row->hops[0]);
}

static void put_own(struct nl_msg *message, const struct message_row *row)
{
	struct ifaddrmsg *address = nlmsg_reserve(message, sizeof(*address), NLMSG_ALIGNTO);

	address->ifa_family = row->family;
	address->ifa_index = row->hops[0].link;
	put_address(message, IFA_ADDRESS, row->address);
	put_address(message, IFA_LOCAL, row->local);
}

static void list_specials(const struct specials *specials, char *text, size_t size)
{
	char address[ADDRESS_TEXT_SIZE];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < specials->count; i++) {
		format_address(&specials->list[i].address, address);
		used += (size_t)snprintf(text + used, size - used, "%s %s,",
					 specials->list[i].kind == SPECIAL_OWN ? "own" : "gateway",
					 address);
		assert_true(used < size);
	}
}

static void reads_message(void **state)
{
	static const struct route_links links = {LINK, MASTER};
	const struct message_row *row = *state;
	struct nl_msg *message = nlmsg_alloc_simple(row->type, 0);
	struct specials specials = {0};
	char text[512];

	assert_non_null(message);
	if (row->type == RTM_NEWADDR)
		put_own(message, row);
	else
		put_route(message, row);
	assert_int_equal(netroute_read(nlmsg_hdr(message), &links, &specials), 0);
	list_specials(&specials, text, sizeof(text));
	specials_free(&specials);
	nlmsg_free(message);
	assert_string_equal(text, row->finds);
}

/* Index 0 is no interface, so an interface without a master must not take it for one. */
static void no_master_is_no_interface(void **state)
{
	static const struct route_links links = {LINK, 0};
	struct nl_msg *message = nlmsg_alloc_simple(RTM_NEWADDR, 0);
	struct message_row row = {.family = AF_INET, .local = OWN, .address = OWN};
	struct specials specials = {0};

	(void)state;
	assert_non_null(message);
	put_own(message, &row);
	assert_int_equal(netroute_read(nlmsg_hdr(message), &links, &specials), 0);
	assert_int_equal(specials.count, 0);
	specials_free(&specials);
	nlmsg_free(message);
}

static void loopback_has_none(void **state)
{
	const struct netdev loopback = {.ifindex = 1, .name = "lo", .type = ARPHRD_LOOPBACK};
	struct specials specials;

	(void)state;
	assert_int_equal(netroute_find(&loopback, &specials), 0);
	assert_int_equal(specials.count, 0);
	specials_free(&specials);
}

#define ADD_ROWS(rows, function)                                         \
	for (size_t i = 0; i < COUNT(rows); i++)                         \
		tests[n++] = (struct CMUnitTest)                         \
		{                                                        \
			.name = (rows)[i].name, .test_func = (function), \
			.initial_state = &(rows)[i]                      \
		}

int main(void)
{
	struct CMUnitTest tests[COUNT(policies) + COUNT(lives) + COUNT(messages) + 2];
	size_t n = 0;

	ADD_ROWS(policies, says_of_policy);
	ADD_ROWS(lives, says_of_live);
	ADD_ROWS(messages, reads_message);
	tests[n++] = (struct CMUnitTest){.name = "address: of no interface",
					 .test_func = no_master_is_no_interface};
	tests[n] = (struct CMUnitTest){.name = "loopback: its own addresses are the genuine ones",
				       .test_func = loopback_has_none};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
