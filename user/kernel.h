/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The door to the kernel: only kernel_*.c include libbpf or the skeleton. */
#ifndef XDP_LIMIT_KERNEL_H
#define XDP_LIMIT_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include "abi.h"
#include "address.h"
#include "compile.h"
#include "explain.h"
#include "netdev.h"
#include "policy.h"

/* ---- what the kernel can do (kernel_features.c) ---- */

struct kernel_features {
	bool xdp_frags; /* 5.18, c2f2cdbeffda: multi-buffer programs */
	bool skb_facts; /* 6.2, fd264ca02094 and a35b9af4ec2c: casts to kernel types */
	bool btf;	/* /sys/kernel/btf/vmlinux */
	unsigned int possible_cpus;
};

/** Ask the kernel; 0, or -errno when it refuses to answer at all. */
int kernel_features(struct kernel_features *features);
const char *kernel_libbpf_version(void);
/** The kernel's release as a number, 6.1.0 -> 0x060100. */
unsigned int kernel_release(void);

/* ---- each thing that is asked of a kernel, for `doctor` (kernel_abilities.c) ---- */

enum ability_id {
	ABILITY_XDP,
	ABILITY_JIT,
	ABILITY_TYPES,
	ABILITY_HASH,
	ABILITY_LRU,
	ABILITY_ARRAY,
	ABILITY_PERCPU,
	ABILITY_TRIE,
	ABILITY_PROGRAMS,
	ABILITY_MAPS,
	ABILITY_RING,
	ABILITY_FREEZE,
	ABILITY_LOOKUP,
	ABILITY_UPDATE,
	ABILITY_BOOT_CLOCK,
	ABILITY_TAIL_CALL,
	ABILITY_TELL,
	ABILITY_ATOMICS,
	ABILITY_BATCH,
	ABILITY_BIND,
	ABILITY_LINK,
	ABILITY_FRAGS, /* not needed, used where it is there; so are the next three */
	ABILITY_BUFF_LENGTH,
	ABILITY_LOAD_BYTES,
	ABILITY_SKB_FACTS,
	ABILITY_EXTEND, /* only to stand beside other programs */
	ABILITY_COUNT,
};

struct kernel_ability {
	const char *name;
	const char *since; /* the first Linux that has it; NULL: a setting */
};

const struct kernel_ability *kernel_ability(enum ability_id id);
/** Probe all: 1 there, 0 not there, -errno when the kernel did not let us ask. */
void kernel_abilities(int there[ABILITY_COUNT]);

/* ---- the kernel's own sentences (kernel_log.c) ---- */

/** Catch libbpf's messages from now on; nothing reaches the terminal unless -v. */
void kernel_log_start(void);
void kernel_log_clear(void);
/** The sentence of the last refusal, or NULL when the kernel gave none. */
const char *kernel_log_text(void);

/* ---- what is attached (kernel_attachment.c) ---- */

enum xdp_mode {
	MODE_NONE,
	MODE_NATIVE,
	MODE_GENERIC,
	MODE_OFFLOAD,
};

#define MEMBERS_MAX 10 /* libxdp's own bound */

/* A program in a dispatcher of libxdp. */
struct member {
	uint32_t program_id;
	unsigned int priority; /* the lower comes first */
	bool ours;
	char name[16];
};

struct attachment {
	unsigned int ifindex; /* 0: of no interface, so without pins */
	enum xdp_mode mode;   /* MODE_NONE: nothing is attached */
	uint32_t program_id;
	uint32_t link_id; /* 0: attached over netlink */
	bool ours;
	char program_name[16];
	/* A dispatcher of libxdp calls several programs; program_id is ours if there is one, else its own. */
	uint32_t dispatcher_id; /* 0: none */
	bool bereft;		/* a dispatcher whose pins are gone, and with them its members */
	uint32_t other_id; /* of ours too: a trial's former policy, or left by a killed command */
	int member_count;
	struct member members[MEMBERS_MAX]; /* in their order */
};

#define MEMBERS_TEXT_SIZE 320

