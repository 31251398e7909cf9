// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What an answer tells a client in headers. */
#include "rate_headers.h"

#include <inttypes.h>
#include <math.h>

/* The largest number of a structured field (RFC 9651). */
#define FIELD_MAX 999999999999999ULL

static uint64_t field(uint64_t number)
{
	return number < FIELD_MAX ? number : FIELD_MAX;
}

/* Whole seconds, rounded up: who waits so long has waited enough. */
static uint64_t seconds_of(double seconds)
{
	return seconds < (double)FIELD_MAX ? (uint64_t)ceil(seconds) : FIELD_MAX;
}

/* In how many seconds the rate admits a burst; at least one, as the draft has no parts of a second. */
static uint64_t window_of(const struct limit_label *label)
{
	double seconds = (double)label->burst * (double)label->per_ns / (double)label->amount /
			 NS_PER_SECOND;

	return seconds > 1 ? seconds_of(seconds) : 1;
}

static void say_metered(const struct answer *answer, int limit, struct http_answer *http)
{
	const struct limit_label *label = answer_label(answer, limit);
	const struct limit_state *state = &answer->states[limit];
	bool bytes = answer->config->limits[limit].unit == UNIT_BYTES;
	uint64_t reset = seconds_of(state->reset_seconds);

	http_add_header(http, "X-RateLimit-Limit", "%llu", label->burst);
	http_add_header(http, "X-RateLimit-Remaining", "%" PRIu64, state->remaining);
	http_add_header(http, "X-RateLimit-Reset", "%" PRIu64, reset);
	http_add_header(http, "RateLimit-Policy", "\"%s\";q=%" PRIu64 ";w=%" PRIu64 "%s",
			label->name, field(label->burst), window_of(label),
			bytes ? ";qu=\"content-bytes\"" : "");
	http_add_header(http, "RateLimit", "\"%s\";r=%" PRIu64 ";t=%" PRIu64, label->name,
			field(state->remaining), reset);
}

static void say_block(const struct limit_label *label, struct http_answer *http)
{
	http_add_header(http, "X-RateLimit-Limit", "0");
	http_add_header(http, "X-RateLimit-Remaining", "0");
	http_add_header(http, "RateLimit-Policy", "\"%s\";q=0", label->name);
	http_add_header(http, "RateLimit", "\"%s\";r=0", label->name);
}

void rate_headers(const struct answer *answer, const struct verdict *verdict,
		  struct http_answer *http)
{
	if (verdict->limit >= 0 && answer_label(answer, verdict->limit)->kind == LIMIT_BLOCK)
		say_block(answer_label(answer, verdict->limit), http);
	else if (verdict->limit >= 0)
		say_metered(answer, verdict->limit, http);
	if (verdict->refused && !isinf(verdict->retry_after_seconds))
		http_add_header(http, "Retry-After", "%" PRIu64,
				seconds_of(verdict->retry_after_seconds));
}
