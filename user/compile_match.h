/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From the matches of limits to arrays of limit sets, one for each value of a field. */
#ifndef XDP_LIMIT_COMPILE_MATCH_H
#define XDP_LIMIT_COMPILE_MATCH_H

#include "abi.h"
#include "policy.h"

/* A destination prefix and the limits of all prefixes that cover it. */
struct match_prefix {
	struct prefix_key key;
	uint32_t limits;
};

/* As the maps of bpf/maps.h hold them: bit i for config.limits[i]. */
struct match_tables {
	uint32_t protocol[PROTOCOL_VALUES];
	uint32_t flags[FLAGS_VALUES];
	uint32_t vlan[VLAN_VALUES];
	uint32_t source_port[PORT_VALUES];
	uint32_t destination_port[PORT_VALUES];
	uint32_t length[LENGTH_VALUES];
	unsigned int prefix_count;
	struct match_prefix prefixes[MAX_LIMITS * MATCH_MAX];
};

/** compile_match_summary - the fields in use, and what packets without them still meet. */
void compile_match_summary(const struct policy *policy, struct config *config);

/** compile_match - fill @tables for @policy in the charge order of @config. */
void compile_match(const struct policy *policy, const struct config *config,
		   struct match_tables *tables);

#endif
