// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a request's target asks for. */
#include "http_query.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "utf8.h"

static const char *const key_names[QUERY_COUNT] = {
	[QUERY_ADDRESS] = "address",	 [QUERY_AFTER] = "after", [QUERY_BY] = "by",
	[QUERY_INTERFACE] = "interface", [QUERY_LIMIT] = "limit", [QUERY_TOP] = "top",
};

#define SCHEME "http://"

const char *http_path(const char *target, size_t *length, const char **query)
{
	/* A client that takes us for a proxy names the host too. */
	if (!strncmp(target, SCHEME, strlen(SCHEME))) {
		target += strlen(SCHEME);
		target += strcspn(target, "/?");
	}
	*length = strcspn(target, "?");
	*query = target[*length] ? target + *length + 1 : "";
	return target;
}

static int digit_of(char letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	if (letter >= 'a' && letter <= 'f')
		return letter - 'a' + 10;
	if (letter >= 'A' && letter <= 'F')
		return letter - 'A' + 10;
	return -1;
}

/* One byte at *@from, moved on; -1 for what is no byte of a text. */
static int decode_byte(const char **from)
{
	const char *at = *from;
	int high, low;

	*from = at + 1;
	if (*at == '+')
		return ' ';
	if (*at != '%')
		return (unsigned char)*at;
	high = digit_of(at[1]);
	low = high < 0 ? -1 : digit_of(at[2]);
	if (low < 0)
		return -1;
	*from = at + 3;
	return high << 4 | low;
}

/* @length bytes of @from to a string at @to, never longer: 0 or -EINVAL. */
static int decode(const char *from, size_t length, char *to)
{
	const char *end = from + length;
	char *start = to;

	while (from < end) {
		int byte = decode_byte(&from);

		if (byte < 0x20 || byte == 0x7f)
			return -EINVAL;
		*to++ = (char)byte;
	}
	*to = '\0';
	for (size_t step; *start; start += step) {
		step = utf8_length(start);
		/* Control characters of the second set are two bytes of UTF-8. */
		if (!step || (*start == '\xc2' && (unsigned char)start[1] < 0xa0))
			return -EINVAL;
	}
	return 0;
}

static int find_key(const char *name, unsigned int allowed)
{
	for (int i = 0; i < QUERY_COUNT; i++)
		if (allowed >> i & 1 && !strcmp(key_names[i], name))
			return i;
	return -1;
}

static int refuse_key(const char *name, unsigned int allowed, struct complaint *why)
{
	char known[128] = "";
	size_t length = 0;

	for (int i = 0; i < QUERY_COUNT; i++)
		if (allowed >> i & 1)
			length += snprintf(known + length, sizeof(known) - length, "%s%s",
					   length ? ", " : "", key_names[i]);
	if (!length)
		return complain(why, -EINVAL, "unknown key '%s': this takes no query", name);
	return complain(why, -EINVAL, "unknown key '%s'; known are: %s", name, known);
}

/* One `key=value` of @length bytes; its text goes to *@free, which is moved on. */
static int take_pair(const char *pair, size_t length, unsigned int allowed, char **free,
		     struct http_query *parsed, struct complaint *why)
{
	const char *equals = memchr(pair, '=', length);
	size_t name_length = equals ? (size_t)(equals - pair) : length;
	char *name = *free, *value;
	int key;

	if (decode(pair, name_length, name))
		return complain(why, -EINVAL, "the query is not well-formed text: '%.*s'",
				(int)length, pair);
	key = find_key(name, allowed);
	if (key < 0)
		return refuse_key(name, allowed, why);
	if (!equals || equals + 1 == pair + length)
		return complain(why, -EINVAL, "'%s' has no value", key_names[key]);
	if (parsed->values[key])
		return complain(why, -EINVAL, "'%s' is given twice", key_names[key]);
	value = name + strlen(name) + 1;
	if (decode(equals + 1, length - name_length - 1, value))
		return complain(why, -EINVAL, "the value of '%s' is not well-formed text",
				key_names[key]);
	parsed->values[key] = value;
	*free = value + strlen(value) + 1;
	return 0;
}

int http_query_parse(const char *query, unsigned int allowed, struct http_query *parsed,
		     struct complaint *why)
{
	char *free = parsed->text;
	int err = 0;

	memset(parsed->values, 0, sizeof(parsed->values));
	if (strlen(query) > TARGET_MAX)
		return complain(why, -EINVAL, "the query is longer than %d bytes", TARGET_MAX);
	while (*query && !err) {
		size_t length = strcspn(query, "&");

		err = take_pair(query, length, allowed, &free, parsed, why);
		query += length + (query[length] == '&');
	}
	return err;
}
