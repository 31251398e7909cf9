/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel program and the loader agree on: map keys, map values, read-only data. */
#ifndef XDP_LIMIT_ABI_H
#define XDP_LIMIT_ABI_H

#include <linux/types.h>
#include "event_kinds.h"
#include "reasons.h"

/* Raised whenever a pinned value or the read-only data changes its meaning. */
#define XDP_LIMIT_ABI 3
/* "xdplimit" in memory order: how a program is recognised as ours, whatever its name. */
#define XDP_LIMIT_MAGIC 0x74696d696c706478ULL

/*
 * Where in a dispatcher of libxdp, the lower first. Behind filters (xdp-filter: 10), since what they drop
 * need not be charged; before all that says nothing (50): that may take packets away, or be what a flood
 * is to spare.
 */
#define MEMBER_PRIORITY 20

#define MAX_LIMITS     32
#define MAX_TIERS      15 /* one less than a power of two: "no tier" is the first */
#define NAME_SIZE      32 /* of limits, with the final NUL */
#define REASON_SLOTS   32 /* room for reasons to come: the counters' size never changes */
#define CACHE_SLOTS    64 /* of the per-CPU counter cache */
#define LOSS_BITS      11 /* 2^11 lines of losses for each CPU, beside a flat table */
#define GUARD_CAPACITY 64
#define EVENT_READERS  8 /* of events, at once */

/* How the words of sources are kept. */
enum table_type {
	TABLE_LRU,  /* in groups, entries of an LRU hash; the gate keeps live ones in it */
	TABLE_FLAT, /* in slots, each with its source's fingerprint; see flat.h */
};

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

/* What a limit counts per. */
enum per {
	PER_SOURCE, /* its address, cut to a prefix */
	PER_DESTINATION,
	PER_PAIR, /* source and destination */
	PER_INTERFACE,
};

/*
 * A kind of `per` with its prefix lengths: all limits of one kind share a group of words for each
 * source (or destination, or pair). Its id is the last part of a bucket's key.
 */
#define MAX_KINDS    6		      /* in one policy: groups that one packet may touch */
#define KIND_SLOTS   8		      /* their places: a power of two, so that a mask is a bound */
#define KIND_OWN     (KIND_SLOTS - 1) /* the table's own source, whoever counts per it */
#define MAX_KIND_IDS 16		      /* in the life of a table: ids are never given again */

struct kind_identity {
	__u8 used;
	__u8 per;	  /* enum per */
	__u8 ipv4_prefix; /* of the source */
	__u8 ipv6_prefix;
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
	__u32 kind; /* id */
};

/* The log of one limit for one source: when each slot let its last packet through; log_time(). */
#define LOG_SLOTS 32

struct log_key {
	struct bucket_key bucket;
	__u32 limit; /* id */
};

struct log_slots {
	__u64 admitted[LOG_SLOTS];
};

/* What one limit did to one source, or in all. */
struct tally {
	__u64 passed_packets;
	__u64 passed_bytes;
	__u64 dropped_packets;
	__u64 dropped_bytes;
};

/*
 * A bucket group: the words of all limits of the same kind for one source, side by side, and
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
#define GROUP_WORD(slot)     (8U + (slot)*8U)
#define GROUP_TALLY(n, slot) (8U + (n)*8U + (slot) * (__u32)sizeof(struct tally))

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

/*
 * ---- the flat table ----
 *
 * A limit has a region of blocks, and a source one block in it, by its hash. A word is a bucket's TAT in
 * its high bits and a fingerprint of its source in the low ones (none: 0, a free slot), so identity and
 * state change in one compare-and-swap. A block is two neighbouring cache lines.
 */
#define FLAT_SLOTS 15

struct flat_block {
	__u64 refreshed_ns; /* boot clock: since then no idle word fell further behind; see flat.h */
	__u64 words[FLAT_SLOTS];
};

/* What is kept of a source that loses packets, by log_key: a slot has no room for it. */
struct limited {
	__u64 since_ns; /* boot clock, of its first loss */
	struct tally tally;
};

