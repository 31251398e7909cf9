// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of buckets: what it keeps, what it lists, what it forgets, and that this adds up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include "prog.h"
#include "threads.h"
#include "units.h"

#define COUNT(a)     (sizeof(a) / sizeof((a)[0]))
#define SECOND	     NS_PER_SECOND
#define START	     (1000 * SECOND + 7)
#define FIRST_SOURCE 0xc6120000U /* 198.18.0.0/15 */

/* ---- many sources ---------------------------------------------------------------------------- */

static void make_frame(struct frame *frame)
{
	frame_start(frame);
	frame_ethernet(frame);
	frame_ipv4(frame);
	frame_udp(frame);
	frame_pad_to(frame, 60);
	frame_finish(frame);
}

/* The program reads no checksum. */
static int send_from(struct limiter *limiter, struct frame *frame, uint32_t index)
{
	uint32_t address = htonl(FIRST_SOURCE + index);

	memcpy(frame->bytes + 14 + 12, &address, sizeof(address));
	return send_frame(limiter, frame);
}

static uint32_t index_of(const struct address *source)
{
	uint32_t address;

	memcpy(&address, source->bytes + 12, sizeof(address));
	return ntohl(address) - FIRST_SOURCE;
}

static void address_of(uint32_t index, struct address *source)
{
	uint32_t address = htonl(FIRST_SOURCE + index);

	*source = (struct address){.bytes = {[10] = 0xff, [11] = 0xff}};
	memcpy(source->bytes + 12, &address, sizeof(address));
}

static void open_table(struct limiter *limiter, uint64_t sources, enum when_full when_full)
{
	struct policy policy = packet_policy("1/h", "100");

	policy.sources = sources;
	policy.when_full = when_full;
	policy.when_full_given = true;
	limiter_open(limiter, &policy, NULL);
	clock_set(limiter, START);
}

static void fill(struct limiter *limiter, uint32_t first, uint32_t count)
{
	struct frame frame;

	make_frame(&frame);
	for (uint32_t i = first; i < first + count; i++)
		send_from(limiter, &frame, i);
}

/* How often each source was listed. */
struct seen_sources {
	uint8_t *times;
	uint32_t capacity;
	uint64_t listed, twice, strange;
};

static int note(const struct bucket *bucket, void *context)
{
	struct seen_sources *listing = context;
	uint32_t index = index_of(&bucket->source);

	listing->listed++;
	if (index >= listing->capacity)
		listing->strange++;
	else if (listing->times[index]++)
		listing->twice++;
	return 0;
}

/* Whether read_source() says the same as the walk. */
struct agreement {
	const struct limiter *limiter;
	uint64_t different;
};

static int compare(const struct bucket *bucket, void *context)
{
	struct agreement *agreement = context;
	struct bucket buckets[MAX_LIMITS];

	if (read_source(&agreement->limiter->running, &bucket->source, buckets) ||
	    memcmp(&buckets[0].tally, &bucket->tally, sizeof(bucket->tally)) ||
	    buckets[0].word != bucket->word || buckets[0].born_ns != bucket->born_ns)
		agreement->different++;
	return 0;
}

static void list(const struct limiter *limiter, uint32_t capacity, struct seen_sources *listing)
{
	*listing = (struct seen_sources){.times = calloc(capacity, 1), .capacity = capacity};
	assert_non_null(listing->times);
	assert_int_equal(read_buckets(&limiter->running, note, listing), 0);
	free(listing->times);
	assert_int_equal(listing->twice, 0);
	assert_int_equal(listing->strange, 0);
}

/* created = deleted + used + evicted, and nothing is evicted from where nothing was. */
static uint64_t evicted(const struct limiter *limiter)
{
	int64_t used = count_entries(&limiter->running);
	struct counters counters;
	uint64_t deleted;

	counters_of(limiter, &counters);
	assert_int_equal(read_deleted(&limiter->running, &deleted), 0);
	assert_true(used >= 0 && used <= limiter->table.capacity);
	assert_true(counters.events.created >= deleted + used);
	return counters.events.created - deleted - used;
}

/* ---- evicting -------------------------------------------------------------------------------- */