const char *mode_name(enum xdp_mode mode);
/** What holds the program: "link", "netlink" or "dispatcher". */
const char *attachment_way(const struct attachment *attachment);
/** The members, each with its priority: "20 xdp_limit_chain, 50 xdp_lb". */
void describe_members(const struct attachment *attachment, char *text, size_t size);
/**
 * attachment_find - what is attached to @ifindex of the current network namespace. The kernel says
 * what; it is opened by its pins, and by ids where these are missing. Returns 0 or -errno; -EPERM: there
 * are no pins of what runs, and this process may not open it by ids.
 */
int attachment_find(unsigned int ifindex, struct attachment *attachment);
/**
 * Whether it is still this that is attached, by far cheaper than attachment_find(): 1, 0 (look again), or
 * -errno.
 */
int attachment_is_current(const struct attachment *attachment);
/** Remove what is attached and ask the kernel whether it is gone: 0 or -errno. */
int attachment_remove(const struct attachment *attachment);
/** attachment_take_off - the same of one that is in no dispatcher. */
int attachment_take_off(const struct attachment *attachment);

/* ---- a running limiter (kernel_running.c) ---- */

enum map_id {
	MAP_BUCKETS,
	MAP_FLAT,
	MAP_LIMITED,
	MAP_LOSSES,
	MAP_TALLY_CACHE,
	MAP_TABLE_EVENTS,
	MAP_GATE,
	MAP_COUNTERS,
	MAP_BUDGETS,
	MAP_INTERFACE_WORDS,
	MAP_LOG_SLOTS,
	MAP_SWITCHES,
	MAP_GUARDS,
	MAP_LIVE_EXACT,
	MAP_LIVE_PREFIX,
	MAP_LIVE_EXACT_BITS,
	MAP_LIVE_PREFIX_BITS,
	MAP_PENALTIES,
	MAP_PENALTY_BITS,
	MAP_TABLE,
	MAP_LEDGER,
	MAP_BASELINE,
	MAP_LISTENING,
	MAP_RINGS,
	MAP_EVENT_SEEN,
	MAP_DURATIONS,
	MAP_LIVE_SET, /* no map of the program: what is in MAP_LIVE_EXACT now */
	MAP_OF_PROGRAM,
	MAP_PREVIOUS = MAP_OF_PROGRAM, /* from here on of one program; those above outlive it */
	MAP_CONFIG,
	MAP_TEXT,
	MAP_TIERS,
	MAP_FILE_EXACT,
	MAP_FILE_PREFIX,
	MAP_COUNT,
};

/* Names as in bpf/maps.h, and of their pins. */
extern const char *const map_names[MAP_COUNT];

/** Whether a map tells of one interface, and is not shared with others that share its table. */
bool map_is_own(enum map_id id);

/* What the kernel says runs, whatever is pinned. */
struct running {
	struct attachment attachment;
	int program;
	int maps[MAP_COUNT];
	struct config config;
	struct table_identity table;
};

/**
 * running_open - the limiter on @ifindex. Returns 0; -ENOENT when there is none of ours (see
 * @running->attachment for what there is instead); -EPROTO when its ABI is not this program's.
 * running_close() in every case.
 */
int running_open(unsigned int ifindex, struct running *running);
/** running_clear - nothing is open: what running_close() may be called with. */
void running_clear(struct running *running);
void running_close(struct running *running);

/* ---- pins (kernel_pins.c) ---- */

#define PIN_ROOT      "/sys/fs/bpf/xdp-limit"
#define PIN_PATH_SIZE 128

bool pins_have_bpffs(void);
/** Whether bpffs is there, and nothing can be pinned in it or removed. */
bool pins_read_only(void);
/** Whether our mounts are those of the machine, so that a mount of ours would last. */
bool pins_would_last(void);
/**
 * pins_reachable - whether the machine's pins are seen from here, and nobody but us or root can have
 * made them: 0; -ENOTSUP or -EACCES with a sentence in @why.
 */
