// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The real pipeline under a clock that the test sets. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>
#include "prog.h"
#include "kernel_object.h"

/* As in bpf/xdp_limit_test.bpf.c. */
struct test_clock {
	uint64_t ns;
	uint64_t step_ns;
};

#include "xdp_limit_test.skel.h"

static __thread uint32_t duration_ns;

static struct config *config_of(const struct limiter *limiter)
{
	return limiter->attachable ? limiter->attachable_config
				   : (struct config *)limiter->skeleton->rodata_config;
}

static struct bpf_object *object_of(const struct limiter *limiter)
{
	return limiter->attachable ? limiter->attachable : limiter->skeleton->obj;
}

static void fill_config(struct limiter *limiter, const struct policy *policy,
			const struct limiter_facts *facts, uint64_t generation)
{
	struct kernel_features features;
	struct config *config = config_of(limiter);
	struct compile_facts compiled;
	struct complaint why;

	assert_int_equal(kernel_features(&features), 0);
	compiled = (struct compile_facts){
		.possible_cpus = facts->possible_cpus ?: features.possible_cpus,
		.generic = facts->generic,
		.skb_facts = features.skb_facts && !facts->no_skb_facts,
		/* As when attached, where the kernel can't say it of each frame. */
		.may_have_frags = facts->may_have_frags ||
				  (features.xdp_frags && !features.skb_facts),
		.load_bytes = features.xdp_frags,
	};
	if (compile_policy(policy, &limiter->table, &compiled, config, &why))
		fail_msg("compile_policy: %s", why.text);
	config->magic = XDP_LIMIT_MAGIC;
	config->abi = XDP_LIMIT_ABI;
	config->generation = generation;
}

static void map_clock(struct limiter *limiter)
{
	struct bpf_map *data;

	if (!limiter->skeleton)
		return;
	data = limiter->skeleton->maps.data;
	limiter->clock = mmap(NULL, sizeof(*limiter->clock), PROT_READ | PROT_WRITE, MAP_SHARED,
			      bpf_map__fd(data), 0);
	assert_ptr_not_equal(limiter->clock, MAP_FAILED);
}

static void load(struct limiter *limiter, const struct policy *policy)
{
	struct running *running = &limiter->running;
	struct switches switches = {0};
	struct kernel_features features;
	struct bpf_program *program;
	uint32_t index = 0;

	assert_int_equal(kernel_features(&features), 0);
	assert_int_equal(object_size(object_of(limiter), policy, config_of(limiter)), 0);
	program = object_choose(object_of(limiter), limiter->table.type, limiter->member);
	running->program = object_load(object_of(limiter), program, features.xdp_frags,
				       running->maps);
	if (running->program < 0)
		fail_msg("cannot load: %s: %s", strerror(-running->program),
			 kernel_log_text() ?: "");
	assert_int_equal(object_fill(object_of(limiter), policy, config_of(limiter)), 0);
	map_clock(limiter);
	running->config = *config_of(limiter);
	running->table = limiter->table;
	switches.generation = running->config.generation;
	assert_int_equal(bpf_map_update_elem(running->maps[MAP_SWITCHES], &index, &switches, 0), 0);
}

/* What no LRU does at will: an insert that fails. */
static void replace_by_hash(struct limiter *limiter)
{
	struct bpf_map *buckets = bpf_object__find_map_by_name(object_of(limiter),
							       map_names[MAP_BUCKETS]);
	int map = bpf_map_create(BPF_MAP_TYPE_HASH, map_names[MAP_BUCKETS],
				 sizeof(struct bucket_key), GROUP_SIZE(limiter->table.words),
				 limiter->table.capacity, NULL);

	assert_true(map >= 0);
	assert_int_equal(bpf_map__reuse_fd(buckets, map), 0);
	close(map);
}

static void open_fresh(struct limiter *limiter, const struct policy *policy,
		       const struct limiter_facts *facts)
{
	struct complaint why;

	kernel_log_start();
	if (table_new(policy, &limiter->table, &why))
		fail_msg("table_new: %s", why.text);
	fill_config(limiter, policy, facts, 1);
	assert_int_equal(object_fresh_maps(object_of(limiter), &limiter->table), 0);
	if (facts->refuses)
		replace_by_hash(limiter);
	load(limiter, policy);
}

