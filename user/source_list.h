/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The buckets that were asked for, in an order: gathered once, said as text or JSON. */
#ifndef XDP_LIMIT_SOURCE_LIST_H
#define XDP_LIMIT_SOURCE_LIST_H

#include <stdio.h>
#include "selection.h"

/* As asked; NULL and 0 where nothing was. */
struct source_request {
	const struct address *address; /* only its buckets */
	const char *by;		       /* dropped, passed, rate */
	const char *limit;
	uint64_t top;
};

struct source_list {
	const struct running *running;
	struct selection selection;
	int limit; /* index; -1 for all */
	uint64_t now_ns;
};

/**
 * source_list_read - gather and sort: 0; -EINVAL when an order or a limit is not known; -errno. With a
 * sentence in @why. source_list_free() after it succeeded.
 */
int source_list_read(const struct running *running, const struct source_request *request,
		     struct source_list *list, struct complaint *why);
void source_list_free(struct source_list *list);

/** What @bucket would let pass at once; of a source in a tier under the tier's rate. */
uint64_t source_remaining(const struct source_list *list, const struct bucket *bucket);

#define COUNT_TEXT_SIZE 24

/** A count of what passed; @unknown for a flat table, which keeps none. */
void format_passed(const struct running *running, uint64_t count, const char *unknown,
		   char text[COUNT_TEXT_SIZE]);

void source_list_json(const struct source_list *list, FILE *out);

#endif
