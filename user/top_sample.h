/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a limiter again and again, for top, without ever taking more than a share of one CPU. */
#ifndef XDP_LIMIT_TOP_SAMPLE_H
#define XDP_LIMIT_TOP_SAMPLE_H

#include "target.h"
#include "top_rates.h"

struct top_sampler {
	struct target target;
	struct top_reading reading;
	struct bucket_walk *walk;	       /* NULL between two walks */
	uint64_t counters_due_ns, walk_due_ns; /* boot clock; the walk's next part */
};

/* What a piece of work brought. */
enum top_news {
	TOP_NEWS_COUNTERS = 1 << 0,
	TOP_NEWS_BUCKETS = 1 << 1, /* a walk is complete */
	TOP_NEWS_POLICY = 1 << 2,  /* another one runs: all rates begin anew */
};

/** top_sampler_open - find the limiter on @name; says what is wrong. top_sampler_close() after EXIT_DONE. */
enum exit_status top_sampler_open(struct top_sampler *sampler, const char *name,
				  uint64_t interval_ns);
void top_sampler_close(struct top_sampler *sampler);

/** top_sampler_due - when there is something to do (boot clock). */
uint64_t top_sampler_due(const struct top_sampler *sampler);

/**
 * top_sampler_work - what is due now, a few milliseconds at most. Returns news as bits; -ENOENT when the
 * limiter is gone; -errno.
 */
int top_sampler_work(struct top_sampler *sampler);

#endif
