// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a loaded program to its maps and read-only data: the truth about what runs. */
#include "kernel_program.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kernel.h"

#define PROGRAM_MAPS_MAX 64
/* The section of bpf/common.h that holds the compiled policy. */
#define CONFIG_MAP ".rodata.config"

static int map_info(int fd, struct bpf_map_info *info)
{
	uint32_t size = sizeof(*info);

	memset(info, 0, size);
	return bpf_obj_get_info_by_fd(fd, info, &size) ? -errno : 0;
}

/*
 * A map that is gone meanwhile is none of the program's; any other error would hide one. A program
 * array is opened once: each close makes the kernel clear it in a work of its own, and one that
 * comes while that is pending leaves a reference that nobody drops (prog_array_map_clear()).
 */
static int try_map(uint32_t id, bool (*matches)(const struct bpf_map_info *, const void *),
		   const void *context, struct bpf_map_info *info)
{
	static struct bpf_map_info program_array;
	int fd, err;

	if (id == program_array.id && !matches(&program_array, context))
		return -ENOENT;
	fd = bpf_map_get_fd_by_id(id);
	if (fd < 0)
		return -errno;
	err = map_info(fd, info);
	if (!err && info->type == BPF_MAP_TYPE_PROG_ARRAY)
		program_array = *info;
	if (!err && matches(info, context))
		return fd;
	close(fd);
	return err ?: -ENOENT;
}

/* The first map that @matches, as a file descriptor; -ENOENT when there is none; -errno. */
static int find_map(int program, bool (*matches)(const struct bpf_map_info *, const void *),
		    const void *context, struct bpf_map_info *info)
{
	uint32_t ids[PROGRAM_MAPS_MAX];
	struct bpf_prog_info program_info = {
		.nr_map_ids = PROGRAM_MAPS_MAX,
		.map_ids = (uintptr_t)ids,
	};
	uint32_t size = sizeof(program_info);

	if (bpf_obj_get_info_by_fd(program, &program_info, &size))
		return -errno;
	for (uint32_t i = 0; i < program_info.nr_map_ids && i < PROGRAM_MAPS_MAX; i++) {
		int fd = try_map(ids[i], matches, context, info);

		if (fd != -ENOENT)
			return fd;
	}
	return -ENOENT;
}

static bool has_name(const struct bpf_map_info *info, const void *name)
{
	return !strcmp(info->name, name);
}

int program_map(int program, const char *name)
{
	struct bpf_map_info info;

	return find_map(program, has_name, name, &info);
}

int read_policy_text(const struct running *running, char **text)
{
	struct bpf_map_info info;
	uint32_t index = 0;
	int fd = find_map(running->program, has_name, TEXT_MAP, &info);
	int err;

	if (fd < 0)
		return fd;
	*text = malloc(info.value_size);
	err = !*text ? -ENOMEM : bpf_map_lookup_elem(fd, &index, *text) ? -errno : 0;
	if (err)
		free(*text);
	close(fd);
	return err;
}

int program_config(int program, struct config *config)
{
	struct bpf_map_info info = {0};
	int fd = find_map(program, has_name, CONFIG_MAP, &info);
	uint32_t index = 0;
	char *data;
	int err;

	if (fd < 0)
		return fd;
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
