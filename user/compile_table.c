// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which word of a table is whose: limits keep their identity from one policy to the next. */
#include "compile.h"
#include "compile_flat.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include "words.h"

/* The kind that @per stands for in @table: lengths that were left out are the table's. */
static struct kind_identity resolve_kind(const struct table_identity *table,
					 const struct policy_per *per)
{
	struct kind_identity kind = {.used = 1, .per = (__u8)per->per};

	if (per->per == PER_DESTINATION) {
		kind.ipv4_prefix = 32;
		kind.ipv6_prefix = 128;
	} else if (per->per != PER_INTERFACE) {
		kind.ipv4_prefix = (__u8)(per->ipv4_prefix ?: table->ipv4_prefix);
		kind.ipv6_prefix = (__u8)(per->ipv6_prefix ?: table->ipv6_prefix);
	}
	return kind;
}

/* Its id, or -1. */
static int find_kind(const struct table_identity *table, const struct policy_per *per)
{
	const struct kind_identity wanted = resolve_kind(table, per);

	for (int id = 0; id < MAX_KIND_IDS; id++)
		if (!memcmp(&table->kinds[id], &wanted, sizeof(wanted)))
			return id;
	return -1;
}

static int find_or_add_kind(struct table_identity *table, const struct policy_per *per)
{
	int id = find_kind(table, per);

	for (int i = 0; id < 0 && i < MAX_KIND_IDS; i++)
		if (!table->kinds[i].used) {
			table->kinds[i] = resolve_kind(table, per);
			id = i;
		}
	return id;
}

const struct limit_identity *table_find(const struct table_identity *table,
					const struct policy_limit *limit)
{
	int kind = find_kind(table, &limit->per);

	for (unsigned int id = 0; id < MAX_LIMITS; id++) {
		const struct limit_identity *identity = &table->limits[id];

		if (identity->used && identity->unit == limit->rate.unit &&
		    identity->algorithm == limit->algorithm && identity->kind == kind &&
		    identity->window_ns == index_window_ns(limit) &&
		    !strncmp(identity->name, limit->name, NAME_SIZE))
			return identity;
	}
	return NULL;
}

static bool is_of_interface(const struct table_identity *table, int kind)
{
	return table->kinds[kind].per == PER_INTERFACE;
}

/*
 * Slots are counted for each kind; in a flat table, where each limit has a region, over all of them but the
 * interface's. One that left still holds its own.
 */
static unsigned int next_slot(const struct table_identity *table, int kind)
{
	bool by_kind = table->type != TABLE_FLAT || is_of_interface(table, kind);
	unsigned int slot = 0;

	for (unsigned int id = 0; id < MAX_LIMITS; id++) {
		const struct limit_identity *other = &table->limits[id];

		if (other->used &&
		    (by_kind ? other->kind == kind : !is_of_interface(table, other->kind)))
			slot++;
	}
	return slot;
}

struct policy_limit limit_for_tier(const struct policy_limit *limit, unsigned int tier)
{
	const struct policy_tier_rate *own = &limit->tiers[tier];
	struct policy_limit result = *limit;

	if (own->given) {
		result.rate = own->rate;
		result.burst = own->burst;
	}
	return result;
}

/*
 * One word serves all tiers of a limit, so its tick is the finest that any of them would choose.
 * Whether the others fit into it is compile_limit()'s to say.
 */
static int choose_limit_tick(const struct policy_limit *limit, struct limit *compiled,
			     struct complaint *why)
{
	int err = compile_limit(limit, -1, 1, compiled, why);

	/* The words `unlimited` and `block` count in no ticks: any will do. */
	if (!err && limit->rate.kind != LIMIT_METERED)
		compiled->tick = 0;
	for (unsigned int tier = 0; tier < MAX_TIERS && !err; tier++) {
		struct policy_limit own = limit_for_tier(limit, tier);
		struct limit other;

		if (!limit->tiers[tier].given)
			continue;
		err = compile_limit(&own, -1, 1, &other, why);
		if (!err && own.rate.kind == LIMIT_METERED && other.tick > compiled->tick)
			compiled->tick = other.tick;
	}
	return err;
}

