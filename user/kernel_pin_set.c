// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The pins of one limiter: made under new names beside the old ones, then put in place. */
#include "kernel_pin_set.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include "kernel_pins.h"

static int put_set(unsigned int ifindex, const struct pin_set *set, const char *suffix)
{
	int err = pins_put(ifindex, PIN_PROGRAM, suffix, set->program);

	for (int i = 0; i < MAP_COUNT && !err; i++)
		err = pins_put(ifindex, pin_name(i), suffix, set->maps[i]);
	return err;
}

int pin_set_prepare(unsigned int ifindex, const struct pin_set *set)
{
	char directory[PIN_PATH_SIZE];
	int err = pins_directory(ifindex, directory);

	if (err)
		return err;
	if (mkdir(directory, 0700) && errno != EEXIST)
		return -errno;
	return pins_clean(ifindex, PIN_NEW) ?: put_set(ifindex, set, PIN_NEW);
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
	int err = pin_link(ifindex, link);

	err = err ?: pins_put_in_place(ifindex, PIN_PROGRAM);
	for (int i = 0; i < MAP_COUNT && !err; i++)
		err = pins_put_in_place(ifindex, pin_name(i));
	return err;
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
