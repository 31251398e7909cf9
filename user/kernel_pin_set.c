// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The pins of one limiter: made under new names beside the old ones, then put in place. */
#include "kernel_pin_set.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include "kernel.h"
#include "kernel_pins.h"

static int pin_new(unsigned int ifindex, const char *name, int fd)
{
	char path[PIN_PATH_SIZE];
	int err = pins_path(ifindex, name, PIN_NEW, path);

	return err ?: bpf_obj_pin(fd, path) ? -errno : 0;
}

int pin_set_prepare(unsigned int ifindex, const struct pin_set *set)
{
	char directory[PIN_PATH_SIZE];
	int err = pins_directory(ifindex, directory);

	if (err)
		return err;
	if (mkdir(directory, 0700) && errno != EEXIST)
		return -errno;
	err = pins_clean(ifindex, PIN_NEW) ?: pin_new(ifindex, PIN_PROGRAM, set->program);
	for (int i = 0; i < MAP_COUNT && !err; i++)
		err = pin_new(ifindex, map_names[i], set->maps[i]);
	return err;
}

static int put_in_place(unsigned int ifindex, const char *name)
{
	char from[PIN_PATH_SIZE], to[PIN_PATH_SIZE];
	int err = pins_path(ifindex, name, PIN_NEW, from) ?: pins_path(ifindex, name, "", to);

	return err ?: rename(from, to) ? -errno : 0;
}

int pin_set_finish(unsigned int ifindex, int link)
{
	int err = pin_new(ifindex, PIN_LINK, link) ?: put_in_place(ifindex, PIN_LINK);

	err = err ?: put_in_place(ifindex, PIN_PROGRAM);
	for (int i = 0; i < MAP_COUNT && !err; i++)
		err = put_in_place(ifindex, map_names[i]);
	return err;
}
