// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads counters and buckets, in batches, without disturbing what packets do. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "algorithm.h"
#include "flat.h"
#include "kernel.h"
#include "kernel_flat.h"
#include "kernel_residue.h"

#define BATCH 8192U

uint64_t boot_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

/* ---- counters ---- */

/* All of them are 64-bit words, so a sum or a difference needs no names. */
static void combine(void *sum, const void *part, size_t size, int sign)
{
	uint64_t *to = sum;
	const uint64_t *from = part;

	for (size_t i = 0; i < size / sizeof(*to); i++)
		to[i] += sign * from[i];
}

/* One value of an array for each CPU, all of 64-bit words, to @sum. */
static int add_cpus(int map, void *sum, size_t size)
{
	int cpus = libbpf_num_possible_cpus();
	char *parts = cpus > 0 ? calloc(cpus, size) : NULL;
	uint32_t index = 0;
	int err = parts ? 0 : -ENOMEM;

	if (!err && bpf_map_lookup_elem(map, &index, parts))
		err = -errno;
	for (int i = 0; i < cpus && !err; i++)
		combine(sum, parts + i * size, size, 1);
	free(parts);
	return err;
}

static void take(struct counters *sum, const struct cpu_counters *counters)
{
	memcpy(sum->reasons, counters->reasons, sizeof(sum->reasons));
	memcpy(sum->limits, counters->limits, sizeof(sum->limits));
	sum->telling = counters->telling;
}

static int read_interface(const struct running *running, struct cpu_counters *sum)
{
	memset(sum, 0, sizeof(*sum));
	return add_cpus(running->maps[MAP_COUNTERS], sum, sizeof(*sum));
}

static int read_events(const struct running *running, struct event_count *sum)
{
	memset(sum, 0, sizeof(*sum));
	return add_cpus(running->maps[MAP_TABLE_EVENTS], sum, sizeof(*sum));
}

int read_raw_counters(const struct running *running, struct counters *sum)
{
	struct cpu_counters counters;
	int err = read_interface(running, &counters);

	take(sum, &counters);
	return err ?: read_events(running, &sum->events);
}

static uint64_t packets_of(const struct cpu_counters *counters)
{
	uint64_t sum = 0;

	for (int i = 0; i < REASON_SLOTS; i++)
		sum += counters->reasons[i].passed.packets + counters->reasons[i].dropped.packets +
		       counters->reasons[i].would_drop.packets;
	return sum;
}

int read_cpu_packets(const struct running *running, uint64_t **packets)
{
	int cpus = libbpf_num_possible_cpus();
	struct cpu_counters *parts = cpus > 0 ? calloc(cpus, sizeof(*parts)) : NULL;
	uint32_t index = 0;
	int err = 0;

	*packets = cpus > 0 ? calloc(cpus, sizeof(**packets)) : NULL;
	if (!parts || !*packets)
		err = -ENOMEM;
	else if (bpf_map_lookup_elem(running->maps[MAP_COUNTERS], &index, parts))
		err = -errno;
	for (int i = 0; i < cpus && !err; i++)
		(*packets)[i] = packets_of(&parts[i]);
	free(parts);
	return err ?: cpus;
}

int read_durations(const struct running *running, struct histogram *histogram)
{
	int cpus = libbpf_num_possible_cpus();
	struct durations *parts = cpus > 0 ? calloc(cpus, sizeof(*parts)) : NULL;
	uint32_t index = 0;
	int err = 0;

	*histogram = (struct histogram){0};
	if (!parts)
		return -ENOMEM;
	if (bpf_map_lookup_elem(running->maps[MAP_DURATIONS], &index, parts))
		err = -errno;
	for (int i = 0; i < cpus && !err; i++) {
		histogram->sum_ns += parts[i].sum_ns;
		for (int bucket = 0; bucket < DURATION_BUCKETS; bucket++) {
			histogram->counts[bucket] += parts[i].counts[bucket];
			histogram->count += parts[i].counts[bucket];
		}
	}
	free(parts);
	return err;
}