static void overfill(enum when_full when_full)
{
	struct counters counters;
	struct limiter limiter;

	open_table(&limiter, 1024, when_full);
	stay_on_cpu(0);
	fill(&limiter, 0, 4096);
	leave_cpu();
	counters_of(&limiter, &counters);
	assert_int_equal(packets_of(&limiter, REASON_TABLE_FULL), counters.events.insert_failures);
	assert_int_equal(packets_of(&limiter, REASON_CONFORMING) + counters.events.insert_failures,
			 4096);
	assert_int_equal(counters.events.created + counters.events.insert_failures, 4096);
	assert_true(evicted(&limiter) >= 4096 - 1024 - counters.events.insert_failures);
	limiter_close(&limiter);
}

static void test_o003(void **state)
{
	(void)state;
	overfill(WHEN_FULL_PASS);
	overfill(WHEN_FULL_DROP);
}

static void test_o006(void **state)
{
	struct seen_sources listing;
	struct limiter limiter;

	(void)state;
	open_table(&limiter, SOURCES_MIN, WHEN_FULL_PASS);
	fill(&limiter, 0, 16);
	list(&limiter, 16, &listing);
	assert_int_equal(listing.listed, 16);
	assert_int_equal(evicted(&limiter), 0);
	limiter_close(&limiter);
}

#define HOT 100000 /* its index, beyond the new ones */

static void test_o007(void **state)
{
	struct bucket buckets[MAX_LIMITS];
	struct limiter limiter;
	struct address hot;
	struct frame frame;
	uint64_t born = 0, sent = 0, passed = 0;

	(void)state;
	make_frame(&frame);
	address_of(HOT, &hot);
	open_table(&limiter, 1024, WHEN_FULL_PASS);
	for (uint32_t i = 0; i < 10000; i++) {
		clock_advance(&limiter, 1);
		send_from(&limiter, &frame, i);
		if (i % 8)
			continue;
		passed += send_from(&limiter, &frame, HOT) == XDP_PASS;
		sent++;
		assert_int_equal(read_source(&limiter.running, &hot, buckets), 0);
		born = born ?: buckets[0].born_ns;
		assert_int_equal(buckets[0].born_ns, born);
		assert_int_equal(buckets[0].tally.passed_packets + buckets[0].tally.dropped_packets,
				 sent);
	}
	assert_int_equal(passed, 100); /* the burst, and no time to speak of */
	assert_true(evicted(&limiter) >= 10000 - 1024);
	limiter_close(&limiter);
}

static void test_o008(void **state)
{
	static const uint32_t sizes[] = {1024, 4096, 65536};
	struct seen_sources listing;
	struct limiter limiter;

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		open_table(&limiter, sizes[i], WHEN_FULL_PASS);
		stay_on_cpu(0);
		fill(&limiter, 0, sizes[i]);
		leave_cpu();
		list(&limiter, sizes[i], &listing);
		assert_true(listing.listed >= sizes[i] * 95ULL / 100);
		assert_int_equal(evicted(&limiter), sizes[i] - listing.listed);
		limiter_close(&limiter);
	}
}

static void test_o013(void **state)
{
	struct limiter limiter;
	struct limit_state now;
	struct frame frame;

	(void)state;
	frame_named(&frame, P4U);
	open_table(&limiter, SOURCES_MIN, WHEN_FULL_PASS);
	for (unsigned int cpu = 0; cpu < WORKERS; cpu++) {
		stay_on_cpu(cpu);
		assert_int_equal(send_frame(&limiter, &frame), XDP_PASS);
	}
	leave_cpu();
	state_of(&limiter, CLIENT4, 0, &now);
	assert_int_equal(now.remaining, 100 - WORKERS);
	limiter_close(&limiter);
}

/* ---- listing --------------------------------------------------------------------------------- */

