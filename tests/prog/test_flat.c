// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The flat table: as exact as groups, no source twice; what it does when full, and what it keeps. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include "compile.h"
#include "flat.h"
#include "kernel_flat.h"
#include "prog.h"
#include "random.h"
#include "threads.h"
#include "units.h"
#include "yaml_policy.h"

#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))
#define SECOND	  NS_PER_SECOND
#define START	  (1000 * SECOND + 7)
#define ONE_BLOCK 7 /* sources whose table is a single block */

static void frame_of(struct frame *frame, uint32_t address, uint32_t length)
{
	uint32_t source = htonl(address);

	frame_start(frame);
	frame_ethernet(frame);
	frame_ipv4(frame);
	frame_udp(frame);
	frame_pad_to(frame, length);
	frame_finish(frame);
	memcpy(frame->bytes + 14 + 12, &source, sizeof(source));
}

static struct policy flat_policy(const char *rate, const char *burst, uint64_t sources)
{
	struct policy policy = packet_policy(rate, burst);

	policy.table_type = TABLE_FLAT;
	policy.sources = sources;
	return policy;
}

static void open_at(struct limiter *limiter, const struct policy *policy, uint64_t now_ns)
{
	limiter_open(limiter, policy, NULL);
	clock_set(limiter, now_ns);
}

static void read_block(const struct limiter *limiter, uint32_t index, struct flat_block *block)
{
	assert_int_equal(bpf_map_lookup_elem(limiter->running.maps[MAP_FLAT], &index, block), 0);
}

static void write_block(const struct limiter *limiter, uint32_t index, struct flat_block *block)
{
	assert_int_equal(bpf_map_update_elem(limiter->running.maps[MAP_FLAT], &index, block, 0), 0);
}

static uint64_t hash_of(const struct limiter *limiter, uint32_t address)
{
	uint32_t source = htonl(address);
	uint64_t words[2];
	struct address mapped = {.bytes = {[10] = 0xff, [11] = 0xff}};

	memcpy(mapped.bytes + 12, &source, sizeof(source));
	memcpy(words, mapped.bytes, sizeof(words));
	return flat_hash(limiter->table.seed, words[0], words[1]);
}

/* How many slots are this source's, and the debt of the last of them in ticks. */
static unsigned int slots_of(const struct limiter *limiter, uint32_t address, uint64_t *debt)
{
	const struct limit *limit = &limiter->running.config.limits[0];
	uint64_t mask = fingerprint_mask(limit), hash = hash_of(limiter, address);
	struct flat_block block;
	unsigned int slots = 0;

	read_block(limiter, flat_block_of(hash, limiter->table.blocks), &block);
	for (unsigned int i = 0; i < FLAT_SLOTS; i++)
		if ((block.words[i] & mask) == flat_fingerprint(hash, mask)) {
			*debt = gcra_debt(block.words[i] & ~mask,
					  limit_ticks(limit, clock_now(limiter)));
			slots++;
		}
	return slots;
}

/* ---- the same verdicts as a group's ------------------------------------------------------------ */

static const struct twin {
	const char *name, *rate, *burst;
	uint64_t longest_ns; /* between two packets */
} twins[] = {
	{"100 pps", "100 pps", "100", SECOND / 10},
	{"7 pps, burst 1", "7 pps", "1", SECOND},
	{"1000 pps, burst 5000", "1000 pps", "5000", SECOND / 500},
	{"3 pps, burst 40", "3 pps", "40", SECOND},
	{"1 Mpps, burst 1", "1 Mpps", "1", 3000},
	{"10 Mpps", "10 Mpps", "1000", 300},
	{"idle for hours", "50 pps", "10", 40 * 3600 * SECOND},
};

static void judges_as_a_group(void **state)
{
	const struct twin *row = *state;
	struct policy groups = packet_policy(row->rate, row->burst);
	struct policy flat = flat_policy(row->rate, row->burst, 65536);
	struct limiter one, other;
	struct frame frame;
	uint64_t seed = 4, passed = 0;

	frame_of(&frame, 0xc0000201, 60);
	groups.table_type = TABLE_LRU;
	open_at(&one, &groups, START);
	open_at(&other, &flat, START);
	for (uint32_t i = repeats(20000, 1000); i; i--) {
		/* Now and then all at once. */
		uint64_t pause = random_below(&seed, 4) ? random_below(&seed, row->longest_ns) : 0;
		int verdict;

		clock_advance(&one, pause);
		clock_advance(&other, pause);
		verdict = send_frame(&one, &frame);
		assert_int_equal(send_frame(&other, &frame), verdict);
		passed += verdict == XDP_PASS;
	}
	assert_in_range(passed, 1, 20000);
	limiter_close(&other);
	limiter_close(&one);
}