void limiter_open(struct limiter *limiter, const struct policy *policy,
		  const struct limiter_facts *facts)
{
	static const struct limiter_facts plain;

	memset(limiter, 0, sizeof(*limiter));
	limiter->skeleton = xdp_limit_test__open();
	assert_non_null(limiter->skeleton);
	limiter->member = facts && facts->member;
	open_fresh(limiter, policy, facts ?: &plain);
}

void limiter_open_attachable(struct limiter *limiter, const struct policy *policy,
			     const struct limiter_facts *facts)
{
	static const struct limiter_facts plain;
	struct kernel_features features;

	facts = facts ?: &plain;
	memset(limiter, 0, sizeof(*limiter));
	assert_int_equal(kernel_features(&features), 0);
	limiter->attachable = object_open(features.skb_facts && !facts->no_skb_facts,
					  &limiter->attachable_config);
	assert_non_null(limiter->attachable);
	open_fresh(limiter, policy, facts);
}

void limiter_reopen(struct limiter *next, const struct limiter *old, const struct policy *policy)
{
	static const struct limiter_facts plain;
	struct complaint why;

	memset(next, 0, sizeof(*next));
	next->table = old->table;
	next->member = old->member;
	if (table_extend(policy, &next->table, &why))
		fail_msg("table_extend: %s", why.text);
	next->skeleton = xdp_limit_test__open();
	assert_non_null(next->skeleton);
	fill_config(next, policy, &plain, old->running.config.generation + 1);
	assert_int_equal(
		object_share_table(next->skeleton->obj, config_of(next), old->running.maps), 0);
	assert_int_equal(object_share_own(next->skeleton->obj, old->running.maps), 0);
	load(next, policy);
	clock_set(next, clock_now(old));
}

void limiter_close(struct limiter *limiter)
{
	if (limiter->clock)
		munmap((void *)limiter->clock, sizeof(*limiter->clock));
	if (limiter->running.maps[MAP_LIVE_SET] > 0)
		close(limiter->running.maps[MAP_LIVE_SET]);
	xdp_limit_test__destroy(limiter->skeleton);
	bpf_object__close(limiter->attachable);
	memset(limiter, 0, sizeof(*limiter));
}

void clock_set(struct limiter *limiter, uint64_t now_ns)
{
	limiter->clock->ns = now_ns;
}

void clock_advance(struct limiter *limiter, uint64_t by_ns)
{
	limiter->clock->ns += by_ns;
}

void clock_step(struct limiter *limiter, uint64_t step_ns)
{
	limiter->clock->step_ns = step_ns;
}

uint64_t clock_now(const struct limiter *limiter)
{
	return limiter->clock ? limiter->clock->ns : boot_clock_ns();
}

int send_repeated(const struct limiter *limiter, const struct frame *frame, uint32_t repeat)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame->bytes, .data_size_in = frame->length,
		    .repeat = repeat);

	if (bpf_prog_test_run_opts(limiter->running.program, &run))
		fail_msg("BPF_PROG_TEST_RUN: %s", strerror(errno));
	duration_ns = run.duration;
	return run.retval;
}

uint32_t last_duration_ns(void)
{
	return duration_ns;
}

int send_frame(struct limiter *limiter, const struct frame *frame)
{
	return send_repeated(limiter, frame, 1);
}

unsigned int send_many(struct limiter *limiter, const struct frame *frame, unsigned int count)
{
	unsigned int passed = 0;

	while (count--)
		passed += send_frame(limiter, frame) == XDP_PASS;
	return passed;
}

uint64_t send_stepped(struct limiter *limiter, const struct frame *frame, uint32_t count,
		      uint64_t step_ns)
{
	uint64_t before = packets_passed(limiter);

	clock_step(limiter, step_ns);
	send_repeated(limiter, frame, count);
	clock_step(limiter, 0);
	return packets_passed(limiter) - before;
}

