// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit attach: from the command line to a limiter that runs. */
#include <errno.h>
#include <stdio.h>
#include "attach_common.h"
#include "attach_interfaces.h"
#include "attach_notes.h"
#include "command.h"
#include "hardware_change.h"
#include "lock.h"
#include "policy_load.h"
#include "report.h"
#include "shared_table.h"
#include "words.h"

#define PRIORITY_MAX 65535

enum attach_option {
	OPTION_CONFIG,
	OPTION_RATE,
	OPTION_BURST,
	OPTION_BYTES,
	OPTION_BYTES_BURST,
	OPTION_IPV4_PREFIX,
	OPTION_IPV6_PREFIX,
	OPTION_SOURCES,
	OPTION_TABLE,
	OPTION_WHEN_FULL,
	OPTION_FRAGMENTS,
	OPTION_MALFORMED,
	OPTION_MODE,
	OPTION_DRY_RUN,
	OPTION_SHARED,
	OPTION_PRIORITY,
	OPTION_FORCE,
	OPTION_RECREATE,
	OPTION_WAIT,
	OPTION_NO_SSH_GUARD,
	OPTION_CONFIRM,
	OPTION_SHARE_TABLE,
};

// clang-format off
static const struct option_spec options[] = {
	[OPTION_CONFIG] = {"config", "FILE",
		"the policy, instead of all options down to --malformed"},
	[OPTION_RATE] = {"rate", "RATE",
		"packets: 1000pps, 20/s, 100/min, 8000 per 30s, unlimited, block"},
	[OPTION_BURST] = {"burst", "N",
		"packets at once, or a time of the rate (default: one second)"},
	[OPTION_BYTES] = {"bytes", "RATE",
		"bandwidth: '10 Mbit/s', 500kB/s, 1MiB/s, unlimited, block"},
	[OPTION_BYTES_BURST] = {"bytes-burst", "SIZE",
		"bytes at once: 256KiB, 250ms (default: 250 ms, at least 64 KiB)"},
	[OPTION_IPV4_PREFIX] = {"ipv4-prefix", "N", "one bucket for each IPv4 /N (default 32)"},
	[OPTION_IPV6_PREFIX] = {"ipv6-prefix", "N", "one bucket for each IPv6 /N (default 64)"},
	[OPTION_SOURCES] = {"sources", "N", "entries of the table, taken at once (default 1048576)"},
	[OPTION_TABLE] = {"table", "lru|flat",
		"lru (default), or flat: 17 bytes a source, counts only who loses"},
	[OPTION_WHEN_FULL] = {"when-full", "pass|drop|inherit",
		"who gets no bucket: pass (default) or drop; flat: inherit (default)"},
	[OPTION_FRAGMENTS] = {"fragments", "count|drop|pass", "count (default), drop or pass"},
	[OPTION_MALFORMED] = {"malformed", "drop|pass",
		"what can't be parsed: drop (default) or pass"},
	[OPTION_MODE] = {"mode", "native|generic|auto",
		"native (default), generic, or auto: generic when native is refused"},
	[OPTION_DRY_RUN] = {"dry-run", NULL, "drop nothing; count what would have been dropped"},
	[OPTION_SHARED] = {"shared", NULL,
		"beside other XDP programs, in a dispatcher of libxdp"},
	[OPTION_PRIORITY] = {"priority", "N", "the place in it, lower comes first (default 20)"},
	[OPTION_FORCE] = {"force", NULL, "replace a foreign XDP program"},
	[OPTION_RECREATE] = {"recreate", NULL,
		"a fresh table where the old one can't be kept; lists and bans stay"},
	[OPTION_WAIT] = {"wait", "TIME",
		"for the interface to appear and for another command to end"},
	[OPTION_NO_SSH_GUARD] = {"no-ssh-guard", NULL, "don't exempt the peer of this SSH session"},
	[OPTION_CONFIRM] = {"confirm", "TIME",
			    "go back by itself unless `xdp-limit confirm` comes within TIME"},
	[OPTION_SHARE_TABLE] = {"share-table", "NAME",
		"one table, so one budget for a source, over all that attach with NAME"},
	{NULL, NULL, NULL},
};
// clang-format on

