// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How many sources the packets come from. */
#include "columns.h"

#include <string.h>

const struct column columns[COLUMNS] = {
	{"1", 1}, {"1k", 1000}, {"64k", 64000}, {"1m", 1000000}, {"spoofed", 0},
};

const struct column *column_named(const char *name)
{
	for (size_t i = 0; i < COLUMNS; i++)
		if (!strcmp(columns[i].name, name))
			return &columns[i];
	return NULL;
}

#define CACHED 100000 /* sources: more are in memory either way, then so many packets will do: */
#define ENOUGH 250000
#define VISITS 3

uint32_t column_run_in(const struct column *column)
{
	return column->count && column->count <= CACHED ? VISITS * column->count : ENOUGH;
}

void draw_column(struct bench *bench, const struct frame *frame, const struct column *column)
{
	if (column->count)
		draw_random(bench, frame, column->count, false);
	else
		draw_new(bench, frame);
}
