// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The policy: its defaults, and what makes one valid whoever wrote it. */
#include "policy.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

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

static int check_name(const struct policy *policy, const char *name, struct complaint *why)
{
	size_t length = strlen(name);

	if (!length || length >= NAME_SIZE || strspn(name, NAME_CHARACTERS) != length)
		return complain(why, -EINVAL,
				"\"%.80s\" can't name a limit; use 1 to %d characters "
				"of a-z 0-9 - _",
				name, NAME_SIZE - 1);
	for (unsigned int i = 0; i < policy->limit_count; i++)
		if (!strcmp(policy->limits[i].name, name))
			return complain(why, -EEXIST, "there is a limit named \"%s\" already",
					name);
	return 0;
}

struct policy_limit *policy_add_limit(struct policy *policy, const char *name,
				      const struct rate *rate, struct complaint *why)
{
	struct policy_limit *limit;

	if (check_name(policy, name, why))
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
		.per = PER_SOURCE,
	};
	memcpy(limit->name, name, strlen(name) + 1);
	return limit;
}

static int check_limit(const struct policy_limit *limit, struct complaint *why)
{
	struct complaint cause;
	int err;

	if (limit->rate.kind != LIMIT_METERED)
		return 0;
	if (!limit->rate.amount || !limit->rate.per_ns)
		return complain(why, -ERANGE,
				"limit \"%s\": a rate can't be 0; write block to drop everything, "
				"unlimited to drop nothing",
				limit->name);
	err = check_burst(limit->burst, limit->rate.unit, &cause);
	if (err)
		return complain(why, err, "limit \"%s\": burst %.400s", limit->name, cause.text);
	return 0;
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
	if (!policy->limit_count)
		return complain(why, -EINVAL,
				"there is no limit; give at least one rate (packets or bytes)");
	for (unsigned int i = 0; i < policy->limit_count && !err; i++)
		err = check_limit(&policy->limits[i], why);
	return err;
}