static int read_ledger(const struct running *running, struct ledger *ledger)
{
	uint32_t index = 0;

	return bpf_map_lookup_elem(running->maps[MAP_LEDGER], &index, ledger) ? -errno : 0;
}

static int write_ledger(const struct running *running, const struct ledger *ledger)
{
	uint32_t index = 0;

	return bpf_map_update_elem(running->maps[MAP_LEDGER], &index, ledger, BPF_ANY) ? -errno : 0;
}

static int read_baseline(const struct running *running, struct cpu_counters *baseline)
{
	uint32_t index = 0;

	return bpf_map_lookup_elem(running->maps[MAP_BASELINE], &index, baseline) ? -errno : 0;
}

int read_counters(const struct running *running, struct counters *sum)
{
	struct cpu_counters counters, baseline;
	int err = read_interface(running, &counters) ?: read_baseline(running, &baseline);

	if (err)
		return err;
	combine(&counters, &baseline, sizeof(counters), -1);
	take(sum, &counters);
	return read_events(running, &sum->events);
}

/* Zeroing would lose what packets add meanwhile; a baseline loses nothing. */
int reset_counters(const struct running *running)
{
	struct cpu_counters sum;
	uint32_t index = 0;
	int err = read_interface(running, &sum);

	if (err)
		return err;
	return bpf_map_update_elem(running->maps[MAP_BASELINE], &index, &sum, BPF_ANY) ? -errno : 0;
}

int read_deleted(const struct running *running, uint64_t *deleted)
{
	struct ledger ledger;
	int err = read_ledger(running, &ledger);

	if (!err)
		*deleted = ledger.deleted;
	return err;
}

static int note_deleted(const struct running *running, uint64_t count)
{
	struct ledger ledger;
	int err = read_ledger(running, &ledger);

	if (err)
		return err;
	ledger.deleted += count;
	return write_ledger(running, &ledger);
}

bool gate_is_closed(const struct running *running)
{
	const struct limit *gate = &running->config.gate;
	uint32_t index = 0;
	struct shared_word shared;

	if (!running->config.gate_used ||
	    bpf_map_lookup_elem(running->maps[MAP_GATE], &index, &shared))
		return false;
	return !gcra_fits(gcra_debt(shared.word, boot_clock_ns() << gate->tick), gate->multiplier,
			  gate->burst);
}

/* ---- buckets ---- */

struct walk {
	const struct running *running;
	const struct residue *residue;
	int (*visit)(const struct bucket *bucket, void *context);
	void *context;
};

static void unpack(const struct running *running, const struct residue *residue,
		   const struct bucket_key *key, const char *group, unsigned int limit,
		   struct bucket *bucket)
{
	uint8_t slot = running->config.limits[limit].slot;

	memcpy(&bucket->source, key->address, sizeof(bucket->source));
	bucket->limit = limit;
	memcpy(&bucket->born_ns, group, sizeof(bucket->born_ns));
	memcpy(&bucket->word, group + GROUP_WORD(slot), sizeof(bucket->word));
	memcpy(&bucket->tally, group + GROUP_TALLY(running->table.words, slot),
	       sizeof(bucket->tally));
	add_residue(residue, key, slot, bucket->born_ns, &bucket->tally);
}

/* The id of the kind that a limit counts per; -1 for the interface, which has no group. */
static int kind_id(const struct config *config, unsigned int limit)
{
	const struct kind *kind = &config->kinds[config->limits[limit].group];

	return kind->per == PER_INTERFACE ? -1 : kind->id;
}

static int visit_group(const struct bucket_key *key, const char *group, void *context)
{
	const struct walk *walk = context;
	struct bucket bucket;
	int err = 0;

	for (uint32_t i = 0; i < walk->running->config.limit_count && !err; i++) {
		if (kind_id(&walk->running->config, i) != (int)key->kind)
			continue;
		unpack(walk->running, walk->residue, key, group, i, &bucket);
		err = walk->visit(&bucket, walk->context);
	}
	return err;
}

static int count_group(const struct bucket_key *key, const char *group, void *context)
{
	(void)key;
	(void)group;
	++*(int64_t *)context;
	return 0;
}