static void test_o103(void **state)
{
	static const uint32_t counts[] = {1, 2, 255, 256, 10000};
	struct seen_sources listing;
	struct limiter limiter;

	(void)state;
	for (size_t i = 0; i < COUNT(counts); i++) {
		struct agreement agreement = {.limiter = &limiter};

		open_table(&limiter, 65536, WHEN_FULL_PASS);
		fill(&limiter, 0, counts[i]);
		fill(&limiter, 0, 1); /* one has a part of its tally in a CPU's cache */
		list(&limiter, counts[i], &listing);
		assert_int_equal(listing.listed, counts[i]);
		assert_int_equal(count_entries(&limiter.running), counts[i]);
		if (counts[i] < 10000)
			assert_int_equal(read_buckets(&limiter.running, compare, &agreement), 0);
		assert_int_equal(agreement.different, 0);
		limiter_close(&limiter);
	}
}

struct deletion {
	struct limiter *limiter;
	uint32_t victim;
	unsigned int others;
};

static int delete_and_count(const struct bucket *bucket, void *context)
{
	struct deletion *deletion = context;
	struct address victim;

	address_of(deletion->victim, &victim);
	reset_source(&deletion->limiter->running, &victim);
	deletion->others += index_of(&bucket->source) != deletion->victim;
	return 0;
}

static void test_o104(void **state)
{
	struct seen_sources listing;
	struct limiter limiter;

	(void)state;
	open_table(&limiter, 65536, WHEN_FULL_PASS);
	fill(&limiter, 0, 1);
	list(&limiter, 1, &listing);
	assert_int_equal(listing.listed, 1);
	for (uint32_t victim = 0; victim < 3; victim++) {
		struct deletion deletion = {&limiter, victim, 0};

		fill(&limiter, 0, 3);
		assert_int_equal(read_buckets(&limiter.running, delete_and_count, &deletion), 0);
		assert_int_equal(deletion.others, 2);
		assert_int_equal(count_entries(&limiter.running), 2);
	}
	assert_int_equal(evicted(&limiter), 0);
	limiter_close(&limiter);
}

/* One worker makes and forgets sources until the other has walked the table so many times. */
struct churn {
	struct limiter *limiter;
	uint32_t sources, walks;
	atomic_bool done;
	uint8_t *times;
	uint64_t errors, twice, fewest, changes;
};

static void walk_all(struct churn *churn)
{
	for (uint32_t walk = 0; walk < churn->walks; walk++) {
		struct seen_sources listing = {.times = churn->times, .capacity = churn->sources};

		memset(churn->times, 0, churn->sources);
		churn->errors += !!read_buckets(&churn->limiter->running, note, &listing);
		churn->twice += listing.twice + listing.strange;
		if (listing.listed < churn->fewest)
			churn->fewest = listing.listed;
	}
	atomic_store(&churn->done, true);
}

static void change_all(struct churn *churn)
{
	struct address source;
	struct frame frame;

	make_frame(&frame);
	for (uint32_t i = 0; !atomic_load(&churn->done); i = (i + 7) % churn->sources) {
		address_of(i, &source);
		churn->errors += !!reset_source(&churn->limiter->running, &source);
		churn->errors += send_from(churn->limiter, &frame, i) != XDP_PASS;
		churn->changes++;
	}
}

static void churn_work(struct worker *worker)
{
	if (worker->index)
		change_all(worker->context);
	else
		walk_all(worker->context);
}

static void test_o105(void **state)
{
	struct churn churn = {.sources = 20000, .walks = 100, .fewest = UINT64_MAX};
	struct worker workers[WORKERS];
	struct limiter limiter;

	(void)state;
	open_table(&limiter, 65536, WHEN_FULL_PASS);
	fill(&limiter, 0, churn.sources);
	churn.limiter = &limiter;
	churn.times = calloc(churn.sources, 1);
	run_on_two_cpus(churn_work, &churn, workers);
	free(churn.times);
	print_message("# %llu changes during %u walks\n", (unsigned long long)churn.changes,
		      churn.walks);
	assert_int_equal(churn.errors, 0);
	assert_int_equal(churn.twice, 0);
	/* Only those that are away at the moment, or came behind the walk, may be missing. */
	assert_in_range(churn.fewest, churn.sources * 8 / 10, churn.sources);
	assert_true(churn.changes > 1000);
	assert_int_equal(evicted(&limiter), 0);
	limiter_close(&limiter);
}

