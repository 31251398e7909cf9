// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A table under pressure: more sources than it holds, inserts that fail, readers and lists beside it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include "compile_lists.h"
#include "prefix.h"
#include "prog.h"
#include "random.h"
#include "threads.h"
#include "units.h"
#include "yaml_policy.h"

#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))
#define SECOND	  NS_PER_SECOND
#define START	  (1000 * SECOND + 7)
#define STEADY	  0xc6120000U /* 198.18.0.0: sources that stay */
#define NEWCOMERS 0x0a000000U /* 10.0.0.0: sources seen once */

static struct limiter limiter;
static struct policy policy;
static struct frame frame;

static void open_policy(const char *text, const struct limiter_facts *facts)
{
	yaml_policy(&policy, text);
	limiter_open(&limiter, &policy, facts);
	clock_set(&limiter, START);
	frame_newcomer(&frame, 0);
}

static void close_policy(void)
{
	limiter_close(&limiter);
	policy_free(&policy);
}

static void set_source(uint32_t address)
{
	uint32_t wire = htonl(address);

	memcpy(frame.bytes + 14 + 12, &wire, sizeof(wire));
}

/* The program reads no checksum. */
static bool passes(uint32_t address)
{
	set_source(address);
	return send_frame(&limiter, &frame) == XDP_PASS;
}

static unsigned int count_passed(uint32_t address, unsigned int packets)
{
	unsigned int passed = 0;

	while (packets--)
		passed += passes(address);
	return passed;
}

static struct address source_at(uint32_t address)
{
	struct address source = {.bytes = {[10] = 0xff, [11] = 0xff}};
	uint32_t wire = htonl(address);

	memcpy(source.bytes + 12, &wire, sizeof(wire));
	return source;
}

static uint32_t ipv4_at(const struct address *source)
{
	uint32_t wire;

	memcpy(&wire, source->bytes + 12, sizeof(wire));
	return ntohl(wire);
}

/* ---- O-004: after many sources, a new one is limited ----------------------------------------- */

#define BURST 10

static void forgotten_sources(void **state)
{
	uint64_t closed;

	(void)state;
	open_policy("table: {sources: 1024, new-sources: auto}\n"
		    "limits: [{name: default, rate: 100 pps, burst: 10}]\n",
		    NULL);
	for (uint32_t i = 0; i < 1024; i++)
		passes(NEWCOMERS + i);
	/* Without waiting: the gate decides, and counts how many packets it decided. */
	closed = packets_of(&limiter, REASON_GATE_CLOSED);
	assert_true(closed > 0);
	assert_int_equal(count_passed(STEADY, 10 * BURST), 0);
	assert_int_equal(packets_of(&limiter, REASON_GATE_CLOSED), closed + 10 * BURST);
	/* After an idle time: it has a bucket, and no more than that. */
	clock_advance(&limiter, SECOND);
	assert_int_equal(count_passed(STEADY, 10 * BURST), BURST);
	assert_int_equal(packets_of(&limiter, REASON_GATE_CLOSED), closed + 10 * BURST);
	close_policy();
}

/* Without a gate a new source takes the place of one that was not seen for longest. */
static void full_without_gate(void **state)
{
	(void)state;
	open_policy("table: {sources: 1024, new-sources: unlimited}\n"
		    "limits: [{name: default, rate: 100 pps, burst: 10}]\n",
		    NULL);
	for (uint32_t i = 0; i < 10000; i++)
		passes(NEWCOMERS + i);
	assert_int_equal(count_passed(STEADY, 10 * BURST), BURST);
	assert_int_equal(packets_of(&limiter, REASON_TABLE_FULL), 0);
	close_policy();
}

/* ---- O-010: what stays is not evicted by what comes ------------------------------------------ */

#define STEADY_COUNT 2000
#define NEW_PER_S    1000

struct steady_sources {
	uint64_t found, born_again, incomplete;
	uint64_t packets; /* of each */
};

static int look_at_steady(const struct bucket *bucket, void *context)
{
	struct steady_sources *steady = context;
	uint32_t index = ipv4_at(&bucket->source) - STEADY;

	if (index >= STEADY_COUNT)
		return 0;
	steady->found++;
	steady->born_again += bucket->born_ns >= START + SECOND;
	steady->incomplete += bucket->tally.passed_packets != steady->packets;
	return 0;
}

