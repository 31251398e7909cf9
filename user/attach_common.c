// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a policy to the limiter that runs it: what attach and apply have in common. */
#include "attach_common.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include "attach_notes.h"
#include "capabilities.h"
#include "report.h"
#include "shared_table.h"
#include "sshguard.h"
#include "target.h"
#include "words.h"

#define SSH_GUARD_NS	  (30 * 60 * NS_PER_SECOND)
#define TARGETS_TEXT_SIZE (TARGETS_MAX * (IF_NAMESIZE + 2))

int parse_confirm(const char *text, uint64_t *confirm_ns, struct complaint *why)
{
	struct complaint detail;
	int err;

	*confirm_ns = 0;
	if (!text)
		return 0;
	err = parse_time(text, confirm_ns, &detail);
	if (err)
		return complain(why, err, "--confirm: %s", detail.text);
	if (*confirm_ns < NS_PER_SECOND)
		return complain(why, -ERANGE,
				"--confirm '%s' is too short to answer; write 1s or more", text);
	return 0;
}

/* ---- the SSH guard ---- */

/* "eth0", or "eth0, eth1". */
static void join_targets(const struct attach_request *request, char *text, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < request->count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
					 request->targets[i].netdev.name);
}

static void take_guard(struct attach_request *request)
{
	char text[ADDRESS_TEXT_SIZE], names[TARGETS_TEXT_SIZE];
	struct address server;
	int found;

	if (request->no_guards)
		return;
	found = ssh_peer_find(&request->guard_peer, &server);
	if (found < 0)
		report_warning("SSH_CONNECTION can't be understood: no guard for your session");
	if (found <= 0)
		return;
	request->guarded = true;
	request->guard_ends_ns = boot_clock_ns() + SSH_GUARD_NS;
	format_address(&request->guard_peer, text);
	join_targets(request, names, sizeof(names));
	report_warning(
		"you are connected over SSH from %s: that address is exempt on %s for 30 minutes "
		"(--no-ssh-guard to limit it too)",
		text, names);
}

/* ---- attaching ---- */

static enum exit_status explain(struct refusal *refusal)
{
	struct rlimit memlock = {0};
	struct complaint line;
	enum exit_status status;

	getrlimit(RLIMIT_MEMLOCK, &memlock);
	refusal->memlock_unlimited = memlock.rlim_cur == RLIM_INFINITY;
	refusal->kernel_pre_5_11 = kernel_release() < 0x050b00;
	refusal->effective_caps = effective_capabilities();
	status = explain_refusal(refusal, &line);
	report_error("%s", line.text);
	return status;
}

static int try_attach(const struct attach_request *request, struct refusal *refusal,
		      struct complaint *why)
{
	*refusal = (struct refusal){0};
	why->text[0] = '\0';
	return kernel_attach(request, refusal, why);
}

/* Whether the one that refused native mode may be tried in generic mode. */
static bool fall_back(struct attach_request *request, const struct refusal *refusal)
{
	if (refusal->generic || !refusal_allows_generic(refusal))
		return false;
	for (size_t i = 0; i < request->count; i++) {
		struct attach_target *target = &request->targets[i];

		if (target->netdev.ifindex != refusal->netdev->ifindex)
			continue;
		report_warning(
			"%s refused native mode (%s): generic mode it is, several times slower",
			target->netdev.name, refusal->kernel_text ?: strerror(-refusal->err));
		target->generic = true;
	}
	return true;
}

static enum exit_status explain_failure(const struct attach_request *request, int err,
					struct refusal *refusal, const struct complaint *why)
{
	enum exit_status status = status_of_error(err);

	if (!why->text[0])
		status = explain(refusal);
	else if (err == -ESTALE)
		report_error(
			"cannot keep the buckets of %s: %s; --recreate starts with a fresh table, all "
			"buckets full",
			refusal->netdev->name, why->text);
	else
		report_error("%s", why->text);
	if (request->count > 1)
		report_note("the other interfaces are left as they were");
	return status;
}

static enum exit_status attach(struct attach_request *request, bool may_fall_back)
{
	struct refusal refusal;
	struct complaint why;
	int err = try_attach(request, &refusal, &why);

	while (err && !why.text[0] && may_fall_back && fall_back(request, &refusal))
		err = try_attach(request, &refusal, &why);
	return err ? explain_failure(request, err, &refusal, &why) : EXIT_DONE;
}

static void say_limit(const struct policy_limit *limit)
{
	bool all = limit->per.per == PER_INTERFACE;
	char rate[UNITS_TEXT_SIZE], burst[UNITS_TEXT_SIZE];

	format_rate(&limit->rate, rate, sizeof(rate));
	describe_burst(limit->burst, &limit->rate, burst, sizeof(burst));
	printf("  %s: %s", limit->name, rate);
	if (limit->rate.kind == LIMIT_METERED)
		printf(", burst %s, for %s%s", burst, all ? "the " : "each ",
		       per_words[limit->per.per]);
	puts(limit->observe ? ", only observed" : "");
}

static void say_done(const struct attach_request *request)
{
	char time[UNITS_TEXT_SIZE];

	for (size_t i = 0; i < request->count; i++)
		printf("%s: limiting in %s mode%s%s%s\n", request->targets[i].netdev.name,
		       request->targets[i].generic ? "generic" : "native",
		       request->shared_name ? ", on the shared table " : "",
		       request->shared_name ?: "",
		       request->policy->dry_run ? ", dry run: nothing is dropped" : "");
	for (size_t i = 0; i < request->count; i++)
		if (request->targets[i].was_dry && !request->policy->dry_run)
			report_warning(
				"%s: its dry run is over, what exceeds a limit is dropped now",
				request->targets[i].netdev.name);
	for (unsigned int i = 0; i < request->policy->limit_count; i++)
		say_limit(&request->policy->limits[i]);
	if (!request->confirm_ns)
		return;
	format_time(request->confirm_ns, time, sizeof(time));
	for (size_t i = 0; i < request->count; i++)
		printf("  on trial for %s: keep it with `xdp-limit confirm %s`\n", time,
		       request->targets[i].netdev.name);
}

enum exit_status attach_policy(struct attach_request *request, uint64_t wait_ns, bool may_fall_back)
{
	enum exit_status status;
	struct complaint why;
	int err = share_table(request, wait_ns, &why);

	if (err) {
		report_error("%s", why.text);
		return status_of_error(err);
	}
	for (size_t i = 0; i < request->count; i++)
		warn_meaning(request->policy, &request->targets[i].netdev);
	take_guard(request);
	status = attach(request, may_fall_back);
	if (status == EXIT_DONE)
		say_done(request);
	return status;
}
