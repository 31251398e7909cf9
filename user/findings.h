/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All that is wrong with a file, each thing with its place. */
#ifndef XDP_LIMIT_FINDINGS_H
#define XDP_LIMIT_FINDINGS_H

#include <stddef.h>
#include "complaint.h"

#define FINDINGS_MAX 1000 /* after so many, one more says that there are others */

/* Lines and columns count from 1. */
struct finding {
	unsigned int line, column;
	struct complaint what;
};

struct findings {
	size_t count, capacity;
	struct finding *list; /* freed by findings_free() */
};

/** findings_add - a new one for the caller to write its sentence into; NULL: out of memory. */
struct complaint *findings_add(struct findings *findings, unsigned int line, unsigned int column);

/** findings_sort - in the order of the file; of one place in the order in which they came. */
void findings_sort(struct findings *findings);
void findings_free(struct findings *findings);

#endif
