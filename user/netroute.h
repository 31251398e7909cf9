/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which addresses are special to an interface: its default gateways and its own, over rtnetlink. */
#ifndef XDP_LIMIT_NETROUTE_H
#define XDP_LIMIT_NETROUTE_H

#include <linux/netlink.h>
#include "netdev.h"
#include "special.h"

/* A bridge or VRF that the interface belongs to has the addresses and routes in its stead. */
struct route_links {
	unsigned int own;
	unsigned int master; /* 0: none */
};

/**
 * netroute_read - add what one message of a dump (RTM_NEWROUTE, RTM_NEWADDR) says of @links.
 * Returns 0, -ENOMEM, or -EBADMSG when it is too short.
 */
int netroute_read(struct nlmsghdr *message, const struct route_links *links,
		  struct specials *specials);

/**
 * netroute_find - the gateways of all default routes (every table, both families) and the own
 * addresses of @netdev; none of a loopback, where packets from own addresses are the genuine ones.
 * Returns 0 or -errno; specials_free() in both cases.
 */
int netroute_find(const struct netdev *netdev, struct specials *specials);

#endif
