// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What an operator should know of a policy on an interface, before and after it is attached. */
#include "attach_notes.h"

#include <inttypes.h>
#include <string.h>
#include "netroute.h"
#include "report.h"
#include "special.h"

#define ETHERNET_OVERHEAD 18 /* header and VLAN tag */

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

void warn_meaning(const struct policy *policy, const struct netdev *netdev)
{
	warn_byte_burst(policy, netdev);
	warn_gateways(policy, netdev);
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
	struct complaint remark;

	if (netdev_remark(netdev, &remark))
		report_note("%s", remark.text);
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
