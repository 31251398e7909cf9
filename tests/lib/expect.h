/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A frame as a row of a table, and everything that must become of it. */
#ifndef TESTS_EXPECT_H
#define TESTS_EXPECT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include "frames.h"
#include "prog.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Either a named frame, or the layers that are set, from the outside in. */
struct recipe {
	const char *named;
	const struct ethernet_spec *ethernet;
	uint16_t tags[5]; /* ethertypes of the tags */
	const struct pppoe_spec *pppoe;
	const char *raw; /* bytes before the network layer, for what has no builder call */
	size_t raw_size;
	const struct ipv4_spec *ipv4;
	const struct ipv6_spec *ipv6;
	const struct ports_spec *udp;
	const struct ports_spec *tcp;
	const struct ports_spec *sctp;
	const struct icmp_spec *icmp;
	const struct icmp_spec *icmpv6;
	const char *body; /* bytes behind the headers */
	size_t body_size;
	size_t payload; /* 'A's behind those */
	/* After lengths and checksums were filled in: */
	size_t pad_to;
	size_t cut_to;
	struct {
		uint16_t at;
		uint8_t byte;
	} poke[2];
};

/* Rows are constants, so are the layers in them. */
/* clang-format off */
#define ETHERNET(...) .ethernet = &(const struct ethernet_spec){__VA_ARGS__}
#define PPPOE(...)    .pppoe = &(const struct pppoe_spec){__VA_ARGS__}
#define IPV4(...)     .ipv4 = &(const struct ipv4_spec){__VA_ARGS__}
#define IPV6(...)     .ipv6 = &(const struct ipv6_spec){__VA_ARGS__}
#define UDP(...)      .udp = &(const struct ports_spec){__VA_ARGS__}
#define TCP(...)      .tcp = &(const struct ports_spec){__VA_ARGS__}
#define SCTP(...)     .sctp = &(const struct ports_spec){__VA_ARGS__}
#define ICMP(...)     .icmp = &(const struct icmp_spec){__VA_ARGS__}
#define ICMPV6(...)   .icmpv6 = &(const struct icmp_spec){__VA_ARGS__}
#define RAW(text)     .raw = (text), .raw_size = sizeof(text) - 1
#define BODY(text)    .body = (text), .body_size = sizeof(text) - 1
/* clang-format on */

struct outcome {
	int verdict;
	enum reason reason;
	const char *charged; /* source whose bucket the packet met; NULL: nobody's */
	uint32_t packets;    /* 0: one */
	uint32_t bytes;	     /* 0: the frame's length */
};

/* The outcomes that most rows have. */
/* clang-format off */
#define CHARGED(source) {.verdict = XDP_PASS, .reason = REASON_CONFORMING, .charged = (source)}
#define REFUSED(source) {.verdict = XDP_DROP, .reason = REASON_OVER_LIMIT, .charged = (source)}
#define MALFORMED	{.verdict = XDP_DROP, .reason = REASON_MALFORMED}
#define NON_IP		{.verdict = XDP_PASS, .reason = REASON_NON_IP}
#define CONTROL		{.verdict = XDP_PASS, .reason = REASON_CONTROL}
/* clang-format on */

struct row {
	const char *name;
	struct recipe recipe;
	struct outcome want;
};

void cook(const struct recipe *recipe, struct frame *frame);

/**
 * expect - send @frame and fail with @name unless all of it holds: the verdict; the counter of the
 * reason (packets and bytes, passed or dropped) and no other; the limits' totals; the tally and
 * each word of the charged source; and that no bucket was made for anybody else.
 * A refusing limit must be the only or the first one.
 */
void expect(struct limiter *limiter, const char *name, const struct frame *frame,
	    const struct outcome *want);

/**
 * roomy_policy - a packet and a byte limit that no test exhausts, each word exact to the unit
 * while the clock stands.
 */
struct policy roomy_policy(void);
/** Opens it with the clock at a moment that is not the first. */
void open_limiter(struct limiter *limiter, const struct policy *policy,
		  const struct limiter_facts *facts);

#endif