/* Slow limits count in coarser grains: never more than burst + rate * t, hardly less. */
static const struct slow {
	const char *name, *rate, *burst;
	uint64_t burst_packets, per_ns; /* of one packet */
} slows[] = {
	{"1 per day", "1/day", "1", 1, 86400 * SECOND},
	{"10 per day, burst 300", "10/day", "300", 300, 8640 * SECOND},
	{"1 per hour, burst 100", "1/h", "100", 100, 3600 * SECOND},
	{"1 per minute, burst 5", "1/min", "5", 5, 60 * SECOND},
};

static void keeps_slow_bounds(void **state)
{
	const struct slow *row = *state;
	struct policy policy = flat_policy(row->rate, row->burst, 65536);
	const uint32_t packets = repeats(20000, 4000);
	uint64_t seed = 9, passed = 0, begun = START;
	struct limiter limiter;
	struct frame frame;

	frame_of(&frame, 0xc0000201, 60);
	open_at(&limiter, &policy, begun);
	for (uint32_t i = 0; i < packets; i++) {
		uint64_t most = row->burst_packets + (clock_now(&limiter) - begun) / row->per_ns;

		passed += send_frame(&limiter, &frame) == XDP_PASS;
		if (passed > most)
			fail_msg("%lu passed, at most %lu", passed, most);
		clock_advance(&limiter, random_below(&seed, row->per_ns / 4));
	}
	/* A burst of one can't keep what a packet that came late leaves of its interval. */
	if (row->burst_packets > 1)
		assert_in_range(passed, (packets / 8 + row->burst_packets) * 98 / 100 - 1,
				UINT32_MAX);
	limiter_close(&limiter);
}

/* ---- no source twice --------------------------------------------------------------------------- */

/* Both CPUs bring the first packet of a source at the same moment. */
struct lockstep {
	struct limiter *limiter;
	struct meeting meeting;
	uint32_t rounds;
	uint64_t pause_ns; /* after each round */
	unsigned int wrong;
};

static bool charged_twice(struct limiter *limiter, uint32_t address)
{
	const struct limit *limit = &limiter->running.config.limits[0];
	uint64_t debt = 0;

	return slots_of(limiter, address, &debt) == 1 && debt == 2 * limit_cost_ticks(limit, 1);
}

static void bring_newcomers(struct worker *worker)
{
	struct lockstep *lockstep = worker->context;
	struct frame frame;

	for (uint32_t round = 0; round < lockstep->rounds; round++) {
		frame_of(&frame, 0x0b000000 + round, 60);
		meet(&lockstep->meeting);
		send_frame(lockstep->limiter, &frame);
		meet(&lockstep->meeting);
		if (worker->index)
			continue;
		lockstep->wrong += !charged_twice(lockstep->limiter, 0x0b000000 + round);
		clock_advance(lockstep->limiter, lockstep->pause_ns);
	}
}

static void meets_newcomers(uint64_t sources, uint64_t pause_ns)
{
	struct policy policy = flat_policy("10 pps", "10", sources);
	struct worker workers[WORKERS];
	struct counters counters;
	struct limiter limiter;
	struct lockstep lockstep = {
		.limiter = &limiter,
		.rounds = repeats(10000, 200),
		.pause_ns = pause_ns,
	};
	struct occupancy fill;

	open_at(&limiter, &policy, START);
	run_on_two_cpus(bring_newcomers, &lockstep, workers);
	counters_of(&limiter, &counters);
	assert_int_equal(flat_occupancy(&limiter.running, clock_now(&limiter), &fill), 0);
	assert_int_equal(lockstep.wrong, 0);
	assert_int_equal(counters.events.created, lockstep.rounds);
	assert_int_equal(fill.used + counters.events.evicted, lockstep.rounds);
	assert_int_equal(counters.events.evicted_live, 0);
	assert_int_equal(packets_passed(&limiter), 2 * lockstep.rounds);
	limiter_close(&limiter);
}

static void no_source_twice(void **state)
{
	(void)state;
	meets_newcomers(1 << 20, 0);
}