/* Half a millisecond: one packet of a steady source and, every other time, of a new one. */
static void run_seconds(unsigned int seconds)
{
	uint32_t newcomer = 0;

	for (unsigned int i = 0; i < seconds * STEADY_COUNT; i++) {
		passes(STEADY + i % STEADY_COUNT);
		if (i % (STEADY_COUNT / NEW_PER_S) == 0)
			passes(NEWCOMERS + newcomer++);
		clock_advance(&limiter, SECOND / STEADY_COUNT);
	}
}

static void expect_steady(unsigned int seconds)
{
	struct steady_sources steady = {.packets = seconds};
	struct counters counters;

	open_policy("table: {sources: 65536, new-sources: auto}\n"
		    "limits: [{name: default, rate: 10 pps, burst: 20}]\n",
		    NULL);
	run_seconds(seconds);
	assert_int_equal(read_buckets(&limiter.running, look_at_steady, &steady), 0);
	assert_int_equal(steady.found, STEADY_COUNT);
	assert_int_equal(steady.born_again, 0);
	assert_int_equal(steady.incomplete, 0);
	counters_of(&limiter, &counters);
	assert_int_equal(counters.events.created, STEADY_COUNT + seconds * NEW_PER_S);
	assert_int_equal(packets_of(&limiter, REASON_GATE_CLOSED), 0);
	close_policy();
}

static void steady_within(void **state)
{
	(void)state;
	expect_steady(60);
}

/* Twice as many new ones as entries: the LRU finds them, not those that come each second. */
static void steady_beyond(void **state)
{
	(void)state;
	expect_steady(130);
}

/* ---- O-011: inserts that fail ---------------------------------------------------------------- */

#define FAILURES     10000000U
#define COST_SAMPLES 7
#define COST_PACKETS 200000

/* The best of some: the machine may be busy with other things as well. */
static uint32_t cost_of(uint32_t address)
{
	uint32_t best = UINT32_MAX;

	set_source(address);
	for (int i = 0; i < COST_SAMPLES; i++) {
		send_repeated(&limiter, &frame, COST_PACKETS);
		best = last_duration_ns() < best ? last_duration_ns() : best;
	}
	return best;
}

static void failing_inserts(void **state)
{
	const struct limiter_facts facts = {.refuses = true};
	struct counters counters;
	uint32_t before, after;

	(void)state;
	open_policy("table: {sources: 1024, new-sources: unlimited, when-full: drop}\n"
		    "limits: [{name: default, rate: 100 pps, burst: 10}]\n",
		    &facts);
	for (uint32_t i = 0; i < 1024; i++)
		passes(STEADY + i);
	before = cost_of(STEADY);
	set_source(NEWCOMERS);
	assert_int_equal(send_repeated(&limiter, &frame, FAILURES), XDP_DROP);
	after = cost_of(STEADY);
	counters_of(&limiter, &counters);
	print_message("# %u ns a packet before, %u after %llu failures\n", before, after,
		      (unsigned long long)counters.events.insert_failures);
	assert_int_equal(counters.events.insert_failures, FAILURES);
	assert_int_equal(packets_of(&limiter, REASON_TABLE_FULL), FAILURES);
	assert_int_equal(count_entries(&limiter.running), 1024);
	assert_true(after <= before * 3 / 2 + 20);
	close_policy();
}

/* What fails in an LRU is an insert that lost a race: it has taken a node already, and gives it back. */
static void lost_inserts(void **state)
{
	struct address source = source_at(STEADY);
	struct bucket_key key = {.kind = PER_SOURCE};
	struct group_1 group = {.born_ns = 1};
	int64_t before;

	(void)state;
	open_policy("table: {sources: 1024, new-sources: unlimited}\n"
		    "limits: [{name: default, rate: 100 pps, burst: 10}]\n",
		    NULL);
	for (uint32_t i = 0; i < 4096; i++)
		passes(NEWCOMERS + i);
	passes(STEADY);
	before = count_entries(&limiter.running);
	memcpy(key.address, &source, sizeof(source));
	for (int i = 0; i < 300000; i++) {
		assert_int_not_equal(bpf_map_update_elem(limiter.running.maps[MAP_BUCKETS], &key,
							 &group, BPF_NOEXIST),
				     0);
		assert_int_equal(errno, EEXIST);
	}
	/* The kernel takes them in batches, so once a batch on each CPU may go. */
	assert_in_range(count_entries(&limiter.running), before - 128 * WORKERS, before);
	assert_int_equal(count_passed(NEWCOMERS + 99999, 10 * BURST), BURST);
	close_policy();
}

/* ---- O-012: nothing of ours deletes by age --------------------------------------------------- */

struct reading {
	atomic_bool done;
	int64_t errors;
	uint64_t passed;
	atomic_uint readings;
};

