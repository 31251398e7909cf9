/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From the policy to the numbers that the kernel program charges with; no kernel calls. */
#ifndef XDP_LIMIT_COMPILE_H
#define XDP_LIMIT_COMPILE_H

#include <stdbool.h>
#include "abi.h"
#include "complaint.h"
#include "policy.h"

#define TICK_MAX 7 /* the finest tick is 2^-7 ns */
/*
 * How far beyond the burst a bucket's word may be before it is put back. Clocks of CPUs differ by
 * far less; after a rate was raised, a source waits at most so long for what it owed at the old one.
 */
#define BUCKET_SLACK_NS (50ULL * 1000 * 1000)

#define FULL_FRAME 1500 /* bytes of the packet by which byte limits are judged and compared */

/* What the machine and the way of attaching add to a policy. */
struct compile_facts {
	unsigned int possible_cpus;
	bool generic;
	bool skb_facts;
	bool may_have_frags;
	bool load_bytes;
	bool penalties_left; /* bans of an earlier policy's limits, to be served on */
};

/**
 * compile_limit - the arithmetic of one limit: tick, multiplier, shift, burst, share, slack,
 * max_units from @limit; tick is @tick when 0..7 (kept from an earlier policy), chosen when -1.
 * Returns 0; -ERANGE with a sentence in @why that names what to change and the allowed maximum;
 * -EDOM when the kept tick can't hold the new rate or burst (the caller needs a fresh word).
 */
int compile_limit(const struct policy_limit *limit, int tick, unsigned int possible_cpus,
		  struct limit *compiled, struct complaint *why);

/**
 * limit_for_tier - @limit as the sources of @tier (position in the policy) meet it.
 */
struct policy_limit limit_for_tier(const struct policy_limit *limit, unsigned int tier);

/** table_new - the identity of a fresh table for @policy: words, prefixes, limit ids and ticks. */
int table_new(const struct policy *policy, struct table_identity *table, struct complaint *why);

/**
 * table_extend - give @policy's limits ids in an existing @table, keeping those whose meaning is
 * unchanged (name, unit, algorithm, per, tick). Returns 0, or -ESTALE with a sentence in @why
 * when the policy needs another table (size, prefixes, no free slot, a tick that can't hold it).
 */
int table_extend(const struct policy *policy, struct table_identity *table, struct complaint *why);

/** in_flat_slots - whether the words of @limit are slots of a flat table. */
bool in_flat_slots(const struct table_identity *table, const struct policy_limit *limit);

/** compile_for - compile_limit() for the words that @identity has in @table. */
int compile_for(const struct table_identity *table, const struct limit_identity *identity,
		const struct policy_limit *limit, unsigned int possible_cpus,
		struct limit *compiled, struct complaint *why);

/** table_find - the identity that @limit has in @table, or NULL. */
const struct limit_identity *table_find(const struct table_identity *table,
					const struct policy_limit *limit);

/**
 * compile_policy - fill the program's read-only data from @policy and its @table. Limits stand
 * in charge order: words only one source can touch first, the slowest first.
 * The caller sets generation and attached_ns.
 */
int compile_policy(const struct policy *policy, const struct table_identity *table,
		   const struct compile_facts *facts, struct config *config, struct complaint *why);

/** lru_memory - bytes of an LRU hash of so many entries, keys and values of so many bytes, estimated. */
uint64_t lru_memory(uint64_t entries, uint64_t key, uint64_t value);

/** table_memory - bytes that an LRU table of @sources entries with @words words takes, estimated. */
uint64_t table_memory(uint64_t sources, unsigned int words);

/** table_bytes - bytes of @table with all that goes by its size, estimated. */
uint64_t table_bytes(const struct table_identity *table);

/** log_entries - the size of the table of slots: one for each source and sliding log; 0 for none. */
uint32_t log_entries(const struct table_identity *table);

/** log_memory - bytes that it takes, estimated. */
uint64_t log_memory(const struct table_identity *table);

/** has_window - fixed-window, sliding-window and sliding-log: their burst is their rate's amount. */
bool has_window(enum algorithm algorithm);

/** limit_burst - what @limit admits at once, in units, whatever its burst was left at. */
uint64_t limit_burst(const struct policy_limit *limit);

/** index_window_ns - what a window in the index of @limit's words is; 0 when they have none. */
uint64_t index_window_ns(const struct policy_limit *limit);

/** limit_window_ns - the length of a compiled limit's window; 0 when it has none. */
uint64_t limit_window_ns(const struct limit *limit);

/* What `get` says of one word: the inverse of the charge. */
struct limit_state {
	uint64_t remaining;	    /* units, rounded down; UINT64_MAX: unlimited */
	double reset_seconds;	    /* until the bucket is full again */
	double retry_after_seconds; /* until the smallest packet fits; 0: now, INFINITY: never */
};

/** limit_read - the state of @word under @limit at @now_ns (boot clock). */
void limit_read(const struct limit *limit, const struct limit_label *label, uint64_t word,
		uint64_t now_ns, struct limit_state *state);

/** limit_read_log - the same of a sliding log. */
void limit_read_log(const struct limit *limit, const struct limit_label *label,
		    const struct log_slots *log, uint64_t now_ns, struct limit_state *state);

#endif
