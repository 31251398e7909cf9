/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What can't be meant in one limit, though each of its values is in range. */
#ifndef XDP_LIMIT_POLICY_RULES_H
#define XDP_LIMIT_POLICY_RULES_H

#include "policy.h"

/* Where in the limit's mapping the culprit stands: @part inside of @key, or NULL for all of it. */
struct limit_rule {
	const char *key;
	const char *part;
	/* 0, or -EINVAL or -ERANGE with a sentence in @why that doesn't name the limit */
	int (*check)(const struct policy_limit *limit, struct complaint *why);
};

/* Ends with a NULL check. */
extern const struct limit_rule limit_rules[];

/** check_meter - a rate that is none, a burst out of range: 0, or -ERANGE with @why. */
int check_meter(const struct policy_limit *limit, struct complaint *why);

/** tier_limit - @limit as it holds for the sources of the tier at position @tier. */
struct policy_limit tier_limit(const struct policy_limit *limit, unsigned int tier);

/** algorithm_burst - the burst that @rate has under @algorithm when none is given. */
uint64_t algorithm_burst(enum algorithm algorithm, const struct rate *rate);

#endif
