// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit attach: from the command line to a limiter that runs. */
#include <errno.h>
#include <inttypes.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include "capabilities.h"
#include "command.h"
#include "kernel.h"
#include "lock.h"
#include "report.h"
#include "sshguard.h"
#include "target.h"

enum attach_option {
	OPTION_RATE,
	OPTION_BURST,
	OPTION_BYTES,
	OPTION_BYTES_BURST,
	OPTION_IPV4_PREFIX,
	OPTION_IPV6_PREFIX,
	OPTION_SOURCES,
	OPTION_WHEN_FULL,
	OPTION_FRAGMENTS,
	OPTION_MALFORMED,
	OPTION_MODE,
	OPTION_DRY_RUN,
	OPTION_FORCE,
	OPTION_RECREATE,
	OPTION_WAIT,
	OPTION_NO_SSH_GUARD,
};

// clang-format off
static const struct option_spec options[] = {
	[OPTION_RATE] = {"rate", "RATE",
		"packets: 1000pps, 20/s, 100/min, 8000 per 30s, unlimited, block"},
	[OPTION_BURST] = {"burst", "N",
		"packets at once (default: one second of the rate), or a time of the rate"},
	[OPTION_BYTES] = {"bytes", "RATE",
		"bandwidth: '10 Mbit/s', 500kB/s, 1MiB/s, unlimited, block"},
	[OPTION_BYTES_BURST] = {"bytes-burst", "SIZE",
		"bytes at once: 256KiB, 250ms (default: 250 ms, at least 64 KiB)"},
	[OPTION_IPV4_PREFIX] = {"ipv4-prefix", "N", "one bucket for each IPv4 /N (default 32)"},
	[OPTION_IPV6_PREFIX] = {"ipv6-prefix", "N", "one bucket for each IPv6 /N (default 64)"},
	[OPTION_SOURCES] = {"sources", "N", "buckets in the table (default 1048576)"},
	[OPTION_WHEN_FULL] = {"when-full", "WHAT",
		"a source that gets no bucket: pass (default) or drop"},
	[OPTION_FRAGMENTS] = {"fragments", "WHAT", "count (default), drop or pass"},
	[OPTION_MALFORMED] = {"malformed", "WHAT", "what can't be parsed: drop (default) or pass"},
	[OPTION_MODE] = {"mode", "MODE",
		"native (default), generic, or auto: generic when native is refused"},
	[OPTION_DRY_RUN] = {"dry-run", NULL, "drop nothing; count what would have been dropped"},
	[OPTION_FORCE] = {"force", NULL, "replace a foreign XDP program"},
	[OPTION_RECREATE] = {"recreate", NULL,
		"start with fresh buckets where the running table can't be kept"},
	[OPTION_WAIT] = {"wait", "TIME",
		"for the interface to appear and for another command to end"},
	[OPTION_NO_SSH_GUARD] = {"no-ssh-guard", NULL, "don't exempt the peer of this SSH session"},
	{NULL, NULL, NULL},
};
// clang-format on

static const char notes[] =
	"A second attach on the same interface replaces the policy in one step; buckets whose meaning\n"
	"is unchanged keep their state. The limiter stays until `xdp-limit detach`, also when this\n"
	"command is long gone. A packet must fit every limit; one that is dropped by one of them\n"
	"consumes nothing of the others. Run over SSH, the peer is exempt for 30 minutes.\n\n"
	"  xdp-limit attach eth0 --rate 1000pps --burst 2000\n"
	"  xdp-limit attach eth0 --rate 500pps --bytes '10 Mbit/s' --dry-run\n"
	"  xdp-limit attach eth0 --rate 100/min --ipv6-prefix 56 --mode auto";

#define SSH_GUARD_NS	   (30 * 60 * NS_PER_SECOND)
#define ETHERNET_OVERHEAD  18 /* header and VLAN tag */

enum mode_word {
	WORD_NATIVE,
	WORD_GENERIC,
	WORD_AUTO,
};

