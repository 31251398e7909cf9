/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The body of a write: which entries of which interface, and how long; pure. */
#ifndef XDP_LIMIT_HTTP_BODY_H
#define XDP_LIMIT_HTTP_BODY_H

#include <net/if.h>
#include <stddef.h>
#include "complaint.h"
#include "policy.h"

#define BODY_MAX (1U << 20)

struct http_body {
	char interface[IF_NAMESIZE]; /* "" when absent */
	struct policy_prefixes prefixes;
	uint64_t for_ns; /* 0: for ever */
};

/**
 * http_body_parse - `{"interface": "eth0", "prefixes": ["192.0.2.1"], "for": "10m"}`; @adds: with "for".
 * Returns 0, or -EINVAL, -ERANGE or -ENOMEM with a sentence in @why. http_body_free() in every case.
 */
int http_body_parse(const char *text, size_t length, bool adds, struct http_body *body,
		    struct complaint *why);
void http_body_free(struct http_body *body);

#endif
