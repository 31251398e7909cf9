// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Loads the program of a policy, on fresh maps or on those of the limiter that runs. */
#include "kernel_load.h"

#include <bpf/bpf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "compile_gate.h"
#include "kernel_live_set.h"
#include "kernel_object.h"
#include "memory.h"
#include "policy_file.h"
#include "report.h"
#include "xdp_limit.skel.h"

int refuse(struct refusal *refusal, enum attach_step step, int err)
{
	refusal->step = step;
	refusal->err = err;
	refusal->kernel_text = kernel_log_text();
	return err;
}

/* The table's identity that the policy needs: the running one's, extended, or a new one. */
static int choose_table(const struct attach_request *request, const struct netdev *netdev,
			const struct running *running, struct table_identity *table,
			struct complaint *why)
{
	int err;

	if (!running) {
		err = table_new(request->policy, table, why);
		table->device_packets = netdev->rx_packets;
		snprintf(table->interface, sizeof(table->interface), "%s", netdev->name);
		return err;
	}
	*table = running->table;
	return table_extend(request->policy, table, why);
}

/* Whether limits of the running policy, or of one before it, have banned anybody. */
static bool penalties_left(const struct running *running)
{
	struct address_key key;

	return running && running->config.penalties &&
	       !bpf_map_get_next_key(running->maps[MAP_PENALTIES], NULL, &key);
}

static int compile(const struct policy *policy, bool generic, const struct running *running,
		   const struct running *lists, const struct kernel_features *features,
		   struct loaded *loaded, struct complaint *why)
{
	const struct compile_facts facts = {
		.possible_cpus = features->possible_cpus,
		.generic = generic,
		.skb_facts = features->skb_facts,
		.may_have_frags = features->xdp_frags,
		.load_bytes = features->xdp_frags,
		.penalties_left = penalties_left(running ?: lists),
	};
	struct config *config = (struct config *)loaded->skeleton->rodata_config;
	struct timespec now;
	int err = compile_policy(policy, &loaded->table, &facts, config, why);

	if (err)
		return err;
	clock_gettime(CLOCK_REALTIME, &now);
	config->magic = XDP_LIMIT_MAGIC;
	config->abi = XDP_LIMIT_ABI;
	loaded->generation = running ? running->config.generation + 1 : 1;
	config->generation = loaded->generation;
	config->attached_ns = running ? running->config.attached_ns
				      : now.tv_sec * NS_PER_SECOND + now.tv_nsec;
	return 0;
}

/*
 * The policy as text goes with the program: `show` prints what runs, not what a file says by now.
 * Its size is the text's, so the map is made here and bound to the program.
 */
static int keep_text(const struct policy *policy, struct loaded *loaded)
{
	char *text = NULL;
	size_t size = 0;
	uint32_t index = 0;
	FILE *out = open_memstream(&text, &size);
	int err = out ? policy_print(policy, out) : -errno;
	int map = -1;

	if (out && fclose(out) && !err)
		err = -errno;
	if (!err) {
		map = bpf_map_create(BPF_MAP_TYPE_ARRAY, map_names[MAP_TEXT], sizeof(index),
				     size + 1, 1, NULL);
		if (map < 0 || bpf_map_update_elem(map, &index, text, BPF_ANY) ||
		    bpf_prog_bind_map(loaded->program, map, NULL))
			err = -errno;
		loaded->maps[MAP_TEXT] = map;
	}
	free(text);
	return err;
}

/* Before it is taken. */
static void note_memory(const struct attach_request *request, const struct attach_target *target,
			const struct table_identity *table, uint64_t bytes)
{
	bool several = request->count > 1;
	char memory[UNITS_TEXT_SIZE];

	format_bytes(bytes, memory, sizeof(memory));
	report_note("%s%stable for %u sources: about %s of kernel memory",
		    several ? target->netdev.name : "", several ? ": " : "", table->capacity,
		    memory);
}

/* Who the program falls back to, should nobody confirm it. */
static int keep_previous(const struct loaded *loaded, int previous_program)
{
	uint32_t index = 0;

	if (previous_program < 0)
		return 0;
	return bpf_map_update_elem(loaded->maps[MAP_PREVIOUS], &index, &previous_program, BPF_ANY)
		       ? -errno
		       : 0;
}

