// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Addresses: read, cut to their source, printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "address.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct address read_address(const char *text)
{
	struct address address;
	struct complaint why;

	if (parse_address(text, &address, &why))
		fail_msg("%s", why.text);
	return address;
}

struct parse_case {
	const char *name;
	const char *text;
	const char *printed;
	bool ipv4;
};

static const struct parse_case parse_cases[] = {
	{"IPv4", "192.0.2.10", "192.0.2.10", true},
	{"the lowest IPv4", "0.0.0.0", "0.0.0.0", true},
	{"the highest IPv4", "255.255.255.255", "255.255.255.255", true},
	{"IPv6", "2001:db8::1", "2001:db8::1", false},
	{"IPv6 in full", "2001:0DB8:0000:0000:0000:0000:0000:0001", "2001:db8::1", false},
	{"unspecified", "::", "::", false},
	{"link-local", "fe80::1", "fe80::1", false},
	{"O-109: mapped is IPv4", "::ffff:192.0.2.10", "192.0.2.10", true},
	{"O-109: mapped in hexadecimal", "::FFFF:c000:20a", "192.0.2.10", true},
	{"O-109: mapped in full", "0:0:0:0:0:ffff:c000:020a", "192.0.2.10", true},
	{"not mapped: ::ffff:0:0:0/96", "::ffff:0:c000:20a", "::ffff:0:c000:20a", false},
	{"NAT64 is not IPv4", "64:ff9b::c000:20a", "64:ff9b::c000:20a", false},
};

static void reads_address(void **state)
{
	const struct parse_case *c = *state;
	struct address address = read_address(c->text);
	char printed[ADDRESS_TEXT_SIZE];

	assert_int_equal(address_is_ipv4(&address), c->ipv4);
	format_address(&address, printed);
	assert_string_equal(printed, c->printed);
}

static void stores_network_order(void **state)
{
	static const uint8_t ipv4[16] = {[10] = 0xff, 0xff, 192, 0, 2, 10};
	static const uint8_t ipv6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
	struct address address;

	(void)state;
	address = read_address("192.0.2.10");
	assert_memory_equal(address.bytes, ipv4, 16);
	address = read_address("::ffff:192.0.2.10");
	assert_memory_equal(address.bytes, ipv4, 16);
	address = read_address("2001:db8::1");
	assert_memory_equal(address.bytes, ipv6, 16);
}

struct refuse_case {
	const char *name;
	const char *text;
	const char *says;
};

static const struct refuse_case refuse_cases[] = {
	{"a prefix", "192.0.2.0/24", "is a prefix; write one address, such as \"192.0.2.0\""},
	{"a whole prefix", "2001:db8::1/128", "such as \"2001:db8::1\""},
	{"a zone", "fe80::1%eth1", "without \"%eth1\""},
	{"a name", "localhost", "\"192.0.2.10\" or \"2001:db8::1\""},
	{"empty", "", "\"192.0.2.10\""},
	{"three bytes", "192.0.2", "\"192.0.2.10\""},
	{"a byte too large", "192.0.2.256", "\"192.0.2.10\""},
	{"a leading zero, octal to some", "192.0.2.010", "\"192.0.2.10\""},
	{"a port", "192.0.2.10:53", "\"192.0.2.10\""},
	{"brackets", "[2001:db8::1]", "\"2001:db8::1\""},
	{"two gaps", "2001::db8::1", "\"2001:db8::1\""},
	{"a blank", " 192.0.2.10", "\"192.0.2.10\""},
};

static void refuses_address(void **state)
{
	const struct refuse_case *c = *state;
	struct address address, untouched;
	struct complaint why = {""};

	memset(&address, 0x5a, sizeof(address));
	untouched = address;
	assert_int_equal(parse_address(c->text, &address, &why), -EINVAL);
	assert_memory_equal(&address, &untouched, sizeof(address));
	if (!strstr(why.text, c->text) || !strstr(why.text, c->says))
		fail_msg("%s: the refusal is: %s", c->text, why.text);
}

struct source_case {
	const char *name;
	const char *address;
	unsigned int ipv4_prefix, ipv6_prefix;
	const char *source;
};

