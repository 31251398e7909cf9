/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Walks the nodes of a policy file by tables of keys; every refusal has its place. */
#ifndef XDP_LIMIT_POLICY_YAML_H
#define XDP_LIMIT_POLICY_YAML_H

#include <stdbool.h>
#include <yaml.h>
#include "findings.h"
#include "policy.h"

#define POLICY_SIZE_MAX	 (4U << 20)
#define POLICY_DEPTH_MAX 16

/* One reading of a file. */
struct reader {
	yaml_document_t *document;
	struct policy *policy;
	struct findings *findings;
	int err; /* -ENOMEM */
	/* By position in policy->tiers. */
	const yaml_node_t *tier_nodes[MAX_TIERS];
	const yaml_node_t *tier_sources[MAX_TIERS];
	bool tier_used[MAX_TIERS];
};

typedef void read_fn(struct reader *reader, const yaml_node_t *node, void *target);

/* One key of a mapping and what reads its value. A NULL name ends a table. */
struct key {
	const char *name;
	read_fn *read;
	bool required;
};

#define KEYS_MAX 16 /* in one table */

/** scan_yaml - refuse what is no YAML, or YAML that a policy has no use for, in its place. */
int scan_yaml(const char *text, size_t size, struct findings *findings);

/** blame - say what is wrong at @node (printf style). */
void blame(struct reader *reader, const yaml_node_t *node, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * read_mapping - read the values of @node in the order of @keys, not of the file, into @target.
 * @noun: what a refusal calls the mapping ("a limit").
 */
void read_mapping(struct reader *reader, const yaml_node_t *node, const char *noun,
		  const struct key *keys, void *target);

/** read_pairs - @read for each value of a mapping with names of the writer's. */
void read_pairs(struct reader *reader, const yaml_node_t *node, const char *noun,
		void (*read)(struct reader *reader, const yaml_node_t *key,
			     const yaml_node_t *value, void *target),
		void *target);

/** mapping_value - the value of @name in @mapping, or NULL. */
const yaml_node_t *mapping_value(const struct reader *reader, const yaml_node_t *mapping,
				 const char *name);

/** read_list - @read for each item. */
void read_list(struct reader *reader, const yaml_node_t *node, const char *noun, read_fn *read,
	       void *target);
/** read_values - the same, and a single value stands for a list of one. */
void read_values(struct reader *reader, const yaml_node_t *node, const char *noun, read_fn *read,
		 void *target);
/** list_item - item @index, where a single value stands for a list of one; NULL behind the end. */
const yaml_node_t *list_item(const struct reader *reader, const yaml_node_t *list, size_t index);

/** read_text - a single value; NULL when it is none, after having said so. */
const char *read_text(struct reader *reader, const yaml_node_t *node, const char *noun);
/** read_word - the position of a value in @words, or -1. */
int read_word(struct reader *reader, const yaml_node_t *node, const char *noun,
	      const char *const *words);
/** read_count - a whole number into @count: 0, or -1. */
int read_count(struct reader *reader, const yaml_node_t *node, const char *noun, uint64_t min,
	       uint64_t max, uint64_t *count);

bool is_scalar(const yaml_node_t *node);
/** is_absent - a value that was left out, as in a list whose items are all commented out. */
bool is_absent(const yaml_node_t *node);

#endif
