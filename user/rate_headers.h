/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an answer tells a client in headers: X-RateLimit-*, the IETF draft's RateLimit, Retry-After. */
#ifndef XDP_LIMIT_RATE_HEADERS_H
#define XDP_LIMIT_RATE_HEADERS_H

#include "answer.h"
#include "http.h"
#include "verdict.h"

/** rate_headers - pure: the headers for @verdict. */
void rate_headers(const struct answer *answer, const struct verdict *verdict,
		  struct http_answer *http);

#endif
