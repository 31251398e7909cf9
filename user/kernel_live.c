// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The lists that commands change while packets flow. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "compile_lists.h"
#include "kernel.h"
#include "kernel_live_set.h"
#include "kernel_object.h"
#include "kernel_switches.h"

/* ---- one entry's end on one list ---- */

static __u64 *listing_end(struct listing *listing, enum live_list list)
{
	switch (list) {
	case LIVE_ALLOW:
		return &listing->allow_until_ns;
	case LIVE_DENY:
		return &listing->deny_until_ns;
	default:
		return &listing->ban_until_ns;
	}
}

static uint64_t *prefix_end(struct live_prefix *prefix, enum live_list list)
{
	switch (list) {
	case LIVE_ALLOW:
		return &prefix->allow_until_ns;
	case LIVE_DENY:
		return &prefix->deny_until_ns;
	default:
		return &prefix->ban_until_ns;
	}
}

static bool is_empty(const struct listing *listing, uint64_t now)
{
	return listing->ban_until_ns <= now && listing->allow_until_ns <= now &&
	       listing->deny_until_ns <= now;
}

/* ---- the word that the program reads ---- */

static int read_live(const struct running *running, struct switches *switches,
		     struct live_lists *live)
{
	int err = switches_read(running->maps, switches);

	if (!err)
		memcpy(live, &switches->live_lists, sizeof(*live));
	return err;
}

static int write_live(const struct running *running, struct switches *switches,
		      const struct live_lists *live)
{
	memcpy(&switches->live_lists, live, sizeof(*live));
	return switches_write(running->maps, switches);
}

/* ---- whole addresses: a hash behind a filter whose bits are only ever added ---- */

static int read_words(int map, uint64_t *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (bpf_map_lookup_elem(map, &i, &words[i]))
			return -errno;
	return 0;
}

static bool any_whole(const struct policy_prefix *prefixes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_whole(&prefixes[i]))
			return true;
	return false;
}

static int admit_addresses(const struct running *running, const struct policy_prefix *prefixes,
			   size_t count)
{
	int map = running->maps[MAP_LIVE_EXACT_BITS];
	uint64_t *words = calloc(EXACT_FILTER_WORDS, sizeof(*words));
	struct switches switches;
	struct live_lists live;
	int err = words ? read_words(map, words, EXACT_FILTER_WORDS) : -ENOMEM;

	for (size_t i = 0; i < count && !err; i++)
		if (is_whole(&prefixes[i]))
			filter_set_address(words, running->config.seed, &prefixes[i].address);
	err = err ?: write_words(map, words, 0, EXACT_FILTER_WORDS);
	err = err ?: read_live(running, &switches, &live);
	if (!err) {
		live.exact_used = 1;
		err = write_live(running, &switches, &live);
	}
	free(words);
	return err;
}

static bool delete_ended(int set, const struct address_key *key, uint64_t now)
{
	struct listing listing;

	return !bpf_map_lookup_elem(set, key, &listing) && is_empty(&listing, now) &&
	       !bpf_map_delete_elem(set, key);
}

/* Entries that have ended on all lists make room. Whether so much that it was worth the walk. */
static bool sweep_addresses(int set)
{
	struct address_key key, next;
	uint64_t now = boot_clock_ns();
	uint32_t swept = 0, left = 0;
	void *from = NULL;

	while (!bpf_map_get_next_key(set, from, &next)) {
		if (from)
			swept += delete_ended(set, &key, now);
		key = next;
		from = &key;
		left++;
	}
	if (from)
		swept += delete_ended(set, &key, now);
	return swept >= left / 4;
}

/* The set is full: first what has ended makes room, then a larger one. */
static int make_room(const struct running *running, int *set, size_t rest)
{
	int err;

	if (sweep_addresses(*set))
		return 0;
	err = live_set_grow(running, set, rest);
	/* As large as it may be: what was swept has to do. */
	return err == -E2BIG ? 0 : err;
}

static int put_address(int map, const struct address *address, enum live_list list,
		       uint64_t until_ns, struct listing *before)
{
	struct listing listing;

	memset(before, 0, sizeof(*before));
	bpf_map_lookup_elem(map, address, before);
	listing = *before;
	*listing_end(&listing, list) = until_ns;
	return bpf_map_update_elem(map, address, &listing, BPF_ANY) ? -errno : 0;
}