static const char notes[] =
	"Several interfaces (at most 16) each have a table of their own, or with --share-table one for\n"
	"all that attach with its name; one that refuses leaves them all as they were. A second attach on\n"
	"the same interface replaces the policy in one step; buckets whose meaning is unchanged keep\n"
	"their state. The limiter stays until `xdp-limit detach`, also when this command is long\n"
	"gone. A packet must fit every limit; one that is dropped by one of them consumes nothing of\n"
	"the others. Run over SSH, the peer is exempt for 30 minutes.\n\n"
	"Where other XDP programs stand in a dispatcher of libxdp, the limiter joins them, also\n"
	"without --shared.\n\n"
	"  xdp-limit attach eth0 --rate 1000pps --burst 2000\n"
	"  xdp-limit attach eth0 --rate 500pps --bytes '10 Mbit/s' --dry-run\n"
	"  xdp-limit attach eth0 --rate 100/min --ipv6-prefix 56 --mode auto\n"
	"  xdp-limit attach eth0 --config /etc/xdp-limit/eth0.yaml";

/* ---- from words to the policy ---- */

enum mode_word {
	WORD_NATIVE,
	WORD_GENERIC,
	WORD_AUTO, /* generic where native is refused */
};

static const char *const mode_words[] = {
	[WORD_NATIVE] = "native",
	[WORD_GENERIC] = "generic",
	[WORD_AUTO] = "auto",
	NULL,
};

/* The value of @option as a position in @words; @fallback when it was not given. */
static int take_word(const struct invocation *invocation, enum attach_option option,
		     const char *const *words, int fallback, struct complaint *why)
{
	char noun[32];

	if (!invocation->values[option])
		return fallback;
	snprintf(noun, sizeof(noun), "--%s", options[option].name);
	return choose_word(noun, invocation->values[option], words, why);
}

struct limit_options {
	const char *name;
	enum unit unit;
	enum attach_option rate, burst;
};

static int add_limit(const struct invocation *invocation, const struct limit_options *which,
		     struct policy *policy, struct complaint *why)
{
	const char *rate_text = invocation->values[which->rate];
	const char *burst_text = invocation->values[which->burst];
	struct policy_limit *limit;
	struct complaint detail;
	struct rate rate;
	int err;

	if (!rate_text && burst_text)
		return complain(why, -EINVAL, "--%s needs --%s", options[which->burst].name,
				options[which->rate].name);
	if (!rate_text)
		return 0;
	err = parse_rate(rate_text, which->unit, &rate, &detail);
	if (err)
		return complain(why, err, "--%s: %s", options[which->rate].name, detail.text);
	limit = policy_add_limit(policy, which->name, &rate, why);
	if (!limit)
		return -EINVAL;
	if (!burst_text)
		return 0;
	err = parse_burst(burst_text, &rate, &limit->burst, &detail);
	return err ? complain(why, err, "--%s: %s", options[which->burst].name, detail.text) : 0;
}

static int add_limits(const struct invocation *invocation, struct policy *policy,
		      struct complaint *why)
{
	static const struct limit_options limits[] = {
		{"default", UNIT_PACKETS, OPTION_RATE, OPTION_BURST},
		{"bytes", UNIT_BYTES, OPTION_BYTES, OPTION_BYTES_BURST},
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]) && !err; i++)
		err = add_limit(invocation, &limits[i], policy, why);
	if (!err && !policy->limit_count)
		err = complain(why, -EINVAL,
			       "attach needs --rate, --bytes or --config, for example "
			       "--rate 1000pps");
	return err;
}