/* ---- a large table --------------------------------------------------------------------------- */

#define LARGE	     1048576U
#define BATCH	     4096
#define READ_TIME_NS (2 * SECOND)

/* Through the map: a packet each would take longer than the rest of the test. */
static void fill_map(const struct limiter *limiter, uint32_t count)
{
	static struct bucket_key keys[BATCH];
	static struct group_1 groups[BATCH];

	for (uint32_t at = 0; at < count; at += BATCH) {
		uint32_t batch = BATCH;

		for (uint32_t i = 0; i < BATCH; i++) {
			struct address source;

			address_of(at + i, &source);
			memcpy(keys[i].address, &source, sizeof(source));
			groups[i] = (struct group_1){.born_ns = START, .words = {START}};
		}
		assert_int_equal(bpf_map_update_batch(limiter->running.maps[MAP_BUCKETS], keys,
						      groups, &batch, NULL),
				 0);
	}
}

struct reading {
	struct churn churn;
	uint64_t took_ns;
};

/* What this thread has worked: the machine may be busy with other things as well. */
static uint64_t worked_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * SECOND + time.tv_nsec;
}

/* What comes behind the walk must not keep it going. */
static void read_while_busy(struct worker *worker)
{
	struct reading *reading = worker->context;
	struct churn *churn = &reading->churn;
	struct frame frame;
	uint64_t begun;

	if (!worker->index) {
		begun = worked_ns();
		walk_all(churn);
		reading->took_ns = worked_ns() - begun;
		return;
	}
	make_frame(&frame);
	for (uint32_t i = LARGE; !atomic_load(&churn->done); i++) {
		send_from(churn->limiter, &frame, i);
		churn->changes++;
	}
}

static void test_large(void **state)
{
	struct reading reading = {
		.churn = {.sources = 16 * LARGE, .walks = 1, .fewest = UINT64_MAX}};
	struct worker workers[WORKERS];
	struct limiter limiter;

	(void)state;
	open_table(&limiter, LARGE, WHEN_FULL_PASS);
	fill_map(&limiter, LARGE);
	reading.churn.limiter = &limiter;
	reading.churn.times = calloc(reading.churn.sources, 1);
	run_on_two_cpus(read_while_busy, &reading, workers);
	free(reading.churn.times);
	print_message("# %llu of %u listed in %llu ms while %llu came\n",
		      (unsigned long long)reading.churn.fewest, LARGE,
		      (unsigned long long)(reading.took_ns / 1000000),
		      (unsigned long long)reading.churn.changes);
	assert_int_equal(reading.churn.errors, 0);
	assert_int_equal(reading.churn.twice, 0);
	/* What came meanwhile may stand before the walk or behind it. */
	assert_in_range(reading.churn.fewest, LARGE * 9ULL / 10, LARGE + reading.churn.changes);
	if (!emulated())
		assert_true(reading.took_ns < READ_TIME_NS);
	assert_true(reading.churn.changes > 100);
	limiter_close(&limiter);
}

/* ---- forgetting ------------------------------------------------------------------------------ */

static void test_reset_source(void **state)
{
	struct limiter limiter;
	struct address source;
	struct frame frame;
	unsigned int passed = 0;
	uint64_t deleted;

	(void)state;
	make_frame(&frame);
	address_of(5, &source);
	open_table(&limiter, 65536, WHEN_FULL_PASS);
	fill(&limiter, 0, 10);
	for (int i = 0; i < 200; i++)
		passed += send_from(&limiter, &frame, 5) == XDP_PASS;
	assert_int_equal(passed, 99);
	assert_int_equal(reset_source(&limiter.running, &source), 0);
	assert_int_not_equal(reset_source(&limiter.running, &source), 0);
	for (int i = 0; i < 200; i++)
		passed += send_from(&limiter, &frame, 5) == XDP_PASS;
	assert_int_equal(passed, 199);
	assert_int_equal(read_deleted(&limiter.running, &deleted), 0);
	assert_int_equal(deleted, 1);
	assert_int_equal(packets_seen(&limiter), 410); /* totals stay */
	assert_int_equal(evicted(&limiter), 0);
	limiter_close(&limiter);
}

