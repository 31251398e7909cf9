// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The policy file: what it accepts, where and how it refuses, and that printing loses nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "compile.h"
#include "policy_file.h"
#include "prefix.h"
#include "random.h"
#include "same_policy.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ROUNDS	     4000

/* ---- helpers --------------------------------------------------------------------------------- */

static void print_findings(const struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		print_error("%u:%u: %s\n", findings->list[i].line, findings->list[i].column,
			    findings->list[i].what.text);
}

static void parse(const char *text, struct policy *policy)
{
	struct findings findings;
	int err = policy_parse(text, strlen(text), policy, &findings);

	print_findings(&findings);
	if (err)
		fail_msg("policy_parse: %d, of:\n%s", err, text);
	assert_int_equal(findings.count, 0);
	findings_free(&findings);
}

/* For free(). */
static char *print(const struct policy *policy)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(policy_print(policy, out), 0);
	fclose(out);
	return text;
}

/* ---- what it reads --------------------------------------------------------------------------- */

static const char design_example[] =
	"table:   {type: lru, sources: 1048576, ipv4-prefix: 32, ipv6-prefix: 64,\n"
	"          new-sources: auto, new-sources-beyond: drop, when-full: pass}   # flat: inherit\n"
	"fragments: count            # count | drop | pass\n"
	"malformed: drop             # drop | pass\n"
	"allow:   [192.0.2.0/24, 2001:db8:1::/48]     # a bare address means /32 or /128\n"
	"deny:    [203.0.113.66]\n"
	"tiers:\n"
	"  - {name: pro, sources: [198.51.100.0/24]}\n"
	"limits:\n"
	"  - name: default\n"
	"    rate: 1000 pps\n"
	"    burst: 2000 packets\n"
	"    tiers: {pro: {rate: 10000 pps, burst: 20000 packets}}\n"
	"  - {name: dns,   match: {protocol: udp, destination-port: 53}, rate: 50 pps, on-exceed: {ban: 10m}}\n"
	"  - {name: syn,   match: {tcp-flags: syn}, rate: 20 pps}\n"
	"  - {name: bulk,  rate: 10 Mbit/s, burst: 256 KiB}\n"
	"  - {name: subnet, per: [source/24, source/48], rate: 20000 pps}\n"
	"  - {name: total, per: interface, rate: 1000000 pps, algorithm: token-bucket, mode: observe}\n";

static void reads_the_example(void **state)
{
	static struct policy policy;
	const struct policy_limit *limit = policy.limits;

	(void)state;
	parse(design_example, &policy);
	assert_int_equal(policy.limit_count, 6);
	assert_int_equal(policy.tier_count, 1);
	assert_int_equal(policy.allow.count, 2);
	assert_int_equal(policy.allow.prefixes[1].length, 48);
	assert_int_equal(policy.deny.prefixes[0].length, 32);
	assert_true(policy.sources_given && policy.ipv4_prefix_given && policy.ipv6_prefix_given);
	assert_int_equal(limit[0].burst, 2000);
	assert_true(limit[0].tiers[0].given);
	assert_int_equal(limit[0].tiers[0].rate.amount, 10000);
	assert_int_equal(limit[0].tiers[0].burst, 20000);
	assert_int_equal(limit[1].match.protocols.ranges[0].first, 17);
	assert_int_equal(limit[1].match.destination_ports.ranges[0].last, 53);
	assert_int_equal(limit[1].ban_ns, 600 * NS_PER_SECOND);
	assert_false(limit[1].ban_extends);
	assert_int_equal(limit[2].match.flags_mask, 0x02);
	assert_int_equal(limit[2].match.flags_value, 0x02);
	assert_int_equal(limit[2].burst, 20);
	assert_int_equal(limit[3].rate.unit, UNIT_BYTES);
	assert_int_equal(limit[3].burst, 262144);
	assert_int_equal(limit[4].per.ipv4_prefix, 24);
	assert_int_equal(limit[4].per.ipv6_prefix, 48);
	assert_int_equal(limit[5].per.per, PER_INTERFACE);
	assert_true(limit[5].observe);
	policy_free(&policy);
}

#define LIMIT "limits: [{name: a, rate: 1 pps}]\n"

/* A key, and the line that shows it: nothing is accepted and then forgotten. */
struct accept_case {
	const char *name;
	const char *text;
	const char *printed;
};

#define ONE(fields) "limits: [{name: a, rate: 100 pps, " fields "}]\n"

