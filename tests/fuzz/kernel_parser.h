/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The same parser where it belongs: in the kernel, frame by frame, without an interface. */
#ifndef TESTS_KERNEL_PARSER_H
#define TESTS_KERNEL_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct parsed;
struct xdp_limit_parse;

/* The parser alone, loaded for one mode. */
struct kernel_parser {
	struct xdp_limit_parse *skeleton;
	int program;
	const struct parsed *parsed; /* the program's own memory */
};

/** kernel_parser_open - @parsed_size: of struct parsed. Ends with a sentence when the kernel refuses. */
void kernel_parser_open(struct kernel_parser *parser, bool generic, size_t parsed_size);

/** kernel_run - the return value of @program for this frame. */
int kernel_run(int program, const uint8_t *data, uint32_t size);

#endif
