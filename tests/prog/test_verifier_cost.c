// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the verifier pays for the program, policy by policy, against a committed baseline (O-112).
 *
 * Without arguments a test: more than COST_MAX instructions fail on any kernel; more than 10 % above
 * tests/verifier-cost.txt fail on the kernel series that it was written on.
 * --print writes such a file.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernel.h"
#include "kernel_object.h"
#include "yaml_policy.h"

#define BASELINE     "tests/verifier-cost.txt"
#define COST_MAX     100000
#define GROWTH_MAX   10 /* percent */
#define SERIES_LINE  "kernel %u.%u"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct shape {
	const char *name; /* a word of the baseline */
	unsigned int packet_limits, byte_limits;
	bool generic;
	bool skb_facts; /* where the kernel has them: from Linux 6.2 on */
	bool may_have_frags;
	bool dry_run;
	const char *policy; /* as in a file, instead of the limits above */
};

/* 32 limits that use all there is. */
#define ALL_OF(name, per, rest)                                                                  \
	"  - {name: " name ", match: {protocol: [udp, tcp], destination-port: 53, "              \
	"source-port: 1-60000, length: 10-1500, vlan: 0-100, destination: [10.0.0.0/8, 1.2.3.4]" \
	"}, per: " per ", rate: 9/h, burst: 9, tiers: {a: {rate: 5/h}}" rest "}\n"
#define EACH_KIND(n)                                               \
	ALL_OF(n "a", "source", ", on-exceed: {ban: 10s}")         \
	ALL_OF(n "b", "[source/24, source/48]", ", mode: observe") \
	ALL_OF(n "c", "[source/16, source/32]", "")                \
	ALL_OF(n "d", "destination", "")                           \
	ALL_OF(n "e", "source+destination", ", on-exceed: {ban: 10s}")

static const char everything[] = "allow: [192.0.2.0/24, 192.0.3.1]\n"
				 "deny: [203.0.113.0/24, 203.0.114.1]\n"
				 "tiers: [{name: a, sources: [172.16.0.0/12]}]\n"
				 "limits:\n" EACH_KIND("p") EACH_KIND("q") EACH_KIND("r")
					 EACH_KIND("s") EACH_KIND("t") EACH_KIND("u")
						 ALL_OF("va", "interface", "") ALL_OF(
							 "vb", "interface", ", mode: observe");

