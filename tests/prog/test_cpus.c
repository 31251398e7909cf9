// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Two CPUs on one source at the same moment: never too much, hardly less, everything counted. */
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
#include "prog.h"
#include "threads.h"
#include "units.h"

__extension__ typedef unsigned __int128 u128;

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SECOND	 NS_PER_SECOND
#define START	 (1000 * SECOND + 7)
#define MILLION	 1000000U

static void make_frame(struct frame *frame, uint32_t length)
{
	frame_start(frame);
	frame_ethernet(frame);
	frame_ipv4(frame);
	frame_udp(frame);
	frame_pad_to(frame, length);
	frame_finish(frame);
}

/* ---- one source, both CPUs ------------------------------------------------------------------- */

/* What both CPUs send: @repeat packets each, in one call. */
struct load {
	struct limiter *limiter;
	struct frame frame;
	uint32_t repeat;
};

static void send_load(struct worker *worker)
{
	const struct load *load = worker->context;

	send_repeated(load->limiter, &load->frame, load->repeat);
}

static void sum_tallies(const struct limiter *limiter, unsigned int limit, struct tally *sum)
{
	struct bucket buckets[MAX_LIMITS];
	struct address source;
	struct complaint why;

	assert_int_equal(parse_address(CLIENT4, &source, &why), 0);
	assert_int_equal(read_source(&limiter->running, &source, buckets), 0);
	*sum = buckets[limit].tally;
}

struct contention {
	const char *name;
	const char *rate, *burst;	    /* packets */
	const char *byte_rate, *byte_burst; /* NULL: packets alone */
	uint32_t length;
	uint64_t step_ns;  /* between two packets, of any CPU; 0: the boot clock */
	uint32_t millions; /* on each CPU */
};

/*
 * Five million packets on each CPU under a clock that moves on with each packet, so that the bound
 * is exact; and the program that is attached, on the boot clock. The rates lie below what one CPU
 * sends, else nothing would be dropped; on the boot clock their bursts last longer than a busy
 * machine keeps both CPUs away. Bursts: roomy ones are charged by addition, tight ones by
 * compare-and-swap.
 */
static const struct contention contentions[] = {
	{"one limit, roomy burst", "1 Mpps", "1000", NULL, NULL, 60, 100, 5},
	{"one limit, tight burst", "1 Mpps", "5", NULL, NULL, 60, 100, 5},
	{"one limit, most packets pass", "9 Mpps", "100", NULL, NULL, 60, 100, 5},
	{"one limit, idle again and again", "11 Mpps", "100", NULL, NULL, 60, 100, 5},
	{"one limit, attachable program", "500000 pps", "100000", NULL, NULL, 60, 0, 5},
	{"one limit, slow rate, attachable program", "100000 pps", "20000", NULL, NULL, 60, 0, 5},
	{"two limits, packets tighter", "1 Mpps", "100", "800 Mbit/s", "60000 B", 60, 100, 5},
	{"two limits, bytes tighter", "2 Mpps", "200", "480 Mbit/s", "6000 B", 60, 100, 5},
	{"two limits, equally tight", "1 Mpps", "100", "480 Mbit/s", "6000 B", 60, 100, 5},
	{"two limits, attachable program", "300000 pps", "60000", "120 Mbit/s", "3000000 B", 60, 0,
	 5},
};

static struct policy contention_policy(const struct contention *row)
{
	struct policy policy = packet_policy(row->rate, row->burst);

	if (row->byte_rate)
		add_byte_limit(&policy, row->byte_rate, row->byte_burst);
	return policy;
}

