// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whether the packets that were measured ended as the column promises: by the limiter's counters. */
#include "mix.h"

#include <err.h>
#include <stdlib.h>

static const struct {
	enum reason reason;
	const char *text;
} mixes[] = {
	[MIX_DROPPED] = {REASON_OVER_LIMIT, "over the limit"},
	[MIX_PASSED] = {REASON_CONFORMING, "within the limit"},
	[MIX_CLOSED] = {REASON_GATE_CLOSED, "new before a closed gate"},
	[MIX_DENIED] = {REASON_DENIED, "denied"},
	[MIX_MALFORMED] = {REASON_MALFORMED, "malformed"},
};

static uint64_t of_reason(const struct counters *counters, enum reason reason)
{
	const struct reason_count *count = &counters->reasons[reason];

	return count->passed.packets + count->dropped.packets + count->would_drop.packets;
}

static uint64_t of_all(const struct counters *counters)
{
	uint64_t sum = 0;

	for (int reason = 0; reason < REASON_COUNT; reason++)
		sum += of_reason(counters, reason);
	return sum;
}

void mix_start(const struct bench *bench, struct counters *before)
{
	if (read_counters(&bench->running, before))
		errx(1, "cannot read the counters");
}

void mix_check(const struct bench *bench, const struct counters *before, enum mix mix,
	       const char *what, bool anyhow)
{
	struct counters after;
	double all, wanted;

	if (mix == MIX_ANY)
		return;
	mix_start(bench, &after);
	all = (double)(of_all(&after) - of_all(before));
	wanted = (double)(of_reason(&after, mixes[mix].reason) -
			  of_reason(before, mixes[mix].reason));
	if (wanted >= all * MIX_LEAST && all > 0)
		return;
	warnx("%s: only %.0f of %.0f packets were %s", what, wanted, all, mixes[mix].text);
	if (!anyhow)
		exit(1);
}