static struct shape shapes[] = {
	{"packets", .packet_limits = 1, .skb_facts = true},
	{"packets+bytes", .packet_limits = 1, .byte_limits = 1, .skb_facts = true},
	{"packets+bytes,dry-run", .packet_limits = 1, .byte_limits = 1, .skb_facts = true,
	 .dry_run = true},
	{"packets+bytes,generic", .packet_limits = 1, .byte_limits = 1, .skb_facts = true,
	 .generic = true},
	{"packets+bytes,old-kernel", .packet_limits = 1, .byte_limits = 1},
	{"packets+bytes,old-kernel,frags", .packet_limits = 1, .byte_limits = 1,
	 .may_have_frags = true},
	{"packets+bytes,old-kernel,generic", .packet_limits = 1, .byte_limits = 1, .generic = true,
	 .may_have_frags = true},
	{"8-limits", .packet_limits = 4, .byte_limits = 4, .skb_facts = true},
	{"32-limits", .packet_limits = 16, .byte_limits = 16, .skb_facts = true},
	{"lists+tiers", .skb_facts = true,
	 .policy = "allow: [192.0.2.0/24, 192.0.3.1]\ndeny: [203.0.113.0/24]\n"
		   "tiers: [{name: a, sources: [10.0.0.0/8]}]\n"
		   "limits: [{name: x, rate: 9/s, tiers: {a: 5/s}}]\n"},
	{"ports+flags", .skb_facts = true,
	 .policy = "limits:\n"
		   "  - {name: x, match: {protocol: udp, destination-port: 53}, rate: 9/s}\n"
		   "  - {name: y, match: {tcp-flags: syn}, rate: 9/s}\n"},
	{"ban", .skb_facts = true,
	 .policy = "limits: [{name: x, rate: 9/s, burst: 9, on-exceed: {ban: 9s}}]\n"},
	{"windows", .skb_facts = true,
	 .policy = "limits:\n"
		   "  - {name: x, rate: 9 per 1s, algorithm: fixed-window}\n"
		   "  - {name: y, rate: 9 per 1s, algorithm: sliding-window}\n"},
	{"sliding-log", .skb_facts = true,
	 .policy = "limits: [{name: x, rate: 9 per 1s, algorithm: sliding-log}]\n"},
	{"six-kinds", .skb_facts = true,
	 .policy = "limits:\n"
		   "  - {name: a, rate: 9/s}\n"
		   "  - {name: b, per: [source/24, source/48], rate: 9/s}\n"
		   "  - {name: c, per: [source/16, source/32], rate: 9/s}\n"
		   "  - {name: d, per: destination, rate: 9/s}\n"
		   "  - {name: e, per: source+destination, rate: 9/s}\n"
		   "  - {name: f, per: interface, rate: 9/s}\n"},
	{"everything", .skb_facts = true, .policy = everything},
	{"flat", .skb_facts = true,
	 .policy = "table: {type: flat}\nlimits: [{name: x, rate: 9/s}]\n"},
	{"flat,six-kinds", .skb_facts = true,
	 .policy = "table: {type: flat, new-sources: 9/s}\n"
		   "tiers: [{name: t, sources: [10.0.0.0/8]}]\n"
		   "limits:\n"
		   "  - {name: a, rate: 9/s, tiers: {t: 5/s}, on-exceed: {ban: 10s}}\n"
		   "  - {name: b, per: [source/24, source/48], rate: 9/s, mode: observe}\n"
		   "  - {name: c, per: [source/16, source/32], rate: 9 kB/s}\n"
		   "  - {name: d, per: destination, rate: 9/s}\n"
		   "  - {name: e, per: source+destination, rate: 9/s}\n"
		   "  - {name: f, per: interface, rate: 9 per 1s, algorithm: fixed-window}\n"},
};

static void add_limits(struct policy *policy, enum unit unit, unsigned int count)
{
	const struct rate rate = {
		.kind = LIMIT_METERED,
		.unit = unit,
		.amount = 1000000,
		.per_ns = NS_PER_SECOND,
	};
	struct complaint why;
	char name[NAME_SIZE];

	while (count--) {
		snprintf(name, sizeof(name), "limit-%u", policy->limit_count);
		assert_non_null(policy_add_limit(policy, name, &rate, &why));
	}
}

static void fill_policy(const struct shape *shape, struct policy *policy)
{
	if (shape->policy) {
		yaml_policy(policy, shape->policy);
		return;
	}
	policy_defaults(policy);
	policy->sources = SOURCES_MIN;
	policy->dry_run = shape->dry_run;
	add_limits(policy, UNIT_PACKETS, shape->packet_limits);
	add_limits(policy, UNIT_BYTES, shape->byte_limits);
}

/* Instructions processed, or -errno of the load; -ENODATA when the kernel doesn't say. */
static int64_t cost_of(const struct shape *shape, const struct kernel_features *features)
{
	const struct compile_facts facts = {
		.possible_cpus = features->possible_cpus,
		.generic = shape->generic,
		.skb_facts = shape->skb_facts && features->skb_facts,
		.may_have_frags = shape->may_have_frags,
		.load_bytes = features->xdp_frags,
	};
	struct config *config;
	struct bpf_object *object = object_open(facts.skb_facts, &config);
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	struct table_identity table;
	struct complaint why;
	struct policy policy;
	int maps[MAP_COUNT];
	int fd;

	assert_non_null(object);
	fill_policy(shape, &policy);
	assert_int_equal(table_new(&policy, &table, &why), 0);
	assert_int_equal(compile_policy(&policy, &table, &facts, config, &why), 0);
	assert_int_equal(object_fresh_maps(object, &table), 0);
	assert_int_equal(object_size(object, &policy, config), 0);
	fd = object_load(object, object_choose(object, table.type, false), features->xdp_frags,
			 maps);
	if (fd >= 0)
		fd = bpf_obj_get_info_by_fd(fd, &info, &size) ? -errno : 0;
	bpf_object__close(object);
	if (fd < 0)
		return fd;
	return info.verified_insns ? (int64_t)info.verified_insns : -ENODATA;
}

