// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Builds test frames layer by layer and fills in lengths and checksums.
#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frames.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

enum layer_kind {
	LAYER_ETHERNET,
	LAYER_VLAN,
	LAYER_PPPOE,
	LAYER_IPV4,
	LAYER_IPV6,
	LAYER_EXTENSION,
	LAYER_UDP,
	LAYER_TCP,
	LAYER_SCTP,
	LAYER_ICMP,
	LAYER_ICMPV6,
	LAYER_GRE,
	LAYER_KINDS,
};

/* Whose numbers a layer uses to say what follows it. */
enum type_field {
	TYPE_NONE,
	TYPE_ETHER,
	TYPE_PPP,
	TYPE_IP,
};

enum keep {
	KEEP_LENGTH = 1,
	KEEP_CHECKSUM = 2,
	KEEP_TYPE = 4,
};

/* What a layer is called by the one before it. */
static const struct {
	uint16_t ether;
	uint16_t ppp;
	uint8_t ip;
} type_of[LAYER_KINDS] = {
	[LAYER_PPPOE] = {.ether = 0x8864},
	[LAYER_IPV4] = {.ether = 0x0800, .ppp = 0x0021, .ip = 4},
	[LAYER_IPV6] = {.ether = 0x86dd, .ppp = 0x0057, .ip = 41},
	[LAYER_UDP] = {.ip = 17},
	[LAYER_TCP] = {.ip = 6},
	[LAYER_SCTP] = {.ip = 132},
	[LAYER_ICMP] = {.ip = 1},
	[LAYER_ICMPV6] = {.ip = 58},
	[LAYER_GRE] = {.ip = 47},
};

/* hdr_ext_len counts units beyond the first 8 bytes: 8 bytes each, but 4 in the AH. */
static const struct {
	uint8_t number;
	uint8_t size;
	uint8_t length_field;
	uint8_t body[2];
} extensions[EXT_KINDS] = {
	[EXT_HOP_BY_HOP] = {.number = 0, .size = 8, .body = {1, 4}}, /* PadN of 4 */
	[EXT_DESTINATION] = {.number = 60, .size = 8, .body = {1, 4}},
	[EXT_ROUTING] = {.number = 43, .size = 8, .body = {253, 0}}, /* an experimental type */
	[EXT_FRAGMENT] = {.number = 44, .size = 8},
	[EXT_AUTHENTICATION] = {.number = 51, .size = 24, .length_field = 4},
	[EXT_MOBILITY] = {.number = 135, .size = 8},
	[EXT_HIP] = {.number = 139, .size = 8},
	[EXT_SHIM6] = {.number = 140, .size = 8},
	[EXT_NONE] = {.number = 59, .size = 0},
};

static const struct {
	const char *name;
	const char *hex;
} named_frames[] = {
#define FRAME_ROW(NAME, what, hex) [NAME] = {#NAME, hex},
	NAMED_FRAMES(FRAME_ROW)
#undef FRAME_ROW
};