struct expectation {
	uint64_t most;	   /* admitted packets that all limits together allow */
	uint64_t expected; /* the same less what is still left in the buckets */
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * From before the first packet to after the last. On the boot clock the CPUs start and end some
 * milliseconds apart: so what a bucket gained before its first packet is no loss, and neither is
 * what it has left at the end.
 */
static struct expectation expect(const struct limiter *limiter, uint32_t length, uint64_t begun,
				 uint64_t ended)
{
	struct expectation result = {UINT64_MAX, UINT64_MAX};
	struct limit_state state;
	struct bucket first;

	source_of(limiter, CLIENT4, &first);
	for (unsigned int i = 0; i < limiter->running.config.limit_count; i++) {
		const struct limit_label *label = &limiter->running.config.labels[i];
		bool bytes = limiter->running.config.limits[i].unit == UNIT_BYTES;
		u128 before = (u128)label->amount * (first.born_ns - begun) / label->per_ns;
		u128 units = (u128)label->amount * (ended - begun) / label->per_ns + label->burst;

		state_of(limiter, CLIENT4, i, &state);
		result.most = least(result.most, units / (bytes ? length : 1));
		result.expected = least(result.expected,
					(units - before - state.remaining) / (bytes ? length : 1));
	}
	return result;
}

/* Every packet is in the counters and in the tallies, what CPUs still cache included. */
static void check_sums(const struct limiter *limiter, const struct load *load, uint64_t sent,
		       uint64_t passed)
{
	struct tally total = {0}, tally;

	assert_int_equal(packets_seen(limiter), sent);
	for (unsigned int i = 0; i < limiter->running.config.limit_count; i++) {
		sum_tallies(limiter, i, &tally);
		assert_int_equal(tally.passed_packets, passed);
		assert_int_equal(tally.passed_bytes, passed * load->frame.length);
		assert_int_equal(tally.dropped_bytes, tally.dropped_packets * load->frame.length);
		total.dropped_packets += tally.dropped_packets;
	}
	assert_int_equal(passed + total.dropped_packets, sent);
}

static void check_races(const struct limiter *limiter, uint64_t passed)
{
	struct counters counters;

	counters_of(limiter, &counters);
	print_message("# %llu charges not undone\n", (unsigned long long)counters.events.undo_lost);
	if (counters.events.undo_lost > passed / 10000)
		fail_msg("%llu charges not undone for %llu admitted packets",
			 (unsigned long long)counters.events.undo_lost, (unsigned long long)passed);
	assert_int_equal(counters.events.repaired, 0);
}

static void open_contended(struct limiter *limiter, const struct contention *row,
			   const struct policy *policy)
{
	if (!row->step_ns) {
		limiter_open_attachable(limiter, policy, NULL);
		return;
	}
	limiter_open(limiter, policy, NULL);
	clock_set(limiter, START);
	clock_step(limiter, row->step_ns);
}

static void check_bound(const struct contention *row, uint64_t passed,
			const struct expectation *bound)
{
	uint64_t expected = least(bound->expected, 2ULL * row->millions * MILLION);

	print_message("# %llu passed, at most %llu, expected %llu\n", (unsigned long long)passed,
		      (unsigned long long)bound->most, (unsigned long long)expected);
	if (passed > bound->most)
		fail_msg("%llu too many passed", (unsigned long long)(passed - bound->most));
	if (passed + expected / 1000 < expected)
		fail_msg("more than 0.1 %% too few passed");
}

static void test_contention(void **state)
{
	const struct contention *row = *state;
	struct policy policy = contention_policy(row);
	struct worker workers[WORKERS];
	struct limiter limiter;
	struct load load = {.limiter = &limiter, .repeat = row->millions * MILLION};
	struct expectation bound;
	uint64_t begun, ended, passed;

	make_frame(&load.frame, row->length);
	open_contended(&limiter, row, &policy);
	begun = clock_now(&limiter);
	run_on_two_cpus(send_load, &load, workers);
	ended = clock_now(&limiter) - row->step_ns;
	passed = packets_passed(&limiter);
	bound = expect(&limiter, row->length, begun, ended);
	check_bound(row, passed, &bound);
	check_sums(&limiter, &load, 2ULL * load.repeat, passed);
	check_races(&limiter, passed);
	limiter_close(&limiter);
}

/* ---- field cases ----------------------------------------------------------------------------- */

static void test_o033(void **state)
{
	struct policy policy = packet_policy("1000pps", "1000");
	struct worker workers[WORKERS];
	struct limiter limiter;
	struct load load = {.limiter = &limiter, .repeat = MILLION};
	uint64_t begun, passed;

	(void)state;
	frame_named(&load.frame, P4U);
	limiter_open_attachable(&limiter, &policy, NULL);
	begun = clock_now(&limiter);
	run_on_two_cpus(send_load, &load, workers);
	passed = packets_passed(&limiter);
	assert_true(passed <= 1000 + (clock_now(&limiter) - begun) / 1000000);
	check_sums(&limiter, &load, 2 * MILLION, passed);
	limiter_close(&limiter);
}

/* One interval's room, two CPUs that grab it: admitted once. */
static void test_o041(void **state)
{
	struct policy policy = packet_policy("1 Mpps", "1");
	struct worker workers[WORKERS];
	struct limiter limiter;
	struct load load = {.limiter = &limiter, .repeat = 1500000};
	uint64_t passed, most = 1 + 3000000 * 50 / 1000;

	(void)state;
	frame_named(&load.frame, P4U);
	limiter_open(&limiter, &policy, NULL);
	clock_set(&limiter, START);
	clock_step(&limiter, 50);
	run_on_two_cpus(send_load, &load, workers);
	passed = packets_passed(&limiter);
	/* A burst of one can't keep what a packet that came late leaves of its interval. */
	assert_in_range(passed, most - most / 100, most);
	limiter_close(&limiter);
}

#define ROUNDS 10000

/* Both CPUs bring the first packet of a source; in between one of them forgets the source. */
struct creation {
	struct load load;
	struct meeting meeting;
	struct bucket_key key;
	unsigned int wrong; /* rounds in which not both packets were charged to one bucket */
};

static bool charged_twice(const struct creation *creation)
{
	const struct limiter *limiter = creation->load.limiter;
	const struct limit *limit = &limiter->running.config.limits[0];
	struct group_1 group;

	if (bpf_map_lookup_elem(limiter->running.maps[MAP_BUCKETS], &creation->key, &group))
		return false;
	return group.words[0] == (START << limit->tick) + 2 * limit->multiplier &&
	       !bpf_map_delete_elem(limiter->running.maps[MAP_BUCKETS], &creation->key);
}

static void create_at_once(struct worker *worker)
{
	struct creation *creation = worker->context;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		meet(&creation->meeting);
		send_load(&(struct worker){.context = &creation->load});
		meet(&creation->meeting);
		if (!worker->index)
			creation->wrong += !charged_twice(creation);
	}
}