static int look_only(const struct bucket *bucket, void *context)
{
	(void)bucket;
	(void)context;
	return 0;
}

/* All that a command may do to a table without being told to forget this source. */
static void read_and_forget_others(struct reading *reading)
{
	const struct address mine = source_at(STEADY), other = source_at(NEWCOMERS);
	struct bucket buckets[MAX_LIMITS];
	struct policy_prefix listed = {.address = other, .length = 32};
	struct complaint why;

	while (!atomic_load(&reading->done)) {
		reading->errors += !!read_buckets(&limiter.running, look_only, NULL);
		read_source(&limiter.running, &mine, buckets);
		reset_source(&limiter.running, &other);
		/* Ended lists are swept when somebody adds to them. */
		reading->errors += !!live_add(&limiter.running, LIVE_ALLOW, &listed, 1, 1, &why);
		atomic_fetch_add(&reading->readings, 1);
	}
}

static void gc_work(struct worker *worker)
{
	struct reading *reading = worker->context;

	if (worker->index) {
		read_and_forget_others(reading);
		return;
	}
	for (unsigned int i = 0; i < 10000; i++) {
		/* All along. */
		while (atomic_load(&reading->readings) < i / 500)
			;
		reading->passed += passes(STEADY);
		clock_advance(&limiter, SECOND / 1000);
	}
	atomic_store(&reading->done, true);
}

static void no_gc(void **state)
{
	struct reading reading = {.errors = 0};
	struct worker workers[WORKERS];
	struct bucket bucket;

	(void)state;
	open_policy("table: {sources: 1024, new-sources: unlimited}\n"
		    "limits: [{name: default, rate: 100 pps, burst: 100}]\n",
		    NULL);
	run_on_two_cpus(gc_work, &reading, workers);
	print_message("# %llu of 10000 passed, %u readings meanwhile\n",
		      (unsigned long long)reading.passed, atomic_load(&reading.readings));
	assert_int_equal(reading.errors, 0);
	assert_in_range(reading.passed, 100 + 100 * 10 - 1, 100 + 100 * 10);
	source_of(&limiter, "198.18.0.0", &bucket);
	assert_int_equal(bucket.born_ns, START);
	close_policy();
}

/* ---- large lists and tiers are off the path of known sources --------------------------------- */

#define DENIED	     100000
#define TIER_ENTRIES 10000
#define KNOWN	     10000

/* Addresses as they come: not one block, which would have its own places in a filter. */
static uint32_t drawn_address(uint64_t *seed, uint32_t network)
{
	return network | (uint32_t)(random_next(seed) & 0x00ffffff);
}

static void add_drawn(struct policy_prefixes *list, uint64_t seed, uint32_t network, size_t count,
		      unsigned int length)
{
	struct policy_prefix prefix = {.length = length};

	while (count--) {
		prefix.address = source_at(drawn_address(&seed, network) &
					   (uint32_t)(~0ULL << (32 - length)));
		assert_int_equal(policy_add_prefix(list, &prefix), 0);
	}
}

/*
 * Whoever asks gets an answer that shows: the trie is given an entry for everybody, in tier `caught`, which
 * is blocked, and the hash one for each known source. Neither gets a bit in a filter, so only packets
 * that the filters send there are refused.
 */
static void catch_all(int map, const void *value)
{
	const struct policy_prefix everybody = {.address = source_at(0), .length = 0};
	struct prefix_key all = prefix_key_of(&everybody), first;

	/* Room for one more. */
	assert_int_equal(bpf_map_get_next_key(map, NULL, &first), 0);
	assert_int_equal(bpf_map_delete_elem(map, &first), 0);
	assert_int_equal(bpf_map_update_elem(map, &all, value, BPF_ANY), 0);
}

static void catch_known(uint64_t seed)
{
	static struct address_key keys[KNOWN];
	static struct listing listings[KNOWN];
	int map = limiter.running.maps[MAP_FILE_EXACT];
	uint32_t position, count = KNOWN;

	/* Room for them, of which the filter keeps the bits. */
	assert_int_equal(bpf_map_lookup_batch(map, NULL, &position, keys, listings, &count, NULL),
			 0);
	assert_int_equal(bpf_map_delete_batch(map, keys, &count, NULL), 0);
	assert_true(count > KNOWN - 100);
	for (uint32_t i = 0; i < count; i++) {
		struct address source = source_at(drawn_address(&seed, STEADY & 0xff000000));

		listings[i] = (struct listing){.deny_until_ns = FOREVER};
		memcpy(&keys[i], &source, sizeof(source));
	}
	assert_int_equal(bpf_map_update_batch(map, keys, listings, &count, NULL), 0);
}

