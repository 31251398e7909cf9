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

/** parse_natively - @data's last byte must be in the first 4 GiB, as the context has 32 bits for it. */
const struct parsed *parse_natively(const uint8_t *data, uint32_t size, bool generic);

/** must_agree - all fields are the same, or the end with those that aren't. */
void must_agree(const struct parsed *native, const struct parsed *kernel, const char *mode);

bool is_malformed(const struct parsed *parsed);

#endif