struct batch {
	uint32_t capacity;
	struct bucket_key *keys;
	char *groups;
};

static int grow(struct batch *batch, uint32_t capacity, uint32_t group_size)
{
	void *keys = realloc(batch->keys, (size_t)capacity * sizeof(*batch->keys));
	void *groups;

	if (!keys)
		return -ENOMEM;
	batch->keys = keys;
	groups = realloc(batch->groups, (size_t)capacity * group_size);
	if (!groups)
		return -ENOMEM;
	batch->groups = groups;
	batch->capacity = capacity;
	return 0;
}

/*
 * One walk over the kernel's hash chains in their order: each entry stands in one chain, so none
 * comes twice, one that goes meanwhile is just not there, and the walk ends however many come.
 */
struct bucket_walk {
	const struct running *running;
	struct batch batch;
	uint32_t position; /* the kernel's, behind the last batch */
	bool started;
};

/* To the end of @walk in any case. */
static void end_groups(struct bucket_walk *walk)
{
	free(walk->batch.keys);
	free(walk->batch.groups);
}

static int start_groups(const struct running *running, struct bucket_walk *walk)
{
	*walk = (struct bucket_walk){.running = running};
	return grow(&walk->batch, BATCH, GROUP_SIZE(running->table.words));
}

/* The next batch: 1 while more may come, 0 at the end, -errno; @visit returns 0 or -errno. */
static int step_groups(struct bucket_walk *walk,
		       int (*visit)(const struct bucket_key *, const char *, void *), void *context)
{
	uint32_t group_size = GROUP_SIZE(walk->running->table.words);
	int map = walk->running->maps[MAP_BUCKETS];
	struct batch *batch = &walk->batch;
	uint32_t count = batch->capacity;
	bool ended = false;
	int err = 0;

	if (bpf_map_lookup_batch(map, walk->started ? &walk->position : NULL, &walk->position,
				 batch->keys, batch->groups, &count, NULL)) {
		if (errno == ENOSPC) /* one chain is longer than the batch */
			return grow(batch, batch->capacity * 2, group_size) ?: 1;
		ended = errno == ENOENT;
		if (!ended)
			return -errno;
	}
	walk->started = true;
	for (uint32_t i = 0; i < count && !err; i++)
		err = visit(&batch->keys[i], batch->groups + (size_t)i * group_size, context);
	return err ?: !ended;
}

static int walk_groups(const struct running *running,
		       int (*visit)(const struct bucket_key *, const char *, void *), void *context)
{
	struct bucket_walk walk;
	int more = start_groups(running, &walk) ?: 1;

	while (more == 1)
		more = step_groups(&walk, visit, context);
	end_groups(&walk);
	return more;
}

int read_buckets(const struct running *running,
		 int (*visit)(const struct bucket *bucket, void *context), void *context)
{
	struct residue residue;
	struct walk walk = {running, &residue, visit, context};
	int err;

	if (running->config.flat)
		return flat_walk(running, visit, context);
	err = read_residue(running, &residue);
	if (!err)
		err = walk_groups(running, visit_group, &walk);
	free(residue.lines);
	return err;
}

int bucket_walk_start(const struct running *running, struct bucket_walk **walk)
{
	int err;

	*walk = calloc(1, sizeof(**walk));
	if (!*walk)
		return -ENOMEM;
	err = start_groups(running, *walk);
	if (err)
		bucket_walk_end(*walk);
	return err;
}

/* What the CPUs hold back is read anew for each batch: between two of them it goes to its buckets. */
int bucket_walk_step(struct bucket_walk *walk,
		     int (*visit)(const struct bucket *bucket, void *context), void *context)
{
	const struct running *running = walk->running;
	struct residue residue;
	struct walk inner = {running, &residue, visit, context};
	int more;

	if (running->config.flat)
		return flat_walk(running, visit, context);
	more = read_residue(running, &residue) ?: step_groups(walk, visit_group, &inner);
	free(residue.lines);
	return more;
}

