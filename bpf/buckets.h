/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Find or create the group of words of a source: the one door to the table. */
#ifndef XDP_LIMIT_BUCKETS_H
#define XDP_LIMIT_BUCKETS_H

#include "charge.h"
#include "events.h"
#include "maps.h"
#include "packet.h"

/*
 * The source's key: its address cut to the table's prefix. fe80::/10 is kept whole, since a link
 * shares one /64 of it. A forged mapped source is cut to /64 at least: it must not reach IPv4's.
 */
INLINE void source_key(const struct packet *packet, struct bucket_key *key)
{
	__u64 address[2] = {packet->source[0], packet->source[1]};

	if (packet->family == 4) {
		address[1] = mapped_ipv4(ipv4_of(address[1]) & config.ipv4_mask);
	} else if (packet->flags & PACKET_FORGED_MAPPED) {
		address[1] = 0;
	} else if (!is_link_local(packet)) {
		address[0] &= config.ipv6_mask[0];
		address[1] &= config.ipv6_mask[1];
	}
	__builtin_memcpy(key->address, address, sizeof(key->address));
	key->per = PER_SOURCE;
}

INLINE __u64 group_born(const void *group)
{
	return *(const __u64 *)group;
}

/* A group's size is a power of two, so the mask shows the verifier what the loader guarantees. */
INLINE __u32 in_group(__u32 slot)
{
	return slot & (config.words - 1);
}

INLINE __u64 *group_word(void *group, __u32 slot)
{
	return group + GROUP_WORD(in_group(slot));
}

INLINE struct tally *group_tally(void *group, __u32 slot)
{
	return group + GROUP_TALLY(config.words, in_group(slot));
}

/* A fresh word is idle at now, not 0: that would be a time, and time comes round. */
INLINE void prepare_group(void *group, __u64 now_ns)
{
	*(__u64 *)group = now_ns;
	for (__u32 i = 0; i < MAX_LIMITS && i < config.limit_count; i++) {
		const volatile struct limit *limit = &config.limits[i];

		*group_word(group, limit->slot) = limit_ticks(limit, now_ns);
	}
}

/*
 * Whoever loses the race to create finds the winner's group and is charged there like anybody.
 * The lost insert may have evicted an entry all the same: the kernel takes a node before it looks
 * whether the key is there.
 */
static __noinline void *create_group(struct bucket_key *key, __u64 now_ns)
{
	__u32 index = 0;
	void *group = bpf_map_lookup_elem(&scratch, &index);
	long err;

	if (!group)
		return NULL;
	prepare_group(group, now_ns);
	err = bpf_map_update_elem(&buckets, key, group, BPF_NOEXIST);
	if (!err)
		count_event(EVENT_CREATED);
	else if (err == -EEXIST)
		count_event(EVENT_CREATE_RACED);
	group = bpf_map_lookup_elem(&buckets, key);
	if (!group)
		count_event(EVENT_INSERT_FAILURE);
	return group;
}

/** The group of @key, made when there is none; NULL when the table has no place for it. */
INLINE void *find_or_create(struct bucket_key *key, __u64 now_ns)
{
	return bpf_map_lookup_elem(&buckets, key) ?: create_group(key, now_ns);
}

#endif