/* A second between them: all but the newest are idle, and refreshed again and again. */
static void no_source_twice_in_one_block(void **state)
{
	(void)state;
	meets_newcomers(ONE_BLOCK, SECOND);
}

/* ---- one source on both CPUs ------------------------------------------------------------------- */

static const struct contention {
	const char *name, *rate, *burst, *byte_rate, *byte_burst;
	uint64_t packets_per_s, burst_packets; /* of the tighter limit */
} contentions[] = {
	{"contended: roomy burst", "1 Mpps", "1000", NULL, NULL, 1000000, 1000},
	{"contended: tight burst", "1 Mpps", "5", NULL, NULL, 1000000, 5},
	{"contended: most packets pass", "9 Mpps", "100", NULL, NULL, 9000000, 100},
	{"contended: idle again and again", "11 Mpps", "100", NULL, NULL, 10000000, 100},
	{"contended: two limits", "1 Mpps", "100", "480 Mbit/s", "6000 B", 1000000, 100},
	{"contended: bytes tighter", "2 Mpps", "200", "480 Mbit/s", "6000 B", 1000000, 100},
};

struct load {
	struct limiter *limiter;
	struct frame frame;
};

static void send_load(struct worker *worker)
{
	const struct load *load = worker->context;

	send_repeated(load->limiter, &load->frame, repeats(2000000, 100000));
}

static void contended(void **state)
{
	const struct contention *row = *state;
	struct policy policy = flat_policy(row->rate, row->burst, 65536);
	struct worker workers[WORKERS];
	struct counters counters;
	struct limiter limiter;
	struct load load = {.limiter = &limiter};
	uint64_t passed, most;

	if (row->byte_rate)
		add_byte_limit(&policy, row->byte_rate, row->byte_burst);
	frame_of(&load.frame, 0xc0000201, 60);
	open_at(&limiter, &policy, START);
	clock_step(&limiter, 100);
	run_on_two_cpus(send_load, &load, workers);
	passed = packets_passed(&limiter);
	most = row->burst_packets +
	       (clock_now(&limiter) - START) * row->packets_per_s / NS_PER_SECOND;
	counters_of(&limiter, &counters);
	print_message("# %lu of at most %lu passed, %llu charges stand\n", passed, most,
		      counters.events.undo_lost);
	assert_in_range(passed, most - most / 1000 - row->burst_packets, most);
	assert_true(counters.events.undo_lost <= passed / repeats(10000, 1000));
	assert_int_equal(counters.events.repaired, 0);
	limiter_close(&limiter);
}

/* ---- when it is full --------------------------------------------------------------------------- */

static void fill_block(struct limiter *limiter, const char *when_full)
{
	static char text[160];
	struct policy policy;
	struct frame frame;

	snprintf(text, sizeof(text),
		 "table: {type: flat, when-full: %s}\nlimits: [{name: x, rate: 1 pps, burst: 4}]\n",
		 when_full);
	yaml_policy(&policy, text);
	policy.sources = ONE_BLOCK;
	open_at(limiter, &policy, START);
	for (uint32_t i = 0; i < FLAT_SLOTS; i++) {
		frame_of(&frame, 0x0b000000 + i, 60);
		assert_int_equal(send_many(limiter, &frame, 3), 3);
	}
}

static unsigned int newcomer_passes(struct limiter *limiter)
{
	struct frame frame;

	frame_of(&frame, 0xc0000201, 60);
	return send_many(limiter, &frame, 10);
}

static void full_inherit(void **state)
{
	struct counters counters;
	struct limiter limiter;
	struct occupancy fill;

	(void)state;
	fill_block(&limiter, "inherit");
	/* Three of four are owed by whoever it replaces. */
	assert_int_equal(newcomer_passes(&limiter), 1);
	counters_of(&limiter, &counters);
	assert_int_equal(counters.events.evicted_live, 1);
	assert_int_equal(counters.events.insert_failures, 0);
	assert_int_equal(flat_occupancy(&limiter.running, clock_now(&limiter), &fill), 0);
	assert_int_equal(fill.young, FLAT_SLOTS);
	limiter_close(&limiter);
}