static void take_addresses_back(int map, const struct policy_prefix *prefixes, size_t count,
				const struct listing *before)
{
	while (count--) {
		if (!is_whole(&prefixes[count]))
			continue;
		if (is_empty(&before[count], 0))
			bpf_map_delete_elem(map, &prefixes[count].address);
		else
			bpf_map_update_elem(map, &prefixes[count].address, &before[count], BPF_ANY);
	}
}

static int refuse_full(const struct policy_prefix *prefix, int err, unsigned int capacity,
		       const char *what, struct complaint *why)
{
	char text[ADDRESS_TEXT_SIZE];

	format_source(&prefix->address, prefix->length, prefix->length, text);
	if (err == -E2BIG || err == -ENOSPC || err == -ENOMEM)
		return complain(
			why, -ENOSPC,
			"the live lists are full: they hold %u %s, and %s is the first that does "
			"not fit; nothing was added",
			capacity, what, text);
	if (err == -EPERM)
		return complain(why, err,
				"cannot list %s: it takes a larger map, and this process lacks "
				"CAP_BPF to make one; run it as root",
				text);
	return complain(why, err, "cannot list %s: %s", text, strerror(-err));
}

static int add_addresses(const struct running *running, int *set, enum live_list list,
			 const struct policy_prefix *prefixes, size_t count, uint64_t until_ns,
			 struct listing *before, struct complaint *why)
{
	int err = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		if (!is_whole(&prefixes[i]))
			continue;
		err = put_address(*set, &prefixes[i].address, list, until_ns, &before[i]);
		if (err == -E2BIG || err == -ENOMEM)
			err = make_room(running, set, count - i)
				      ?: put_address(*set, &prefixes[i].address, list, until_ns,
						     &before[i]);
		if (err)
			break;
	}
	if (err)
		err = refuse_full(&prefixes[i], err, LIVE_CAPACITY, "addresses", why);
	else if (any_whole(prefixes, count))
		err = admit_addresses(running, prefixes, count);
	if (err)
		take_addresses_back(*set, prefixes, i, before);
	return err;
}

/* ---- prefixes: read whole, changed here, written back with what covers each ---- */

struct live_set {
	struct live_prefix *prefixes;
	size_t count, capacity;
};

static int append(struct live_set *set, const struct live_prefix *prefix)
{
	size_t capacity = set->capacity ? set->capacity * 2 : 64;
	void *prefixes;

	if (set->count == set->capacity) {
		prefixes = realloc(set->prefixes, capacity * sizeof(*set->prefixes));
		if (!prefixes)
			return -ENOMEM;
		set->prefixes = prefixes;
		set->capacity = capacity;
	}
	set->prefixes[set->count++] = *prefix;
	return 0;
}

static int compare_keys(const void *left, const void *right)
{
	return memcmp(&((const struct live_prefix *)left)->key,
		      &((const struct live_prefix *)right)->key, sizeof(struct prefix_key));
}

static int read_set(const struct running *running, struct live_set *set)
{
	int map = running->maps[MAP_LIVE_PREFIX];
	struct prefix_listing listing;
	struct prefix_key key, next;
	int err = 0;

	memset(set, 0, sizeof(*set));
	for (void *from = NULL; !err && !bpf_map_get_next_key(map, from, &next); from = &key) {
		key = next;
		if (bpf_map_lookup_elem(map, &key, &listing))
			return -errno;
		err = append(set, &(struct live_prefix){
					  .key = key,
					  .allow_until_ns = listing.levels[0].allow_until_ns,
					  .deny_until_ns = listing.levels[0].deny_until_ns,
					  .ban_until_ns = listing.own_ban_until_ns,
				  });
	}
	if (set->count)
		qsort(set->prefixes, set->count, sizeof(*set->prefixes), compare_keys);
	return err;
}

/* Among the first @sorted of the set, which read_set() has sorted. */
static struct live_prefix *find_in(struct live_set *set, size_t sorted,
				   const struct prefix_key *key)
{
	const struct live_prefix wanted = {.key = *key};

	return sorted ? bsearch(&wanted, set->prefixes, sorted, sizeof(wanted), compare_keys)
		      : NULL;
}

