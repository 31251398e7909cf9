// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Loads the program of a policy, on fresh maps or on those of the limiter that runs. */
#include "kernel_load.h"

#include <bpf/bpf.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "compile_gate.h"
#include "kernel_dispatcher.h"
#include "kernel_live_set.h"
#include "kernel_object.h"
#include "kernel_switches.h"
#include "memory.h"
#include "policy_file.h"
#include "report.h"

static uint64_t real_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

int refuse(struct refusal *refusal, enum attach_step step, int err)
{
	refusal->step = step;
	refusal->err = err;
	refusal->kernel_text = kernel_log_text();
	return err;
}

/* The table's identity that the policy needs: the running one's, extended, or a new one. */
static int choose_table(const struct attach_request *request, const struct heritage *heritage,
			struct table_identity *table, struct complaint *why)
{
	int err;

	if (heritage->first) {
		*table = heritage->first->table;
		return 0;
	}
	if (heritage->table) {
		*table = heritage->table->table;
		return table_extend(request->policy, table, why);
	}
	err = table_new(request->policy, table, why);
	table->made_ns = real_clock_ns();
	snprintf(table->shared_name, sizeof(table->shared_name), "%s", request->shared_name ?: "");
	return err;
}

/* Whether limits of the running policy, or of one before it, have banned anybody. */
static bool penalties_left(const struct running *running)
{
	struct address_key key;

	return running && running->config.penalties &&
	       !bpf_map_get_next_key(running->maps[MAP_PENALTIES], NULL, &key);
}

/* What the program knows of its interface, apart from the policy. */
static void describe_interface(const struct running *own, const struct netdev *netdev,
			       struct config *config)
{
	if (own) {
		config->attached_ns = own->config.attached_ns;
		config->device_packets = own->config.device_packets;
	} else {
		config->attached_ns = real_clock_ns();
		config->device_packets = netdev->rx_packets;
	}
	snprintf(config->interface, sizeof(config->interface), "%s", netdev->name);
}

static int compile(const struct policy *policy, const struct attach_target *target,
		   const struct heritage *heritage, const struct kernel_features *features,
		   struct loaded *loaded, struct complaint *why)
{
	const struct compile_facts facts = {
		.possible_cpus = features->possible_cpus,
		.generic = target->generic,
		.skb_facts = features->skb_facts,
		.may_have_frags = features->xdp_frags,
		.load_bytes = features->xdp_frags,
		.penalties_left = penalties_left(heritage->table ?: heritage->lists),
	};
	struct config *config = loaded->config;
	int err = compile_policy(policy, &loaded->table, &facts, config, why);

	if (err)
		return err;
	config->magic = XDP_LIMIT_MAGIC;
	config->abi = XDP_LIMIT_ABI;
	config->generation = heritage->generation;
	loaded->generation = heritage->generation;
	describe_interface(heritage->own, &target->netdev, config);
	return 0;
}

/*
 * The policy as text goes with the program: `show` prints what runs, not what a file says by now.
 * Its size is the text's, so the map is made here and bound to the program.
 */
static int keep_text(const struct policy *policy, struct loaded *loaded)
{
	char *text;
	size_t size;
	uint32_t index = 0;
	int err = policy_to_text(policy, &text, &size);
	int map = -1;

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
	bool several = request->count > 1 && !request->shared_name;
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
	int err = switches_read(lists->maps, &switches);

	if (err)
		return err;
	loaded->live_lists = switches.live_lists;
	loaded->table.seed = lists->table.seed;
	return 0;
}

static void warn_gate(const struct policy *policy, const struct loaded *loaded)
{
	struct complaint why;

	if (gate_warning(policy, loaded->table.capacity, loaded->config, &why))
		report_warning("%s", why.text);
}

/* Fresh maps, or those that it goes on with: the table's, and the interface's own. */
static int take_maps(struct bpf_object *object, const struct heritage *heritage,
		     const struct table_identity *table, const struct config *config)
{
	int err;

	if (heritage->first)
		err = object_share_table(object, config, heritage->first->maps);
	else if (heritage->table)
		err = object_share_table(object, config, heritage->table->maps);
	else
		err = object_fresh_maps(object, table);
	if (!err && !heritage->first && !heritage->table && heritage->lists)
		err = object_share_lists(object, config, heritage->lists->maps);
	return err ?: heritage->own ? object_share_own(object, heritage->own->maps) : 0;
}

/* The policy compiled into an opened object that has its maps. */
static int prepare(const struct attach_request *request, const struct attach_target *target,
		   const struct heritage *heritage, const struct kernel_features *features,
		   struct loaded *loaded, struct refusal *refusal, struct complaint *why)
{
	bool fresh = !heritage->first && !heritage->table;
	struct config *config;
	int err = choose_table(request, heritage, &loaded->table, why);