/* The filters of live lists are keyed by the table's seed, so it goes with them. */
static int take_lists(const struct running *lists, struct loaded *loaded)
{
	struct switches switches;
	uint32_t index = 0;

	if (bpf_map_lookup_elem(lists->maps[MAP_SWITCHES], &index, &switches))
		return -errno;
	loaded->live_lists = switches.live_lists;
	loaded->table.seed = lists->table.seed;
	return 0;
}

static void warn_gate(const struct policy *policy, const struct loaded *loaded)
{
	const struct config *config = (const struct config *)loaded->skeleton->rodata_config;
	struct complaint why;

	if (gate_warning(policy, loaded->table.capacity, config, &why))
		report_warning("%s", why.text);
}

/*
 * Functions that the kernel itself hasn't got (before 6.2) libbpf looks for in its modules. Only
 * CAP_SYS_ADMIN may list these, and without it libbpf says EINVAL.
 */
static int load_error(int err, const struct kernel_features *features)
{
	uint32_t id;

	if (err == -EINVAL && !features->skb_facts && bpf_btf_get_next_id(0, &id) && errno == EPERM)
		return -EPERM;
	return err;
}

int kernel_load(const struct attach_request *request, const struct attach_target *target,
		const struct running *running, const struct running *lists, int previous_program,
		struct loaded *loaded, struct refusal *refusal, struct complaint *why)
{
	struct kernel_features features;
	struct bpf_object *object;
	struct config *config;
	int err;

	*loaded = (struct loaded){.maps = {[MAP_LIVE_SET] = -1, [MAP_TEXT] = -1}};
	kernel_log_clear();
	err = kernel_features(&features);
	if (err)
		return refuse(refusal, STEP_PROBE, err);
	err = choose_table(request, &target->netdev, running, &loaded->table, why);
	if (err)
		return err;
	if (!running && lists) {
		err = take_lists(lists, loaded);
		if (err)
			return refuse(refusal, STEP_PROBE, err);
	}
	refusal->map_name = map_names[loaded->table.type == TABLE_FLAT ? MAP_FLAT : MAP_BUCKETS];
	loaded->skeleton = xdp_limit__open();
	if (!loaded->skeleton)
		return refuse(refusal, STEP_LOAD, -errno);
	err = compile(request->policy, target->generic, running, lists, &features, loaded, why);
	if (err)
		return err;
	config = (struct config *)loaded->skeleton->rodata_config;
	refusal->memory_estimate = memory_limiter(&loaded->table, request->policy, config,
						  features.possible_cpus);
	if (!running)
		note_memory(request, target, &loaded->table, refusal->memory_estimate);
	if (target == request->targets) /* the others would say the same */
		warn_gate(request->policy, loaded);
	object = loaded->skeleton->obj;
	err = running ? object_share_maps(object, config, running->maps)
		      : object_fresh_maps(object, &loaded->table);
	if (!err && !running && lists)
		err = object_share_lists(object, config, lists->maps);
	if (err)
		return refuse(refusal, STEP_CREATE_MAP, err);
	config->on_trial = request->confirm_ns != 0;
	config->has_previous = previous_program >= 0;
	err = object_size(object, request->policy, config);
	if (err)
		return refuse(refusal, STEP_CREATE_MAP, err);
	loaded->program = object_load(object, object_choose(object, loaded->table.type, false),
				      features.xdp_frags, loaded->maps);
	if (loaded->program < 0)
		return refuse(refusal, STEP_LOAD, load_error(loaded->program, &features));
	if (loaded->maps[MAP_LIVE_SET] == -EEXIST)
		loaded->maps[MAP_LIVE_SET] = live_set_open(running ?: lists);
	if (loaded->maps[MAP_LIVE_SET] < 0)
		return refuse(refusal, STEP_CREATE_MAP, loaded->maps[MAP_LIVE_SET]);
	if (request->confirm_ns) {
		err = keep_previous(loaded, previous_program);
		if (err)
			return refuse(refusal, STEP_LOAD, err);
	}
	err = object_fill(object, request->policy, config) ?: keep_text(request->policy, loaded);
	return err ? refuse(refusal, STEP_CREATE_MAP, err) : 0;
}

void kernel_unload(struct loaded *loaded)
{
	static const int owned[] = {MAP_TEXT, MAP_LIVE_SET};

	if (!loaded->skeleton)
		return;
	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
		if (loaded->maps[owned[i]] >= 0)
			close(loaded->maps[owned[i]]);
	xdp_limit__destroy(loaded->skeleton);
	loaded->skeleton = NULL;
}
