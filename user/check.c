// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit check: whether a policy file is right, without touching anything. */
#include <stdio.h>
#include "command.h"
#include "policy_load.h"

static enum exit_status run(const struct invocation *invocation)
{
	const char *path = invocation->positionals[0];
	struct policy policy;
	enum exit_status status = load_policy(path, &policy);

	if (status == EXIT_DONE)
		printf("%s: ok, %u limit%s\n", path, policy.limit_count,
		       policy.limit_count == 1 ? "" : "s");
	policy_free(&policy);
	return status;
}

static const struct option_spec options[] = {{NULL, NULL, NULL}};

const struct command command_check = {
	.name = "check",
	.arguments = "FILE",
	.summary = "validate a policy file",
	.notes =
		"Every error is told as FILE:LINE:COLUMN: text; the exit status is 2 then. \"-\" is\n"
		"standard input. Needs no root, and no interface.",
	.positionals_min = 1,
	.positionals_max = 1,
	.anywhere = true,
	.options = options,
	.run = run,
};
