// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The section `limits` of a policy file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compile.h"
#include "policy_rules.h"
#include "policy_sections.h"
#include "words.h"

#define BAN_MIN (NS_PER_SECOND / 1000)
#define BAN_MAX (3650ULL * 24 * 3600 * NS_PER_SECOND)

/* A limit that is not complete yet; first, so that a reader of limits alone reads it too. */
struct draft {
	struct policy_limit limit;
	const yaml_node_t *name_node;
	const char *name;
	bool rate_read, burst_given;
};

static void read_name(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct draft *draft = target;

	draft->name_node = node;
	draft->name = read_text(reader, node, "name");
}

static void read_algorithm(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct draft *draft = target;
	int word = read_word(reader, node, "algorithm", algorithm_words);

	if (word >= 0)
		draft->limit.algorithm = (enum algorithm)word;
}

/* ---- rate and burst ---- */

int read_rate(struct reader *reader, const yaml_node_t *node, const char *noun, enum unit unit,
	      struct rate *rate)
{
	const char *text = read_text(reader, node, noun);
	struct complaint why;

	if (!text)
		return -1;
	if (!parse_rate(text, unit, rate, &why))
		return 0;
	blame(reader, node, "%s", why.text);
	return -1;
}

static void read_limit_rate(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct draft *draft = target;
	enum unit unit = is_scalar(node) ? rate_unit((const char *)node->data.scalar.value)
					 : UNIT_PACKETS;

	draft->rate_read = !read_rate(reader, node, "rate", unit, &draft->limit.rate);
}

int read_burst(struct reader *reader, const yaml_node_t *node, enum algorithm algorithm,
	       const struct rate *rate, uint64_t *burst)
{
	const char *text = read_text(reader, node, "burst");
	char whole[UNITS_TEXT_SIZE];
	struct complaint why;

	if (!text)
		return -1;
	if (parse_burst(text, rate, burst, &why)) {
		blame(reader, node, "%s", why.text);
		return -1;
	}
	if (!has_window(algorithm) || *burst == rate->amount)
		return 0;
	format_burst(rate->amount, rate->unit, whole, sizeof(whole));
	blame(reader, node,
	      "%s admits what its rate says in each window; leave the burst out, or write "
	      "%s",
	      algorithm_words[algorithm], whole);
	return -1;
}

static void read_limit_burst(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct draft *draft = target;

	draft->burst_given = true;
	/* Of a rate that was refused, no burst can be judged. */
	if (draft->rate_read)
		read_burst(reader, node, draft->limit.algorithm, &draft->limit.rate,
			   &draft->limit.burst);
}

static void read_tier_rates(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct draft *draft = target;

	read_limit_tiers(reader, node, &draft->limit);
}

static void read_limit_match(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct draft *draft = target;

	read_match(reader, node, &draft->limit.match);
}

/* ---- per ---- */

#define SOURCE_SLASH "source/"

/* The length in "source/N", or 0 after having said what is wrong. */
static unsigned int read_source_length(struct reader *reader, const yaml_node_t *node)
{
	const char *text = read_text(reader, node, "per");
	struct complaint why;
	uint64_t length = 0;

	if (!text)
		return 0;
	if (strncmp(text, SOURCE_SLASH, strlen(SOURCE_SLASH)) != 0)
		blame(reader, node,
		      "per \"%.60s\" is not known; write source, source/N, [source/24, "
		      "source/48], destination, source+destination or interface",
		      text);
	else if (parse_count(text + strlen(SOURCE_SLASH), "the prefix length", 1, 128, &length,
			     &why))
		blame(reader, node, "%s", why.text);
	return (unsigned int)length;
}

static void read_per_value(struct reader *reader, const yaml_node_t *node, struct policy_per *per)
{
	unsigned int length;

	for (int i = 0; is_scalar(node) && per_words[i]; i++)
		if (!strcmp((const char *)node->data.scalar.value, per_words[i])) {
			per->per = (enum per)i;
			return;
		}
	length = read_source_length(reader, node);
	if (length <= 32)
		per->ipv4_prefix = length;
	else
		per->ipv6_prefix = length;
}

/* Two lengths are IPv4's and IPv6's; where both could be either, in this order. */
static void read_per_pair(struct reader *reader, const yaml_node_t *node, struct policy_per *per)
{
	unsigned int first = read_source_length(reader, list_item(reader, node, 0));
	unsigned int second = read_source_length(reader, list_item(reader, node, 1));

	if (first > 32 && second > 32)
		blame(reader, node,
		      "both lengths are IPv6's; write one up to 32 for IPv4 and one for "
		      "IPv6, such as [source/24, source/48]");
	per->ipv4_prefix = first <= 32 ? first : second;
	per->ipv6_prefix = first <= 32 ? second : first;
}

static void read_per(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct draft *draft = target;
	struct policy_per *per = &draft->limit.per;

	if (node->type != YAML_SEQUENCE_NODE)
		read_per_value(reader, node, per);
	else if (list_item(reader, node, 2) || !list_item(reader, node, 0))
		blame(reader, node,
		      "per takes one value, or a list of an IPv4 and an IPv6 length, such "
		      "as [source/24, source/48]");
	else if (list_item(reader, node, 1))
		read_per_pair(reader, node, per);
	else
		read_per_value(reader, list_item(reader, node, 0), per);
}

