/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The policy: the whole configuration of one interface, as its writer meant it. */
#ifndef XDP_LIMIT_POLICY_H
#define XDP_LIMIT_POLICY_H

#include <stdbool.h>
#include "abi.h"
#include "address.h"
#include "complaint.h"
#include "units.h"

#define MATCH_MAX 32 /* values of one field of one match */

struct range {
	uint32_t first, last; /* both included */
};

struct range_list {
	unsigned int count; /* 0: the field is not matched on */
	struct range ranges[MATCH_MAX];
};

struct policy_prefix {
	struct address address; /* cut to length */
	unsigned int length;	/* of the family: 0..32 or 0..128 */
};

struct prefix_list {
	unsigned int count;
	struct policy_prefix prefixes[MATCH_MAX];
};

/* Which packets a limit meets: all fields that are given must fit. */
struct policy_match {
	struct range_list protocols;
	struct range_list source_ports;
	struct range_list destination_ports;
	struct range_list vlans;   /* 0: untagged */
	struct range_list lengths; /* bytes of the frame */
	struct prefix_list destinations;
	uint8_t flags_mask, flags_value; /* TCP flags that are looked at, and how they must be */
	unsigned int family;		 /* 4, 6, or 0 for both */
};

/* What a limit counts per; prefix lengths of 0 are the table's. */
struct policy_per {
	enum per per;
	unsigned int ipv4_prefix, ipv6_prefix;
};

/* A rate and burst of its own for the sources of one tier. */
struct policy_tier_rate {
	bool given; /* else the tier has the limit's own rate */
	struct rate rate;
	uint64_t burst;
};

/* Absent differs from zero: a field that may be left out has its own flag or an explicit value. */
struct policy_limit {
	char name[NAME_SIZE];
	struct rate rate;
	uint64_t burst; /* units; default_burst() when it was not given */
	enum algorithm algorithm;
	struct policy_per per;
	struct policy_match match;
	struct policy_tier_rate tiers[MAX_TIERS]; /* by position in policy.tiers */
	uint64_t ban_ns;			  /* on-exceed: ban: T; 0: only drop */
	bool ban_extends; /* what the banned source goes on sending renews the ban */
	bool observe;
};

/* Prefixes in the order they were written; freed by policy_free(). */
struct policy_prefixes {
	size_t count, capacity;
	struct policy_prefix *prefixes;
};

struct policy_tier {
	char name[NAME_SIZE];
	struct policy_prefixes sources;
};

enum when_full {
	WHEN_FULL_PASS,
	WHEN_FULL_DROP,
	WHEN_FULL_INHERIT, /* flat: take the slot in least debt, and owe that */
};

enum malformed_policy {
	MALFORMED_DROP,
	MALFORMED_PASS,
};

/* How many buckets may be made: the gate against invented sources. */
enum new_sources {
	NEW_SOURCES_AUTO, /* so slow that none goes before it would be full again */
	NEW_SOURCES_UNLIMITED,
	NEW_SOURCES_RATE,
};

struct policy {
	/* The table's shape. What was not given takes the running table's value, else the default. */
	uint64_t sources; /* entries */
	unsigned int ipv4_prefix;
	unsigned int ipv6_prefix;
	enum table_type table_type;
	bool sources_given, ipv4_prefix_given, ipv6_prefix_given, table_type_given;
	enum new_sources new_sources;
	struct rate new_sources_rate; /* packets stand for entries */
	bool new_sources_beyond_pass; /* else drop */
	enum when_full when_full;
	bool when_full_given; /* else what is usual for the table's type */
	enum fragments_policy fragments;
	enum malformed_policy malformed;
	bool dry_run;
	uint32_t measure; /* how long a check takes, of one packet in so many; 0: never */
	struct policy_prefixes allow, deny;
	unsigned int tier_count;
	struct policy_tier tiers[MAX_TIERS];
	unsigned int limit_count;
	struct policy_limit limits[MAX_LIMITS]; /* in the order of the file or the command line */
};

/** policy_add_prefix - append; 0 or -ENOMEM. */
int policy_add_prefix(struct policy_prefixes *list, const struct policy_prefix *prefix);
/** policy_free - what a policy owns; it is as after policy_defaults() then. */
void policy_free(struct policy *policy);

#define MEASURE_MAX	1048576U
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

/** policy_add_tier - append a tier without sources; NULL as policy_add_limit(). */
struct policy_tier *policy_add_tier(struct policy *policy, const char *name, struct complaint *why);

/** policy_when_full - what happens to a source that gets no bucket, in a table of @type. */
enum when_full policy_when_full(const struct policy *policy, enum table_type type);

/** policy_matches_all - whether every packet fits. */
bool policy_matches_all(const struct policy_match *match);

/** policy_check - contradictions and ranges across fields: 0, or -EINVAL/-ERANGE with @why. */
int policy_check(const struct policy *policy, struct complaint *why);

#endif
