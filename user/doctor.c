// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit doctor: placeholder to be replaced within this change. */
#include "command.h"
static enum exit_status run(const struct invocation *invocation)
{
	(void)invocation;
	return EXIT_UNSUPPORTED;
}
const struct command command_doctor = {.name = "doctor", .arguments = "[IFACE]", .summary = "one screen: this machine, what to fix", .positionals_max = 1, .reads = true, .run = run};
