/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The flat table: find a source's slot or take one, and charge it, in one compare-and-swap. */
#ifndef XDP_LIMIT_BPF_FLAT_H
#define XDP_LIMIT_BPF_FLAT_H

#include "../include/flat.h"
#include "buckets.h"
#include "one_limit.h"

/*
 * A newcomer charges the word of the slot that owes least, under its own name: an idle one loses nothing
 * by that, and of one in debt the newcomer inherits the debt. So the least debt in a block never falls by
 * an eviction, nobody gains by one, and a flood of invented sources needs no gate.
 *
 * No source gets two slots: words only grow, the choice is the lowest of them and the same for all CPUs,
 * and whether the source is there already is seen in the same loads that the choice is made of. Had they
 * been loaded twice, another CPU could put the source into the block between them.
 *
 * Because words only grow, no charge is ever taken back. One that turns out not to be wanted, since
 * another CPU took the room of another limit, stands and is counted: it admits less, never more.
 */

/* How often a slot is looked at again that another CPU has moved meanwhile. */
#define FLAT_TRIES 8

/* One limit's block for one source. */
struct seat {
	struct flat_block *block;
	struct owner owner;
};

/*
 * Masked, not compared: the verifier forgets what it knew of a number that is put aside. And masked as a
 * whole: see place_of().
 */
INLINE const volatile struct limit *limit_at(__u32 place)
{
	asm("" : "+r"(place));
	return &config.limits[place % LIMIT_PLACES];
}

INLINE __u64 key_hash(const struct bucket_key *key)
{
	const __u64 *address = (const __u64 *)key->address;

	return flat_hash(config.seed, address[0], address[1]);
}

INLINE struct flat_block *find_block(const volatile struct limit *limit, __u64 hash)
{
	__u32 index = limit->slot * config.blocks + flat_block_of(hash, config.blocks);

	return bpf_map_lookup_elem(&flat, &index);
}

INLINE struct owner owner_of(const volatile struct limit *limit, __u64 hash)
{
	struct owner owner = {.mask = fingerprint_mask(limit)};

	owner.fingerprint = flat_fingerprint(hash, owner.mask);
	return owner;
}

/* The source's slot and what it held; FLAT_SLOTS when it has none. */
INLINE __u32 find_slot(const struct seat *seat, __u64 *seen)
{
	__u32 slot = FLAT_SLOTS;

#pragma unroll
	for (__u32 i = 0; i < FLAT_SLOTS; i++) {
		*seen = READ_ONCE(seat->block->words[i]);
		if (!is_anothers(*seen, &seat->owner)) {
			slot = i;
			break;
		}
	}
	/* One way on, not one for each slot. */
	slot = (slot + unknown_zero) & 15;
	/* Below 15 is to be asked as that, not as "not 15", of which kernels before 6.8 learn nothing. */
	asm("" : "+r"(slot));
	return slot;
}

/* A slot's word, NULL for none. Of 64 bits, since the verifier forgets what it knew of 32 that are put aside. */
INLINE __u64 *word_at(struct flat_block *block, __u32 slot)
{
	__u64 at = slot;

	asm("" : "+r"(at));
	if (at >= FLAT_SLOTS)
		return NULL;
	/* And not before it was asked. */
	asm volatile("" : "+r"(at));
	return &block->words[at];
}

/* Looked at after the words that it vouches for: see flat_is_stale(). */
INLINE bool is_stale(const struct flat_block *block, const volatile struct limit *limit,
		     __u64 now_ns)
{
	return flat_is_stale(now_ns - READ_ONCE(block->refreshed_ns), limit->tick);
}

/*
 * Cold. Brings words up that are far behind. The header is looked at between the load of a word and its
 * change: what others charge they charge after they have finished the same refresh, and a CPU that was held
 * up here must not take that for idle, going by an age or a time of before.
 */
INLINE void bring_up(struct flat_block *block, const volatile struct limit *limit,
		     __u64 refreshed_ns, __u64 now_ns)
{
	bool all_idle = flat_all_idle(now_ns - refreshed_ns, limit->tick);
	__u64 mask = fingerprint_mask(limit);
	__u64 floor = flat_floor(limit_ticks(limit, now_ns), mask);

	for (__u32 i = 0; i < FLAT_SLOTS; i++) {
		__u64 seen = READ_ONCE(block->words[i]);

		if (READ_ONCE(block->refreshed_ns) != refreshed_ns)
			return;
		if (all_idle || flat_is_behind(seen, floor, mask))
			CAS(&block->words[i], seen, floor | (seen & mask));
	}
	CAS(&block->refreshed_ns, refreshed_ns, now_ns);
}

/* A block from the future means that this reading of the clock is old: it is read again. */
__noinline int refresh_block(struct flat_block *block, __u32 place, struct load *load)
{
	const volatile struct limit *limit = limit_at(place);
	__u64 refreshed_ns;

	if (!block || !load)
		return 0;
	refreshed_ns = READ_ONCE(block->refreshed_ns);
	if ((__s64)(load->now_ns - refreshed_ns) >= 0) {
		bring_up(block, limit, refreshed_ns, load->now_ns);
		return 0;
	}
	load->now_ns = clock_source();
	/* Or nobody's clock wrote that. */
	if ((__s64)(load->now_ns - refreshed_ns) < 0)
		CAS(&block->refreshed_ns, refreshed_ns, load->now_ns);
	return 0;
}

