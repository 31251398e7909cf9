// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit sources: the buckets, the worst first. */
#include <inttypes.h>
#include <stdio.h>
#include "bucket_name.h"
#include "command.h"
#include "report.h"
#include "source_list.h"
#include "target.h"

enum sources_option {
	OPTION_TOP,
	OPTION_BY,
	OPTION_LIMIT,
};

// clang-format off
static const struct option_spec options[] = {
	[OPTION_TOP] = {"top", "N", "only the first N"},
	[OPTION_BY] = {"by", "dropped|passed|rate",
		"dropped (default), passed, or rate (packets per second of its life)"},
	[OPTION_LIMIT] = {"limit", "NAME", "only buckets of this limit"},
	{NULL, NULL, NULL},
};
// clang-format on

static void print_text(const struct source_list *list)
{
	const struct running *running = list->running;

	printf("%-28s %-12s %14s %14s %14s\n", "source", "limit", "passed", "dropped", "remaining");
	for (size_t i = 0; i < list->selection.count; i++) {
		const struct bucket *bucket = &list->selection.buckets[i];
		char source[BUCKET_NAME_SIZE], passed[COUNT_TEXT_SIZE];

		bucket_name(running, bucket, source);
		format_passed(running, bucket->tally.passed_packets, "-", passed);
		printf("%-28s %-12s %14s %14llu %14" PRIu64 "\n", source,
		       running->config.labels[bucket->limit].name, passed,
		       bucket->tally.dropped_packets, source_remaining(list, bucket));
	}
}

static int take_request(const struct invocation *invocation, struct address *address,
			struct source_request *request, struct complaint *why)
{
	const char *text = invocation->positionals[1], *top = invocation->values[OPTION_TOP];
	int err = text ? parse_address(text, address, why) : 0;

	*request = (struct source_request){
		.address = text ? address : NULL,
		.by = invocation->values[OPTION_BY],
		.limit = invocation->values[OPTION_LIMIT],
	};
	if (!err && top)
		err = parse_count(top, "--top", 1, SOURCES_MAX, &request->top, why);
	return err;
}

static enum exit_status show(const struct invocation *invocation, const struct target *target)
{
	struct source_request request;
	struct source_list list;
	struct address address;
	struct complaint why;
	int err = take_request(invocation, &address, &request, &why);

	err = err ?: source_list_read(&target->running, &request, &list, &why);
	if (err) {
		report_error("%s", why.text);
		return status_of_error(err);
	}
	if (invocation->json)
		source_list_json(&list, stdout);
	else
		print_text(&list);
	source_list_free(&list);
	return EXIT_DONE;
}

static enum exit_status run(const struct invocation *invocation)
{
	return target_run(invocation, show);
}

const struct command command_sources = {
	.name = "sources",
	.arguments = "IFACE [ADDRESS] [--top N] [--by ORDER] [--limit NAME] [--json]",
	.summary = "the sources with buckets, the most dropped first",
	.notes =
		"Of a flat table: the sources that have lost packets. What passed is not counted by source.",
	.positionals_min = 1,
	.positionals_max = 2,
	.reads = true,
	.options = options,
	.run = run,
};