/*
 * What one CPU has of one source's losses that is not in its record yet: a cache line. The lines of a CPU
 * stand together, 2^LOSS_BITS of them.
 */
struct loss_line {
	struct bucket_key key;
	__u16 limit;	    /* id */
	__u16 misses;	    /* of other sources since the owner was last seen */
	__u32 taken;	    /* 0: the line is free */
	__u32 pending;	    /* losses since the last flush */
	struct tally tally; /* as in the record: a dry run's losses have passed */
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

/* What happened to the table and its words, by whatever interface of those that share it. */
struct event_count {
	__u64 created;
	__u64 create_raced;    /* another CPU made the bucket first; charged to that one */
	__u64 insert_failures; /* no bucket could be made: decided by when-full */
	__u64 undo_lost;       /* a lost race left its own cost behind */
	__u64 repaired;	       /* words too far ahead of the clock, put back to "just exhausted" */
	/* Of a flat table: */
	__u64 evicted;	    /* slots that went to another source */
	__u64 evicted_live; /* of them, those in debt: the newcomer inherited it */
	__u64 unrecorded;   /* dropped packets that no source's record counts */
};

/* Of what is told to readers. */
struct telling_count {
	__u64 capped[EVENT_KERNEL_KINDS]; /* not told: there were too many of this kind */
	__u64 overflowed[EVENT_READERS];  /* not told to this reader: its ring was full */
};

/* What a CPU may still spend on records in this slice of time. No counter: nobody reads the sum. */
struct record_budget {
	__u64 slice;
	__u64 left;
	__u64 now_ns; /* of the packet under way */
};

/* Dropped packets until this CPU's next sample. No counter either. */
struct sampling {
	__u64 left;
};

/* All counters of one CPU and interface: one lookup at the program's only exit finds them all. */
struct cpu_counters {
	struct reason_count reasons[REASON_SLOTS];
	struct limit_count limits[MAX_LIMITS]; /* by limit id */
	struct telling_count telling;
	struct record_budget records;
	struct sampling sampling;
};

/* Words shared by all sources, each on a cache line of its own. */
struct shared_word {
	__u64 word;
	__u64 pad[7];
};

enum budget {
	BUDGET_CONTROL, /* network control packets per interface; ticks are ns */
	BUDGET_EVENTS,	/* events of a kind, from here on by enum event_kind; ticks are ns */
	BUDGET_COUNT = BUDGET_EVENTS + EVENT_KERNEL_KINDS,
};

/* What user space changes while the program runs. */
struct switches {
	__u64 generation;    /* of the newest program: an older one never repairs a word */
	__u64 guards_end_ns; /* boot clock: after it no guard lives, and nobody looks for one */
	__u64 live_lists;    /* struct live_lists, one word so that it changes at once */
	__u64 deadline_ns;   /* boot clock: end of a trial (--confirm); 0 for none, or confirmed */
};

/*
 * ---- events ----
 *
 * Each reader has a ring of its own in the map `rings`, so that each sees all. What is asked of the kernel
 * ends by itself when a reader doesn't renew it.
 */
#define EVENT_SEEN 2048 /* sources that were told of lately; a power of two */
#define EVENT_SNAP 256	/* bytes of a packet that a sample holds at most */
#define NO_LIMIT   255

struct event_reader {
	__u64 until_ns; /* boot clock; 0: the place is free */
	__u32 kinds;	/* bit by enum event_kind */
	__u32 sample_every;
};

/* Written by readers, atomically; read by the program. */
struct listening {
	__u64 until_ns; /* the latest of the readers'; 0: nobody listens, and nothing else is looked at */
	__u32 kinds;	    /* of all readers */
	__u32 sample_every; /* one packet in so many; 0: none. The same for all who sample */
	struct event_reader readers[EVENT_READERS];
};

enum event_flags {
	EVENT_DRY_RUN = 1 << 0, /* nothing was dropped: it would have been */
};

struct event {
	__u64 time_ns;	/* boot clock */
	__u64 until_ns; /* of a ban: its end, boot clock or FOREVER; else 0 */
	__u8 source[16];
	__u8 destination[16];
	__u32 length;	   /* of the frame */
	__u32 captured;	   /* bytes of it that follow; of samples only */
	__u16 source_port; /* host order; 0 without ports */
	__u16 destination_port;
	__u8 kind;     /* enum event_kind */
	__u8 reason;   /* enum reason; REASON_COUNT where there is no packet */
	__u8 limit;    /* id of the limit; NO_LIMIT for none */
	__u8 protocol; /* of IP */
	__u8 family;   /* 4, 6, or 0: there is no source */
	__u8 prefix;   /* bits of the source: less than all where a ban covers more */
	__u8 flags;    /* enum event_flags */
	__u8 pad;
	__u32 pad2;
};

/* What the check of a packet takes, where the policy measures it. Of one CPU. */
#define DURATION_BUCKETS 32

struct durations {
	__u64 counts[DURATION_BUCKETS]; /* of 2^i up to 2^(i+1) ns; the first from 0 on */
	__u64 sum_ns;
	__u64 left; /* packets until the next that is measured */
};

/*
 * ---- lists ----
 *
 * An entry ends at a time of the boot clock by itself: 0 is "not on this list", FOREVER has no end.
 */
#define FOREVER (~0ULL)

struct address_key {
	__u8 address[16];
};

/* What the lists say of one address. */
struct listing {
	__u64 ban_until_ns;
	__u64 allow_until_ns;
	__u64 deny_until_ns;
};

/* A prefix on a list, and those that cover it: what holds once the inner one has ended. */
#define LIST_LEVELS 4

struct list_level {
	__u64 allow_until_ns;
	__u64 deny_until_ns;
	__u32 length; /* as in the key */
	__u32 pad;
};

struct prefix_listing {
	__u64 ban_until_ns;	/* the latest of this prefix and those that cover it */
	__u64 own_ban_until_ns; /* of this prefix; for user space */
	struct list_level levels[LIST_LEVELS]; /* the longest first; 0 times end them */
};

/* A source that a limit banned. */
struct penalty {
	__u64 until_ns;
	__u64 extend_ns; /* each further packet bans for so long again; 0: it doesn't */
};

#define LIVE_CAPACITY	 1048576 /* addresses that the commands may list */
#define LIVE_FIRST	 1024	 /* for which there is room before any is listed */
#define LIVE_PREFIXES	 65536
#define PENALTY_CAPACITY 65536

/*
 * Filters: most packets pass all lists by a bit. A set bit only means "look". Exact addresses have
 * 2^20 bits; prefixes too, over as many of an address's first bits as the shortest has.
 */
#define EXACT_FILTER_WORDS  16384
#define PREFIX_FILTER_WORDS 16384

struct prefix_filter {
	__u8 used;
	__u8 ipv4_bits; /* 0..32 of the address */
	__u8 ipv6_bits; /* 0..64 */
	__u8 half;	/* which half of a live filter holds */
};

struct live_lists {
	__u8 exact_used;
	__u8 pad[3];
	struct prefix_filter prefixes;
};

/* What makes a word mean what it means: kept with the table, across programs. */
struct limit_identity {
	char name[NAME_SIZE];
	__u8 used; /* also after the limit left the policy: ids are never given again */
	__u8 unit; /* enum unit */
	__u8 algorithm;
	__u8 tick;	       /* one tick is 2^-tick ns */
	__u8 kind;	       /* id */
	__u8 slot;	       /* word in the group; in a flat table the region */
	__u8 fingerprint_bits; /* of its words in a flat table; else 0 */
	__u8 pad;
	__u64 window_ns; /* of windows: what their words' indices count; else 0 */
};

#define SHARED_NAME_SIZE 16 /* with the final NUL */

struct table_identity {
	char shared_name[SHARED_NAME_SIZE]; /* of --share-table; empty: one interface alone */
	__u32 abi;
	__u32 capacity; /* entries */
	__u32 words;	/* per group: 1, 2, 4, 8, 16 or 32; in a flat table the regions */
	__u32 blocks;	/* of a flat table's region; else 0 */
	__u32 pad;
	__u8 ipv4_prefix;
	__u8 ipv6_prefix;
	__u8 logs;				  /* limits that `log_slots` was made for */
	__u8 type;				  /* enum table_type */
	struct kind_identity kinds[MAX_KIND_IDS]; /* by kind id; 0 is the table's own source */
	__u64 seed;				  /* random, for keys that are hashes */
	__u64 made_ns;				  /* CLOCK_REALTIME */
	struct limit_identity limits[MAX_LIMITS]; /* by limit id */
};

/* Kept by user space: what the kernel can't count. */
struct ledger {
	__u64 deleted; /* entries removed by `reset` */
};

/*
 * One limit as the program charges it. All arithmetic on it is in algorithm.h.
 *
 *            token-bucket, leaky-bucket          fixed-window, sliding-window   sliding-log
 * burst      ticks                               units per window               packets per window
 * multiplier ticks of one unit, shifted left     of a window: 2^34 moments      the window, ns
 *            by `shift`, rounded up
 * shift      0..31                               granularity, 2^shift ns        -
 * slack      ticks: a word further ahead than    windows, likewise              ns, likewise
 *            burst + slack is not ours
 * share      burst / (CPUs + 1): the largest     -                              -
 *            cost that may go by fetch-and-add
 * tick       one tick is 2^-tick ns              0                              0
 * fingerprint_bits, frame_cost: of a slot of the flat table, else 0. Multiplier and frame_cost count in
 *            grains of 2^fingerprint_bits ticks, all else in ticks; a frame costs frame_cost more.
 *
 * A multiplier of 0 is `unlimited`, max_units of 0 is `block`, for all of them.
 */
struct limit {
	__u64 burst;
	__u64 multiplier;
	__u64 slack;
	__u64 share;
	__u32 max_units; /* more than this in one packet never fits */
	__u8 shift;
	__u8 tick;
	__u8 unit;
	__u8 algorithm;
	__u8 group; /* position in config.kinds */
	__u8 slot;  /* word in the group */
	__u8 id;    /* position in table_identity.limits and cpu_counters.limits */
	__u8 observe;
	__u64 ban_ns; /* on-exceed: 0 for no ban */
	__u8 ban_extends;
	__u8 fingerprint_bits;
	__u8 frame_cost;
	__u8 pad[5];
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

/* A kind as the program needs it. */
struct kind {
	__u64 ipv6_mask[2]; /* network order */
	__u32 ipv4_mask;    /* network order */
	__u32 limits;	    /* of this kind, bit i for config.limits[i] */
	__u32 limit_count;  /* and how many */
	__u8 per;
	__u8 id;
	__u8 pad[2];
};

/* The fields that some limit matches on: only these are looked at. */
enum match_field {
	MATCH_PROTOCOL = 1 << 0,
	MATCH_TCP_FLAGS = 1 << 1,
	MATCH_SOURCE_PORT = 1 << 2,
	MATCH_DESTINATION_PORT = 1 << 3,
	MATCH_VLAN = 1 << 4,
	MATCH_LENGTH = 1 << 5,
	MATCH_DESTINATION = 1 << 6,
	MATCH_FAMILY = 1 << 7,
};

#define PROTOCOL_VALUES 256
#define FLAGS_VALUES	256
#define VLAN_VALUES	4096
#define PORT_VALUES	65536
#define LENGTH_VALUES	65536 /* longer frames count as 65535 */

/* Limits that a packet without the field still meets. */
struct match_defaults {
	__u32 family[2]; /* IPv4, IPv6 */
	__u32 no_ports;
	__u32 no_flags;
	__u32 no_destination; /* in none of the prefixes */
	__u32 pad;
};

/*
 * The family stands before the address: ::/0 must not hold IPv4's ::ffff:0:0/96.
 */
struct prefix_key {
	__u32 length; /* FAMILY_BITS and those of the address as it lies in 16 bytes */
	__u8 family;  /* 4 or 6 */
	__u8 address[16];
	__u8 pad[3];
};

#define FAMILY_BITS  8
#define WHOLE_PREFIX (FAMILY_BITS + 128)

enum fragments_policy {
	FRAGMENTS_COUNT,
	FRAGMENTS_DROP,
	FRAGMENTS_PASS,
};

/* A limit's place for a tier (from 1; 0 for none) is tier * MAX_LIMITS + its position. */
#define LIMIT_PLACES ((1 + MAX_TIERS) * MAX_LIMITS)

/* One compiled policy: the program's read-only data, fixed for its life. */
struct config {
	__u64 magic;
	__u32 abi;
	__u32 limit_count;
	__u64 generation;
	__u64 attached_ns;    /* CLOCK_REALTIME, of the first attach to this interface */
	__u64 device_packets; /* that the device had received then */
	char interface[16];   /* its name at that time; interfaces get renamed */
	__u64 seed;	      /* of the table: keys that are hashes */
	__u32 words;	      /* per group */
	__u32 fanout;	      /* possible CPUs + 1 */
	__u32 kind_count;
	__u32 blocks;	       /* of a flat table's region */
	__u32 all_limits;      /* a bit for each */
	__u32 observed_limits; /* that only count what they would have dropped */
	__u8 generic;	       /* attached in generic mode: frames may be merged */
	__u8 skb_facts;	       /* kernel >= 6.2: frags flag and segments can be read, not guessed */
	__u8 may_have_frags;   /* without skb_facts: ask for the full length of every frame */
	__u8 dry_run;
	__u8 fragments;	     /* enum fragments_policy */
	__u8 match_fields;   /* enum match_field; 0: every limit meets every packet */
	__u8 list_addresses; /* the policy's own lists have exact addresses */
	__u8 penalties;	     /* some limit bans */
	__u8 alone;	     /* one token bucket of one kind that every packet meets */
	__u8 algorithms;     /* in use, bit by enum algorithm */
	__u8 tiers;	     /* number of them */
	__u8 gate_used;
	__u8 on_trial;	   /* falls back when switches.deadline_ns has passed */
	__u8 has_previous; /* to the program in `previous`; else everything passes */
	__u8 flat;	   /* the table is flat */
	__u8 inherits;	   /* when-full: inherit */
	__u8 load_bytes;   /* kernel >= 5.18: samples can hold bytes of the frame */
	__u32 measure;	   /* the duration of one check in so many; 0: none */
	__u32 pad1;
	struct prefix_filter list_filter; /* of the policy's own prefixes */
	struct prefix_filter tier_filter;
	struct limit gate; /* new entries */
	struct match_defaults defaults;
	struct kind kinds[KIND_SLOTS];
	__u8 actions[REASON_SLOTS]; /* enum xdp_action by reason */
	/* In charge order: without a tier first, then for each tier. */
	struct limit limits[LIMIT_PLACES];
	struct limit_label labels[LIMIT_PLACES]; /* same places */
	char tier_names[MAX_TIERS][NAME_SIZE];
};

_Static_assert(sizeof(struct bucket_key) == 20, "bucket_key has no hidden padding");
_Static_assert(sizeof(struct log_key) == 24, "log_key has no hidden padding");
_Static_assert(sizeof(struct group_1) == GROUP_SIZE(1), "group_1 is packed");
_Static_assert(sizeof(struct group_32) == GROUP_SIZE(32), "group_32 is packed");
_Static_assert(sizeof(struct flat_block) == 128, "two cache lines");
_Static_assert(sizeof(struct loss_line) == 64, "a cache line");
_Static_assert(sizeof(struct cached_tally) == 72, "cached_tally");
_Static_assert(sizeof(struct live_lists) == sizeof(__u64), "one word");
_Static_assert(sizeof(struct shared_word) == 64, "a cache line each");
_Static_assert(sizeof(struct event) == 72, "event has no hidden padding");
_Static_assert(sizeof(struct listening) == 16 + 16 * EVENT_READERS, "listening");
_Static_assert(sizeof(struct limit) == 64, "limit");
_Static_assert(sizeof(struct limit_identity) == 48, "limit_identity");
_Static_assert(sizeof(struct limit_label) == 64, "limit_label");
_Static_assert(REASON_COUNT <= REASON_SLOTS, "room for reasons");

#endif
