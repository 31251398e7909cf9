/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ethernet, VLAN tags and PPPoE sessions: down to the protocol of the network layer. */
#ifndef XDP_LIMIT_PARSE_LINK_H
#define XDP_LIMIT_PARSE_LINK_H

#include <linux/if_ether.h>
#include "cursor.h"
#include "packet.h"

/* The kernel's own untagging knows no limit; deeper stacks than this carry no honest traffic. */
#define MAX_TAGS 4

/* Ethernet, the tags and a PPPoE session take less. */
#define MAX_LINK_OFFSET 63

struct vlan_tag {
	__be16 control; /* priority, id */
	__be16 ethertype;
};

struct pppoe_header {
	__u8 version_type;
	__u8 code;
	__be16 session;
	__be16 length;
};

#define PPP_IPV4 0x0021
#define PPP_IPV6 0x0057

INLINE bool is_vlan(__be16 ethertype)
{
	return ethertype == bpf_htons(ETH_P_8021Q) || ethertype == bpf_htons(ETH_P_8021AD);
}

INLINE enum reason parse_vlan(struct cursor *cursor, struct packet *packet, __be16 *ethertype)
{
	for (int tags = 0; tags < MAX_TAGS && is_vlan(*ethertype); tags++) {
		struct vlan_tag *tag = pull(cursor, sizeof(*tag));
		__u32 none;

		if (!tag)
			return REASON_MALFORMED;
		/* A priority tag (0) names no VLAN: Linux takes the next one. Without a branch, for the verifier. */
		none = ((__u32)packet->vlan - 1) >> 31;
		packet->vlan |= -none & bpf_ntohs(tag->control) & 0x0fff;
		*ethertype = tag->ethertype;
	}
	return is_vlan(*ethertype) ? REASON_MALFORMED : REASON_NONE;
}

/*
 * The PPP protocol takes two bytes, or one when it was compressed: PPPoE forbids asking for that,
 * but the kernel takes it, so it would be a way around.
 */
INLINE enum reason parse_ppp(struct cursor *cursor, __be16 *ethertype)
{
	__u8 *byte = pull(cursor, 1);
	__u16 protocol;

	if (!byte)
		return REASON_MALFORMED;
	protocol = *byte;
	if (!(protocol & 1)) {
		byte = pull(cursor, 1);
		if (!byte)
			return REASON_MALFORMED;
		protocol = protocol << 8 | *byte;
	}
	if (protocol == PPP_IPV4)
		*ethertype = bpf_htons(ETH_P_IP);
	else if (protocol == PPP_IPV6)
		*ethertype = bpf_htons(ETH_P_IPV6);
	else
		return REASON_NON_IP;
	return REASON_NONE;
}

/* The kernel's pppoe_rcv() looks at neither version nor code, so they must not be a way around. */
INLINE enum reason parse_pppoe(struct cursor *cursor, __be16 *ethertype)
{
	struct pppoe_header *pppoe = pull(cursor, sizeof(*pppoe));

	if (!pppoe)
		return REASON_MALFORMED;
	if (bpf_ntohs(pppoe->length) > cursor->left)
		return REASON_MALFORMED;
	cursor->left = bpf_ntohs(pppoe->length);
	return parse_ppp(cursor, ethertype);
}

INLINE enum reason parse_link(struct xdp_md *ctx, struct cursor *cursor, struct packet *packet,
			      __be16 *ethertype)
{
	struct ethhdr *ethernet = pull(cursor, sizeof(*ethernet));
	enum reason reason;

	if (!ethernet)
		return REASON_MALFORMED;
	*ethertype = ethernet->h_proto;
	reason = parse_vlan(cursor, packet, ethertype);
	if (reason != REASON_NONE)
		return reason;
	if (*ethertype == bpf_htons(ETH_P_PPP_SES))
		reason = parse_pppoe(cursor, ethertype);
	merge_ways(cursor, ctx, MAX_LINK_OFFSET);
	return reason;
}

#endif
