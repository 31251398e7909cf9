/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every map: its key, value, writers, readers and the reason for its size. */
#ifndef XDP_LIMIT_MAPS_H
#define XDP_LIMIT_MAPS_H

#include "common.h"

/*
 * A key is handed to the kernel on the stack or in the value of a map. Kernels before 6.2 (d1673304097c)
 * refuse one behind a pointer that a global function was given, so such a function makes a copy: `own`.
 */

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
 * The flat table: for each limit a region of blocks, by the hash of the source; flat.h. Written by the
 * program; read by it and, mapped into memory, by sources, get, status; written by reset. Mapped also
 * because only then a block begins at the start of a cache line. One block where the table is LRU.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct flat_block);
	__uint(max_entries, 1);
} flat SEC(".maps");

/*
 * Beside a flat table: the sources that lose packets, by limit. Written by the program, once in many
 * packets; read by sources and get; written by reset. LRU: who lost nothing for long is forgotten.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct log_key);
	__type(value, struct limited);
	__uint(max_entries, 1);
} limited SEC(".maps");

/*
 * And what CPUs have gathered for these records. An array that is indexed by CPU, and mapped into memory for
 * the same reasons as `flat`. Written by the program; read by sources, get and reset. One line where
 * the table is LRU.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct loss_line);
	__uint(max_entries, 1);
} losses SEC(".maps");

/*
 * Where a new group is put together: too large for the stack. Tallies stay zero for ever.
 * Written and read by create_group() on its own CPU. Not pinned. The union also keeps the
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

/* What one packet adds to counters. */
struct increment {
	__u32 packets;
	__u32 bytes;
	__u32 dropped; /* 1: to what was dropped; 0: to what passed */
};

/*
 * Of the packet under way, per CPU. Not on the stack: `left` is indexed by limit, there is little stack
 * left where logs are, and what the verifier reads here it takes for any number. Not pinned.
 */
struct charge_log {
	__u64 left[MAX_LIMITS]; /* what each charge left in its word, for the undo */
	__u32 tight;		/* limits of which other CPUs may take the last room */
	__u32 roomy;		/* the others */
	__u32 charged;
	__u32 refused_by; /* index of the limit, when one refused */
	__u32 counted;	  /* limits to count the packet by */
	__u32 would_drop; /* of them, those that would have dropped it */
	struct increment by;
	/* Of the log that is being asked; or, of it the bucket, of the group. */
	struct log_key key __attribute__((aligned(8)));
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

/* Counters by reason and by limit, of one interface. Written by the program; read by status. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct cpu_counters);
	__uint(max_entries, 1);
} counters SEC(".maps");

/* What happened to the table. Of its own, since interfaces may share it. Written by the program; read by status. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct event_count);
	__uint(max_entries, 1);
} table_events SEC(".maps");

/* The word of the gate: new entries of the table, whatever interface they come by. Written by the program. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct shared_word);
	__uint(max_entries, 1);
} gate SEC(".maps");

/* Words of one interface, a cache line each. Written by the program. By enum budget. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct shared_word);
	__uint(max_entries, BUDGET_COUNT);
} budgets SEC(".maps");

/* Words of limits per interface, by slot. Never evicted, never refused: not in the table. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct shared_word);
	__uint(max_entries, MAX_LIMITS);
} iface_words SEC(".maps");

/*
 * Slots of sliding logs: an entry for a source and limit, made after its bucket and so behind the same
 * gate. LRU like `buckets`, and as large for each such limit: a table that can't evict would be
 * filled once by invented sources and stay full, with nobody to sweep it. Written and read by the
 * program; read by get. One entry that nobody uses where no limit has a log.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct log_key);
	__type(value, struct log_slots);
	__uint(max_entries, 1);
} log_slots SEC(".maps");

/*
 * Matching: for each value of a field the limits that it lets through, so one access a field and no
 * loop over limits. Written by the loader before the program runs, made anew for each program. A
 * field that no limit matches on has an array of one entry that nobody reads.
 */
#define MATCH_MAP(name, values)                   \
	struct {                                  \
		__uint(type, BPF_MAP_TYPE_ARRAY); \
		__type(key, __u32);               \
		__type(value, __u32);             \
		__uint(max_entries, values);      \
	} name SEC(".maps")

MATCH_MAP(match_protocol, PROTOCOL_VALUES);
MATCH_MAP(match_flags, FLAGS_VALUES);
MATCH_MAP(match_vlan, VLAN_VALUES);
MATCH_MAP(match_sport, PORT_VALUES);
MATCH_MAP(match_dport, PORT_VALUES);
MATCH_MAP(match_length, LENGTH_VALUES);

/* Limits whose destination prefixes hold an address: the longest prefix's entry has those of all
 * that cover it. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct prefix_key);
	__type(value, __u32);
	__uint(max_entries, 1);
} match_dest SEC(".maps");

/* What user space changes while the program runs. Written by the commands, under their lock. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct switches);
	__uint(max_entries, 1);
} switches SEC(".maps");

/* SSH guard: address to the boot time in ns at which it ends. Written by attach. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct address_key);
	__type(value, __u64);
	__uint(max_entries, GUARD_CAPACITY);
} guards SEC(".maps");

/*
 * ---- lists ----
 * Each set has exact addresses in a hash and prefixes in a trie, behind a filter of bits. The policy's
 * own (file_*) are made anew for each program; those of the commands (live_*) outlive them. Written
 * by user space. Not preallocated: they take memory for what they hold.
 */
#define EXACT_MAP(name, entries)                      \
	struct {                                      \
		__uint(type, BPF_MAP_TYPE_HASH);      \
		__uint(map_flags, BPF_F_NO_PREALLOC); \
		__type(key, struct address_key);      \
		__type(value, struct listing);        \
		__uint(max_entries, entries);         \
	} name SEC(".maps")

#define PREFIX_MAP(name, type_of_value, entries)      \
	struct {                                      \
		__uint(type, BPF_MAP_TYPE_LPM_TRIE);  \
		__uint(map_flags, BPF_F_NO_PREALLOC); \
		__type(key, struct prefix_key);       \
		__type(value, type_of_value);         \
		__uint(max_entries, entries);         \
	} name SEC(".maps")

#define FILTER_MAP(name, words)                   \
	struct {                                  \
		__uint(type, BPF_MAP_TYPE_ARRAY); \
		__type(key, __u32);               \
		__type(value, __u64);             \
		__uint(max_entries, words);       \
	} name SEC(".maps")

EXACT_MAP(file_exact, 1);
PREFIX_MAP(file_prefix, struct prefix_listing, 1);
FILTER_MAP(file_xbits, 1); /* as large as the lists' filters where the policy has such lists */
FILTER_MAP(file_pbits, 1);
PREFIX_MAP(live_prefix, struct prefix_listing, LIVE_PREFIXES);
FILTER_MAP(live_xbits, EXACT_FILTER_WORDS);
FILTER_MAP(live_pbits, 2 * PREFIX_FILTER_WORDS); /* two halves, to change at once */

/*
 * The commands' addresses are one map deeper: a hash takes its buckets at once, so an empty one for as
 * many as the commands may list is 16 MiB. The commands put a larger copy in its place when it is full
 * (kernel_live_set.c), and a packet sees the one or the other.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);
	__uint(max_entries, 1);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_HASH);
			__uint(map_flags, BPF_F_NO_PREALLOC);
			/* Sizes, not types: before 6.2 a map with types is no like of one without. */
			__uint(key_size, sizeof(struct address_key));
			__uint(value_size, sizeof(struct listing));
			__uint(max_entries, LIVE_FIRST);
		});
} live_exact SEC(".maps");

