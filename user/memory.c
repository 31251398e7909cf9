// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the maps of a limiter take of the kernel's memory: the one formula of it. */
#include "memory.h"

#include "compile.h"
#include "compile_lists.h"

#define HASH_BUCKET   16  /* list head and lock */
#define HASH_ENTRY    96  /* an address of a list: header, key, value, as the allocator rounds it */
#define TRIE_LISTING  256 /* a prefix of a list, and the fork above it */
#define TRIE_NUMBER   160 /* a prefix of a tier or a match, and the fork */
#define EXACT_FILTER  (EXACT_FILTER_WORDS * 8ULL)
#define PREFIX_FILTER (PREFIX_FILTER_WORDS * 8ULL)
#define SMALL_MAPS    47
#define SMALL_MAP     4096 /* its own header, and what is below a page */
/* Per CPU: what the undo needs (struct charge_log), and what the allocator rounds up. */
#define CPU_SMALL 1024

uint32_t penalty_entries(const struct config *config)
{
	return config->penalties ? PENALTY_CAPACITY : 1;
}

static uint64_t hash_buckets(uint64_t entries)
{
	uint64_t buckets = 1;

	while (buckets < entries)
		buckets *= 2;
	return buckets * HASH_BUCKET;
}

static uint64_t list_memory(const struct policy_prefixes *allow, const struct policy_prefixes *deny)
{
	const struct policy_prefixes *const lists[] = {allow, deny};
	uint64_t addresses = 0, prefixes = 0;

	for (unsigned int i = 0; i < 2; i++)
		for (size_t k = 0; k < lists[i]->count; k++)
			if (is_whole(&lists[i]->prefixes[k]))
				addresses++;
			else
				prefixes++;
	return hash_buckets(addresses) + addresses * HASH_ENTRY + prefixes * TRIE_LISTING;
}

static uint64_t match_memory(const struct policy *policy, const struct config *config)
{
	static const struct {
		enum match_field field;
		uint64_t values;
	} arrays[] = {
		{MATCH_PROTOCOL, PROTOCOL_VALUES}, {MATCH_TCP_FLAGS, FLAGS_VALUES},
		{MATCH_SOURCE_PORT, PORT_VALUES},  {MATCH_DESTINATION_PORT, PORT_VALUES},
		{MATCH_VLAN, VLAN_VALUES},	   {MATCH_LENGTH, LENGTH_VALUES},
	};
	uint64_t memory = 0;

	/* An array rounds its values up to 8 bytes. */
	for (unsigned int i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
		if (config->match_fields & arrays[i].field)
			memory += arrays[i].values * 8;
	for (unsigned int i = 0; i < policy->limit_count; i++)
		memory += policy->limits[i].match.destinations.count * TRIE_NUMBER;
	return memory;
}

static uint64_t tier_memory(const struct policy *policy)
{
	uint64_t memory = 0;

	for (unsigned int i = 0; i < policy->tier_count; i++)
		memory += policy->tiers[i].sources.count * TRIE_NUMBER;
	return memory;
}

static uint64_t penalty_memory(const struct config *config)
{
	return lru_memory(penalty_entries(config), sizeof(struct address_key),
			  sizeof(struct penalty)) +
	       (config->penalties ? EXACT_FILTER : 0);
}

static uint64_t filter_memory(const struct config *config)
{
	return (config->list_addresses ? EXACT_FILTER : 0) +
	       (config->list_filter.used ? PREFIX_FILTER : 0) +
	       (config->tier_filter.used ? PREFIX_FILTER : 0);
}

uint64_t memory_base(unsigned int possible_cpus)
{
	/* Of the live lists, which may come at any time. */
	const uint64_t filters = EXACT_FILTER + 2 * PREFIX_FILTER;
	const uint64_t cpu = sizeof(struct cpu_counters) + sizeof(struct event_count) +
			     CACHE_SLOTS * sizeof(struct cached_tally) + GROUP_SIZE(MAX_LIMITS) +
			     CPU_SMALL;

	return filters + EVENT_SEEN * 8ULL + sizeof(struct config) + hash_buckets(LIVE_FIRST) +
	       (uint64_t)SMALL_MAPS * SMALL_MAP + possible_cpus * cpu;
}

/* Of a CPU: what it has gathered of losses. */
static uint64_t loss_memory(const struct table_identity *table)
{
	return table->type == TABLE_FLAT ? sizeof(struct loss_line) << LOSS_BITS : 0;
}

uint64_t memory_limiter(const struct table_identity *table, const struct policy *policy,
			const struct config *config, unsigned int possible_cpus)
{
	return table_bytes(table) + possible_cpus * loss_memory(table) + penalty_memory(config) +
	       filter_memory(config) + list_memory(&policy->allow, &policy->deny) +
	       tier_memory(policy) + match_memory(policy, config) + memory_base(possible_cpus);
}
