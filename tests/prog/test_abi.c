// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* O-102: a program of another version is named with both versions, and replaced on request. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <bpf/bpf.h>
#include <linux/if_link.h>
#include "kernel.h"
#include "kernel_object.h"
#include "prog.h"

#define OTHER_ABI (XDP_LIMIT_ABI + 7U)
#define LOOPBACK  1 /* its index in every network namespace */

/* Runs the program in this process's network namespace; its exit status, and what it said. */
static int run(const char *command, char *said, size_t size)
{
	char line[256];
	size_t used = 0;
	FILE *pipe;

	snprintf(line, sizeof(line), "%s/xdp-limit %s 2>&1", getenv("BUILD") ?: "build", command);
	pipe = popen(line, "r");
	assert_non_null(pipe);
	while (used + 1 < size && fgets(said + used, (int)(size - used), pipe))
		used += strlen(said + used);
	said[used] = '\0';
	return WEXITSTATUS(pclose(pipe));
}

/* The program as another version would have left it on lo, in generic mode. Returns the link. */
static int attach_other(struct bpf_object **object)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = XDP_FLAGS_SKB_MODE);
	struct policy policy = packet_policy("10pps", "10");
	static const struct compile_facts facts = {.possible_cpus = 2, .generic = true};
	struct kernel_features features;
	struct table_identity table;
	struct config *config;
	struct complaint why;
	int maps[MAP_COUNT];
	int program;

	assert_int_equal(kernel_features(&features), 0);
	*object = object_open(features.skb_facts, &config);
	assert_non_null(*object);
	assert_int_equal(table_new(&policy, &table, &why), 0);
	assert_int_equal(compile_policy(&policy, &table, &facts, config, &why), 0);
	config->magic = XDP_LIMIT_MAGIC;
	config->abi = OTHER_ABI;
	assert_int_equal(object_fresh_maps(*object, &table), 0);
	assert_int_equal(object_size(*object, &policy, config), 0);
	program = object_load(*object, object_choose(*object, TABLE_LRU, false), features.xdp_frags,
			      maps);
	assert_true(program >= 0);
	return bpf_link_create(program, LOOPBACK, BPF_XDP, &options);
}

static void another_version(void **state)
{
	struct attachment before, after;
	struct bpf_object *object;
	char said[1024], versions[64];
	int link;

	(void)state;
	link = attach_other(&object);
	assert_true(link >= 0);
	assert_int_equal(attachment_find(LOOPBACK, &before), 0);

	assert_int_equal(run("status lo", said, sizeof(said)), 3);
	snprintf(versions, sizeof(versions), "is of ABI %u, this xdp-limit of %u", OTHER_ABI,
		 (unsigned int)XDP_LIMIT_ABI);
	if (!strstr(said, versions))
		fail_msg("'%s' does not say '%s'", said, versions);

	assert_int_equal(run("attach lo --mode generic --rate 5pps", said, sizeof(said)), 0);
	if (!strstr(said, "buckets start afresh"))
		fail_msg("'%s' does not say that state is lost", said);
	assert_int_equal(attachment_find(LOOPBACK, &after), 0);
	assert_int_equal(after.link_id, before.link_id);
	assert_int_not_equal(after.program_id, before.program_id);
	assert_int_equal(run("status lo --check", said, sizeof(said)), 0);
	assert_int_equal(run("detach lo", said, sizeof(said)), 0);
	close(link);
	bpf_object__close(object);
}

/* A network namespace that ends with this process. */
static int leave(void **state)
{
	(void)state;
	kernel_log_start();
	return unshare(CLONE_NEWNET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"O-102: another version is named, and replaced in place", another_version, NULL,
		 NULL, NULL},
	};

	return cmocka_run_group_tests(tests, leave, NULL);
}
