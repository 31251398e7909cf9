// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit status: what runs, what it did, and whether something is wrong. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "capabilities.h"
#include "command.h"
#include "json.h"
#include "report.h"
#include "summary.h"
#include "target.h"

enum status_option {
	OPTION_CHECK,
	OPTION_QUEUES,
};

static const struct option_spec options[] = {
	[OPTION_CHECK] = {"check", NULL, "exit with 1 when something is wrong"},
	[OPTION_QUEUES] = {"queues", NULL, "how packets are spread over CPUs, so over queues"},
	{NULL, NULL, NULL},
};

static enum exit_status read_one(const struct invocation *invocation, const char *name,
				 struct summary *summary)
{
	struct target target;
	enum exit_status status = target_open(name, &target);
	int err;

	if (status != EXIT_DONE)
		return status;
	err = summary_read(&target.netdev, &target.running, summary);
	if (!err && invocation->values[OPTION_QUEUES])
		err = summary_read_queues(&target.running, summary);
	target_close(&target);
	if (!err)
		return EXIT_DONE;
	report_error("cannot read the counters of %s: %s", name, strerror(-err));
	return EXIT_FAILED;
}

/* What may end the limiter is a failure for whoever looks; the rest for who asks for a check. */
static enum exit_status judge(const struct invocation *invocation, const struct summary *summary)
{
	struct problems problems;

	if (!summary->pins_complete)
		return EXIT_FAILED;
	if (!invocation->values[OPTION_CHECK])
		return EXIT_DONE;
	summary_problems(summary, &problems);
	return problems.count ? EXIT_FAILED : EXIT_DONE;
}

static enum exit_status show_one(const struct invocation *invocation, const char *name)
{
	struct summary summary;
	enum exit_status status = read_one(invocation, name, &summary);

	if (status != EXIT_DONE)
		return status;
	if (invocation->json)
		json_print(summary_json(&summary));
	else
		summary_print(&summary);
	summary_free(&summary);
	return judge(invocation, &summary);
}

struct showing {
	const struct invocation *invocation;
	struct json_object *array; /* NULL: as text */
	enum exit_status worst;
	int shown;
};

static int show_attached(const struct netdev *netdev, int err, void *context)
{
	struct showing *showing = context;
	struct summary summary;
	enum exit_status status;

	if (err) {
		report_error("cannot read what is attached to %s: %s%s", netdev->name,
			     strerror(-err), permission_hint(err));
		showing->worst = EXIT_FAILED;
		return 0;
	}
	status = read_one(showing->invocation, netdev->name, &summary);
	if (status == EXIT_DONE) {
		if (showing->array)
			json_object_array_add(showing->array, summary_json(&summary));
		else
			summary_print(&summary);
		summary_free(&summary);
		showing->shown++;
		status = judge(showing->invocation, &summary);
	}
	showing->worst = exit_worse(showing->worst, status);
	return 0;
}

/* The attachment and what is left of it are two things; both are said. Whether there is any. */
static bool note_leftovers(unsigned int ifindex, const char *name)
{
	struct attachment there;
	char path[PIN_PATH_SIZE];

	if (!pins_exist(ifindex) || attachment_find(ifindex, &there) || there.ours ||
	    pins_directory(ifindex, path))
		return false;
	report_note("%s: nothing is limited, but pins are left over in %s; `xdp-limit detach %s` "
		    "removes them",
		    name, path, name);
	return true;
}

static int show_leftovers(unsigned int ifindex, void *context)
{
	struct showing *showing = context;
	char name[IF_NAMESIZE];

	if (pins_moved(ifindex)) {
		report_note("interface %u has moved to another network namespace; what limits it "
			    "there is pinned here",
			    ifindex);
		return 0;
	}
	if (pins_outlived(ifindex))
		report_note("interface %u, which was limited, is gone; its pins are left over, and "
			    "the next attach, or `xdp-limit detach --all`, removes them",
			    ifindex);
	else if (!if_indextoname(ifindex, name) || !note_leftovers(ifindex, name))
		return 0;
	showing->worst = EXIT_FAILED;
	return 0;
}

/* Nobody keeps a list of what should run, so none is wrong for who asks for a check, or without bpffs. */
static enum exit_status judge_none(const struct invocation *invocation)
{
	bool mounted = pins_have_bpffs();

	if (!invocation->json)
		puts("no limiter on any interface of this network namespace");
	if (!mounted)
		report_note("no bpffs is mounted on /sys/fs/bpf: a limiter whose pins were there "
			    "has ended with it");
	if (invocation->values[OPTION_CHECK])
		return EXIT_NOT_ATTACHED;
	return mounted ? EXIT_DONE : EXIT_FAILED;
}

static int look_at_all(struct showing *showing)
{
	int err = attached_visit(show_attached, showing);

	if (err) {
		report_error("cannot list the interfaces: %s", strerror(-err));
		return err;
	}
	err = pins_visit(show_leftovers, showing);
	if (err)
		report_error("cannot look into " PIN_ROOT ": %s%s", strerror(-err), root_hint(err));
	return err;
}

/* Every interface of the namespace with one of ours, and what is left of those that ended. */
static enum exit_status show_all(const struct invocation *invocation)
{
	struct showing showing = {
		.invocation = invocation,
		.array = invocation->json ? json_object_new_array() : NULL,
		.worst = EXIT_DONE,
	};
	int err = look_at_all(&showing);

	if (showing.array)
		json_print(showing.array);
	if (err)
		return EXIT_FAILED;
	if (!showing.shown && showing.worst == EXIT_DONE)
		return judge_none(invocation);
	return showing.worst;
}

static enum exit_status run(const struct invocation *invocation)
{
	const char *name = invocation->positionals[0];
	enum exit_status status;
	struct complaint why;
	struct netdev netdev;

	if (!name)
		return show_all(invocation);
	status = show_one(invocation, name);
	if (status == EXIT_NOT_ATTACHED && !netdev_find(name, &netdev, &why))
		note_leftovers(netdev.ifindex, netdev.name);
	return status;
}

const struct command command_status = {
	.name = "status",
	.arguments = "[IFACE] [--check] [--queues] [--json]",
	.summary = "what runs, its totals, reasons and table",
	.notes =
		"Without IFACE: all interfaces of this network namespace (an array with --json).\n"
		"packets seen = the sum over all reasons.\n"
		"Exit status 1 when pins are missing or left over of a limiter that has ended, and without\n"
		"IFACE when bpffs isn't mounted; 3 when there is no limiter on IFACE. --check looks for\n"
		"more, and without IFACE ends with 3 when there is none at all.\n"
		"A receive queue is served by one CPU at a time, so --queues counts by CPU: since the\n"
		"table was made, whatever was reset.",
	.positionals_min = 0,
	.positionals_max = 1,
	.reads = true,
	.options = options,
	.run = run,
};
