// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit allow, deny, ban: the live lists. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "list_change.h"
#include "list_file.h"
#include "lock.h"
#include "prefix.h"
#include "report.h"
#include "target.h"

enum lists_option {
	OPTION_FOR,
	OPTION_FILE,
	OPTION_WAIT,
};

static const struct option_spec options[] = {
	[OPTION_FOR] = {"for", "TIME",
			"add: until then (10m, 2h, 30d); ends by itself in the kernel"},
	[OPTION_FILE] = {"file", "FILE", "add, del: one address or prefix a line, # for comments"},
	[OPTION_WAIT] = {"wait", "TIME", "for another command to end"},
	{NULL, NULL, NULL},
};

static int take_prefixes(const struct invocation *invocation, struct list_change *change,
			 struct complaint *why)
{
	const char *file = invocation->values[OPTION_FILE];
	struct policy_prefix prefix;
	int err = 0;

	for (int i = 2; i < invocation->positional_count && !err; i++) {
		err = parse_prefix(invocation->positionals[i], &prefix, why);
		err = err ?: policy_add_prefix(&change->prefixes, &prefix);
	}
	if (!err && file)
		err = list_file_read(file, &change->prefixes, why);
	if (!err && !change->prefixes.count)
		err = file ? complain(why, -EINVAL, "nothing to change: no address in %s", file)
			   : complain(why, -EINVAL,
				      "nothing to change: give addresses, prefixes or --file");
	return err;
}

static enum exit_status add(const struct target *target, const struct list_change *change)
{
	char time[UNITS_TEXT_SIZE];
	struct complaint why;

	if (list_change_add(target, change, &why)) {
		report_error("%s", why.text);
		return EXIT_FAILED;
	}
	format_time(change->for_ns, time, sizeof(time));
	printf("%s: %zu on the %s list%s%s\n", target->netdev.name, change->prefixes.count,
	       change->verb, change->for_ns ? " for " : "", change->for_ns ? time : "");
	list_change_remark(target, change, report_warning, report_note);
	return EXIT_DONE;
}

static enum exit_status take_off(const struct target *target, const struct list_change *change)
{
	struct complaint why;
	int64_t deleted = list_change_delete(target, change, &why);

	if (deleted < 0) {
		report_error("%s", why.text);
		return EXIT_FAILED;
	}
	printf("%s: %" PRId64 " off the %s list\n", target->netdev.name, deleted, change->verb);
	if ((uint64_t)deleted < change->prefixes.count)
		report_note("%" PRId64 " of them were not on it (the policy's own lists change "
			    "with `apply`)",
			    (int64_t)change->prefixes.count - deleted);
	return EXIT_DONE;
}

/* ---- list ---- */

/* "29d 23h 59m 59s" */
static void format_left(uint64_t seconds, char *text, size_t size)
{
	static const struct {
		uint64_t seconds;
		char letter;
	} units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
	int length = 0;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		uint64_t count = seconds / units[i].seconds;

		seconds %= units[i].seconds;
		if (count || length || units[i].seconds == 1)
			length += snprintf(text + length, size - length, "%s%" PRIu64 "%c",
					   length ? " " : "", count, units[i].letter);
	}
}

static int print_entry(const struct policy_prefix *prefix, uint64_t until_ns, void *context)
{
	const uint64_t *now = context;
	char text[ADDRESS_TEXT_SIZE], left[UNITS_TEXT_SIZE] = "";

	format_prefix(prefix, text);
	if (until_ns != FOREVER)
		format_left((until_ns - *now) / NS_PER_SECOND, left, sizeof(left));
	printf("%s%s%s\n", text, *left ? "  for another " : "", left);
	return 0;
}

static enum exit_status print_list(const struct target *target, enum live_list list, bool json)
{
	uint64_t now = boot_clock_ns();
	int err = json ? live_list_json(&target->running, list, stdout)
		       : live_visit(&target->running, list, print_entry, &now);

	if (!err)
		return EXIT_DONE;
	report_error("cannot read the live lists of %s: %s", target->netdev.name, strerror(-err));
	return EXIT_FAILED;
}

