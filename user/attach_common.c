// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a policy to the limiter that runs it: what attach and apply have in common. */
#include "attach_common.h"

#include <errno.h>
#include <inttypes.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include "capabilities.h"
#include "lock.h"
#include "netroute.h"
#include "report.h"
#include "sshguard.h"
#include "target.h"
#include "words.h"

#define SSH_GUARD_NS	  (30 * 60 * NS_PER_SECOND)
#define ETHERNET_OVERHEAD 18 /* header and VLAN tag */

/* ---- the interface ---- */

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

enum exit_status find_interface(const char *name, uint64_t wait_ns, struct netdev *netdev)
{
	struct complaint why;
	int err;

	if (wait_ns)
		netdev_wait(name, wait_ns);
	err = netdev_find(name, netdev, &why);
	if (!err)
		return EXIT_DONE;
	report_error("%s%s", why.text, wait_ns ? " (waited for it)" : "");
	return EXIT_FAILED;
}

enum exit_status check_interface(const struct netdev *netdev)
{
	if (!strcmp(netdev->master_kind, "bond")) {
		report_error(
			"%s is a member of the bond %s: attach to %s, which sees the traffic of all "
			"members",
			netdev->name, netdev->master, netdev->master);
		return EXIT_UNSUPPORTED;
	}
	if (netdev->type != ARPHRD_ETHER && netdev->type != ARPHRD_LOOPBACK) {
		report_error(
			"%s has no Ethernet header (link type %u); attach to the Ethernet device that "
			"carries its traffic",
			netdev->name, netdev->type);
		return EXIT_UNSUPPORTED;
	}
	return EXIT_DONE;
}

/* ---- what the operator should know ---- */

static void warn_byte_burst(const struct policy *policy, const struct netdev *netdev)
{
	unsigned int frame = netdev->mtu + ETHERNET_OVERHEAD;

	for (unsigned int i = 0; i < policy->limit_count; i++) {
		const struct policy_limit *limit = &policy->limits[i];

		if (limit->rate.unit == UNIT_BYTES && limit->rate.kind == LIMIT_METERED &&
		    limit->burst < frame)
			report_warning(
				"limit '%s': a burst of %" PRIu64
				" bytes is less than a full frame of %s "
				"(%u bytes), which will never pass; give --bytes-burst %u, in a file "
				"burst: %u B, or more",
				limit->name, limit->burst, netdev->name, frame, frame, frame);
	}
}

/* A limiter must not fail because routes can't be read: nothing is special then. */
static void find_specials(const struct netdev *netdev, struct specials *specials)
{
	int err = netroute_find(netdev, specials);

	if (err)
		report_detail("cannot read the routes and addresses of %s: %s", netdev->name,
			      strerror(-err));
}

static void warn_gateways(const struct policy *policy, const struct netdev *netdev)
{
	struct specials specials;

	find_specials(netdev, &specials);
	warn_specials(policy, &specials, report_warning);
	specials_free(&specials);
}

/* Live lists outlive the policy that they were made under. */
static void leave_out_allowed(const struct netdev *netdev, struct specials *gateways)
{
	struct running running;
	size_t left = 0;

	if (!running_open(netdev->ifindex, &running)) {
		for (size_t i = 0; i < gateways->count; i++)
			if (ask_lists(&running, &gateways->list[i].address) != REASON_ALLOWED)
				gateways->list[left++] = gateways->list[i];
		gateways->count = left;
	}
	running_close(&running);
}

static void leave_out_own(struct specials *specials)
{
	size_t left = 0;

	for (size_t i = 0; i < specials->count; i++)
		if (specials->list[i].kind == SPECIAL_GATEWAY)
			specials->list[left++] = specials->list[i];
	specials->count = left;
}

static void note_gateways(const struct policy *policy, const struct netdev *netdev)
{
	struct specials specials;

	find_specials(netdev, &specials);
	leave_out_own(&specials);
	if (specials.count)
		leave_out_allowed(netdev, &specials);
	note_specials(policy, &specials, netdev->name, report_note);
	specials_free(&specials);
}

