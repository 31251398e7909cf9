/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random numbers that are the same in every run: a failure names its seed and can be repeated. */
#ifndef XDP_LIMIT_TEST_RANDOM_H
#define XDP_LIMIT_TEST_RANDOM_H

#include <stdint.h>

/** splitmix64: any seed is a good seed. */
static inline uint64_t random_next(uint64_t *seed)
{
	uint64_t x = *seed += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/** From 0 to @bound - 1; the bias of the remainder does not matter here. */
static inline uint64_t random_below(uint64_t *seed, uint64_t bound)
{
	return random_next(seed) % bound;
}

/** All orders of magnitude alike, from 1 up to below 2^@bits. */
static inline uint64_t random_magnitude(uint64_t *seed, unsigned int bits)
{
	uint64_t top = 1ULL << random_below(seed, bits);

	return top + random_below(seed, top);
}

#endif
