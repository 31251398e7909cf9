// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The pins of one limiter: made under new names beside the old ones, then put in place. */
#include "kernel_pin_set.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "kernel_pins.h"

static int put_set(unsigned int ifindex, const struct pin_set *set, const char *suffix)
{
	int err = pins_put(ifindex, PIN_PROGRAM, suffix, set->program);

	for (int i = 0; i < MAP_COUNT && !err; i++)
		err = pins_put(ifindex, pin_name(i), suffix, set->maps[i]);
	return err;
}

/* The program last: as long as it has its new name, all that is new belongs to it. */
static int put_in_place(unsigned int ifindex, bool again)
{
	int err = 0;

	for (int i = 0; i < MAP_COUNT && !err; i++) {
		err = pins_put_in_place(ifindex, pin_name(i));
		if (again && err == -ENOENT) /* it is there already */
			err = 0;
	}
	return err ?: pins_put_in_place(ifindex, PIN_PROGRAM);
}

static int open_pin(unsigned int ifindex, const char *name, const char *suffix)
{
	char path[PIN_PATH_SIZE];

	return pins_path(ifindex, name, suffix, path) ? -1 : bpf_obj_get(path);
}

/* 0 for none. */
static uint32_t linked_program(unsigned int ifindex)
{
	struct bpf_link_info info = {0};
	uint32_t size = sizeof(info);
	int link = open_pin(ifindex, PIN_LINK, "");

	if (link < 0)
		return 0;
	if (bpf_obj_get_info_by_fd(link, &info, &size))
		info.prog_id = 0;
	close(link);
	return info.prog_id;
}

/*
 * A command that was killed behind its switch has left what runs under new names, and nothing else may hold
 * that: it gets its place before new names are cleaned away.
 */
static int finish_interrupted(unsigned int ifindex)
{
	int program = open_pin(ifindex, PIN_PROGRAM, PIN_NEW);
	bool runs;

	if (program < 0)
		return 0;
	runs = object_id(program) == linked_program(ifindex);
	close(program);
	return runs ? put_in_place(ifindex, true) : 0;
}

int pin_set_prepare(unsigned int ifindex, const struct pin_set *set)
{
	char directory[PIN_PATH_SIZE];
	int err = pins_directory(ifindex, directory);

	if (err)
		return err;
	if (mkdir(directory, 0700) && errno != EEXIST)
		return -errno;
	err = finish_interrupted(ifindex);
	return err ?: pins_clean(ifindex, PIN_NEW) ?: put_set(ifindex, set, PIN_NEW);
}

int pin_set_keep_former(unsigned int ifindex, const struct pin_set *set)
{
	int err = pins_clean(ifindex, PIN_FORMER);

	return err || !set ? err : put_set(ifindex, set, PIN_FORMER);
}

static int pin_link(unsigned int ifindex, int link)
{
	if (link < 0)
		return pins_clean(ifindex, PIN_LINK);
	return pins_put(ifindex, PIN_LINK, PIN_NEW, link) ?: pins_put_in_place(ifindex, PIN_LINK);
}

int pin_set_finish(unsigned int ifindex, int link)
{
	return pin_link(ifindex, link) ?: put_in_place(ifindex, false);
}

int pin_set_link(unsigned int ifindex, int link)
{
	return pins_clean(ifindex, PIN_NEW) ?: pin_link(ifindex, link);
}

static bool is_stranger(const char *name, const void *context)
{
	(void)context;
	for (int i = 0; i < MAP_COUNT; i++)
		if (!strcmp(name, pin_name(i)))
			return false;
	return strcmp(name, PIN_LINK) && strcmp(name, PIN_PROGRAM);
}

int pin_set_drop_strangers(unsigned int ifindex)
{
	return pins_clean_those(ifindex, is_stranger, NULL);
}
