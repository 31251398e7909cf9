// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Addresses and prefixes: text to the 16 bytes that keys use, and back. */
#include "address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define IPV4_OFFSET 12 /* of the four bytes behind ::ffff:0:0/96 */
#define IPV4_BITS   32U
#define IPV6_BITS   128U

static const uint8_t mapped_prefix[IPV4_OFFSET] = {[10] = 0xff, [11] = 0xff};

int parse_address(const char *text, struct address *address, struct complaint *why)
{
	struct address parsed;
	const char *rest = strpbrk(text, "/%");

	if (rest && *rest == '/')
		return complain(why, -EINVAL,
				"\"%.80s\" is a prefix; write one address, such as \"%.*s\"", text,
				(int)(rest - text < 60 ? rest - text : 60), text);
	if (rest)
		return complain(why, -EINVAL,
				"\"%.80s\" names a zone; write the address without \"%.40s\"", text,
				rest);
	memcpy(parsed.bytes, mapped_prefix, sizeof(mapped_prefix));
	if (inet_pton(AF_INET, text, parsed.bytes + IPV4_OFFSET) != 1 &&
	    inet_pton(AF_INET6, text, parsed.bytes) != 1)
		return complain(why, -EINVAL,
				"\"%.80s\" is not an IPv4 or IPv6 address; write one such as "
				"\"192.0.2.10\" or \"2001:db8::1\"",
				text);
	*address = parsed;
	return 0;
}

bool address_is_ipv4(const struct address *address)
{
	return !memcmp(address->bytes, mapped_prefix, sizeof(mapped_prefix));
}

void address_cut(struct address *address, unsigned int length)
{
	if (address_is_ipv4(address))
		length += IPV6_BITS - IPV4_BITS;
	for (unsigned int i = 0; i < sizeof(address->bytes); i++, length -= length < 8 ? length : 8)
		if (length < 8)
			address->bytes[i] &= (uint8_t)(0xff00U >> length);
}

static bool is_link_local(const struct address *address)
{
	return address->bytes[0] == 0xfe && (address->bytes[1] & 0xc0) == 0x80;
}

/* Behind fe80::/10 every /64 is the same one, so a cut would put all neighbours in one bucket. */
static unsigned int source_length(const struct address *address, unsigned int ipv4_prefix,
				  unsigned int ipv6_prefix)
{
	if (address_is_ipv4(address))
		return ipv4_prefix;
	return is_link_local(address) ? IPV6_BITS : ipv6_prefix;
}

void address_source(struct address *address, unsigned int ipv4_prefix, unsigned int ipv6_prefix)
{
	address_cut(address, source_length(address, ipv4_prefix, ipv6_prefix));
}

void format_address(const struct address *address, char *text)
{
	bool ipv4 = address_is_ipv4(address);

	inet_ntop(ipv4 ? AF_INET : AF_INET6, address->bytes + (ipv4 ? IPV4_OFFSET : 0), text,
		  ADDRESS_TEXT_SIZE);
}

void format_source(const struct address *address, unsigned int ipv4_prefix,
		   unsigned int ipv6_prefix, char *text)
{
	unsigned int length = source_length(address, ipv4_prefix, ipv6_prefix);
	size_t used;

	format_address(address, text);
	if (length == (address_is_ipv4(address) ? IPV4_BITS : IPV6_BITS))
		return;
	used = strlen(text);
	snprintf(text + used, ADDRESS_TEXT_SIZE - used, "/%u", length);
}
