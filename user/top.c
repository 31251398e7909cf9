// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit top: rates per second, as they come. */
#include "top.h"

#include <errno.h>
#include <string.h>
#include "bucket_name.h"
#include "command.h"
#include "prefix.h"
#include "report.h"

enum top_option {
	OPTION_INTERVAL,
	OPTION_BY,
	OPTION_LIMIT,
	OPTION_PREFIX,
	OPTION_BATCH,
	OPTION_ONCE,
	OPTION_COUNT,
	OPTION_TOP,
};

static const struct option_spec options[] = {
	[OPTION_INTERVAL] = {"interval", "TIME", "from one reading to the next (1s)"},
	[OPTION_BY] = {"by", "dropped|passed|bytes|peak-packets|peak-bytes", "the first order"},
	[OPTION_LIMIT] = {"limit", "NAME", "only buckets of this limit"},
	[OPTION_PREFIX] = {"prefix", "PREFIX", "only sources in it"},
	[OPTION_BATCH] = {"batch", NULL, "plain text, block after block, without a terminal"},
	[OPTION_ONCE] = {"once", NULL, "--batch --count 1"},
	[OPTION_COUNT] = {"count", "N", "--batch, and end after N blocks"},
	[OPTION_TOP] = {"top", "N", "sources of a block (20)"},
	{NULL, NULL, NULL},
};

#define INTERVAL_MIN_NS (NS_PER_SECOND / 10)
#define INTERVAL_MAX_NS (3600 * NS_PER_SECOND)
#define BLOCK_ROWS	20
#define BLOCK_ROWS_MAX	100000
#define COUNT_MAX	1000000000

static int take_interval(const char *text, uint64_t *ns, struct complaint *why)
{
	struct complaint detail;

	*ns = NS_PER_SECOND;
	if (!text)
		return 0;
	if (parse_time(text, ns, &detail))
		return complain(why, -EINVAL, "--interval: %s", detail.text);
	if (*ns < INTERVAL_MIN_NS || *ns > INTERVAL_MAX_NS)
		return complain(why, -EINVAL, "--interval %s: write 100ms to 1h", text);
	return 0;
}

static int take_order(const char *text, struct top_question *question, struct complaint *why)
{
	int order = text ? top_order_find(text) : TOP_BY_DROPPED;

	if (order < 0)
		return complain(
			why, -EINVAL,
			"--by '%s' is not known; write dropped, passed, bytes, peak-packets or "
			"peak-bytes",
			text);
	question->order = order;
	return 0;
}

static int take_prefix(const char *text, struct top_question *question, struct complaint *why)
{
	question->filtered = text;
	return text ? parse_prefix(text, &question->prefix, why) : 0;
}

static bool is_batch(const struct invocation *invocation)
{
	return invocation->json || invocation->values[OPTION_BATCH] ||
	       invocation->values[OPTION_ONCE] || invocation->values[OPTION_COUNT];
}

static int take_blocks(const struct invocation *invocation, struct top_request *request,
		       struct complaint *why)
{
	const char *count = invocation->values[OPTION_COUNT], *top = invocation->values[OPTION_TOP];
	int err = 0;

	request->json = invocation->json;
	request->top = BLOCK_ROWS;
	if (invocation->values[OPTION_ONCE])
		request->count = 1;
	if (count && request->count)
		return complain(why, -EINVAL, "--once is --count 1; give one of them");
	if (top && !is_batch(invocation))
		return complain(why, -EINVAL, "--top goes with --batch");
	if (count)
		err = parse_count(count, "--count", 1, COUNT_MAX, &request->count, why);
	if (!err && top)
		err = parse_count(top, "--top", 1, BLOCK_ROWS_MAX, &request->top, why);
	return err;
}

static int take_options(const struct invocation *invocation, struct top_request *request,
			uint64_t *interval_ns, struct complaint *why)
{
	return take_interval(invocation->values[OPTION_INTERVAL], interval_ns, why)
		       ?: take_order(invocation->values[OPTION_BY], &request->question, why)
		       ?: take_prefix(invocation->values[OPTION_PREFIX], &request->question, why)
		       ?: take_blocks(invocation, request, why);
}

enum exit_status top_report(const char *interface, int err)
{
	if (!err)
		return EXIT_DONE;
	if (err == -ENOENT) {
		report_error("the limiter on %s is gone", interface);
		return EXIT_NOT_ATTACHED;
	}
	report_error("cannot read the counters of %s: %s", interface, strerror(-err));
	return EXIT_FAILED;
}

static enum exit_status show(const struct invocation *invocation, struct top_sampler *sampler,
			     struct top_request *request)
{
	struct complaint why;

	if (limit_by_name(&sampler->target.running.config, invocation->values[OPTION_LIMIT],
			  &request->question.limit, &why)) {
		report_error("%s", why.text);
		return EXIT_USAGE;
	}
	return is_batch(invocation) ? top_batch(sampler, request)
				    : top_live(sampler, &request->question);
}

static enum exit_status run(const struct invocation *invocation)
{
	struct top_request request = {0};
	struct top_sampler sampler;
	enum exit_status status;
	struct complaint why;
	uint64_t interval_ns;

	if (take_options(invocation, &request, &interval_ns, &why)) {
		report_error("%s", why.text);
		return EXIT_USAGE;
	}
	status = top_sampler_open(&sampler, invocation->positionals[0], interval_ns);
	if (status != EXIT_DONE)
		return status;
	status = show(invocation, &sampler, &request);
	top_sampler_close(&sampler);
	return status;
}

const struct command command_top = {
	.name = "top",
	.arguments =
		"IFACE [--interval TIME] [--by ORDER] [--limit NAME] [--prefix PREFIX] [--batch] "
		"[--json]",
	.summary = "live view: rates of the interface, its limits and its sources",
	.notes =
		"Keys are at the bottom of the screen; ? explains them. It takes at most 4 % of one CPU "
		"for\nreading buckets: a table too large for that is read less often, and the first "
		"line says so.\n--json prints a line for each reading. Of a flat table only sources "
		"that lose packets are known.",
	.positionals_min = 1,
	.positionals_max = 1,
	.reads = true,
	.options = options,
	.run = run,
};
