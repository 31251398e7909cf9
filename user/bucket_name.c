// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a bucket belongs to, as text. */
#include "bucket_name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "prefix.h"

const struct kind_identity *limit_kind_of(const struct running *running, unsigned int limit)
{
	const struct limit *compiled = &running->config.limits[limit];

	return &running->table.kinds[running->config.kinds[compiled->group].id];
}

int limit_by_name(const struct config *config, const char *name, int *limit, struct complaint *why)
{
	*limit = -1;
	for (uint32_t i = 0; name && i < config->limit_count; i++)
		if (!strcmp(config->labels[i].name, name))
			*limit = (int)i;
	if (name && *limit < 0)
		return complain(why, -EINVAL,
				"there is no limit '%s'; `xdp-limit status` lists them", name);
	return 0;
}

/* As bpf/buckets.h puts it together: the destination lies before the mapped source. */
static void ipv4_pair(const struct address *both, const struct kind_identity *kind,
		      char name[BUCKET_NAME_SIZE])
{
	char source[ADDRESS_TEXT_SIZE], destination[ADDRESS_TEXT_SIZE];
	struct address address = *both;

	memset(address.bytes, 0, 8);
	format_source(&address, kind->ipv4_prefix, kind->ipv6_prefix, source);
	memcpy(address.bytes + 12, both->bytes + 4, 4);
	format_address(&address, destination);
	snprintf(name, BUCKET_NAME_SIZE, "%s>%s", source, destination);
}

static void ipv6_pair(const struct address *both, char name[BUCKET_NAME_SIZE])
{
	struct policy_prefix source = {.address = *both, .length = 64};
	char text[ADDRESS_TEXT_SIZE];
	uint64_t hash;

	memcpy(&hash, both->bytes + 8, sizeof(hash));
	memset(source.address.bytes + 8, 0, 8);
	format_prefix(&source, text);
	snprintf(name, BUCKET_NAME_SIZE, "%s>#%016" PRIx64, text, hash);
}

/* Its first four bytes are zero, and the middle ones are those of a mapped address. */
static bool is_ipv4_pair(const struct address *both)
{
	static const uint8_t mapped[] = {0, 0, 0xff, 0xff};
	static const uint8_t none[4];

	return !memcmp(both->bytes + 8, mapped, 4) && !memcmp(both->bytes, none, 4);
}

void bucket_name(const struct running *running, const struct bucket *bucket,
		 char name[BUCKET_NAME_SIZE])
{
	const struct kind_identity *kind = limit_kind_of(running, bucket->limit);

	switch (kind->per) {
	case PER_DESTINATION:
		name[0] = '>';
		format_source(&bucket->source, 32, 128, name + 1);
		break;
	case PER_PAIR:
		if (is_ipv4_pair(&bucket->source))
			ipv4_pair(&bucket->source, kind, name);
		else
			ipv6_pair(&bucket->source, name);
		break;
	default:
		format_source(&bucket->source, kind->ipv4_prefix, kind->ipv6_prefix, name);
		break;
	}
}
