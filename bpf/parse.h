/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* First stage: bytes become a struct packet, or a reason. */
#ifndef XDP_LIMIT_PARSE_H
#define XDP_LIMIT_PARSE_H

#include "frame.h"
#include "parse_ip.h"
#include "parse_link.h"
#include "parse_transport.h"

INLINE enum reason parse_network(struct xdp_md *ctx, struct cursor *cursor, struct packet *packet,
				 __be16 ethertype)
{
	if (ethertype == bpf_htons(ETH_P_IP)) {
		packet->family = 4;
		return parse_ipv4(cursor, packet);
	}
	if (ethertype == bpf_htons(ETH_P_IPV6)) {
		packet->family = 6;
		return parse_ipv6(ctx, cursor, packet);
	}
	return ethertype == bpf_htons(ETH_P_ARP) ? REASON_CONTROL : REASON_NON_IP;
}

INLINE enum reason parse_headers(struct xdp_md *ctx, struct cursor *cursor, struct packet *packet)
{
	enum reason reason;
	__be16 ethertype;

	reason = parse_link(ctx, cursor, packet, &ethertype);
	if (reason != REASON_NONE)
		return reason;
	reason = parse_network(ctx, cursor, packet, ethertype);
	if (reason != REASON_NONE)
		return reason;
	merge_ways(cursor, ctx, MAX_NETWORK_OFFSET);
	return parse_transport(cursor, packet);
}

/** Fill @packet from the frame. It must be zero; its length is set whatever the reason is. */
INLINE enum reason parse(struct xdp_md *ctx, struct packet *packet)
{
	struct cursor cursor;
	enum reason reason;

	place(&cursor, ctx, 0);
	packet->length = frame_length(ctx);
	packet->segments = 1;
	cursor.left = packet->length;
	reason = parse_headers(ctx, &cursor, packet);
	if (reason == REASON_NONE) {
		packet->headers = cursor.position - cursor.start;
		count_segments(ctx, packet);
	}
	return reason;
}

#endif