static const struct accept_case accept_cases[] = {
	{"O-099: table: sources", "table: {sources: 4096}\n" LIMIT, "  sources: 4096\n"},
	{"O-099: table: ipv4-prefix", "table: {ipv4-prefix: 24}\n" LIMIT, "  ipv4-prefix: 24\n"},
	{"O-099: table: ipv6-prefix", "table: {ipv6-prefix: 56}\n" LIMIT, "  ipv6-prefix: 56\n"},
	{"O-099: table: new-sources as a rate", "table: {new-sources: 5000/s}\n" LIMIT,
	 "  new-sources: 5000 pps\n"},
	{"O-099: table: new-sources unlimited", "table: {new-sources: unlimited}\n" LIMIT,
	 "  new-sources: unlimited\n"},
	{"O-099: table: new-sources-beyond", "table: {new-sources-beyond: pass}\n" LIMIT,
	 "  new-sources-beyond: pass\n"},
	{"O-099: table: when-full", "table: {when-full: drop}\n" LIMIT, "  when-full: drop\n"},
	{"O-099: fragments", "fragments: pass\n" LIMIT, "fragments: pass\n"},
	{"O-099: malformed", "malformed: pass\n" LIMIT, "malformed: pass\n"},
	{"O-099: dry-run", "dry-run: true\n" LIMIT, "dry-run: true\n"},
	{"durations of one check in so many", "measure: 1024\n" LIMIT, "measure: 1024\n"},
	{"no durations", LIMIT, "measure: 0\n"},
	{"O-099: allow, a single address", "allow: 192.0.2.1\n" LIMIT, "allow:\n  - 192.0.2.1\n"},
	{"O-099: deny, IPv6", "deny: [\"2001:db8::\", \"::/0\", fe80::/10]\n" LIMIT,
	 "deny:\n  - \"2001:db8::\"\n  - \"::/0\"\n  - \"fe80::/10\"\n"},
	{"a list whose items are all commented out", "deny:\n#  - 192.0.2.1\n" LIMIT, "deny: []\n"},
	{"O-099: burst as a time", ONE("burst: 500ms"), "    burst: 50 packets\n"},
	{"O-099: algorithm leaky-bucket", ONE("algorithm: leaky-bucket"),
	 "    algorithm: leaky-bucket\n"},
	{"O-099: algorithm fixed-window, its burst said",
	 ONE("algorithm: fixed-window, burst: 100"), "    algorithm: fixed-window\n"},
	{"O-099: algorithm sliding-window", ONE("algorithm: sliding-window"),
	 "    algorithm: sliding-window\n"},
	{"O-099: algorithm sliding-log",
	 "limits: [{name: a, rate: 20 per 1m, algorithm: sliding-log}]\n",
	 "    rate: 20/min\n    per: source\n    algorithm: sliding-log\n"},
	{"O-099: per destination", ONE("per: destination"), "    per: destination\n"},
	{"O-099: per source and destination", ONE("per: source+destination"),
	 "    per: source+destination\n"},
	{"O-099: per IPv4 prefix", ONE("per: source/24"), "    per: source/24\n"},
	{"O-099: per IPv6 prefix", ONE("per: source/56"), "    per: source/56\n"},
	{"per, IPv6's length first", ONE("per: [source/56, source/24]"),
	 "    per: [source/24, source/56]\n"},
	{"per, both short: IPv4's first", ONE("per: [source/24, source/32]"),
	 "    per: [source/24, source/32]\n"},
	{"per, a list of one", ONE("per: [source/24]"), "    per: source/24\n"},
	{"O-099: on-exceed drop", ONE("on-exceed: drop"), "    on-exceed: drop\n"},
	{"O-099: on-exceed ban", ONE("on-exceed: {ban: 90s}"),
	 "    on-exceed: {ban: 90s, extend: false}\n"},
	{"O-099: on-exceed ban, extended", ONE("on-exceed: {ban: 1h, extend: true}"),
	 "    on-exceed: {ban: 1h, extend: true}\n"},
	{"O-099: mode", ONE("mode: observe"), "    mode: observe\n"},
	{"O-099: match protocols", ONE("match: {protocol: [tcp, icmpv6, 47]}"),
	 "{protocol: [tcp, icmpv6, 47]}"},
	{"O-099: match source-port", ONE("match: {source-port: 53}"), "{source-port: [53]}"},
	{"O-099: match destination-ports", ONE("match: {destination-port: [80, 1000-2000]}"),
	 "{destination-port: [80, 1000-2000]}"},
	{"O-099: match tcp-flags", ONE("match: {tcp-flags: \"syn, !ack\"}"),
	 "{tcp-flags: \"syn,!ack\"}"},
	{"O-099: match tcp-flags as a list", ONE("match: {tcp-flags: [syn, \"!ack\"]}"),
	 "{tcp-flags: \"syn,!ack\"}"},
	{"tcp-flags with tcp among the protocols",
	 ONE("match: {tcp-flags: rst, protocol: [udp, tcp]}"), "tcp-flags: \"rst\""},
	{"O-099: match destination", ONE("match: {destination: [192.0.2.0/24, \"2001:db8::/32\"]}"),
	 "{destination: [192.0.2.0/24, \"2001:db8::/32\"]}"},
	{"O-099: match family", ONE("match: {family: 6}"), "{family: ipv6}"},
	{"O-099: match vlan", ONE("match: {vlan: [0, 100-200]}"), "{vlan: [0, 100-200]}"},
	{"O-099: match length", ONE("match: {length: 64-128}"), "{length: [64-128]}"},
	{"O-099: rate unlimited", "limits: [{name: a, rate: unlimited}]\n",
	 "    rate: unlimited\n"},
	{"O-099: rate block", "limits: [{name: a, rate: block}]\n", "    rate: block\n"},
	{"O-099: words for tiers",
	 "tiers: [{name: t, sources: []}, {name: u, sources: 192.0.2.1}]\n"
	 "limits: [{name: a, rate: 1 pps, tiers: {t: unlimited, u: block}}]\n",
	 "    tiers:\n      t: {rate: unlimited}\n      u: {rate: block}\n"},
	{"O-099: a tier with the rate alone",
	 "tiers: [{name: t, sources: []}]\nlimits: [{name: a, rate: 1 pps, tiers: {t: 9 pps}}]\n",
	 "      t: {rate: 9 pps, burst: 9 packets}\n"},
	{"the tiers of an unlimited limit decide what it counts",
	 "tiers: [{name: t, sources: []}]\n"
	 "limits: [{name: a, rate: unlimited, tiers: {t: 8 Mbit/s}}]\n",
	 "      t: {rate: 8 Mbit/s, burst: 250 kB}\n"},
	{"a ban by the rate of a tier",
	 "tiers: [{name: t, sources: []}]\n"
	 "limits: [{name: a, rate: unlimited, tiers: {t: 8 pps}, on-exceed: {ban: 1m}}]\n",
	 "on-exceed: {ban: 1m, extend: false}"},
	{"names that look like YAML",
	 "tiers: [{name: \"-\", sources: []}]\n"
	 "limits: [{name: \"---\", rate: 1 pps, tiers: {\"-\": block}}, {name: null, rate: 1 pps}]\n",
	 "  - name: \"---\"\n"},
	{"a byte order mark", "\xef\xbb\xbf" LIMIT, "name: a"},
	{"lines that end in CR LF", "dry-run: true\r\n" LIMIT, "dry-run: true\n"},
	{"JSON", "{\"limits\": [{\"name\": \"a\", \"rate\": \"1 pps\", \"burst\": 5}]}",
	 "    burst: 5 packets\n"},
};

