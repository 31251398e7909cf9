/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Test frames: the named ones of the field cases, and a builder for all others. */
#ifndef XDP_LIMIT_TEST_FRAMES_H
#define XDP_LIMIT_TEST_FRAMES_H

#include <stddef.h>
#include <stdint.h>

/*
 * A frame is built from the outside in and then finished:
 *
 *	struct frame f;
 *
 *	frame_start(&f);
 *	frame_ethernet(&f);
 *	frame_vlan(&f, 0x88a8, 100);
 *	frame_ipv4(&f, .source = "203.0.113.5", .ttl = 1);
 *	frame_udp(&f, .destination_port = 53);
 *	frame_payload(&f, 20);
 *	frame_finish(&f);		lengths and checksums, inner to outer
 *	frame_truncate(&f, 40);		if it must end early
 *
 * Fields that are left out take the defaults below. Each layer writes its own type into the layer
 * before it. A field that is 0 means "as it should be"; to put a real zero there, say FRAME_ZERO.
 * Mistakes of the test itself (no room, bad address) abort with a message.
 */
#define FRAME_ROOM   10240
#define FRAME_LAYERS 16
#define FRAME_ZERO   (-1)

#define MAC_CLIENT  "00:00:5e:00:53:02" /* default source */
#define MAC_SERVER  "00:00:5e:00:53:01" /* default destination */
#define CLIENT4	    "192.0.2.10"	/* default source */
#define SERVER4	    "198.51.100.1"	/* default destination */
#define OTHER4	    "203.0.113.5"
#define CLIENT6	    "2001:db8:0:1::a" /* default source */
#define SERVER6	    "2001:db8:0:2::1" /* default destination */
#define OTHER6	    "2001:db8:0:3::5"
#define CLIENT_PORT 40000
#define SERVER_PORT 27015

/* X(NAME, what it is, hex) */
#define NAMED_FRAMES(X)                                                                           \
	X(P4U, "IPv4 UDP 192.0.2.10:40000 -> 198.51.100.1:27015",                                 \
	  "00005e00530100005e0053020800450000200001000040118e8dc000020ac63364019c406987000c6635"  \
	  "54455354")                                                                             \
	X(P4S, "IPv4 TCP SYN 40000 -> 22",                                                        \
	  "00005e00530100005e0053020800450000280001000040068e90c000020ac63364019c40001600000001"  \
	  "000000005002faf02c5b0000")                                                             \
	X(P6U, "IPv6 UDP 2001:db8:0:1::a -> 2001:db8:0:2::1",                                     \
	  "00005e00530100005e00530286dd60000000000c114020010db800000001000000000000000a20010db8"  \
	  "0000000200000000000000019c406987000cf6f454455354")                                     \
	X(PV8100, "P4U in 802.1Q, VLAN 10",                                                       \
	  "00005e00530100005e0053028100000a0800450000200001000040118e8dc000020ac63364019c406987"  \
	  "000c663554455354")                                                                     \
	X(PFRAG1, "IPv4 first fragment of UDP 27015",                                             \
	  "00005e00530100005e0053020800450000240101200040116d89c000020ac63364019c406987000c6635"  \
	  "5445535400000000")                                                                     \
	X(PFRAGN, "IPv4 last fragment, offset 1480",                                              \
	  "00005e00530100005e005302080045000024010100b940118cd0c000020ac63364014141414141414141"  \
	  "4141414141414141")                                                                     \
	X(P4OPT, "P4U with the router alert option (IHL 6)",                                      \
	  "00005e00530100005e005302080046000024000100004011f984c000020ac6336401940400009c406987"  \
	  "000c663554455354")                                                                     \
	X(PIHL0, "IPv4 with IHL 0",                                                               \
	  "00005e00530100005e005302080040000020000100004011938dc000020ac63364019c406987000c6635"  \
	  "54455354")                                                                             \
	X(PSHORT, "Ethernet and 8 bytes of IPv4", "00005e00530100005e00530208004500001400010000") \
	X(P6HBH, "IPv6, hop-by-hop options, UDP",                                                 \
	  "00005e00530100005e00530286dd600000000014004020010db800000001000000000000000a20010db8"  \
	  "000000020000000000000001"                                                              \
	  "11000104000000009c406987000cf6f454455354")                                             \
	X(P6CHAIN, "IPv6, hop-by-hop options, destination options, UDP",                          \
	  "00005e00530100005e00530286dd60000000001c004020010db800000001000000000000000a20010db8"  \
	  "0000000200000000000000013c0001040000000011000104000000009c406987000cf6f454455354")     \
	X(P6FRAGN, "IPv6 later fragment",                                                         \
	  "00005e00530100005e00530286dd6000000000182c4020010db800000001000000000000000a20010db8"  \
	  "000000020000000000000001110005c80101010141414141414141414141414141414141")             \
	X(PARP, "ARP who-has 192.0.2.1",                                                          \
	  "00005e00530100005e0053020806000108000604000100005e005302c000020a000000000000c0000201") \
	X(PNS, "ICMPv6 neighbour solicitation",                                                   \
	  "00005e00530100005e00530286dd6000000000203aff20010db800000001000000000000000aff020000"  \
	  "0000000000000001ff00000187006d1c0000000020010db80000000100000000000000010101"          \
	  "00005e005302")                                                                         \
	X(PGRE, "GRE from 203.0.113.5, P4U inside",                                               \
	  "00005e00530100005e00530208004500003800010000402f145ccb007105c63364010000080045000020"  \
	  "0001000040118e8dc000020ac63364019c406987000c663554455354")                             \
	X(PPPPOE, "PPPoE session carrying P4U",                                                   \
	  "00005e00530100005e00530288641100000100220021450000200001000040118e8dc000020ac6336401"  \
	  "9c406987000c663554455354")

