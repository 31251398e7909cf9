// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit status: what runs, what it did, and whether something is wrong. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "command.h"
#include "json.h"
#include "report.h"
#include "summary.h"
#include "target.h"

enum status_option {
	OPTION_CHECK,
};

static const struct option_spec options[] = {
	[OPTION_CHECK] = {"check", NULL, "exit with 1 when something is wrong"},
	{NULL, NULL, NULL},
};

static uint64_t packets_seen(const struct cpu_counters *counters)
{
	uint64_t sum = 0;

	for (int i = 0; i < REASON_SLOTS; i++)
		sum += counters->reasons[i].passed.packets + counters->reasons[i].dropped.packets +
		       counters->reasons[i].would_drop.packets;
	return sum;
}

static int read_summary(const struct target *target, struct summary *summary)
{
	const struct running *running = &target->running;
	struct cpu_counters raw;
	int64_t used = count_entries(running);
	uint64_t now = time(NULL);
	int err = used < 0 ? used
			   : read_counters(running, &summary->counters) ?:
			     read_raw_counters(running, &raw) ?:
			     read_deleted(running, &summary->deleted);

	if (err)
		return err;
	summary->netdev = target->netdev;
	summary->attachment = running->attachment;
	summary->config = running->config;
	summary->table = running->table;
	summary->used = used;
	summary->seen_since_attach = packets_seen(&raw);
	summary->device_packets = target->netdev.rx_packets - running->table.device_packets;
	summary->attached_seconds = now - running->config.attached_ns / NS_PER_SECOND;
	summary->trial_left_ns = trial_left_ns(running);
	summary->gate_closed = gate_is_closed(running);
	summary->pins_complete = pins_complete(target->netdev.ifindex);
	return 0;
}

static enum exit_status read_one(const char *name, struct summary *summary)
{
	struct target target;
	enum exit_status status = target_open(name, &target);
	int err;

	if (status != EXIT_DONE)
		return status;
	err = read_summary(&target, summary);
	target_close(&target);
	if (!err)
		return EXIT_DONE;
	report_error("cannot read the counters of %s: %s", name, strerror(-err));
	return EXIT_FAILED;
}

static enum exit_status judge(const struct invocation *invocation, const struct summary *summary)
{
	struct problems problems;

	if (!invocation->values[OPTION_CHECK])
		return EXIT_DONE;
	summary_problems(summary, &problems);
	return problems.count ? EXIT_FAILED : EXIT_DONE;
}

static enum exit_status show_one(const struct invocation *invocation, const char *name)
{
	struct summary summary;
	enum exit_status status = read_one(name, &summary);

	if (status != EXIT_DONE)
		return status;
	if (invocation->json)
		json_print(summary_json(&summary));
	else
		summary_print(&summary);
	return judge(invocation, &summary);
}

/* Every interface of the namespace with one of ours; none is not an error. */
static enum exit_status show_all(const struct invocation *invocation)
{
	struct json_object *array = invocation->json ? json_object_new_array() : NULL;
	enum exit_status worst = EXIT_DONE, status;
	struct netdev *list = NULL;
	int count = netdev_list(&list);
	int shown = 0;

	for (int i = 0; i < count; i++) {
		struct attachment there;
		struct summary summary;
		int err = attachment_find(list[i].ifindex, &there);

		if (err && err != -ENODEV) {
			report_error("cannot read what is attached to %s: %s%s", list[i].name,
				     strerror(-err), permission_hint(err));
			worst = EXIT_FAILED;
		}
		if (err || !there.ours)
			continue;
		status = read_one(list[i].name, &summary);
		if (status == EXIT_DONE) {
			if (array)
				json_object_array_add(array, summary_json(&summary));
			else
				summary_print(&summary);
			shown++;
			status = judge(invocation, &summary);
		}
		if (status != EXIT_DONE)
			worst = status;
	}
	free(list);
	if (array)
		json_print(array);
	else if (!shown && worst == EXIT_DONE)
		puts("no limiter on any interface of this network namespace");
	return count < 0 ? EXIT_FAILED : worst;
}

/* The attachment and what is left of it are two things; both are said. */
static void note_leftovers(const char *name)
{
	char path[PIN_PATH_SIZE];
	struct complaint why;
	struct netdev netdev;

	if (!netdev_find(name, &netdev, &why) && pins_exist(netdev.ifindex) &&
	    !pins_directory(netdev.ifindex, path))
		report_note("pins are left over in %s; `xdp-limit detach %s` removes them", path,
			    name);
}

static enum exit_status run(const struct invocation *invocation)
{
	const char *name = invocation->positionals[0];
	enum exit_status status;

	if (!name)
		return show_all(invocation);
	status = show_one(invocation, name);
	if (status == EXIT_NOT_ATTACHED)
		note_leftovers(name);
	return status;
}

const struct command command_status = {
	.name = "status",
	.arguments = "[IFACE] [--check] [--json]",
	.summary = "what runs, its totals, reasons and table",
	.notes = "Without IFACE: all interfaces of this network namespace (an array with --json).\n"
		 "packets seen = the sum over all reasons.",
	.positionals_min = 0,
	.positionals_max = 1,
	.reads = true,
	.options = options,
	.run = run,
};
