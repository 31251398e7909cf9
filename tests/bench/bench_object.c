// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The object for measuring, loaded as the real one is, and its generators of sources. */
#include "bench_object.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "hold.h"
#include "kernel_object.h"
#include "policy_file.h"
#include "xdp_limit_bench.skel.h"

/* Knuth's MMIX: full period, good high bits. */
#define LCG_MULTIPLIER 6364136223846793005ULL
#define LCG_INCREMENT  1442695040888963407ULL

/* ---- loading ---- */

static bool parse_policy(struct policy *policy, const char *text)
{
	struct findings findings = {0};
	bool parsed = !policy_parse(text, strlen(text), policy, &findings);

	if (!parsed && !(findings.count && strstr(findings.list[0].what.text, "not built into")))
		errx(1, "policy: %s", findings.count ? findings.list[0].what.text : "no memory");
	findings_free(&findings);
	return parsed;
}

static void compile(struct bench *bench, const struct policy *policy,
		    const struct kernel_features *features)
{
	struct config *config = (struct config *)bench->skeleton->rodata_config;
	struct table_identity *table = &bench->running.table;
	const struct compile_facts facts = {
		.possible_cpus = features->possible_cpus,
		.skb_facts = features->skb_facts,
		.may_have_frags = features->xdp_frags,
		.load_bytes = features->xdp_frags,
	};
	struct complaint why;

	if (table_new(policy, table, &why) || compile_policy(policy, table, &facts, config, &why))
		errx(1, "policy: %s", why.text);
	config->magic = XDP_LIMIT_MAGIC;
	config->abi = XDP_LIMIT_ABI;
	config->generation = 1;
}

static void find_programs(struct bench *bench)
{
	const struct xdp_limit_bench *skeleton = bench->skeleton;
	const struct bpf_program *const programs[BENCH_PROGRAMS] = {
		[BENCH_LIMITER] = skeleton->progs.bench_limiter,
		[BENCH_FLOOR] = skeleton->progs.bench_floor,
		[BENCH_STILL] = skeleton->progs.bench_still,
		[BENCH_TOUCH] = skeleton->progs.bench_touch,
		[BENCH_LOOKUP] = skeleton->progs.bench_lookup,
		[BENCH_JUDGE] = skeleton->progs.bench_judge,
		[BENCH_REASONS] = skeleton->progs.bench_reasons,
		[BENCH_SEND] = skeleton->progs.bench_send,
		[BENCH_DISCARD] = skeleton->progs.bench_discard,
	};

	for (int i = 0; i < BENCH_PROGRAMS; i++) {
		bench->programs[i] = bpf_program__fd(programs[i]);
		bench->holds[i] = -1;
	}
	if (bench->running.program != bench->programs[BENCH_LIMITER])
		errx(1, "the loader took another program for the limiter");
}

/* The object is not loaded by its skeleton, which so still shows what it began with. */
static void map_variables(struct bench *bench)
{
	bench->variables = mmap(NULL, sizeof(*bench->variables), PROT_READ | PROT_WRITE, MAP_SHARED,
				bpf_map__fd(bench->skeleton->maps.bss), 0);
	if (bench->variables == MAP_FAILED)
		err(1, "cannot reach the generators");
}

static void load(struct bench *bench, const struct policy *policy)
{
	struct bpf_object *object = bench->skeleton->obj;
	struct config *config = (struct config *)bench->skeleton->rodata_config;
	struct running *running = &bench->running;
	const struct switches switches = {.generation = 1};
	struct kernel_features features;
	uint32_t index = 0;

	if (kernel_features(&features))
		errx(1, "cannot ask the kernel for its features");
	compile(bench, policy, &features);
	if (object_fresh_maps(object, &running->table) || object_size(object, policy, config))
		errx(1, "cannot make the maps");
	running->program = object_load(object, object_choose(object, TABLE_LRU, false),
				       features.xdp_frags, running->maps);
	if (running->program < 0)
		errx(1, "cannot load: %s: %s", strerror(-running->program),
		     kernel_log_text() ?: "");
	if (object_fill(object, policy, config) ||
	    bpf_map_update_elem(running->maps[MAP_SWITCHES], &index, &switches, 0))
		errx(1, "cannot fill the maps");
	running->config = *config;
	find_programs(bench);
	map_variables(bench);
}

