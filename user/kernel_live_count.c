// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How many entries live on the live lists: one walk in batches, where live_visit() asks for each. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "kernel.h"
#include "kernel_live_set.h"

#define BATCH 8192U

/* Calls @note for each value of a hash: 0 or -errno. */
static int walk_values(int map, size_t key_size, size_t value_size,
		       void (*note)(const void *value, void *context), void *context)
{
	char *keys = malloc(BATCH * key_size), *values = malloc(BATCH * value_size);
	int err = keys && values ? 0 : -ENOMEM;
	bool started = false, ended = false;
	uint32_t position, count;

	while (!err && !ended) {
		count = BATCH;
		if (bpf_map_lookup_batch(map, started ? &position : NULL, &position, keys, values,
					 &count, NULL)) {
			ended = errno == ENOENT;
			err = ended ? 0 : -errno;
		}
		started = true;
		for (uint32_t i = 0; i < count && !err; i++)
			note(values + i * value_size, context);
	}
	free(keys);
	free(values);
	return err;
}

struct counting {
	uint64_t now;
	uint64_t *counts;
};

static void note_address(const void *value, void *context)
{
	const struct counting *counting = context;
	const struct listing *listing = value;

	counting->counts[LIVE_ALLOW] += listing->allow_until_ns > counting->now;
	counting->counts[LIVE_DENY] += listing->deny_until_ns > counting->now;
	counting->counts[LIVE_BAN] += listing->ban_until_ns > counting->now;
}

static void note_penalty(const void *value, void *context)
{
	const struct counting *counting = context;
	const struct penalty *penalty = value;

	counting->counts[LIVE_BAN] += penalty->until_ns > counting->now;
}

/* Each prefix for itself: what covers it stands for itself too. */
static void count_prefixes(const struct running *running, const struct counting *counting)
{
	int map = running->maps[MAP_LIVE_PREFIX];
	struct prefix_key key, next;

	for (void *from = NULL; !bpf_map_get_next_key(map, from, &next); from = &key) {
		struct prefix_listing listing;

		key = next;
		if (bpf_map_lookup_elem(map, &key, &listing))
			continue;
		counting->counts[LIVE_ALLOW] += listing.levels[0].allow_until_ns > counting->now;
		counting->counts[LIVE_DENY] += listing.levels[0].deny_until_ns > counting->now;
		counting->counts[LIVE_BAN] += listing.own_ban_until_ns > counting->now;
	}
}

int live_count(const struct running *running, uint64_t counts[LIVE_COUNT])
{
	struct counting counting = {boot_clock_ns(), counts};
	int set = live_set_open(running);
	int err = set < 0 ? set : 0;

	for (int i = 0; i < LIVE_COUNT; i++)
		counts[i] = 0;
	if (!err)
		err = walk_values(set, sizeof(struct address_key), sizeof(struct listing),
				  note_address, &counting);
	if (set >= 0)
		close(set);
	count_prefixes(running, &counting);
	return err
		       ?: walk_values(running->maps[MAP_PENALTIES], sizeof(struct address_key),
				      sizeof(struct penalty), note_penalty, &counting);
}
