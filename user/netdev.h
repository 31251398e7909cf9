/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel says about an interface: rtnetlink and ethtool, never sysfs. */
#ifndef XDP_LIMIT_NETDEV_H
#define XDP_LIMIT_NETDEV_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include "complaint.h"

struct netdev {
	unsigned int ifindex;
	char name[IF_NAMESIZE];
	char kind[16];	      /* IFLA_INFO_KIND: "veth", "bond", ...; empty for hardware */
	char master_kind[16]; /* IFLA_INFO_SLAVE_KIND: "bond", "bridge", ...; empty for none */
	char master[IF_NAMESIZE];
	char lower
		[IF_NAMESIZE]; /* IFLA_LINK of a VLAN, a macvlan ...; empty for none in this namespace */
	unsigned short type; /* ARPHRD_*: 1 Ethernet, 772 loopback */
	unsigned int mtu;
	unsigned int rx_queues;
	unsigned int tx_queues;
	bool up;
	bool carrier;
	uint64_t rx_packets; /* IFLA_STATS64 */
	uint64_t rx_bytes;
};

/* What ethtool adds; a driver that can't answer leaves zeros and empty strings. */
struct netdev_hardware {
	char driver[32];
	char version[32];
	unsigned int rx_channels, tx_channels, combined_channels; /* in use */
	unsigned int rx_channels_max, tx_channels_max, combined_channels_max;
	unsigned int rx_ring, rx_ring_max;
	unsigned int rules;			/* ntuple: which flow goes to which queue */
	bool gro, gro_hw, lro, rx_vlan, ntuple; /* active features */
	bool gro_fixed, gro_hw_fixed, lro_fixed, rx_vlan_fixed, ntuple_fixed;
};

/**
 * netdev_find - look @name up in the current network namespace.
 * Returns 0; -ENODEV with a sentence in @why; another -errno when netlink fails.
 */
int netdev_find(const char *name, struct netdev *netdev, struct complaint *why);

/** netdev_list - all interfaces; *@list is allocated, free() it. Returns the count or -errno. */
int netdev_list(struct netdev **list);

/**
 * netdev_nearest - the interface in @list that was probably meant by @name: at most two letters
 * wrong (a swap is one), and less than half of the name. NULL for none.
 */
const struct netdev *netdev_nearest(const char *name, const struct netdev *list, int count);

/**
 * netdev_refuses - whether a limiter makes no sense on @netdev, whatever its driver can: -ENOTSUP with a
 * sentence in @why that names where to attach instead; else 0. Pure.
 */
int netdev_refuses(const struct netdev *netdev, struct complaint *why);

/**
 * netdev_remark - what a limiter on @netdev does not see of what one could expect: a sentence in @remark
 * and true, or false. Pure.
 */
bool netdev_remark(const struct netdev *netdev, struct complaint *remark);

/** netdev_hardware - driver, channels, rings and offloads of @name. Returns 0 or -errno. */
int netdev_hardware(const char *name, struct netdev_hardware *hardware);

/**
 * netdev_wait - wait until @name exists (for at most @timeout_ns), woken by netlink, not polling.
 * Returns 0; -ETIMEDOUT; another -errno when netlink fails.
 */
int netdev_wait(const char *name, uint64_t timeout_ns);

#endif