static bool has_ended(const struct live_prefix *prefix, uint64_t now)
{
	return prefix->allow_until_ns <= now && prefix->deny_until_ns <= now &&
	       prefix->ban_until_ns <= now;
}

/* The filter over all of @set goes to the half that is not in use; one word makes it hold. */
static int switch_filter(const struct running *running, const struct live_set *set)
{
	uint64_t *words = calloc(PREFIX_FILTER_WORDS, sizeof(*words));
	struct prefix_filter filter = filter_none();
	struct switches switches;
	struct live_lists live;
	int err = words ? read_live(running, &switches, &live) : -ENOMEM;

	if (err) {
		free(words);
		return err;
	}
	for (size_t i = 0; i < set->count; i++)
		filter_admit(&filter, &set->prefixes[i].key);
	for (size_t i = 0; i < set->count; i++)
		filter_set_prefix(words, &filter, running->config.seed, &set->prefixes[i].key);
	filter.half = !live.prefixes.half;
	err = write_words(running->maps[MAP_LIVE_PREFIX_BITS], words,
			  filter.half ? PREFIX_FILTER_WORDS : 0, PREFIX_FILTER_WORDS);
	live.prefixes = filter;
	err = err ?: write_live(running, &switches, &live);
	free(words);
	return err;
}

/* What has ended on all lists leaves the trie and the set. */
static void drop_ended(const struct running *running, struct live_set *set)
{
	uint64_t now = boot_clock_ns();
	size_t kept = 0;

	for (size_t i = 0; i < set->count; i++) {
		if (has_ended(&set->prefixes[i], now))
			bpf_map_delete_elem(running->maps[MAP_LIVE_PREFIX], &set->prefixes[i].key);
		else
			set->prefixes[kept++] = set->prefixes[i];
	}
	set->count = kept;
}

static int write_entries(const struct running *running, const struct live_set *set,
			 const struct prefix_listing *listings)
{
	for (size_t i = 0; i < set->count; i++)
		if (bpf_map_update_elem(running->maps[MAP_LIVE_PREFIX], &set->prefixes[i].key,
					&listings[i], BPF_ANY))
			return -errno;
	return 0;
}

static int refuse_set(const struct live_set *set, struct complaint *why)
{
	if (set->count > LIVE_PREFIXES)
		return complain(why, -ENOSPC,
				"the live lists are full: they hold %u prefixes; nothing was added",
				LIVE_PREFIXES);
	return complain(why, -ENOSPC,
			"more than %d prefixes would be nested in each other; nothing was added",
			LIST_LEVELS);
}

/*
 * Writes all entries of @set, then the filter. Everything that can be refused is refused, with a sentence
 * in @why, before anything is written.
 */
static int write_set(const struct running *running, struct live_set *set, struct complaint *why)
{
	struct prefix_listing *listings;
	int err;

	drop_ended(running, set);
	listings = calloc(set->count ?: 1, sizeof(*listings));
	if (!listings)
		return -ENOMEM;
	if (set->count > LIVE_PREFIXES || nest_prefixes(set->prefixes, set->count, listings))
		err = refuse_set(set, why);
	else
		err = write_entries(running, set, listings) ?: switch_filter(running, set);
	free(listings);
	return err;
}

/* The same prefix twice in one call. */
static void drop_doubles(struct live_set *set)
{
	size_t kept = 0;

	if (set->count)
		qsort(set->prefixes, set->count, sizeof(*set->prefixes), compare_keys);
	for (size_t i = 0; i < set->count; i++)
		if (!kept || compare_keys(&set->prefixes[kept - 1], &set->prefixes[i]))
			set->prefixes[kept++] = set->prefixes[i];
	set->count = kept;
}

static int add_prefixes(const struct running *running, enum live_list list,
			const struct policy_prefix *prefixes, size_t count, uint64_t until_ns,
			struct complaint *why)
{
	struct live_set set;
	int err = read_set(running, &set);
	size_t sorted = set.count;
	bool any = false;

	for (size_t i = 0; i < count && !err; i++) {
		struct prefix_key key = prefix_key_of(&prefixes[i]);
		struct live_prefix *there = find_in(&set, sorted, &key), fresh = {.key = key};

		if (is_whole(&prefixes[i]))
			continue;
		any = true;
		*prefix_end(there ?: &fresh, list) = until_ns;
		if (!there)
			err = append(&set, &fresh);
	}
	drop_doubles(&set);
	if (!err && any)
		err = write_set(running, &set, why);
	free(set.prefixes);
	return err;
}

