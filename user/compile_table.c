// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which word of a table is whose: limits keep their identity from one policy to the next. */
#include "compile.h"

#include <errno.h>
#include <string.h>

const struct limit_identity *table_find(const struct table_identity *table,
					const struct policy_limit *limit)
{
	for (unsigned int id = 0; id < MAX_LIMITS; id++) {
		const struct limit_identity *identity = &table->limits[id];

		if (identity->used && identity->unit == limit->rate.unit &&
		    identity->algorithm == limit->algorithm && identity->per == limit->per &&
		    !strncmp(identity->name, limit->name, NAME_SIZE))
			return identity;
	}
	return NULL;
}

/* Slots are counted for each kind of `per`; a limit that left still holds its own. */
static unsigned int next_slot(const struct table_identity *table, enum per per)
{
	unsigned int slot = 0;

	for (unsigned int id = 0; id < MAX_LIMITS; id++)
		if (table->limits[id].used && table->limits[id].per == per)
			slot++;
	return slot;
}

static int add_identity(struct table_identity *table, const struct policy_limit *limit,
			struct complaint *why)
{
	unsigned int slot = next_slot(table, limit->per);
	struct limit_identity *identity;
	struct limit compiled;
	unsigned int id = 0;
	int err;

	while (id < MAX_LIMITS && table->limits[id].used)
		id++;
	if (id == MAX_LIMITS || slot >= table->words)
		return complain(why, -ESTALE,
				"the table has no word left for limit %s: words of limits that "
				"left the policy are not given to others",
				limit->name);
	err = compile_limit(limit, -1, 1, &compiled, why);
	if (err)
		return err;
	identity = &table->limits[id];
	*identity = (struct limit_identity){
		.used = 1,
		.unit = compiled.unit,
		.algorithm = compiled.algorithm,
		.tick = compiled.tick,
		.per = compiled.per,
		.slot = (__u8)slot,
	};
	memcpy(identity->name, limit->name, NAME_SIZE);
	return 0;
}

static unsigned int words_for(unsigned int limits)
{
	unsigned int words = 1;

	while (words < limits)
		words *= 2;
	return words;
}

int table_new(const struct policy *policy, struct table_identity *table, struct complaint *why)
{
	struct table_identity fresh = {
		.abi = XDP_LIMIT_ABI,
		.capacity = (__u32)policy->sources,
		.words = words_for(policy->limit_count),
		.ipv4_prefix = (__u8)policy->ipv4_prefix,
		.ipv6_prefix = (__u8)policy->ipv6_prefix,
	};
	int err;

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

	for (unsigned int i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (facts[i].given && facts[i].has != facts[i].wants)
			return complain(why, -ESTALE, "the table's %s is %llu, not %llu",
					facts[i].noun, facts[i].has, facts[i].wants);
	return 0;
}

/* Whether @identity's words can go on to mean what @limit says. */
static int keep_identity(const struct limit_identity *identity, const struct policy_limit *limit,
			 struct complaint *why)
{
	struct limit compiled;
	int err = compile_limit(limit, identity->tick, 1, &compiled, why);

	return err == -EDOM ? -ESTALE : err;
}

int table_extend(const struct policy *policy, struct table_identity *table, struct complaint *why)
{
	struct table_identity extended = *table;
	int err = check_table(policy, table, why);

	for (unsigned int i = 0; !err && i < policy->limit_count; i++) {
		const struct policy_limit *limit = &policy->limits[i];
		const struct limit_identity *identity = table_find(&extended, limit);

		err = identity ? keep_identity(identity, limit, why)
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
uint64_t table_memory(uint64_t sources, unsigned int words)
{
	const uint64_t header = 48, bucket = 16, key = (sizeof(struct bucket_key) + 7) / 8 * 8;
	uint64_t buckets = 1;

	while (buckets < sources)
		buckets *= 2;
	return sources * (header + key + GROUP_SIZE(words)) + buckets * bucket;
}