/* No slot, ranked: the source turned out to have one. */
#define NO_VICTIM FLAT_SLOTS

/* The slot that owes least, ranked. A call: it needs all registers, and only newcomers come here. */
__noinline __u64 find_victim(struct flat_block *block, __u64 mask, __u64 fingerprint)
{
	__u64 best = NO_VICTIM, there = 0;

	if (!block)
		return NO_VICTIM;
#pragma unroll
	for (__u32 i = 0; i < FLAT_SLOTS; i++) {
		__u64 word = READ_ONCE(block->words[i]);
		__u64 rank = flat_rank(word, mask, i);

		there |= ((word ^ fingerprint) & mask) - 1;
		best = i ? flat_lower_rank(best, rank) : rank;
	}
	return there >> 63 ? NO_VICTIM : best;
}

/* A word that nobody wrote under this limit and clock is put back; the packet that shows it is refused. */
INLINE enum charge repair_slot(struct flat_block *block, __u32 slot,
			       const volatile struct limit *limit)
{
	__u64 *word = word_at(block, slot);

	if (word && repair_word(word, limit))
		count_event(EVENT_REPAIRED);
	return REFUSED;
}

/*
 * What stands against a newcomer to a slot that owes @debt; CHARGED for nothing. Nobody inherits what could
 * get him banned.
 */
INLINE enum charge admit_newcomer(const volatile struct limit *limit, __u64 debt, __u64 cost)
{
	if (debt && (!config.inherits || limit->ban_ns))
		return NO_PLACE;
	if (!gcra_fits(debt, cost, limit->burst))
		return gcra_foreign(debt, limit->burst, limit->slack) ? FOREIGN : REFUSED;
	return CHARGED;
}

/* Take the slot @victim, ranked as it was seen, for the source with @hash. Returns enum charge. */
__noinline int claim_slot(struct flat_block *block, __u64 hash, __u64 victim, __u32 place,
			  struct load *load)
{
	const volatile struct limit *limit = limit_at(place);
	__u64 seen, debt, cost, now, *word;
	struct owner owner;
	enum charge result;

	word = block ? word_at(block, flat_ranked_slot(victim)) : NULL;
	if (!word || !load)
		return MOVED;
	owner = owner_of(limit, hash);
	seen = READ_ONCE(*word);
	if ((seen ^ victim) & ~owner.mask)
		return MOVED;
	if (!limit_cost(limit, load->packets, load->bytes, &cost))
		return REFUSED;
	now = limit_ticks(limit, load->now_ns);
	debt = gcra_debt(seen & ~owner.mask, now);
	result = admit_newcomer(limit, debt, cost);
	/* Now, and the time loaded again below: the call leaves no stack to keep what goes into them. */
	load->left = (now + debt + cost) | owner.fingerprint;
	/* With several limits the gate was asked before any was charged. */
	if (result == CHARGED && config.alone && config.gate_used &&
	    !gate_opens(READ_ONCE(load->now_ns)))
		return GATED;
	if (result != CHARGED)
		return result;
	if (CAS(word, seen, load->left) != seen)
		return MOVED;
	count_claim(seen & owner.mask, debt);
	return CHARGED;
}

/* A slot that is the source's already. Returns enum charge. */
__noinline int charge_known(struct flat_block *block, __u64 hash, __u32 slot, __u32 place,
			    struct load *load)
{
	const volatile struct limit *limit = limit_at(place);
	__u64 seen, cost, *word;
	struct owner owner;

	word = block ? word_at(block, slot) : NULL;
	if (!word || !load)
		return MOVED;
	owner = owner_of(limit, hash);
	seen = READ_ONCE(*word);
	if (is_anothers(seen, &owner) || is_stale(block, limit, load->now_ns))
		return MOVED;
	if (!limit_cost(limit, load->packets, load->bytes, &cost))
		return REFUSED;
	/* One try: the loser of a race for a slot looks for it again, and a loop takes stack. */
	return charge_seen(word, seen, limit_ticks(limit, load->now_ns), limit, cost, &owner, 1,
			   &load->left);
}

/* One look at the block. @slot: what was charged, or was to be. */
INLINE int look_once(struct flat_block *block, __u64 hash, __u32 place, struct load *load,
		     __u32 *slot)
{
	const volatile struct limit *limit = limit_at(place);
	struct seat seat = {.block = block, .owner = owner_of(limit, hash)};
	__u64 victim, seen, refreshed_ns = READ_ONCE(block->refreshed_ns);

	*slot = find_slot(&seat, &seen);
	if (*slot < FLAT_SLOTS)
		return charge_known(block, hash, *slot, place, load);
	victim = find_victim(block, seat.owner.mask, seat.owner.fingerprint);
	*slot = flat_ranked_slot(victim);
	/* Of words some of which were refreshed meanwhile, another CPU may choose another. */
	if (READ_ONCE(block->refreshed_ns) != refreshed_ns || is_stale(block, limit, load->now_ns))
		return MOVED;
	return claim_slot(block, hash, victim, place, load);
}