/* ---- from words to the policy ---- */

/* The position of @text in @words, or -EINVAL with the list of them. */
static int choose(const char *option, const char *text, const char *const *words, size_t count,
		  struct complaint *why)
{
	size_t length = 0;
	char list[128] = "";

	for (size_t i = 0; i < count; i++) {
		if (!strcmp(text, words[i]))
			return i;
		length += snprintf(list + length, sizeof(list) - length, "%s%s",
				   i ? (i + 1 < count ? ", " : " or ") : "", words[i]);
	}
	return complain(why, -EINVAL, "--%s '%s' is not known; write %s", option, text, list);
}

#define CHOOSE(invocation, option, fallback, why, ...)                                            \
	((invocation)->values[option]                                                             \
		 ? choose(options[option].name, (invocation)->values[option],                     \
			  (const char *const[]){__VA_ARGS__},                                     \
			  sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), why)            \
		 : (fallback))

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
		err = complain(why, -EINVAL, "attach needs --rate or --bytes, for example "
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

	policy->ipv4_prefix = ipv4;
	policy->ipv6_prefix = ipv6;
	policy->sources_given = invocation->values[OPTION_SOURCES];
	policy->ipv4_prefix_given = invocation->values[OPTION_IPV4_PREFIX];
	policy->ipv6_prefix_given = invocation->values[OPTION_IPV6_PREFIX];
	return err;
}

static int take_verdicts(const struct invocation *invocation, struct policy *policy,
			 struct complaint *why)
{
	int full = CHOOSE(invocation, OPTION_WHEN_FULL, WHEN_FULL_PASS, why, "pass", "drop");
	int fragments = full < 0 ? full
				 : CHOOSE(invocation, OPTION_FRAGMENTS, FRAGMENTS_COUNT, why,
					  "count", "drop", "pass");
	int malformed = fragments < 0 ? fragments
				      : CHOOSE(invocation, OPTION_MALFORMED, MALFORMED_DROP, why,
					       "drop", "pass");

	if (malformed < 0)
		return malformed;
	policy->when_full = full;
	policy->fragments = fragments;
	policy->malformed = malformed;
	policy->dry_run = invocation->values[OPTION_DRY_RUN];
	return 0;
}

static int fill_policy(const struct invocation *invocation, struct policy *policy,
		       struct complaint *why)
{
	policy_defaults(policy);
	return add_limits(invocation, policy, why) ?: take_table(invocation, policy, why) ?:
	       take_verdicts(invocation, policy, why) ?: policy_check(policy, why);
}

/* ---- the interface ---- */

static enum exit_status find_interface(const char *name, uint64_t wait_ns, struct netdev *netdev)
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

static enum exit_status check_interface(const struct netdev *netdev)
{
	if (!strcmp(netdev->master_kind, "bond")) {
		report_error("%s is a member of the bond %s: attach to %s, which sees the traffic of all "
			     "members", netdev->name, netdev->master, netdev->master);
		return EXIT_UNSUPPORTED;
	}
	if (netdev->type != ARPHRD_ETHER && netdev->type != ARPHRD_LOOPBACK) {
		report_error("%s has no Ethernet header (link type %u); attach to the Ethernet device that "
			     "carries its traffic", netdev->name, netdev->type);
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
			report_warning("limit '%s': a burst of %" PRIu64 " bytes is less than a full frame of %s "
				       "(%u bytes), which will never pass; give --bytes-burst %u or more",
				       limit->name, limit->burst, netdev->name, frame, frame);
	}
}

