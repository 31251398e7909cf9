/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel program and the loader agree on: map keys, map values, read-only data. */
#ifndef XDP_LIMIT_ABI_H
#define XDP_LIMIT_ABI_H

#include <linux/types.h>
#include "reasons.h"

/* Raised whenever a pinned value or the read-only data changes its meaning. */
#define XDP_LIMIT_ABI 1
/* "xdplimit" in memory order: how a program is recognised as ours, whatever its name. */
#define XDP_LIMIT_MAGIC 0x74696d696c706478ULL

#define MAX_LIMITS     32
#define NAME_SIZE      32 /* of limits, with the final NUL */
#define REASON_SLOTS   32 /* room for reasons to come: the counters' size never changes */
#define CACHE_SLOTS    64 /* of the per-CPU counter cache */
#define GUARD_CAPACITY 64

enum unit {
	UNIT_PACKETS,
	UNIT_BYTES,
};

enum algorithm {
	ALGORITHM_TOKEN_BUCKET,
	ALGORITHM_LEAKY_BUCKET,
	ALGORITHM_FIXED_WINDOW,
	ALGORITHM_SLIDING_WINDOW,
	ALGORITHM_SLIDING_LOG,
};

/* What a limit counts per; also the last part of a bucket's key. */
enum per {
	PER_SOURCE,
};

enum limit_kind {
	LIMIT_METERED,
	LIMIT_UNLIMITED, /* the word `unlimited`: admits everything, counts it */
	LIMIT_BLOCK,	 /* the word `block`: admits nothing */
};

/*
 * A bucket's key. IPv4 stands as ::ffff:a.b.c.d, so nothing after the parser knows two families.
 * The address is already cut to the table's prefix.
 */
struct bucket_key {
	__u8 address[16];
	__u32 per; /* enum per */
};

/* What one limit did to one source, or in all. */
struct tally {
	__u64 passed_packets;
	__u64 passed_bytes;
	__u64 dropped_packets;
	__u64 dropped_bytes;
};

/*
 * A bucket group: the words of all limits with the same `per` for one source, side by side, and
 * behind them their tallies. A limit's slot is its identity and never given to another limit of
 * the same table. The table is made with the smallest variant that holds its limits.
 */
#define XDP_LIMIT_GROUPS(X) X(1) X(2) X(4) X(8) X(16) X(32)
#define XDP_LIMIT_GROUP(n)                                                        \
	struct group_##n {                                                        \
		__u64 born_ns; /* boot clock: tells two lives of one key apart */ \
		__u64 words[n];                                                   \
		struct tally tallies[n];                                          \
	};
XDP_LIMIT_GROUPS(XDP_LIMIT_GROUP)

#define GROUP_SIZE(n)	     (8U + (n) * (8U + (__u32)sizeof(struct tally)))
#define GROUP_WORD(slot)     (8U + 8U * (slot))
#define GROUP_TALLY(n, slot) (8U + 8U * (n) + (__u32)sizeof(struct tally) * (slot))

/* One line of the per-CPU counter cache: increments of one (source, limit), not yet in its group. */
struct cached_tally {
	struct bucket_key key;
	__u16 slot;
	__u16 misses;  /* of other sources since the owner was last seen */
	__u64 born_ns; /* 0: the line is free */
	__u32 pending; /* packets since the last flush */
	__u32 pad;
	struct tally tally;
};

struct count {
	__u64 packets;
	__u64 bytes;
};

/* Packets of one reason, by what became of them. */
struct reason_count {
	struct count passed;
	struct count dropped;
	struct count would_drop; /* passed, but only because of --dry-run */
};

struct limit_count {
	struct tally tally;
	__u64 would_drop_packets;
};

/* What happened to the table and its words; never reset by a new program. */
struct event_count {
	__u64 created;
	__u64 create_raced;    /* another CPU made the bucket first; charged to that one */
	__u64 insert_failures; /* no bucket could be made: decided by when-full */
	__u64 undo_lost;       /* a lost race left its own cost behind */
	__u64 repaired;	       /* words too far ahead of the clock, put back to "just exhausted" */
};

/* All counters of one CPU: one lookup at the program's only exit finds them all. */
struct cpu_counters {
	struct reason_count reasons[REASON_SLOTS];
	struct limit_count limits[MAX_LIMITS]; /* by limit id */
	struct event_count events;
};

/* Words shared by all sources, each on a cache line of its own. */
struct shared_word {
	__u64 word;
	__u64 pad[7];
};