static unsigned int series(void)
{
	return kernel_release() >> 8;
}

/* The baseline of @name, or 0; @written_on gets the kernel series. */
static uint64_t baseline_of(const char *name, unsigned int *written_on)
{
	FILE *file = fopen(BASELINE, "r");
	unsigned int major, minor;
	uint64_t cost = 0, found = 0;
	char line[256], word[64];

	*written_on = 0;
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, SERIES_LINE, &major, &minor) == 2)
			*written_on = major << 8 | minor;
		else if (sscanf(line, "%63s %lu", word, &cost) == 2 && !strcmp(word, name))
			found = cost;
	}
	if (file)
		fclose(file);
	return found;
}

static void skip_because(const char *why)
{
	print_message("# %s\n", why);
	skip();
}

/* The cost of @shape here; ends the case where there is none. */
static uint64_t measure(const struct shape *shape)
{
	struct kernel_features features;
	int64_t cost;

	assert_int_equal(kernel_features(&features), 0);
	cost = cost_of(shape, &features);
	if (cost == -ENODATA)
		skip_because("this kernel doesn't count (5.16 does)");
	if (cost < 0)
		fail_msg("%s does not load: %s: %s", shape->name, strerror((int)-cost),
			 kernel_log_text() ?: "");
	return (uint64_t)cost;
}

static void within_baseline(void **state)
{
	const struct shape *shape = *state;
	unsigned int written_on;
	uint64_t baseline = baseline_of(shape->name, &written_on);
	uint64_t cost = measure(shape);

	print_message("# %s: %lu instructions\n", shape->name, cost);
	assert_in_range(cost, 1, COST_MAX);
	if (written_on != series())
		return;
	if (!baseline)
		fail_msg("%s is not in " BASELINE "; run make verifier-cost-update", shape->name);
	if (cost * 100 > baseline * (100 + GROWTH_MAX))
		fail_msg("%s: %lu instructions, baseline %lu: more than %d %% above", shape->name,
			 cost, baseline, GROWTH_MAX);
}

static int print_costs(void)
{
	struct kernel_features features;

	if (kernel_features(&features)) {
		fputs("needs root\n", stderr);
		return 1;
	}
	printf("# Instructions that the verifier processes to load the program, by policy.\n"
	       "# Rewritten by `make verifier-cost-update`; compared only on this kernel series.\n" SERIES_LINE
	       "\n",
	       series() >> 8, series() & 255);
	for (size_t i = 0; i < COUNT(shapes); i++) {
		int64_t cost = cost_of(&shapes[i], &features);

		if (cost < 0) {
			fprintf(stderr, "%s: %s: %s\n", shapes[i].name, strerror((int)-cost),
				kernel_log_text() ?: "");
			return 1;
		}
		printf("%-34s %ld\n", shapes[i].name, cost);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[COUNT(shapes)];

	kernel_log_start();
	if (argc > 1)
		return strcmp(argv[1], "--print") ? 2 : print_costs();
	for (size_t i = 0; i < COUNT(shapes); i++)
		tests[i] = (struct CMUnitTest){
			.name = shapes[i].name,
			.test_func = within_baseline,
			.initial_state = &shapes[i],
		};
	return cmocka_run_group_tests_name("O-112: verifier cost", tests, NULL, NULL);
}