/* clang-format off */
enum named_frame {
#define FRAME_ENUM(NAME, what, hex) NAME,
	NAMED_FRAMES(FRAME_ENUM)
#undef FRAME_ENUM
	NAMED_FRAME_COUNT,
};
/* clang-format on */

struct frame_layer {
	uint8_t kind;	  /* enum layer_kind, frames.c */
	uint8_t type_is;  /* enum type_field, frames.c: whose numbers stand at type_at */
	uint8_t keep;	  /* what frame_finish() must leave alone */
	uint16_t offset;  /* of the header in bytes[] */
	uint16_t header;  /* its size */
	uint16_t type_at; /* where the next layer writes what it is */
};

struct frame {
	uint32_t length; /* on the wire */
	uint32_t built;	 /* the same before frame_truncate() */
	uint32_t layers;
	struct frame_layer layer[FRAME_LAYERS];
	uint8_t bytes[FRAME_ROOM];
};

struct ethernet_spec {
	const char *source;
	const char *destination;
	int type; /* for what has no builder call: then add frame_bytes() */
};

struct pppoe_spec {
	int session;  /* default 1 */
	int code;     /* default 0: session data */
	int protocol; /* PPP; default: of the next layer */
	int length;
};

struct ipv4_spec {
	const char *source;
	const char *destination;
	const void *options; /* padded with zeros to a multiple of 4 */
	size_t options_size;
	int tos;
	int id;	 /* default 1 */
	int ttl; /* default 64 */
	int protocol;
	int dont_fragment;
	int more_fragments;
	int fragment_offset; /* bytes, a multiple of 8 */
	int version;
	int ihl; /* words */
	int total_length;
	int checksum;
};

/* IPv6 extension headers by list: { EXT_HOP_BY_HOP, EXT_FRAGMENT } */
enum extension {
	EXT_END,
	EXT_HOP_BY_HOP,
	EXT_DESTINATION,
	EXT_ROUTING,
	EXT_FRAGMENT, /* with fragment_* of the spec; all 0 is an atomic fragment */
	EXT_AUTHENTICATION,
	EXT_MOBILITY,
	EXT_HIP,
	EXT_SHIM6,
	EXT_NONE, /* "no next header": ends the chain */
	EXT_KINDS,
};

