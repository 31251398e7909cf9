/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What /metrics says, as one struct: gathered by http_metrics.c, written here; pure. */
#ifndef XDP_LIMIT_METRICS_H
#define XDP_LIMIT_METRICS_H

#include "metrics_text.h"
#include "source_list.h"
#include "summary.h"

/* One interface. Without @summary only whether it is up. */
struct interface_metrics {
	const char *name;
	const struct summary *summary;	   /* NULL: no limiter, or it could not be read */
	const struct source_list *sources; /* the worst; NULL: not asked for */
	uint64_t evicted;		   /* never less than it was */
	uint64_t list_entries[LIVE_COUNT];
	struct histogram durations;
	bool has_run; /* the kernel measures */
	uint64_t run_ns, run_count;
};

struct metrics {
	const char *version, *libbpf;
	const struct interface_metrics *interfaces;
	size_t interface_count;
};

/** metrics_write - all families that have a sample. */
void metrics_write(const struct metrics *metrics, enum metrics_format format, FILE *out);

#endif
