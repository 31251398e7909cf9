/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses and prefixes: text to the 16 bytes that keys use, and back. */
#ifndef XDP_LIMIT_ADDRESS_H
#define XDP_LIMIT_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "complaint.h"

/* IPv4 stands as ::ffff:a.b.c.d, here and in every key. */
struct address {
	uint8_t bytes[16];
};

#define ADDRESS_TEXT_SIZE 64 /* with a prefix length */

/**
 * parse_address - an IPv4 or IPv6 address; ::ffff:a.b.c.d is the IPv4 address a.b.c.d.
 * Returns 0, or -EINVAL with a sentence in @why.
 */
int parse_address(const char *text, struct address *address, struct complaint *why);

bool address_is_ipv4(const struct address *address);

/** address_cut - keep the first @length bits (of 32 for IPv4, of 128 for IPv6), zero the rest. */
void address_cut(struct address *address, unsigned int length);

/**
 * address_source - the source that an address belongs to: cut to the table's prefix of its
 * family. fe80::/10 is kept per address.
 */
void address_source(struct address *address, unsigned int ipv4_prefix, unsigned int ipv6_prefix);

/** format_address - shortest text; @text has at least ADDRESS_TEXT_SIZE bytes. */
void format_address(const struct address *address, char *text);

/**
 * format_source - a source as people read it: the address alone for a whole one, with "/N"
 * for a prefix (2001:db8:0:1::/64). @text has at least ADDRESS_TEXT_SIZE bytes.
 */
void format_source(const struct address *address, unsigned int ipv4_prefix,
		   unsigned int ipv6_prefix, char *text);

#endif