int pins_reachable(struct complaint *why);
/** Make bpffs and PIN_ROOT ready: 0, or -errno with a sentence in @why. */
int pins_prepare(struct complaint *why);
/** PIN_ROOT/<inode of the current network namespace>-<ifindex>: 0 or -errno. */
int pins_directory(unsigned int ifindex, char path[PIN_PATH_SIZE]);
/** Whether all pins of a limiter that is attached like this are there. */
bool pins_complete(unsigned int ifindex, const struct attachment *attachment);
/** Whether anything is pinned for @ifindex. */
bool pins_exist(unsigned int ifindex);
/** Whether the interface that the pins of @ifindex were made for is gone, and not only moved. */
bool pins_outlived(unsigned int ifindex);
/** The same, told by a pinned link alone: so of other network namespaces, too. */
bool pins_link_outlived(unsigned int ifindex);
/** Whether they hold the link of an interface that is in another network namespace now. */
bool pins_moved(unsigned int ifindex);
/** Remove all pins of @ifindex; the directory too. 0 or -errno; 0 when there were none. */
int pins_remove(unsigned int ifindex);
/**
 * Call @visit for each interface of this network namespace that has pins, living or not.
 * Returns the first non-zero result of @visit, or -errno, or 0.
 */
int pins_visit(int (*visit)(unsigned int ifindex, void *context), void *context);
/** The same for those of all other namespaces, each under netns_assume(). */
int pins_visit_others(int (*visit)(unsigned int ifindex, void *context), void *context);

/* ---- loading and attaching (kernel_load.c, kernel_attach.c) ---- */

struct attach_target {
	struct netdev netdev;
	bool generic;
	/* kernel_attach() settles these: */
	bool shared;	       /* as a member of a dispatcher */
	unsigned int priority; /* in it */
	bool was_dry;	       /* what it replaces dropped nothing: a dry run */
};

#define TARGETS_MAX 16

struct attach_request {
	const struct policy *policy;
	struct attach_target *targets;
	size_t count;
	const char *
		shared_name; /* all targets are on one table of this name; NULL: each has its own */
	unsigned int donor;  /* an interface that has this table and is no target; 0: none */
	bool joins;	     /* none of the targets has it yet: its policy stays the same */
	bool recreate;	     /* a fresh table even where the running one would do */
	bool force;	     /* replace a foreign program */
	bool shared; /* join a dispatcher of libxdp, or make one; in any case when there is one */
	unsigned int priority; /* in it; 0: the one it has, or MEMBER_PRIORITY */
	bool no_guards;	       /* end all guards, and make none */
	bool guarded;	       /* exempt this SSH peer until guard_ends_ns (boot clock) */
	struct address guard_peer;
	uint64_t guard_ends_ns;
	uint64_t confirm_ns; /* a trial of so long; 0: no trial */
};

/**
 * kernel_attach - for each target load the policy's program beside what runs; then switch to it in one
 * step: over ours by updating the link with its table kept, else by a new link. All or nothing: after
 * a failure the interfaces, their pins and tables are as before.
 * Returns 0; -errno with @refusal filled when the kernel refused; -ERANGE, -ESTALE or -EBUSY
 * with a sentence in @why when it was this program that refused. @refusal->netdev is the interface that
 * it was about.
 */
int kernel_attach(const struct attach_request *request, struct refusal *refusal,
		  struct complaint *why);

/* ---- trials (kernel_trial.c) ---- */

enum trial {
	TRIAL_NONE,    /* not on trial, or confirmed */
	TRIAL_RUNNING, /* until its deadline */
	TRIAL_OVER,    /* nobody confirmed: the former state holds already */
};

enum trial trial_state(const struct running *running);
/** Nanoseconds until the deadline; 0 when there is none. */
uint64_t trial_left_ns(const struct running *running);
/** Keep what is on trial: 0 or -errno. */
int trial_confirm(const struct running *running);
/**
 * trial_settle - after TRIAL_OVER: make what the kernel does already true of link and pins too: the
 * former program, or none; the one on trial where the former was lost. 0 or -errno. @running is to be opened anew then.
 */
int trial_settle(unsigned int ifindex, const struct running *running);
/**
 * trial_settle_quietly - the same without changing a dispatcher, for which libxdp would load programs, and print:
 * what was on trial stays in it, idle, until the next change. -ENOENT where nothing judges then.
 */
int trial_settle_quietly(unsigned int ifindex, const struct running *running);

/* ---- live lists (kernel_live.c) ---- */

enum live_list {
	LIVE_ALLOW,
	LIVE_DENY,
	LIVE_BAN,
	LIVE_COUNT,
};

/**
 * live_add - put @count prefixes on @list until @until_ns (boot clock; FOREVER), all or none; they
 * end by themselves in the kernel. Returns 0, or -errno with a sentence in @why that names the first
 * one that didn't fit.
 */
