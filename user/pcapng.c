// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes pcapng (draft-ietf-opsawg-pcapng): a section, an interface, packets with comments. */
#include "pcapng.h"

#include <errno.h>
#include <string.h>

enum block_type {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET = 6,
};

enum option_code {
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	OPTION_NAME = 2,	/* of an interface */
	OPTION_APPLICATION = 4, /* of a section */
	OPTION_RESOLUTION = 9,	/* of times: 10^-N s */
};

#define BYTE_ORDER_MAGIC  0x1a2b3c4d
#define LINK_ETHERNET	  1
#define NANOSECONDS	  9
#define BLOCK_FRAME	  12 /* type, length, and the length again at the end */
#define INTERFACE_OF_ALL  0
#define COMMENT_BYTES_MAX 1024

struct option {
	uint16_t code;
	uint16_t length;
	const void *value;
};

static uint32_t padded(uint32_t length)
{
	return (length + 3) & ~3U;
}

/* All of them, and the one that ends them. */
static uint32_t options_size(const struct option *options, unsigned int count)
{
	uint32_t size = count ? 4 : 0;

	for (unsigned int i = 0; i < count; i++)
		size += 4 + padded(options[i].length);
	return size;
}

static void put(FILE *out, const void *bytes, uint32_t length)
{
	static const uint8_t zeros[4];

	fwrite(bytes, 1, length, out);
	fwrite(zeros, 1, padded(length) - length, out);
}

static void put_options(FILE *out, const struct option *options, unsigned int count)
{
	const uint16_t end[2] = {OPTION_END, 0};

	for (unsigned int i = 0; i < count; i++) {
		const uint16_t head[2] = {options[i].code, options[i].length};

		put(out, head, sizeof(head));
		put(out, options[i].value, options[i].length);
	}
	if (count)
		put(out, end, sizeof(end));
}

struct block {
	uint32_t type;
	const void *fixed;
	uint32_t fixed_size;
	const void *data;
	uint32_t data_size;
	const struct option *options;
	unsigned int option_count;
};

static int put_block(FILE *out, const struct block *block)
{
	uint32_t length = BLOCK_FRAME + block->fixed_size + padded(block->data_size) +
			  options_size(block->options, block->option_count);
	const uint32_t head[2] = {block->type, length};

	errno = 0;
	put(out, head, sizeof(head));
	put(out, block->fixed, block->fixed_size);
	put(out, block->data, block->data_size);
	put_options(out, block->options, block->option_count);
	put(out, &length, sizeof(length));
	return ferror(out) ? -(errno ?: EIO) : 0;
}

static struct option text_option(enum option_code code, const char *text)
{
	size_t length = strnlen(text, COMMENT_BYTES_MAX);

	return (struct option){(uint16_t)code, (uint16_t)length, text};
}

static int put_section(FILE *out)
{
	const struct {
		uint32_t magic;
		uint16_t major, minor;
		int64_t length; /* not known */
	} fixed = {BYTE_ORDER_MAGIC, 1, 0, -1};
	const struct option application = text_option(OPTION_APPLICATION,
						      "xdp-limit " XDP_LIMIT_VERSION);
	const struct block block = {
		.type = BLOCK_SECTION,
		.fixed = &fixed,
		.fixed_size = sizeof(fixed),
		.data = "",
		.options = &application,
		.option_count = 1,
	};

	return put_block(out, &block);
}

int pcapng_start(FILE *out, const char *interface, uint32_t snap_length)
{
	static const uint8_t resolution = NANOSECONDS;
	const struct {
		uint16_t link, reserved;
		uint32_t snap_length;
	} fixed = {LINK_ETHERNET, 0, snap_length};
	const struct option options[] = {
		text_option(OPTION_NAME, interface),
		{OPTION_RESOLUTION, sizeof(resolution), &resolution},
	};
	const struct block block = {
		.type = BLOCK_INTERFACE,
		.fixed = &fixed,
		.fixed_size = sizeof(fixed),
		.data = "",
		.options = options,
		.option_count = 2,
	};

	return put_section(out) ?: put_block(out, &block);
}

int pcapng_add(FILE *out, const struct pcapng_packet *packet)
{
	const uint32_t fixed[] = {
		INTERFACE_OF_ALL,
		(uint32_t)(packet->time_ns >> 32),
		(uint32_t)packet->time_ns,
		packet->captured,
		packet->length,
	};
	const struct option comment = text_option(OPTION_COMMENT, packet->comment ?: "");
	const struct block block = {
		.type = BLOCK_PACKET,
		.fixed = fixed,
		.fixed_size = sizeof(fixed),
		.data = packet->bytes,
		.data_size = packet->captured,
		.options = &comment,
		.option_count = packet->comment ? 1 : 0,
	};

	return put_block(out, &block);
}
