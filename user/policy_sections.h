/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sections of a policy file: what reads each; for policy_file*.c only. */
#ifndef XDP_LIMIT_POLICY_SECTIONS_H
#define XDP_LIMIT_POLICY_SECTIONS_H

#include "policy_yaml.h"

/** @target: NULL for the sections of the top level; they fill reader->policy. */
read_fn read_table, read_tiers, read_limits;
/** @target: struct policy_match */
read_fn read_match;
/** @target: struct policy_prefixes */
read_fn read_prefixes;

/** read_prefix - one prefix: 0, or -1 after having said what is wrong. */
int read_prefix(struct reader *reader, const yaml_node_t *node, struct policy_prefix *prefix);

/** read_rate - of either unit: 0, or -1. @noun: what the key is called. */
int read_rate(struct reader *reader, const yaml_node_t *node, const char *noun, enum unit unit,
	      struct rate *rate);

/** read_burst - of @rate under @algorithm: 0, or -1. */
int read_burst(struct reader *reader, const yaml_node_t *node, enum algorithm algorithm,
	       const struct rate *rate, uint64_t *burst);

/** read_limit_tiers - the mapping of tiers in a limit. @target: struct policy_limit */
read_fn read_limit_tiers;
/** blame_unused_tiers - those that no limit has a rate for. */
void blame_unused_tiers(struct reader *reader);

#endif
