/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The first N of many buckets in an order, in memory for N. */
#ifndef XDP_LIMIT_SELECTION_H
#define XDP_LIMIT_SELECTION_H

#include <stddef.h>
#include <stdint.h>
#include "kernel.h"

enum order {
	ORDER_DROPPED,
	ORDER_PASSED,
	ORDER_RATE, /* packets per second since the bucket was made */
};

struct selection {
	struct bucket *buckets;
	size_t count, capacity;
	size_t top; /* 0: keep all */
	enum order order;
	uint64_t now_ns;
};

void selection_start(struct selection *selection, size_t top, enum order order, uint64_t now_ns);
/** 0 or -ENOMEM. */
int selection_add(struct selection *selection, const struct bucket *bucket);
/** Sort; ties by address, so that the same buckets print the same. */
void selection_finish(struct selection *selection);
void selection_free(struct selection *selection);

#endif
