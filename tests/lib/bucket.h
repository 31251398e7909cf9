/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One bucket on one CPU: the kernel's order of decisions, as plain arithmetic for unit tests. */
#ifndef XDP_LIMIT_TEST_BUCKET_H
#define XDP_LIMIT_TEST_BUCKET_H

#include <stdbool.h>
#include <stdint.h>
#include "abi.h"
#include "algorithm.h"

struct bucket {
	const struct limit *limit;
	uint64_t word;
	uint32_t fanout;
};

static inline uint64_t bucket_ticks(const struct limit *limit, uint64_t now_ns)
{
	return now_ns << limit->tick;
}

/* A bucket as the kernel makes it: idle at now. */
static inline struct bucket bucket_new(const struct limit *limit, uint64_t now_ns)
{
	return (struct bucket){.limit = limit, .word = bucket_ticks(limit, now_ns), .fanout = 3};
}

/** Whether a packet of @units is admitted at @now_ns; charges it if so. */
static inline bool bucket_charge(struct bucket *bucket, uint64_t now_ns, uint64_t units)
{
	const struct limit *limit = bucket->limit;
	uint64_t now = bucket_ticks(limit, now_ns);
	uint64_t debt = gcra_debt(bucket->word, now);
	uint64_t cost;

	if (units > limit->max_units)
		return false;
	cost = cost_ticks(units, limit->multiplier, limit->shift);
	if (!gcra_fits(debt, cost, limit->burst)) {
		if (gcra_foreign(debt, limit->burst, limit->slack))
			bucket->word = now + limit->burst;
		return false;
	}
	if (gcra_roomy(debt, cost, limit->burst, limit->share, bucket->fanout))
		bucket->word += cost; /* the fetch-and-add */
	else
		bucket->word = now + debt + cost; /* the compare-and-swap */
	return true;
}

/** How many of @offered packets of @units are admitted at @now_ns. */
static inline uint64_t bucket_burst(struct bucket *bucket, uint64_t now_ns, uint64_t offered,
				    uint64_t units)
{
	uint64_t admitted = 0;

	while (offered--)
		admitted += bucket_charge(bucket, now_ns, units);
	return admitted;
}

/** How many of @offered packets of @units, @spacing_ns apart from @start_ns on, are admitted. */
static inline uint64_t bucket_stream(struct bucket *bucket, uint64_t start_ns, uint64_t offered,
				     uint64_t spacing_ns, uint64_t units)
{
	uint64_t admitted = 0;

	for (uint64_t i = 0; i < offered; i++)
		admitted += bucket_charge(bucket, start_ns + i * spacing_ns, units);
	return admitted;
}

#endif
