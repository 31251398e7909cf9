/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a fuzzing target is made of: one function over bytes, and a claim that must hold. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "complaint.h"

/* The names are libFuzzer's. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** must - @claim, or the sentence (printf style), and the end that the fuzzer takes for a find. */
#define must(claim, ...)                                                            \
	do {                                                                        \
		if (!(claim)) {                                                     \
			fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #claim); \
			fprintf(stderr, __VA_ARGS__);                               \
			fputc('\n', stderr);                                        \
			abort();                                                    \
		}                                                                   \
	} while (0)

/** must_be_refusal - @err is one of a parser's, with one printable sentence. */
void must_be_refusal(int err, const struct complaint *why);
void must_be_sentence(const char *text);

/** text_of - @size bytes as a string, for free(). */
char *text_of(const uint8_t *data, size_t size);

#endif
