/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What status says, as one struct: gathered once, printed as text or JSON, judged for --check. */
#ifndef XDP_LIMIT_SUMMARY_H
#define XDP_LIMIT_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include "kernel.h"
#include "netdev.h"

struct summary {
	struct netdev netdev;
	struct attachment attachment;
	struct config config;
	struct table_identity table;
	struct counters counters;   /* since the last reset --counters */
	uint64_t seen_since_attach; /* packets, whatever was reset */
	uint64_t device_packets;    /* received by the device since attach */
	uint64_t attached_seconds;
	uint64_t table_seconds; /* since the table was made, which others may have had before */
	uint64_t refill_ns;	/* the policy's longest */
	uint64_t used;		/* entries; slots of a flat table that have an owner */
	uint64_t young;		/* of these, made within the longest refill; or: in debt */
	uint64_t deleted;
	uint64_t *cpu_packets; /* of each possible CPU; NULL: nobody asked */
	unsigned int cpus, cpus_online;
	bool pins_complete;
	bool gate_closed;    /* now */
	size_t shared_count; /* others that share the table */
	char shared_with[TARGETS_MAX][IF_NAMESIZE];
	char apart[IF_NAMESIZE]; /* one of them that has another policy or table; empty: none */
	enum trial trial;
	uint64_t
		trial_left_ns; /* until the former state is back; 0: nothing is on trial, or it is back */
};

/** summary_read - 0, or -errno. summary_free() after it succeeded. */
int summary_read(const struct netdev *netdev, const struct running *running,
		 struct summary *summary);
/** summary_read_queues - adds what --queues is about: 0, or -errno. */
int summary_read_queues(const struct running *running, struct summary *summary);
void summary_free(struct summary *summary);

/* Packets of one kind over all reasons. */
struct totals {
	struct count all, passed, dropped; /* passed includes would_drop */
	uint64_t would_drop_packets;
};

void summary_totals(const struct summary *summary, struct totals *totals);
/** counter_totals - the same of counters alone. */
void counter_totals(const struct counters *counters, struct totals *totals);

/** Entries that the table evicted: created - deleted - used, never below 0. */
uint64_t summary_evicted(const struct summary *summary);

const char *reason_name(unsigned int reason);
const char *reason_text(unsigned int reason);

/* What status --check looks for; one sentence each. */
#define PROBLEMS_MAX 8

struct problems {
	int count;
	char text[PROBLEMS_MAX][256];
};

/** summary_problems - what is wrong with a running limiter; pure. */
void summary_problems(const struct summary *summary, struct problems *problems);

/* What is worth knowing and not wrong: --check doesn't mind. */
#define WARNINGS_MAX 4

struct warnings {
	int count;
	char text[WARNINGS_MAX][384];
};

/** summary_warnings - a table that fills, a gate that refused, packets on few CPUs; pure. */
void summary_warnings(const struct summary *summary, struct warnings *warnings);

/* How the table is, from well to worse. */
enum pressure {
	PRESSURE_NONE,
	PRESSURE_FILLING,  /* 80 % */
	PRESSURE_FULL,	   /* new sources take the places of others */
	PRESSURE_EVICTING, /* of such as were not done with */
};

/** summary_pressure - what the first of the warnings is about; pure. */
enum pressure summary_pressure(const struct summary *summary);

/** summary_capacity - entries that the table has room for; in a flat table its slots. */
uint64_t summary_capacity(const struct summary *summary);

/** summary_fingerprint_bits - of the limit that has the fewest; 0 for an LRU table. */
unsigned int summary_fingerprint_bits(const struct summary *summary);

/**
 * summary_fill - how full the table is, 0 to 1. Of a flat table: slots in debt, by those that would be with
 * as many sources as it was made for; a flood may bring it up to 2.
 */
double summary_fill(const struct summary *summary);

/** summary_is_early - it has not run for a longest refill yet: what was seen tells little. */
bool summary_is_early(const struct summary *summary);

/** summary_sources - the size of table that what was seen needs; a power of two. */
uint64_t summary_sources(const struct summary *summary);

void summary_print(const struct summary *summary);
struct json_object *summary_json(const struct summary *summary);

#endif