static void note_meaning(const struct netdev *netdev, bool generic)
{
	report_note("the limit has no match, so it also meets the replies to this host's own downloads; "
		    "only what %s receives is limited", netdev->name);
	if (generic)
		report_note("generic mode: merged frames count as the packets they were made of%s",
			    kernel_release() < 0x060200 ? " (estimated from their length before "
							   "Linux 6.2)" : "");
	else if (!strcmp(netdev->kind, "veth"))
		report_note("native mode on a veth switches off the segmentation offload of its peer, which "
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
	report_warning("you are connected over SSH from %s: that address is exempt on %s for 30 minutes "
		       "(--no-ssh-guard to limit it too)", text, request->netdev->name);
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
		report_warning("%s refused native mode (%s): generic mode it is, several times slower",
			       request->netdev->name, refusal.kernel_text ?: strerror(-err));
		request->generic = true;
		err = try_attach(request, &refusal, &why);
	}
	if (!err)
		return EXIT_DONE;
	if (!why.text[0])
		return explain(&refusal, request);
	if (err == -ESTALE)
		report_error("cannot keep the buckets of %s: %s; --recreate starts with a fresh table, all "
			     "buckets full", request->netdev->name, why.text);
	else
		report_error("%s", why.text);
	return status_of_error(err);
}

static void say_done(const struct attach_request *request)
{
	char rate[UNITS_TEXT_SIZE], burst[UNITS_TEXT_SIZE];

	printf("%s: limiting in %s mode%s\n", request->netdev->name,
	       request->generic ? "generic" : "native",
	       request->policy->dry_run ? ", dry run: nothing is dropped" : "");
	for (unsigned int i = 0; i < request->policy->limit_count; i++) {
		const struct policy_limit *limit = &request->policy->limits[i];

		format_rate(&limit->rate, rate, sizeof(rate));
		describe_burst(limit->burst, &limit->rate, burst, sizeof(burst));
		if (limit->rate.kind == LIMIT_METERED)
			printf("  %s: %s, burst %s, for each source\n", limit->name, rate, burst);
		else
			printf("  %s: %s\n", limit->name, rate);
	}
}

static enum exit_status prepare_and_attach(struct attach_request *request, uint64_t wait_ns,
					   enum mode_word mode)
{
	const struct netdev *netdev = request->netdev;
	struct complaint why;
	enum exit_status status;
	int err = pins_prepare(&why);

	if (!err)
		err = lock_interface(netdev->ifindex, netdev->name, wait_ns, &why);
	if (err) {
		report_error("%s", why.text);
		return status_of_error(err);
	}
	warn_byte_burst(request->policy, netdev);
	take_guard(request);
	status = attach(request, mode);
	if (status != EXIT_DONE)
		return status;
	note_meaning(netdev, request->generic);
	say_done(request);
	return EXIT_DONE;
}

static enum exit_status run(const struct invocation *invocation)
{
	struct policy policy;
	struct netdev netdev;
	struct attach_request request = {
		.policy = &policy,
		.netdev = &netdev,
		.force = invocation->values[OPTION_FORCE],
		.recreate = invocation->values[OPTION_RECREATE],
		.no_guards = invocation->values[OPTION_NO_SSH_GUARD],
	};
	struct complaint why;
	enum exit_status status;
	uint64_t wait_ns = 0;
	int mode = CHOOSE(invocation, OPTION_MODE, WORD_NATIVE, &why, "native", "generic", "auto");
	int err = mode < 0 ? mode : fill_policy(invocation, &policy, &why);

	if (!err)
		err = parse_wait(invocation->values[OPTION_WAIT], &wait_ns, &why);
	if (err) {
		report_error("%s", why.text);
		return EXIT_USAGE;
	}
	status = find_interface(invocation->positionals[0], wait_ns, &netdev);
	if (status == EXIT_DONE)
		status = check_interface(&netdev);
	if (status == EXIT_DONE)
		status = prepare_and_attach(&request, wait_ns, mode);
	return status;
}

const struct command command_attach = {
	.name = "attach",
	.arguments = "IFACE --rate RATE [--burst N] [--bytes RATE] [OPTION...]",
	.summary = "limit each source of the packets that an interface receives",
	.notes = notes,
	.positionals_min = 1,
	.positionals_max = 1,
	.options = options,
	.run = run,
};
