// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The hash of the commands' addresses, which grows by being replaced: unused, it takes no memory. */
#include "kernel_live_set.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kernel_open.h"
#include "kernel_pins.h"

#define GROWTH	  4
#define COPY_SIZE 8192U
/* The set is replaced a few times in its life: more tries than that mean something else. */
#define OPEN_TRIES 16

static int create_set(uint32_t capacity)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
	int set = bpf_map_create(BPF_MAP_TYPE_HASH, "live_set", sizeof(struct address_key),
				 sizeof(struct listing), capacity, &options);

	return set < 0 ? -errno : set;
}

/*
 * The kernel waits here until no packet is in the old set (synchronize_rcu). The caller holds that one
 * open until then: before 6.8 (876673364161) the kernel would free it under a packet's feet.
 */
static int put_in_place(int outer, int set)
{
	uint32_t index = 0;

	return bpf_map_update_elem(outer, &index, &set, BPF_ANY) ? -errno : 0;
}

int live_set_prepare(int outer)
{
	uint32_t index = 0, id;
	int set, err;

	if (!bpf_map_lookup_elem(outer, &index, &id))
		return -EEXIST;
	set = create_set(LIVE_FIRST);
	if (set < 0)
		return set;
	err = put_in_place(outer, set);
	if (!err)
		return set;
	close(set);
	return err;
}

/* Between the two calls somebody may replace the set: then its id is gone, and there is another. */
int live_set_find(unsigned int ifindex, int outer)
{
	uint32_t index = 0, id;
	int set = -ENOENT;

	for (int i = 0; i < OPEN_TRIES && set == -ENOENT; i++) {
		if (bpf_map_lookup_elem(outer, &index, &id))
			return -errno;
		set = open_map(ifindex, map_names[MAP_LIVE_SET], id);
	}
	return set;
}

int live_set_open(const struct running *running)
{
	return live_set_find(running->attachment.ifindex, running->maps[MAP_LIVE_EXACT]);
}

/* ---- the pins of a set: one for each interface whose program asks it ---- */

struct replacement {
	uint32_t outer; /* the id of what holds the set */
	int set;
};

static bool is_pinned_for(unsigned int ifindex, const struct replacement *replacement)
{
	return pins_have(ifindex, pin_name(MAP_LIVE_EXACT), replacement->outer);
}

/* Under the new name a killed command may have left another one. */
static int pin_new(unsigned int ifindex, void *context)
{
	const struct replacement *replacement = context;
	const char *name = pin_name(MAP_LIVE_SET);

	if (!is_pinned_for(ifindex, replacement))
		return 0;
	return pins_drop(ifindex, name, PIN_NEW)
		       ?: pins_put(ifindex, name, PIN_NEW, replacement->set);
}

static int pin_in_place(unsigned int ifindex, void *context)
{
	return is_pinned_for(ifindex, context) ? pins_put_in_place(ifindex, pin_name(MAP_LIVE_SET))
					       : 0;
}

/* Pinned first, so that whoever finds it in its place can open it. */
static int replace(const struct running *running, int set)
{
	int outer = running->maps[MAP_LIVE_EXACT];
	struct replacement replacement = {object_id(outer), set};

	return pins_visit(pin_new, &replacement) ?: put_in_place(outer, set) ?:
	       pins_visit(pin_in_place, &replacement);
}

static int64_t capacity_of(int set)
{
	struct bpf_map_info info = {0};
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(set, &info, &size) ? -errno : (int64_t)info.max_entries;
}

/* Nobody writes meanwhile: packets only read it, and the commands have the lock. */
static int copy_set(int from, int to)
{
	struct address_key *keys = calloc(COPY_SIZE, sizeof(*keys));
	struct listing *listings = calloc(COPY_SIZE, sizeof(*listings));
	int err = keys && listings ? 0 : -ENOMEM;
	bool started = false, ended = false;
	uint32_t position, count;

	while (!err && !ended) {
		count = COPY_SIZE;
		if (bpf_map_lookup_batch(from, started ? &position : NULL, &position, keys,
					 listings, &count, NULL)) {
			ended = errno == ENOENT;
			err = ended ? 0 : -errno;
		}
		started = true;
		if (!err && count && bpf_map_update_batch(to, keys, listings, &count, NULL))
			err = -errno;
	}
	free(keys);
	free(listings);
	return err;
}

int live_set_grow(const struct running *running, int *set, size_t more)
{
	int64_t capacity = capacity_of(*set), wanted = capacity + (int64_t)more;
	int larger, err;

	if (capacity < 0)
		return (int)capacity;
	if (capacity >= LIVE_CAPACITY)
		return -E2BIG;
	do
		capacity *= GROWTH;
	while (capacity < wanted && capacity < LIVE_CAPACITY);
	larger = create_set(capacity < LIVE_CAPACITY ? (uint32_t)capacity : LIVE_CAPACITY);
	if (larger < 0)
		return larger;
	err = copy_set(*set, larger) ?: replace(running, larger);
	if (err) {
		close(larger);
		return err;
	}
	close(*set);
	*set = larger;
	return 0;
}

int live_set_renew(const struct running *running, int set)
{
	int64_t capacity = capacity_of(set);
	int fresh, err;

	if (capacity < 0)
		return (int)capacity;
	if (capacity == LIVE_FIRST)
		return 0;
	fresh = create_set(LIVE_FIRST);
	if (fresh == -EPERM) /* without CAP_BPF the large one stays, empty */
		return 0;
	if (fresh < 0)
		return fresh;
	err = replace(running, fresh);
	close(fresh);
	return err;
}
