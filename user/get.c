// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit get: what would happen to an address now. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "answer.h"
#include "command.h"
#include "json.h"
#include "report.h"
#include "summary.h"
#include "target.h"

static void print_metered(const struct answer *answer, unsigned int index)
{
	const struct limit_label *label = &answer->config->labels[answer_place(answer, index)];
	const struct limit_state *state = &answer->states[index];
	const char *unit = answer->config->limits[index].unit == UNIT_BYTES ? "bytes" : "packets";

	printf("    %" PRIu64 " of %llu %s remaining", state->remaining, label->burst, unit);
	if (isinf(state->retry_after_seconds))
		printf(", nothing passes");
	else if (state->retry_after_seconds > 0)
		printf(", nothing passes for %.3f s", state->retry_after_seconds);
	printf(", full again in %.3f s\n", state->reset_seconds);
}

static void print_limit(const struct answer *answer, unsigned int index)
{
	const struct limit_label *label = &answer->config->labels[answer_place(answer, index)];
	const struct rate rate = {label->kind, answer->config->limits[index].unit, label->amount,
				  label->per_ns};
	char text[UNITS_TEXT_SIZE];

	format_rate(&rate, text, sizeof(text));
	printf("  %s: %s\n", label->name, text);
	if (!answer_is_of_address(answer, index)) {
		printf("    counted per %s: see `xdp-limit sources`\n", answer_per(answer, index));
		return;
	}
	if (label->kind == LIMIT_METERED)
		print_metered(answer, index);
	if (answer_counts_passed(answer, index))
		printf("    passed %llu, dropped %llu packets\n",
		       answer->tallies[index].passed_packets,
		       answer->tallies[index].dropped_packets);
	else
		printf("    dropped %llu packets\n", answer->tallies[index].dropped_packets);
}

static void print_text(const struct answer *answer)
{
	printf("%s%s\n", answer->source,
	       answer->has_bucket     ? ""
	       : answer->config->flat ? ": no bucket; it would take the slot that owes least"
				      : ": no bucket, as good as a full one");
	if (answer->ban_seconds < 0)
		puts("  banned for ever");
	else if (answer->ban_seconds > 0)
		printf("  banned for %.0f s more\n", answer->ban_seconds);
	if (answer->listed != REASON_NONE && answer->listed != REASON_BANNED)
		printf("  %s: %s\n", reason_name(answer->listed), reason_text(answer->listed));
	if (answer->tier)
		printf("  tier %s\n", answer_tier(answer));
	if (answer->guard_seconds > 0)
		printf("  SSH guard: exempt for %.0f s more\n", answer->guard_seconds);
	for (uint32_t i = 0; i < answer->config->limit_count; i++)
		print_limit(answer, i);
}

static enum exit_status get(const struct invocation *invocation, const struct target *target)
{
	struct address address;
	struct complaint why;
	struct answer answer;
	int err = parse_address(invocation->positionals[1], &address, &why);

	if (err) {
		report_error("%s", why.text);
		return EXIT_USAGE;
	}
	err = answer_read(&target->running, &address, &answer);
	if (err) {
		report_error("cannot read the bucket of %s on %s: %s", invocation->positionals[1],
			     target->netdev.name, strerror(-err));
		return EXIT_FAILED;
	}
	if (invocation->json)
		json_print(answer_json(&answer));
	else
		print_text(&answer);
	return EXIT_DONE;
}

static enum exit_status run(const struct invocation *invocation)
{
	return target_run(invocation, get);
}

static const struct option_spec options[] = {{NULL, NULL, NULL}};

const struct command command_get = {
	.name = "get",
	.arguments = "IFACE ADDRESS [--json]",
	.summary = "what would happen to an address now",
	.notes =
		"remaining is what would pass at once: packets, or the largest frame in bytes. "
		"Retry-after\nis the time until the smallest packet (60 bytes on a byte limit) fits. A source "
		"that is denied, or\nbanned for ever, has none: null in JSON.",
	.positionals_min = 2,
	.positionals_max = 2,
	.reads = true,
	.options = options,
	.run = run,
};
