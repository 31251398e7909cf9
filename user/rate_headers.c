// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What an answer tells a client in headers. */
#include "rate_headers.h"

#include <inttypes.h>
#include <math.h>

/* The largest number of a structured field (RFC 9651). */
#define FIELD_MAX 999999999999999ULL

static const struct limit_label *label_of(const struct answer *answer, int limit)
{
	return &answer->config->labels[answer_place(answer, limit)];
}

static bool is_exempt(const struct answer *answer)
{
	return answer->guard_seconds > 0 || answer->listed == REASON_ALLOWED;
}

static bool observes(const struct answer *answer, int limit)
{
	return answer->config->dry_run || answer->config->observed_limits >> limit & 1;
}

/* What a limit with a match is asked about can't be told from an address: a `block` for some port would
 * refuse everybody. */
static bool is_sure(const struct answer *answer, int limit)
{
	return label_of(answer, limit)->kind != LIMIT_BLOCK || !answer->config->match_fields;
}

static bool may_speak(const struct answer *answer, int limit, int only)
{
	if (label_of(answer, limit)->kind == LIMIT_UNLIMITED ||
	    !answer_is_of_address(answer, limit))
		return false;
	if (only >= 0)
		return limit == only;
	return is_sure(answer, limit) && !(answer->config->observed_limits >> limit & 1);
}

static double share_left(const struct answer *answer, int limit)
{
	uint64_t burst = label_of(answer, limit)->burst;

	return burst ? (double)answer->states[limit].remaining / (double)burst : 0;
}

static bool is_tighter(const struct answer *answer, int limit, int than)
{
	double mine = answer->states[limit].retry_after_seconds;
	double other = answer->states[than].retry_after_seconds;

	if (mine != other)
		return mine > other;
	return share_left(answer, limit) < share_left(answer, than);
}

static double list_refusal(const struct answer *answer)
{
	bool ends = answer->listed == REASON_BANNED && answer->ban_seconds > 0;

	return ends ? answer->ban_seconds : INFINITY;
}

void verdict_of(const struct answer *answer, int only, struct verdict *verdict)
{
	*verdict = (struct verdict){.limit = -1};
	if (is_exempt(answer))
		return;
	for (int i = 0; i < (int)answer->config->limit_count; i++)
		if (may_speak(answer, i, only) &&
		    (verdict->limit < 0 || is_tighter(answer, i, verdict->limit)))
			verdict->limit = i;
	if (answer_is_refused(answer)) {
		verdict->retry_after_seconds = list_refusal(answer);
		verdict->refused = !answer->config->dry_run;
	} else if (verdict->limit >= 0) {
		verdict->retry_after_seconds = answer->states[verdict->limit].retry_after_seconds;
		verdict->refused = verdict->retry_after_seconds > 0 &&
				   !observes(answer, verdict->limit);
	}
}

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
	const struct limit_label *label = label_of(answer, limit);
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
	if (verdict->limit >= 0 && label_of(answer, verdict->limit)->kind == LIMIT_BLOCK)
		say_block(label_of(answer, verdict->limit), http);
	else if (verdict->limit >= 0)
		say_metered(answer, verdict->limit, http);
	if (verdict->refused && !isinf(verdict->retry_after_seconds))
		http_add_header(http, "Retry-After", "%" PRIu64,
				seconds_of(verdict->retry_after_seconds));
}
