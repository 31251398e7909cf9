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
	struct cpu_counters counters; /* since the last reset --counters */
	uint64_t seen_since_attach;   /* packets, whatever was reset */
	uint64_t device_packets;      /* received by the device since attach */
	uint64_t attached_seconds;
	uint64_t used; /* entries */
	uint64_t deleted;
	bool pins_complete;
	bool gate_closed;	/* now */
	uint64_t trial_left_ns; /* until the former state is back; 0: nothing is on trial */
};

/* Packets of one kind over all reasons. */
struct totals {
	struct count all, passed, dropped; /* passed includes would_drop */
	uint64_t would_drop_packets;
};

void summary_totals(const struct summary *summary, struct totals *totals);

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

void summary_print(const struct summary *summary);
struct json_object *summary_json(const struct summary *summary);

#endif
