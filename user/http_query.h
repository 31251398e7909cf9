/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a request's target asks for: its path, and the keys of its query; pure. */
#ifndef XDP_LIMIT_HTTP_QUERY_H
#define XDP_LIMIT_HTTP_QUERY_H

#include <stddef.h>
#include "complaint.h"

#define TARGET_MAX 2048 /* longer ones are refused */

enum query_key {
	QUERY_ADDRESS,
	QUERY_AFTER,
	QUERY_BY,
	QUERY_INTERFACE,
	QUERY_LIMIT,
	QUERY_TOP,
	QUERY_COUNT,
};

struct http_query {
	const char *values[QUERY_COUNT]; /* decoded, in @text; NULL when absent */
	char text[TARGET_MAX + 1];
};

/**
 * http_path - the path in @target, as sent, and its length in *@length; *@query is what stands behind the
 * question mark, "" for nothing.
 */
const char *http_path(const char *target, size_t *length, const char **query);

/**
 * http_query_parse - keys and values of @query, of those that bits of @allowed (1 << QUERY_*) stand for.
 * Returns 0, or -EINVAL with a sentence in @why.
 */
int http_query_parse(const char *query, unsigned int allowed, struct http_query *parsed,
		     struct complaint *why);

#endif
