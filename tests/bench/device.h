/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An interface in another network namespace: what it received, and what is attached to it. */
#ifndef BENCH_DEVICE_H
#define BENCH_DEVICE_H

#include <stdint.h>

struct device {
	int socket; /* of its namespace */
	char name[16];
	uint32_t count; /* of its statistics */
	uint32_t index; /* of the one that counts frames */
};

/** device_open - @name in the namespace @netns, or the program ends with a message. */
void device_open(struct device *device, const char *netns, const char *name);
/** device_received - frames that it has taken from its queue so far. */
uint64_t device_received(const struct device *device);

/** device_attach - @program (native XDP) to @name in the namespace @netns, and leave it there. */
void device_attach(const char *netns, const char *name, int program);

#endif
