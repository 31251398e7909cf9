/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* IPv4 with options, IPv6 with its extension headers, and fragments of both. */
#ifndef XDP_LIMIT_PARSE_IP_H
#define XDP_LIMIT_PARSE_IP_H

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include "cursor.h"
#include "packet.h"

#define IPV4_OFFSET	    0x1fff
#define IPV4_MORE_FRAGMENTS 0x2000
#define IPV6_OFFSET	    0xfff8
#define IPV6_MORE_FRAGMENTS 0x0001

/*
 * Chains of more headers than this are malformed. Real ones have at most three or four; RFC 8504
 * lets a host refuse more than eight.
 */
#define MAX_EXTENSIONS 8

/* The longest chain, 8 times 2064 bytes, ends below this. */
#define MAX_NETWORK_OFFSET 0x7fff

struct ipv6_extension {
	__u8 next;
	__u8 length;
	__be16 fragment;
	__be32 identification;
};

/* The kernel merges beyond what 16 bits of length can say (BIG TCP): the claim is 0 then. */
INLINE bool length_left_out(const struct packet *packet)
{
	return config.generic && packet->length > 0xffff;
}

INLINE void mark_fragment(struct packet *packet, bool later, bool more)
{
	if (later)
		packet->flags |= PACKET_FRAGMENT | PACKET_LATER_FRAGMENT;
	else if (more)
		packet->flags |= PACKET_FRAGMENT;
}

INLINE enum reason parse_ipv4(struct cursor *cursor, struct packet *packet)
{
	struct iphdr *ip = pull(cursor, sizeof(*ip));
	__u32 claimed, header, payload;
	__u16 fragment;

	if (!ip || ip->version != 4)
		return REASON_MALFORMED;
	packet->source[0] = 0;
	packet->source[1] = mapped_ipv4(ip->saddr);
	packet->destination[0] = 0;
	packet->destination[1] = mapped_ipv4(ip->daddr);
	packet->flags |= PACKET_HAS_SOURCE;
	packet->protocol = ip->protocol;
	packet->hop_limit = ip->ttl;

	header = ip->ihl * 4;
	claimed = bpf_ntohs(ip->tot_len);
	if (!claimed && length_left_out(packet))
		claimed = cursor->left + sizeof(*ip);
	if (header < sizeof(*ip) || claimed < header)
		return REASON_MALFORMED;
	payload = claimed - sizeof(*ip);
	if (payload > cursor->left)
		return REASON_MALFORMED;
	cursor->left = payload;
	fragment = bpf_ntohs(ip->frag_off);
	mark_fragment(packet, fragment & IPV4_OFFSET, fragment & IPV4_MORE_FRAGMENTS);
	return skip(cursor, header - sizeof(*ip)) ? REASON_NONE : REASON_MALFORMED;
}

/* The headers that the kernel itself walks; each other value is the transport protocol. */
INLINE bool is_extension(__u8 protocol)
{
	return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING ||
	       protocol == IPPROTO_FRAGMENT || protocol == IPPROTO_AH ||
	       protocol == IPPROTO_DSTOPTS;
}

INLINE __u32 extension_size(__u8 protocol, __u8 length)
{
	if (protocol == IPPROTO_FRAGMENT)
		return 8;
	if (protocol == IPPROTO_AH)
		return (length + 2) * 4;
	return (length + 1) * 8;
}

/* Where the walk over a chain stands. In and out of walk_extensions(). */
struct chain {
	__u32 offset; /* of the next header, from the frame's start */
	__u32 left;
	__u8 protocol;
	__u8 flags;
	__u8 malformed;
	__u8 pad;
};

INLINE bool walk_extension(struct cursor *cursor, struct chain *chain, struct packet *marks)
{
	struct ipv6_extension *extension = pull(cursor, sizeof(*extension));
	__u32 size;
	__u16 fragment;

	if (!extension)
		return false;
	size = extension_size(chain->protocol, extension->length);
	if (size < sizeof(*extension) || !skip(cursor, size - sizeof(*extension)))
		return false;
	if (chain->protocol == IPPROTO_FRAGMENT) {
		fragment = bpf_ntohs(extension->fragment);
		mark_fragment(marks, fragment & IPV6_OFFSET, fragment & IPV6_MORE_FRAGMENTS);
	}
	chain->protocol = extension->next;
	return true;
}

/*
 * Rare on the wire and long to verify: a global function is verified once, whatever leads to it.
 * Its pointer may be NULL as far as the verifier knows.
 */
__noinline int walk_extensions(struct xdp_md *ctx, struct chain *chain)
{
	struct packet marks = {};
	struct cursor cursor;

	if (!chain)
		return 0;
	place(&cursor, ctx, chain->offset & MAX_NETWORK_OFFSET);
	cursor.left = chain->left;
	for (int walked = 0; walked < MAX_EXTENSIONS; walked++) {
		if (!is_extension(chain->protocol) || marks.flags & PACKET_LATER_FRAGMENT)
			break;
		if (!walk_extension(&cursor, chain, &marks)) {
			chain->malformed = true;
			break;
		}
		merge_ways(&cursor, ctx, MAX_NETWORK_OFFSET);
	}
	chain->flags = marks.flags;
	chain->left = cursor.left;
	chain->offset = cursor.position - cursor.start;
	return 0;
}

INLINE enum reason parse_extensions(struct xdp_md *ctx, struct cursor *cursor,
				    struct packet *packet)
{
	struct chain chain = {
		.offset = cursor->position - cursor->start,
		.left = cursor->left,
		.protocol = packet->protocol,
	};

	if (!is_extension(packet->protocol))
		return REASON_NONE;
	walk_extensions(ctx, &chain);
	packet->protocol = chain.protocol;
	packet->flags |= chain.flags;
	cursor->left = chain.left;
	place(cursor, ctx, chain.offset & MAX_NETWORK_OFFSET);
	if (chain.malformed)
		return REASON_MALFORMED;
	/* A later fragment's next header is that of the whole: nothing here to walk. */
	return is_extension(packet->protocol) && !(packet->flags & PACKET_LATER_FRAGMENT)
		       ? REASON_MALFORMED
		       : REASON_NONE;
}

/* A source in ::ffff:0:0/96 can't be on the wire: it names IPv4's keys (RFC 4942, 2.2). */
INLINE bool is_mapped(const __u64 *address)
{
	return !address[0] && (__u32)address[1] == MAPPED_PREFIX;
}

INLINE enum reason parse_ipv6(struct xdp_md *ctx, struct cursor *cursor, struct packet *packet)
{
	struct ipv6hdr *ip = pull(cursor, sizeof(*ip));
	__u32 claimed;

	if (!ip || ip->version != 6)
		return REASON_MALFORMED;
	__builtin_memcpy(packet->source, &ip->saddr, sizeof(packet->source));
	__builtin_memcpy(packet->destination, &ip->daddr, sizeof(packet->destination));
	packet->flags |= PACKET_HAS_SOURCE;
	packet->protocol = ip->nexthdr;
	packet->hop_limit = ip->hop_limit;

	if (is_mapped(packet->source)) {
		packet->flags |= PACKET_FORGED_MAPPED;
		return REASON_MALFORMED;
	}
	claimed = bpf_ntohs(ip->payload_len);
	if (!claimed && length_left_out(packet))
		claimed = cursor->left;
	if (claimed > cursor->left)
		return REASON_MALFORMED;
	cursor->left = claimed;
	return parse_extensions(ctx, cursor, packet);
}

#endif