static void full_verdict(const char *when_full, unsigned int passes)
{
	struct counters counters;
	struct limiter limiter;
	struct frame frame;

	fill_block(&limiter, when_full);
	assert_int_equal(newcomer_passes(&limiter), passes);
	assert_int_equal(packets_of(&limiter, REASON_TABLE_FULL), 10);
	counters_of(&limiter, &counters);
	assert_int_equal(counters.events.insert_failures, 10);
	assert_int_equal(counters.events.evicted, 0);
	/* Those that have slots are limited as before. */
	frame_of(&frame, 0x0b000003, 60);
	assert_int_equal(send_many(&limiter, &frame, 10), 1);
	/* A second later the first of them owe nothing, and the newcomer gets a slot. */
	clock_advance(&limiter, 4 * SECOND);
	assert_int_equal(newcomer_passes(&limiter), 4);
	limiter_close(&limiter);
}

static void full_pass(void **state)
{
	(void)state;
	full_verdict("pass", 10);
}

static void full_drop(void **state)
{
	(void)state;
	full_verdict("drop", 0);
}

/* The same with a second limit: nothing is charged to it, and nobody is banned for what others owe. */
static void full_with_others(const char *when_full, const char *rest, unsigned int passes)
{
	struct counters counters;
	struct limiter limiter;
	struct policy policy;
	struct frame frame;
	char text[240];

	snprintf(
		text, sizeof(text),
		"table: {type: flat, when-full: %s}\nlimits: [{name: x, rate: 1 pps, burst: 4%s}]\n",
		when_full, rest);
	yaml_policy(&policy, text);
	policy.sources = ONE_BLOCK;
	open_at(&limiter, &policy, START);
	for (uint32_t i = 0; i < FLAT_SLOTS; i++) {
		frame_of(&frame, 0x0b000000 + i, 60);
		assert_int_equal(send_many(&limiter, &frame, 4), 4);
	}
	assert_int_equal(newcomer_passes(&limiter), passes);
	assert_int_equal(packets_of(&limiter, REASON_TABLE_FULL), 10);
	assert_int_equal(packets_of(&limiter, REASON_BANNED), 0);
	counters_of(&limiter, &counters);
	assert_int_equal(counters.events.insert_failures, 10);
	assert_int_equal(counters.events.undo_lost, 0);
	limiter_close(&limiter);
}

static void full_stacked(void **state)
{
	const char *other = "}, {name: y, rate: 10 pps, burst: 400";

	(void)state;
	full_with_others("pass", other, 10);
	full_with_others("drop", other, 0);
}

static void full_and_banning(void **state)
{
	const char *ban = ", on-exceed: {ban: 10m}";

	(void)state;
	full_with_others("inherit", ban, 0);
	full_with_others("pass", ban, 10);
}

/* A rate of new sources is kept to, once for each limit that needs a slot; who has one is not asked. */
static void gate_on_request(const char *rest, uint64_t entries)
{
	struct limiter limiter;
	struct policy policy;
	struct frame frame;
	char text[240];

	snprintf(text, sizeof(text),
		 "table: {type: flat, sources: 1024, new-sources: 1/h}\n"
		 "limits: [{name: x, rate: 10 pps, burst: 10}%s]\n",
		 rest);
	yaml_policy(&policy, text);
	open_at(&limiter, &policy, START);
	for (uint32_t i = 0; i < 1000; i++) {
		frame_of(&frame, 0x0b000000 + i, 60);
		send_frame(&limiter, &frame);
	}
	assert_int_equal(packets_passed(&limiter), 409 / entries);
	assert_int_equal(packets_of(&limiter, REASON_GATE_CLOSED), 1000 - 409 / entries);
	frame_of(&frame, 0x0b000000, 60);
	assert_int_equal(send_many(&limiter, &frame, 9), 9);
	limiter_close(&limiter);
}

static void gate(void **state)
{
	(void)state;
	gate_on_request("", 1);
	gate_on_request(", {name: y, rate: 20 pps, burst: 20}", 2);
}

/* ---- refreshes --------------------------------------------------------------------------------- */

struct churn {
	struct limiter *limiter;
	uint32_t packets;
	uint64_t passed[WORKERS];
};

static void send_three(struct worker *worker)
{
	struct churn *churn = worker->context;
	struct frame frames[3];

	for (uint32_t i = 0; i < COUNT(frames); i++)
		frame_of(&frames[i], 0xc0000201 + i, 60);
	for (uint32_t i = 0; i < churn->packets; i++)
		churn->passed[worker->index] += send_frame(churn->limiter,
							   &frames[i % COUNT(frames)]) == XDP_PASS;
}