int live_add(const struct running *running, enum live_list list,
	     const struct policy_prefix *prefixes, size_t count, uint64_t until_ns,
	     struct complaint *why)
{
	struct listing *before = calloc(count ?: 1, sizeof(*before));
	int set, err;

	why->text[0] = '\0';
	if (!before)
		return complain(why, -ENOMEM, "not enough memory for %zu entries", count);
	set = live_set_open(running);
	err = set < 0 ? set
		      : add_addresses(running, &set, list, prefixes, count, until_ns, before, why);
	if (!err) {
		err = add_prefixes(running, list, prefixes, count, until_ns, why);
		if (err)
			take_addresses_back(set, prefixes, count, before);
	}
	if (set >= 0)
		close(set);
	free(before);
	if (err && !why->text[0])
		complain(why, err, "cannot change the live lists: %s", strerror(-err));
	return err;
}

/* ---- taking off ---- */

/* Whose penalty it is may be a prefix, where the table's sources are: as it is listed. */
static bool end_penalty(const struct running *running, const struct policy_prefix *prefix)
{
	const struct table_identity *table = &running->table;
	struct address source = prefix->address;

	if (prefix->length < (address_is_ipv4(&source) ? table->ipv4_prefix : table->ipv6_prefix))
		return false;
	address_source(&source, table->ipv4_prefix, table->ipv6_prefix);
	return !bpf_map_delete_elem(running->maps[MAP_PENALTIES], &source);
}

static int64_t delete_address(const struct running *running, int set, enum live_list list,
			      const struct policy_prefix *prefix)
{
	const struct address *address = &prefix->address;
	int64_t found = list == LIVE_BAN && end_penalty(running, prefix);
	struct listing listing;

	if (bpf_map_lookup_elem(set, address, &listing) || !*listing_end(&listing, list))
		return found;
	*listing_end(&listing, list) = 0;
	if (is_empty(&listing, 0))
		return bpf_map_delete_elem(set, address) ? -errno : 1;
	return bpf_map_update_elem(set, address, &listing, BPF_ANY) ? -errno : 1;
}

/* With no address left nobody needs to look: the filter starts afresh, and so does the set. */
static int clear_addresses(const struct running *running, int set)
{
	uint64_t *words = calloc(EXACT_FILTER_WORDS, sizeof(*words));
	struct switches switches;
	struct live_lists live;
	int err = words ? read_live(running, &switches, &live) : -ENOMEM;

	if (!err) {
		live.exact_used = 0;
		err = write_live(running, &switches, &live);
	}
	err = err ?: write_words(running->maps[MAP_LIVE_EXACT_BITS], words, 0, EXACT_FILTER_WORDS);
	err = err ?: live_set_renew(running, set);
	free(words);
	return err;
}

int64_t live_delete(const struct running *running, enum live_list list,
		    const struct policy_prefix *prefixes, size_t count)
{
	struct address_key first;
	struct complaint why;
	struct live_set set;
	int64_t deleted = 0, result = read_set(running, &set);
	int addresses = live_set_open(running);
	bool any = false;

	if (addresses < 0 && result >= 0)
		result = addresses;

	for (size_t i = 0; i < count && result >= 0; i++) {
		struct prefix_key key = prefix_key_of(&prefixes[i]);
		struct live_prefix *there = find_in(&set, set.count, &key);

		if (is_whole(&prefixes[i])) {
			result = delete_address(running, addresses, list, &prefixes[i]);
			deleted += result > 0 ? result : 0;
		} else if (there && *prefix_end(there, list)) {
			*prefix_end(there, list) = 0;
			any = true;
			deleted++;
			if (list == LIVE_BAN)
				end_penalty(running, &prefixes[i]);
		} else if (list == LIVE_BAN && end_penalty(running, &prefixes[i])) {
			deleted++;
		}
	}
	if (result >= 0 && any)
		result = write_set(running, &set, &why);
	if (result >= 0 && bpf_map_get_next_key(addresses, NULL, &first))
		result = clear_addresses(running, addresses);
	if (addresses >= 0)
		close(addresses);
	free(set.prefixes);
	return result < 0 ? result : deleted;
}

