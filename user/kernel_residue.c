// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the CPUs' caches of tallies hold that is not yet where it belongs. */
#include "kernel_residue.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_lines(const void *left, const void *right)
{
	const struct cached_tally *a = left, *b = right;
	int order = memcmp(&a->key, &b->key, sizeof(a->key));

	if (order)
		return order;
	if (a->slot != b->slot)
		return a->slot < b->slot ? -1 : 1;
	return a->born_ns < b->born_ns ? -1 : a->born_ns > b->born_ns;
}

int read_residue(const struct running *running, struct residue *residue)
{
	uint32_t keys[CACHE_SLOTS], position, count = CACHE_SLOTS;
	int cpus = libbpf_num_possible_cpus();

	residue->count = 0;
	residue->lines = cpus > 0 ? calloc((size_t)cpus * CACHE_SLOTS, sizeof(*residue->lines))
				  : NULL;
	if (!residue->lines)
		return -ENOMEM;
	if (bpf_map_lookup_batch(running->maps[MAP_TALLY_CACHE], NULL, &position, keys,
				 residue->lines, &count, NULL) &&
	    errno != ENOENT)
		return -errno;
	residue->count = (size_t)count * cpus;
	qsort(residue->lines, residue->count, sizeof(*residue->lines), compare_lines);
	return 0;
}

void add_tally(struct tally *sum, const struct tally *part)
{
	sum->passed_packets += part->passed_packets;
	sum->passed_bytes += part->passed_bytes;
	sum->dropped_packets += part->dropped_packets;
	sum->dropped_bytes += part->dropped_bytes;
}

/* Several CPUs may each hold a line of the same bucket. */
void add_residue(const struct residue *residue, const struct bucket_key *key, uint16_t slot,
		 uint64_t born_ns, struct tally *tally)
{
	const struct cached_tally wanted = {.key = *key, .slot = slot, .born_ns = born_ns};
	const struct cached_tally *found = bsearch(&wanted, residue->lines, residue->count,
						   sizeof(wanted), compare_lines);
	const struct cached_tally *end = residue->lines + residue->count;

	if (!found)
		return;
	while (found > residue->lines && !compare_lines(found - 1, &wanted))
		found--;
	for (; found < end && !compare_lines(found, &wanted); found++)
		add_tally(tally, &found->tally);
}
