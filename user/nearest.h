/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The word that a misspelt one was meant to be. */
#ifndef XDP_LIMIT_NEAREST_H
#define XDP_LIMIT_NEAREST_H

/* Start with @text alone, then try each candidate. */
struct nearest {
	const char *text;
	const char *best; /* NULL: nothing is near */
	unsigned int distance;
};

void nearest_try(struct nearest *nearest, const char *candidate);

#endif
