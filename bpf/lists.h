/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sources that no limit is asked about: banned, allowed, denied, and the SSH peer. */
#ifndef XDP_LIMIT_LISTS_H
#define XDP_LIMIT_LISTS_H

#include "buckets.h"
#include "clock.h"
#include "filter.h"
#include "maps.h"
#include "packet.h"

/* ---- filters ---- */

INLINE bool bit_is_set(void *filter, __u32 base, __u32 bit)
{
	__u32 index = base + bit / 64;
	__u64 *word = bpf_map_lookup_elem(filter, &index);

	return word && READ_ONCE(*word) >> (bit % 64) & 1;
}

INLINE bool prefix_may_hold(void *filter, const struct packet *packet,
			    const struct prefix_filter *shape)
{
	bool ipv4 = packet->family == 4;
	__u64 top = ipv4 ? (__u64)bpf_ntohl(ipv4_of(packet->source[1])) << 32
			 : bpf_be64_to_cpu(packet->source[0]);
	__u32 bits = ipv4 ? shape->ipv4_bits : shape->ipv6_bits;

	return shape->used &&
	       bit_is_set(filter, shape->half ? PREFIX_FILTER_WORDS : 0,
			  prefix_filter_bit(config.seed, top, bits & 127, packet->family));
}

INLINE bool address_may_be_in(void *filter, const __u64 address[2])
{
	return bit_is_set(filter, 0, exact_filter_bit(config.seed, address[0], address[1]));
}

/* ---- what the lists say, once a filter said "look" ---- */

enum list_set {
	SET_FILE_EXACT = 1 << 0,
	SET_FILE_PREFIX = 1 << 1,
	SET_LIVE_EXACT = 1 << 2,
	SET_LIVE_PREFIX = 1 << 3,
};

/* A question to the lists; @reason is their answer so far. */
struct question {
	struct address_key address;
	__u64 now_ns; /* 0 until it is needed: what has no end needs no clock */
	__u32 sets;
	__u32 length; /* of the entry that @reason is from, plus 1; 0: none yet */
	__u32 reason; /* enum reason */
	__u32 family;
};

INLINE bool lives(struct question *question, __u64 until_ns)
{
	if (!until_ns || until_ns == FOREVER)
		return until_ns;
	if (!question->now_ns)
		question->now_ns = clock_source();
	return question->now_ns < until_ns;
}

/* The longest entry speaks; at a tie, deny. Returns whether this one has anything to say. */
INLINE bool weigh(struct question *question, __u32 length, __u64 allow_until_ns,
		  __u64 deny_until_ns)
{
	bool denies = lives(question, deny_until_ns);

	if (!denies && !lives(question, allow_until_ns))
		return false;
	if (denies ? length + 1 >= question->length : length + 1 > question->length) {
		question->length = length + 1;
		question->reason = denies ? REASON_DENIED : REASON_ALLOWED;
	}
	return true;
}

INLINE bool ask_address(struct question *question, void *map)
{
	struct address_key own = question->address; /* see maps.h */
	struct listing *listing = bpf_map_lookup_elem(map, &own);

	if (!listing)
		return false;
	if (lives(question, listing->ban_until_ns))
		return true;
	weigh(question, WHOLE_PREFIX, listing->allow_until_ns, listing->deny_until_ns);
	return false;
}

/* NULL: the loader has put none there. */
INLINE bool ask_live_address(struct question *question)
{
	__u32 index = 0;
	void *set = bpf_map_lookup_elem(&live_exact, &index);

	return set && ask_address(question, set);
}

INLINE bool ask_prefix(struct question *question, void *map)
{
	struct prefix_key key = {.length = WHOLE_PREFIX, .family = question->family};
	struct prefix_listing *listing;

	__builtin_memcpy(key.address, question->address.address, sizeof(key.address));
	listing = bpf_map_lookup_elem(map, &key);
	if (!listing)
		return false;
	if (lives(question, listing->ban_until_ns))
		return true;
	for (int i = 0; i < LIST_LEVELS; i++)
		if (weigh(question, listing->levels[i].length, listing->levels[i].allow_until_ns,
			  listing->levels[i].deny_until_ns))
			break;
	return false;
}

/* Cold, and verified once: a ban first, then the longest of allow and deny. */
__noinline int ask_lists(struct question *question)
{
	if (!question)
		return REASON_NONE;
	if ((question->sets & SET_LIVE_EXACT && ask_live_address(question)) ||
	    (question->sets & SET_LIVE_PREFIX && ask_prefix(question, &live_prefix)))
		question->reason = REASON_BANNED;
	else {
		if (question->sets & SET_FILE_EXACT)
			ask_address(question, &file_exact);
		if (question->sets & SET_FILE_PREFIX)
			ask_prefix(question, &file_prefix);
	}
	return question->reason;
}