static void test_o034(void **state)
{
	struct policy policy = packet_policy("1/h", "100");
	struct worker workers[WORKERS];
	struct counters counters;
	struct limiter limiter;
	struct creation creation = {.load = {.limiter = &limiter, .repeat = 1}};

	(void)state;
	frame_named(&creation.load.frame, P4U);
	limiter_open(&limiter, &policy, NULL);
	clock_set(&limiter, START);
	key_of(&limiter, CLIENT4, &creation.key);
	run_on_two_cpus(create_at_once, &creation, workers);
	counters_of(&limiter, &counters);
	print_message("# both created it in %llu of %u rounds\n",
		      (unsigned long long)counters.events.create_raced, ROUNDS);
	assert_int_equal(creation.wrong, 0);
	assert_int_equal(counters.events.created, ROUNDS);
	assert_int_equal(counters.events.insert_failures, 0);
	assert_int_equal(packets_passed(&limiter), 2 * ROUNDS);
	limiter_close(&limiter);
}

/* ---- several sources at once ----------------------------------------------------------------- */

/* Each CPU sends from all sources in turn, both in the same order, so that they meet often. */
struct spread {
	struct limiter *limiter;
	uint32_t sources, rounds;
};

static void spread_source(struct frame *frame, uint32_t index)
{
	uint32_t address = htonl(0xc6120000U + index); /* 198.18.0.0/15 */

	memcpy(frame->bytes + 14 + 12, &address, sizeof(address));
}

