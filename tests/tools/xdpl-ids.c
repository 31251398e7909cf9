// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Prints those of the given ids that the kernel still has: `xdpl-ids prog|map ID...`.
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Asks for the id after the one before and opens nothing. bpftool opens what it is asked for; of an
 * array of programs that is about to go, the close may keep it for ever (prog_array_map_clear()).
 */
int main(int argc, char **argv)
{
	int (*next_id)(__u32 start, __u32 * next);

	if (argc < 2 || (strcmp(argv[1], "prog") && strcmp(argv[1], "map"))) {
		fputs("usage: xdpl-ids prog|map ID...\n", stderr);
		return 2;
	}
	next_id = argv[1][0] == 'p' ? bpf_prog_get_next_id : bpf_map_get_next_id;
	for (int i = 2; i < argc; i++) {
		__u32 id = strtoul(argv[i], NULL, 10), next;

		if (id && !next_id(id - 1, &next) && next == id)
			puts(argv[i]);
	}
	return 0;
}