/* ---- the three commands ---- */

static int take_options(const struct invocation *invocation, bool adds, struct list_change *change,
			uint64_t *wait_ns, struct complaint *why)
{
	const char *time = invocation->values[OPTION_FOR];
	int err = parse_wait(invocation->values[OPTION_WAIT], wait_ns, why);

	if (err || !time)
		return err;
	if (!adds)
		return complain(why, -EINVAL, "--for goes with add");
	return parse_list_time(time, &change->for_ns, why);
}

static enum exit_status change(const struct invocation *invocation, struct list_change *wanted)
{
	bool adds = !strcmp(invocation->positionals[1], "add");
	enum exit_status status;
	struct complaint why;
	struct target target;
	uint64_t wait_ns;
	int err = take_prefixes(invocation, wanted, &why);

	err = err ?: take_options(invocation, adds, wanted, &wait_ns, &why);
	if (err) {
		report_error("%s", err == -ENOMEM ? strerror(ENOMEM) : why.text);
		return EXIT_USAGE;
	}
	status = target_open_locked(invocation->positionals[0], wait_ns, &target);
	if (status != EXIT_DONE)
		return status;
	status = adds ? add(&target, wanted) : take_off(&target, wanted);
	target_close(&target);
	return status;
}

/* Who gives an address would take the whole list for a yes. */
static bool asks_for_more(const struct invocation *invocation)
{
	return invocation->positional_count > 2 || invocation->values[OPTION_FILE] ||
	       invocation->values[OPTION_FOR];
}

static enum exit_status list(const struct invocation *invocation, enum live_list live_list)
{
	struct target target;
	enum exit_status status;

	if (asks_for_more(invocation)) {
		report_error("list takes no address, --file or --for; about one address: xdp-limit "
			     "get %s ADDRESS",
			     invocation->positionals[0]);
		return EXIT_USAGE;
	}
	status = target_open(invocation->positionals[0], &target);
	if (status != EXIT_DONE)
		return status;
	status = print_list(&target, live_list, invocation->json);
	target_close(&target);
	return status;
}

static enum exit_status run(const struct invocation *invocation, enum live_list live_list,
			    const char *verb)
{
	const char *action = invocation->positionals[1];
	struct list_change wanted = {.list = live_list, .verb = verb};
	enum exit_status status;

	if (!strcmp(action, "list"))
		return list(invocation, live_list);
	if (strcmp(action, "add") && strcmp(action, "del")) {
		report_error("'%s' is not known; write add, del or list", action);
		return EXIT_USAGE;
	}
	status = change(invocation, &wanted);
	free(wanted.prefixes.prefixes);
	return status;
}

static const char notes[] =
	"A packet meets a ban first, then the longest prefix of allow and deny (at a tie it is denied),\n"
	"then the limits. What is added here is there at once, outlives apply, and is no part of the\n"
	"policy file.\n\n"
	"  xdp-limit ban eth0 add 203.0.113.66 --for 10m\n"
	"  xdp-limit deny eth0 add --file blocklist.txt\n"
	"  xdp-limit allow eth0 list";

#define LIST_COMMAND(verb, LIST, what)                                                    \
	static enum exit_status run_##verb(const struct invocation *invocation)           \
	{                                                                                 \
		return run(invocation, LIST, #verb);                                      \
	}                                                                                 \
	const struct command command_##verb = {                                           \
		.name = #verb,                                                            \
		.arguments = "IFACE add|del|list [PREFIX...] [--for TIME] [--file FILE]", \
		.summary = what,                                                          \
		.notes = notes,                                                           \
		.positionals_min = 2,                                                     \
		.positionals_max = INT_MAX,                                               \
		.reads = true,                                                            \
		.options = options,                                                       \
		.run = run_##verb,                                                        \
	}

LIST_COMMAND(allow, LIVE_ALLOW, "sources that no limit applies to");
LIST_COMMAND(deny, LIVE_DENY, "sources that are dropped");
LIST_COMMAND(ban, LIVE_BAN, "sources that are dropped before any other list is asked");
