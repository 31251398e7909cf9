// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The flat table in memory: looks up, counts and frees slots, and reads the records beside it. */
#include "kernel_flat.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "flat.h"
#include "kernel_residue.h"

#define BATCH 8192U

/* ---- memory shared with the program ---- */

struct mapped {
	void *memory;
	size_t size;
};

struct flat_view {
	const struct running *running;
	struct flat_block *blocks; /* words * blocks of the table */
	struct loss_line *losses;  /* 2^LOSS_BITS of each possible CPU */
	unsigned int cpus;
	struct mapped maps[2];
};

static int map_array(int map, size_t size, struct mapped *mapped)
{
	const size_t page = 4096;

	mapped->size = (size + page - 1) / page * page;
	mapped->memory = mmap(NULL, mapped->size, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	return mapped->memory == MAP_FAILED ? -errno : 0;
}

static void close_view(struct flat_view *view)
{
	for (size_t i = 0; i < 2; i++)
		if (view->maps[i].memory && view->maps[i].memory != MAP_FAILED)
			munmap(view->maps[i].memory, view->maps[i].size);
}

/* close_view() in every case. */
static int open_view(const struct running *running, struct flat_view *view)
{
	const struct table_identity *table = &running->table;
	int cpus = libbpf_num_possible_cpus(), err;

	*view = (struct flat_view){.running = running, .cpus = cpus > 0 ? (unsigned int)cpus : 1};
	err = map_array(running->maps[MAP_FLAT],
			(size_t)table->words * table->blocks * sizeof(*view->blocks),
			&view->maps[0]);
	err = err
		      ?: map_array(running->maps[MAP_LOSSES],
				   ((size_t)view->cpus << LOSS_BITS) * sizeof(*view->losses),
				   &view->maps[1]);
	view->blocks = view->maps[0].memory;
	view->losses = view->maps[1].memory;
	return err;
}

static uint64_t load(const __u64 *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* ---- one source ---- */

static uint64_t hash_of(const struct running *running, const struct bucket_key *key)
{
	uint64_t words[2];

	memcpy(words, key->address, sizeof(words));
	return flat_hash(running->table.seed, words[0], words[1]);
}

static struct flat_block *block_of(const struct flat_view *view, unsigned int region, uint64_t hash)
{
	const struct table_identity *table = &view->running->table;

	return &view->blocks[(size_t)region * table->blocks + flat_block_of(hash, table->blocks)];
}

/* The source's slot in @block, or NULL. */
static __u64 *find_slot(struct flat_block *block, uint64_t hash, uint64_t mask)
{
	for (unsigned int i = 0; i < FLAT_SLOTS; i++)
		if ((load(&block->words[i]) & mask) == flat_fingerprint(hash, mask))
			return &block->words[i];
	return NULL;
}

/* What a newcomer would inherit. */
static uint64_t least_debt(const struct flat_block *block, uint64_t mask)
{
	uint64_t best = flat_rank(load(&block->words[0]), mask, 0);

	for (unsigned int i = 1; i < FLAT_SLOTS; i++)
		best = flat_lower_rank(best, flat_rank(load(&block->words[i]), mask, i));
	return best & ~mask;
}

/* What CPUs have gathered for this record. */
static void add_pending(const struct flat_view *view, const struct log_key *key,
			struct tally *tally)
{
	uint64_t words[2];
	uint32_t index;

	memcpy(words, key->bucket.address, sizeof(words));
	index = flat_loss_line(words[0], words[1], key->limit);
	for (unsigned int cpu = 0; cpu < view->cpus; cpu++) {
		const struct loss_line line = view->losses[((size_t)cpu << LOSS_BITS) + index];

		if (line.taken && line.limit == key->limit &&
		    !memcmp(&line.key, &key->bucket, sizeof(line.key)))
			add_tally(tally, &line.tally);
	}
}

/* The word that @bucket's source has, or would find as a newcomer; whether it has one. */
static bool find_word(const struct flat_view *view, const struct bucket_key *key,
		      const struct limit *limit, struct bucket *bucket)
{
	uint64_t hash = hash_of(view->running, key), mask = fingerprint_mask(limit);
	struct flat_block *block = block_of(view, limit->slot, hash);
	const __u64 *slot = find_slot(block, hash, mask);

	bucket->word = slot ? load(slot) : least_debt(block, mask);
	bucket->refreshed_ns = load(&block->refreshed_ns);
	return slot;
}

int flat_read(const struct running *running, const struct bucket_key *key, unsigned int limit,
	      struct bucket *bucket)
{
	const struct limit *compiled = &running->config.limits[limit];
	const struct log_key record_key = {.bucket = *key, .limit = compiled->id};
	struct limited record = {0};
	struct flat_view view;
	int err = open_view(running, &view);

	if (!err && bpf_map_lookup_elem(running->maps[MAP_LIMITED], &record_key, &record) &&
	    errno != ENOENT)
		err = -errno;
	if (!err) {
		add_pending(&view, &record_key, &record.tally);
		if (find_word(&view, key, compiled, bucket))
			bucket->born_ns = record.since_ns ?: 1;
		bucket->tally = record.tally;
	}
	close_view(&view);
	return err;
}

/* ---- the records ---- */

/* The limit of the policy with this id; -1 when it has left. */
static int limit_with_id(const struct config *config, uint32_t id)
{
	for (uint32_t i = 0; i < config->limit_count; i++)
		if (config->limits[i].id == id)
			return (int)i;
	return -1;
}

struct record_walk {
	const struct flat_view *view;
	int (*visit)(const struct bucket *bucket, void *context);
	void *context;
};

static int visit_record(const struct log_key *key, const struct limited *record, void *context)
{
	const struct record_walk *walk = context;
	const struct config *config = &walk->view->running->config;
	int limit = limit_with_id(config, key->limit);
	struct bucket bucket = {
		.limit = (uint16_t)limit,
		.born_ns = record->since_ns,
		.tally = record->tally,
	};

	memcpy(&bucket.source, key->bucket.address, sizeof(bucket.source));
	add_pending(walk->view, key, &bucket.tally);
	/* Nothing since a reset. */
	if (limit < 0 || !(bucket.tally.dropped_packets | bucket.tally.passed_packets))
		return 0;
	find_word(walk->view, &key->bucket, &config->limits[limit], &bucket);
	return walk->visit(&bucket, walk->context);
}

/* Each record once, in the order of the kernel's hash chains; as walk_groups() of kernel_read.c. */
static int walk_records(const struct running *running,
			int (*visit)(const struct log_key *, const struct limited *, void *),
			void *context)
{
	struct log_key *keys = calloc(BATCH, sizeof(*keys));
	struct limited *records = calloc(BATCH, sizeof(*records));
	uint32_t position, count;
	bool started = false, ended = false;
	int err = keys && records ? 0 : -ENOMEM;

	while (!err && !ended) {
		count = BATCH;
		if (bpf_map_lookup_batch(running->maps[MAP_LIMITED], started ? &position : NULL,
					 &position, keys, records, &count, NULL)) {
			ended = errno == ENOENT;
			if (!ended)
				err = -errno;
		}
		started = true;
		for (uint32_t i = 0; i < count && !err; i++)
			err = visit(&keys[i], &records[i], context);
	}
	free(keys);
	free(records);
	return err;
}

int flat_walk(const struct running *running,
	      int (*visit)(const struct bucket *bucket, void *context), void *context)
{
	struct flat_view view;
	struct record_walk walk = {&view, visit, context};
	int err = open_view(running, &view) ?: walk_records(running, visit_record, &walk);

	close_view(&view);
	return err;
}

/* ---- how full ---- */

static void count_region(const struct flat_view *view, const struct limit_identity *limit,
			 uint64_t now_ns, struct occupancy *occupancy)
{
	const struct table_identity *table = &view->running->table;
	const struct flat_block *blocks = &view->blocks[(size_t)limit->slot * table->blocks];
	const struct limit scale = {.tick = limit->tick,
				    .fingerprint_bits = limit->fingerprint_bits};
	uint64_t mask = fingerprint_mask(&scale), now = limit_ticks(&scale, now_ns);

	for (uint32_t b = 0; b < table->blocks; b++) {
		bool idle = flat_all_idle(now_ns - load(&blocks[b].refreshed_ns), limit->tick);

		for (unsigned int i = 0; i < FLAT_SLOTS; i++) {
			uint64_t word = load(&blocks[b].words[i]);

			if (!(word & mask))
				continue;
			occupancy->used++;
			occupancy->young += !idle && gcra_debt(word & ~mask, now);
		}
	}
}

int flat_occupancy(const struct running *running, uint64_t now_ns, struct occupancy *occupancy)
{
	const struct table_identity *table = &running->table;
	struct flat_view view;
	int err = open_view(running, &view);

	*occupancy = (struct occupancy){0};
	for (unsigned int id = 0; id < MAX_LIMITS && !err; id++)
		if (table->limits[id].used && table->limits[id].fingerprint_bits)
			count_region(&view, &table->limits[id], now_ns, occupancy);
	close_view(&view);
	return err;
}

/* ---- forgetting ---- */

/*
 * An idle word without an owner, as a refresh would have left it. A slot that goes to another source meanwhile
 * stays that one's.
 */
static void free_slot(const struct flat_block *block, __u64 *word,
		      const struct limit_identity *limit)
{
	const struct limit scale = {.tick = limit->tick,
				    .fingerprint_bits = limit->fingerprint_bits};
	uint64_t mask = fingerprint_mask(&scale);
	__u64 seen = load(word), owner = seen & mask, idle;

	do {
		if ((seen & mask) != owner)
			return;
		idle = flat_floor(limit_ticks(&scale, load(&block->refreshed_ns)), mask);
	} while (!__atomic_compare_exchange_n(word, &seen, idle, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
}

/*
 * Its counters start from zero: with what the CPUs have gathered for it taken off, since that will be
 * added to the record later.
 */
static int zero_record(const struct flat_view *view, const struct log_key *key)
{
	int map = view->running->maps[MAP_LIMITED];
	struct limited record;
	struct tally pending = {0};

	if (bpf_map_lookup_elem(map, key, &record))
		return errno == ENOENT ? 0 : -errno;
	add_pending(view, key, &pending);
	record.tally = (struct tally){
		.passed_packets = -pending.passed_packets,
		.passed_bytes = -pending.passed_bytes,
		.dropped_packets = -pending.dropped_packets,
		.dropped_bytes = -pending.dropped_bytes,
	};
	return bpf_map_update_elem(map, key, &record, BPF_EXIST) && errno != ENOENT ? -errno : 0;
}

/* Under one limit: 1 when it had a slot, 0, -errno. */
static int free_source(const struct flat_view *view, unsigned int id,
		       const struct bucket_key *source)
{
	const struct limit_identity *limit = &view->running->table.limits[id];
	const struct log_key key = {.bucket = *source, .limit = id};
	uint64_t hash = hash_of(view->running, source);
	struct flat_block *block = block_of(view, limit->slot, hash);
	__u64 *word = find_slot(block, hash, (1ULL << limit->fingerprint_bits) - 1);
	int err = zero_record(view, &key);

	if (err || !word)
		return err;
	free_slot(block, word, limit);
	return 1;
}

int64_t flat_reset_source(const struct running *running, const struct address *address)
{
	const struct table_identity *table = &running->table;
	struct flat_view view;
	int64_t freed = 0;
	int had = open_view(running, &view);

	for (unsigned int id = 0; id < MAX_LIMITS && had >= 0; id++) {
		const struct limit_identity *limit = &table->limits[id];
		struct bucket_key key;

		if (!limit->used || !limit->fingerprint_bits ||
		    !source_key(table, limit->kind, address, &key))
			continue;
		had = free_source(&view, id, &key);
		freed += had > 0;
	}
	close_view(&view);
	return had < 0 ? had : freed;
}

static int zero_in_walk(const struct log_key *key, const struct limited *record, void *context)
{
	(void)record;
	return zero_record(context, key);
}

static int64_t free_region(const struct flat_view *view, const struct limit_identity *limit)
{
	const struct table_identity *table = &view->running->table;
	struct flat_block *blocks = &view->blocks[(size_t)limit->slot * table->blocks];
	uint64_t mask = (1ULL << limit->fingerprint_bits) - 1;
	int64_t freed = 0;

	for (uint32_t b = 0; b < table->blocks; b++)
		for (unsigned int i = 0; i < FLAT_SLOTS; i++) {
			if (!(load(&blocks[b].words[i]) & mask))
				continue;
			free_slot(&blocks[b], &blocks[b].words[i], limit);
			freed++;
		}
	return freed;
}

int64_t flat_reset_all(const struct running *running)
{
	const struct table_identity *table = &running->table;
	struct flat_view view;
	int64_t freed = 0;
	int err = open_view(running, &view);

	for (unsigned int id = 0; id < MAX_LIMITS && !err; id++)
		if (table->limits[id].used && table->limits[id].fingerprint_bits)
			freed += free_region(&view, &table->limits[id]);
	err = err ?: walk_records(running, zero_in_walk, &view);
	close_view(&view);
	return err ?: freed;
}
