// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which of an answer's limits speaks, and what it says; pure. */
#include "verdict.h"

#include <math.h>

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
	return answer_label(answer, limit)->kind != LIMIT_BLOCK || !answer->config->match_fields;
}

static bool may_speak(const struct answer *answer, int limit, int only)
{
	if (answer_label(answer, limit)->kind == LIMIT_UNLIMITED ||
	    !answer_is_of_address(answer, limit))
		return false;
	if (only >= 0)
		return limit == only;
	return is_sure(answer, limit) && !(answer->config->observed_limits >> limit & 1);
}

static double share_left(const struct answer *answer, int limit)
{
	uint64_t burst = answer_label(answer, limit)->burst;

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
