/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the parser found in a frame; nothing after it looks at the bytes. */
#ifndef XDP_LIMIT_PACKET_H
#define XDP_LIMIT_PACKET_H

#include "common.h"

enum packet_flags {
	PACKET_HAS_SOURCE = 1 << 0,
	PACKET_HAS_PORTS = 1 << 1,
	PACKET_FRAGMENT = 1 << 2,	/* part of a datagram, the first one included */
	PACKET_LATER_FRAGMENT = 1 << 3, /* without a transport header */
	PACKET_HAS_ICMP = 1 << 4,
	PACKET_FORGED_MAPPED = 1 << 5, /* on-wire ::ffff:0:0/96: must not share IPv4's buckets */
};

struct packet {
	/* Network order; IPv4 as ::ffff:a.b.c.d. */
	__u64 source[2];
	__u64 destination[2];
	__u32 length;	/* bytes of the whole frame, fragments of a multi-buffer frame included */
	__u32 segments; /* packets that it stands for: more than 1 only for a merged frame */
	__u16 headers;	/* bytes up to the transport payload, repeated by each segment */
	__u16 source_port; /* host order */
	__u16 destination_port;
	__u16 vlan;  /* the outer tag's id; 0 without a tag */
	__u8 family; /* 4, 6, or 0 when not IP */
	__u8 protocol;
	__u8 hop_limit;
	__u8 tcp_flags;
	__u8 icmp_type;
	__u8 icmp_code;
	__u8 flags;
};

/* The 32 high bits of the low word of a mapped address, as it lies in memory. */
#define MAPPED_PREFIX bpf_htonl(0x0000ffff)

INLINE __u64 mapped_ipv4(__u32 address)
{
	return (__u64)address << 32 | MAPPED_PREFIX;
}

INLINE __u32 ipv4_of(__u64 low)
{
	return low >> 32;
}

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "mapped_ipv4() and ipv4_of() assume little endian"
#endif

/* fe80::/10 */
INLINE bool is_link_local(const struct packet *packet)
{
	if (packet->family == 4) /* 169.254.0.0/16 */
		return (ipv4_of(packet->source[1]) & bpf_htonl(0xffff0000)) ==
		       bpf_htonl(0xa9fe0000);
	return (bpf_be64_to_cpu(packet->source[0]) >> 54) == 0xfe80 >> 6;
}

INLINE bool is_unspecified(const struct packet *packet)
{
	if (packet->family == 4)
		return !ipv4_of(packet->source[1]);
	return !packet->source[0] && !packet->source[1];
}

#endif