static uint64_t sum_reason(const struct reason_count *count)
{
	return count->passed.packets + count->dropped.packets + count->would_drop.packets;
}

void counters_of(const struct limiter *limiter, struct counters *counters)
{
	assert_int_equal(read_counters(&limiter->running, counters), 0);
}

uint64_t packets_passed(const struct limiter *limiter)
{
	struct counters counters;
	uint64_t sum = 0;

	counters_of(limiter, &counters);
	for (int i = 0; i < REASON_COUNT; i++)
		sum += counters.reasons[i].passed.packets + counters.reasons[i].would_drop.packets;
	return sum;
}

uint64_t packets_of(const struct limiter *limiter, enum reason reason)
{
	struct counters counters;

	counters_of(limiter, &counters);
	return sum_reason(&counters.reasons[reason]);
}

uint64_t packets_seen(const struct limiter *limiter)
{
	struct counters counters;
	uint64_t sum = 0;

	counters_of(limiter, &counters);
	for (int i = 0; i < REASON_COUNT; i++)
		sum += sum_reason(&counters.reasons[i]);
	return sum;
}

static void parse_source(const struct limiter *limiter, const char *text, struct address *source)
{
	const struct table_identity *table = &limiter->table;
	struct complaint why;

	if (parse_address(text, source, &why))
		fail_msg("%s", why.text);
	address_source(source, table->ipv4_prefix, table->ipv6_prefix);
}

void key_of(const struct limiter *limiter, const char *address, struct bucket_key *key)
{
	struct address source;

	parse_source(limiter, address, &source);
	memcpy(key->address, &source, sizeof(key->address));
	key->kind = PER_SOURCE;
}

static int find_source(const struct limiter *limiter, const char *text,
		       struct bucket buckets[MAX_LIMITS])
{
	struct address source;

	parse_source(limiter, text, &source);
	return read_source(&limiter->running, &source, buckets);
}

void source_of(const struct limiter *limiter, const char *address, struct bucket *bucket)
{
	struct bucket buckets[MAX_LIMITS];

	if (find_source(limiter, address, buckets))
		fail_msg("%s has no bucket", address);
	*bucket = buckets[0];
}

bool has_source(const struct limiter *limiter, const char *address)
{
	struct bucket buckets[MAX_LIMITS];

	return !find_source(limiter, address, buckets);
}

void state_of(const struct limiter *limiter, const char *address, unsigned int index,
	      struct limit_state *state)
{
	struct bucket buckets[MAX_LIMITS];

	find_source(limiter, address, buckets);
	assert_int_equal(
		read_state(&limiter->running, &buckets[index], index, clock_now(limiter), state),
		0);
}

static void add_limit(struct policy *policy, const char *name, enum unit unit,
		      const char *rate_text, const char *burst)
{
	struct policy_limit *limit;
	struct complaint why;
	struct rate rate;

	if (parse_rate(rate_text, unit, &rate, &why))
		fail_msg("%s", why.text);
	limit = policy_add_limit(policy, name, &rate, &why);
	if (!limit || (burst && parse_burst(burst, &rate, &limit->burst, &why)))
		fail_msg("%s", why.text);
}

enum table_type usual_table(void)
{
	const char *type = getenv("XDP_LIMIT_TABLE");

	return type && !strcmp(type, "flat") ? TABLE_FLAT : TABLE_LRU;
}

bool emulated(void)
{
	return getenv("XDPL_EMULATED");
}

uint32_t repeats(uint32_t usual, uint32_t there)
{
	return emulated() ? there : usual;
}

struct policy packet_policy(const char *rate, const char *burst)
{
	struct policy policy;

	policy_defaults(&policy);
	policy.sources = 65536;
	policy.new_sources = NEW_SOURCES_UNLIMITED;
	policy.table_type = usual_table();
	add_limit(&policy, "default", UNIT_PACKETS, rate, burst);
	return policy;
}

void add_byte_limit(struct policy *policy, const char *rate, const char *burst)
{
	add_limit(policy, "bytes", UNIT_BYTES, rate, burst);
}
