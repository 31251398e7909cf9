// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Results, one line of JSON each; scripts/bench.sh makes the published files of them. */
#include "rows.h"

#include <stdio.h>

void write_row(const struct row *row, const struct subject *subject)
{
	printf("{\"kind\": \"%s\", \"limiter\": \"%s\", \"sources\": \"%s\", \"cpus\": %u, "
	       "\"family\": %u, \"ns_per_packet\": %.2f, \"spread\": %.3f, \"proportion\": %.3f, "
	       "\"batches\": %u, \"dropped_batches\": %u}\n",
	       row->kind, row->limiter, row->sources, row->cpus, row->family, subject->ns,
	       subject->spread, subject->proportion, subject->kept, subject->dropped);
	fflush(stdout);
}
