/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Many source addresses by one word: A, A..B or A/PREFIX. */
#ifndef XDP_LIMIT_TEST_SOURCES_H
#define XDP_LIMIT_TEST_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

struct source_prefix {
	int family;
	unsigned int length;
	uint8_t bytes[16]; /* network order; 4 of them for IPv4 */
};

struct sources {
	struct source_prefix first;
	unsigned int step; /* two neighbours differ in the last bit of the first @step */
	uint64_t count;
};

/** A or A/PREFIX; -EINVAL. */
int source_prefix_parse(const char *text, struct source_prefix *prefix);
bool source_prefix_contains(const struct source_prefix *prefix, const uint8_t *address);

/**
 * A, A..B or A/PREFIX; -EINVAL. @step 0 means: 32 for IPv4; for IPv6 64 where A and B end alike or
 * PREFIX is shorter than that (each source another /64), else 128.
 */
int sources_parse(const char *text, unsigned int step, struct sources *sources);
/** Makes @at, which began as sources->first, the next address. */
void sources_next(const struct sources *sources, struct source_prefix *at);

#endif