/* Tiers by prefix of the source: value is the tier, from 1. Made anew for each program. */
PREFIX_MAP(tier_prefix, __u32, 1);
FILTER_MAP(tier_pbits, 1);

/*
 * Sources that a limit banned, by the table's own source prefix. Written by the program. One entry that
 * nobody uses where no limit bans; else PENALTY_CAPACITY, which the kernel takes at once. So are the bits.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct address_key);
	__type(value, struct penalty);
	__uint(max_entries, 1);
} penalties SEC(".maps");
FILTER_MAP(penalty_bits, 1);

/*
 * The program that a trial falls back to. Of this program alone, and pinned with or without a trial: the
 * kernel empties it when the last descriptor and pin go, and when that happens twice in short order, as
 * when commands look at it, it loses count and keeps it for ever (seen on 6.18).
 */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, 1);
} previous SEC(".maps");

/* The table's identity: what its words mean. Only the loader writes and reads it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct table_identity);
	__uint(max_entries, 1);
} table SEC(".maps");

/* Sums of `counters` at the last `reset --counters`: to be taken off. Only user space writes and reads it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct cpu_counters);
	__uint(max_entries, 1);
} baseline SEC(".maps");

/* User space's own counts of the table: entries deleted. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct ledger);
	__uint(max_entries, 1);
} ledger SEC(".maps");

/*
 * ---- events ----
 * Who listens. Written by the readers, mapped into memory so that they change words and not the whole; read
 * by the program, where something is worth telling.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct listening);
	__uint(max_entries, 1);
} listening SEC(".maps");

/* A ring for each of them, which it makes itself, as large as it likes, and takes away when it ends. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);
	__uint(max_entries, EVENT_READERS);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_RINGBUF);
			__uint(max_entries, 65536); /* a page of any machine, or more */
		});
} rings SEC(".maps");

/*
 * Sources that were told of lately, by hash: a fingerprint and when. Written and read by the program. Who
 * shares a place with another is told of again.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, EVENT_SEEN);
} event_seen SEC(".maps");

/* Where an event is put together: too large for the stack. Not pinned. */
struct event_buffer {
	struct event event;
	__u8 bytes[EVENT_SNAP];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct event_buffer);
	__uint(max_entries, 1);
} event_buffer SEC(".maps");

/* How long checks take. Written by the program, where the policy measures it; read by metrics. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct durations);
	__uint(max_entries, 1);
} durations SEC(".maps");

#endif
