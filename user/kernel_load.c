// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Loads the program of a policy, on fresh maps or on those of the limiter that runs. */
#include "kernel_load.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "kernel_object.h"
#include "report.h"
#include "xdp_limit.skel.h"

/* Longer frames don't fit one buffer of any driver. */
#define SINGLE_BUFFER_MTU 3400

static int refuse(struct refusal *refusal, enum attach_step step, int err)
{
	refusal->step = step;
	refusal->err = err;
	refusal->kernel_text = kernel_log_text();
	return err;
}

/* The table's identity that the policy needs: the running one's, extended, or a new one. */
static int choose_table(const struct attach_request *request, const struct running *running,
			struct table_identity *table, struct complaint *why)
{
	int err;

	if (!running) {
		err = table_new(request->policy, table, why);
		table->device_packets = request->netdev->rx_packets;
		snprintf(table->interface, sizeof(table->interface), "%s", request->netdev->name);
		return err;
	}
	*table = running->table;
	return table_extend(request->policy, table, why);
}

static int compile(const struct attach_request *request, const struct running *running,
		   const struct kernel_features *features, struct loaded *loaded,
		   struct complaint *why)
{
	const struct compile_facts facts = {
		.possible_cpus = features->possible_cpus,
		.generic = request->generic,
		.skb_facts = features->skb_facts,
		.may_have_frags = features->xdp_frags &&
				  (request->generic || request->netdev->mtu > SINGLE_BUFFER_MTU),
	};
	struct config *config = (struct config *)loaded->skeleton->rodata_config;
	struct timespec now;
	int err = compile_policy(request->policy, &loaded->table, &facts, config, why);

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

/* Before it is taken. */
static void note_memory(const struct table_identity *table)
{
	char memory[UNITS_TEXT_SIZE];

	format_bytes(table_memory(table->capacity, table->words), memory, sizeof(memory));
	report_note("table for %u sources: about %s of kernel memory", table->capacity, memory);
}

int kernel_load(const struct attach_request *request, const struct running *running,
		struct loaded *loaded, struct refusal *refusal, struct complaint *why)
{
	struct kernel_features features;
	struct bpf_object *object;
	int err;

	memset(loaded, 0, sizeof(*loaded));
	kernel_log_clear();
	err = kernel_features(&features);
	if (err)
		return refuse(refusal, STEP_PROBE, err);
	err = choose_table(request, running, &loaded->table, why);
	if (err)
		return err;
	refusal->memory_estimate = table_memory(loaded->table.capacity, loaded->table.words);
	refusal->map_name = map_names[MAP_BUCKETS];
	loaded->skeleton = xdp_limit__open();
	if (!loaded->skeleton)
		return refuse(refusal, STEP_LOAD, -errno);
	err = compile(request, running, &features, loaded, why);
	if (err)
		return err;
	if (!running)
		note_memory(&loaded->table);
	object = loaded->skeleton->obj;
	err = running ? object_share_maps(object, running->maps)
		      : object_fresh_maps(object, &loaded->table);
	if (err)
		return refuse(refusal, STEP_CREATE_MAP, err);
	loaded->program = object_load(object, features.xdp_frags, loaded->maps);
	return loaded->program < 0 ? refuse(refusal, STEP_LOAD, loaded->program) : 0;
}

void kernel_unload(struct loaded *loaded)
{
	xdp_limit__destroy(loaded->skeleton);
	loaded->skeleton = NULL;
}