/* ---- looking ---- */

static struct policy_prefix to_prefix(const struct prefix_key *key)
{
	struct policy_prefix prefix;

	memcpy(&prefix.address, key->address, sizeof(prefix.address));
	prefix.length = key->length - FAMILY_BITS - (key->family == 4 ? 96 : 0);
	return prefix;
}

static struct policy_prefix whole_address(const void *address)
{
	struct policy_prefix prefix;

	memcpy(&prefix.address, address, sizeof(prefix.address));
	prefix.length = address_is_ipv4(&prefix.address) ? 32 : 128;
	return prefix;
}

static int visit_addresses(const struct running *running, enum live_list list, uint64_t now,
			   int (*visit)(const struct policy_prefix *, uint64_t, void *),
			   void *context)
{
	int set = live_set_open(running);
	struct address_key key, next;
	struct policy_prefix prefix;
	struct listing listing;
	int err = 0;

	if (set < 0)
		return set;
	for (void *from = NULL; !err && !bpf_map_get_next_key(set, from, &next); from = &key) {
		key = next;
		prefix = whole_address(&key);
		if (!bpf_map_lookup_elem(set, &key, &listing) && *listing_end(&listing, list) > now)
			err = visit(&prefix, *listing_end(&listing, list), context);
	}
	close(set);
	return err;
}

/* The source that a limit banned: a prefix where the table's sources are prefixes. */
static int visit_penalties(const struct running *running, uint64_t now,
			   int (*visit)(const struct policy_prefix *, uint64_t, void *),
			   void *context)
{
	int map = running->maps[MAP_PENALTIES];
	struct address_key key, next;
	struct policy_prefix prefix;
	struct penalty penalty;
	int err = 0;

	for (void *from = NULL; !err && !bpf_map_get_next_key(map, from, &next); from = &key) {
		key = next;
		prefix = whole_address(&key);
		prefix.length = address_is_ipv4(&prefix.address) ? running->table.ipv4_prefix
								 : running->table.ipv6_prefix;
		if (!bpf_map_lookup_elem(map, &key, &penalty) && penalty.until_ns > now)
			err = visit(&prefix, penalty.until_ns, context);
	}
	return err;
}

int live_visit(const struct running *running, enum live_list list,
	       int (*visit)(const struct policy_prefix *prefix, uint64_t until_ns, void *context),
	       void *context)
{
	uint64_t now = boot_clock_ns();
	struct live_set set;
	int err = read_set(running, &set);

	for (size_t i = 0; i < set.count && !err; i++) {
		struct policy_prefix prefix = to_prefix(&set.prefixes[i].key);

		if (*prefix_end(&set.prefixes[i], list) > now)
			err = visit(&prefix, *prefix_end(&set.prefixes[i], list), context);
	}
	free(set.prefixes);
	err = err ?: visit_addresses(running, list, now, visit, context);
	if (!err && list == LIVE_BAN)
		err = visit_penalties(running, now, visit, context);
	return err;
}

int live_find(const struct running *running, const struct address *address, struct listing *listing)
{
	int set = live_set_open(running);
	int err = set < 0 ? set : bpf_map_lookup_elem(set, address, listing) ? -errno : 0;

	if (set >= 0)
		close(set);
	return err;
}

uint64_t live_banned_until(const struct running *running, const struct address *address)
{
	const struct policy_prefix whole = whole_address(address);
	struct prefix_key key = prefix_key_of(&whole);
	struct address source = *address;
	struct prefix_listing nested;
	uint64_t now = boot_clock_ns(), until = 0;
	struct listing listing;
	struct penalty penalty;

	address_source(&source, running->table.ipv4_prefix, running->table.ipv6_prefix);
	if (!live_find(running, address, &listing))
		until = listing.ban_until_ns;
	if (!bpf_map_lookup_elem(running->maps[MAP_LIVE_PREFIX], &key, &nested) &&
	    nested.ban_until_ns > until)
		until = nested.ban_until_ns;
	if (!bpf_map_lookup_elem(running->maps[MAP_PENALTIES], &source, &penalty) &&
	    penalty.until_ns > until)
		until = penalty.until_ns;
	return until > now ? until : 0;
}