static void large_lists(void **state)
{
	const uint64_t known_seed = 5;
	const uint32_t caught_tier = 2;
	uint64_t seed = known_seed, denied, blocked;

	(void)state;
	yaml_policy(&policy, "table: {sources: 65536, new-sources: unlimited}\n"
			     "deny: [10.0.0.1]\n"
			     "tiers:\n"
			     "  - {name: near, sources: [11.0.0.0/24]}\n"
			     "  - {name: caught, sources: [11.0.1.0/24]}\n"
			     "limits:\n"
			     "  - {name: default, rate: 100 pps, tiers: {near: 1000 pps, caught: "
			     "block}}\n");
	add_drawn(&policy.deny, 1, 0x0a000000, DENIED, 32);
	add_drawn(&policy.tiers[0].sources, 2, 0x0b000000, TIER_ENTRIES, 24);
	limiter_open(&limiter, &policy, NULL);
	clock_set(&limiter, START);
	frame_newcomer(&frame, 0);
	catch_known(known_seed);
	catch_all(limiter.running.maps[MAP_TIERS], &caught_tier);
	for (int i = 0; i < KNOWN; i++)
		passes(drawn_address(&seed, STEADY & 0xff000000));
	denied = packets_of(&limiter, REASON_DENIED);
	blocked = packets_of(&limiter, REASON_OVER_LIMIT);
	print_message("# of %d sources in no list the filters sent %llu to the addresses, %llu to "
		      "the prefixes\n",
		      KNOWN, (unsigned long long)denied, (unsigned long long)blocked);
	/* 100 000 of 2^20 bits; 10 000 prefixes. More would be no false positives of theirs. */
	assert_in_range(denied, 1, KNOWN * 11 / 100);
	assert_in_range(blocked, 1, KNOWN * 16 / 100);
	assert_int_equal(packets_of(&limiter, REASON_CONFORMING), KNOWN - denied - blocked);
	close_policy();
}

/* ---- O-001: each packet from a source of its own ---------------------------------------------- */

#define UNIQUE 100000 /* 20 000 pps for 5 s */

/* The limit of each source is blind to them; how many they are is seen, and a limit over all holds them. */
static void unique_sources(void **state)
{
	struct counters counters;
	struct occupancy occupancy;
	unsigned int steady = 0;
	uint64_t passed;

	(void)state;
	open_policy("table: {sources: 16384}\n"
		    "limits:\n"
		    "  - {name: each, rate: 500 pps, burst: 500}\n"
		    "  - {name: all, per: interface, rate: 2000 pps, burst: 1000}\n",
		    NULL);
	/* 10 pps of an honest source between them, which the limit over all meets too. */
	for (unsigned int i = 0; i < UNIQUE; i++) {
		if (i % 2000 == 0)
			steady += passes(STEADY);
		passes(NEWCOMERS + i);
		clock_advance(&limiter, SECOND / 20000);
	}
	counters_of(&limiter, &counters);
	passed = packets_passed(&limiter);
	assert_int_equal(read_occupancy(&limiter.running, 0, &occupancy), 0);
	print_message("# %lu of %u passed, %u of 50 honest ones, %llu buckets made\n", passed,
		      UNIQUE + 50, steady, counters.events.created);
	assert_in_range(passed, 1, 1000 + 2000 * 5 + 1);
	assert_int_equal(counters.events.created, UNIQUE + 1);
	assert_true(occupancy.used <= 16384 && occupancy.used > 12000);
	close_policy();
}

#define CASE(name_, function)                        \
	{                                            \
		.name = name_, .test_func = function \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("O-004: after more sources than entries, a new one is limited",
		     forgotten_sources),
		CASE("O-004: without a gate too", full_without_gate),
		CASE("O-001: sources without end are seen, and held by a limit over all",
		     unique_sources),
		CASE("O-010: 2000 steady sources keep their buckets while 60 000 come",
		     steady_within),
		CASE("O-010: and while 130 000 come to 65 536 entries", steady_beyond),
		CASE("O-011: ten million failed inserts cost later packets nothing",
		     failing_inserts),
		CASE("O-011: inserts that lost their race leave the LRU as it is", lost_inserts),
		CASE("O-012: whatever reads or forgets others, a source gets no second burst",
		     no_gc),
		CASE("large lists and tiers are off the path of sources in none of them",
		     large_lists),
	};

	return cmocka_run_group_tests_name("pressure", tests, NULL, NULL);
}
