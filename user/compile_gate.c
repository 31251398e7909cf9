// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The budget of new table entries. */
#include "compile_gate.h"

#include <inttypes.h>
#include <linux/bpf.h>
#include "algorithm.h"
#include "compile.h"

__extension__ typedef unsigned __int128 u128;

#define GATE_BURST_TENTHS 4 /* of the table's entries, at once */
#define GATE_RATE_FIFTHS  1 /* of the entries, in each longest refill */

/* The time that the bucket at @place takes to be full again. */
static uint64_t refill_ns(const struct config *config, unsigned int place)
{
	const struct limit *limit = &config->limits[place];
	uint64_t window = limit_window_ns(limit);

	if (!limit->multiplier)
		return 0;
	/* What a sliding window counts is gone when the next one has passed as well. */
	if (window)
		return limit->algorithm == ALGORITHM_SLIDING_WINDOW ? 2 * window : window;
	return limit->burst >> limit->tick;
}

static unsigned int slowest_place(const struct config *config)
{
	unsigned int slowest = 0;

	for (unsigned int place = 0; place < LIMIT_PLACES; place++)
		if (refill_ns(config, place) > refill_ns(config, slowest))
			slowest = place;
	return slowest;
}

uint64_t longest_refill_ns(const struct config *config)
{
	return refill_ns(config, slowest_place(config));
}

/* Nanoseconds between new entries at which no bucket goes before it would be full again. */
static uint64_t proof_interval(const struct config *config, uint32_t entries)
{
	return refill_ns(config, slowest_place(config)) / entries * 5 / GATE_RATE_FIFTHS ?: 1;
}

static uint64_t gate_interval(const struct policy *policy, const struct config *config,
			      uint32_t entries)
{
	uint64_t interval = proof_interval(config, entries);
	uint64_t slowest = NS_PER_SECOND * GATE_SLOWEST / entries;

	if (policy->new_sources == NEW_SOURCES_RATE)
		return policy->new_sources_rate.per_ns / policy->new_sources_rate.amount ?: 1;
	return interval < slowest ? interval : slowest;
}

void compile_gate(const struct policy *policy, uint32_t entries, unsigned int possible_cpus,
		  struct config *config)
{
	uint64_t interval = gate_interval(policy, config, entries);
	u128 burst = (u128)entries * GATE_BURST_TENTHS / 10 * interval;
	bool observes = config->all_limits && config->observed_limits == config->all_limits;

	if (burst > GCRA_BURST_MAX)
		burst = GCRA_BURST_MAX;
	/* A newcomer to a flat table inherits what its slot owes: nothing to protect by itself. */
	config->gate_used = policy->new_sources == NEW_SOURCES_RATE ||
			    (policy->new_sources == NEW_SOURCES_AUTO && !config->flat);
	config->gate = (struct limit){
		.multiplier = interval,
		.burst = (uint64_t)burst,
		.slack = NS_PER_SECOND,
		.share = (uint64_t)burst / (possible_cpus + 1),
		.max_units = 1,
	};
	/* Where every limit only observes, want of a bucket doesn't drop either. */
	config->actions[REASON_GATE_CLOSED] = policy->new_sources_beyond_pass || observes
						      ? XDP_PASS
						      : XDP_DROP;
	if (observes)
		config->actions[REASON_TABLE_FULL] = XDP_PASS;
}

/* What would keep the promise: a larger table, or where none is large enough, fewer new sources. */
static void advise(uint64_t table, uint64_t interval, uint64_t proof, struct complaint *advice)
{
	if (table <= SOURCES_MAX)
		complain(advice, 0,
			 "a table of %" PRIu64 " sources with `new-sources: %" PRIu64 "/min`",
			 table, (uint64_t)(60 * NS_PER_SECOND / interval));
	else
		complain(advice, 0, "`new-sources: %" PRIu64 "/day`",
			 (uint64_t)(86400 * NS_PER_SECOND / proof));
}

bool gate_warning(const struct policy *policy, uint32_t entries, const struct config *config,
		  struct complaint *why)
{
	unsigned int slowest = slowest_place(config);
	uint64_t interval = config->gate.multiplier;
	uint64_t proof = proof_interval(config, entries);
	char refill[UNITS_TEXT_SIZE];
	struct complaint advice;

	if (!config->gate_used || policy->new_sources != NEW_SOURCES_AUTO || !interval ||
	    interval >= proof)
		return false;
	format_time(refill_ns(config, slowest) / NS_PER_SECOND * NS_PER_SECOND, refill,
		    sizeof(refill));
	advise((uint64_t)((u128)entries * proof / interval), interval, proof, &advice);
	complain(
		why, 0,
		"limit '%s' takes %s to be full again, and the gate can't be as slow as that needs: a "
		"flood of %.0f new sources a second may evict its buckets early; %.200s would be proof "
		"against it",
		config->labels[slowest].name, refill, (double)NS_PER_SECOND / (double)interval,
		advice.text);
	return true;
}
