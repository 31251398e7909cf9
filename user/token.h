/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The secret that writes over HTTP need. */
#ifndef XDP_LIMIT_TOKEN_H
#define XDP_LIMIT_TOKEN_H

#include <stdbool.h>
#include "complaint.h"

#define TOKEN_MIN 16
#define TOKEN_MAX 255

struct token {
	char text[TOKEN_MAX + 1]; /* the rest is zero; "": there is none */
};

/**
 * token_read - the only line of @path, a file that only its owner, root or us, may read or write.
 * Returns 0 or -errno with a sentence in @why.
 */
int token_read(const char *path, struct token *token, struct complaint *why);

/**
 * token_is_in - whether @authorization (the header, or NULL) is `Bearer` and the token. How long that
 * takes tells nothing of the token.
 */
bool token_is_in(const struct token *token, const char *authorization);

#endif