struct ipv6_spec {
	const char *source;
	const char *destination;
	int hop_limit;	 /* default 64 */
	int next_header; /* after all extensions; default: of the next layer */
	int payload_length;
	int version;
	int more_fragments;
	int fragment_offset;  /* bytes, a multiple of 8 */
	uint32_t fragment_id; /* default 0x01010101 */
	uint8_t extensions[12];
};

struct ports_spec {
	int source_port;
	int destination_port;
	int length;	 /* UDP */
	int checksum;	 /* UDP, TCP, SCTP */
	int flags;	 /* TCP; default SYN */
	int data_offset; /* TCP, words */
};

struct icmp_spec {
	int type;
	int code;
	int checksum;
	uint32_t rest; /* the second 4 bytes of the header, host order */
};

#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04
#define TCP_PSH 0x08
#define TCP_ACK 0x10
#define TCP_URG 0x20

/* Whole frames. */
void frame_named(struct frame *f, enum named_frame name);
/** The frame called @name ("P4U"); -ENOENT if there is none. */
int frame_by_name(struct frame *f, const char *name);
const char *frame_name(enum named_frame name);
/** A plain UDP frame from the @number-th of many sources (198.18.0.0/15), for floods. */
void frame_newcomer(struct frame *f, unsigned int number);
/** -EINVAL if @hex is not an even number of hex digits that fits. */
int frame_from_hex(struct frame *f, const char *hex);

/* The builder. The macros take the fields of the spec: frame_udp(&f, .destination_port = 53). */
void frame_start(struct frame *f);
#define frame_ethernet(f, ...) frame_push_ethernet(f, &(struct ethernet_spec){__VA_ARGS__})
#define frame_pppoe(f, ...)    frame_push_pppoe(f, &(struct pppoe_spec){__VA_ARGS__})
#define frame_ipv4(f, ...)     frame_push_ipv4(f, &(struct ipv4_spec){__VA_ARGS__})
#define frame_ipv6(f, ...)     frame_push_ipv6(f, &(struct ipv6_spec){__VA_ARGS__})
#define frame_udp(f, ...)      frame_push_udp(f, &(struct ports_spec){__VA_ARGS__})
#define frame_tcp(f, ...)      frame_push_tcp(f, &(struct ports_spec){__VA_ARGS__})
#define frame_sctp(f, ...)     frame_push_sctp(f, &(struct ports_spec){__VA_ARGS__})
#define frame_icmp(f, ...)     frame_push_icmp(f, &(struct icmp_spec){__VA_ARGS__})
#define frame_icmpv6(f, ...)   frame_push_icmpv6(f, &(struct icmp_spec){__VA_ARGS__})
void frame_push_ethernet(struct frame *f, const struct ethernet_spec *spec);
/** @tpid is 0x8100 or 0x88a8 (or anything else that pretends to be a tag). */
void frame_vlan(struct frame *f, int tpid, int vid);
void frame_push_pppoe(struct frame *f, const struct pppoe_spec *spec);
void frame_push_ipv4(struct frame *f, const struct ipv4_spec *spec);
void frame_push_ipv6(struct frame *f, const struct ipv6_spec *spec);
void frame_push_udp(struct frame *f, const struct ports_spec *spec);
void frame_push_tcp(struct frame *f, const struct ports_spec *spec);
void frame_push_sctp(struct frame *f, const struct ports_spec *spec);
void frame_push_icmp(struct frame *f, const struct icmp_spec *spec);
void frame_push_icmpv6(struct frame *f, const struct icmp_spec *spec);
void frame_gre(struct frame *f);
/** @size bytes of 'A'. */
void frame_payload(struct frame *f, size_t size);
/** 'A' until the frame has @length bytes; nothing if it is longer already. */
void frame_pad_to(struct frame *f, size_t length);
void frame_bytes(struct frame *f, const void *bytes, size_t size);
void frame_finish(struct frame *f);

/* After frame_finish(). */
void frame_truncate(struct frame *f, size_t length);
/**
 * Changes the source of the outermost IP header (4 or 16 bytes, network order) and finishes again.
 * Only for frames made by the builder.
 */
void frame_set_source(struct frame *f, const void *address);

#endif