void bucket_walk_end(struct bucket_walk *walk)
{
	end_groups(walk);
	free(walk);
}

int64_t count_entries(const struct running *running)
{
	int64_t count = 0;
	int err = walk_groups(running, count_group, &count);

	return err ?: count;
}

struct age {
	uint64_t after_ns;
	struct occupancy *occupancy;
};

static int note_age(const struct bucket_key *key, const char *group, void *context)
{
	struct age *age = context;
	uint64_t born_ns;

	(void)key;
	memcpy(&born_ns, group, sizeof(born_ns));
	age->occupancy->used++;
	age->occupancy->young += born_ns > age->after_ns;
	return 0;
}

int read_occupancy(const struct running *running, uint64_t after_ns, struct occupancy *occupancy)
{
	struct age age = {after_ns, occupancy};

	*occupancy = (struct occupancy){0};
	if (running->config.flat)
		return flat_occupancy(running, boot_clock_ns(), occupancy);
	return walk_groups(running, note_age, &age);
}

bool source_key(const struct table_identity *table, int kind, const struct address *address,
		struct bucket_key *key)
{
	const struct kind_identity *identity = &table->kinds[kind];
	struct address source = *address;

	if (!identity->used || identity->per != PER_SOURCE)
		return false;
	address_source(&source, identity->ipv4_prefix, identity->ipv6_prefix);
	memcpy(key->address, &source, sizeof(key->address));
	key->kind = (uint32_t)kind;
	return true;
}

static int read_interface_word(const struct running *running, unsigned int limit,
			       struct bucket *bucket)
{
	uint32_t slot = running->config.limits[limit].slot;
	struct shared_word shared;

	if (bpf_map_lookup_elem(running->maps[MAP_INTERFACE_WORDS], &slot, &shared))
		return -errno;
	bucket->word = shared.word;
	bucket->born_ns = 1; /* it is always there */
	return 0;
}

/* One limit of @address; what has no bucket is idle. -ENOENT when it has none. */
static int read_limit(const struct running *running, const struct residue *residue,
		      const struct address *address, unsigned int limit, char *group,
		      struct bucket *bucket)
{
	int kind = kind_id(&running->config, limit);
	struct bucket_key key;

	*bucket = (struct bucket){.source = *address, .limit = (uint16_t)limit};
	if (kind < 0)
		return read_interface_word(running, limit, bucket);
	if (!source_key(&running->table, kind, address, &key))
		return -ENOENT;
	if (running->config.flat)
		return flat_read(running, &key, limit, bucket);
	if (bpf_map_lookup_elem(running->maps[MAP_BUCKETS], &key, group))
		return -errno;
	unpack(running, residue, &key, group, limit, bucket);
	return 0;
}

int read_source(const struct running *running, const struct address *address,
		struct bucket buckets[MAX_LIMITS])
{
	char *group = malloc(GROUP_SIZE(MAX_LIMITS));
	struct residue residue = {0};
	int err = group ? read_residue(running, &residue) : -ENOMEM;
	bool found = false;

	for (uint32_t i = 0; i < running->config.limit_count && !err; i++) {
		err = read_limit(running, &residue, address, i, group, &buckets[i]);
		/* Not the interface's word. */
		found |= !err && kind_id(&running->config, i) >= 0 && buckets[i].born_ns;
		if (err == -ENOENT)
			err = 0;
	}
	free(residue.lines);
	free(group);
	return err ?: found ? 0 : -ENOENT;
}

/* What was never taken reads as free. */
static int read_log(const struct running *running, const struct bucket *bucket,
		    struct log_slots *log)
{
	int kind = kind_id(&running->config, bucket->limit);
	struct log_key key = {.limit = running->config.limits[bucket->limit].id};

	memset(log, 0, sizeof(*log));
	/* Of what isn't a source the bucket has the key itself. */
	if (!source_key(&running->table, kind, &bucket->source, &key.bucket)) {
		memcpy(key.bucket.address, &bucket->source, sizeof(key.bucket.address));
		key.bucket.kind = (uint32_t)kind;
	}
	if (bpf_map_lookup_elem(running->maps[MAP_LOG_SLOTS], &key, log) && errno != ENOENT)
		return -errno;
	return 0;
}

