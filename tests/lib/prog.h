/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The real pipeline under a clock that the test sets, run packet by packet without an interface. */
#ifndef TESTS_PROG_H
#define TESTS_PROG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "frames.h"
#include "kernel.h"
#include "policy.h"

struct bpf_object;
struct xdp_limit_test;
struct test_clock;

struct limiter {
	struct xdp_limit_test *skeleton; /* on the test's clock */
	struct bpf_object *attachable;	 /* or this one, on the boot clock */
	struct config *attachable_config;
	volatile struct test_clock *clock; /* the program's own variable; NULL on the boot clock */
	struct running running; /* for read_counters(), read_source(), read_buckets(), ... */
	struct table_identity table;
	bool member; /* of a dispatcher: judges only while its generation holds */
};

/* What a test may change beside the policy; all zero is a plain native attach. */
struct limiter_facts {
	bool generic;
	bool no_skb_facts; /* as on kernels before 6.2 */
	bool may_have_frags;
	unsigned int possible_cpus; /* 0: the machine's */
	bool member;		    /* of a dispatcher */
	bool refuses;		    /* a hash instead of the LRU: once it is full, it refuses */
};

/* All of these fail the running cmocka test when the kernel refuses. */
void limiter_open(struct limiter *limiter, const struct policy *policy,
		  const struct limiter_facts *facts);
void limiter_close(struct limiter *limiter);

/** The program that is attached with these @facts, not its twin for tests: it runs on the boot clock. */
void limiter_open_attachable(struct limiter *limiter, const struct policy *policy,
			     const struct limiter_facts *facts);

/** Another policy on the same table: a second program, as a second attach would load it. */
void limiter_reopen(struct limiter *next, const struct limiter *old, const struct policy *policy);

/** The boot clock that the next packet reads; it is moved on by @step_ns at each reading. */
void clock_set(struct limiter *limiter, uint64_t now_ns);
void clock_advance(struct limiter *limiter, uint64_t by_ns);
void clock_step(struct limiter *limiter, uint64_t step_ns);
/** On the boot clock: that. */
uint64_t clock_now(const struct limiter *limiter);

/** One packet: the program's return value (XDP_PASS, XDP_DROP). At least 14 bytes. */
int send_frame(struct limiter *limiter, const struct frame *frame);
/** @repeat packets in one call; the return value of the last. Thread-safe. */
int send_repeated(const struct limiter *limiter, const struct frame *frame, uint32_t repeat);
/** How many of @count packets passed. */
unsigned int send_many(struct limiter *limiter, const struct frame *frame, unsigned int count);
/** How many of @count packets passed, sent @step_ns apart from now on, in one call. */
uint64_t send_stepped(struct limiter *limiter, const struct frame *frame, uint32_t count,
		      uint64_t step_ns);
/** Average nanoseconds per packet of the last send_repeated() on this thread. */
uint32_t last_duration_ns(void);

/** Packets of one reason so far (passed + dropped + would_drop). */
uint64_t packets_of(const struct limiter *limiter, enum reason reason);
/** Packets over all reasons. */
uint64_t packets_seen(const struct limiter *limiter);
/** Packets that passed, over all reasons; those that passed only because of a dry run too. */
uint64_t packets_passed(const struct limiter *limiter);
/** The counters as `status` reads them. */
void counters_of(const struct limiter *limiter, struct counters *counters);
/** The key of this address's entry in the map of buckets. */
void key_of(const struct limiter *limiter, const char *address, struct bucket_key *key);
/** The first limit's bucket of the source with this address text, or a failed test. */
void source_of(const struct limiter *limiter, const char *address, struct bucket *bucket);
bool has_source(const struct limiter *limiter, const char *address);
/** What `get` would say of the limit @index for this address now (test clock). */
void state_of(const struct limiter *limiter, const char *address, unsigned int index,
	      struct limit_state *state);

/** The table that a policy has that names none: flat when the environment's XDP_LIMIT_TABLE says so. */
enum table_type usual_table(void);
/** In a guest of tests/kernels: a packet takes microseconds there, and times say nothing. */
bool emulated(void);
/** How often to do what only makes a test more thorough: @usual, or @there in a guest. */
uint32_t repeats(uint32_t usual, uint32_t there);
/** A policy of one packet limit called "default" from texts as on the command line. */
struct policy packet_policy(const char *rate, const char *burst);
/** Adds the byte limit "bytes". */
void add_byte_limit(struct policy *policy, const char *rate, const char *burst);

#endif