/* The same; MOVED when it takes another. What the calls above have no stack left for is done here. */
INLINE int try_slot(struct flat_block *block, __u64 hash, __u32 place, struct load *load)
{
	__u32 slot;
	int result = look_once(block, hash, place, load, &slot);

	if (result == NO_PLACE)
		count_event(EVENT_INSERT_FAILURE);
	return result == FOREIGN ? (int)repair_slot(block, slot, limit_at(place)) : result;
}

/**
 * Charge @load to the slot of the source with @hash in its @block, under the limit at @place. A slot is taken
 * when it has none. What the charge left goes to load->left. Returns enum charge.
 */
__noinline int charge_slot_apart(struct flat_block *block, __u64 hash, __u32 place,
				 struct load *load)
{
	const volatile struct limit *limit = limit_at(place);

	if (!block || !load)
		return REFUSED;
	if (!limit->multiplier)
		return load->packets <= limit->max_units ? CHARGED : REFUSED;
	for (int tries = 0; tries < FLAT_TRIES; tries++) {
		int result = try_slot(block, hash, place, load);

		if (result != MOVED)
			return result;
		if (is_stale(block, limit, load->now_ns))
			refresh_block(block, place, load);
	}
	return LOST_RACE;
}

/**
 * The same for the policy's only limit. A source that has a slot needs no call, unless other CPUs charge it
 * at the same moment: then addition serves them better.
 */
INLINE enum charge charge_slot(struct flat_block *block, __u64 hash, struct load *load)
{
	const volatile struct limit *limit = &config.limits[0];
	struct seat seat = {.block = block, .owner = owner_of(limit, hash)};
	__u64 seen, cost, debt, now, *word;
	__u32 slot = find_slot(&seat, &seen);

	word = word_at(block, slot);
	if (!limit->multiplier || !word || is_stale(block, limit, load->now_ns))
		return charge_slot_apart(block, hash, 0, load);
	if (!limit_cost(limit, load->packets, load->bytes, &cost))
		return REFUSED;
	now = limit_ticks(limit, load->now_ns);
	debt = gcra_debt(seen & ~seat.owner.mask, now);
	if (gcra_fits(debt, cost, limit->burst)) {
		if (CAS(word, seen, (now + debt + cost) | seat.owner.fingerprint) == seen)
			return CHARGED;
	} else if (!gcra_foreign(debt, limit->burst, limit->slack)) {
		return REFUSED;
	}
	return charge_slot_apart(block, hash, 0, load);
}

/* ---- for policies of many limits: a call each ---- */

/* The same before anything is charged. Asks the gate. load->left: whether it is tight, as check_word(). */
INLINE int check_newcomer(const struct seat *seat, const volatile struct limit *limit,
			  struct load *load, __u64 cost)
{
	__u64 victim = find_victim(seat->block, seat->owner.mask, seat->owner.fingerprint);
	__u32 slot = flat_ranked_slot(victim);
	__u64 debt = gcra_debt(victim & ~seat->owner.mask, limit_ticks(limit, load->now_ns));
	int result = admit_newcomer(limit, debt, cost);

	/* Another CPU brought it in: the charge will find out. */
	if (slot >= FLAT_SLOTS)
		return CHARGED;
	if (result == NO_PLACE)
		count_event(EVENT_INSERT_FAILURE);
	if (result == CHARGED && config.gate_used && !gate_opens(load->now_ns))
		return GATED;
	return result == FOREIGN ? (int)repair_slot(seat->block, slot, limit) : result;
}

/** Whether there is room for the source with @hash, before anything is charged; enum charge. */
__noinline int check_slot_apart(struct flat_block *block, __u64 hash, __u32 place,
				struct load *load)
{
	const volatile struct limit *limit;
	struct seat seat = {.block = block};
	bool tight = true;
	__u64 cost, seen;
	__u32 slot;
	int result;

	if (!block || !load)
		return REFUSED;
	load->left = true;
	limit = limit_at(place);
	if (!limit_cost(limit, load->packets, load->bytes, &cost))
		return REFUSED;
	if (!limit->multiplier)
		return CHARGED;
	seat.owner = owner_of(limit, hash);
	slot = find_slot(&seat, &seen);
	if (is_stale(block, limit, load->now_ns)) {
		refresh_block(block, place, load);
		slot = find_slot(&seat, &seen);
	}
	if (slot >= FLAT_SLOTS)
		return check_newcomer(&seat, limit, load, cost);
	result = check_word(seen & ~seat.owner.mask, limit_ticks(limit, load->now_ns), limit, cost,
			    &tight);
	load->left = tight;
	return result == FOREIGN ? (int)repair_slot(block, slot, limit) : result;
}

#endif
