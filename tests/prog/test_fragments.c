// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The three policies for fragments, and what is a fragment. */
#include "table.h"

#define CHAIN(...) .extensions = {__VA_ARGS__}

/* clang-format off */
#define DROPPED {.verdict = XDP_DROP, .reason = REASON_FRAGMENT}
#define PASSED	{.verdict = XDP_PASS, .reason = REASON_FRAGMENT}

/* In each table with another outcome. */
#define FRAGMENTS_OF(OUTCOME)                                                                     \
	{"O-067: first fragment", {.named = "PFRAG1"}, OUTCOME(CLIENT4)},                         \
	{"O-067: last fragment", {.named = "PFRAGN"}, OUTCOME(CLIENT4)},                          \
	{"a fragment in the middle",                                                              \
	 {IPV4(.protocol = 17, .fragment_offset = 8, .more_fragments = 1), .payload = 8},         \
	 OUTCOME(CLIENT4)},                                                                       \
	{"a fragment that must not be fragmented",                                                \
	 {IPV4(.dont_fragment = 1, .more_fragments = 1), UDP()},                                  \
	 OUTCOME(CLIENT4)},                                                                       \
	{"a fragment in a tag", {.tags = {0x8100}, IPV4(.more_fragments = 1), UDP()},             \
	 OUTCOME(CLIENT4)},                                                                       \
	{"IPv6, first fragment",                                                                  \
	 {IPV6(.more_fragments = 1, CHAIN(EXT_FRAGMENT)), UDP()},                                 \
	 OUTCOME(CLIENT6)},                                                                       \
	{"O-066: IPv6, later fragment", {.named = "P6FRAGN"}, OUTCOME(CLIENT6)},                  \
	{"IPv6, a fragment behind other headers",                                                 \
	 {IPV6(.more_fragments = 1, CHAIN(EXT_HOP_BY_HOP, EXT_ROUTING, EXT_FRAGMENT)), UDP()},    \
	 OUTCOME(CLIENT6)},                                                                       \
	{"a fragment of a solicitation is one",                                                   \
	 {IPV6(.hop_limit = 255, .more_fragments = 1, CHAIN(EXT_FRAGMENT)), ICMPV6(.type = 135)}, \
	 OUTCOME(CLIENT6)}

/* No fragments, under each policy. */
#define WHOLE                                                                                     \
	{"a whole packet", {.named = "P4U"}, CHARGED(CLIENT4)},                                   \
	{"one that must not be fragmented", {IPV4(.dont_fragment = 1), UDP()}, CHARGED(CLIENT4)}, \
	{"the reserved bit", {.named = "P4U", .poke = {{.at = 20, .byte = 0x80}}},                \
	 CHARGED(CLIENT4)},                                                                       \
	{"an atomic fragment", {IPV6(CHAIN(EXT_FRAGMENT)), UDP()}, CHARGED(CLIENT6)},             \
	{"a whole solicitation", {.named = "PNS"}, CONTROL},                                      \
	{"a fragment that can't be parsed",                                                       \
	 {IPV4(.protocol = 6, .more_fragments = 1), .payload = 8},                                \
	 MALFORMED}

#define ALWAYS_DROPPED(source) DROPPED
#define ALWAYS_PASSED(source)  PASSED
/* clang-format on */

static const struct row counted[] = {FRAGMENTS_OF(CHARGED), WHOLE};
static const struct row dropped[] = {FRAGMENTS_OF(ALWAYS_DROPPED), WHOLE};
static const struct row passed[] = {FRAGMENTS_OF(ALWAYS_PASSED), WHOLE};

static struct policy drop_fragments(void)
{
	struct policy policy = roomy_policy();

	policy.fragments = FRAGMENTS_DROP;
	return policy;
}

static struct policy pass_fragments(void)
{
	struct policy policy = roomy_policy();

	policy.fragments = FRAGMENTS_PASS;
	return policy;
}

int main(void)
{
	static const struct table tables[] = {
		{.name = "fragments: count", .rows = counted, .row_count = COUNT(counted)},
		{.name = "fragments: drop",
		 .policy = drop_fragments,
		 .rows = dropped,
		 .row_count = COUNT(dropped)},
		{.name = "fragments: pass",
		 .policy = pass_fragments,
		 .rows = passed,
		 .row_count = COUNT(passed)},
	};
	int failed = 0;

	for (size_t i = 0; i < COUNT(tables); i++)
		failed += run_table(&tables[i]);
	return failed;
}
