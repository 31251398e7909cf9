/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of bans as they were and as they are: what came and what went. */
#ifndef XDP_LIMIT_BANS_H
#define XDP_LIMIT_BANS_H

#include "policy.h"

struct ban {
	struct policy_prefix prefix;
	uint64_t until_ns; /* boot clock, or FOREVER */
};

/* All zero is empty. */
struct ban_list {
	struct ban *bans;
	size_t count, capacity;
	size_t sorted; /* so many of them, as bans_sort() left them */
};

/** bans_add - append; 0 or -ENOMEM. */
int bans_add(struct ban_list *list, const struct policy_prefix *prefix, uint64_t until_ns);
/** bans_sort - by prefix, each once: of several bans of one prefix the last to end stays. */
void bans_sort(struct ban_list *list);
/** bans_have - whether this very ban is in the list. */
bool bans_have(const struct ban_list *list, const struct policy_prefix *prefix, uint64_t until_ns);
/**
 * bans_compare - call @visit for each prefix that is only in @before (@is_new false) or only in @after; both
 * are sorted. A non-zero result of @visit ends that and is returned; else 0.
 */
int bans_compare(const struct ban_list *before, const struct ban_list *after,
		 int (*visit)(const struct ban *ban, bool is_new, void *context), void *context);
void bans_free(struct ban_list *list);

#endif
