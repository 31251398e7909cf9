/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which tier a source is in: by its longest prefix, behind a filter that most sources pass. */
#ifndef XDP_LIMIT_TIERS_H
#define XDP_LIMIT_TIERS_H

#include "lists.h"

/* Cold to sources in no tier. */
__noinline int ask_tiers(struct prefix_key *key)
{
	struct prefix_key own;
	__u32 *tier;

	if (!key)
		return 0;
	own = *key; /* see maps.h */
	tier = bpf_map_lookup_elem(&tier_prefix, &own);
	return tier ? *tier : 0;
}

/** The tier of @packet's source, from 1; 0 for none. */
INLINE __u32 find_tier(const struct packet *packet)
{
	const struct prefix_filter shape = config.tier_filter;
	struct prefix_key key = {.length = WHOLE_PREFIX, .family = packet->family};

	if (!config.tiers || !prefix_may_hold(&tier_pbits, packet, &shape))
		return 0;
	__builtin_memcpy(key.address, packet->source, sizeof(key.address));
	return ask_tiers(&key) & MAX_TIERS;
}

#endif
