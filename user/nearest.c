// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The word that a misspelt one was meant to be. */
#include "nearest.h"

#include <string.h>

#define LENGTH_MAX 40

static unsigned int least(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Insertions, deletions, replacements, and neighbours that changed places. */
static unsigned int distance_of(const char *a, const char *b)
{
	unsigned int rows[3][LENGTH_MAX + 1];
	unsigned int *before = rows[0], *above = rows[1], *row = rows[2];
	size_t a_length = strlen(a), b_length = strlen(b);

	if (a_length > LENGTH_MAX || b_length > LENGTH_MAX)
		return LENGTH_MAX;
	for (unsigned int k = 0; k <= b_length; k++)
		row[k] = k;
	for (unsigned int i = 1; i <= a_length; i++) {
		unsigned int *free_row = before;

		before = above;
		above = row;
		row = free_row;
		row[0] = i;
		for (unsigned int k = 1; k <= b_length; k++) {
			row[k] = least(row[k - 1] + 1, above[k] + 1,
				       above[k - 1] + (a[i - 1] != b[k - 1]));
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				row[k] = least(row[k], before[k - 2] + 1, row[k]);
		}
	}
	return row[b_length];
}

void nearest_try(struct nearest *nearest, const char *candidate)
{
	unsigned int allowed = strlen(candidate) < 5 ? 1 : (unsigned int)strlen(candidate) / 3;
	unsigned int distance = distance_of(nearest->text, candidate);

	if (distance > allowed || (nearest->best && distance >= nearest->distance))
		return;
	nearest->best = candidate;
	nearest->distance = distance;
}
