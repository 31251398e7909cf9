/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The way of a packet through the stages, each visited once. */
#ifndef XDP_LIMIT_PIPELINE_H
#define XDP_LIMIT_PIPELINE_H

#include "control.h"
#include "limits.h"
#include "lists.h"
#include "measure.h"
#include "parse.h"
#include "verdict.h"

/* A policy that passes what can't be parsed still charges a source that could be read. */
INLINE bool charges_malformed(const struct packet *packet)
{
	return config.actions[REASON_MALFORMED] == XDP_PASS && packet->flags & PACKET_HAS_SOURCE;
}

INLINE enum reason fragments(const struct packet *packet)
{
	if (config.fragments == FRAGMENTS_COUNT || !(packet->flags & PACKET_FRAGMENT))
		return REASON_NONE;
	return REASON_FRAGMENT;
}

/* What ends a packet's way before any limit is asked. What can't be parsed is no control traffic. */
INLINE enum reason exempt(const struct packet *packet, bool parsed, struct clock *clock)
{
	__u32 index = 0;
	struct switches *now = bpf_map_lookup_elem(&switches, &index);
	enum reason reason = REASON_NONE;

	if (parsed)
		reason = control(packet, clock);
	/* A forged mapped source lies where IPv4's entries are; it must not pass for one of them. */
	if (reason == REASON_NONE && now && !(packet->flags & PACKET_FORGED_MAPPED))
		reason = lists(packet, now, clock);
	if (reason == REASON_NONE && parsed)
		reason = fragments(packet);
	return reason;
}

INLINE enum reason judge(struct xdp_md *ctx, struct packet *packet, struct clock *clock,
			 struct judgement *judgement, bool flat)
{
	enum reason parsed = parse(ctx, packet), reason = parsed;

	if (parsed == REASON_NONE || (parsed == REASON_MALFORMED && charges_malformed(packet)))
		reason = exempt(packet, parsed == REASON_NONE, clock);
	if (reason == REASON_NONE)
		reason = limits(packet, clock, judgement, flat);
	if (parsed == REASON_MALFORMED && config.actions[reason] == XDP_PASS)
		return REASON_MALFORMED;
	return reason;
}

INLINE int pipeline(struct xdp_md *ctx, struct clock *clock, bool flat)
{
	struct judgement judgement;
	struct packet packet = {};

	judgement.group = NULL;
	judgement.observed = false;
	return verdict(ctx, judge(ctx, &packet, clock, &judgement, flat), &packet, &judgement,
		       clock, flat);
}

/* The same, of one packet in so many with its duration, where the policy asks for that. */
INLINE int measured(struct xdp_md *ctx, struct clock *clock, bool flat)
{
	__u64 started_ns = config.measure ? start_measuring() : 0;
	int action = pipeline(ctx, clock, flat);

	if (config.measure && started_ns)
		end_measuring(started_ns);
	return action;
}

/* Whether nobody confirmed in time: then the former state is back, though no process lives. */
INLINE bool trial_is_over(struct clock *clock)
{
	__u32 index = 0;
	struct switches *now = bpf_map_lookup_elem(&switches, &index);
	__u64 deadline;

	/* The deadline is that of the newest program: what a trial falls back to has none. */
	if (!now || READ_ONCE(now->generation) != config.generation)
		return false;
	deadline = READ_ONCE(now->deadline_ns);
	return deadline && clock_ns(clock) > deadline;
}

/** What both objects' programs do. A tail call must stand in the entry, so this is inlined. */
INLINE int entry(struct xdp_md *ctx, bool flat)
{
	struct clock clock = {};

	if (config.on_trial && trial_is_over(&clock)) {
		if (!config.has_previous)
			return XDP_PASS;
		bpf_tail_call(ctx, &previous, 0);
		/* Not reached, unless somebody emptied the map: then this policy is better than none. */
	}
	return measured(ctx, &clock, flat);
}

/*
 * Of two members of a dispatcher that are ours, one judges: the one whose generation holds. After a trial
 * that nobody confirmed that is the one before, or none.
 */
INLINE bool is_on_duty(struct clock *clock)
{
	__u32 index = 0;
	struct switches *now = bpf_map_lookup_elem(&switches, &index);
	__u64 generation, deadline;

	if (!now)
		return false;
	generation = READ_ONCE(now->generation);
	deadline = READ_ONCE(now->deadline_ns);
	if (deadline && clock_ns(clock) > deadline)
		generation--;
	return generation == config.generation;
}

/**
 * What the programs do as members of a dispatcher. Linux 6.12 refuses members that call another program
 * (81f6d0530ba0), so former and new policy stand side by side, and XDP_PASS leads to the next member.
 */
INLINE int member_entry(struct xdp_md *ctx, bool flat)
{
	struct clock clock = {};

	return is_on_duty(&clock) ? measured(ctx, &clock, flat) : XDP_PASS;
}

#endif
