// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Puts entries on the live lists and takes them off, and says what that means. */
#include "list_change.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "netroute.h"
#include "prefix.h"
#include "units.h"

int parse_list_time(const char *text, uint64_t *for_ns, struct complaint *why)
{
	uint64_t ns = 0;
	int err = parse_time(text, &ns, why);

	if (!err && !ns)
		err = complain(why, -EINVAL, "0s would end at once; give a longer time");
	if (!err)
		*for_ns = ns;
	return err;
}

int list_change_add(const struct target *target, const struct list_change *change,
		    struct complaint *why)
{
	uint64_t until = change->for_ns ? boot_clock_ns() + change->for_ns : FOREVER;
	struct complaint detail;
	int err = live_add(&target->running, change->list, change->prefixes.prefixes,
			   change->prefixes.count, until, &detail);

	return err ? complain(why, err, "%s: %s", target->netdev.name, detail.text) : 0;
}

int64_t list_change_delete(const struct target *target, const struct list_change *change,
			   struct complaint *why)
{
	int64_t deleted = live_delete(&target->running, change->list, change->prefixes.prefixes,
				      change->prefixes.count);

	if (deleted < 0)
		complain(why, (int)deleted, "cannot change the live lists of %s: %s",
			 target->netdev.name, strerror((int)-deleted));
	return deleted;
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

static void warn_all(const struct target *target, const struct list_change *change,
		     special_say *warn)
{
	const char *does = change->list == LIVE_ALLOW ? "exempts all of" : "drops all of";

	for (size_t i = 0; i < change->prefixes.count; i++) {
		const struct policy_prefix *prefix = &change->prefixes.prefixes[i];
		char text[ADDRESS_TEXT_SIZE];

		if (prefix->length)
			continue;
		format_prefix(prefix, text);
		warn("%s on the %s list %s %s; undo: xdp-limit %s %s del %s", text, change->verb,
		     does, strchr(text, ':') ? "IPv6" : "IPv4", change->verb, target->netdev.name,
		     text);
	}
}

void list_change_remark(const struct target *target, const struct list_change *change,
			special_say *warn, special_say *note)
{
	const struct live_change live = {
		.list = change->list,
		.verb = change->verb,
		.interface = target->netdev.name,
		.prefixes = &change->prefixes,
		.dry_run = target->running.config.dry_run,
	};
	struct specials specials;

	warn_all(target, change, warn);
	/* Without routes nothing is special. */
	netroute_find(&target->netdev, &specials);
	leave_out_spared(target, change->list, &specials);
	remark_specials(&live, &specials, warn, note);
	specials_free(&specials);
}

/* ---- JSON ---- */

struct writing {
	uint64_t now;
	FILE *out;
	bool any;
};

static int write_entry(const struct policy_prefix *prefix, uint64_t until_ns, void *context)
{
	struct writing *writing = context;
	char text[ADDRESS_TEXT_SIZE];

	format_prefix(prefix, text);
	fprintf(writing->out,
		"%s\n  {\"prefix\": \"%s\", \"seconds_left\": ", writing->any ? "," : "", text);
	if (until_ns == FOREVER)
		fputs("null}", writing->out);
	else
		fprintf(writing->out, "%.9f}", (double)(until_ns - writing->now) / NS_PER_SECOND);
	writing->any = true;
	return 0;
}

int live_list_json(const struct running *running, enum live_list list, FILE *out)
{
	struct writing writing = {.now = boot_clock_ns(), .out = out};
	int err;

	fputc('[', out);
	err = live_visit(running, list, write_entry, &writing);
	fputs(writing.any ? "\n]\n" : "]\n", out);
	return err;
}
