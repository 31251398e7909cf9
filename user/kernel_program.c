// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a loaded program to its maps and read-only data: the truth about what runs. */
#include "kernel_program.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kernel_live_set.h"
#include "kernel_pins.h"

#define PROGRAM_MAPS_MAX 64
#define KEY_SIZE_MAX	 64

static int map_info(int fd, struct bpf_map_info *info)
{
	uint32_t size = sizeof(*info);

	memset(info, 0, size);
	return bpf_obj_get_info_by_fd(fd, info, &size) ? -errno : 0;
}

/*
 * The map @id if it is called @name. One that is gone meanwhile is none of the program's; any other error
 * would hide one. A program array is opened once: each close makes the kernel clear it in a work of its
 * own, and one that comes while that is pending leaves a reference that nobody drops
 * (prog_array_map_clear()).
 */
static int try_map_locked(uint32_t id, const char *name)
{
	static struct bpf_map_info program_array;
	struct bpf_map_info info;
	int fd, err;

	if (id == program_array.id && strcmp(program_array.name, name))
		return -ENOENT;
	fd = bpf_map_get_fd_by_id(id);
	if (fd < 0)
		return -errno;
	err = map_info(fd, &info);
	if (!err && info.type == BPF_MAP_TYPE_PROG_ARRAY)
		program_array = info;
	if (!err && !strcmp(info.name, name))
		return fd;
	close(fd);
	return err ?: -ENOENT;
}

/* Threads of an application may each have a limiter of their own. */
static int try_map(uint32_t id, const char *name)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int fd;

	pthread_mutex_lock(&lock);
	fd = try_map_locked(id, name);
	pthread_mutex_unlock(&lock);
	return fd;
}

struct map_ids {
	uint32_t count;
	uint32_t ids[PROGRAM_MAPS_MAX];
};

static int read_map_ids(int program, struct map_ids *maps)
{
	struct bpf_prog_info info = {
		.nr_map_ids = PROGRAM_MAPS_MAX,
		.map_ids = (uintptr_t)maps->ids,
	};
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(program, &info, &size))
		return -errno;
	maps->count = info.nr_map_ids < PROGRAM_MAPS_MAX ? info.nr_map_ids : PROGRAM_MAPS_MAX;
	return 0;
}

struct wanted_map {
	const struct map_ids *among;
	const char *name;
};

static bool is_wanted(int fd, const void *context)
{
	const struct wanted_map *wanted = context;
	struct bpf_map_info info;

	if (map_info(fd, &info) || strcmp(info.name, wanted->name))
		return false;
	for (uint32_t i = 0; i < wanted->among->count; i++)
		if (wanted->among->ids[i] == info.id)
			return true;
	return false;
}

/* A descriptor, or -errno: by its pin for @ifindex, or by ids where that is missing. */
static int open_one_of(unsigned int ifindex, const struct map_ids *maps, enum map_id id)
{
	const struct wanted_map wanted = {maps, map_names[id]};
	int fd = pins_find(ifindex, pin_name(id), is_wanted, &wanted);

	for (uint32_t i = 0; i < maps->count && fd == -ENOENT; i++)
		fd = try_map(maps->ids[i], map_names[id]);
	return fd;
}

int program_maps(unsigned int ifindex, int program, int maps[MAP_COUNT])
{
	struct map_ids ids;
	int err = read_map_ids(program, &ids);

	for (int i = 0; i < MAP_COUNT; i++)
		maps[i] = -1;
	for (int i = 0; i < MAP_COUNT && !err; i++) {
		maps[i] = i == MAP_LIVE_SET ? live_set_find(ifindex, maps[MAP_LIVE_EXACT])
					    : open_one_of(ifindex, &ids, i);
		err = maps[i] < 0 ? maps[i] : 0;
	}
	return err;
}

int read_policy_text(const struct running *running, char **text)
{
	struct bpf_map_info info;
	uint32_t index = 0;
	int err = map_info(running->maps[MAP_TEXT], &info);

	if (err)
		return err;
	*text = malloc(info.value_size);
	err = !*text							    ? -ENOMEM
	      : bpf_map_lookup_elem(running->maps[MAP_TEXT], &index, *text) ? -errno
									    : 0;
	if (err)
		free(*text);
	return err;
}

int program_config(unsigned int ifindex, int program, struct config *config)
{
	struct bpf_map_info info;
	struct map_ids ids;
	uint32_t index = 0;
	char *data;
	int err = read_map_ids(program, &ids);
	int fd = err ? err : open_one_of(ifindex, &ids, MAP_CONFIG);

	if (fd < 0)
		return fd;
	err = map_info(fd, &info);
	if (err) {
		close(fd);
		return err;
	}
	data = calloc(1, info.value_size > sizeof(*config) ? info.value_size : sizeof(*config));
	err = !data ? -ENOMEM : bpf_map_lookup_elem(fd, &index, data) ? -errno : 0;
	close(fd);
	if (!err) {
		memcpy(config, data, sizeof(*config));
		err = config->magic == XDP_LIMIT_MAGIC ? 0 : -ENOENT;
	}
	free(data);
	return err;
}

/* Closes @map. One that isn't there, or has keys of an unknown kind, has none. */
static uint64_t count_keys(int map)
{
	char key[KEY_SIZE_MAX], next[KEY_SIZE_MAX];
	struct bpf_map_info info;
	uint64_t count = 0;

	if (map < 0)
		return 0;
	if (!map_info(map, &info) && info.key_size <= KEY_SIZE_MAX)
		for (void *from = NULL; !bpf_map_get_next_key(map, from, next); from = key) {
			memcpy(key, next, info.key_size);
			if (++count > info.max_entries) /* keys come and go meanwhile */
				break;
		}
	close(map);
	return count;
}

struct sharing {
	unsigned int ifindex;
	uint32_t switches; /* the id of what all on one table have */
};

static int is_sharer(unsigned int ifindex, void *context)
{
	const struct sharing *sharing = context;

	return ifindex != sharing->ifindex &&
	       pins_have(ifindex, pin_name(MAP_SWITCHES), sharing->switches);
}

static bool is_shared(unsigned int ifindex, const struct map_ids *ids)
{
	struct sharing sharing = {.ifindex = ifindex};
	int switches = open_one_of(ifindex, ids, MAP_SWITCHES);

	if (switches < 0)
		return false;
	sharing.switches = object_id(switches);
	close(switches);
	return pins_visit(is_sharer, &sharing) > 0;
}

void program_state(unsigned int ifindex, int program, struct program_state *state)
{
	struct map_ids ids;
	int outer;

	*state = (struct program_state){0};
	if (read_map_ids(program, &ids))
		return;
	state->shared = is_shared(ifindex, &ids);
	outer = open_one_of(ifindex, &ids, MAP_LIVE_EXACT);
	if (outer >= 0) {
		state->listed = count_keys(live_set_find(ifindex, outer));
		close(outer);
	}
	state->listed += count_keys(open_one_of(ifindex, &ids, MAP_LIVE_PREFIX));
	state->banned = count_keys(open_one_of(ifindex, &ids, MAP_PENALTIES));
}