INLINE __u32 sets_to_ask(const struct packet *packet, __u64 live_word)
{
	const struct prefix_filter file = config.list_filter;
	struct live_lists live;
	__u32 sets = 0;

	__builtin_memcpy(&live, &live_word, sizeof(live));
	if (config.list_addresses && address_may_be_in(&file_xbits, packet->source))
		sets |= SET_FILE_EXACT;
	if (config.list_filter.used && prefix_may_hold(&file_pbits, packet, &file))
		sets |= SET_FILE_PREFIX;
	if (live.exact_used && address_may_be_in(&live_xbits, packet->source))
		sets |= SET_LIVE_EXACT;
	if (live.prefixes.used && prefix_may_hold(&live_pbits, packet, &live.prefixes))
		sets |= SET_LIVE_PREFIX;
	return sets;
}

INLINE enum reason consult_lists(const struct packet *packet, __u64 live_word, struct clock *clock)
{
	struct question question = {
		.reason = REASON_NONE,
		.now_ns = clock->ns,
		.family = packet->family,
	};

	question.sets = sets_to_ask(packet, live_word);
	if (!question.sets)
		return REASON_NONE;
	__builtin_memcpy(question.address.address, packet->source,
			 sizeof(question.address.address));
	ask_lists(&question);
	clock->ns = question.now_ns;
	/* The comparison is a bound to the verifier, which knows nothing of what a call returns. */
	return question.reason < REASON_COUNT ? question.reason : REASON_NONE;
}

/* ---- the penalty box ---- */

/* Cold: the source had a bit set. Returns whether it is banned now. */
__noinline int serve_penalty(struct address_key *source, __u64 now_ns)
{
	struct penalty *penalty;
	struct address_key own;

	if (!source)
		return 0;
	own = *source; /* see maps.h */
	penalty = bpf_map_lookup_elem(&penalties, &own);
	if (!penalty || now_ns >= READ_ONCE(penalty->until_ns))
		return 0;
	if (penalty->extend_ns)
		penalty->until_ns = now_ns + penalty->extend_ns;
	return 1;
}

INLINE enum reason penalty_box(const struct packet *packet, struct clock *clock)
{
	__u64 source[2];
	struct address_key key;

	cut_source(packet, &config.kinds[KIND_OWN], source);
	if (!address_may_be_in(&penalty_bits, source))
		return REASON_NONE;
	__builtin_memcpy(key.address, source, sizeof(key.address));
	return serve_penalty(&key, clock_ns(clock)) ? REASON_BANNED : REASON_NONE;
}

/** Ban the source of @packet, that exceeded @limit: for so long from now. */
INLINE void ban_source(const struct packet *packet, const volatile struct limit *limit,
		       __u64 now_ns)
{
	struct penalty penalty = {
		.until_ns = now_ns + limit->ban_ns,
		.extend_ns = limit->ban_extends ? limit->ban_ns : 0,
	};
	struct address_key key;
	__u64 source[2], *word;
	__u32 bit, index;

	cut_source(packet, &config.kinds[KIND_OWN], source);
	__builtin_memcpy(key.address, source, sizeof(key.address));
	bpf_map_update_elem(&penalties, &key, &penalty, BPF_ANY);
	bit = exact_filter_bit(config.seed, source[0], source[1]);
	index = bit / 64;
	word = bpf_map_lookup_elem(&penalty_bits, &index);
	if (word)
		__sync_fetch_and_or(word, 1ULL << (bit % 64));
}

/* ---- the SSH guard ---- */

/* The peer that attached, for a while. */
INLINE enum reason ssh_guard(const struct packet *packet, struct clock *clock)
{
	struct address_key key;
	__u64 *ends;

	__builtin_memcpy(key.address, packet->source, sizeof(key.address));
	ends = bpf_map_lookup_elem(&guards, &key);
	return ends && clock_ns(clock) < *ends ? REASON_SSH_GUARD : REASON_NONE;
}

/* Once the last guard has ended the look-up costs nobody anything, without any process's help. */
INLINE enum reason lists(const struct packet *packet, const struct switches *now,
			 struct clock *clock)
{
	__u64 guards_end = READ_ONCE(now->guards_end_ns);
	__u64 live = READ_ONCE(now->live_lists);
	enum reason reason = REASON_NONE;

	if (guards_end && clock_ns(clock) < guards_end)
		reason = ssh_guard(packet, clock);
	if (reason == REASON_NONE && config.penalties)
		reason = penalty_box(packet, clock);
	if (reason == REASON_NONE && (live || config.list_addresses || config.list_filter.used))
		reason = consult_lists(packet, live, clock);
	return reason;
}

#endif
