/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Comparisons beside the main table: other ways of a packet, other policies. */
#ifndef BENCH_EXTRA_H
#define BENCH_EXTRA_H

#include "measure.h"

void measure_extra(const struct effort *effort);

#endif
