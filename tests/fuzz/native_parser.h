/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel side's parser, compiled for user space: with sanitizers, and with coverage to steer by. */
#ifndef TESTS_NATIVE_PARSER_H
#define TESTS_NATIVE_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As bpf/parsed.h has it, which can't stand beside libbpf's headers. */
struct parsed;

extern const size_t parsed_size;

/* A frame as the context shows it. */
struct native_frame {
	const uint8_t *data; /* in the first 4 GiB: the context has 32 bits for an address */
	uint32_t linear;     /* bytes there */
	uint32_t length;     /* with those that would be in fragments */
};

/** parse_natively - @generic: in the generic mode of a kernel before 6.2. */
const struct parsed *parse_natively(const struct native_frame *frame, bool generic);

/** linear_bytes - how much of its frame the program had at hand. */
uint32_t linear_bytes(const struct parsed *parsed);

/** must_agree - all fields are the same, or the end with those that aren't. */
void must_agree(const struct parsed *native, const struct parsed *kernel, const char *mode);

bool is_malformed(const struct parsed *parsed);

#endif