static const struct source_case source_cases[] = {
	{"IPv4 whole", "192.0.2.255", 32, 64, "192.0.2.255"},
	{"IPv4 /24", "192.0.2.255", 24, 64, "192.0.2.0/24"},
	{"IPv4 /31", "192.0.2.255", 31, 64, "192.0.2.254/31"},
	{"IPv4 /1", "192.0.2.255", 1, 64, "128.0.0.0/1"},
	{"IPv4 does not take the IPv6 length", "192.0.2.255", 32, 1, "192.0.2.255"},
	{"O-109: mapped takes the IPv4 length", "::ffff:192.0.2.255", 24, 64, "192.0.2.0/24"},
	{"O-019: /64", "2001:db8:5:1:ffff::1", 32, 64, "2001:db8:5:1::/64"},
	{"O-019: /48", "2001:db8:5:ff::1", 32, 48, "2001:db8:5::/48"},
	{"O-019: /1", "ffff::1", 32, 1, "8000::/1"},
	{"O-019: /127", "2001:db8::ff", 32, 127, "2001:db8::fe/127"},
	{"O-019: /128", "2001:db8::ff", 32, 128, "2001:db8::ff"},
	{"IPv6 cut inside a byte", "2001:db8:ffff::", 32, 36, "2001:db8:f000::/36"},
	{"link-local per address", "fe80::1:2", 32, 64, "fe80::1:2"},
	{"the last link-local", "febf:ffff::1", 32, 48, "febf:ffff::1"},
	{"below link-local", "fe7f::1", 32, 64, "fe7f::/64"},
	{"above link-local", "fec0::1", 32, 64, "fec0::/64"},
};

static void cuts_to_source(void **state)
{
	const struct source_case *c = *state;
	struct address address = read_address(c->address);
	char printed[ADDRESS_TEXT_SIZE];

	address_source(&address, c->ipv4_prefix, c->ipv6_prefix);
	format_source(&address, c->ipv4_prefix, c->ipv6_prefix, printed);
	assert_string_equal(printed, c->source);
}

/* Bit by bit, for every length of both families. */
static void cuts_every_length(void **state)
{
	(void)state;
	for (unsigned int ipv4 = 0; ipv4 < 2; ipv4++) {
		unsigned int first = ipv4 ? 96 : 0;

		for (unsigned int length = 0; first + length <= 128; length++) {
			struct address address = read_address(
				ipv4 ? "255.255.255.255"
				     : "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");

			address_cut(&address, length);
			for (unsigned int bit = first; bit < 128; bit++)
				if ((address.bytes[bit / 8] >> (7 - bit % 8) & 1) !=
				    (bit < first + length))
					fail_msg("IPv%d /%u: bit %u", ipv4 ? 4 : 6, length, bit);
			assert_int_equal(address_is_ipv4(&address), ipv4);
		}
	}
}

/* O-019: 256 subnets of one /48 owner are one source by /48 and 256 by /64. */
static void counts_owners(void **state)
{
	struct address first = read_address("2001:db8:5::1"), by48, by64;
	char text[ADDRESS_TEXT_SIZE];
	int same48 = 0, same64 = 0;

	(void)state;
	address_cut(&first, 48);
	for (unsigned int i = 0; i < 256; i++) {
		snprintf(text, sizeof(text), "2001:db8:5:%x::1", i);
		by48 = by64 = read_address(text);
		address_source(&by48, 32, 48);
		address_source(&by64, 32, 64);
		same48 += !memcmp(&by48, &first, sizeof(first));
		same64 += !memcmp(&by64, &first, sizeof(first));
	}
	assert_int_equal(same48, 256);
	assert_int_equal(same64, 1);
}

/* ---- the run --------------------------------------------------------------------------------- */

static void add(struct CMUnitTest *test, const char *name, CMUnitTestFunction function,
		const void *row)
{
	*test = (struct CMUnitTest){
		.name = name,
		.test_func = function,
		.initial_state = (void *)(uintptr_t)row,
	};
}

int main(void)
{
	static const struct CMUnitTest plain[] = {
		cmocka_unit_test(stores_network_order),
		cmocka_unit_test(cuts_every_length),
		{.name = "O-019: a /48 owner", .test_func = counts_owners},
	};
	static struct CMUnitTest tests[COUNT(plain) + COUNT(parse_cases) + COUNT(refuse_cases) +
				       COUNT(source_cases)];
	size_t count = COUNT(plain);

	memcpy(tests, plain, sizeof(plain));
	for (size_t i = 0; i < COUNT(parse_cases); i++)
		add(&tests[count++], parse_cases[i].name, reads_address, &parse_cases[i]);
	for (size_t i = 0; i < COUNT(refuse_cases); i++)
		add(&tests[count++], refuse_cases[i].name, refuses_address, &refuse_cases[i]);
	for (size_t i = 0; i < COUNT(source_cases); i++)
		add(&tests[count++], source_cases[i].name, cuts_to_source, &source_cases[i]);
	return cmocka_run_group_tests_name("address", tests, NULL, NULL);
}
