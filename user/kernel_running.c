// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A running limiter, found by what the kernel says is attached. */
#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>
#include "kernel.h"
#include "kernel_open.h"
#include "kernel_program.h"

const char *const map_names[MAP_COUNT] = {
	[MAP_BUCKETS] = "buckets",
	[MAP_FLAT] = "flat",
	[MAP_LIMITED] = "limited",
	[MAP_LOSSES] = "losses",
	[MAP_TALLY_CACHE] = "tally_cache",
	[MAP_TABLE_EVENTS] = "table_events",
	[MAP_GATE] = "gate",
	[MAP_COUNTERS] = "counters",
	[MAP_BUDGETS] = "budgets",
	[MAP_INTERFACE_WORDS] = "iface_words",
	[MAP_LOG_SLOTS] = "log_slots",
	[MAP_SWITCHES] = "switches",
	[MAP_GUARDS] = "guards",
	[MAP_LIVE_EXACT] = "live_exact",
	[MAP_LIVE_PREFIX] = "live_prefix",
	[MAP_LIVE_EXACT_BITS] = "live_xbits",
	[MAP_LIVE_PREFIX_BITS] = "live_pbits",
	[MAP_PENALTIES] = "penalties",
	[MAP_PENALTY_BITS] = "penalty_bits",
	[MAP_TABLE] = "table",
	[MAP_LEDGER] = "ledger",
	[MAP_BASELINE] = "baseline",
	[MAP_LISTENING] = "listening",
	[MAP_RINGS] = "rings",
	[MAP_EVENT_SEEN] = "event_seen",
	[MAP_DURATIONS] = "durations",
	[MAP_LIVE_SET] = "live_set",
	[MAP_PREVIOUS] = "previous",
	[MAP_CONFIG] = ".rodata.config", /* bpf/common.h; the pin has no dots: pin_name() */
	[MAP_TEXT] = "policy_text",
	[MAP_TIERS] = "tier_prefix",
	[MAP_FILE_EXACT] = "file_exact",
	[MAP_FILE_PREFIX] = "file_prefix",
};

bool map_is_own(enum map_id id)
{
	static const bool own[MAP_COUNT] = {
		[MAP_COUNTERS] = true,	 [MAP_BUDGETS] = true,	 [MAP_INTERFACE_WORDS] = true,
		[MAP_BASELINE] = true,	 [MAP_LISTENING] = true, [MAP_RINGS] = true,
		[MAP_EVENT_SEEN] = true, [MAP_DURATIONS] = true,
	};

	return own[id];
}

static int open_maps(struct running *running)
{
	uint32_t index = 0;
	int err = program_maps(running->attachment.ifindex, running->program, running->maps);

	if (err)
		return err == -ENOENT ? -EPROTO : err;
	return bpf_map_lookup_elem(running->maps[MAP_TABLE], &index, &running->table) ? -errno : 0;
}

void running_clear(struct running *running)
{
	*running = (struct running){.program = -1};
	for (int i = 0; i < MAP_COUNT; i++)
		running->maps[i] = -1;
}

int running_open(unsigned int ifindex, struct running *running)
{
	int err;

	running_clear(running);
	err = attachment_find(ifindex, &running->attachment);
	if (err)
		return err;
	if (!running->attachment.ours)
		return -ENOENT;
	running->program = open_program(ifindex, running->attachment.program_id);
	if (running->program < 0)
		return running->program;
	err = program_config(ifindex, running->program, &running->config);
	if (err)
		return err;
	if (running->config.abi != XDP_LIMIT_ABI)
		return -EPROTO;
	return open_maps(running);
}

void running_close(struct running *running)
{
	for (int i = 0; i < MAP_COUNT; i++)
		if (running->maps[i] >= 0)
			close(running->maps[i]);
	if (running->program >= 0)
		close(running->program);
}