static void send_spread(struct worker *worker)
{
	const struct spread *spread = worker->context;
	struct frame frame;

	make_frame(&frame, 60);
	for (uint32_t i = 0; i < spread->sources * spread->rounds; i++) {
		spread_source(&frame, i % spread->sources);
		send_repeated(spread->limiter, &frame, 1);
	}
}

struct sums {
	uint64_t buckets, wrong;
	struct tally tally;
	uint64_t sent, passed; /* expected of each bucket */
};

static int add_bucket(const struct bucket *bucket, void *context)
{
	const struct tally *tally = &bucket->tally;
	struct sums *sums = context;

	sums->buckets++;
	sums->tally.passed_packets += tally->passed_packets;
	sums->tally.dropped_packets += tally->dropped_packets;
	if (tally->passed_packets + tally->dropped_packets != sums->sent ||
	    tally->passed_packets != sums->passed ||
	    tally->passed_bytes < 14 * tally->passed_packets ||
	    tally->dropped_bytes < 14 * tally->dropped_packets)
		sums->wrong++;
	return 0;
}

static const struct spread_case {
	const char *name;
	uint32_t sources, rounds;
} spreads[] = {
	{"O-110: 1 source on two CPUs: tallies exact, bytes >= 14 * packets", 1, 100000},
	{"O-110: 64 sources on two CPUs: tallies exact, bytes >= 14 * packets", 64, 2000},
	{"O-110: 1024 sources on two CPUs: tallies exact, bytes >= 14 * packets", 1024, 120},
	{"O-110: 65536 sources on two CPUs: tallies exact, bytes >= 14 * packets", 65536, 3},
};

static void test_spread(void **state)
{
	const struct spread_case *row = *state;
	struct policy policy = packet_policy("1/h", "4");
	struct worker workers[WORKERS];
	struct limiter limiter;
	struct spread spread = {&limiter, row->sources, row->rounds};
	struct sums sums = {.sent = 2ULL * row->rounds, .passed = 4};
	uint64_t sent = sums.sent * row->sources;

	(void)state;
	policy.sources = 131072; /* none is to be evicted */
	limiter_open(&limiter, &policy, NULL);
	clock_set(&limiter, START);
	run_on_two_cpus(send_spread, &spread, workers);
	assert_int_equal(packets_seen(&limiter), sent);
	assert_int_equal(read_buckets(&limiter.running, add_bucket, &sums), 0);
	assert_int_equal(sums.buckets, row->sources);
	assert_int_equal(sums.tally.passed_packets, packets_passed(&limiter));
	assert_int_equal(sums.tally.passed_packets + sums.tally.dropped_packets, sent);
	assert_int_equal(sums.wrong, 0);
	limiter_close(&limiter);
}

#define CASE(name_, function)                        \
	{                                            \
		.name = name_, .test_func = function \
	}

static const struct CMUnitTest cases[] = {
	CASE("O-033: two million packets on two CPUs are all counted, the limit holds", test_o033),
	CASE("O-034: two first packets at once are both charged to one bucket", test_o034),
	CASE("O-041: no interval is spent twice by two CPUs", test_o041),
};

int main(void)
{
	struct CMUnitTest tests[COUNT(contentions) + COUNT(spreads) + COUNT(cases)];
	struct CMUnitTest *test = tests;

	for (size_t i = 0; i < COUNT(contentions); i++)
		*test++ = (struct CMUnitTest){.name = contentions[i].name,
					      .test_func = test_contention,
					      .initial_state = (void *)&contentions[i]};
	for (size_t i = 0; i < COUNT(spreads); i++)
		*test++ = (struct CMUnitTest){.name = spreads[i].name,
					      .test_func = test_spread,
					      .initial_state = (void *)&spreads[i]};
	memcpy(test, cases, sizeof(cases));
	return cmocka_run_group_tests_name("cpus", tests, NULL, NULL);
}
