/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Beside a flat table: the sources that lose packets, with their counters. */
#ifndef XDP_LIMIT_RECORDS_H
#define XDP_LIMIT_RECORDS_H

#include "../include/flat.h"
#include "events.h"
#include "tally.h"

/*
 * A record is an entry of a hash, and a look-up in a large one costs more than all else that a dropped
 * packet costs. So losses gather in lines of the CPU's own. A source without a line goes to its record
 * directly, or takes the line over, as long as that happens rarely: some thousand times at once, and so
 * many times in each slice of 2^20 ns, a millisecond. Beyond, in a flood of many sources at once, its
 * losses are counted as unrecorded, and by limit.
 */
#define RECORD_SLICE_BITS 20
#define RECORDS_PER_SLICE 32
#define RECORDS_AT_ONCE	  4096

/* Into the record with @key, made when there is none. Cold. */
__noinline int add_to_record(struct log_key *key, __u64 now_ns, struct tally *tally)
{
	struct limited fresh = {.since_ns = now_ns};
	struct limited *record;
	struct log_key own;

	if (!key || !tally)
		return 0;
	own = *key; /* see maps.h */
	record = bpf_map_lookup_elem(&limited, &own);
	if (!record) {
		bpf_map_update_elem(&limited, &own, &fresh, BPF_NOEXIST);
		record = bpf_map_lookup_elem(&limited, &own);
	}
	if (!record)
		return 0;
	FETCH_ADD(&record->tally.passed_packets, tally->passed_packets);
	FETCH_ADD(&record->tally.passed_bytes, tally->passed_bytes);
	FETCH_ADD(&record->tally.dropped_packets, tally->dropped_packets);
	FETCH_ADD(&record->tally.dropped_bytes, tally->dropped_bytes);
	return 1;
}

/* Returns the losses that found no record. */
static __noinline __u64 flush_losses(struct loss_line *line, __u64 now_ns)
{
	struct log_key key = {.bucket = line->key, .limit = line->limit};
	__u64 lost = 0;

	if (!add_to_record(&key, now_ns, &line->tally))
		lost = line->tally.dropped_packets;
	__builtin_memset(&line->tally, 0, sizeof(line->tally));
	line->pending = 0;
	return lost;
}

/* Cold: there is time for it. */
static __noinline __u64 record_directly(const struct bucket_key *bucket, __u32 limit, __u64 now_ns,
					const struct increment *by)
{
	struct log_key key = {.bucket = *bucket, .limit = limit};
	struct tally tally = {};

	add_local(&tally, by);
	return add_to_record(&key, now_ns, &tally) ? 0 : by->packets;
}

INLINE bool owns_loss_line(const struct loss_line *line, const struct bucket_key *key, __u32 limit)
{
	const __u64 *mine = (const __u64 *)key->address;
	const __u64 *theirs = (const __u64 *)line->key.address;

	return theirs[1] == mine[1] && theirs[0] == mine[0] && line->limit == limit &&
	       line->key.kind == key->kind && line->taken;
}

INLINE struct loss_line *find_loss_line(const struct bucket_key *key, __u32 limit)
{
	const __u64 *address = (const __u64 *)key->address;
	__u32 index = bpf_get_smp_processor_id() << LOSS_BITS |
		      flat_loss_line(address[0], address[1], limit);

	return bpf_map_lookup_elem(&losses, &index);
}

INLINE bool may_record(struct record_budget *budget, __u64 now_ns)
{
	__u64 slice = now_ns >> RECORD_SLICE_BITS, passed = slice - budget->slice;

	if (passed) {
		budget->slice = slice;
		if (passed > RECORDS_AT_ONCE / RECORDS_PER_SLICE)
			budget->left = RECORDS_AT_ONCE;
		else
			budget->left += passed * RECORDS_PER_SLICE;
		if (budget->left > RECORDS_AT_ONCE)
			budget->left = RECORDS_AT_ONCE;
	}
	if (!budget->left)
		return false;
	budget->left--;
	return true;
}

/*
 * Cold. A source without a line. When it takes one over, what the former owner has pending goes to its record
 * first, and its own record is made at once. Returns the losses that found no record.
 */
static __noinline __u64 record_slowly(struct loss_line *line, struct record_budget *budget,
				      const struct bucket_key *key, __u32 limit,
				      const struct increment *by)
{
	__u64 now_ns = budget->now_ns, lost = 0;

	if (!may_record(budget, now_ns))
		return by->packets;
	if (line->taken && line->misses < TAKE_AFTER)
		return record_directly(key, limit, now_ns, by);
	if (line->pending)
		lost = flush_losses(line, now_ns);
	line->key = *key;
	line->limit = limit;
	line->misses = 0;
	line->taken = 1;
	add_local(&line->tally, by);
	return lost + flush_losses(line, now_ns);
}

/** A packet of @key that the limit with this id dropped. @mine: of this CPU. */
INLINE void record_loss(struct cpu_counters *mine, const struct bucket_key *key, __u32 limit,
			__u64 now_ns, const struct increment *by)
{
	struct loss_line *line = find_loss_line(key, limit);

	if (!line)
		return;
	if (!owns_loss_line(line, key, limit)) {
		line->misses++;
		mine->records.now_ns = now_ns;
		count_unrecorded(record_slowly(line, &mine->records, key, limit, by));
		return;
	}
	line->misses = 0;
	add_local(&line->tally, by);
	if (++line->pending >= FLUSH_EVERY)
		count_unrecorded(flush_losses(line, now_ns));
}

#endif