static void accepts(void **state)
{
	const struct accept_case *c = *state;
	static struct policy policy, again;
	char *text;

	parse(c->text, &policy);
	text = print(&policy);
	if (!strstr(text, c->printed))
		fail_msg("printed is:\n%s", text);
	parse(text, &again);
	assert_true(same_policy(&policy, &again));
	policy_free(&policy);
	policy_free(&again);
	free(text);
}

/* O-098 */
static void reads_twice_the_same(void **state)
{
	static struct policy first, second;

	(void)state;
	memset(&first, 0xff, sizeof(first));
	memset(&second, 0x55, sizeof(second));
	parse(design_example, &first);
	parse(design_example, &second);
	assert_true(same_policy(&first, &second));
	policy_free(&first);
	policy_free(&second);
}

/* ---- what it refuses ------------------------------------------------------------------------- */

#define PLACES_MAX 8

struct refuse_case {
	const char *name;
	const char *text;
	const char *says[PLACES_MAX]; /* "LINE:COLUMN: ..." of each finding, as far as it matters */
};

#define TIER "tiers: [{name: pro, sources: [192.0.2.0/24]}]\n"

static const struct refuse_case refuse_cases[] = {
	/* YAML */
	{"an empty file", "", {"1:1: the policy is empty; it needs at least one limit"}},
	{"comments alone", "# nothing\n", {"1:1: the policy is empty"}},
	{"an empty document", "---\n", {"1:1: the policy is empty"}},
	{"a list", "[]", {"1:1: a policy must be a mapping (key: value), not a list"}},
	{"one word", "hello", {"1:1: a policy must be a mapping"}},
	{"a bracket left open",
	 "limits: [{name: a, rate: 1 pps}\nallow: []\n",
	 {"2:1: did not find expected ',' or ']' while parsing a flow sequence that begins on line 1"}},
	{"a tab", "limits:\n\t- {name: a}\n", {"2:1: a tab indents this line"}},
	{"not UTF-8", "fragments: count\nlimits: \xff\n", {"2:9: the file is not UTF-8 text: "}},
	{"UTF-16",
	 "\xff\xfe"
	 "l",
	 {"1:1: the file is not UTF-8 text"}},
	{"an anchor", "allow: &x [192.0.2.1]\n" LIMIT, {"1:8: anchors (&) are not for policies"}},
	{"an alias",
	 "allow: &x [192.0.2.1]\ndeny: *x\n" LIMIT,
	 {"1:8: anchors", "2:7: aliases (*)"}},
	{"an escape sequence is not shown",
	 "allow: !x%1b%c2%9b z\n" LIMIT,
	 {"1:8: a word that begins with ! must stand in quotes: !x???"}},
	{"a flag without quotes",
	 ONE("match: {tcp-flags: !ack }"),
	 {"1:54: a word that begins with ! must stand in quotes: !ack"}},
	{"a flag without quotes in a list",
	 ONE("match: {tcp-flags: [syn, !ack]}"),
	 {"1:64: a word that begins with ! must stand in quotes"}},
	{"an explicit tag",
	 "dry-run: !!bool true\n" LIMIT,
	 {"1:10: tags (!!) are not for policies"}},
	{"an address without quotes",
	 "allow: [::1]\n" LIMIT,
	 {"1:9: an address that begins with a colon must stand in quotes"}},
	{"an address that is a mapping",
	 "allow:\n  - 2001:db8::\n" LIMIT,
	 {"2:5: an address must be a single value; put one that ends in a colon in quotes"}},
	{"two documents", LIMIT "---\n" LIMIT, {"2:1: a second document begins here"}},
	{"deep nesting", "[[[[[[[[[[[[[[[[[[[[", {"1:17: nested too deeply"}},
	{"a line break in a value",
	 "fragments: \"co\\nunt\"\n" LIMIT,
	 {"1:12: fragments has a line break or control character in it"}},
	{"a zero byte in a value",
	 "fragments: \"count\\0\"\n" LIMIT,
	 {"1:12: fragments has a line break"}},
	/* keys */
	{"no limits", "fragments: count\n", {"1:1: a policy needs the key \"limits\""}},
	{"an empty list of limits", "limits: []\n", {"1:9: there is no limit in the list"}},
	{"limits left empty", "limits:\n", {"1:8: limits has no value; it must be a list"}},
	{"an unknown key, nearly right",
	 "tabel: {}\n" LIMIT,
	 {"1:1: a policy has no key \"tabel\"; did you mean \"table\"?"}},
	{"an unknown key",
	 "colour: red\n" LIMIT,
	 {"1:1: a policy has no key \"colour\"; it has table, fragments, malformed, dry-run, allow"}},
	{"an underscore",
	 "table: {ipv4_prefix: 24}\n" LIMIT,
	 {"1:9: table has no key \"ipv4_prefix\"; did you mean \"ipv4-prefix\"?"}},
	{"an unknown key of a limit",
	 ONE("brust: 5"),
	 {"1:35: a limit has no key \"brust\"; did you mean \"burst\"?"}},
	{"an unknown key of a match",
	 ONE("match: {destination-prot: 5}"),
	 {"1:43: match has no key \"destination-prot\"; did you mean \"destination-port\"?"}},
	{"a key twice",
	 "limits:\n  - name: a\n    rate: 1 pps\n    rate: 2 pps\n",
	 {"4:5: \"rate\" is given twice; the first is on line 3"}},
	{"a list as a key", "[a, b]: 1\n" LIMIT, {"1:1: a key must be a single value, not a list"}},
	{"a limit without name and rate",
	 "limits:\n  - {burst: 5}\n",
	 {"2:5: a limit needs the key \"name\"", "2:5: a limit needs the key \"rate\""}},
	{"a limit that is a word",
	 "limits: [a]\n",
	 {"1:10: a limit must be a mapping (key: value)"}},
	{"limits that are a mapping",
	 "limits: {a: 1 pps}\n",
	 {"1:9: limits must be a list, not a mapping"}},
	{"a rate that is a list",
	 "limits: [{name: a, rate: [1 pps]}]\n",
	 {"1:26: rate must be a single value, not a list"}},
	{"a rate left empty", "limits: [{name: a, rate: }]\n", {": rate has no value"}},
	/* the table and the top */
	{"a window in the flat table",
	 "table: {type: flat}\nlimits: [{name: x, rate: 9 per 1s, algorithm: fixed-window}]\n",
	 {"2:9: limit x: a flat table holds token-bucket and leaky-bucket, not fixed-window"}},
	{"a slot without room for the source",
	 "table: {type: flat}\nlimits: [{name: x, rate: 100000000 pps}]\n",
	 {"of a flat table's 64 bits to tell sources apart, and 20 are needed"}},
	{"an unknown table",
	 "table: {type: hash}\n" LIMIT,
	 {"1:15: type 'hash' is not known; write lru or flat"}},
	{"O-006: too few sources",
	 "table: {sources: 1023}\n" LIMIT,
	 {"1:18: sources 1023 is too small; the minimum is 1024"}},
	{"too many sources", "table: {sources: 268435457}\n" LIMIT, {"the maximum is 268435456"}},
	{"O-019: IPv4 /33",
	 "table: {ipv4-prefix: 33}\n" LIMIT,
	 {"1:22: ipv4-prefix 33 is too large"}},
	{"O-019: IPv6 /0", "table: {ipv6-prefix: 0}\n" LIMIT, {"1:22: ipv6-prefix 0 is too small"}},
	{"no new sources",
	 "table: {new-sources: block}\n" LIMIT,
	 {"1:22: new-sources can't be block"}},
	{"new-sources without a unit", "table: {new-sources: 5}\n" LIMIT, {"write \"5 pps\""}},
	{"when-full: inherit",
	 "table: {when-full: inherit}\n" LIMIT,
	 {"1:20: when-full: inherit is for the flat table; write pass or drop"}},
	{"an unknown word",
	 "malformed: dorp\n" LIMIT,
	 {"1:12: malformed 'dorp' is not known; write drop or pass"}},
	{"yes for true",
	 "dry-run: yes\n" LIMIT,
	 {"dry-run 'yes' is not known; write false or true"}},
	{"host bits",
	 "allow: [192.0.2.1/24]\n" LIMIT,
	 {"1:9: '192.0.2.1/24' has bits beyond its length; "
	  "write 192.0.2.0/24"}},
	{"host bits, IPv6", "deny: [\"2001:db8::1/64\"]\n" LIMIT, {"write 2001:db8::/64"}},
	{"prefix lengths out of range",
	 "deny: [192.0.2.0/33, \"2001:db8::/129\"]\n" LIMIT,
	 {"1:8: '/33' is no prefix length; write /0 to /32", "1:22: '/129' is no prefix length"}},
	{"no address", "deny: [example.com]\n" LIMIT, {"is not an IPv4 or IPv6 address"}},
	/* rates */
	{"O-047: bps",
	 "limits: [{name: a, rate: 50 Mbps}]\n",
	 {"1:26: \"50 Mbps\" can be read as bits or as bytes; write \"50 Mbit/s\" or \"50 MB/s\""}},
	{"a rate without a unit", "limits: [{name: a, rate: 50}]\n", {"1:26: \"50\" has no unit"}},
	{"a rate of 0", "limits: [{name: a, rate: 0 pps}]\n", {"a rate can't be 0; write block"}},
	{"a rate out of range",
	 "limits: [{name: a, rate: 2000 Gbit/s}]\n",
	 {"1 B/s to 1000 Gbit/s"}},
	{"a burst of bytes on packets", ONE("burst: 5 kB"), {"1:42: \"5 kB\" counts bytes"}},
	{"a bare burst on bytes",
	 "limits: [{name: a, rate: 8 Mbit/s, burst: 9000}]\n",
	 {"1:43: \"9000\" has no unit"}},
	{"a burst beside block",
	 "limits: [{name: a, rate: block, burst: 5}]\n",
	 {"a burst means nothing beside the rate block"}},
	{"O-028: a burst of more than the clock counts",
	 "limits: [{name: a, rate: 1/day, burst: 100000 packets}]\n",
	 {"more than the clock can count"}},
	/* algorithms */
	{"an unknown algorithm",
	 ONE("algorithm: tokenbucket"),
	 {"1:46: algorithm 'tokenbucket' is not known; write token-bucket, leaky-bucket, fixed-window, "
	  "sliding-window or sliding-log"}},
	{"a burst beside a window",
	 ONE("algorithm: fixed-window, burst: 50"),
	 {"1:67: fixed-window admits what its rate says in each window; leave the burst out, or write "
	  "100 packets"}},
	{"a fixed window that can't be counted",
	 "limits: [{name: a, rate: 17179869184 per 1m, algorithm: fixed-window}]\n",
	 {"1:26: limit a: 17179869184 packets in a window: fixed-window holds 1 to 17179869183"}},
	{"a sliding window that can't be counted",
	 "limits: [{name: a, rate: 1048576 pps, algorithm: sliding-window}]\n",
	 {"1:26: limit a: 1048576 packets in a window: sliding-window holds 1 to 1048575"}},
	{"a log that is too long",
	 "limits: [{name: a, rate: 33/s, algorithm: sliding-log}]\n",
	 {"1:26: limit a: 33 packets in a window: sliding-log holds 1 to 32"}},
	{"a log of bytes",
	 "limits: [{name: a, rate: 1 kB/s, algorithm: sliding-log}]\n",
	 {"1:26: limit a: sliding-log counts packets only"}},
	{"a window of a tier that can't be counted",
	 TIER "limits: [{name: a, rate: 5/s, algorithm: sliding-log, tiers: {pro: 33/s}}]\n",
	 {"2:68: limit a: 33 packets in a window: sliding-log holds 1 to 32"}},
	/* per */
	{"an unknown per",
	 ONE("per: sources"),
	 {"1:40: per \"sources\" is not known; write source"}},
	{"two IPv6 lengths", ONE("per: [source/48, source/64]"), {"1:40: both lengths are IPv6's"}},
	{"three lengths",
	 ONE("per: [source/8, source/9, source/64]"),
	 {"1:40: per takes one value"}},
	{"per source/0", ONE("per: source/0"), {"1:40: the prefix length 0 is too small"}},
	{"per source/129", ONE("per: source/129"), {"1:40: the prefix length 129 is too large"}},
	{"more kinds than a packet may meet",
	 "limits:\n- {name: a, rate: 1 pps, per: source/1}\n- {name: b, rate: 1 pps, per: source/2}\n"
	 "- {name: c, rate: 1 pps, per: source/3}\n- {name: d, rate: 1 pps, per: source/4}\n"
	 "- {name: e, rate: 1 pps, per: source/5}\n- {name: f, rate: 1 pps, per: source/6}\n"
	 "- {name: g, rate: 1 pps, per: source/7}\n",
	 {"2:1: limits count per more than 6 different things"}},
	/* match */
	{"an unknown protocol",
	 ONE("match: {protocol: upd}"),
	 {"1:53: protocol \"upd\" is not known; did you mean \"udp\"?"}},
	{"a protocol out of range",
	 ONE("match: {protocol: 256}"),
	 {"1:53: protocol 256 is too large"}},
	{"a port out of range",
	 ONE("match: {source-port: [53, 65536]}"),
	 {"1:61: source-port 65536 is too large; the maximum is 65535"}},
	{"a range that runs backwards",
	 ONE("match: {destination-port: 2000-1000}"),
	 {"1:61: destination-port \"2000-1000\" runs backwards; write \"1000-2000\""}},
	{"ports with a comma",
	 ONE("match: {destination-port: \"80,443\"}"),
	 {"write a list: [80,443]"}},
	{"a vlan out of range",
	 ONE("match: {vlan: 4095}"),
	 {"vlan 4095 is too large; the maximum is 4094"}},
	{"a length of 0", ONE("match: {length: 0-9}"), {"length 0 is too small; the minimum is 1"}},
	{"an empty list of ports",
	 ONE("match: {source-port: []}"),
	 {"1:56: no packet can match an empty list"}},
	{"an unknown family",
	 ONE("match: {family: 5}"),
	 {"family \"5\" is not known; write ipv4 or ipv6"}},
	{"an unknown flag", ONE("match: {tcp-flags: snc}"), {"1:54: there is no TCP flag \"snc\""}},
	{"a flag set and not set",
	 ONE("match: {tcp-flags: \"syn,!syn\"}"),
	 {"1:54: no packet can match: syn can't be both set and not set"}},
	{"unreachable: ports of ICMP",
	 ONE("match: {protocol: icmp, destination-port: 53}"),
	 {"1:77: no packet can match: the protocol has no ports"}},
	{"unreachable: flags of UDP",
	 ONE("match: {protocol: udp, tcp-flags: syn}"),
	 {"1:69: no packet can match: only TCP has these flags"}},
	{"unreachable: a destination of the other family",
	 ONE("match: {family: ipv4, destination: \"2001:db8::/32\"}"),
	 {"1:70: no packet can match: 2001:db8::/32 is not of the family IPv4"}},
	/* on-exceed */
	{"a ban without a limit",
	 "limits: [{name: a, rate: unlimited, on-exceed: {ban: 1m}}]\n",
	 {"1:48: a ban needs a rate that can be exceeded"}},
	{"a ban without a unit", ONE("on-exceed: {ban: 10}"), {"1:52: \"10\" has no unit"}},
	{"a ban of nothing", ONE("on-exceed: {ban: 0s}"), {"a ban goes from 1ms to 3650d"}},
	{"a ban without a time", ONE("on-exceed: ban"), {"write drop, or {ban: 10m}"}},
	{"extend alone",
	 ONE("on-exceed: {extend: true}"),
	 {"1:46: on-exceed needs the key \"ban\""}},
	/* tiers */
	{"a tier that no limit knows",
	 TIER LIMIT,
	 {"1:16: the tier \"pro\" has a rate in no limit"}},
	{"a tier that is not declared",
	 ONE("tiers: {gold: 5 pps}"),
	 {"1:43: there is no tier \"gold\""}},
	{"a tier nearly declared",
	 TIER "limits: [{name: a, rate: 1 pps, tiers: {por: 5 pps, pro: block}}]\n",
	 {"2:41: there is no tier \"por\"; did you mean \"pro\"?"}},
	{"a tier without a rate",
	 TIER "limits: [{name: a, rate: 1 pps, tiers: {pro: {burst: 5}}}]\n",
	 {"2:46: what a tier gets needs the key \"rate\""}},
	{"a tier's rate of the other unit",
	 TIER "limits: [{name: a, rate: 1 pps, tiers: {pro: 8 Mbit/s}}]\n",
	 {"2:46: \"8 Mbit/s\" counts bytes, but this limit counts packets"}},
	{"a tier twice in a limit",
	 TIER "limits: [{name: a, rate: 1 pps, tiers: {pro: block, pro: block}}]\n",
	 {"2:53: the tier \"pro\" is given twice in this limit"}},
	{"a prefix in two tiers",
	 "tiers:\n  - {name: a, sources: [192.0.2.0/24]}\n  - {name: b, sources: [192.0.2.9, 192.0.2.0/24]}\n"
	 "limits: [{name: a, rate: 1 pps, tiers: {a: block, b: block}}]\n",
	 {"3:36: 192.0.2.0/24 is in the tier \"a\" already (line 2)"}},
	{"two tiers of one name",
	 "tiers: [{name: a, sources: []}, {name: a, sources: []}]\n"
	 "limits: [{name: a, rate: 1 pps, tiers: {a: block}}]\n",
	 {"1:40: there is a tier named \"a\" already"}},
	{"a tier's name",
	 "tiers: [{name: Pro, sources: []}]\n" LIMIT,
	 {"1:16: \"Pro\" can't name a tier"}},
	{"two limits of one name",
	 "limits: [{name: a, rate: 1 pps}, {name: a, rate: 1 pps}]\n",
	 {"1:41: there is a limit named \"a\" already"}},
	/* all of them */
	{"all errors, in the order of the file",
	 "limits:\n  - {name: a, rate: 5}\n  - {name: b, rate: 1 pps, mode: x}\nfragments: y\nmalformed: z\n",
	 {"2:21: \"5\" has no unit", "3:34: mode 'x' is not known",
	  "4:12: fragments 'y' is not known", "5:12: malformed 'z' is not known"}},
};