	if (err)
		return err;
	if (fresh && heritage->lists) {
		err = take_lists(heritage->lists, loaded);
		if (err)
			return refuse(refusal, STEP_PROBE, err);
	} else if (heritage->first) {
		loaded->live_lists = heritage->first->live_lists;
	}
	refusal->map_name = map_names[loaded->table.type == TABLE_FLAT ? MAP_FLAT : MAP_BUCKETS];
	loaded->object = object_open(features->skb_facts, &loaded->config);
	if (!loaded->object)
		return refuse(refusal, STEP_LOAD, -errno);
	err = compile(request->policy, target, heritage, features, loaded, why);
	if (err)
		return err;
	config = loaded->config;
	refusal->memory_estimate = memory_limiter(&loaded->table, request->policy, config,
						  features->possible_cpus);
	if (fresh)
		note_memory(request, target, &loaded->table, refusal->memory_estimate);
	if (target == request->targets) /* the others would say the same */
		warn_gate(request->policy, loaded);
	config->on_trial = request->confirm_ns != 0;
	config->has_previous = heritage->previous >= 0;
	err = take_maps(loaded->object, heritage, &loaded->table, config);
	err = err ?: object_size(loaded->object, request->policy, config);
	return err ? refuse(refusal, STEP_CREATE_MAP, err) : 0;
}

/* Of live addresses, where the program shares one. */
static int open_live_set(const struct heritage *heritage)
{
	int set;

	if (!heritage->first)
		return live_set_open(heritage->table ?: heritage->lists);
	set = fcntl(heritage->first->maps[MAP_LIVE_SET], F_DUPFD_CLOEXEC, 0);
	return set < 0 ? -errno : set;
}

/* A member is put into its dispatcher in the same step, and judges nothing yet. */
static int load_member(const struct attach_target *target, struct bpf_program *program,
		       struct loaded *loaded, struct refusal *refusal)
{
	const struct joining joining = {
		.ifindex = target->netdev.ifindex,
		.generic = target->generic,
		.priority = target->priority,
		.object = loaded->object,
		.program = program,
	};
	int err = dispatcher_join(&joining);

	if (err)
		return refuse(refusal, STEP_JOIN, err);
	loaded->joined = true;
	loaded->program = object_ready(joining.object, program, loaded->maps);
	return loaded->program < 0 ? refuse(refusal, STEP_LOAD, loaded->program) : 0;
}

static int load_program(const struct attach_target *target, const struct kernel_features *features,
			struct loaded *loaded, struct refusal *refusal)
{
	struct bpf_object *object = loaded->object;
	struct bpf_program *program = object_choose(object, loaded->table.type, target->shared);

	if (target->shared)
		return load_member(target, program, loaded, refusal);
	loaded->program = object_load(object, program, features->xdp_frags, loaded->maps);
	if (loaded->program < 0)
		return refuse(refusal, STEP_LOAD, loaded->program);
	return 0;
}

int kernel_load(const struct attach_request *request, const struct attach_target *target,
		const struct heritage *heritage, struct loaded *loaded, struct refusal *refusal,
		struct complaint *why)
{
	struct kernel_features features;
	struct bpf_object *object;
	int err;

	*loaded = (struct loaded){.maps = {[MAP_LIVE_SET] = -1, [MAP_TEXT] = -1}};
	kernel_log_clear();
	err = kernel_features(&features);
	if (err)
		return refuse(refusal, STEP_PROBE, err);
	err = prepare(request, target, heritage, &features, loaded, refusal, why);
	if (err)
		return err;
	object = loaded->object;
	err = load_program(target, &features, loaded, refusal);
	if (err)
		return err;
	if (loaded->maps[MAP_LIVE_SET] == -EEXIST)
		loaded->maps[MAP_LIVE_SET] = open_live_set(heritage);
	if (loaded->maps[MAP_LIVE_SET] < 0)
		return refuse(refusal, STEP_CREATE_MAP, loaded->maps[MAP_LIVE_SET]);
	if (request->confirm_ns && !target->shared) {
		err = keep_previous(loaded, heritage->previous);
		if (err)
			return refuse(refusal, STEP_FILL, err);
	}
	err = object_fill(object, request->policy, loaded->config)
		      ?: keep_text(request->policy, loaded);
	return err ? refuse(refusal, STEP_FILL, err) : 0;
}

void kernel_unload(struct loaded *loaded)
{
	static const int owned[] = {MAP_TEXT, MAP_LIVE_SET};

	if (!loaded->object)
		return;
	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
		if (loaded->maps[owned[i]] >= 0)
			close(loaded->maps[owned[i]]);
	bpf_object__close(loaded->object);
	loaded->object = NULL;
}