static int take_number(const struct invocation *invocation, enum attach_option option, uint64_t min,
		       uint64_t max, uint64_t *number, struct complaint *why)
{
	char noun[32];

	if (!invocation->values[option])
		return 0;
	snprintf(noun, sizeof(noun), "--%s", options[option].name);
	return parse_count(invocation->values[option], noun, min, max, number, why);
}

static int take_table(const struct invocation *invocation, struct policy *policy,
		      struct complaint *why)
{
	uint64_t ipv4 = policy->ipv4_prefix, ipv6 = policy->ipv6_prefix;
	int err = take_number(invocation, OPTION_SOURCES, SOURCES_MIN, SOURCES_MAX,
			      &policy->sources, why) ?:
		  take_number(invocation, OPTION_IPV4_PREFIX, 1, 32, &ipv4, why) ?:
		  take_number(invocation, OPTION_IPV6_PREFIX, 1, 128, &ipv6, why);
	int type;

	policy->ipv4_prefix = ipv4;
	policy->ipv6_prefix = ipv6;
	if (err)
		return err;
	type = take_word(invocation, OPTION_TABLE, table_words, TABLE_LRU, why);
	if (type < 0)
		return type;
	policy->table_type = (enum table_type)type;
	policy->table_type_given = invocation->values[OPTION_TABLE];
	policy->sources_given = invocation->values[OPTION_SOURCES];
	policy->ipv4_prefix_given = invocation->values[OPTION_IPV4_PREFIX];
	policy->ipv6_prefix_given = invocation->values[OPTION_IPV6_PREFIX];
	return 0;
}

static int take_verdicts(const struct invocation *invocation, struct policy *policy,
			 struct complaint *why)
{
	int full, fragments, malformed;

	full = take_word(invocation, OPTION_WHEN_FULL, when_full_words, WHEN_FULL_PASS, why);
	if (full < 0)
		return full;
	fragments = take_word(invocation, OPTION_FRAGMENTS, fragments_words, FRAGMENTS_COUNT, why);
	if (fragments < 0)
		return fragments;
	malformed = take_word(invocation, OPTION_MALFORMED, malformed_words, MALFORMED_DROP, why);
	if (malformed < 0)
		return malformed;
	policy->when_full = (enum when_full)full;
	policy->when_full_given = invocation->values[OPTION_WHEN_FULL];
	policy->fragments = (enum fragments_policy)fragments;
	policy->malformed = (enum malformed_policy)malformed;
	return 0;
}

static int fill_policy(const struct invocation *invocation, struct policy *policy,
		       struct complaint *why)
{
	policy_defaults(policy);
	return add_limits(invocation, policy, why) ?: take_table(invocation, policy, why) ?:
	       take_verdicts(invocation, policy, why) ?: policy_check(policy, why);
}

/* What the policy file says is not said again beside it. */
static int refuse_beside_config(const struct invocation *invocation, struct complaint *why)
{
	for (int i = OPTION_RATE; i <= OPTION_MALFORMED; i++)
		if (invocation->values[i])
			return complain(why, -EINVAL,
					"--%s and --config can't stand together; write it into %s",
					options[i].name, invocation->values[OPTION_CONFIG]);
	return 0;
}

/* From the options or from the file. */
static enum exit_status take_policy(const struct invocation *invocation, struct policy *policy)
{
	const char *path = invocation->values[OPTION_CONFIG];
	struct complaint why;
	enum exit_status status = EXIT_DONE;
	int err = path ? refuse_beside_config(invocation, &why)
		       : fill_policy(invocation, policy, &why);

	if (err) {
		report_error("%s", why.text);
		return EXIT_USAGE;
	}
	if (path)
		status = load_policy(path, policy);
	if (invocation->values[OPTION_DRY_RUN])
		policy->dry_run = true;
	return status;
}

/* ---- attaching ---- */

