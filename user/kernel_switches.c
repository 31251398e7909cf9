// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The few words that a running program looks at before anything else. */
#include "kernel_switches.h"

#include <bpf/bpf.h>
#include <errno.h>

static const uint32_t only; /* the map has one entry */

int switches_read(const int maps[MAP_COUNT], struct switches *switches)
{
	return bpf_map_lookup_elem(maps[MAP_SWITCHES], &only, switches) ? -errno : 0;
}

int switches_write(const int maps[MAP_COUNT], const struct switches *switches)
{
	return bpf_map_update_elem(maps[MAP_SWITCHES], &only, switches, BPF_ANY) ? -errno : 0;
}