/* A limit of all that a source sends also meets the answers that were asked for. */
static const struct policy_limit *find_unmatched(const struct policy *policy)
{
	for (unsigned int i = 0; i < policy->limit_count; i++)
		if (policy->limits[i].per.per == PER_SOURCE &&
		    policy_matches_all(&policy->limits[i].match))
			return &policy->limits[i];
	return NULL;
}

void note_meaning(const struct policy *policy, const struct netdev *netdev, bool generic)
{
	const struct policy_limit *limit = find_unmatched(policy);

	if (limit)
		report_note(
			"the limit %s has no match, so it also meets the replies to this host's own "
			"downloads; only what %s receives is limited",
			limit->name, netdev->name);
	note_gateways(policy, netdev);
	if (generic)
		report_note("generic mode: merged frames count as the packets they were made of%s",
			    kernel_release() < 0x060200 ? " (estimated from their length before "
							  "Linux 6.2)"
							: "");
	else if (!strcmp(netdev->kind, "veth"))
		report_note(
			"native mode on a veth switches off the segmentation offload of its peer, which "
			"slows bulk TCP; --mode generic keeps it");
}

/* ---- the SSH guard ---- */

static void take_guard(struct attach_request *request)
{
	char text[ADDRESS_TEXT_SIZE];
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
	report_warning(
		"you are connected over SSH from %s: that address is exempt on %s for 30 minutes "
		"(--no-ssh-guard to limit it too)",
		text, request->netdev->name);
}

/* ---- attaching ---- */

static enum exit_status explain(struct refusal *refusal, const struct attach_request *request)
{
	struct rlimit memlock = {0};
	struct complaint line;
	enum exit_status status;

	getrlimit(RLIMIT_MEMLOCK, &memlock);
	refusal->netdev = request->netdev;
	refusal->generic = request->generic;
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
	*refusal = (struct refusal){.netdev = request->netdev, .generic = request->generic};
	why->text[0] = '\0';
	return kernel_attach(request, refusal, why);
}

static enum exit_status attach(struct attach_request *request, enum mode_word mode)
{
	struct refusal refusal;
	struct complaint why;
	int err;

	request->generic = mode == WORD_GENERIC;
	err = try_attach(request, &refusal, &why);
	if (err && !why.text[0] && mode == WORD_AUTO && refusal_allows_generic(&refusal)) {
		report_warning(
			"%s refused native mode (%s): generic mode it is, several times slower",
			request->netdev->name, refusal.kernel_text ?: strerror(-err));
		request->generic = true;
		err = try_attach(request, &refusal, &why);
	}
	if (!err)
		return EXIT_DONE;
	if (!why.text[0])
		return explain(&refusal, request);
	if (err == -ESTALE)
		report_error(
			"cannot keep the buckets of %s: %s; --recreate starts with a fresh table, all "
			"buckets full",
			request->netdev->name, why.text);
	else
		report_error("%s", why.text);
	return status_of_error(err);
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

	printf("%s: limiting in %s mode%s\n", request->netdev->name,
	       request->generic ? "generic" : "native",
	       request->policy->dry_run ? ", dry run: nothing is dropped" : "");
	for (unsigned int i = 0; i < request->policy->limit_count; i++)
		say_limit(&request->policy->limits[i]);
	if (!request->confirm_ns)
		return;
	format_time(request->confirm_ns, time, sizeof(time));
	printf("  on trial for %s: keep it with `xdp-limit confirm %s`\n", time,
	       request->netdev->name);
}

enum exit_status prepare_change(const struct netdev *netdev, uint64_t wait_ns)
{
	struct complaint why;
	int err = pins_prepare(&why);

	if (!err)
		err = lock_interface(netdev->ifindex, netdev->name, wait_ns, &why);
	if (!err)
		return EXIT_DONE;
	report_error("%s", why.text);
	return status_of_error(err);
}

enum exit_status attach_policy(struct attach_request *request, enum mode_word mode)
{
	enum exit_status status;

	warn_byte_burst(request->policy, request->netdev);
	warn_gateways(request->policy, request->netdev);
	take_guard(request);
	status = attach(request, mode);
	if (status == EXIT_DONE)
		say_done(request);
	return status;
}
