/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From lists of prefixes to the entries and filters that the program looks at; pure. */
#ifndef XDP_LIMIT_COMPILE_LISTS_H
#define XDP_LIMIT_COMPILE_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "abi.h"
#include "address.h"
#include "policy.h"

/** Bits of 128 that @length of @address's family stands for. */
unsigned int full_length(const struct address *address, unsigned int length);
/** Whether it is a whole address: those have a table of their own. */
bool is_whole(const struct policy_prefix *prefix);
/** The trie's key of a prefix. */
struct prefix_key prefix_key_of(const struct policy_prefix *prefix);
/** Whether every address of @inner is in @outer. */
bool prefix_covers(const struct prefix_key *outer, const struct prefix_key *inner);

/* ---- filters ---- */

/** A filter for no prefix at all. */
struct prefix_filter filter_none(void);
/** Widen @filter so that @key can be found by it. */
void filter_admit(struct prefix_filter *filter, const struct prefix_key *key);
/** Set @key's bit in @words (PREFIX_FILTER_WORDS); @filter must have admitted all keys before. */
void filter_set_prefix(uint64_t *words, const struct prefix_filter *filter, uint64_t seed,
		       const struct prefix_key *key);
/** Set @address's bit in @words (EXACT_FILTER_WORDS). */
void filter_set_address(uint64_t *words, uint64_t seed, const struct address *address);

/** compile_lists - what the program's read-only data says of the policy's lists and tiers. */
void compile_lists(const struct policy *policy, struct config *config);

/* ---- nested prefixes that end at different times ---- */

/** A prefix as a command put it on the lists; times of the boot clock, 0 for not listed. */
struct live_prefix {
	struct prefix_key key;
	uint64_t allow_until_ns, deny_until_ns, ban_until_ns;
};

/**
 * nest_prefixes - sort @prefixes and make the entry of each, with what covers it: the program finds only
 * the longest prefix, and must know what holds once that one has ended.
 * Returns 0, or -E2BIG when more than LIST_LEVELS prefixes are nested.
 */
int nest_prefixes(struct live_prefix *prefixes, size_t count, struct prefix_listing *listings);

#endif
