/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The way of a packet through the stages, each visited once. */
#ifndef XDP_LIMIT_PIPELINE_H
#define XDP_LIMIT_PIPELINE_H

#include "control.h"
#include "limits.h"
#include "lists.h"
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

/* What ends a packet's way before any limit is asked. */
INLINE enum reason exempt(const struct packet *packet, struct clock *clock)
{
	__u32 index = 0;
	struct switches *now = bpf_map_lookup_elem(&switches, &index);
	enum reason reason;

	reason = control(packet, clock);
	if (reason == REASON_NONE && now)
		reason = lists(packet, now, clock);
	if (reason == REASON_NONE)
		reason = fragments(packet);
	return reason;
}

INLINE enum reason judge(struct xdp_md *ctx, struct packet *packet, struct judgement *judgement)
{
	enum reason parsed = parse(ctx, packet), reason = parsed;
	struct clock clock = {};

	if (parsed == REASON_NONE)
		reason = exempt(packet, &clock);
	else if (parsed == REASON_MALFORMED && charges_malformed(packet))
		reason = REASON_NONE;
	if (reason == REASON_NONE)
		reason = limits(packet, &clock, judgement);
	if (parsed == REASON_MALFORMED && config.actions[reason] == XDP_PASS)
		return REASON_MALFORMED;
	return reason;
}

INLINE int pipeline(struct xdp_md *ctx)
{
	struct judgement judgement = {};
	struct packet packet = {};

	return verdict(judge(ctx, &packet, &judgement), &packet, &judgement);
}

#endif
