// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Puts the policy's own lists and tiers into the maps of a program that no packet meets yet. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "compile_lists.h"
#include "kernel_object.h"
#include "memory.h"

static struct bpf_map *map_named(struct bpf_object *object, const char *name)
{
	return bpf_object__find_map_by_name(object, name);
}

static int fd_named(struct bpf_object *object, const char *name)
{
	return bpf_object__find_map_fd_by_name(object, name);
}

/* ---- sizes ---- */

static void count_list(const struct policy_prefixes *list, uint32_t *addresses, uint32_t *prefixes)
{
	for (size_t i = 0; i < list->count; i++)
		if (is_whole(&list->prefixes[i]))
			++*addresses;
		else
			++*prefixes;
}

/* Whoever has nothing to look for looks at no bit. */
static int size_filters(struct bpf_object *object, const struct config *config)
{
	const struct {
		const char *map;
		uint32_t entries;
	} sizes[] = {
		{"file_xbits", config->list_addresses ? EXACT_FILTER_WORDS : 1},
		{"file_pbits", config->list_filter.used ? PREFIX_FILTER_WORDS : 1},
		{"tier_pbits", config->tier_filter.used ? PREFIX_FILTER_WORDS : 1},
		{map_names[MAP_PENALTIES], penalty_entries(config)},
		{map_names[MAP_PENALTY_BITS], config->penalties ? EXACT_FILTER_WORDS : 1},
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && !err; i++)
		err = bpf_map__set_max_entries(map_named(object, sizes[i].map), sizes[i].entries);
	return err;
}

int object_size_lists(struct bpf_object *object, const struct policy *policy,
		      const struct config *config)
{
	uint32_t addresses = 0, prefixes = 0, tiers = 0;

	count_list(&policy->allow, &addresses, &prefixes);
	count_list(&policy->deny, &addresses, &prefixes);
	for (unsigned int i = 0; i < policy->tier_count; i++)
		tiers += (uint32_t)policy->tiers[i].sources.count;
	return bpf_map__set_max_entries(map_named(object, "file_exact"), addresses ?: 1) ?:
	       bpf_map__set_max_entries(map_named(object, "file_prefix"), prefixes ?: 1) ?:
	       bpf_map__set_max_entries(map_named(object, "tier_prefix"), tiers ?: 1) ?:
	       size_filters(object, config);
}

/* ---- contents ---- */

/* One list on its way into the maps. */
struct filling {
	int exact, prefix;
	const struct config *config;
	uint64_t *exact_words, *prefix_words;
};

static int add_address(const struct filling *filling, const struct address *address, bool deny)
{
	struct listing listing = {0};

	bpf_map_lookup_elem(filling->exact, address, &listing);
	if (deny)
		listing.deny_until_ns = FOREVER;
	else
		listing.allow_until_ns = FOREVER;
	filter_set_address(filling->exact_words, filling->config->seed, address);
	return bpf_map_update_elem(filling->exact, address, &listing, BPF_ANY) ? -errno : 0;
}

static int add_prefix(const struct filling *filling, const struct prefix_key *key, bool deny)
{
	struct prefix_listing listing = {0}, found;

	/* The trie answers with the longest prefix, which need not be this one. */
	if (!bpf_map_lookup_elem(filling->prefix, key, &found) &&
	    found.levels[0].length == key->length)
		listing = found;
	listing.levels[0].length = key->length;
	if (deny)
		listing.levels[0].deny_until_ns = FOREVER;
	else
		listing.levels[0].allow_until_ns = FOREVER;
	filter_set_prefix(filling->prefix_words, &filling->config->list_filter,
			  filling->config->seed, key);
	return bpf_map_update_elem(filling->prefix, key, &listing, BPF_ANY) ? -errno : 0;
}

static int add_list(const struct filling *filling, const struct policy_prefixes *list, bool deny)
{
	int err = 0;

	for (size_t i = 0; i < list->count && !err; i++) {
		struct prefix_key key = prefix_key_of(&list->prefixes[i]);

		if (is_whole(&list->prefixes[i]))
			err = add_address(filling, &list->prefixes[i].address, deny);
		else
			err = add_prefix(filling, &key, deny);
	}
	return err;
}

static int add_tiers(int map, const struct policy *policy, const struct config *config,
		     uint64_t *words)
{
	for (unsigned int i = 0; i < policy->tier_count; i++)
		for (size_t k = 0; k < policy->tiers[i].sources.count; k++) {
			struct prefix_key key = prefix_key_of(
				&policy->tiers[i].sources.prefixes[k]);
			uint32_t tier = i + 1;

			filter_set_prefix(words, &config->tier_filter, config->seed, &key);
			if (bpf_map_update_elem(map, &key, &tier, BPF_ANY))
				return -errno;
		}
	return 0;
}

int write_words(int map, const uint64_t *words, uint32_t first, uint32_t count)
{
	uint32_t *keys = malloc(count * sizeof(*keys));
	int err = 0;

	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		keys[i] = first + i;
	if (bpf_map_update_batch(map, keys, words, &count, NULL))
		err = -errno;
	free(keys);
	return err;
}

int object_fill_lists(struct bpf_object *object, const struct policy *policy,
		      const struct config *config)
{
	uint64_t *exact = calloc(EXACT_FILTER_WORDS, sizeof(*exact));
	uint64_t *prefix = calloc(2 * PREFIX_FILTER_WORDS, sizeof(*prefix));
	uint64_t *tier = prefix + PREFIX_FILTER_WORDS;
	const struct filling filling = {
		.exact = fd_named(object, "file_exact"),
		.prefix = fd_named(object, "file_prefix"),
		.config = config,
		.exact_words = exact,
		.prefix_words = prefix,
	};
	int err = exact && prefix ? 0 : -ENOMEM;

	err = err ?: add_list(&filling, &policy->allow, false);
	err = err ?: add_list(&filling, &policy->deny, true);
	err = err ?: add_tiers(fd_named(object, "tier_prefix"), policy, config, tier);
	if (!err && config->list_addresses)
		err = write_words(fd_named(object, "file_xbits"), exact, 0, EXACT_FILTER_WORDS);
	if (!err && config->list_filter.used)
		err = write_words(fd_named(object, "file_pbits"), prefix, 0, PREFIX_FILTER_WORDS);
	if (!err && config->tier_filter.used)
		err = write_words(fd_named(object, "tier_pbits"), tier, 0, PREFIX_FILTER_WORDS);
	free(exact);
	free(prefix);
	return err;
}
