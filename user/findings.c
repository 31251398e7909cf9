// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* All that is wrong with a file, each thing with its place. */
#include "findings.h"

#include <stdlib.h>

static int grow(struct findings *findings)
{
	size_t capacity = findings->capacity ? findings->capacity * 2 : 8;
	void *list = realloc(findings->list, capacity * sizeof(*findings->list));

	if (!list)
		return -1;
	findings->list = list;
	findings->capacity = capacity;
	return 0;
}

struct complaint *findings_add(struct findings *findings, unsigned int line, unsigned int column)
{
	static struct complaint beyond; /* written and never read */
	struct finding *finding;

	if (findings->count > FINDINGS_MAX)
		return &beyond;
	if (findings->count == findings->capacity && grow(findings))
		return NULL;
	finding = &findings->list[findings->count++];
	*finding = (struct finding){.line = line, .column = column};
	if (findings->count <= FINDINGS_MAX)
		return &finding->what;
	complain(&finding->what, 0, "there are more errors than these %d", FINDINGS_MAX);
	return &beyond;
}

static int by_place(const void *a, const void *b)
{
	const struct finding *left = a, *right = b;

	if (left->line != right->line)
		return left->line < right->line ? -1 : 1;
	if (left->column != right->column)
		return left->column < right->column ? -1 : 1;
	return 0;
}

/* An insertion sort is stable, which qsort() need not be. */
void findings_sort(struct findings *findings)
{
	size_t sorted = findings->count > FINDINGS_MAX ? FINDINGS_MAX : findings->count;

	for (size_t i = 1; i < sorted; i++) {
		struct finding moved = findings->list[i];
		size_t to = i;

		for (; to && by_place(&findings->list[to - 1], &moved) > 0; to--)
			findings->list[to] = findings->list[to - 1];
		findings->list[to] = moved;
	}
}

void findings_free(struct findings *findings)
{
	free(findings->list);
	*findings = (struct findings){0};
}