bool in_flat_slots(const struct table_identity *table, const struct policy_limit *limit)
{
	return table->type == TABLE_FLAT && limit->per.per != PER_INTERFACE;
}

int compile_for(const struct table_identity *table, const struct limit_identity *identity,
		const struct policy_limit *limit, unsigned int possible_cpus,
		struct limit *compiled, struct complaint *why)
{
	const struct slot_scale scale = {identity->tick, identity->fingerprint_bits};

	if (in_flat_slots(table, limit))
		return compile_slot_limit(limit, &scale, possible_cpus, compiled, why);
	return compile_limit(limit, identity->tick, possible_cpus, compiled, why);
}

static int refuse_full(const struct policy_limit *limit, struct complaint *why)
{
	return complain(
		why, -ESTALE,
		"the table was made for fewer limits and has no word left for limit %s (words of "
		"limits that left the policy are not given to others)",
		limit->name);
}

static int add_identity(struct table_identity *table, const struct policy_limit *limit,
			struct complaint *why)
{
	int kind = find_or_add_kind(table, &limit->per);
	unsigned int slot = next_slot(table, kind);
	unsigned int slots = limit->per.per == PER_INTERFACE ? MAX_LIMITS : table->words;
	struct slot_scale scale = {0};
	struct limit_identity *identity;
	struct limit compiled;
	unsigned int id = 0;
	int err;

	while (id < MAX_LIMITS && table->limits[id].used)
		id++;
	if (kind < 0 || id == MAX_LIMITS || slot >= slots)
		return refuse_full(limit, why);
	err = choose_limit_tick(limit, &compiled, why);
	if (!err && in_flat_slots(table, limit)) {
		err = choose_slot_scale(limit, &scale, why);
		compiled.tick = (__u8)scale.tick;
	}
	if (err)
		return err;
	identity = &table->limits[id];
	*identity = (struct limit_identity){
		.used = 1,
		.unit = compiled.unit,
		.algorithm = compiled.algorithm,
		.tick = compiled.tick,
		.kind = (__u8)kind,
		.slot = (__u8)slot,
		.fingerprint_bits = (__u8)scale.fingerprint_bits,
		.window_ns = index_window_ns(limit),
	};
	memcpy(identity->name, limit->name, NAME_SIZE);
	return 0;
}

static bool same_kind(const struct table_identity *table, const struct policy_per *a,
		      const struct policy_per *b)
{
	const struct kind_identity left = resolve_kind(table, a), right = resolve_kind(table, b);

	return !memcmp(&left, &right, sizeof(left));
}

/* A group holds the limits of one kind; the kind with the most decides. */
static unsigned int words_for(const struct policy *policy, const struct table_identity *table)
{
	unsigned int most = 1, words = 1;

	for (unsigned int i = 0; i < policy->limit_count; i++) {
		unsigned int same = 0;

		for (unsigned int k = 0; k < policy->limit_count; k++)
			same += same_kind(table, &policy->limits[i].per, &policy->limits[k].per);
		if (policy->limits[i].per.per != PER_INTERFACE && same > most)
			most = same;
	}
	while (words < most)
		words *= 2;
	return words;
}

static unsigned int count_regions(const struct policy *policy)
{
	unsigned int regions = 0;

	for (unsigned int i = 0; i < policy->limit_count; i++)
		regions += policy->limits[i].per.per != PER_INTERFACE;
	return regions ?: 1;
}

static unsigned int count_logs(const struct policy *policy)
{
	unsigned int logs = 0;

	for (unsigned int i = 0; i < policy->limit_count; i++)
		logs += policy->limits[i].algorithm == ALGORITHM_SLIDING_LOG;
	return logs;
}

static int draw_seed(__u64 *seed)
{
	return getrandom(seed, sizeof(*seed), 0) == sizeof(*seed) ? 0 : -errno;
}

/* Id 0, whatever the policy says: what `get` and `sources` ask about. */
static const struct policy_per own_source = {.per = PER_SOURCE};

