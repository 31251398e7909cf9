// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit reset: fresh buckets, or totals from zero. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "command.h"
#include "report.h"
#include "target.h"

enum reset_option {
	OPTION_COUNTERS,
};

static const struct option_spec options[] = {
	[OPTION_COUNTERS] = {"counters", NULL, "totals start from zero too"},
	{NULL, NULL, NULL},
};

static enum exit_status reset_one(const struct target *target, const char *text)
{
	const struct table_identity *table = &target->running.table;
	char source_text[ADDRESS_TEXT_SIZE];
	struct address source;
	struct complaint why;
	int err = parse_address(text, &source, &why);

	if (err) {
		report_error("%s", why.text);
		return EXIT_USAGE;
	}
	address_source(&source, table->ipv4_prefix, table->ipv6_prefix);
	format_source(&source, table->ipv4_prefix, table->ipv6_prefix, source_text);
	err = reset_source(&target->running, &source);
	if (err && err != -ENOENT) {
		report_error("cannot reset %s: %s", source_text, strerror(-err));
		return EXIT_FAILED;
	}
	printf("%s: %s\n", source_text, err ? "had no bucket" : "fresh bucket");
	return EXIT_DONE;
}

static enum exit_status reset_all(const struct target *target)
{
	int64_t count = reset_sources(&target->running);

	if (count < 0) {
		report_error("cannot reset the buckets of %s: %s", target->netdev.name,
			     strerror(-count));
		return EXIT_FAILED;
	}
	printf("%s: %" PRId64 " bucket%s forgotten\n", target->netdev.name, count,
	       count == 1 ? "" : "s");
	return EXIT_DONE;
}

static enum exit_status reset_totals(const struct target *target)
{
	int err = reset_counters(&target->running);

	if (!err)
		return EXIT_DONE;
	report_error("cannot reset the counters of %s: %s", target->netdev.name, strerror(-err));
	return EXIT_FAILED;
}

static enum exit_status reset(const struct invocation *invocation, const struct target *target)
{
	const char *address = invocation->positionals[1];
	enum exit_status status = address ? reset_one(target, address) : reset_all(target);

	if (status == EXIT_DONE && invocation->values[OPTION_COUNTERS])
		status = reset_totals(target);
	return status;
}

static enum exit_status run(const struct invocation *invocation)
{
	struct target target;
	enum exit_status status = target_open_locked(invocation->positionals[0], 0, &target);

	if (status != EXIT_DONE)
		return status;
	status = reset(invocation, &target);
	target_close(&target);
	return status;
}

const struct command command_reset = {
	.name = "reset",
	.arguments = "IFACE [ADDRESS] [--counters]",
	.summary = "give a source, or all, a fresh bucket",
	.positionals_min = 1,
	.positionals_max = 2,
	.options = options,
	.run = run,
};
