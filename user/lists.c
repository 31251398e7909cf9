// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit allow, deny, ban: the live lists. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "json.h"
#include "list_file.h"
#include "lock.h"
#include "netroute.h"
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

/* One call, parsed. */
struct request {
	enum live_list list;
	const char *verb; /* what the list is called: "allow" */
	struct policy_prefixes prefixes;
	uint64_t for_ns; /* 0: for ever */
};

static int take_prefixes(const struct invocation *invocation, struct request *request,
			 struct complaint *why)
{
	const char *file = invocation->values[OPTION_FILE];
	struct policy_prefix prefix;
	int err = 0;

	for (int i = 2; i < invocation->positional_count && !err; i++) {
		err = parse_prefix(invocation->positionals[i], &prefix, why);
		err = err ?: policy_add_prefix(&request->prefixes, &prefix);
	}
	if (!err && file)
		err = list_file_read(file, &request->prefixes, why);
	if (!err && !request->prefixes.count)
		err = complain(why, -EINVAL,
			       "nothing to change: give addresses, prefixes or --file");
	return err;
}

/* A longer entry, of the policy's lists too, may stand against what was added. */
static void leave_out_spared(const struct target *target, enum live_list list,
			     struct specials *specials)
{
	size_t left = 0;

	for (size_t i = 0; i < specials->count; i++) {
		enum reason reason = ask_lists(&target->running, &specials->list[i].address);

		if ((reason == REASON_ALLOWED) == (list == LIVE_ALLOW))
			specials->list[left++] = specials->list[i];
	}
	specials->count = left;
}

static void warn_all(const struct target *target, const struct request *request)
{
	const char *does = request->list == LIVE_ALLOW ? "exempts all of" : "drops all of";

	for (size_t i = 0; i < request->prefixes.count; i++) {
		const struct policy_prefix *prefix = &request->prefixes.prefixes[i];
		char text[ADDRESS_TEXT_SIZE];

		if (prefix->length)
			continue;
		format_prefix(prefix, text);
		report_warning("%s on the %s list %s %s; undo: xdp-limit %s %s del %s", text,
			       request->verb, does, strchr(text, ':') ? "IPv6" : "IPv4",
			       request->verb, target->netdev.name, text);
	}
}

static void remark(const struct target *target, const struct request *request)
{
	const struct live_change change = {
		.list = request->list,
		.verb = request->verb,
		.interface = target->netdev.name,
		.prefixes = &request->prefixes,
		.dry_run = target->running.config.dry_run,
	};
	struct specials specials;

	warn_all(target, request);
	/* Without routes nothing is special. */
	netroute_find(&target->netdev, &specials);
	leave_out_spared(target, request->list, &specials);
	remark_specials(&change, &specials, report_warning, report_note);
	specials_free(&specials);
}

static enum exit_status add(const struct target *target, const struct request *request)
{
	uint64_t until = request->for_ns ? boot_clock_ns() + request->for_ns : FOREVER;
	char time[UNITS_TEXT_SIZE];
	struct complaint why;

	if (live_add(&target->running, request->list, request->prefixes.prefixes,
		     request->prefixes.count, until, &why)) {
		report_error("%s: %s", target->netdev.name, why.text);
		return EXIT_FAILED;
	}
	format_time(request->for_ns, time, sizeof(time));
	printf("%s: %zu on the %s list%s%s\n", target->netdev.name, request->prefixes.count,
	       request->verb, request->for_ns ? " for " : "", request->for_ns ? time : "");
	remark(target, request);
	return EXIT_DONE;
}

static enum exit_status take_off(const struct target *target, const struct request *request)
{
	int64_t deleted = live_delete(&target->running, request->list, request->prefixes.prefixes,
				      request->prefixes.count);

	if (deleted < 0) {
		report_error("cannot change the live lists of %s: %s", target->netdev.name,
			     strerror((int)-deleted));
		return EXIT_FAILED;
	}
	printf("%s: %" PRId64 " off the %s list\n", target->netdev.name, deleted, request->verb);
	if ((uint64_t)deleted < request->prefixes.count)
		report_note("%" PRId64 " of them were not on it (the policy's own lists change "
			    "with `apply`)",
			    (int64_t)request->prefixes.count - deleted);
	return EXIT_DONE;
}

