// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit confirm: keep what attach or apply put on trial. */
#include <stdio.h>
#include <string.h>
#include "command.h"
#include "report.h"
#include "target.h"

static enum exit_status confirm(const struct target *target)
{
	const char *name = target->netdev.name;
	int err;

	if (trial_state(&target->running) != TRIAL_RUNNING) {
		report_error("nothing is on trial on %s", name);
		return EXIT_FAILED;
	}
	err = trial_confirm(&target->running);
	if (err) {
		report_error("cannot confirm the policy of %s: %s", name, strerror(-err));
		return EXIT_FAILED;
	}
	printf("%s: confirmed\n", name);
	return EXIT_DONE;
}

static enum exit_status run(const struct invocation *invocation)
{
	struct target target;
	enum exit_status status = target_open_locked(invocation->positionals[0], 0, &target);

	if (status != EXIT_DONE)
		return status;
	status = confirm(&target);
	target_close(&target);
	return status;
}

static const struct option_spec options[] = {{NULL, NULL, NULL}};

const struct command command_confirm = {
	.name = "confirm",
	.arguments = "IFACE",
	.summary = "keep what attach or apply put on trial with --confirm",
	.notes =
		"Without it the former state is back when the time is over: in the kernel, also when the\n"
		"command was killed and the line is dead. After a first attach that is \"everything passes\".",
	.positionals_min = 1,
	.positionals_max = 1,
	.options = options,
	.run = run,
};