/* 50 ms a packet and a refresh each second: both CPUs run into it while the other charges. */
static void refreshes_race(void **state)
{
	struct policy policy = flat_policy("2 pps", "2", ONE_BLOCK);
	struct worker workers[WORKERS];
	struct limiter limiter;
	struct churn churn = {.limiter = &limiter, .packets = repeats(200000, 5000)};
	uint64_t passed, most;

	(void)state;
	open_at(&limiter, &policy, START);
	clock_step(&limiter, 50000000);
	run_on_two_cpus(send_three, &churn, workers);
	passed = churn.passed[0] + churn.passed[1];
	most = 3 * (2 + 2 * (clock_now(&limiter) - START) / SECOND);
	print_message("# %lu of at most %lu passed\n", passed, most);
	assert_in_range(passed, most - most / 1000, most);
	limiter_close(&limiter);
}

/* A CPU that was held up for long after it read its clock: everything looks ahead by spans. */
static void held_up(void **state)
{
	static const uint64_t delays_ns[] = {SECOND, 3 * SECOND, 40 * SECOND, 600 * SECOND,
					     9999 * SECOND};
	struct policy policy = flat_policy("10 pps", "10", ONE_BLOCK);
	struct limiter limiter;
	struct frame frame;

	(void)state;
	frame_of(&frame, 0xc0000201, 60);
	open_at(&limiter, &policy, 100000 * SECOND);
	for (size_t i = 0; i < COUNT(delays_ns); i++) {
		clock_advance(&limiter, 3600 * SECOND);
		assert_int_equal(send_many(&limiter, &frame, 20), 10);
		/* It reads the clock as it was, and if it reads again, as it is. */
		clock_advance(&limiter, -delays_ns[i]);
		clock_step(&limiter, delays_ns[i]);
		assert_int_equal(send_frame(&limiter, &frame), XDP_DROP);
		clock_step(&limiter, 0);
		clock_set(&limiter, 100000 * SECOND + (i + 1) * 3600 * SECOND);
		assert_int_equal(send_many(&limiter, &frame, 20), 0);
	}
	limiter_close(&limiter);
}

/* Words that nobody wrote under this limit admit nothing, and are back after one burst. */
static void foreign_words(void **state)
{
	struct policy policy = flat_policy("10 pps", "10", ONE_BLOCK);
	struct limiter limiter;
	struct flat_block block;
	struct frame frame;
	uint64_t seed = 3;

	(void)state;
	frame_of(&frame, 0xc0000201, 60);
	open_at(&limiter, &policy, START);
	for (int round = 0; round < 200; round++) {
		clock_advance(&limiter, 3600 * SECOND);
		read_block(&limiter, 0, &block);
		block.refreshed_ns = clock_now(&limiter);
		for (int i = 0; i < FLAT_SLOTS; i++)
			block.words[i] = random_next(&seed);
		write_block(&limiter, 0, &block);
		assert_in_range(send_many(&limiter, &frame, 30), 0, 10);
		clock_advance(&limiter, 3600 * SECOND);
		assert_int_equal(send_many(&limiter, &frame, 30), 10);
	}
	limiter_close(&limiter);
}

/* ---- records ----------------------------------------------------------------------------------- */

struct totals_of {
	uint64_t sources, dropped;
};

static int add_bucket(const struct bucket *bucket, void *context)
{
	struct totals_of *listing = context;

	listing->sources++;
	listing->dropped += bucket->tally.dropped_packets;
	return 0;
}

static void counts_every_loss(void **state)
{
	struct policy policy = flat_policy("10 pps", "10", 65536);
	struct totals_of listing = {0};
	struct limiter limiter;
	struct bucket bucket;
	struct frame frame;

	(void)state;
	open_at(&limiter, &policy, START);
	for (int round = 0; round < 40; round++)
		for (uint32_t i = 0; i < 100; i++) {
			frame_of(&frame, 0x0b000000 + i, 60);
			send_frame(&limiter, &frame);
			clock_advance(&limiter, 1000);
		}
	/* One that is within its limit has no record. */
	frame_of(&frame, 0xc0000201, 60);
	assert_int_equal(send_many(&limiter, &frame, 5), 5);
	assert_int_equal(read_buckets(&limiter.running, add_bucket, &listing), 0);
	assert_int_equal(listing.sources, 100);
	assert_int_equal(listing.dropped, 100 * 30);
	source_of(&limiter, "11.0.0.42", &bucket);
	assert_int_equal(bucket.tally.dropped_packets, 30);
	assert_int_equal(bucket.tally.dropped_bytes, 30 * 60);
	source_of(&limiter, "192.0.2.1", &bucket);
	assert_int_equal(bucket.tally.dropped_packets, 0);
	assert_false(has_source(&limiter, "192.0.2.99"));
	limiter_close(&limiter);
}

