/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The names of protocols and TCP flags in a policy. */
#ifndef XDP_LIMIT_MATCH_WORDS_H
#define XDP_LIMIT_MATCH_WORDS_H

#include <stdint.h>

struct match_word {
	const char *text;
	uint32_t value;
};

/* Both end with a NULL text. */
extern const struct match_word protocol_words[];
extern const struct match_word flag_words[];

#endif
