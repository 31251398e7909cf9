/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tells whoever listens what happened to a packet: rarely, and never more than so often. */
#ifndef XDP_LIMIT_TELL_H
#define XDP_LIMIT_TELL_H

#include "buckets.h"
#include "clock.h"
#include "filter.h"
#include "maps.h"
#include "packet.h"

/* How long a source is not told of again under the same limit: units of 2^SEEN_UNIT_BITS ns, about 1 s. */
#define SEEN_UNIT_BITS 30
#define SEEN_UNITS     10
#define SEEN_TIME_MASK 0xfffffULL /* of the word; the rest is a fingerprint */

/* The most of a kind in any second: half of it at once, the other half as time goes by. */
struct event_cap {
	__u64 interval_ns;
	__u64 burst_ns;
};

#define CAP_SLOTS 8 /* a power of two: a mask is a bound to the verifier, a remainder is none */
_Static_assert(EVENT_KINDS <= CAP_SLOTS, "room for kinds");

#define CAP_INTERVAL(per_second) ((per_second) ? 2000000000ULL / ((per_second) ?: 1) : 0)

static const volatile struct event_cap event_caps[CAP_SLOTS] = {
#define XDP_LIMIT_CAP(NAME, name, per_second, text) \
	[EVENT_##NAME] = {CAP_INTERVAL(per_second), CAP_INTERVAL(per_second) * ((per_second) / 2)},
	XDP_LIMIT_EVENT_KINDS(XDP_LIMIT_CAP)
#undef XDP_LIMIT_CAP
};

/* Dropped packets have a kind, and of those that pass what lists and the gate did. */
INLINE bool is_worth_telling(enum reason reason, bool drop)
{
	__u32 index = 0;
	struct listening *now;

	if (!drop && reason != REASON_ALLOWED && reason != REASON_GATE_CLOSED)
		return false;
	now = bpf_map_lookup_elem(&listening, &index);
	return now && READ_ONCE(now->until_ns);
}

INLINE enum event_kind kind_of(__u32 reason)
{
	switch (reason) {
	case REASON_GATE_CLOSED:
		return EVENT_GATE;
	case REASON_ALLOWED:
	case REASON_DENIED:
	case REASON_BANNED:
		return EVENT_LIST;
	default:
		return EVENT_DROP;
	}
}

INLINE struct event_buffer *own_buffer(void)
{
	__u32 index = 0;

	return bpf_map_lookup_elem(&event_buffer, &index);
}

/* ---- caps ---- */

INLINE __u64 *cap_word(__u32 kind)
{
	__u32 index = BUDGET_EVENTS + kind;
	struct shared_word *shared = bpf_map_lookup_elem(&budgets, &index);

	return shared ? &shared->word : NULL;
}

INLINE bool cap_has_room(__u64 word, __u32 kind, __u64 now_ns)
{
	const volatile struct event_cap *cap = &event_caps[kind % CAP_SLOTS];

	return gcra_fits(gcra_debt(word, now_ns), cap->interval_ns, cap->burst_ns);
}

/* One try: who loses the race is as one too many. */
INLINE bool take_room(__u64 *word, __u32 kind, __u64 now_ns)
{
	__u64 seen = READ_ONCE(*word);

	if (!cap_has_room(seen, kind, now_ns))
		return false;
	return CAS(word, seen,
		   now_ns + gcra_debt(seen, now_ns) + event_caps[kind % CAP_SLOTS].interval_ns) ==
	       seen;
}

INLINE void count_capped(__u32 kind)
{
	__u32 index = 0;
	struct cpu_counters *mine = bpf_map_lookup_elem(&counters, &index);

	if (mine && kind < EVENT_KERNEL_KINDS)
		mine->telling.capped[kind]++;
}

/* ---- to the readers ---- */

/* What the buffer holds, to each reader that wants its kind. */
__noinline int deliver(__u32 kind, __u32 captured)
{
	__u32 index = 0;
	struct event_buffer *buffer = own_buffer();
	struct listening *now = bpf_map_lookup_elem(&listening, &index);
	struct cpu_counters *mine = bpf_map_lookup_elem(&counters, &index);
	__u64 now_ns;

	if (!buffer || !now || !mine || captured > EVENT_SNAP)
		return 0;
	buffer->event.kind = kind;
	buffer->event.captured = captured;
	now_ns = buffer->event.time_ns;
	for (__u32 i = 0; i < EVENT_READERS; i++) {
		struct event_reader *reader = &now->readers[i];
		__u32 place = i;
		void *ring;

		if (!(READ_ONCE(reader->kinds) >> (kind & 31) & 1) ||
		    now_ns >= READ_ONCE(reader->until_ns))
			continue;
		ring = bpf_map_lookup_elem(&rings, &place);
		if (ring && bpf_ringbuf_output(ring, buffer, sizeof(buffer->event) + captured, 0))
			mine->telling.overflowed[i]++;
	}
	return 0;
}

INLINE void describe_packet(struct event *event, const struct packet *packet, __u64 now_ns)
{
	bool ports = packet->flags & PACKET_HAS_PORTS;

	event->time_ns = now_ns;
	event->until_ns = 0;
	__builtin_memcpy(event->source, packet->source, sizeof(event->source));
	__builtin_memcpy(event->destination, packet->destination, sizeof(event->destination));
	event->length = packet->length;
	event->source_port = ports ? packet->source_port : 0;
	event->destination_port = ports ? packet->destination_port : 0;
	event->protocol = packet->protocol;
	event->family = packet->flags & PACKET_HAS_SOURCE ? packet->family : 0;
	event->prefix = packet->family == 4 ? 32 : 128;
	event->flags = config.dry_run ? EVENT_DRY_RUN : 0;
}

/* ---- what is worth it ---- */

/* The limit that refused this packet; NULL for none. */
INLINE const volatile struct limit *refused_by(__u32 reason)
{
	__u32 index = 0;
	struct charge_log *log;

	if (reason != REASON_OVER_LIMIT && reason != REASON_CONTENDED)
		return NULL;
	if (config.alone)
		return &config.limits[0];
	log = bpf_map_lookup_elem(&charges, &index);
	return log ? &config.limits[READ_ONCE(log->refused_by) % MAX_LIMITS] : NULL;
}

/* Where it is noted that this source was told of, and what is noted there. */
struct seen {
	__u64 *word;
	__u64 fingerprint;
};

/* By the table's own source: an IPv6 host has more addresses than anybody wants to read. */
INLINE struct seen find_seen(const struct packet *packet, __u32 what)
{
	__u64 source[2], hash;
	struct seen seen;
	__u32 index;

	cut_source(packet, &config.kinds[KIND_OWN], source);
	hash = mix(mix(mix(config.seed, source[0]), source[1]), what);
	index = hash % EVENT_SEEN;
	seen.word = bpf_map_lookup_elem(&event_seen, &index);
	seen.fingerprint = hash & ~SEEN_TIME_MASK;
	return seen;
}

/* Whether that was lately. */
INLINE bool was_told(const struct seen *seen, __u64 now_ns)
{
	__u64 noted = READ_ONCE(*seen->word);

	return (noted & ~SEEN_TIME_MASK) == seen->fingerprint &&
	       (((now_ns >> SEEN_UNIT_BITS) - noted) & SEEN_TIME_MASK) < SEEN_UNITS;
}

/* What the buffer holds, without bytes of the packet, as long as its kind has room. */
__noinline int tell_capped(__u32 kind, __u64 now_ns)
{
	__u64 *word = cap_word(kind);

	if (word && take_room(word, kind, now_ns)) {
		deliver(kind, 0);
		return 1;
	}
	/* That the gate is closed was just told: nothing is lost. */
	if (kind != EVENT_GATE)
		count_capped(kind);
	return 0;
}

/*
 * The first of a source under this limit, or for this reason. When the kind has no room left, nobody looks
 * whether it was the first.
 */
__noinline int tell_first(struct packet *packet, __u32 reason, __u64 now_ns)
{
	struct event_buffer *buffer = own_buffer();
	__u32 kind = kind_of(reason);
	__u64 *word = cap_word(kind);
	struct seen seen;

	if (!packet || !buffer || !word)
		return 0;
	if (!cap_has_room(READ_ONCE(*word), kind, now_ns)) {
		count_capped(kind);
		return 0;
	}
	seen = find_seen(packet, reason << 8 | buffer->event.limit);
	if (!seen.word || was_told(&seen, now_ns))
		return 0;
	if (tell_capped(kind, now_ns))
		*seen.word = seen.fingerprint | (now_ns >> SEEN_UNIT_BITS & SEEN_TIME_MASK);
	return 0;
}

/* A limit that bans has just done so: what comes after is BANNED. */
INLINE void tell_ban(struct event_buffer *buffer, const volatile struct limit *limit, __u64 now_ns)
{
	buffer->event.until_ns = now_ns + limit->ban_ns;
	tell_capped(EVENT_BAN, now_ns);
	buffer->event.until_ns = 0;
}

/* Whether it is this packet's turn; by CPU, so that no two count in one word. */
INLINE bool is_sampled(__u32 every)
{
	__u32 index = 0;
	struct cpu_counters *mine = bpf_map_lookup_elem(&counters, &index);

	if (!mine || !every)
		return false;
	if (mine->sampling.left > every)
		mine->sampling.left = every;
	if (mine->sampling.left > 1) {
		mine->sampling.left--;
		return false;
	}
	mine->sampling.left = every;
	return true;
}

__noinline int tell_sample(struct xdp_md *ctx, __u64 now_ns)
{
	struct event_buffer *buffer = own_buffer();
	__u64 *word = cap_word(EVENT_SAMPLE);
	__u64 size = 0;

	if (!ctx || !buffer || !word)
		return 0;
	if (!take_room(word, EVENT_SAMPLE, now_ns)) {
		count_capped(EVENT_SAMPLE);
		return 0;
	}
	if (config.load_bytes) {
		size = bpf_xdp_get_buff_len(ctx);
		buffer->event.length = size;
		if (size > EVENT_SNAP)
			size = EVENT_SNAP;
		/*
		 * In 64 bits, or the bound holds for the lower half alone. One less, or kernels before 6.8, which
		 * learn nothing from "not 0", would take it for 0.
		 */
		size--;
		asm("" : "+r"(size));
		if (size >= EVENT_SNAP || bpf_xdp_load_bytes(ctx, 0, buffer->bytes, size + 1))
			size = 0;
		else
			size++;
	}
	deliver(EVENT_SAMPLE, size);
	return 0;
}

/** What happened to @packet, to those who listen. Cold, and verified once. @now_ns: 0 if nobody read it. */
__noinline int tell(struct xdp_md *ctx, struct packet *packet, __u32 reason, __u64 now_ns)
{
	__u32 index = 0;
	struct listening *now = bpf_map_lookup_elem(&listening, &index);
	struct event_buffer *buffer = own_buffer();
	const volatile struct limit *limit;
	__u32 kinds;

	if (!ctx || !packet || !now || !buffer || reason >= REASON_COUNT)
		return 0;
	if (!now_ns)
		now_ns = clock_source();
	if (now_ns >= READ_ONCE(now->until_ns))
		return 0;
	kinds = READ_ONCE(now->kinds);
	limit = refused_by(reason);
	describe_packet(&buffer->event, packet, now_ns);
	buffer->event.reason = reason;
	buffer->event.limit = limit ? limit->id : NO_LIMIT;
	if (reason == REASON_GATE_CLOSED && kinds & 1U << EVENT_GATE)
		tell_capped(EVENT_GATE, now_ns);
	else if (kinds >> kind_of(reason) & 1)
		tell_first(packet, reason, now_ns);
	if (kinds & 1U << EVENT_BAN && reason == REASON_OVER_LIMIT && limit && limit->ban_ns &&
	    !config.dry_run)
		tell_ban(buffer, limit, now_ns);
	if (kinds & 1U << EVENT_SAMPLE && config.actions[reason] == XDP_DROP &&
	    is_sampled(READ_ONCE(now->sample_every)))
		tell_sample(ctx, now_ns);
	return 0;
}

#endif