/* More sources than lines and than time for their records: what they lose is counted all the same. */
static void floods_are_counted(void **state)
{
	struct policy policy = flat_policy("1 pps", "1", 1 << 20);
	struct counters counters;
	struct totals_of listing = {0};
	struct limiter limiter;
	struct frame frame;

	(void)state;
	open_at(&limiter, &policy, START);
	for (int round = 0; round < 4; round++)
		for (uint32_t i = 0; i < 20000; i++) {
			frame_of(&frame, 0x0b000000 + i, 60);
			send_frame(&limiter, &frame);
		}
	counters_of(&limiter, &counters);
	assert_int_equal(read_buckets(&limiter.running, add_bucket, &listing), 0);
	print_message("# %lu sources of 20000 listed, %llu of %llu losses not recorded\n",
		      listing.sources, counters.events.unrecorded,
		      counters.limits[0].tally.dropped_packets);
	assert_int_equal(counters.limits[0].tally.dropped_packets, 60000);
	assert_int_equal(listing.dropped + counters.events.unrecorded, 60000);
	assert_true(listing.sources > 1000 && counters.events.unrecorded > 0);
	limiter_close(&limiter);
}

/* Whatever the time: an old word, one that never was, one that was freed. */
static void reads_as_a_packet_finds(void **state)
{
	struct policy policy = flat_policy("1000 pps", "1000", 65536);
	struct limit_state now;
	struct limiter limiter;
	struct address address;
	struct complaint why;
	struct frame frame;
	uint64_t seed = 6;

	(void)state;
	frame_of(&frame, 0xc0000201, 60);
	assert_int_equal(parse_address("192.0.2.1", &address, &why), 0);
	open_at(&limiter, &policy, START);
	for (uint32_t round = repeats(2000, 20); round; round--) {
		assert_int_equal(send_many(&limiter, &frame, 1001), 1000);
		if (round % 3 == 0)
			assert_int_equal(reset_source(&limiter.running, &address), 0);
		clock_advance(&limiter, SECOND + random_magnitude(&seed, 38));
		state_of(&limiter, "192.0.2.1", 0, &now);
		assert_int_equal(now.remaining, 1000);
		state_of(&limiter, "198.51.100.1", 0, &now);
		assert_int_equal(now.remaining, 1000);
	}
	limiter_close(&limiter);
}

static void reset_frees(void **state)
{
	struct policy policy = flat_policy("10 pps", "10", 65536);
	struct limiter limiter;
	struct bucket bucket;
	struct address address;
	struct complaint why;
	struct frame frame;

	(void)state;
	frame_of(&frame, 0xc0000201, 60);
	open_at(&limiter, &policy, START);
	assert_int_equal(send_many(&limiter, &frame, 30), 10);
	assert_int_equal(parse_address("192.0.2.1", &address, &why), 0);
	assert_int_equal(reset_source(&limiter.running, &address), 0);
	assert_false(has_source(&limiter, "192.0.2.1"));
	assert_int_equal(send_many(&limiter, &frame, 30), 10);
	source_of(&limiter, "192.0.2.1", &bucket);
	assert_int_equal(bucket.tally.dropped_packets, 20);
	assert_int_equal(reset_sources(&limiter.running), 1);
	assert_int_equal(send_many(&limiter, &frame, 25), 10);
	source_of(&limiter, "192.0.2.1", &bucket);
	assert_int_equal(bucket.tally.dropped_packets, 15);
	limiter_close(&limiter);
}

/* ---- several limits, other policies ------------------------------------------------------------ */

