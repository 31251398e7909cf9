/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters of one limit for one source, through a per-CPU write-combining cache: sums stay exact. */
#ifndef XDP_LIMIT_TALLY_H
#define XDP_LIMIT_TALLY_H

#include "buckets.h"
#include "maps.h"

/* A busy source costs shared memory once in so many packets; a reader adds what is pending. */
#define FLUSH_EVERY 256
/* A line is taken from its owner after so many packets of others in a row. */
#define TAKE_AFTER 64

INLINE __u32 cache_slot(const struct bucket_key *key, __u32 slot)
{
	const __u64 *address = (const __u64 *)key->address;
	__u64 mixed = address[0] ^ (address[1] + slot);

	return (mixed * 0x9e3779b97f4a7c15ULL) >> 58;
}

INLINE bool owns_line(const struct cached_tally *line, const struct bucket_key *key, __u32 slot,
		      __u64 born_ns)
{
	const __u64 *mine = (const __u64 *)key->address;
	const __u64 *theirs = (const __u64 *)line->key.address;

	return line->born_ns == born_ns && theirs[1] == mine[1] && theirs[0] == mine[0] &&
	       line->slot == slot && line->key.kind == key->kind;
}

INLINE void add_shared(struct tally *tally, const struct increment *by)
{
	if (by->dropped) {
		FETCH_ADD(&tally->dropped_packets, by->packets);
		FETCH_ADD(&tally->dropped_bytes, by->bytes);
	} else {
		FETCH_ADD(&tally->passed_packets, by->packets);
		FETCH_ADD(&tally->passed_bytes, by->bytes);
	}
}

/* Only this CPU writes the line, and one packet is done before the next one starts on it. */
INLINE void add_local(struct tally *tally, const struct increment *by)
{
	if (by->dropped) {
		tally->dropped_packets += by->packets;
		tally->dropped_bytes += by->bytes;
	} else {
		tally->passed_packets += by->packets;
		tally->passed_bytes += by->bytes;
	}
}

static __noinline int flush_line(struct cached_tally *line, struct tally *into)
{
	FETCH_ADD(&into->passed_packets, line->tally.passed_packets);
	FETCH_ADD(&into->passed_bytes, line->tally.passed_bytes);
	FETCH_ADD(&into->dropped_packets, line->tally.dropped_packets);
	FETCH_ADD(&into->dropped_bytes, line->tally.dropped_bytes);
	__builtin_memset(&line->tally, 0, sizeof(line->tally));
	line->pending = 0;
	return 0;
}

/* The old owner gets what is pending, unless its group is gone: so are its counters then. */
static __noinline int take_line(struct cached_tally *line, const struct bucket_key *key, __u32 slot,
				__u64 born_ns)
{
	void *owner = line->pending ? bpf_map_lookup_elem(&buckets, &line->key) : NULL;

	if (owner && group_born(owner) == line->born_ns)
		flush_line(line, group_tally(owner, line->slot));
	__builtin_memset(&line->tally, 0, sizeof(line->tally));
	line->key = *key;
	line->slot = slot;
	line->misses = 0;
	line->pending = 0;
	line->born_ns = born_ns;
	return 0;
}

/** Count one packet of @key under the limit in @slot, whose tally in the group is @tally. */
INLINE void count_tally(const struct bucket_key *key, __u64 born_ns, struct tally *tally,
			__u32 slot, const struct increment *by)
{
	__u32 index = cache_slot(key, slot);
	struct cached_tally *line = bpf_map_lookup_elem(&tally_cache, &index);

	if (!line)
		return;
	if (owns_line(line, key, slot, born_ns)) {
		line->misses = 0;
		add_local(&line->tally, by);
		if (++line->pending >= FLUSH_EVERY)
			flush_line(line, tally);
		return;
	}
	add_shared(tally, by);
	if (!line->born_ns || ++line->misses >= TAKE_AFTER)
		take_line(line, key, slot, born_ns);
}

/* For policies of many limits: verified once, a call each. */
__noinline int count_tally_apart(struct bucket_key *key, __u64 born_ns, struct tally *tally,
				 __u32 slot, struct increment *by)
{
	if (key && tally && by)
		count_tally(key, born_ns, tally, slot, by);
	return 0;
}

#endif
