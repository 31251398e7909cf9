/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What top shows: rates and peaks out of two readings of the same counters; pure. */
#ifndef XDP_LIMIT_TOP_RATES_H
#define XDP_LIMIT_TOP_RATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernel.h"
#include "policy.h"

/* ---- counters that are always there: of the interface, of a limit ---- */

struct top_counts {
	struct tally tally; /* passed includes would_drop */
	uint64_t would_drop_packets;
};

/* All per second. */
struct top_rates {
	double passed_packets, passed_bytes;
	double dropped_packets, dropped_bytes;
	double would_drop_packets;
};

struct top_meter {
	struct top_counts counts;
	uint64_t read_ns; /* 0: not read yet */
	bool known;	  /* whether two readings made the rates */
	struct top_rates rates;
};

/** top_meter_read - the next reading; a counter that went back has a rate of 0 until the next one. */
void top_meter_read(struct top_meter *meter, const struct top_counts *counts, uint64_t now_ns);

/** top_count_all - the counts of the interface, over all reasons. */
void top_count_all(const struct counters *counters, struct top_counts *counts);
/** top_count_limit - those of the limit with this id. */
void top_count_limit(const struct counters *counters, unsigned int id, struct top_counts *counts);

/* ---- buckets: they come and go ---- */

/* A source under one limit. Rates are floats: there may be millions of rows. */
struct top_row {
	struct address source;
	uint16_t limit;
	bool known;    /* whether rates and peaks say anything yet */
	uint32_t walk; /* that saw it last */
	uint64_t read_ns;
	uint64_t born_ns;
	struct tally tally;
	float passed, dropped;		/* packets per second */
	float bytes;			/* per second, passed and dropped ones */
	float peak_packets, peak_bytes; /* of both, the highest that top has seen */
};

struct top_table {
	struct top_row *rows;
	size_t count, capacity;
	uint32_t *index;   /* by hash: a row's number + 1; 0 is free */
	size_t index_size; /* a power of two, twice the rows or more */
	uint64_t seed;
	size_t next;				/* row that this walk probably comes to */
	uint32_t walk;				/* the number of the one under way, or the last */
	uint32_t complete;			/* the last one that came to its end; 0: none yet */
	uint64_t started_ns, former_started_ns; /* of this walk and the one before; 0: none */
	size_t living;				/* rows that the last complete walk saw */
};

/** top_table_start - empty; @seed keys its hash, so that nobody can aim sources at one place of it. */
void top_table_start(struct top_table *table, uint64_t seed);
void top_table_free(struct top_table *table);

/** top_table_begin - a walk over all buckets begins. */
void top_table_begin(struct top_table *table, uint64_t now_ns);
/**
 * top_table_add - a bucket as the walk found it at @now_ns: 0 or -ENOMEM. Its rate is what came since
 * the last walk saw it; of one that was born since, all it has. One that was there before and that top
 * sees for the first time has no rate yet.
 */
int top_table_add(struct top_table *table, const struct bucket *bucket, uint64_t now_ns);
/** top_table_end - the walk is complete: what it did not see is gone. */
void top_table_end(struct top_table *table);

/* ---- all that there is to show ---- */

struct top_reading {
	const struct running *running;
	const char *interface;
	uint64_t interval_ns; /* that was asked for */
	uint64_t
		walk_ns; /* from the beginning of one walk over the buckets to the next; 0: one so far */
	uint64_t trial_left_ns;
	bool gate_closed;
	struct top_meter total, limits[MAX_LIMITS]; /* by index in the policy */
	struct top_counts total_sum,
		limit_sums[MAX_LIMITS]; /* since the last reset --counters, as status */
	struct top_table table;
};

/* ---- which buckets, in which order ---- */

enum top_order {
	TOP_BY_DROPPED,
	TOP_BY_PASSED,
	TOP_BY_BYTES,
	TOP_BY_PEAK_PACKETS,
	TOP_BY_PEAK_BYTES,
	TOP_ORDER_COUNT,
};

struct top_question {
	enum top_order order;
	int limit;		     /* index; -1: all */
	bool filtered;		     /* by prefix */
	struct policy_prefix prefix; /* rows of sources in it */
};

struct top_answer {
	struct top_row *rows; /* copies, the first first */
	size_t room;	      /* of @rows: twice as many as are wanted */
	size_t count;
	size_t matched; /* rows that the question met, among the first or not */
};

/** top_ask - the first @answer->room / 2 rows of those that are there now. */
void top_ask(const struct top_table *table, const struct top_question *question,
	     struct top_answer *answer);

#endif
