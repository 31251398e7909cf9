// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The first N of many buckets in an order, in memory for N: a heap with the last of them on top. */
#include "selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 1024

static double life_rate(const struct selection *selection, const struct bucket *bucket)
{
	uint64_t age = selection->now_ns > bucket->born_ns ? selection->now_ns - bucket->born_ns
							   : 1;

	return (double)(bucket->tally.passed_packets + bucket->tally.dropped_packets) / age;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static int by_measure(const struct selection *selection, const struct bucket *a,
		      const struct bucket *b)
{
	double left, right;

	switch (selection->order) {
	case ORDER_PASSED:
		return compare_numbers(a->tally.passed_packets, b->tally.passed_packets);
	case ORDER_RATE:
		left = life_rate(selection, a);
		right = life_rate(selection, b);
		return left > right ? -1 : left < right;
	default:
		return compare_numbers(a->tally.dropped_packets, b->tally.dropped_packets)
			       ?: compare_numbers(a->tally.passed_packets, b->tally.passed_packets);
	}
}

/* Below 0 when @left comes before @right in the output. */
static int compare(const void *left, const void *right, void *context)
{
	const struct bucket *a = left, *b = right;

	return by_measure(context, a, b) ?: memcmp(&a->source, &b->source, sizeof(a->source)) ?:
	       (int)a->limit - (int)b->limit;
}

void selection_start(struct selection *selection, size_t top, enum order order, uint64_t now_ns)
{
	*selection = (struct selection){.top = top, .order = order, .now_ns = now_ns};
}

static int grow(struct selection *selection)
{
	size_t capacity = selection->capacity ? selection->capacity * 2 : FIRST_CAPACITY;
	void *buckets;

	if (selection->top && capacity > selection->top)
		capacity = selection->top;
	buckets = realloc(selection->buckets, capacity * sizeof(*selection->buckets));
	if (!buckets)
		return -ENOMEM;
	selection->buckets = buckets;
	selection->capacity = capacity;
	return 0;
}

static void swap(struct bucket *a, struct bucket *b)
{
	struct bucket held = *a;

	*a = *b;
	*b = held;
}

static void sift_down(struct selection *selection, size_t at)
{
	struct bucket *heap = selection->buckets;

	for (;;) {
		size_t last = at, child = 2 * at + 1;

		for (size_t i = child; i < child + 2 && i < selection->count; i++)
			if (compare(&heap[i], &heap[last], selection) > 0)
				last = i;
		if (last == at)
			return;
		swap(&heap[at], &heap[last]);
		at = last;
	}
}

static void sift_up(struct selection *selection, size_t at)
{
	struct bucket *heap = selection->buckets;

	while (at && compare(&heap[at], &heap[(at - 1) / 2], selection) > 0) {
		swap(&heap[at], &heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
}

int selection_add(struct selection *selection, const struct bucket *bucket)
{
	if (selection->top && selection->count == selection->top) {
		if (compare(bucket, &selection->buckets[0], selection) < 0) {
			selection->buckets[0] = *bucket;
			sift_down(selection, 0);
		}
		return 0;
	}
	if (selection->count == selection->capacity && grow(selection))
		return -ENOMEM;
	selection->buckets[selection->count++] = *bucket;
	if (selection->top)
		sift_up(selection, selection->count - 1);
	return 0;
}

void selection_finish(struct selection *selection)
{
	if (!selection->count)
		return; /* no array to hand over */
	qsort_r(selection->buckets, selection->count, sizeof(*selection->buckets), compare,
		selection);
}

void selection_free(struct selection *selection)
{
	free(selection->buckets);
	selection->buckets = NULL;
}
