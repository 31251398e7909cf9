/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Find or create the group of words of a source: the one door to the table. */
#ifndef XDP_LIMIT_BUCKETS_H
#define XDP_LIMIT_BUCKETS_H

#include "charge.h"
#include "events.h"
#include "filter.h"
#include "maps.h"
#include "packet.h"

/*
 * An address cut to a kind's prefix. fe80::/10 is kept whole, since a link shares one /64 of it. A
 * forged mapped source is cut to /64 at least: it must not reach IPv4's.
 */
INLINE void cut_source(const struct packet *packet, const volatile struct kind *kind,
		       __u64 address[2])
{
	address[0] = packet->source[0];
	address[1] = packet->source[1];
	if (packet->family == 4) {
		address[1] = mapped_ipv4(ipv4_of(address[1]) & kind->ipv4_mask);
	} else if (packet->flags & PACKET_FORGED_MAPPED) {
		address[1] = 0;
	} else if (!is_link_local(packet)) {
		address[0] &= kind->ipv6_mask[0];
		address[1] &= kind->ipv6_mask[1];
	}
}

/*
 * Source and destination in 16 bytes. Two of IPv4 fit as they are; of IPv6 the source's first half
 * stays and all else becomes a keyed hash, which nobody outside can aim at.
 */
INLINE void pair_key(const struct packet *packet, __u64 address[2])
{
	if (packet->family == 4) {
		address[0] = (__u64)ipv4_of(packet->destination[1]) << 32;
		return;
	}
	address[1] = mix(mix(mix(config.seed, address[1]), packet->destination[0]),
			 packet->destination[1]);
}

/** The key of the group of @kind that @packet is charged to. */
INLINE void kind_key(const struct packet *packet, const volatile struct kind *kind,
		     struct bucket_key *key)
{
	__u64 address[2];

	if (kind->per == PER_DESTINATION) {
		address[0] = packet->destination[0];
		address[1] = packet->destination[1];
	} else {
		cut_source(packet, kind, address);
		if (kind->per == PER_PAIR)
			pair_key(packet, address);
	}
	__builtin_memcpy(key->address, address, sizeof(key->address));
	key->kind = kind->id;
}

/* The same apart: verified once, for those who ask about many kinds. */
__noinline int fill_key(struct packet *packet, __u32 position, struct bucket_key *key)
{
	if (packet && key)
		kind_key(packet, &config.kinds[position % KIND_SLOTS], key);
	return 0;
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

/*
 * A fresh word is idle at now, not 0: that would be a time, and time comes round. A slot means
 * another tick in each kind of group, so only this kind's limits say what stands there.
 */
INLINE void prepare_group(void *group, __u32 kind, __u64 now_ns)
{
	*(__u64 *)group = now_ns;
	/* What this policy has no limit for is idle too, not what the last group left here. */
	__builtin_memset(group + GROUP_WORD(0), 0, MAX_LIMITS * sizeof(__u64));
	for (__u32 i = 0; i < MAX_LIMITS && i < config.limit_count; i++) {
		const volatile struct limit *limit = &config.limits[i];

		if (limit->group < MAX_KINDS && config.kinds[limit->group % KIND_SLOTS].id == kind)
			*group_word(group, limit->slot) = idle_word(limit, now_ns);
	}
}

/*
 * Whoever loses the race to create finds the winner's group and is charged there like anybody.
 * The lost insert may have evicted an entry all the same: the kernel takes a node before it looks
 * whether the key is there.
 */
__noinline int create_group(struct bucket_key *key, __u64 now_ns)
{
	__u32 index = 0;
	void *group = bpf_map_lookup_elem(&scratch, &index);
	struct bucket_key own;
	long err;

	if (!group || !key)
		return 0;
	own = *key; /* see maps.h */
	prepare_group(group, own.kind, now_ns);
	err = bpf_map_update_elem(&buckets, &own, group, BPF_NOEXIST);
	if (!err)
		count_event(EVENT_CREATED);
	else if (err == -EEXIST)
		count_event(EVENT_CREATE_RACED);
	return 0;
}

/*
 * The gate: an attacker who invents enough sources would evict the bucket of a limited one, which
 * then gets a fresh burst. So new entries have a budget of their own, slow enough that a bucket goes
 * only after it would have been full again anyway. Known sources never come here.
 */
__noinline int gate_opens(__u64 now_ns)
{
	__u32 index = 0;
	struct shared_word *shared = bpf_map_lookup_elem(&gate, &index);
	__u64 now = limit_ticks(&config.gate, now_ns);
	enum charge result;
	__u64 left;

	if (!shared)
		return true;
	result = charge_word(&shared->word, now, &config.gate, config.gate.multiplier, &left);
	/* A policy with a slower gate left more debt than this one can have. */
	if (result == FOREIGN)
		repair_word(&shared->word, &config.gate);
	return result == CHARGED;
}

/* Cold. Whoever comes here is charged to the group that is there afterwards, whoever made it. */
INLINE void *make_group(struct bucket_key *key, __u64 now_ns, bool *closed)
{
	void *group;

	if (config.gate_used && !gate_opens(now_ns)) {
		*closed = true;
		return NULL;
	}
	create_group(key, now_ns);
	group = bpf_map_lookup_elem(&buckets, key);
	if (!group)
		count_event(EVENT_INSERT_FAILURE);
	return group;
}

/**
 * The group of @key, made when there is none. NULL when the gate is closed (@closed is set then) or
 * the table has no place for it.
 */
INLINE void *find_or_create(struct bucket_key *key, __u64 now_ns, bool *closed)
{
	return bpf_map_lookup_elem(&buckets, key) ?: make_group(key, now_ns, closed);
}

#endif