__attribute__((noreturn, format(printf, 1, 2))) static void fatal(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("frames: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	abort();
}

// ---- bytes -------------------------------------------------------------------------------------
static void put16(uint8_t *at, uint32_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static void put32(uint8_t *at, uint32_t value)
{
	put16(at, value >> 16);
	put16(at + 2, value);
}

static int chosen(int value, int automatic)
{
	if (value == FRAME_ZERO)
		return 0;
	return value ? value : automatic;
}

static void put_address(uint8_t *at, int family, const char *text, const char *automatic)
{
	if (!text)
		text = automatic;
	if (inet_pton(family, text, at) != 1)
		fatal("'%s' is not an address", text);
}

static void put_mac(uint8_t *at, const char *text)
{
	if (sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &at[0], &at[1], &at[2], &at[3], &at[4],
		   &at[5]) != 6)
		fatal("'%s' is not a MAC address", text);
}

static uint8_t *grow(struct frame *f, size_t size)
{
	uint8_t *at = f->bytes + f->built;

	if (f->built + size > FRAME_ROOM)
		fatal("no room for %zu more bytes", size);
	memset(at, 0, size);
	f->built += size;
	f->length = f->built;
	return at;
}

// ---- layers ------------------------------------------------------------------------------------
static void write_type(struct frame *f, uint16_t ether, uint16_t ppp, uint8_t ip)
{
	const struct frame_layer *before;
	uint8_t *at;

	if (!f->layers)
		return;
	before = &f->layer[f->layers - 1];
	at = f->bytes + before->type_at;
	if (before->keep & KEEP_TYPE)
		return;
	if (before->type_is == TYPE_ETHER)
		put16(at, ether);
	else if (before->type_is == TYPE_PPP)
		put16(at, ppp);
	else if (before->type_is == TYPE_IP)
		*at = ip;
}

/* A header of @size bytes that names its follower @type_at bytes from its start. */
static struct frame_layer *push(struct frame *f, enum layer_kind kind, size_t size,
				enum type_field type_is, size_t type_at)
{
	struct frame_layer *layer;

	if (f->layers == FRAME_LAYERS)
		fatal("more than %d layers", FRAME_LAYERS);
	layer = &f->layer[f->layers++];
	*layer = (struct frame_layer){
		.kind = kind,
		.type_is = type_is,
		.offset = f->built,
		.header = size,
		.type_at = f->built + type_at,
	};
	grow(f, size);
	return layer;
}

static uint8_t *push_typed(struct frame *f, enum layer_kind kind, size_t size,
			   enum type_field type_is, size_t type_at)
{
	write_type(f, type_of[kind].ether, type_of[kind].ppp, type_of[kind].ip);
	return f->bytes + push(f, kind, size, type_is, type_at)->offset;
}

/* The test fixed a field of the newest layer: frame_finish() and the next layer keep off. */
static int keep(struct frame *f, int value, enum keep what)
{
	if (value)
		f->layer[f->layers - 1].keep |= what;
	return chosen(value, 0);
}

void frame_start(struct frame *f)
{
	f->length = 0;
	f->built = 0;
	f->layers = 0;
}

void frame_push_ethernet(struct frame *f, const struct ethernet_spec *spec)
{
	uint8_t *at = push_typed(f, LAYER_ETHERNET, 14, TYPE_ETHER, 12);

	put_mac(at, spec->destination ? spec->destination : MAC_SERVER);
	put_mac(at + 6, spec->source ? spec->source : MAC_CLIENT);
	put16(at + 12, keep(f, spec->type, KEEP_TYPE));
}

void frame_vlan(struct frame *f, int tpid, int vid)
{
	uint8_t *at;

	write_type(f, tpid, 0, 0);
	at = f->bytes + push(f, LAYER_VLAN, 4, TYPE_ETHER, 2)->offset;
	put16(at, vid);
}

void frame_push_pppoe(struct frame *f, const struct pppoe_spec *spec)
{
	uint8_t *at = push_typed(f, LAYER_PPPOE, 8, TYPE_PPP, 6);

	at[0] = 0x11;
	at[1] = chosen(spec->code, 0);
	put16(at + 2, chosen(spec->session, 1));
	put16(at + 4, keep(f, spec->length, KEEP_LENGTH));
	put16(at + 6, keep(f, spec->protocol, KEEP_TYPE));
}

void frame_push_ipv4(struct frame *f, const struct ipv4_spec *spec)
{
	size_t size = 20 + (spec->options_size + 3) / 4 * 4;
	uint8_t *at = push_typed(f, LAYER_IPV4, size, TYPE_IP, 9);

	at[0] = chosen(spec->version, 4) << 4 | chosen(spec->ihl, size / 4);
	at[1] = chosen(spec->tos, 0);
	put16(at + 2, keep(f, spec->total_length, KEEP_LENGTH));
	put16(at + 4, chosen(spec->id, 1));
	put16(at + 6, (spec->dont_fragment ? 0x4000 : 0) | (spec->more_fragments ? 0x2000 : 0) |
			      spec->fragment_offset / 8);
	at[8] = chosen(spec->ttl, 64);
	at[9] = keep(f, spec->protocol, KEEP_TYPE);
	put16(at + 10, keep(f, spec->checksum, KEEP_CHECKSUM));
	put_address(at + 12, AF_INET, spec->source, CLIENT4);
	put_address(at + 16, AF_INET, spec->destination, SERVER4);
	if (spec->options_size)
		memcpy(at + 20, spec->options, spec->options_size);
}

static void push_extension(struct frame *f, const struct ipv6_spec *spec, enum extension kind)
{
	uint8_t *at;

	if (kind >= EXT_KINDS)
		fatal("no extension header %d", kind);
	write_type(f, 0, 0, extensions[kind].number);
	if (!extensions[kind].size)
		return;
	at = f->bytes + push(f, LAYER_EXTENSION, extensions[kind].size, TYPE_IP, 0)->offset;
	at[1] = extensions[kind].length_field;
	memcpy(at + 2, extensions[kind].body, sizeof(extensions[kind].body));
	if (kind == EXT_FRAGMENT) {
		put16(at + 2, spec->fragment_offset | (spec->more_fragments ? 1 : 0));
		put32(at + 4, spec->fragment_id ? spec->fragment_id : 0x01010101);
	}
}

void frame_push_ipv6(struct frame *f, const struct ipv6_spec *spec)
{
	uint8_t *at = push_typed(f, LAYER_IPV6, 40, TYPE_IP, 6);
	size_t i;

	at[0] = chosen(spec->version, 6) << 4;
	put16(at + 4, keep(f, spec->payload_length, KEEP_LENGTH));
	at[7] = chosen(spec->hop_limit, 64);
	put_address(at + 8, AF_INET6, spec->source, CLIENT6);
	put_address(at + 24, AF_INET6, spec->destination, SERVER6);
	for (i = 0; i < ARRAY_SIZE(spec->extensions) && spec->extensions[i] != EXT_END; i++)
		push_extension(f, spec, spec->extensions[i]);
	if (spec->next_header) {
		write_type(f, 0, 0, chosen(spec->next_header, 0));
		keep(f, spec->next_header, KEEP_TYPE);
	}
}

static uint8_t *push_ports(struct frame *f, enum layer_kind kind, size_t size,
			   const struct ports_spec *spec)
{
	uint8_t *at = push_typed(f, kind, size, TYPE_NONE, 0);

	put16(at, chosen(spec->source_port, CLIENT_PORT));
	put16(at + 2, chosen(spec->destination_port, SERVER_PORT));
	return at;
}

void frame_push_udp(struct frame *f, const struct ports_spec *spec)
{
	uint8_t *at = push_ports(f, LAYER_UDP, 8, spec);

	put16(at + 4, keep(f, spec->length, KEEP_LENGTH));
	put16(at + 6, keep(f, spec->checksum, KEEP_CHECKSUM));
}

void frame_push_tcp(struct frame *f, const struct ports_spec *spec)
{
	uint8_t *at = push_ports(f, LAYER_TCP, 20, spec);

	put32(at + 4, 1);
	at[12] = chosen(spec->data_offset, 5) << 4;
	at[13] = chosen(spec->flags, TCP_SYN);
	put16(at + 14, 64240);
	put16(at + 16, keep(f, spec->checksum, KEEP_CHECKSUM));
}

/* The common header and a DATA chunk of 4 zeros. */
void frame_push_sctp(struct frame *f, const struct ports_spec *spec)
{
	uint8_t *at = push_ports(f, LAYER_SCTP, 32, spec);

	put32(at + 4, 1);
	put32(at + 8, keep(f, spec->checksum, KEEP_CHECKSUM));
	at[13] = 3; /* first and last piece of a message */
	put16(at + 14, 20);
}

static void push_icmp(struct frame *f, enum layer_kind kind, const struct icmp_spec *spec,
		      int echo_request)
{
	uint8_t *at = push_typed(f, kind, 8, TYPE_NONE, 0);

	at[0] = chosen(spec->type, echo_request);
	at[1] = chosen(spec->code, 0);
	put16(at + 2, keep(f, spec->checksum, KEEP_CHECKSUM));
	put32(at + 4, spec->rest);
}

void frame_push_icmp(struct frame *f, const struct icmp_spec *spec)
{
	push_icmp(f, LAYER_ICMP, spec, 8);
}

void frame_push_icmpv6(struct frame *f, const struct icmp_spec *spec)
{
	push_icmp(f, LAYER_ICMPV6, spec, 128);
}

void frame_gre(struct frame *f)
{
	push_typed(f, LAYER_GRE, 4, TYPE_ETHER, 2);
}

void frame_payload(struct frame *f, size_t size)
{
	memset(grow(f, size), 'A', size);
}

void frame_pad_to(struct frame *f, size_t length)
{
	if (length > f->built)
		frame_payload(f, length - f->built);
}

void frame_bytes(struct frame *f, const void *bytes, size_t size)
{
	memcpy(grow(f, size), bytes, size);
}

// ---- lengths and checksums ---------------------------------------------------------------------
static uint32_t sum16(uint32_t sum, const uint8_t *at, size_t size)
{
	size_t i;

	for (i = 0; i + 1 < size; i += 2)
		sum += at[i] << 8 | at[i + 1];
	if (size & 1)
		sum += at[size - 1] << 8;
	return sum;
}

static uint16_t folded(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static uint32_t crc32c(const uint8_t *at, size_t size)
{
	uint32_t crc = ~0U;
	int bit;

	while (size--) {
		crc ^= *at++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

/* Sum of the pseudo header of layer @i under the nearest IP header before it. */
static uint32_t pseudo_sum(const struct frame *f, size_t i, uint32_t size)
{
	uint32_t sum = type_of[f->layer[i].kind].ip + size;

	while (i--) {
		const uint8_t *at = f->bytes + f->layer[i].offset;

		if (f->layer[i].kind == LAYER_IPV4)
			return sum16(sum, at + 12, 8);
		if (f->layer[i].kind == LAYER_IPV6)
			return sum16(sum, at + 8, 32);
	}
	return sum;
}

/* Where a layer keeps its length and checksum; 0: it has none (no header has one at its start). */
static const struct {
	uint8_t length_at;
	uint8_t length_from; /* bytes at the start that the length leaves out */
	uint8_t checksum_at;
	bool pseudo;	  /* the checksum includes addresses */
	bool header_only; /* the checksum stops at the header's end */
} finishing[LAYER_KINDS] = {
	[LAYER_PPPOE] = {.length_at = 4, .length_from = 6},
	[LAYER_IPV4] = {.length_at = 2, .checksum_at = 10, .header_only = true},
	[LAYER_IPV6] = {.length_at = 4, .length_from = 40},
	[LAYER_UDP] = {.length_at = 4, .checksum_at = 6, .pseudo = true},
	[LAYER_TCP] = {.checksum_at = 16, .pseudo = true},
	[LAYER_SCTP] = {.checksum_at = 8},
	[LAYER_ICMP] = {.checksum_at = 2},
	[LAYER_ICMPV6] = {.checksum_at = 2, .pseudo = true},
};

static void write_checksum(struct frame *f, size_t i, uint32_t size)
{
	uint8_t kind = f->layer[i].kind;
	uint8_t *header = f->bytes + f->layer[i].offset;
	uint8_t *at = header + finishing[kind].checksum_at;
	uint16_t sum;

	if (kind == LAYER_SCTP) {
		memset(at, 0, 4);
		/* the only little-endian field of them all */
		put32(at, __builtin_bswap32(crc32c(header, size)));
		return;
	}
	if (finishing[kind].header_only)
		size = f->layer[i].header;
	put16(at, 0);
	sum = folded(sum16(finishing[kind].pseudo ? pseudo_sum(f, i, size) : 0, header, size));
	put16(at, kind == LAYER_UDP && !sum ? 0xffff : sum);
}

void frame_finish(struct frame *f)
{
	size_t i = f->layers;

	while (i--) {
		const struct frame_layer *layer = &f->layer[i];
		uint32_t size = f->built - layer->offset;
		uint8_t length_at = finishing[layer->kind].length_at;

		if (length_at && !(layer->keep & KEEP_LENGTH))
			put16(f->bytes + layer->offset + length_at,
			      size - finishing[layer->kind].length_from);
		if (finishing[layer->kind].checksum_at && !(layer->keep & KEEP_CHECKSUM))
			write_checksum(f, i, size);
	}
}

void frame_truncate(struct frame *f, size_t length)
{
	if (length > f->built)
		fatal("cannot truncate %u bytes to %zu", f->built, length);
	f->length = length;
}

void frame_set_source(struct frame *f, const void *address)
{
	size_t i;

	for (i = 0; i < f->layers; i++) {
		uint8_t *at = f->bytes + f->layer[i].offset;

		if (f->layer[i].kind != LAYER_IPV4 && f->layer[i].kind != LAYER_IPV6)
			continue;
		if (f->layer[i].kind == LAYER_IPV4)
			memcpy(at + 12, address, 4);
		else
			memcpy(at + 8, address, 16);
		frame_finish(f);
		return;
	}
	fatal("no IP header to change");
}

// ---- whole frames ------------------------------------------------------------------------------
int frame_from_hex(struct frame *f, const char *hex)
{
	size_t digits = strspn(hex, "0123456789abcdefABCDEF");
	size_t i;

	frame_start(f);
	if (hex[digits] || digits % 2 || !digits || digits / 2 > FRAME_ROOM)
		return -EINVAL;
	for (i = 0; i < digits; i += 2)
		if (sscanf(hex + i, "%2hhx", grow(f, 1)) != 1)
			return -EINVAL;
	return 0;
}

void frame_named(struct frame *f, enum named_frame name)
{
	if (frame_from_hex(f, named_frames[name].hex))
		fatal("bad hex in %s", named_frames[name].name);
}

const char *frame_name(enum named_frame name)
{
	return named_frames[name].name;
}

int frame_by_name(struct frame *f, const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(named_frames); i++) {
		if (strcmp(named_frames[i].name, name))
			continue;
		frame_named(f, i);
		return 0;
	}
	return -ENOENT;
}

void frame_newcomer(struct frame *f, unsigned int number)
{
	char source[32];

	snprintf(source, sizeof(source), "198.18.%u.%u", number / 250, number % 250);
	frame_start(f);
	frame_ethernet(f);
	frame_ipv4(f, .source = source);
	frame_udp(f);
	frame_finish(f);
}
