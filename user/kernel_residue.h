/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the CPUs' caches of tallies hold that is not yet where it belongs; for kernel_*.c. */
#ifndef XDP_LIMIT_KERNEL_RESIDUE_H
#define XDP_LIMIT_KERNEL_RESIDUE_H

#include "kernel.h"

struct residue {
	struct cached_tally
		*lines; /* sorted by key, slot, birth; free() them, also after a failure */
	size_t count;
};

/** add_tally - all four counts of @part to @sum. */
void add_tally(struct tally *sum, const struct tally *part);

/** read_residue - the lines of all CPUs now: 0 or -errno. */
int read_residue(const struct running *running, struct residue *residue);

/** add_residue - what is pending for this key, slot and life, to @tally. */
void add_residue(const struct residue *residue, const struct bucket_key *key, uint16_t slot,
		 uint64_t born_ns, struct tally *tally);

#endif
