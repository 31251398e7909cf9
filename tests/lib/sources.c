// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Ranges of source addresses: parsed from text, walked address by address.
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sources.h"

static unsigned int address_bits(int family)
{
	return family == AF_INET ? 32 : 128;
}

int source_prefix_parse(const char *text, struct source_prefix *prefix)
{
	char host[INET6_ADDRSTRLEN + 4];
	char *slash, *end;

	memset(prefix, 0, sizeof(*prefix));
	snprintf(host, sizeof(host), "%s", text);
	slash = strchr(host, '/');
	if (slash)
		*slash++ = 0;
	prefix->family = strchr(host, ':') ? AF_INET6 : AF_INET;
	prefix->length = address_bits(prefix->family);
	if (inet_pton(prefix->family, host, prefix->bytes) != 1)
		return -EINVAL;
	if (!slash)
		return 0;
	prefix->length = strtoul(slash, &end, 10);
	if (end == slash || *end || prefix->length > address_bits(prefix->family))
		return -EINVAL;
	return 0;
}

bool source_prefix_contains(const struct source_prefix *prefix, const uint8_t *address)
{
	unsigned int whole = prefix->length / 8, rest = prefix->length % 8;

	if (memcmp(prefix->bytes, address, whole))
		return false;
	return !rest || (prefix->bytes[whole] ^ address[whole]) >> (8 - rest) == 0;
}

/* The first @step bits as a number, the last 64 of them. */
static uint64_t number_of(const struct source_prefix *a, unsigned int step)
{
	uint64_t value = 0;
	unsigned int bit;

	for (bit = step > 64 ? step - 64 : 0; bit < step; bit++)
		value = value << 1 | (a->bytes[bit / 8] >> (7 - bit % 8) & 1);
	return value;
}

static void clear_bits(struct source_prefix *a, unsigned int from, unsigned int to)
{
	unsigned int bit;

	for (bit = from; bit < to; bit++)
		a->bytes[bit / 8] &= ~(0x80 >> bit % 8);
}

static unsigned int automatic_step(int family, bool wide)
{
	if (family == AF_INET)
		return 32;
	return wide ? 64 : 128;
}

static int parse_range(const char *text, const char *dots, unsigned int step, struct sources *s)
{
	char low[INET6_ADDRSTRLEN];
	struct source_prefix last;

	snprintf(low, sizeof(low), "%.*s", (int)(dots - text), text);
	if (source_prefix_parse(low, &s->first) || source_prefix_parse(dots + 2, &last) ||
	    last.family != s->first.family)
		return -EINVAL;
	s->step = step ? step
		       : automatic_step(last.family,
					!memcmp(s->first.bytes + 8, last.bytes + 8, 8));
	if (s->step > address_bits(last.family) ||
	    number_of(&last, s->step) < number_of(&s->first, s->step))
		return -EINVAL;
	s->count = number_of(&last, s->step) - number_of(&s->first, s->step) + 1;
	return 0;
}

int sources_parse(const char *text, unsigned int step, struct sources *s)
{
	const char *dots = strstr(text, "..");
	unsigned int bits;

	if (dots)
		return parse_range(text, dots, step, s);
	if (source_prefix_parse(text, &s->first))
		return -EINVAL;
	s->step = step ? step : automatic_step(s->first.family, s->first.length < 64);
	if (s->step > address_bits(s->first.family))
		return -EINVAL;
	s->count = 1;
	if (s->first.length >= s->step)
		return 0;
	bits = s->step - s->first.length;
	clear_bits(&s->first, s->first.length, s->step);
	s->count = 1ULL << (bits < 63 ? bits : 63);
	return 0;
}

void sources_next(const struct sources *s, struct source_prefix *at)
{
	unsigned int i = (s->step - 1) / 8;
	unsigned int sum = 1U << (7 - (s->step - 1) % 8);

	do {
		sum += at->bytes[i];
		at->bytes[i] = (uint8_t)sum;
		sum >>= 8;
	} while (sum && i--);
}