static void refuses(void **state)
{
	const struct refuse_case *c = *state;
	static struct policy policy;
	struct findings findings;
	size_t expected = 0;

	assert_int_equal(policy_parse(c->text, strlen(c->text), &policy, &findings), -EINVAL);
	while (expected < PLACES_MAX && c->says[expected])
		expected++;
	for (size_t i = 0; i < findings.count && i < expected; i++) {
		char text[600];

		snprintf(text, sizeof(text), "%u:%u: %s", findings.list[i].line,
			 findings.list[i].column, findings.list[i].what.text);
		if (!strstr(text, c->says[i]))
			fail_msg("the finding is: %s", text);
	}
	if (findings.count != expected)
		print_findings(&findings);
	assert_int_equal(findings.count, expected);
	findings_free(&findings);
	policy_free(&policy);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static void refuses_large_files(void **state)
{
	size_t size = (4U << 20) + 1;
	char *text = calloc(1, size);
	static struct policy policy;
	struct findings findings;

	(void)state;
	assert_non_null(text);
	memset(text, '\n', size);
	for (size_t i = 0; LIMIT[i]; i++)
		text[i] = LIMIT[i];
	assert_int_equal(policy_parse(text, size, &policy, &findings), -EINVAL);
	assert_non_null(strstr(findings.list[0].what.text, "larger than 4 MiB"));
	findings_free(&findings);
	assert_int_equal(policy_parse(text, size - 1, &policy, &findings), 0);
	findings_free(&findings);
	policy_free(&policy);
	free(text);
}

static void bounds_findings(void **state)
{
	char *text = calloc(1, 1 << 20);
	static struct policy policy;
	struct findings findings;
	size_t length = (size_t)sprintf(text, "allow:\n");

	(void)state;
	for (int i = 0; i < 20000; i++)
		length += (size_t)sprintf(text + length, "  - x\n");
	assert_int_equal(policy_parse(text, length, &policy, &findings), -EINVAL);
	assert_int_equal(findings.count, FINDINGS_MAX + 1);
	assert_non_null(
		strstr(findings.list[FINDINGS_MAX].what.text, "more errors than these 1000"));
	findings_free(&findings);
	policy_free(&policy);
	free(text);
}

static void takes_32_limits(void **state)
{
	char text[4096];
	size_t length = (size_t)sprintf(text, "limits:\n");
	static struct policy policy;
	struct findings findings;

	(void)state;
	for (int i = 0; i <= MAX_LIMITS; i++) {
		length += (size_t)sprintf(text + length, "  - {name: l%d, rate: 1 pps}\n", i);
		if (i != MAX_LIMITS - 1)
			continue;
		parse(text, &policy);
		assert_int_equal(policy.limit_count, MAX_LIMITS);
		policy_free(&policy);
	}
	assert_int_equal(policy_parse(text, length, &policy, &findings), -EINVAL);
	assert_int_equal(findings.count, 1);
	assert_int_equal(findings.list[0].line, 34);
	assert_non_null(strstr(findings.list[0].what.text, "one too many; the maximum is 32"));
	findings_free(&findings);
	policy_free(&policy);
}

/* ---- parse(print(p)) == p over generated policies -------------------------------------------- */

static uint64_t seed;

static uint64_t below(uint64_t bound)
{
	return random_below(&seed, bound);
}

/* Now and then. */
static bool chance(unsigned int of)
{
	return !below(of);
}

static void random_name(char name[NAME_SIZE])
{
	static const char characters[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";
	size_t length = 1 + below(chance(4) ? NAME_SIZE - 1 : 4);

	for (size_t i = 0; i < length; i++)
		name[i] = characters[below(sizeof(characters) - 1)];
	name[length] = '\0';
}

static struct rate random_rate(enum unit unit)
{
	struct complaint why;
	struct rate rate;
	char text[64];

	do {
		unsigned long long number = random_magnitude(&seed, 37);

		switch (below(6) + 6 * unit) {
		case 0:
			snprintf(text, sizeof(text), "%llu pps", number);
			break;
		case 1:
			snprintf(text, sizeof(text), "%llu/min", number);
			break;
		case 2:
			snprintf(text, sizeof(text), "%llu/day", number);
			break;
		case 3:
			snprintf(text, sizeof(text), "%llu.25 pps", number);
			break;
		case 4:
			snprintf(text, sizeof(text), "%llu per 7s", number);
			break;
		case 5:
			snprintf(text, sizeof(text), "%llu per 250ms", number);
			break;
		case 6:
			snprintf(text, sizeof(text), "%llu bit/s", number);
			break;
		case 7:
			snprintf(text, sizeof(text), "%llu kbit/s", number);
			break;
		case 8:
			snprintf(text, sizeof(text), "%llu B/s", number);
			break;
		case 9:
			snprintf(text, sizeof(text), "%llu KiB/s", number);
			break;
		case 10:
			snprintf(text, sizeof(text), "%llu.5 MB/s", number);
			break;
		default:
			snprintf(text, sizeof(text), "%llu B per 90s", number);
			break;
		}
	} while (parse_rate(text, unit, &rate, &why));
	return rate;
}

static struct policy_prefix random_prefix(void)
{
	struct policy_prefix prefix;
	bool ipv4 = chance(2);

	for (size_t i = 0; i < sizeof(prefix.address.bytes); i++)
		prefix.address.bytes[i] = chance(3) ? 0 : (uint8_t)below(256);
	if (ipv4) {
		memset(prefix.address.bytes, 0, 10);
		memset(prefix.address.bytes + 10, 0xff, 2);
	} else {
		prefix.address.bytes[0] = chance(2) ? 0x20 : chance(2) ? 0xfe : 0;
		prefix.address.bytes[1] = prefix.address.bytes[0] ? 0x80 : 0;
		prefix.address.bytes[2] = 1; /* not ::ffff:0:0/96 */
	}
	prefix.length = (unsigned int)below(ipv4 ? 33 : 129);
	if (!ipv4 && prefix.length < 24)
		prefix.length = 24;
	address_cut(&prefix.address, prefix.length);
	return prefix;
}

static void random_list(struct policy_prefixes *list, size_t count)
{
	while (count--) {
		struct policy_prefix prefix = random_prefix();

		assert_int_equal(policy_add_prefix(list, &prefix), 0);
	}
}

/* No prefix may be in two tiers: the tier is in the address. */
static void random_tiers(struct policy *policy)
{
	unsigned int count = chance(2) ? 0 : (unsigned int)below(MAX_TIERS + 1);
	struct complaint why;
	char name[NAME_SIZE];

	while (policy->tier_count < count) {
		struct policy_tier *tier;

		random_name(name);
		tier = policy_add_tier(policy, name, &why);
		if (!tier)
			continue;
		for (size_t i = below(5); i; i--) {
			struct policy_prefix prefix = random_prefix();

			if (!address_is_ipv4(&prefix.address) || prefix.length < 24)
				continue;
			prefix.address.bytes[12] = (uint8_t)policy->tier_count;
			assert_int_equal(policy_add_prefix(&tier->sources, &prefix), 0);
		}
	}
}

static void random_ranges(struct range_list *list, uint32_t min, uint32_t max)
{
	list->count = (unsigned int)below(chance(20) ? MATCH_MAX + 1 : 4);
	for (unsigned int i = 0; i < list->count; i++) {
		uint32_t first = min + (uint32_t)below(max - min + 1);

		list->ranges[i].first = first;
		list->ranges[i].last = chance(2) ? first : first + (uint32_t)below(max - first + 1);
	}
}

static void random_match(struct policy_match *match)
{
	if (chance(3))
		return;
	if (chance(3))
		random_ranges(&match->vlans, 0, 4094);
	if (chance(3))
		random_ranges(&match->lengths, 1, 65535);
	if (chance(3))
		random_ranges(&match->source_ports, 0, 65535);
	if (chance(3))
		random_ranges(&match->destination_ports, 0, 65535);
	if (chance(3)) {
		match->flags_mask = (uint8_t)below(256);
		match->flags_value = match->flags_mask & (uint8_t)below(256);
	}
	if (chance(3)) {
		random_ranges(&match->protocols, 0, 255);
		if (match->protocols.count) /* tcp, which has all fields */
			match->protocols.ranges[0] = (struct range){6, 6};
	}
	if (chance(3)) {
		match->destinations.count = (unsigned int)below(4);
		for (unsigned int i = 0; i < match->destinations.count; i++)
			match->destinations.prefixes[i] = random_prefix();
	}
	if (!match->destinations.count)
		match->family = chance(3) ? 4 : chance(2) ? 6 : 0;
}

static struct policy_per random_per(void)
{
	static const struct policy_per pers[] = {
		{.per = PER_SOURCE},	{.per = PER_DESTINATION}, {.per = PER_PAIR},
		{.per = PER_INTERFACE}, {PER_SOURCE, 24, 48},	  {PER_SOURCE, 0, 56},
		{PER_SOURCE, 16, 32},
	};

	return pers[below(COUNT(pers))];
}

/* What compiles, with a burst of its own or without one. */
static void random_meter(struct policy_limit *limit, struct rate *rate, uint64_t *burst)
{
	struct policy_limit tried = *limit;
	struct limit compiled;
	struct complaint why;

	do {
		tried.rate = random_rate(limit->rate.unit);
		tried.burst = has_window(limit->algorithm) ? tried.rate.amount
			      : chance(2)		   ? default_burst(&tried.rate)
							   : 60 + random_magnitude(&seed, 30);
		memset(tried.tiers, 0, sizeof(tried.tiers));
	} while (compile_limit(&tried, -1, 1, &compiled, &why));
	*rate = tried.rate;
	*burst = tried.burst;
}

static void random_grants(const struct policy *policy, struct policy_limit *limit, bool all)
{
	for (unsigned int i = 0; i < policy->tier_count; i++) {
		struct policy_tier_rate *tier = &limit->tiers[i];

		if (!all && chance(2))
			continue;
		tier->given = true;
		tier->rate.unit = limit->rate.unit;
		tier->rate.kind = chance(2) ? LIMIT_UNLIMITED : LIMIT_BLOCK;
		if (limit->rate.kind == LIMIT_METERED && chance(2)) {
			tier->rate = limit->rate;
			tier->burst = limit->burst;
		}
		if (tier->rate.kind == LIMIT_METERED && !has_window(limit->algorithm)) {
			tier->rate.amount += below(tier->rate.amount + 1);
			tier->burst += below(100);
		}
	}
}

static void random_limit(struct policy *policy, bool last)
{
	struct rate rate = {LIMIT_METERED, UNIT_PACKETS, 1, NS_PER_SECOND};
	struct policy_limit *limit;
	struct complaint why;
	char name[NAME_SIZE];

	do {
		random_name(name);
		limit = policy_add_limit(policy, name, &rate, &why);
	} while (!limit);
	limit->per = random_per();
	limit->algorithm = (enum algorithm)below(5);
	limit->rate.unit = chance(2) ? UNIT_PACKETS : UNIT_BYTES;
	if (limit->algorithm == ALGORITHM_SLIDING_LOG) {
		limit->rate.unit = UNIT_PACKETS;
		limit->per = (struct policy_per){0};
	}
	random_meter(limit, &limit->rate, &limit->burst);
	if (chance(8)) {
		limit->rate = (struct rate){chance(2) ? LIMIT_BLOCK : LIMIT_UNLIMITED, UNIT_PACKETS,
					    0, 0};
		limit->burst = 0;
	}
	random_match(&limit->match);
	random_grants(policy, limit, last);
	limit->observe = chance(3);
	if (limit->rate.kind == LIMIT_METERED && chance(3)) {
		limit->ban_ns = 1000000 * random_magnitude(&seed, 38);
		limit->ban_extends = chance(2);
	}
}

static void random_policy(struct policy *policy)
{
	unsigned int limits = 1 + (unsigned int)below(chance(20) ? MAX_LIMITS : 6);

	memset(policy, 0, sizeof(*policy));
	policy_defaults(policy);
	policy->sources_given = chance(2);
	policy->sources = policy->sources_given ? 1024 + below(1 << 20) : policy->sources;
	policy->ipv4_prefix_given = chance(2);
	policy->ipv4_prefix = policy->ipv4_prefix_given ? 1 + (unsigned int)below(32) : 32;
	policy->ipv6_prefix_given = chance(2);
	policy->ipv6_prefix = policy->ipv6_prefix_given ? 1 + (unsigned int)below(128) : 64;
	policy->new_sources = (enum new_sources)below(3);
	if (policy->new_sources == NEW_SOURCES_RATE)
		policy->new_sources_rate = random_rate(UNIT_PACKETS);
	policy->new_sources_beyond_pass = chance(2);
	policy->when_full_given = chance(2);
	if (policy->when_full_given)
		policy->when_full = (enum when_full)below(2);
	policy->table_type_given = chance(2);
	policy->fragments = (enum fragments_policy)below(3);
	policy->malformed = (enum malformed_policy)below(2);
	policy->dry_run = chance(2);
	policy->measure = chance(2) ? (uint32_t)below(MEASURE_MAX + 1) : 0;
	random_list(&policy->allow, below(chance(10) ? 200 : 3));
	random_list(&policy->deny, below(chance(10) ? 200 : 3));
	random_tiers(policy);
	for (unsigned int i = 0; i < limits; i++)
		random_limit(policy, i + 1 == limits);
}

static bool compiles(const struct policy *policy)
{
	const struct compile_facts facts = {.possible_cpus = 1};
	static struct table_identity table;
	static struct config config;
	struct complaint why;

	return !table_new(policy, &table, &why) &&
	       !compile_policy(policy, &table, &facts, &config, &why);
}

static void prints_what_it_reads(void **state)
{
	static struct policy policy, again;
	unsigned int rounds = 0;

	(void)state;
	for (uint64_t round = 0; rounds < ROUNDS; round++) {
		char *text;

		assert_true(round < 2 * ROUNDS);
		seed = round;
		random_policy(&policy);
		if (compiles(&policy)) {
			text = print(&policy);
			parse(text, &again);
			assert_true(same_policy(&policy, &again));
			policy_free(&again);
			free(text);
			rounds++;
		}
		policy_free(&policy);
	}
}

/* ---- damaged files: no crash, and always a finding ------------------------------------------- */

static void survives_damage(void **state)
{
	static struct policy policy;
	struct findings findings;
	char text[sizeof(design_example)];

	(void)state;
	for (seed = 1; seed < 20000; seed++) {
		int err;

		memcpy(text, design_example, sizeof(text));
		for (int i = 0; i < 1 + (int)(seed % 3); i++)
			text[below(sizeof(text) - 1)] = "{}[]:,&*!#-\"' \n\tx0\xff"[below(19)];
		err = policy_parse(text, sizeof(text) - 1, &policy, &findings);
		assert_true(err ? err == -EINVAL && findings.count : !findings.count);
		findings_free(&findings);
		policy_free(&policy);
	}
}

/* ---- the examples ---------------------------------------------------------------------------- */

static const char *const examples[] = {
	"docs/examples/api-tiers.yaml",	  "docs/examples/dns-authoritative.yaml",
	"docs/examples/game-server.yaml", "docs/examples/web-syn-flood.yaml",
	"docs/examples/mail-server.yaml",
};

static void reads_examples(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(examples); i++) {
		static struct policy policy, again;
		struct findings findings;
		struct complaint why = {""};
		char *text;
		int err = policy_read(examples[i], &policy, &findings, &why);

		print_findings(&findings);
		if (err)
			fail_msg("%s: %d %s", examples[i], err, why.text);
		findings_free(&findings);
		text = print(&policy);
		parse(text, &again);
		assert_true(same_policy(&policy, &again));
		policy_free(&policy);
		policy_free(&again);
		free(text);
	}
}

static void refuses_files_that_are_none(void **state)
{
	static struct policy policy;
	struct findings findings;
	struct complaint why = {""};

	(void)state;
	assert_int_equal(policy_read("/nonexistent.yaml", &policy, &findings, &why), -ENOENT);
	assert_string_equal(why.text, "cannot read /nonexistent.yaml: No such file or directory");
	assert_int_equal(policy_read("/", &policy, &findings, &why), -EISDIR);
	assert_int_equal(findings.count, 0);
}

int main(void)
{
	static const struct CMUnitTest plain[] = {
		{.name = "the example of the design", .test_func = reads_the_example},
		{.name = "O-098: two readings are the same bytes",
		 .test_func = reads_twice_the_same},
		{.name = "O-092, O-099: parse(print(p)) == p", .test_func = prints_what_it_reads},
		cmocka_unit_test(refuses_large_files),
		cmocka_unit_test(bounds_findings),
		cmocka_unit_test(takes_32_limits),
		cmocka_unit_test(survives_damage),
		cmocka_unit_test(reads_examples),
		cmocka_unit_test(refuses_files_that_are_none),
	};
	static struct CMUnitTest tests[COUNT(plain) + COUNT(accept_cases) + COUNT(refuse_cases)];
	struct CMUnitTest *to = tests + COUNT(plain);

	memcpy(tests, plain, sizeof(plain));
	for (size_t i = 0; i < COUNT(accept_cases); i++)
		*to++ = (struct CMUnitTest){.name = accept_cases[i].name,
					    .test_func = accepts,
					    .initial_state = (void *)(uintptr_t)&accept_cases[i]};
	for (size_t i = 0; i < COUNT(refuse_cases); i++)
		*to++ = (struct CMUnitTest){.name = refuse_cases[i].name,
					    .test_func = refuses,
					    .initial_state = (void *)(uintptr_t)&refuse_cases[i]};
	return cmocka_run_group_tests_name("policy_file", tests, NULL, NULL);
}