/* A source that comes back under the same clock has none of its former life's counters. */
static void test_second_life(void **state)
{
	struct bucket buckets[MAX_LIMITS];
	struct limiter limiter;
	struct address source;
	struct frame frame;

	(void)state;
	make_frame(&frame);
	address_of(5, &source);
	open_table(&limiter, 65536, WHEN_FULL_PASS);
	for (int i = 0; i < 50; i++)
		send_from(&limiter, &frame, 5);
	assert_int_equal(reset_source(&limiter.running, &source), 0);
	clock_advance(&limiter, 1);
	send_from(&limiter, &frame, 5);
	assert_int_equal(read_source(&limiter.running, &source, buckets), 0);
	assert_int_equal(buckets[0].tally.passed_packets, 1);
	limiter_close(&limiter);
}

/* Every source and packet is accounted for although all is forgotten again and again. */
struct forgetting {
	struct limiter *limiter;
	uint32_t rounds;
	atomic_bool done;
	uint64_t errors, sent;
	int64_t deleted;
};

static void forget_work(struct worker *worker)
{
	struct forgetting *forgetting = worker->context;
	struct frame frame;

	if (worker->index) {
		make_frame(&frame);
		for (uint32_t i = 0; !atomic_load(&forgetting->done); i++, forgetting->sent++)
			send_from(forgetting->limiter, &frame, i % 1000);
		return;
	}
	for (uint32_t i = 0; i < forgetting->rounds; i++) {
		int64_t deleted = reset_sources(&forgetting->limiter->running);

		forgetting->errors += deleted < 0 ||
				      reset_counters(&forgetting->limiter->running) != 0;
		forgetting->deleted += deleted;
	}
	atomic_store(&forgetting->done, true);
}

static void test_reset_under_traffic(void **state)
{
	struct forgetting forgetting = {.rounds = 500};
	struct worker workers[WORKERS];
	struct counters raw;
	struct limiter limiter;
	uint64_t deleted, seen = 0;

	(void)state;
	open_table(&limiter, 65536, WHEN_FULL_PASS);
	forgetting.limiter = &limiter;
	run_on_two_cpus(forget_work, &forgetting, workers);
	assert_int_equal(forgetting.errors, 0);
	assert_int_equal(read_deleted(&limiter.running, &deleted), 0);
	assert_int_equal(deleted, forgetting.deleted);
	assert_int_equal(evicted(&limiter), 0);
	assert_int_equal(read_raw_counters(&limiter.running, &raw), 0);
	for (int i = 0; i < REASON_COUNT; i++)
		seen += raw.reasons[i].passed.packets + raw.reasons[i].dropped.packets;
	assert_int_equal(seen, forgetting.sent);
	assert_true(packets_seen(&limiter) <= forgetting.sent);
	assert_int_equal(reset_counters(&limiter.running), 0);
	assert_int_equal(packets_seen(&limiter), 0);
	fill(&limiter, 0, 3);
	assert_int_equal(packets_seen(&limiter), 3);
	limiter_close(&limiter);
}

#define CASE(name_, function)                        \
	{                                            \
		.name = name_, .test_func = function \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("O-003: four times as many sources as entries, from one CPU", test_o003),
		CASE("O-006: the smallest table keeps 16 sources", test_o006),
		CASE("O-007: a busy source keeps its bucket among 10 000 new ones", test_o007),
		CASE("O-008: one CPU alone fills 95 % of the table", test_o008),
		CASE("O-013: the second packet, on another CPU, meets the first one's bucket",
		     test_o013),
		CASE("O-103: each source is listed once, as read alone", test_o103),
		CASE("O-104: one source is listed; a deleted one hides no other", test_o104),
		CASE("O-105: sources that come and go break no listing and double none", test_o105),
		CASE("a million sources are listed within 2 s, however many come", test_large),
		CASE("a forgotten source has a full burst, others keep theirs", test_reset_source),
		CASE("a forgotten source comes back without its old counters", test_second_life),
		CASE("forgetting under traffic loses no packet and no entry",
		     test_reset_under_traffic),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
