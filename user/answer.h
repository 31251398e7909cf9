/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What would happen to an address now, as one struct: gathered once, said as text, JSON or headers. */
#ifndef XDP_LIMIT_ANSWER_H
#define XDP_LIMIT_ANSWER_H

#include <stdbool.h>
#include "kernel.h"

struct json_object;

/* What is known of one address: the same struct for text and JSON. */
struct answer {
	const struct config *config;
	char source[ADDRESS_TEXT_SIZE];
	unsigned int tier;    /* from 1; 0: none */
	enum reason listed;   /* what the lists say; REASON_NONE: the limits decide */
	double ban_seconds;   /* until the ban ends; 0: none, negative: never */
	double guard_seconds; /* 0: no guard */
	bool has_bucket;
	enum per pers[MAX_LIMITS]; /* what each limit counts per */
	struct limit_state states[MAX_LIMITS];
	struct tally tallies[MAX_LIMITS];
};

/** answer_read - ask @running about @address: 0 or -errno. The answer points into @running. */
int answer_read(const struct running *running, const struct address *address,
		struct answer *answer);

/** answer_place - a limit's place in the configuration, for this answer's tier. */
unsigned int answer_place(const struct answer *answer, unsigned int limit);

/** answer_label - how that limit was written, for this answer's tier. */
const struct limit_label *answer_label(const struct answer *answer, unsigned int limit);

/** answer_is_refused - it is banned or denied, and meets no limit. */
bool answer_is_refused(const struct answer *answer);

/** The tier's name, or NULL for none. */
const char *answer_tier(const struct answer *answer);
/** What limit @index counts per, as the policy file writes it. */
const char *answer_per(const struct answer *answer, unsigned int index);
/** Whether the address alone tells which bucket is meant: a destination is not asked for. */
bool answer_is_of_address(const struct answer *answer, unsigned int index);
/** Whether what passed is counted by source: a flat table keeps no such count. */
bool answer_counts_passed(const struct answer *answer, unsigned int index);

struct json_object *answer_json(const struct answer *answer);

#endif