int live_add(const struct running *running, enum live_list list,
	     const struct policy_prefix *prefixes, size_t count, uint64_t until_ns,
	     struct complaint *why);

/** live_delete - take them off; returns how many were on it, or -errno. A ban ends penalties too. */
int64_t live_delete(const struct running *running, enum live_list list,
		    const struct policy_prefix *prefixes, size_t count);

/**
 * live_visit - each living entry of @list with its end; for LIVE_BAN those of limits too.
 * A non-zero result of @visit ends the walk and is returned; else 0 or -errno.
 */
int live_visit(const struct running *running, enum live_list list,
	       int (*visit)(const struct policy_prefix *prefix, uint64_t until_ns, void *context),
	       void *context);

/** live_count - how many entries of each list live, for LIVE_BAN with those of limits: 0 or -errno. */
int live_count(const struct running *running, uint64_t counts[LIVE_COUNT]);

/** live_find - what the live lists say of this whole address: 0, -ENOENT, -errno. */
int live_find(const struct running *running, const struct address *address,
	      struct listing *listing);

/** live_banned_until - the end of the ban that @address serves (boot ns), 0 for none. */
uint64_t live_banned_until(const struct running *running, const struct address *address);

/* ---- asking as a packet does (kernel_ask.c) ---- */

/** The tier of @address, from 1; 0 for none. */
unsigned int ask_tier(const struct running *running, const struct address *address);

/**
 * ask_lists - what the lists say of @address now: REASON_BANNED, REASON_ALLOWED, REASON_DENIED, or
 * REASON_NONE when the limits decide.
 */
enum reason ask_lists(const struct running *running, const struct address *address);

/* ---- reading (kernel_read.c) ---- */

/** Nanoseconds since boot, suspend included: the clock of all words. */
uint64_t boot_clock_ns(void);
/* Of all CPUs: what happened on the interface, and to the table that others may share. */
struct counters {
	struct reason_count reasons[REASON_SLOTS];
	struct limit_count limits[MAX_LIMITS]; /* by limit id */
	struct telling_count telling;
	struct event_count events; /* never reset */
};

/** Sums over all CPUs, less what `reset --counters` took as zero. 0 or -errno. */
int read_counters(const struct running *running, struct counters *sum);
/** The same since the interface was first attached to, whatever was reset. */
int read_raw_counters(const struct running *running, struct counters *sum);
/** Entries removed by reset since the table was made. */
int read_deleted(const struct running *running, uint64_t *deleted);

/** The key of @address in a kind that counts per source, or false. */
bool source_key(const struct table_identity *table, int kind, const struct address *address,
		struct bucket_key *key);

/** Whether the gate would refuse a new source now. */
bool gate_is_closed(const struct running *running);

/* One bucket: a source under one limit, tallies complete (what CPUs still cache included). */
struct bucket {
	struct address source;
	uint16_t limit; /* index in running->config.limits */
	uint64_t born_ns;
	uint64_t word;
	uint64_t refreshed_ns; /* of a slot: what looks like debt long after that is none */
	struct tally tally;
};

/**
 * read_buckets - call @visit for each bucket, once each. Reads in batches: ends after one walk
 * however busy the table is, and takes no lock that a packet would wait for.
 * @visit returns 0, or -errno to end the walk. Returns 0 or -errno.
 */
int read_buckets(const struct running *running,
		 int (*visit)(const struct bucket *bucket, void *context), void *context);

/* The same in parts, for who has other things to do meanwhile. */
struct bucket_walk;

/** bucket_walk_start - 0 or -errno; bucket_walk_end() after it succeeded. @running stays open so long. */
int bucket_walk_start(const struct running *running, struct bucket_walk **walk);
/**
 * bucket_walk_step - the next few thousand buckets; those of a flat table at once. Returns 1 while more
 * may come, 0 at the end, or -errno; @visit as above.
 */
int bucket_walk_step(struct bucket_walk *walk,
		     int (*visit)(const struct bucket *bucket, void *context), void *context);
void bucket_walk_end(struct bucket_walk *walk);

/** Entries of an LRU table now, or -errno. */
int64_t count_entries(const struct running *running);

struct occupancy {
	uint64_t used;	/* entries; in a flat table: slots with an owner */
	uint64_t young; /* of these, made after a moment of the boot clock; or: in debt now */
};

