// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit apply: another policy for the limiter that runs, in one step. */
#include "attach_common.h"
#include "command.h"
#include "lock.h"
#include "policy_load.h"
#include "report.h"
#include "target.h"

enum apply_option {
	OPTION_RECREATE,
	OPTION_WAIT,
	OPTION_NO_SSH_GUARD,
	OPTION_CONFIRM,
};

static const struct option_spec options[] = {
	[OPTION_RECREATE] = {"recreate", NULL,
			     "a fresh table where the old one can't be kept; lists and bans stay"},
	[OPTION_WAIT] = {"wait", "TIME", "for another command to end"},
	[OPTION_NO_SSH_GUARD] = {"no-ssh-guard", NULL, "don't exempt the peer of this SSH session"},
	[OPTION_CONFIRM] = {"confirm", "TIME",
			    "go back by itself unless `xdp-limit confirm` comes within TIME"},
	{NULL, NULL, NULL},
};

/* Under the lock. A limiter of another ABI can't be read, but it can be replaced. */
static enum exit_status find_running(const char *name, uint64_t wait_ns,
				     struct attach_target *changed)
{
	struct target target = {0};
	struct complaint why;
	enum exit_status status = target_look_locked(name, wait_ns, &target, &why);

	if (status == EXIT_DONE)
		target_close(&target);
	else if (status == EXIT_NOT_ATTACHED && target.running.attachment.ours)
		status = status_of_error(
			lock_interface(target.netdev.ifindex, target.netdev.name, wait_ns, &why));
	if (status != EXIT_DONE)
		report_error("%s", why.text);
	changed->netdev = target.netdev;
	changed->generic = target.running.attachment.mode == MODE_GENERIC;
	return status;
}

static enum exit_status apply(const struct invocation *invocation, const struct policy *policy,
			      uint64_t wait_ns, uint64_t confirm_ns)
{
	struct attach_target changed[TARGETS_MAX];
	struct attach_request request = {
		.policy = policy,
		.targets = changed,
		.count = 1,
		.recreate = invocation->values[OPTION_RECREATE],
		.no_guards = invocation->values[OPTION_NO_SSH_GUARD],
		.confirm_ns = confirm_ns,
	};
	enum exit_status status = find_running(invocation->positionals[0], wait_ns, changed);

	return status == EXIT_DONE ? attach_policy(&request, wait_ns, false) : status;
}

static enum exit_status run(const struct invocation *invocation)
{
	struct policy policy;
	struct complaint why;
	enum exit_status status;
	uint64_t wait_ns = 0, confirm_ns = 0;

	if (parse_wait(invocation->values[OPTION_WAIT], &wait_ns, &why) ||
	    parse_confirm(invocation->values[OPTION_CONFIRM], &confirm_ns, &why)) {
		report_error("%s", why.text);
		return EXIT_USAGE;
	}
	status = load_policy(invocation->positionals[1], &policy);
	if (status == EXIT_DONE)
		status = apply(invocation, &policy, wait_ns, confirm_ns);
	policy_free(&policy);
	return status;
}

const struct command command_apply = {
	.name = "apply",
	.arguments = "IFACE FILE [--recreate] [--confirm TIME] [--wait TIME] [--no-ssh-guard]",
	.summary = "replace the running policy in one step",
	.notes =
		"Every packet is judged by the old policy or by the new one as a whole. Buckets of limits\n"
		"that keep their name, unit, algorithm and what they count per keep their state, and so\n"
		"do bans and live lists. On a shared table the policy is applied to all interfaces that share\n"
		"it.  A file with an error changes nothing. \"-\" is standard input.\n\n"
		"  xdp-limit check eth0.yaml && xdp-limit apply eth0 eth0.yaml",
	.positionals_min = 2,
	.positionals_max = 2,
	.options = options,
	.run = run,
};