bool bench_open(struct bench *bench, const char *text)
{
	static struct policy policy; /* too large for the stack */
	bool parsed = parse_policy(&policy, text);

	memset(bench, 0, sizeof(*bench));
	if (parsed) {
		kernel_log_start();
		bench->skeleton = xdp_limit_bench__open();
		if (!bench->skeleton)
			err(1, "cannot open the object");
		load(bench, &policy);
	}
	policy_free(&policy);
	return parsed;
}

void bench_hold(struct bench *bench, enum bench_program program)
{
	if (bench->holds[program] < 0)
		bench->holds[program] = hold_program(bench->programs[program]);
}

void bench_close(struct bench *bench)
{
	for (int i = 0; i < BENCH_PROGRAMS; i++)
		if (bench->holds[i] >= 0)
			close(bench->holds[i]);
	munmap(bench->variables, sizeof(*bench->variables));
	xdp_limit_bench__destroy(bench->skeleton);
	bench->skeleton = NULL;
}

/* ---- sources ---- */

void bench_frame(struct frame *frame, unsigned int family)
{
	frame_start(frame);
	frame_ethernet(frame);
	/* All of the source is drawn, so that the template's checksum needs no source taken off. */
	if (family == 4)
		frame_ipv4(frame, .source = "0.0.0.0");
	else
		frame_ipv6(frame, .source = "2001:db8::a");
	frame_udp(frame);
	frame_pad_to(frame, 64);
	frame_finish(frame);
}

static void set_generators(struct bench *bench, const struct frame *frame,
			   const struct generator *shape, uint32_t first, uint32_t apart)
{
	struct generator *generators = bench->variables->generators;
	uint32_t head;

	memcpy(&head, frame->bytes + BENCH_DRAWN_AT, sizeof(head));
	for (uint64_t cpu = 0; cpu < BENCH_CPUS; cpu++) {
		struct generator *generator = &generators[cpu];

		*generator = *shape;
		generator->base = (uint64_t)bench_address(first + (uint32_t)cpu * apart) << 32 |
				  head;
		/* Another row of numbers for each CPU; a counter starts at its first. */
		if (shape->multiplier != 1)
			generator->state = (cpu + 1) * 0x9e3779b97f4a7c15ULL;
		generator->word = bench_word(generator, generator->state);
	}
}

void draw_random(struct bench *bench, const struct frame *frame, uint32_t count, bool apart)
{
	const struct generator shape = {
		.multiplier = LCG_MULTIPLIER, .increment = LCG_INCREMENT, .count = count};

	set_generators(bench, frame, &shape, 0, apart ? count : 0);
}

void draw_each(struct bench *bench, const struct frame *frame, uint32_t first)
{
	const struct generator shape = {
		.multiplier = 1, .increment = BENCH_WALK_STEP, .count = BENCH_ALL};

	set_generators(bench, frame, &shape, first, 0);
}

/* Behind all that the columns of known sources have. */
#define FIRST_NEW (1U << 24)

void draw_new(struct bench *bench, const struct frame *frame)
{
	const struct generator shape = {
		.multiplier = 1, .increment = BENCH_WALK_STEP, .count = BENCH_ALL};
	unsigned int cpus = libbpf_num_possible_cpus();

	set_generators(bench, frame, &shape, FIRST_NEW, (uint32_t)((BENCH_ALL - FIRST_NEW) / cpus));
}

void bench_address_text(uint32_t index, char text[16])
{
	uint32_t address = bench_address(index);

	/* As it lies in memory. */
	snprintf(text, 16, "%u.%u.%u.%u", address & 255, address >> 8 & 255, address >> 16 & 255,
		 address >> 24);
}

void bench_send_to(struct bench *bench, unsigned int ifindex)
{
	bench->variables->send_to = ifindex;
}

/* ---- running ---- */

uint32_t bench_run(const struct bench *bench, enum bench_program program, const struct frame *frame,
		   uint32_t packets)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame->bytes, .data_size_in = frame->length,
		    .repeat = packets);

	if (program == BENCH_SEND)
		run.flags = BPF_F_TEST_XDP_LIVE_FRAMES;
	if (bpf_prog_test_run_opts(bench->programs[program], &run))
		err(1, "BPF_PROG_TEST_RUN");
	/* Of live frames the kernel tells nothing. */
	if (run.retval == XDP_ABORTED && !run.flags)
		errx(1, "the program for measuring gave up");
	return run.duration;
}
