/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs for measuring and those that run them agree on. Not part of the limiter. */
#ifndef XDP_LIMIT_BENCH_H
#define XDP_LIMIT_BENCH_H

#include <linux/types.h>

#define BENCH_CPUS     64
#define BENCH_LINES    262144 /* of 64 bytes: 16 MB */
#define BENCH_DRAWN_AT 22     /* offset in the frame of what is drawn, untagged IPv4 or IPv6 */

struct bench_line {
	__u64 word;
	__u64 pad[7];
};

/*
 * At random out of @count: a linear congruential generator, whose high bits choose. Each source once:
 * multiplier 1, increment 2^32 and count 2^32 make it a plain counter.
 */
struct generator {
	__u64 word; /* of the next packet */
	__u64 state;
	__u64 multiplier;
	__u64 increment;
	__u64 count;
	__u64 base; /* word of the first source */
	__u64 pad[2];
};

/* The program's variables. */
struct bench_variables {
	struct generator generators[BENCH_CPUS];
	__u32 send_to; /* interface */
	__u32 pad[15];
};

#define BENCH_WALK_STEP (1ULL << 32)
#define BENCH_ALL	(1ULL << 32)

/* Odd, so that each index has an address of its own; neighbours are far apart. */
#define BENCH_SCATTER 0x9e3779b1U

/* As it lies in memory. 0 is the last one's. */
static inline __attribute__((always_inline)) __u32 bench_address(__u32 index)
{
	return (index + 1) * BENCH_SCATTER;
}

/* The address is the high half; the low half is the same for all. */
static inline __attribute__((always_inline)) __u64 bench_word(const struct generator *generator,
							      __u64 state)
{
	__u64 index = (state >> 32) * generator->count >> 32;

	return generator->base + index * ((__u64)BENCH_SCATTER << 32);
}

#endif
