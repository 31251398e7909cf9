// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tiers in a policy file: who is in them, and what each limit grants them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "nearest.h"
#include "policy_rules.h"
#include "policy_sections.h"
#include "prefix.h"

/* ---- the section `tiers` ---- */

/* A tier whose name may not be known yet. */
struct tier_draft {
	const yaml_node_t *name_node;
	const char *name;
	const yaml_node_t *sources_node;
	struct policy_prefixes sources;
};

static void read_tier_name(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct tier_draft *draft = target;

	draft->name_node = node;
	draft->name = read_text(reader, node, "name");
}

static void read_tier_sources(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct tier_draft *draft = target;

	draft->sources_node = node;
	read_prefixes(reader, node, &draft->sources);
}

static void read_tier(struct reader *reader, const yaml_node_t *node, void *target)
{
	static const struct key keys[] = {
		{"name", read_tier_name, true},
		{"sources", read_tier_sources, true},
		{NULL, NULL, false},
	};
	struct tier_draft draft = {0};
	struct policy_tier *tier = NULL;
	struct complaint why;

	(void)target;
	read_mapping(reader, node, "a tier", keys, &draft);
	if (draft.name) {
		tier = policy_add_tier(reader->policy, draft.name, &why);
		if (!tier)
			blame(reader, draft.name_node, "%s", why.text);
	}
	if (!tier) {
		free(draft.sources.prefixes);
		return;
	}
	tier->sources = draft.sources;
	reader->tier_nodes[tier - reader->policy->tiers] = draft.name_node;
	reader->tier_sources[tier - reader->policy->tiers] = draft.sources_node;
}

/* ---- no prefix in two tiers ---- */

struct placed_prefix {
	struct policy_prefix prefix;
	unsigned int tier;
	const yaml_node_t *node;
};

static int by_prefix(const void *a, const void *b)
{
	const struct placed_prefix *left = a, *right = b;
	int order = memcmp(&left->prefix.address, &right->prefix.address, sizeof(struct address));

	if (order)
		return order;
	if (left->prefix.length != right->prefix.length)
		return left->prefix.length < right->prefix.length ? -1 : 1;
	return left->tier < right->tier ? -1 : left->tier > right->tier;
}

static void blame_shared(struct reader *reader, const struct placed_prefix *first,
			 const struct placed_prefix *second)
{
	char text[ADDRESS_TEXT_SIZE];

	format_prefix(&first->prefix, text);
	blame(reader, second->node, "%s is in the tier \"%s\" already (line %zu)", text,
	      reader->policy->tiers[first->tier].name, first->node->start_mark.line + 1);
}

static size_t place_prefixes(const struct reader *reader, struct placed_prefix *placed)
{
	const struct policy *policy = reader->policy;
	size_t count = 0;

	for (unsigned int t = 0; t < policy->tier_count; t++)
		for (size_t i = 0; i < policy->tiers[t].sources.count; i++)
			placed[count++] = (struct placed_prefix){
				policy->tiers[t].sources.prefixes[i], t,
				list_item(reader, reader->tier_sources[t], i)};
	return count;
}

static void check_overlap(struct reader *reader)
{
	struct placed_prefix *placed;
	size_t count = 1;

	for (unsigned int t = 0; t < reader->policy->tier_count; t++)
		count += reader->policy->tiers[t].sources.count;
	placed = calloc(count, sizeof(*placed));
	if (!placed) {
		reader->err = -ENOMEM;
		return;
	}
	count = place_prefixes(reader, placed);
	qsort(placed, count, sizeof(*placed), by_prefix);
	for (size_t i = 1; i < count; i++)
		if (placed[i].tier != placed[i - 1].tier &&
		    placed[i].prefix.length == placed[i - 1].prefix.length &&
		    !memcmp(&placed[i].prefix.address, &placed[i - 1].prefix.address,
			    sizeof(struct address)))
			blame_shared(reader, &placed[i - 1], &placed[i]);
	free(placed);
}

void read_tiers(struct reader *reader, const yaml_node_t *node, void *target)
{
	size_t findings = reader->findings->count;

	if (!is_absent(node))
		read_list(reader, node, "tiers", read_tier, target);
	/* Only then does each prefix stand where its node does. */
	if (reader->findings->count == findings && !reader->err)
		check_overlap(reader);
}

