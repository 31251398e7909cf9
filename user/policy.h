/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The policy: the whole configuration of one interface, as its writer meant it. */
#ifndef XDP_LIMIT_POLICY_H
#define XDP_LIMIT_POLICY_H

#include <stdbool.h>
#include "abi.h"
#include "complaint.h"
#include "units.h"

/* Absent differs from zero: a field that may be left out has its own flag or an explicit value. */
struct policy_limit {
	char name[NAME_SIZE];
	struct rate rate;
	uint64_t burst; /* units; default_burst() when it was not given */
	enum algorithm algorithm;
	enum per per;
	bool observe;
};

enum when_full {
	WHEN_FULL_PASS,
	WHEN_FULL_DROP,
};

enum malformed_policy {
	MALFORMED_DROP,
	MALFORMED_PASS,
};

struct policy {
	/* The table's shape. What was not given takes the running table's value, else the default. */
	uint64_t sources; /* entries */
	unsigned int ipv4_prefix;
	unsigned int ipv6_prefix;
	bool sources_given, ipv4_prefix_given, ipv6_prefix_given;
	enum when_full when_full;
	enum fragments_policy fragments;
	enum malformed_policy malformed;
	bool dry_run;
	unsigned int limit_count;
	struct policy_limit limits[MAX_LIMITS]; /* in the order of the file or the command line */
};

#define SOURCES_DEFAULT 1048576ULL
#define SOURCES_MIN	1024ULL /* smaller LRU tables evict long before they are full */
#define SOURCES_MAX	(1ULL << 28)

void policy_defaults(struct policy *policy);

/**
 * policy_add_limit - append a limit with default burst and algorithm.
 * Returns the limit to fill further, or NULL with a sentence in @why (too many, name taken or
 * not made of a-z 0-9 - _).
 */
struct policy_limit *policy_add_limit(struct policy *policy, const char *name,
				      const struct rate *rate, struct complaint *why);

/** policy_check - contradictions and ranges across fields: 0, or -EINVAL/-ERANGE with @why. */
int policy_check(const struct policy *policy, struct complaint *why);

#endif