int table_new(const struct policy *policy, struct table_identity *table, struct complaint *why)
{
	struct table_identity fresh = {
		.abi = XDP_LIMIT_ABI,
		.type = (__u8)policy->table_type,
		.capacity = (__u32)policy->sources,
		.ipv4_prefix = (__u8)policy->ipv4_prefix,
		.ipv6_prefix = (__u8)policy->ipv6_prefix,
		.logs = (__u8)count_logs(policy),
	};
	int err = draw_seed(&fresh.seed);

	if (err)
		return complain(why, err, "the kernel gives no random numbers");
	if (fresh.type == TABLE_FLAT) {
		fresh.words = count_regions(policy);
		fresh.blocks = flat_blocks(policy->sources);
	} else {
		fresh.words = words_for(policy, &fresh);
	}
	find_or_add_kind(&fresh, &own_source);
	for (unsigned int i = 0; i < policy->limit_count; i++) {
		err = add_identity(&fresh, &policy->limits[i], why);
		if (err)
			return err;
	}
	*table = fresh;
	return 0;
}

static int check_table(const struct policy *policy, const struct table_identity *table,
		       struct complaint *why)
{
	const struct {
		const char *noun;
		bool given;
		unsigned long long has, wants;
	} facts[] = {
		{"layout version", true, table->abi, XDP_LIMIT_ABI},
		{"size", policy->sources_given, table->capacity, policy->sources},
		{"IPv4 prefix length", policy->ipv4_prefix_given, table->ipv4_prefix,
		 policy->ipv4_prefix},
		{"IPv6 prefix length", policy->ipv6_prefix_given, table->ipv6_prefix,
		 policy->ipv6_prefix},
	};

	if (policy->table_type_given && policy->table_type != table->type)
		return complain(why, -ESTALE, "the table is of type %s, not %s",
				table_words[table->type], table_words[policy->table_type]);
	for (unsigned int i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (facts[i].given && facts[i].has != facts[i].wants)
			return complain(why, -ESTALE, "the table's %s is %llu, not %llu",
					facts[i].noun, facts[i].has, facts[i].wants);
	if (count_logs(policy) > table->logs)
		return complain(why, -ESTALE,
				"the table has room for the slots of %u sliding-log limits, not %u",
				table->logs, count_logs(policy));
	return 0;
}

/* Whether @identity's words can go on to mean what @limit says. */
static int keep_identity(const struct table_identity *table, const struct limit_identity *identity,
			 const struct policy_limit *limit, struct complaint *why)
{
	struct limit compiled;
	int err = compile_for(table, identity, limit, 1, &compiled, why);

	return err == -EDOM ? -ESTALE : err;
}

int table_extend(const struct policy *policy, struct table_identity *table, struct complaint *why)
{
	struct table_identity extended = *table;
	int err = check_table(policy, table, why);

	for (unsigned int i = 0; !err && i < policy->limit_count; i++) {
		const struct policy_limit *limit = &policy->limits[i];
		const struct limit_identity *identity = table_find(&extended, limit);

		err = identity ? keep_identity(&extended, identity, limit, why)
			       : add_identity(&extended, limit, why);
	}
	if (!err)
		*table = extended;
	return err;
}

/*
 * An LRU hash as the kernel lays it out: per entry its header, key and value, each rounded up to
 * 8 bytes; per bucket (as many as entries, rounded up to a power of two) a list head and a lock.
 */
uint64_t lru_memory(uint64_t entries, uint64_t key, uint64_t value)
{
	const uint64_t header = 48, bucket = 16;
	uint64_t buckets = 1;

	while (buckets < entries)
		buckets *= 2;
	return entries * (header + (key + 7) / 8 * 8 + value) + buckets * bucket;
}

uint64_t table_memory(uint64_t sources, unsigned int words)
{
	return lru_memory(sources, sizeof(struct bucket_key), GROUP_SIZE(words));
}

uint64_t table_bytes(const struct table_identity *table)
{
	if (table->type == TABLE_FLAT)
		return flat_memory(table);
	return table_memory(table->capacity, table->words) + log_memory(table);
}

uint32_t log_entries(const struct table_identity *table)
{
	uint64_t entries = (uint64_t)table->capacity * table->logs;

	return entries < SOURCES_MAX ? (uint32_t)entries : SOURCES_MAX;
}

uint64_t log_memory(const struct table_identity *table)
{
	uint32_t entries = log_entries(table);

	return entries ? lru_memory(entries, sizeof(struct log_key), sizeof(struct log_slots)) : 0;
}