/* ---- `tiers` in a limit ---- */

/* What a limit grants one tier. */
struct grant {
	const struct policy_limit *limit;
	struct policy_tier_rate *rate;
	bool rate_read, burst_given;
};

static void read_grant_rate(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct grant *grant = target;
	struct rate rate;

	if (read_rate(reader, node, "rate", grant->limit->rate.unit, &rate))
		return;
	grant->rate->rate = rate;
	grant->rate_read = true;
}

static void read_grant_burst(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct grant *grant = target;

	grant->burst_given = true;
	if (grant->rate_read)
		read_burst(reader, node, grant->limit->algorithm, &grant->rate->rate,
			   &grant->rate->burst);
}

static void read_grant(struct reader *reader, const yaml_node_t *node, struct grant *grant)
{
	static const struct key keys[] = {
		{"rate", read_grant_rate, true},
		{"burst", read_grant_burst, false},
		{NULL, NULL, false},
	};

	if (is_scalar(node))
		read_grant_rate(reader, node, grant);
	else
		read_mapping(reader, node, "what a tier gets", keys, grant);
	if (grant->rate_read && !grant->burst_given)
		grant->rate->burst = algorithm_burst(grant->limit->algorithm, &grant->rate->rate);
}

/* Its position, or -1. */
static int find_tier(struct reader *reader, const yaml_node_t *node)
{
	const char *name = read_text(reader, node, "a tier's name");
	const struct policy *policy = reader->policy;
	struct nearest nearest = {.text = name};

	if (!name)
		return -1;
	for (unsigned int i = 0; i < policy->tier_count; i++) {
		if (!strcmp(policy->tiers[i].name, name))
			return (int)i;
		nearest_try(&nearest, policy->tiers[i].name);
	}
	if (nearest.best)
		blame(reader, node, "there is no tier \"%.60s\"; did you mean \"%s\"?", name,
		      nearest.best);
	else
		blame(reader, node,
		      "there is no tier \"%.60s\"; declare it at the top: tiers: [{name: "
		      "%.60s, sources: [...]}]",
		      name, name);
	return -1;
}

static void read_limit_tier(struct reader *reader, const yaml_node_t *key, const yaml_node_t *value,
			    void *target)
{
	struct policy_limit *limit = target;
	struct grant grant = {.limit = limit};
	int tier = find_tier(reader, key);

	if (tier < 0)
		return;
	if (limit->tiers[tier].given) {
		blame(reader, key, "the tier \"%s\" is given twice in this limit",
		      reader->policy->tiers[tier].name);
		return;
	}
	reader->tier_used[tier] = true;
	limit->tiers[tier].given = true;
	grant.rate = &limit->tiers[tier];
	read_grant(reader, value, &grant);
}

/*
 * The words unlimited and block count nothing in particular: where the limit's own rate is one,
 * the first tier with a number decides for all.
 */
static void find_unit(struct reader *reader, const yaml_node_t *key, const yaml_node_t *value,
		      void *target)
{
	const yaml_node_t *rate = is_scalar(value) ? value : mapping_value(reader, value, "rate");
	struct policy_limit *limit = target;

	(void)key;
	if (rate && is_scalar(rate) &&
	    rate_unit((const char *)rate->data.scalar.value) == UNIT_BYTES)
		limit->rate.unit = UNIT_BYTES;
}

void read_limit_tiers(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct policy_limit *limit = target;

	if (limit->rate.kind != LIMIT_METERED && node->type == YAML_MAPPING_NODE)
		read_pairs(reader, node, "tiers", find_unit, limit);
	read_pairs(reader, node, "tiers", read_limit_tier, limit);
}

void blame_unused_tiers(struct reader *reader)
{
	for (unsigned int i = 0; i < reader->policy->tier_count; i++)
		if (!reader->tier_used[i])
			blame(reader, reader->tier_nodes[i],
			      "the tier \"%s\" has a rate in no limit; give it one in a limit (tiers: "
			      "{%s: {rate: ...}}), or leave the tier out",
			      reader->policy->tiers[i].name, reader->policy->tiers[i].name);
}
