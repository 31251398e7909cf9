/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From a loaded program to its maps and read-only data; for kernel_*.c only. */
#ifndef XDP_LIMIT_KERNEL_PROGRAM_H
#define XDP_LIMIT_KERNEL_PROGRAM_H

#include "kernel.h"

/**
 * program_config - the compiled policy in the read-only data of a @program on @ifindex.
 * Returns 0; -ENOENT when the program is not one of ours; -errno. Only magic and abi can be
 * trusted when the abi is another one.
 */
int program_config(unsigned int ifindex, int program, struct config *config);

/**
 * program_maps - all of @maps, each a descriptor or -1; close them in every case. By the pins of @ifindex,
 * or by ids where these are missing.
 * Returns 0; -ENOENT when the program hasn't got one of them; -errno.
 */
int program_maps(unsigned int ifindex, int program, int maps[MAP_COUNT]);

/* What a program of any ABI has that another one can't take over. */
struct program_state {
	uint64_t listed; /* addresses and prefixes on live lists */
	uint64_t banned; /* sources that limits banned */
	bool shared;	 /* another interface's program is on the same table */
};

/** program_state - by what is common to all: names of maps, and that they are hashes and tries. */
void program_state(unsigned int ifindex, int program, struct program_state *state);

#endif