/* ---- list ---- */

struct printing {
	uint64_t now;
	bool json;
	bool any;
};

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
	struct printing *printing = context;
	char text[ADDRESS_TEXT_SIZE], left[UNITS_TEXT_SIZE] = "";
	double seconds = (double)(until_ns - printing->now) / NS_PER_SECOND;

	format_prefix(prefix, text);
	if (until_ns != FOREVER)
		format_left((until_ns - printing->now) / NS_PER_SECOND, left, sizeof(left));
	if (!printing->json)
		printf("%s%s%s\n", text, *left ? "  for another " : "", left);
	else if (until_ns == FOREVER)
		printf("%s\n  {\"prefix\": \"%s\", \"seconds_left\": null}",
		       printing->any ? "," : "", text);
	else
		printf("%s\n  {\"prefix\": \"%s\", \"seconds_left\": %.9f}",
		       printing->any ? "," : "", text, seconds);
	printing->any = true;
	return 0;
}

static enum exit_status print_list(const struct target *target, const struct request *request,
				   bool json)
{
	struct printing printing = {.now = boot_clock_ns(), .json = json};
	int err;

	if (json)
		putchar('[');
	err = live_visit(&target->running, request->list, print_entry, &printing);
	if (json)
		puts(printing.any ? "\n]" : "]");
	if (!err)
		return EXIT_DONE;
	report_error("cannot read the live lists of %s: %s", target->netdev.name, strerror(-err));
	return EXIT_FAILED;
}

/* ---- the three commands ---- */

static int take_options(const struct invocation *invocation, bool adds, struct request *request,
			uint64_t *wait_ns, struct complaint *why)
{
	const char *time = invocation->values[OPTION_FOR];
	int err = parse_wait(invocation->values[OPTION_WAIT], wait_ns, why);

	if (err || !time)
		return err;
	if (!adds)
		return complain(why, -EINVAL, "--for goes with add");
	err = parse_time(time, &request->for_ns, why);
	if (!err && !request->for_ns)
		err = complain(why, -EINVAL, "--for 0s would end at once; give a longer time");
	return err;
}

static enum exit_status change(const struct invocation *invocation, struct request *request)
{
	bool adds = !strcmp(invocation->positionals[1], "add");
	enum exit_status status;
	struct complaint why;
	struct target target;
	uint64_t wait_ns;
	int err = take_prefixes(invocation, request, &why);

	err = err ?: take_options(invocation, adds, request, &wait_ns, &why);
	if (err) {
		report_error("%s", err == -ENOMEM ? strerror(ENOMEM) : why.text);
		return EXIT_USAGE;
	}
	status = target_open_locked(invocation->positionals[0], wait_ns, &target);
	if (status != EXIT_DONE)
		return status;
	status = adds ? add(&target, request) : take_off(&target, request);
	target_close(&target);
	return status;
}

static enum exit_status list(const struct invocation *invocation, const struct request *request)
{
	struct target target;
	enum exit_status status = target_open(invocation->positionals[0], &target);

	if (status != EXIT_DONE)
		return status;
	status = print_list(&target, request, invocation->json);
	target_close(&target);
	return status;
}

static enum exit_status run(const struct invocation *invocation, enum live_list live_list,
			    const char *verb)
{
	const char *action = invocation->positionals[1];
	struct request request = {.list = live_list, .verb = verb};
	enum exit_status status;

	if (!strcmp(action, "list"))
		return list(invocation, &request);
	if (strcmp(action, "add") && strcmp(action, "del")) {
		report_error("'%s' is not known; write add, del or list", action);
		return EXIT_USAGE;
	}
	status = change(invocation, &request);
	free(request.prefixes.prefixes);
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
		.positionals_max = POSITIONALS_MAX,                                       \
		.reads = true,                                                            \
		.options = options,                                                       \
		.run = run_##verb,                                                        \
	}

LIST_COMMAND(allow, LIVE_ALLOW, "sources that no limit applies to");
LIST_COMMAND(deny, LIVE_DENY, "sources that are dropped");
LIST_COMMAND(ban, LIVE_BAN, "sources that are dropped before any other list is asked");
