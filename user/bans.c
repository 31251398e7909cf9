// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lists of bans, compared. */
#include "bans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64

int bans_add(struct ban_list *list, const struct policy_prefix *prefix, uint64_t until_ns)
{
	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? list->capacity * 2 : FIRST_CAPACITY;
		struct ban *bans = realloc(list->bans, capacity * sizeof(*bans));

		if (!bans)
			return -ENOMEM;
		list->bans = bans;
		list->capacity = capacity;
	}
	list->bans[list->count++] = (struct ban){*prefix, until_ns};
	return 0;
}

static int compare_prefixes(const struct ban *left, const struct ban *right)
{
	int order = memcmp(&left->prefix.address, &right->prefix.address,
			   sizeof(left->prefix.address));

	return order ?: (int)left->prefix.length - (int)right->prefix.length;
}

/* The last to end first. */
static int compare(const void *left, const void *right)
{
	const struct ban *a = left, *b = right;
	int order = compare_prefixes(a, b);

	return order ?: a->until_ns < b->until_ns ? 1 : a->until_ns > b->until_ns ? -1 : 0;
}

void bans_sort(struct ban_list *list)
{
	size_t kept = 0;

	if (!list->count)
		return;
	qsort(list->bans, list->count, sizeof(*list->bans), compare);
	for (size_t i = 1; i < list->count; i++)
		if (compare_prefixes(&list->bans[kept], &list->bans[i]))
			list->bans[++kept] = list->bans[i];
	list->count = list->sorted = kept + 1;
}

static int compare_to_find(const void *wanted, const void *ban)
{
	return compare_prefixes(wanted, ban);
}

bool bans_have(const struct ban_list *list, const struct policy_prefix *prefix, uint64_t until_ns)
{
	const struct ban wanted = {*prefix, until_ns};
	const struct ban *found = list->sorted ? bsearch(&wanted, list->bans, list->sorted,
							 sizeof(wanted), compare_to_find)
					       : NULL;

	if (found && found->until_ns == until_ns)
		return true;
	for (size_t i = list->sorted; i < list->count; i++)
		if (list->bans[i].until_ns == until_ns &&
		    !compare_prefixes(&wanted, &list->bans[i]))
			return true;
	return false;
}

int bans_compare(const struct ban_list *before, const struct ban_list *after,
		 int (*visit)(const struct ban *, bool, void *), void *context)
{
	size_t i = 0, k = 0;
	int err = 0;

	while (!err && (i < before->count || k < after->count)) {
		int order = i == before->count ? 1
			    : k == after->count
				    ? -1
				    : compare_prefixes(&before->bans[i], &after->bans[k]);

		if (order < 0)
			err = visit(&before->bans[i], false, context);
		else if (order > 0)
			err = visit(&after->bans[k], true, context);
		i += order <= 0;
		k += order >= 0;
	}
	return err;
}

void bans_free(struct ban_list *list)
{
	free(list->bans);
	*list = (struct ban_list){0};
}
