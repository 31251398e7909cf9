/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names and paths of pins; for kernel_*.c only. */
#ifndef XDP_LIMIT_KERNEL_PINS_H
#define XDP_LIMIT_KERNEL_PINS_H

#include "kernel.h"

#define PIN_LINK    "link"
#define PIN_PROGRAM "program"
/* Beside the old pin until the switch is done; bpffs allows no dots in names. */
#define PIN_NEW "_new"
/* Of the program that a trial may go back to. */
#define PIN_FORMER "_former"

/** The pin's name of a map. */
const char *pin_name(enum map_id id);

/** The pin @name of @ifindex with @suffix ("" or one of those above): 0 or -errno. */
int pins_path(unsigned int ifindex, const char *name, const char *suffix, char path[PIN_PATH_SIZE]);

/**
 * pins_find - the object pinned for @ifindex as @name, with any suffix, that @is_it: a descriptor, or
 * -ENOENT when none is, also when we may not look.
 */
int pins_find(unsigned int ifindex, const char *name, bool (*is_it)(int fd, const void *context),
	      const void *context);

/** pins_open - the same of the object with this id. */
int pins_open(unsigned int ifindex, const char *name, uint32_t id);

/** Whether that is pinned. */
bool pins_have(unsigned int ifindex, const char *name, uint32_t id);

/** The id of a program, map or link; 0 when the kernel doesn't say. */
uint32_t object_id(int fd);

/** Pin @fd as @name and @suffix: 0 or -errno. */
int pins_put(unsigned int ifindex, const char *name, const char *suffix, int fd);

/** Remove the pin @name with @suffix, if there is one: 0 or -errno. */
int pins_drop(unsigned int ifindex, const char *name, const char *suffix);

/** Put what is pinned as @name and PIN_NEW in the place of @name: 0 or -errno. */
int pins_put_in_place(unsigned int ifindex, const char *name);

/** Remove the pins of @ifindex by whose name it @goes: 0 or -errno. */
int pins_clean_those(unsigned int ifindex, bool (*goes)(const char *name, const void *context),
		     const void *context);

/** Remove the pins of @ifindex whose names end in @suffix: 0 or -errno. */
int pins_clean(unsigned int ifindex, const char *suffix);

#endif
