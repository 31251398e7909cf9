/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ports, TCP flags and ICMP types. */
#ifndef XDP_LIMIT_PARSE_TRANSPORT_H
#define XDP_LIMIT_PARSE_TRANSPORT_H

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include "cursor.h"
#include "packet.h"

struct ports {
	__be16 source;
	__be16 destination;
};

/* SCTP and DCCP: the ports stand first in headers of at least twelve bytes. */
struct ported_header {
	struct ports ports;
	__u8 rest[8];
};

/* ICMP and ICMPv6 begin alike; both have at least eight bytes. <linux/icmp.h> needs libc's headers. */
struct icmp_header {
	__u8 type;
	__u8 code;
	__be16 checksum;
	__be32 rest;
};

INLINE void set_ports(struct packet *packet, __be16 source, __be16 destination)
{
	packet->source_port = bpf_ntohs(source);
	packet->destination_port = bpf_ntohs(destination);
	packet->flags |= PACKET_HAS_PORTS;
}

INLINE enum reason parse_tcp(struct cursor *cursor, struct packet *packet)
{
	struct tcphdr *tcp = pull(cursor, sizeof(*tcp));

	if (!tcp || tcp->doff < 5)
		return REASON_MALFORMED;
	if (!(packet->flags & PACKET_FRAGMENT) && !skip(cursor, tcp->doff * 4 - sizeof(*tcp)))
		return REASON_MALFORMED;
	set_ports(packet, tcp->source, tcp->dest);
	packet->tcp_flags = ((__u8 *)tcp)[13];
	return REASON_NONE;
}

INLINE enum reason parse_udp(struct cursor *cursor, struct packet *packet)
{
	struct udphdr *udp = pull(cursor, sizeof(*udp));
	__u32 length;

	if (!udp)
		return REASON_MALFORMED;
	/* 0 stands for "all of a jumbogram"; a fragment's length spans those to come. */
	length = bpf_ntohs(udp->len);
	if (length && !(packet->flags & PACKET_FRAGMENT) &&
	    (length < sizeof(*udp) || length - sizeof(*udp) > cursor->left))
		return REASON_MALFORMED;
	set_ports(packet, udp->source, udp->dest);
	return REASON_NONE;
}

INLINE enum reason parse_ported(struct cursor *cursor, struct packet *packet)
{
	struct ported_header *header = pull(cursor, sizeof(*header));

	if (!header)
		return REASON_MALFORMED;
	set_ports(packet, header->ports.source, header->ports.destination);
	return REASON_NONE;
}

INLINE enum reason parse_icmp(struct cursor *cursor, struct packet *packet)
{
	struct icmp_header *icmp = pull(cursor, sizeof(*icmp));

	if (!icmp)
		return REASON_MALFORMED;
	packet->icmp_type = icmp->type;
	packet->icmp_code = icmp->code;
	packet->flags |= PACKET_HAS_ICMP;
	return REASON_NONE;
}

INLINE enum reason parse_transport(struct cursor *cursor, struct packet *packet)
{
	if (packet->flags & PACKET_LATER_FRAGMENT)
		return REASON_NONE;
	switch (packet->protocol) {
	case IPPROTO_TCP:
		return parse_tcp(cursor, packet);
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		return parse_udp(cursor, packet);
	case IPPROTO_SCTP:
	case IPPROTO_DCCP:
		return parse_ported(cursor, packet);
	case IPPROTO_ICMP:
		return packet->family == 4 ? parse_icmp(cursor, packet) : REASON_NONE;
	case IPPROTO_ICMPV6:
		return packet->family == 6 ? parse_icmp(cursor, packet) : REASON_NONE;
	default:
		return REASON_NONE;
	}
}

#endif
