// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Opens what the kernel names by an id: by its pin, else by the id. */
#include "kernel_open.h"

#include <bpf/bpf.h>
#include <errno.h>
#include "kernel_pins.h"

static int by_pin_or_id(unsigned int ifindex, const char *name, uint32_t id, int (*by_id)(uint32_t))
{
	int fd = pins_open(ifindex, name, id);

	if (fd >= 0)
		return fd;
	fd = by_id(id);
	return fd < 0 ? -errno : fd;
}

int open_program(unsigned int ifindex, uint32_t id)
{
	return by_pin_or_id(ifindex, PIN_PROGRAM, id, bpf_prog_get_fd_by_id);
}

int open_link(unsigned int ifindex, uint32_t id)
{
	return by_pin_or_id(ifindex, PIN_LINK, id, bpf_link_get_fd_by_id);
}

int open_map(unsigned int ifindex, const char *name, uint32_t id)
{
	return by_pin_or_id(ifindex, name, id, bpf_map_get_fd_by_id);
}
