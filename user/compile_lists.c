// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From lists of prefixes to entries and filters. */
#include "compile_lists.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "filter.h"

#define MAPPED_BITS 96 /* of an IPv4 address in 128 */

unsigned int full_length(const struct address *address, unsigned int length)
{
	return address_is_ipv4(address) ? length + MAPPED_BITS : length;
}

bool is_whole(const struct policy_prefix *prefix)
{
	return full_length(&prefix->address, prefix->length) == 128;
}

struct prefix_key prefix_key_of(const struct policy_prefix *prefix)
{
	struct prefix_key key = {
		.length = FAMILY_BITS + full_length(&prefix->address, prefix->length),
		.family = address_is_ipv4(&prefix->address) ? 4 : 6,
	};

	memcpy(key.address, &prefix->address, sizeof(key.address));
	return key;
}

bool prefix_covers(const struct prefix_key *outer, const struct prefix_key *inner)
{
	unsigned int bits = outer->length - FAMILY_BITS, bytes = bits / 8;
	uint8_t mask = (uint8_t)(0xff << (8 - bits % 8));

	if (outer->family != inner->family || outer->length > inner->length ||
	    memcmp(outer->address, inner->address, bytes))
		return false;
	return !(bits % 8) || !((outer->address[bytes] ^ inner->address[bytes]) & mask);
}

/* ---- filters ---- */

/* The first 64 bits of an address in host order; of an IPv4 address its 32, then zeros. */
static uint64_t top_of(const struct prefix_key *key)
{
	uint64_t word;

	memcpy(&word, key->address + (key->family == 4 ? 8 : 0), sizeof(word));
	word = be64toh(word);
	return key->family == 4 ? word << 32 : word;
}

struct prefix_filter filter_none(void)
{
	return (struct prefix_filter){.ipv4_bits = 32, .ipv6_bits = 64};
}

void filter_admit(struct prefix_filter *filter, const struct prefix_key *key)
{
	unsigned int bits = key->length - FAMILY_BITS;

	if (key->family == 4 && bits - MAPPED_BITS < filter->ipv4_bits)
		filter->ipv4_bits = (uint8_t)(bits - MAPPED_BITS);
	if (key->family == 6 && bits < filter->ipv6_bits)
		filter->ipv6_bits = (uint8_t)bits;
	filter->used = 1;
}

void filter_set_prefix(uint64_t *words, const struct prefix_filter *filter, uint64_t seed,
		       const struct prefix_key *key)
{
	bool ipv4 = key->family == 4;
	uint32_t bit = prefix_filter_bit(
		seed, top_of(key), ipv4 ? filter->ipv4_bits : filter->ipv6_bits, ipv4 ? 4 : 6);

	words[bit / 64] |= 1ULL << (bit % 64);
}

void filter_set_address(uint64_t *words, uint64_t seed, const struct address *address)
{
	uint64_t halves[2];
	uint32_t bit;

	memcpy(halves, address, sizeof(halves));
	bit = exact_filter_bit(seed, halves[0], halves[1]);
	words[bit / 64] |= 1ULL << (bit % 64);
}

static void summarize(const struct policy_prefixes *list, struct prefix_filter *filter,
		      bool *addresses)
{
	for (size_t i = 0; i < list->count; i++) {
		struct prefix_key key = prefix_key_of(&list->prefixes[i]);

		if (addresses && is_whole(&list->prefixes[i]))
			*addresses = true;
		else
			filter_admit(filter, &key);
	}
}

void compile_lists(const struct policy *policy, struct config *config)
{
	bool addresses = false;

	config->list_filter = filter_none();
	config->tier_filter = filter_none();
	summarize(&policy->allow, &config->list_filter, &addresses);
	summarize(&policy->deny, &config->list_filter, &addresses);
	for (unsigned int i = 0; i < policy->tier_count; i++)
		summarize(&policy->tiers[i].sources, &config->tier_filter, NULL);
	config->list_addresses = addresses;
}

/* ---- nested prefixes ---- */

/* What covers stands before what it covers. */
static int by_nesting(const void *left, const void *right)
{
	const struct prefix_key *a = &((const struct live_prefix *)left)->key;
	const struct prefix_key *b = &((const struct live_prefix *)right)->key;
	int order = a->family - b->family;

	order = order ?: memcmp(a->address, b->address, sizeof(a->address));
	return order ?: (a->length > b->length) - (a->length < b->length);
}

/* The prefixes that cover the one at hand, the widest first. */
struct cover {
	const struct live_prefix *stack[WHOLE_PREFIX];
	unsigned int depth;
};

static int fill_listing(const struct cover *cover, struct prefix_listing *listing)
{
	unsigned int level = 0;

	*listing = (struct prefix_listing){0};
	for (unsigned int i = cover->depth; i--;) {
		const struct live_prefix *prefix = cover->stack[i];
		bool own = i + 1 == cover->depth;

		if (own)
			listing->own_ban_until_ns = prefix->ban_until_ns;
		if (prefix->ban_until_ns > listing->ban_until_ns)
			listing->ban_until_ns = prefix->ban_until_ns;
		if (!own && !prefix->allow_until_ns && !prefix->deny_until_ns)
			continue;
		if (level == LIST_LEVELS)
			return -E2BIG;
		listing->levels[level++] = (struct list_level){
			.length = prefix->key.length,
			.allow_until_ns = prefix->allow_until_ns,
			.deny_until_ns = prefix->deny_until_ns,
		};
	}
	return 0;
}

int nest_prefixes(struct live_prefix *prefixes, size_t count, struct prefix_listing *listings)
{
	struct cover cover = {.depth = 0};
	int err = 0;

	if (count)
		qsort(prefixes, count, sizeof(*prefixes), by_nesting);
	for (size_t i = 0; i < count && !err; i++) {
		while (cover.depth &&
		       !prefix_covers(&cover.stack[cover.depth - 1]->key, &prefixes[i].key))
			cover.depth--;
		cover.stack[cover.depth++] = &prefixes[i];
		err = fill_listing(&cover, &listings[i]);
	}
	return err;
}
