/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every map: its key, value, writers, readers and the reason for its size. */
#ifndef XDP_LIMIT_MAPS_H
#define XDP_LIMIT_MAPS_H

#include "common.h"

/*
 * The buckets: one entry for a source and kind of `per`.
 * Written by the program (words, tallies); read by it and by sources, get; deleted by reset.
 * Size and value are the policy's: the loader makes the map with the smallest group that holds
 * the limits. One common LRU list: with one per CPU a source would find only its CPU's share.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct bucket_key);
	__type(value, struct group_1);
	__uint(max_entries, 1);
} buckets SEC(".maps");

/*
 * Where a new group is put together: too large for the stack. Tallies stay zero for ever.
 * Written and read by create_bucket() on its own CPU. Not pinned. The union also keeps the
 * variants' types in the object, for the loader to name as the value of `buckets`.
 */
union any_group {
#define XDP_LIMIT_VARIANT(n) struct group_##n of_##n;
	XDP_LIMIT_GROUPS(XDP_LIMIT_VARIANT)
#undef XDP_LIMIT_VARIANT
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, union any_group);
	__uint(max_entries, 1);
} scratch SEC(".maps");

/*
 * How far the packet under way has come with its limits; bit i of a set for config.limits[i]. Per
 * CPU, not on the stack: indexed by limit, and the verifier would follow every set through every
 * limit. Not pinned.
 */
struct charge_log {
	__u64 left[MAX_LIMITS]; /* what each charge left in its word, for the undo */
	__u32 tight;		/* limits of which other CPUs may take the last room */
	__u32 roomy;		/* the others */
	__u32 charged;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct charge_log);
	__uint(max_entries, 1);
} charges SEC(".maps");

/*
 * Write-combining cache of tallies: a source on all CPUs would otherwise pay for the line of its
 * counters on each packet. Written by count_tally(); read by sources and get, which add it to the
 * groups. Shared by all programs of a table, else an apply would lose up to a line's worth.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct cached_tally);
	__uint(max_entries, CACHE_SLOTS);
} tally_cache SEC(".maps");

/* Counters by reason, by limit and of events. Written by the program; read by status. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct cpu_counters);
	__uint(max_entries, 1);
} counters SEC(".maps");

/* Words that all sources share, a cache line each. Written by the program. By enum budget. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct shared_word);
	__uint(max_entries, BUDGET_COUNT);
} budgets SEC(".maps");

/* What user space changes while the program runs. Written by the loader only. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct switches);
	__uint(max_entries, 1);
} switches SEC(".maps");

/* SSH guard: address to the boot time in ns at which it ends. Written by attach. */
struct guard_key {
	__u8 address[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct guard_key);
	__type(value, __u64);
	__uint(max_entries, GUARD_CAPACITY);
} guards SEC(".maps");

/* The table's identity: what its words mean. Only the loader writes and reads it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct table_identity);
	__uint(max_entries, 1);
} table SEC(".maps");

/* User space's own counts: entries deleted, sums at the last reset of the counters. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct ledger);
	__uint(max_entries, 1);
} ledger SEC(".maps");

#endif
