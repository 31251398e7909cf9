// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which kinds of devices a limiter makes sense on, and what it doesn't see there. */
#include <errno.h>
#include <net/if_arp.h>
#include <stddef.h>
#include <string.h>
#include "netdev.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What carries packets without an Ethernet header, and where they have one. */
static const struct {
	const char *kind;
	const char *advice;
} headless[] = {
	{"tun",
	 "make it a tap device (ip tuntap add mode tap), or attach to the Ethernet device that "
	 "carries its traffic"},
	{"ppp", "attach to the Ethernet device below it: what is in PPPoE sessions is seen there"},
	{"wireguard",
	 "attach to the Ethernet device that carries its traffic: the sources there are "
	 "its peers"},
	{"gre", "attach to the Ethernet device that carries its traffic: the sources there are the "
		"ends of tunnels"},
	{"ipip",
	 "attach to the Ethernet device that carries its traffic: the sources there are the "
	 "ends of tunnels"},
	{"sit", "attach to the Ethernet device that carries its traffic: the sources there are the "
		"ends of tunnels"},
	{NULL, "attach to the Ethernet device that carries its traffic"},
};

static const char *headless_advice(const struct netdev *netdev)
{
	size_t i = 0;

	while (headless[i].kind && strcmp(headless[i].kind, netdev->kind))
		i++;
	return headless[i].advice;
}

int netdev_refuses(const struct netdev *netdev, struct complaint *why)
{
	if (!strcmp(netdev->master_kind, "bond"))
		return complain(
			why, -ENOTSUP,
			"%s is a member of the bond %s: attach to %s, which sees the traffic of all "
			"members",
			netdev->name, netdev->master, netdev->master);
	/* ifb_ri_tasklet() gives a frame back as one of the device that it was redirected from. */
	if (!strcmp(netdev->kind, "ifb"))
		return complain(
			why, -ENOTSUP,
			"%s gives frames back to the interface that they came in by before a program "
			"here could see them: attach to that one",
			netdev->name);
	if (netdev->type != ARPHRD_ETHER && netdev->type != ARPHRD_LOOPBACK)
		return complain(why, -ENOTSUP, "%s has no Ethernet header (link type %u); %s",
				netdev->name, netdev->type, headless_advice(netdev));
	return 0;
}

/* ---- what is not seen ---- */

enum elsewhere {
	ELSEWHERE_NOWHERE,
	ELSEWHERE_LOWER, /* at the device below, where it is known */
};

static const struct {
	const char *kind, *master_kind; /* NULL: any */
	const char *remark;
	enum elsewhere elsewhere;
} remarks[] = {
	{"bridge", NULL,
	 "sees only what is meant for this host, not what it forwards: its ports see all",
	 ELSEWHERE_NOWHERE},
	{"vlan", NULL, "sees its own VLAN only, without the tag", ELSEWHERE_LOWER},
	{"macvlan", NULL, "sees only what is addressed to it", ELSEWHERE_LOWER},
	{"macvtap", NULL, "sees only what is addressed to it", ELSEWHERE_LOWER},
	{"ipvlan", NULL, "sees only what is addressed to it", ELSEWHERE_LOWER},
	{"ipvtap", NULL, "sees only what is addressed to it", ELSEWHERE_LOWER},
	{"vxlan", NULL, "sees what was in the tunnel: sources are the inner ones", ELSEWHERE_LOWER},
	{"geneve", NULL, "sees what was in the tunnel: sources are the inner ones",
	 ELSEWHERE_LOWER},
	{"gretap", NULL, "sees what was in the tunnel: sources are the inner ones",
	 ELSEWHERE_LOWER},
	{"ip6gretap", NULL, "sees what was in the tunnel: sources are the inner ones",
	 ELSEWHERE_LOWER},
	{NULL, "team",
	 "sees only its share of the team's traffic: attach to all ports with --share-table NAME",
	 ELSEWHERE_NOWHERE},
};

static bool is_of(const char *kind, const char *wanted)
{
	return !wanted || !strcmp(kind, wanted);
}

bool netdev_remark(const struct netdev *netdev, struct complaint *remark)
{
	for (size_t i = 0; i < COUNT(remarks); i++) {
		bool below = remarks[i].elsewhere == ELSEWHERE_LOWER && netdev->lower[0];

		if (!is_of(netdev->kind, remarks[i].kind) ||
		    !is_of(netdev->master_kind, remarks[i].master_kind))
			continue;
		complain(remark, 0, "%s %s%s%s", netdev->name, remarks[i].remark,
			 below ? "; all of it comes by " : "", below ? netdev->lower : "");
		return true;
	}
	return false;
}
