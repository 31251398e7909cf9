/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names and paths of pins; for kernel_*.c only. */
#ifndef XDP_LIMIT_KERNEL_PINS_H
#define XDP_LIMIT_KERNEL_PINS_H

#include "kernel.h"

#define PIN_LINK    "link"
#define PIN_PROGRAM "program"
/* Beside the old pin until the switch is done; bpffs allows no dots in names. */
#define PIN_NEW "_new"

/** The pin @name of @ifindex with @suffix ("" or PIN_NEW): 0 or -errno. */
int pins_path(unsigned int ifindex, const char *name, const char *suffix, char path[PIN_PATH_SIZE]);

/** Remove the pins of @ifindex whose names end in @suffix: 0 or -errno. */
int pins_clean(unsigned int ifindex, const char *suffix);

#endif