/* All or nothing; the interface's limit has its word elsewhere. */
static void stacked(void **state)
{
	struct policy policy;
	struct counters counters;
	struct limit_state now;
	struct limiter limiter;
	struct frame frame;

	(void)state;
	yaml_policy(&policy, "table: {type: flat}\n"
			     "tiers: [{name: pro, sources: [11.0.0.0/8]}]\n"
			     "limits:\n"
			     "  - {name: packets, rate: 100 pps, burst: 50, tiers: {pro: {rate: "
			     "200 pps, burst: 150}}}\n"
			     "  - {name: bytes, rate: 6000 B/s, burst: 2400 B}\n"
			     "  - {name: watch, rate: 10 pps, burst: 5, mode: observe}\n"
			     "  - {name: total, per: interface, rate: 1000 pps, burst: 60}\n");
	open_at(&limiter, &policy, START);
	frame_of(&frame, 0xc0000201, 60);
	assert_int_equal(send_many(&limiter, &frame, 100), 40); /* 2400 B */
	state_of(&limiter, "192.0.2.1", 0, &now);
	counters_of(&limiter, &counters);
	for (unsigned int i = 0; i < limiter.running.config.limit_count; i++) {
		const char *name = limiter.running.config.labels[i].name;
		uint8_t id = limiter.running.config.limits[i].id;

		state_of(&limiter, "192.0.2.1", i, &now);
		if (!strcmp(name, "packets"))
			assert_int_equal(now.remaining, 10);
		else if (!strcmp(name, "total"))
			assert_int_equal(now.remaining, 20);
		else if (!strcmp(name, "watch"))
			assert_int_equal(counters.limits[id].would_drop_packets, 35);
		else
			assert_int_equal(counters.limits[id].tally.dropped_packets, 60);
	}
	/* A source of the tier, small packets no more: the interface's room ends it. */
	frame_of(&frame, 0x0b000001, 60);
	assert_int_equal(send_many(&limiter, &frame, 100), 20);
	assert_int_equal(packets_of(&limiter, REASON_OVER_LIMIT), 60 + 80);
	limiter_close(&limiter);
}

/* Slots go on under another rate; what they can't hold needs another table. */
static void keeps_slots(void **state)
{
	struct policy policy = flat_policy("100 pps", "100", 65536);
	struct policy doubled = flat_policy("200 pps", "100", 65536);
	struct policy longer = flat_policy("1 pps", "10000", 65536);
	struct limiter first, second;
	struct table_identity table;
	struct complaint why;
	struct frame frame;

	(void)state;
	frame_of(&frame, 0xc0000201, 60);
	open_at(&first, &policy, START);
	assert_int_equal(send_many(&first, &frame, 200), 100);
	limiter_reopen(&second, &first, &doubled);
	assert_int_equal(send_many(&second, &frame, 200), 0);
	clock_advance(&second, SECOND / 10);
	assert_int_equal(send_many(&second, &frame, 200), 20);
	table = first.table;
	assert_int_equal(table_extend(&longer, &table, &why), -ESTALE);
	limiter_close(&second);
	limiter_close(&first);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(no_source_twice),
		cmocka_unit_test(no_source_twice_in_one_block),
		cmocka_unit_test(full_inherit),
		cmocka_unit_test(full_pass),
		cmocka_unit_test(gate),
		cmocka_unit_test(full_drop),
		cmocka_unit_test(full_stacked),
		cmocka_unit_test(full_and_banning),
		cmocka_unit_test(reads_as_a_packet_finds),
		cmocka_unit_test(refreshes_race),
		cmocka_unit_test(held_up),
		cmocka_unit_test(foreign_words),
		cmocka_unit_test(counts_every_loss),
		cmocka_unit_test(floods_are_counted),
		cmocka_unit_test(reset_frees),
		cmocka_unit_test(stacked),
		cmocka_unit_test(keeps_slots),
	};
	struct CMUnitTest tests[COUNT(twins) + COUNT(slows) + COUNT(contentions) + COUNT(cases)];
	struct CMUnitTest *test = tests;

	for (size_t i = 0; i < COUNT(twins); i++)
		*test++ = (struct CMUnitTest){.name = twins[i].name,
					      .test_func = judges_as_a_group,
					      .initial_state = (void *)&twins[i]};
	for (size_t i = 0; i < COUNT(slows); i++)
		*test++ = (struct CMUnitTest){.name = slows[i].name,
					      .test_func = keeps_slow_bounds,
					      .initial_state = (void *)&slows[i]};
	for (size_t i = 0; i < COUNT(contentions); i++)
		*test++ = (struct CMUnitTest){.name = contentions[i].name,
					      .test_func = contended,
					      .initial_state = (void *)&contentions[i]};
	memcpy(test, cases, sizeof(cases));
	return cmocka_run_group_tests_name("flat", tests, NULL, NULL);
}
