// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Prefixes as text. */
#include "prefix.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse_length(const char *text, unsigned int longest, unsigned int *length,
			struct complaint *why)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value > longest)
		return complain(why, -EINVAL, "'/%.20s' is no prefix length; write /0 to /%u", text,
				longest);
	*length = (unsigned int)value;
	return 0;
}

int parse_prefix(const char *text, struct policy_prefix *prefix, struct complaint *why)
{
	const char *slash = strchr(text, '/');
	size_t size = slash ? (size_t)(slash - text) : strlen(text);
	struct policy_prefix result;
	char address[ADDRESS_TEXT_SIZE], meant[ADDRESS_TEXT_SIZE];
	struct address whole;
	unsigned int longest;
	int err;

	if (size >= sizeof(address))
		return complain(why, -EINVAL, "'%.60s' is no address", text);
	memcpy(address, text, size);
	address[size] = '\0';
	err = parse_address(address, &result.address, why);
	if (err)
		return err;
	longest = address_is_ipv4(&result.address) ? 32 : 128;
	result.length = longest;
	if (slash)
		err = parse_length(slash + 1, longest, &result.length, why);
	if (err)
		return err;
	whole = result.address;
	address_cut(&result.address, result.length);
	if (memcmp(&whole, &result.address, sizeof(whole))) {
		format_prefix(&result, meant);
		return complain(why, -EINVAL, "'%.60s' has bits beyond its length; write %s", text,
				meant);
	}
	*prefix = result;
	return 0;
}

/* Not format_source(): link-local prefixes are prefixes here. */
void format_prefix(const struct policy_prefix *prefix, char *text)
{
	unsigned int longest = address_is_ipv4(&prefix->address) ? 32 : 128;
	size_t used;

	format_address(&prefix->address, text);
	used = strlen(text);
	if (prefix->length < longest)
		snprintf(text + used, ADDRESS_TEXT_SIZE - used, "/%u", prefix->length);
}
