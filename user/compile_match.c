// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From the matches of limits to arrays of limit sets. */
#include "compile_match.h"

#include <string.h>
#include "compile_lists.h"

/* The match of the limit in place @index of the charge order. */
static const struct policy_match *match_of(const struct policy *policy, const struct config *config,
					   unsigned int index)
{
	for (unsigned int i = 0; i < policy->limit_count; i++)
		if (!strcmp(policy->limits[i].name, config->labels[index].name))
			return &policy->limits[i].match;
	return NULL;
}

static uint8_t fields_of(const struct policy_match *match)
{
	return (match->protocols.count ? MATCH_PROTOCOL : 0) |
	       (match->flags_mask ? MATCH_TCP_FLAGS : 0) |
	       (match->source_ports.count ? MATCH_SOURCE_PORT : 0) |
	       (match->destination_ports.count ? MATCH_DESTINATION_PORT : 0) |
	       (match->vlans.count ? MATCH_VLAN : 0) | (match->lengths.count ? MATCH_LENGTH : 0) |
	       (match->destinations.count ? MATCH_DESTINATION : 0) |
	       (match->family ? MATCH_FAMILY : 0);
}

void compile_match_summary(const struct policy *policy, struct config *config)
{
	struct match_defaults *defaults = &config->defaults;

	for (unsigned int i = 0; i < config->limit_count; i++) {
		const struct policy_match *match = match_of(policy, config, i);
		uint32_t bit = 1U << i;

		config->match_fields |= fields_of(match);
		defaults->family[0] |= match->family == 6 ? 0 : bit;
		defaults->family[1] |= match->family == 4 ? 0 : bit;
		if (!match->source_ports.count && !match->destination_ports.count)
			defaults->no_ports |= bit;
		if (!match->flags_mask)
			defaults->no_flags |= bit;
		if (!match->destinations.count)
			defaults->no_destination |= bit;
	}
}

/* Let @bit through at the values of @list, or at all when the field is not matched on. */
static void allow_ranges(uint32_t *table, uint32_t values, const struct range_list *list,
			 uint32_t bit)
{
	const struct range everything = {0, values - 1};
	const struct range *ranges = list->count ? list->ranges : &everything;
	unsigned int count = list->count ?: 1;

	for (unsigned int r = 0; r < count; r++)
		for (uint32_t value = ranges[r].first; value <= ranges[r].last && value < values;
		     value++)
			table[value] |= bit;
}

static void allow_flags(uint32_t *table, const struct policy_match *match, uint32_t bit)
{
	for (unsigned int flags = 0; flags < FLAGS_VALUES; flags++)
		if ((flags & match->flags_mask) == match->flags_value)
			table[flags] |= bit;
}

/* ---- destination prefixes ---- */

static void add_prefixes(struct match_tables *tables, const struct prefix_list *list, uint32_t bit)
{
	for (unsigned int i = 0; i < list->count; i++) {
		struct match_prefix *prefix = &tables->prefixes[tables->prefix_count++];

		prefix->key = prefix_key_of(&list->prefixes[i]);
		prefix->limits = bit;
	}
}

/* The kernel finds only the longest prefix: it must know of those that cover it. */
static void inherit(struct match_tables *tables, uint32_t everywhere)
{
	uint32_t limits[MAX_LIMITS * MATCH_MAX];

	for (unsigned int i = 0; i < tables->prefix_count; i++) {
		limits[i] = everywhere;
		for (unsigned int k = 0; k < tables->prefix_count; k++)
			if (prefix_covers(&tables->prefixes[k].key, &tables->prefixes[i].key))
				limits[i] |= tables->prefixes[k].limits;
	}
	for (unsigned int i = 0; i < tables->prefix_count; i++)
		tables->prefixes[i].limits = limits[i];
}

void compile_match(const struct policy *policy, const struct config *config,
		   struct match_tables *tables)
{
	memset(tables, 0, sizeof(*tables));
	for (unsigned int i = 0; i < config->limit_count; i++) {
		const struct policy_match *match = match_of(policy, config, i);
		uint32_t bit = 1U << i;

		allow_ranges(tables->protocol, PROTOCOL_VALUES, &match->protocols, bit);
		allow_ranges(tables->source_port, PORT_VALUES, &match->source_ports, bit);
		allow_ranges(tables->destination_port, PORT_VALUES, &match->destination_ports, bit);
		allow_ranges(tables->vlan, VLAN_VALUES, &match->vlans, bit);
		allow_ranges(tables->length, LENGTH_VALUES, &match->lengths, bit);
		allow_flags(tables->flags, match, bit);
		add_prefixes(tables, &match->destinations, bit);
	}
	inherit(tables, config->defaults.no_destination);
}
