// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit show: the running policy, in the syntax that apply reads. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "json.h"
#include "report.h"
#include "target.h"

/* The table as it is: what the policy left to it, too. A comment, so that apply reads it all. */
static void print_text(const struct target *target, const char *text)
{
	const struct table_identity *table = &target->running.table;

	printf("# %s: %s mode, a table of %" PRIu32
	       " entries, sources are IPv4 /%u and IPv6 /%u%s%s\n",
	       target->netdev.name, mode_name(target->running.attachment.mode), table->capacity,
	       table->ipv4_prefix, table->ipv6_prefix, table->shared_name[0] ? ", shared as " : "",
	       table->shared_name);
	fputs(text, stdout);
}

static void print_json(const struct target *target, const char *text)
{
	struct json_object *object = json_object_new_object();

	json_put_text(object, "interface", target->netdev.name);
	json_put_text(object, "policy", text);
	json_print(object);
}

static enum exit_status show(const struct invocation *invocation, const struct target *target)
{
	char *text = NULL;
	int err = read_policy_text(&target->running, &text);

	if (err) {
		report_error("cannot read the policy of %s: %s", target->netdev.name,
			     strerror(-err));
		return EXIT_FAILED;
	}
	if (invocation->json)
		print_json(target, text);
	else
		print_text(target, text);
	free(text);
	return EXIT_DONE;
}

static enum exit_status run(const struct invocation *invocation)
{
	return target_run(invocation, show);
}

static const struct option_spec options[] = {{NULL, NULL, NULL}};

const struct command command_show = {
	.name = "show",
	.arguments = "IFACE [--json]",
	.summary = "the running policy, in the syntax that apply reads",
	.notes =
		"What was left out in the file or on the command line is written out, except for the\n"
		"shape of the table, which a policy takes over from the one that runs.\n\n"
		"  xdp-limit show eth0 > eth0.yaml",
	.positionals_min = 1,
	.positionals_max = 1,
	.reads = true,
	.options = options,
	.run = run,
};