/* A driver that is reset for XDP may forget what it was told. */
static void warn_hardware(const char *name, const struct netdev_hardware *before)
{
	struct complaint changes[HARDWARE_CHANGES_MAX];
	struct netdev_hardware after;
	size_t count;

	if (netdev_hardware(name, &after))
		return;
	count = hardware_changes(before, &after, changes);
	for (size_t i = 0; i < count; i++)
		report_warning("%s: its driver changed a setting while attaching: %s", name,
			       changes[i].text);
}

static enum exit_status attach(const struct invocation *invocation, struct attach_request *request,
			       uint64_t wait_ns, enum mode_word mode)
{
	struct attach_target *targets = request->targets;
	enum exit_status status = take_interfaces(invocation->positionals, request->count, wait_ns,
						  targets);
	struct netdev_hardware before[TARGETS_MAX];
	size_t named = request->count; /* others that share the table come after them */

	for (size_t i = 0; i < request->count; i++)
		targets[i].generic = mode == WORD_GENERIC;
	for (size_t i = 0; status == EXIT_DONE && i < named; i++)
		netdev_hardware(targets[i].netdev.name, &before[i]);
	if (status == EXIT_DONE)
		status = attach_policy(request, wait_ns, mode == WORD_AUTO);
	for (size_t i = 0; status == EXIT_DONE && i < named; i++)
		warn_hardware(targets[i].netdev.name, &before[i]);
	for (size_t i = 0; status == EXIT_DONE && i < request->count; i++)
		note_meaning(request->policy, &targets[i].netdev, targets[i].generic);
	return status;
}

static int take_place(const struct invocation *invocation, struct attach_request *request,
		      struct complaint *why)
{
	uint64_t priority = 0;
	int err = take_number(invocation, OPTION_PRIORITY, 1, PRIORITY_MAX, &priority, why);

	if (!err && request->force && request->shared)
		err = complain(why, -EINVAL,
			       "--force replaces other programs, and --shared leaves them: they "
			       "can't stand together");
	if (!err && request->shared && request->shared_name)
		err = complain(why, -EINVAL,
			       "--shared is for a place in a dispatcher, in which no table can be "
			       "shared: leave out one of --shared and --share-table");
	request->priority = (unsigned int)priority;
	return err;
}

static enum exit_status run(const struct invocation *invocation)
{
	struct attach_target targets[TARGETS_MAX] = {0};
	struct policy policy;
	struct attach_request request = {
		.policy = &policy,
		.targets = targets,
		.count = (size_t)invocation->positional_count,
		.force = invocation->values[OPTION_FORCE],
		.shared = invocation->values[OPTION_SHARED],
		.recreate = invocation->values[OPTION_RECREATE],
		.no_guards = invocation->values[OPTION_NO_SSH_GUARD],
		.shared_name = invocation->values[OPTION_SHARE_TABLE],
	};
	struct complaint why;
	enum exit_status status;
	uint64_t wait_ns = 0;
	int mode = take_word(invocation, OPTION_MODE, mode_words, WORD_NATIVE, &why);
	int err = mode < 0 ? mode : parse_wait(invocation->values[OPTION_WAIT], &wait_ns, &why);

	err = err ?: parse_confirm(invocation->values[OPTION_CONFIRM], &request.confirm_ns, &why);
	err = err ?: request.shared_name ? check_shared_name(request.shared_name, &why) : 0;
	err = err ?: take_place(invocation, &request, &why);
	if (err) {
		report_error("%s", why.text);
		return EXIT_USAGE;
	}
	policy_defaults(&policy);
	status = take_policy(invocation, &policy);
	if (status == EXIT_DONE)
		status = attach(invocation, &request, wait_ns, (enum mode_word)mode);
	policy_free(&policy);
	return status;
}

const struct command command_attach = {
	.name = "attach",
	.arguments =
		"IFACE... (--config FILE | --rate RATE [--burst N] [--bytes RATE]) [OPTION...]",
	.summary = "limit each source of the packets that an interface receives",
	.notes = notes,
	.positionals_min = 1,
	.positionals_max = TARGETS_MAX,
	.options = options,
	.run = run,
};