/* What the next packet would find. Who has no slot yet would take one, and owe what it owes. */
static uint64_t word_now(const struct limit *limit, const struct bucket *bucket, uint64_t now_ns)
{
	bool exists = bucket->born_ns;

	if (limit->fingerprint_bits)
		exists = !flat_all_idle(now_ns - bucket->refreshed_ns, limit->tick);
	return exists ? bucket->word : idle_word(limit, now_ns);
}

int read_state(const struct running *running, const struct bucket *bucket, unsigned int place,
	       uint64_t now_ns, struct limit_state *state)
{
	const struct limit *limit = &running->config.limits[place];
	const struct limit_label *label = &running->config.labels[place];
	struct log_slots log;
	int err;

	if (limit->algorithm != ALGORITHM_SLIDING_LOG) {
		limit_read(limit, label, word_now(limit, bucket, now_ns), now_ns, state);
		return 0;
	}
	err = read_log(running, bucket, &log);
	if (!err)
		limit_read_log(limit, label, &log, now_ns, state);
	return err;
}

uint64_t read_guard(const struct running *running, const struct address *address)
{
	uint64_t ends;

	if (bpf_map_lookup_elem(running->maps[MAP_GUARDS], address, &ends) ||
	    ends <= boot_clock_ns())
		return 0;
	return ends;
}

/* ---- forgetting ---- */

/* The logs of a group that goes. */
static void forget_logs(const struct running *running, const struct bucket_key *group)
{
	struct log_key key = {.bucket = *group};

	for (key.limit = 0; key.limit < MAX_LIMITS; key.limit++) {
		const struct limit_identity *identity = &running->table.limits[key.limit];

		if (identity->used && identity->algorithm == ALGORITHM_SLIDING_LOG &&
		    identity->kind == group->kind)
			bpf_map_delete_elem(running->maps[MAP_LOG_SLOTS], &key);
	}
}

int reset_source(const struct running *running, const struct address *address)
{
	uint64_t deleted = 0;
	struct bucket_key key;
	int64_t freed;

	if (running->config.flat) {
		freed = flat_reset_source(running, address);
		return freed < 0 ? (int)freed : freed ? note_deleted(running, freed) : -ENOENT;
	}
	for (int kind = 0; kind < MAX_KIND_IDS; kind++) {
		if (!source_key(&running->table, kind, address, &key))
			continue;
		forget_logs(running, &key);
		if (!bpf_map_delete_elem(running->maps[MAP_BUCKETS], &key))
			deleted++;
		else if (errno != ENOENT)
			return -errno;
	}
	return deleted ? note_deleted(running, deleted) : -ENOENT;
}

struct key_list {
	struct bucket_key *keys;
	size_t count, capacity;
};

static int collect_key(const struct bucket_key *key, const char *group, void *context)
{
	struct key_list *list = context;
	void *keys;

	(void)group;
	if (list->count == list->capacity) {
		list->capacity = list->capacity ? list->capacity * 2 : BATCH;
		keys = realloc(list->keys, list->capacity * sizeof(*list->keys));
		if (!keys)
			return -ENOMEM;
		list->keys = keys;
	}
	list->keys[list->count++] = *key;
	return 0;
}

int64_t reset_sources(const struct running *running)
{
	struct key_list list = {0};
	int64_t deleted = 0;
	int err;

	if (running->config.flat) {
		deleted = flat_reset_all(running);
		err = deleted < 0 ? (int)deleted : note_deleted(running, deleted);
		return err ?: deleted;
	}
	err = walk_groups(running, collect_key, &list);
	for (size_t i = 0; i < list.count && !err; i++) {
		forget_logs(running, &list.keys[i]);
		if (!bpf_map_delete_elem(running->maps[MAP_BUCKETS], &list.keys[i]))
			deleted++;
	}
	free(list.keys);
	err = note_deleted(running, deleted) ?: err;
	return err ?: deleted;
}