enum budget {
	BUDGET_CONTROL, /* network control packets per interface; ticks are ns */
	BUDGET_COUNT,
};

/* What user space changes while the program runs. */
struct switches {
	__u64 generation;    /* of the newest program: an older one never repairs a word */
	__u64 guards_end_ns; /* boot clock: after it no guard lives, and nobody looks for one */
};

/* What makes a word mean what it means: kept with the table, across programs. */
struct limit_identity {
	char name[NAME_SIZE];
	__u8 used; /* also after the limit left the policy: ids are never given again */
	__u8 unit; /* enum unit */
	__u8 algorithm;
	__u8 tick; /* one tick is 2^-tick ns */
	__u8 per;
	__u8 slot;
	__u8 pad[2];
};

struct table_identity {
	char interface[16]; /* when it was attached; interfaces get renamed */
	__u32 abi;
	__u32 capacity; /* entries */
	__u32 words;	/* per group: 1, 2, 4, 8, 16 or 32 */
	__u8 ipv4_prefix;
	__u8 ipv6_prefix;
	__u8 pad[2];
	__u64 device_packets; /* that the device had received when the table was made */
	struct limit_identity limits[MAX_LIMITS]; /* by limit id */
};

/* Kept by user space: what to take off the raw counters, and what the kernel can't count. */
struct ledger {
	__u64 deleted;		      /* entries removed by `reset` */
	struct cpu_counters baseline; /* sums at the last `reset --counters` */
};

/* One limit as the program charges it. All arithmetic on it is in algorithm.h. */
struct limit {
	__u64 burst;	  /* ticks */
	__u64 multiplier; /* ticks of one unit, shifted left by `shift`, rounded up */
	__u64 slack;	  /* ticks: a word further ahead than burst + slack is not ours */
	__u64 share;	  /* burst / (CPUs + 1): the largest cost that may go by fetch-and-add */
	__u32 max_units;  /* more than this in one packet never fits */
	__u8 shift;	  /* 0..31 */
	__u8 tick;	  /* one tick is 2^-tick ns */
	__u8 unit;
	__u8 algorithm;
	__u8 per;
	__u8 slot; /* word in the group */
	__u8 id;   /* position in table_identity.limits and cpu_counters.limits */
	__u8 observe;
};

/* The same limit as it was written: for status, sources and get. */
struct limit_label {
	char name[NAME_SIZE];
	__u64 amount; /* units per per_ns */
	__u64 per_ns;
	__u64 burst; /* units */
	__u8 kind;   /* enum limit_kind */
	__u8 pad[7];
};

enum fragments_policy {
	FRAGMENTS_COUNT,
	FRAGMENTS_DROP,
	FRAGMENTS_PASS,
};

/* One compiled policy: the program's read-only data, fixed for its life. */
struct config {
	__u64 magic;
	__u32 abi;
	__u32 limit_count;
	__u64 generation;
	__u64 attached_ns;   /* CLOCK_REALTIME, of the first attach of this table */
	__u64 ipv6_mask[2];  /* network order */
	__u32 ipv4_mask;     /* network order */
	__u32 words;	     /* per group */
	__u32 fanout;	     /* possible CPUs + 1 */
	__u8 generic;	     /* attached in generic mode: frames may be merged */
	__u8 skb_facts;	     /* kernel >= 6.2: frags flag and segments can be read, not guessed */
	__u8 may_have_frags; /* without skb_facts: ask for the full length of every frame */
	__u8 dry_run;
	__u8 fragments; /* enum fragments_policy */
	__u8 pad[3];
	__u8 actions[REASON_SLOTS];	       /* enum xdp_action by reason */
	struct limit limits[MAX_LIMITS];       /* in charge order */
	struct limit_label labels[MAX_LIMITS]; /* same order */
};

_Static_assert(sizeof(struct bucket_key) == 20, "bucket_key has no hidden padding");
_Static_assert(sizeof(struct group_1) == GROUP_SIZE(1), "group_1 is packed");
_Static_assert(sizeof(struct group_32) == GROUP_SIZE(32), "group_32 is packed");
_Static_assert(sizeof(struct cached_tally) == 72, "cached_tally");
_Static_assert(sizeof(struct shared_word) == 64, "a cache line each");
_Static_assert(sizeof(struct limit) == 48, "limit");
_Static_assert(sizeof(struct limit_identity) == 40, "limit_identity");
_Static_assert(sizeof(struct limit_label) == 64, "limit_label");
_Static_assert(REASON_COUNT <= REASON_SLOTS, "room for reasons");

#endif