/** read_occupancy - one walk over the table: 0 or -errno. */
int read_occupancy(const struct running *running, uint64_t after_ns, struct occupancy *occupancy);
/**
 * read_cpu_packets - what each possible CPU has seen since the table was made, whatever was reset:
 * *@packets is allocated, free() it. Returns the number of CPUs, or -errno.
 */
int read_cpu_packets(const struct running *running, uint64_t **packets);
/**
 * read_source - the buckets of one address, one for each limit of the policy, without touching the
 * table's order of use. Where it has none, born_ns is 0. Returns 0, -ENOENT when it has none at all,
 * -errno.
 */
int read_source(const struct running *running, const struct address *address,
		struct bucket buckets[MAX_LIMITS]);
/**
 * read_state - what the limit at @place says of @bucket; a place is tier * MAX_LIMITS + limit. For a
 * sliding log it asks the kernel for the slots: 0 or -errno.
 */
int read_state(const struct running *running, const struct bucket *bucket, unsigned int place,
	       uint64_t now_ns, struct limit_state *state);
/* How long checks took, of those that the policy measures; see struct durations. */
struct histogram {
	uint64_t counts[DURATION_BUCKETS]; /* of 2^i up to 2^(i+1) ns; the first from 0 on */
	uint64_t count, sum_ns;
};

/** read_durations - sums over all CPUs since the table was made: 0 or -errno. */
int read_durations(const struct running *running, struct histogram *histogram);
/** The running policy's text in *@text (free() it): 0 or -errno. */
int read_policy_text(const struct running *running, char **text);
/** The guard of @address: its end (boot ns), 0 when there is none. */
uint64_t read_guard(const struct running *running, const struct address *address);
/** Forget one source: 0, -ENOENT, -errno. */
int reset_source(const struct running *running, const struct address *address);
/** Forget all sources; returns how many, or -errno. */
int64_t reset_sources(const struct running *running);
/** Count from zero again, exactly, while packets flow: 0 or -errno. */
int reset_counters(const struct running *running);

/* ---- events as the program tells them (kernel_events.c); with those that user space sees: watch.h ---- */

struct event_request {
	uint32_t kinds; /* bit by enum event_kind; those that the kernel doesn't tell are ignored */
	uint32_t sample_every; /* EVENT_SAMPLE: one dropped packet in so many, of each CPU */
};

struct events;

/** A non-zero result ends the round. @frame: the first event->captured bytes of the packet. */
typedef int event_visit(const struct event *event, const uint8_t *frame, void *context);

/**
 * events_open - listen to what the program of @running tells from now on. It goes on under other programs of
 * the same maps (apply). Up to EVENT_READERS at once, each sees all.
 * Returns 0; -EBUSY when there are so many; -EALREADY when another one samples with another N; -ENOTSUP
 * when this kernel can't hand out bytes of packets; -errno.
 */
int events_open(const struct running *running, const struct event_request *request,
		struct events **opened);
/**
 * events_poll - wait at most @timeout_ms for events and hand them to @visit. To be called at least each second,
 * or the kernel takes it that nobody listens any more. Returns how many came; -EINTR; what @visit
 * returned when that was negative; -errno.
 */
int events_poll(struct events *events, int timeout_ms, event_visit *visit, void *context);
/** Whether @running has the maps that were listened to: after `--recreate` it has others. */
bool events_are_of(const struct events *events, const struct running *running);
/** For poll(2): readable when there are events. */
int events_fd(const struct events *events);
void events_close(struct events *events);

/*
 * What was not told: to anybody, of the kinds that this reader wants, since there were too many in a second;
 * and to this one, who was too slow.
 */
struct events_lost {
	uint64_t capped[EVENT_KERNEL_KINDS];
	uint64_t overflowed;
};

/** events_lost - since events_open(): 0 or -errno. @running: of the same maps. */
int events_lost(const struct events *events, const struct running *running,
		struct events_lost *lost);

/* ---- what the kernel knows of the program's own cost (kernel_statistics.c) ---- */

/** statistics_start - have the kernel count runs and their time until this fd is closed; or -errno. */
int statistics_start(void);
/** program_run_stats - runs so far, as far as anybody had them counted: 0 or -errno. */
int program_run_stats(const struct running *running, uint64_t *run_ns, uint64_t *run_count);

#endif
