// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Entry: read the command line, enter the namespace, run the command; the only exit status. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include "command.h"
#include "kernel.h"
#include "netns.h"
#include "report.h"
#include "target.h"

static enum exit_status show_help(const struct invocation *invocation)
{
	if (invocation->command)
		help_command(invocation->command);
	else
		help_overview();
	return EXIT_DONE;
}

static enum exit_status show_version(void)
{
	printf("xdp-limit %s, libbpf %s\n", XDP_LIMIT_VERSION, kernel_libbpf_version() + 1);
	return EXIT_DONE;
}

/* All maps of sixteen interfaces are open at once, more than the usual 1024 files. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static enum exit_status run(const struct invocation *invocation)
{
	const char *netns = invocation->command->enters ? NULL : invocation->netns;
	struct complaint why;
	int err;

	report_set_verbose(invocation->verbose);
	raise_file_limit();
	kernel_log_start();
	err = netns ? netns_enter(netns, &why) : 0;
	if (err) {
		report_error("%s", why.text);
		return EXIT_FAILED;
	}
	err = invocation->command->anywhere ? 0 : pins_reachable(&why);
	if (err) {
		report_error("%s", why.text);
		return status_of_error(err);
	}
	return invocation->command->run(invocation);
}

static enum exit_status answer(const struct invocation *invocation)
{
	if (invocation->help)
		return show_help(invocation);
	if (invocation->version)
		return show_version();
	if (invocation->command)
		return run(invocation);
	report_error("no command; see: xdp-limit --help");
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	struct invocation invocation;
	enum exit_status status;

	if (invocation_parse(argc, argv, &invocation))
		return EXIT_USAGE;
	status = answer(&invocation);
	if (fflush(stdout) || ferror(stdout)) {
		report_error("cannot write the output: %s", strerror(errno));
		return EXIT_FAILED;
	}
	return status;
}