/* ---- on-exceed and mode ---- */

static void read_ban(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct draft *draft = target;
	const char *text = read_text(reader, node, "ban");
	struct complaint why;
	uint64_t ns;

	if (!text)
		return;
	if (parse_time(text, &ns, &why))
		blame(reader, node, "%s", why.text);
	else if (ns < BAN_MIN || ns > BAN_MAX)
		blame(reader, node, "\"%.60s\" is out of range; a ban goes from 1ms to 3650d",
		      text);
	else
		draft->limit.ban_ns = ns;
}

static void read_extend(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct draft *draft = target;

	draft->limit.ban_extends = read_word(reader, node, "extend", boolean_words) > 0;
}

static void read_on_exceed(struct reader *reader, const yaml_node_t *node, void *target)
{
	static const struct key keys[] = {
		{"ban", read_ban, true},
		{"extend", read_extend, false},
		{NULL, NULL, false},
	};
	const char *text;

	if (!is_scalar(node)) {
		read_mapping(reader, node, "on-exceed", keys, target);
		return;
	}
	text = read_text(reader, node, "on-exceed");
	if (text && strcmp(text, "drop") != 0)
		blame(reader, node, "on-exceed \"%.60s\" is not known; write drop, or {ban: 10m}",
		      text);
}

static void read_mode(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct draft *draft = target;

	draft->limit.observe = read_word(reader, node, "mode", observe_words) > 0;
}

/* ---- all of a limit ---- */

static void check_rules(struct reader *reader, const yaml_node_t *node,
			const struct policy_limit *limit)
{
	struct complaint why;

	for (int i = 0; limit_rules[i].check; i++) {
		const yaml_node_t *value = mapping_value(reader, node, limit_rules[i].key);
		const yaml_node_t *part = value && limit_rules[i].part
						  ? mapping_value(reader, value,
								  limit_rules[i].part)
						  : NULL;

		/* A burst that was left out is the rate's. */
		if (!value)
			value = mapping_value(reader, node, "rate");
		if (limit_rules[i].check(limit, &why))
			blame(reader, part ?: value, "%s", why.text);
	}
}

/* Whether it can be counted: the last question, for what is right otherwise. */
static void check_compiles(struct reader *reader, const yaml_node_t *node,
			   const struct policy_limit *limit)
{
	const yaml_node_t *tiers = mapping_value(reader, node, "tiers");
	struct limit compiled;
	struct complaint why;

	if (compile_limit(limit, -1, 1, &compiled, &why)) {
		blame(reader, mapping_value(reader, node, "rate"), "%s", why.text);
		return;
	}
	for (unsigned int i = 0; i < reader->policy->tier_count; i++) {
		struct policy_limit limit_of_tier = tier_limit(limit, i);

		if (limit->tiers[i].given && compile_limit(&limit_of_tier, -1, 1, &compiled, &why))
			blame(reader, mapping_value(reader, tiers, reader->policy->tiers[i].name),
			      "%s", why.text);
	}
}

/* Its name at last, which may be taken. */
static void finish(struct reader *reader, struct draft *draft)
{
	struct complaint why;
	struct policy_limit *limit;

	if (!draft->name)
		return;
	limit = policy_add_limit(reader->policy, draft->name, &draft->limit.rate, &why);
	if (!limit) {
		blame(reader, draft->name_node, "%s", why.text);
		return;
	}
	memcpy(draft->limit.name, limit->name, sizeof(limit->name));
	memcpy(limit, &draft->limit, sizeof(*limit));
}

static void read_limit(struct reader *reader, const yaml_node_t *node, void *target)
{
	/* In the order in which they need each other: a burst its rate, a tier all of them. */
	static const struct key keys[] = {
		{"name", read_name, true},	   {"algorithm", read_algorithm, false},
		{"rate", read_limit_rate, true},   {"burst", read_limit_burst, false},
		{"tiers", read_tier_rates, false}, {"match", read_limit_match, false},
		{"per", read_per, false},	   {"on-exceed", read_on_exceed, false},
		{"mode", read_mode, false},	   {NULL, NULL, false},
	};
	size_t findings = reader->findings->count;
	struct draft draft;

	(void)target;
	memset(&draft, 0, sizeof(draft)); /* padding too: policies are compared */
	draft.limit.rate = (struct rate){LIMIT_METERED, UNIT_PACKETS, 1, NS_PER_SECOND};
	read_mapping(reader, node, "a limit", keys, &draft);
	if (!draft.burst_given)
		draft.limit.burst = algorithm_burst(draft.limit.algorithm, &draft.limit.rate);
	if (reader->findings->count == findings)
		check_rules(reader, node, &draft.limit);
	finish(reader, &draft);
	if (reader->findings->count == findings)
		check_compiles(reader, node, &draft.limit);
}

void read_limits(struct reader *reader, const yaml_node_t *node, void *target)
{
	if (node->type == YAML_SEQUENCE_NODE && !list_item(reader, node, 0))
		blame(reader, node, "there is no limit in the list; a policy needs at least one");
	read_list(reader, node, "limits", read_limit, target);
	blame_unused_tiers(reader);
}
