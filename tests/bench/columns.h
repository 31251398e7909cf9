/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How many sources the packets come from. */
#ifndef BENCH_COLUMNS_H
#define BENCH_COLUMNS_H

#include <stddef.h>
#include "bench_object.h"

struct column {
	const char *name;
	uint32_t count; /* 0: each packet from a new one */
};

#define COLUMNS 5
extern const struct column columns[COLUMNS];

/** column_named - NULL when there is none. */
const struct column *column_named(const char *name);

/** column_run_in - packets after which the caches are as they will be. */
uint32_t column_run_in(const struct column *column);

/** draw_column - packets of @frame come from the sources of @column from now on. */
void draw_column(struct bench *bench, const struct frame *frame, const struct column *column);

#endif
