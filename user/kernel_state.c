// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a table's maps say of the program that is about to run on it: guards, switches, identity. */
#include <bpf/bpf.h>
#include <errno.h>
#include "kernel_change.h"
#include "kernel_switches.h"

static int write_entry(int map, const void *key, const void *value)
{
	return bpf_map_update_elem(map, key, value, BPF_ANY) ? -errno : 0;
}

/* Ended guards leave, or all of them. Returns when the last of the others ends, 0 without any. */
static uint64_t sweep_guards(int map, bool all)
{
	struct address key, next, ended[GUARD_CAPACITY];
	uint64_t ends, last = 0, now = boot_clock_ns();
	unsigned int dead = 0;

	for (void *from = NULL; !bpf_map_get_next_key(map, from, &next); from = &key) {
		key = next;
		if (bpf_map_lookup_elem(map, &key, &ends))
			continue;
		if (ends > now && !all)
			last = ends > last ? ends : last;
		else if (dead < GUARD_CAPACITY)
			ended[dead++] = key;
	}
	while (dead)
		bpf_map_delete_elem(map, &ended[--dead]);
	return last;
}

static int set_switches(const struct loaded *loaded, uint64_t generation, uint64_t guards_end_ns,
			uint64_t deadline_ns)
{
	struct switches switches;
	int err = switches_read(loaded->maps, &switches);

	if (err)
		return err;
	switches.generation = generation;
	switches.guards_end_ns = guards_end_ns;
	switches.deadline_ns = deadline_ns;
	if (loaded->live_lists)
		switches.live_lists = loaded->live_lists;
	return switches_write(loaded->maps, &switches);
}

static void drop_first_guard(int map)
{
	struct address key, next, first;
	uint64_t ends, earliest = UINT64_MAX;

	for (void *from = NULL; !bpf_map_get_next_key(map, from, &next); from = &key) {
		key = next;
		if (bpf_map_lookup_elem(map, &key, &ends) || ends >= earliest)
			continue;
		first = key;
		earliest = ends;
	}
	if (earliest != UINT64_MAX)
		bpf_map_delete_elem(map, &first);
}

/* Who attaches now has most to lose; when there is no room, the guard goes that would end first. */
static int write_guard(const struct attach_request *request, int map, uint64_t *guards_end_ns)
{
	int err;

	*guards_end_ns = sweep_guards(map, false);
	if (!request->guarded)
		return 0;
	if (request->guard_ends_ns > *guards_end_ns)
		*guards_end_ns = request->guard_ends_ns;
	err = write_entry(map, &request->guard_peer, &request->guard_ends_ns);
	if (err != -E2BIG)
		return err;
	drop_first_guard(map);
	return write_entry(map, &request->guard_peer, &request->guard_ends_ns);
}

int state_write(const struct attach_request *request, const struct loaded *loaded)
{
	uint64_t deadline_ns = request->confirm_ns ? boot_clock_ns() + request->confirm_ns : 0;
	uint64_t guards_end_ns;
	uint32_t index = 0;
	int err = write_guard(request, loaded->maps[MAP_GUARDS], &guards_end_ns);

	err = err ?: set_switches(loaded, loaded->generation, guards_end_ns, deadline_ns);
	return err ?: write_entry(loaded->maps[MAP_TABLE], &index, &loaded->table);
}

uint64_t state_generation(const struct running *running)
{
	struct switches switches;

	return switches_read(running->maps, &switches) ? 0 : switches.generation;
}

void state_restore(const struct change *change)
{
	const struct running *running = &change->running;
	const struct loaded *loaded = &change->loaded;
	uint32_t index = 0;

	if (!change->kept)
		return;
	set_switches(loaded, running->config.generation,
		     sweep_guards(loaded->maps[MAP_GUARDS], false), 0);
	write_entry(loaded->maps[MAP_TABLE], &index, &running->table);
}

void state_end_guards(const struct loaded *loaded)
{
	sweep_guards(loaded->maps[MAP_GUARDS], true);
}
