/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The words that options and the policy file choose from, each list by the value of its enum. */
#ifndef XDP_LIMIT_WORDS_H
#define XDP_LIMIT_WORDS_H

#include "complaint.h"

/* All end with NULL. */
extern const char *const algorithm_words[];
extern const char *const per_words[];
extern const char *const fragments_words[];
extern const char *const malformed_words[];
extern const char *const table_words[];
extern const char *const when_full_words[];
extern const char *const beyond_words[];  /* new_sources_beyond_pass */
extern const char *const observe_words[]; /* policy_limit.observe */
extern const char *const boolean_words[];

/**
 * choose_word - the position of @text in @words, or -EINVAL with the list of them in @why.
 * @noun: what is chosen ("--mode", "algorithm").
 */
int choose_word(const char *noun, const char *text, const char *const *words,
		struct complaint *why);

#endif
