// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What can't be meant in one limit, though each of its values is in range. */
#include "policy_rules.h"

#include <errno.h>
#include <netinet/in.h>
#include "compile.h"

/* ---- what can be counted ---- */

uint64_t algorithm_burst(enum algorithm algorithm, const struct rate *rate)
{
	return has_window(algorithm) ? rate->amount : default_burst(rate);
}

int check_meter(const struct policy_limit *limit, struct complaint *why)
{
	struct complaint cause;
	int err;

	if (limit->rate.kind != LIMIT_METERED)
		return 0;
	if (!limit->rate.amount || !limit->rate.per_ns)
		return complain(
			why, -ERANGE,
			"a rate can't be 0; write block to drop everything, unlimited to drop "
			"nothing");
	if (has_window(limit->algorithm))
		return 0;
	err = check_burst(limit->burst, limit->rate.unit, &cause);
	return err ? complain(why, err, "burst %.400s", cause.text) : 0;
}

struct policy_limit tier_limit(const struct policy_limit *limit, unsigned int tier)
{
	struct policy_limit result = *limit;

	result.rate = limit->tiers[tier].rate;
	result.burst = limit->tiers[tier].burst;
	return result;
}

/* ---- contradictions ---- */

static int check_ban(const struct policy_limit *limit, struct complaint *why)
{
	bool metered = limit->rate.kind == LIMIT_METERED;

	for (unsigned int i = 0; i < MAX_TIERS; i++)
		metered |= limit->tiers[i].given && limit->tiers[i].rate.kind == LIMIT_METERED;
	if (!limit->ban_ns || metered)
		return 0;
	return complain(
		why, -EINVAL,
		"a ban needs a rate that can be exceeded; write a rate such as \"100 pps\", or "
		"leave the ban out");
}

static bool meets(const struct range_list *list, unsigned int value)
{
	for (unsigned int i = 0; i < list->count; i++)
		if (value >= list->ranges[i].first && value <= list->ranges[i].last)
			return true;
	return false;
}

static int check_ports(const struct policy_limit *limit, const struct range_list *ports,
		       struct complaint *why)
{
	static const unsigned int ported[] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP, IPPROTO_DCCP,
					      IPPROTO_UDPLITE};
	const struct range_list *protocols = &limit->match.protocols;

	if (!ports->count || !protocols->count)
		return 0;
	for (unsigned int i = 0; i < sizeof(ported) / sizeof(ported[0]); i++)
		if (meets(protocols, ported[i]))
			return 0;
	return complain(why, -EINVAL,
			"no packet can match: the protocol has no ports; use tcp, udp, sctp, 33 "
			"(DCCP) or 136 (UDP-Lite), or leave the port out");
}

static int check_source_ports(const struct policy_limit *limit, struct complaint *why)
{
	return check_ports(limit, &limit->match.source_ports, why);
}

static int check_destination_ports(const struct policy_limit *limit, struct complaint *why)
{
	return check_ports(limit, &limit->match.destination_ports, why);
}

static int check_flags(const struct policy_limit *limit, struct complaint *why)
{
	const struct policy_match *match = &limit->match;

	if (!match->flags_mask || !match->protocols.count || meets(&match->protocols, IPPROTO_TCP))
		return 0;
	return complain(
		why, -EINVAL,
		"no packet can match: only TCP has these flags; add tcp to the protocol, or "
		"leave the protocol out");
}

static int check_destinations(const struct policy_limit *limit, struct complaint *why)
{
	const struct prefix_list *list = &limit->match.destinations;
	bool wants_ipv4 = limit->match.family == 4;

	for (unsigned int i = 0; limit->match.family && i < list->count; i++) {
		char text[ADDRESS_TEXT_SIZE];

		if (address_is_ipv4(&list->prefixes[i].address) == wants_ipv4)
			continue;
		format_address(&list->prefixes[i].address, text);
		return complain(why, -EINVAL,
				"no packet can match: %s/%u is not of the family IPv%u; leave the "
				"family out, or that destination",
				text, list->prefixes[i].length, limit->match.family);
	}
	return 0;
}

const struct limit_rule limit_rules[] = {
	{"burst", NULL, check_meter},
	{"on-exceed", NULL, check_ban},
	{"match", "source-port", check_source_ports},
	{"match", "destination-port", check_destination_ports},
	{"match", "tcp-flags", check_flags},
	{"match", "destination", check_destinations},
	{NULL, NULL, NULL},
};
