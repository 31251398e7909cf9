// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whether two policies are the same. */
#include "same_policy.h"

#include <string.h>

/* Capacities grow alike, so they are compared too; the pointers are taken out. */
static bool same_list(struct policy_prefixes *left, struct policy_prefixes *right)
{
	bool same = left->count == right->count &&
		    (!left->count || !memcmp(left->prefixes, right->prefixes,
					     left->count * sizeof(*left->prefixes)));

	left->prefixes = right->prefixes = NULL;
	return same;
}

bool same_policy(const struct policy *left, const struct policy *right)
{
	static struct policy a, b;
	bool same;

	memcpy(&a, left, sizeof(a));
	memcpy(&b, right, sizeof(b));
	same = same_list(&a.allow, &b.allow) && same_list(&a.deny, &b.deny);
	for (unsigned int i = 0; same && i < MAX_TIERS; i++)
		same = same_list(&a.tiers[i].sources, &b.tiers[i].sources);
	/* Padding too: policy_parse() clears it. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
	return same && !memcmp(&a, &b, sizeof(a));
}
