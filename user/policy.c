// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The policy: its defaults, and what makes one valid whoever wrote it. */
#include "policy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "policy_rules.h"

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789-_"

void policy_defaults(struct policy *policy)
{
	*policy = (struct policy){
		.sources = SOURCES_DEFAULT,
		.ipv4_prefix = 32,
		.ipv6_prefix = 64,
		.when_full = WHEN_FULL_PASS,
		.fragments = FRAGMENTS_COUNT,
		.malformed = MALFORMED_DROP,
	};
}

enum when_full policy_when_full(const struct policy *policy, enum table_type type)
{
	if (policy->when_full_given)
		return policy->when_full;
	return type == TABLE_FLAT ? WHEN_FULL_INHERIT : WHEN_FULL_PASS;
}

int policy_add_prefix(struct policy_prefixes *list, const struct policy_prefix *prefix)
{
	size_t capacity = list->capacity ? list->capacity * 2 : 16;
	void *prefixes;

	if (list->count == list->capacity) {
		prefixes = realloc(list->prefixes, capacity * sizeof(*list->prefixes));
		if (!prefixes)
			return -ENOMEM;
		list->prefixes = prefixes;
		list->capacity = capacity;
	}
	list->prefixes[list->count++] = *prefix;
	return 0;
}

void policy_free(struct policy *policy)
{
	free(policy->allow.prefixes);
	free(policy->deny.prefixes);
	for (unsigned int i = 0; i < policy->tier_count; i++)
		free(policy->tiers[i].sources.prefixes);
	policy_defaults(policy);
}

static int check_name(const char *noun, const char *name, struct complaint *why)
{
	size_t length = strlen(name);

	if (length && length < NAME_SIZE && strspn(name, NAME_CHARACTERS) == length)
		return 0;
	return complain(why, -EINVAL,
			"\"%.80s\" can't name a %s; use 1 to %d characters of a-z 0-9 - _", name,
			noun, NAME_SIZE - 1);
}

static int check_limit_name(const struct policy *policy, const char *name, struct complaint *why)
{
	int err = check_name("limit", name, why);

	for (unsigned int i = 0; !err && i < policy->limit_count; i++)
		if (!strcmp(policy->limits[i].name, name))
			err = complain(why, -EEXIST, "there is a limit named \"%s\" already", name);
	return err;
}

static int check_tier_name(const struct policy *policy, const char *name, struct complaint *why)
{
	int err = check_name("tier", name, why);

	for (unsigned int i = 0; !err && i < policy->tier_count; i++)
		if (!strcmp(policy->tiers[i].name, name))
			err = complain(why, -EEXIST, "there is a tier named \"%s\" already", name);
	return err;
}

struct policy_tier *policy_add_tier(struct policy *policy, const char *name, struct complaint *why)
{
	struct policy_tier *tier;

	if (check_tier_name(policy, name, why))
		return NULL;
	if (policy->tier_count == MAX_TIERS) {
		complain(why, -E2BIG, "tier \"%s\" is one too many; the maximum is %d", name,
			 MAX_TIERS);
		return NULL;
	}
	tier = &policy->tiers[policy->tier_count++];
	*tier = (struct policy_tier){.name = ""};
	memcpy(tier->name, name, strlen(name) + 1);
	return tier;
}

struct policy_limit *policy_add_limit(struct policy *policy, const char *name,
				      const struct rate *rate, struct complaint *why)
{
	struct policy_limit *limit;

	if (check_limit_name(policy, name, why))
		return NULL;
	if (policy->limit_count == MAX_LIMITS) {
		complain(why, -E2BIG, "limit \"%s\" is one too many; the maximum is %d", name,
			 MAX_LIMITS);
		return NULL;
	}
	limit = &policy->limits[policy->limit_count++];
	*limit = (struct policy_limit){
		.rate = *rate,
		.burst = default_burst(rate),
		.algorithm = ALGORITHM_TOKEN_BUCKET,
	};
	limit->per.per = PER_SOURCE;
	memcpy(limit->name, name, strlen(name) + 1);
	return limit;
}

bool policy_matches_all(const struct policy_match *match)
{
	return !match->protocols.count && !match->source_ports.count &&
	       !match->destination_ports.count && !match->vlans.count && !match->lengths.count &&
	       !match->destinations.count && !match->flags_mask && !match->family;
}

static int check_limit(const struct policy_limit *limit, struct complaint *why)
{
	struct complaint cause;
	int err = 0;

	for (unsigned int i = 0; !err && limit_rules[i].check; i++)
		err = limit_rules[i].check(limit, &cause);
	if (err)
		return complain(why, err, "limit \"%s\": %.460s", limit->name, cause.text);
	for (unsigned int i = 0; !err && i < MAX_TIERS; i++) {
		struct policy_limit limit_of_tier = tier_limit(limit, i);

		if (limit->tiers[i].given)
			err = check_meter(&limit_of_tier, &cause);
	}
	return err ? complain(why, err, "limit \"%s\", of a tier: %.440s", limit->name, cause.text)
		   : 0;
}

static int check_table(const struct policy *policy, struct complaint *why)
{
	const struct {
		const char *noun;
		uint64_t value, min, max;
	} ranges[] = {
		{"table size", policy->sources, SOURCES_MIN, SOURCES_MAX},
		{"IPv4 prefix length", policy->ipv4_prefix, 1, 32},
		{"IPv6 prefix length", policy->ipv6_prefix, 1, 128},
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		if (ranges[i].value < ranges[i].min)
			return complain(why, -ERANGE,
					"%s %" PRIu64 " is too small; the minimum is %" PRIu64,
					ranges[i].noun, ranges[i].value, ranges[i].min);
		if (ranges[i].value > ranges[i].max)
			return complain(why, -ERANGE,
					"%s %" PRIu64 " is too large; the maximum is %" PRIu64,
					ranges[i].noun, ranges[i].value, ranges[i].max);
	}
	return 0;
}

int policy_check(const struct policy *policy, struct complaint *why)
{
	int err = check_table(policy, why);

	if (err)
		return err;
	if (policy->when_full == WHEN_FULL_INHERIT && policy->table_type != TABLE_FLAT)
		return complain(
			why, -EINVAL,
			"when-full: inherit is for the flat table; write pass or drop, or take "
			"the table type flat");
	if (!policy->limit_count)
		return complain(why, -EINVAL,
				"there is no limit; give at least one rate (packets or bytes)");
	for (unsigned int i = 0; i < policy->limit_count && !err; i++)
		err = check_limit(&policy->limits[i], why);
	return err;
}
