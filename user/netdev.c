// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Interfaces as rtnetlink describes them: by name, all of them, or once one appears. */
#include "netdev.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include "netlink.h"
#include "units.h"

#define NAME_MAX_SIZE 128 /* ALTIFNAMSIZ: alternative names are longer than IF_NAMESIZE */
#define NAMES_TO_LIST 8

/* ---- one message -> struct netdev ---- */

static void copy_name(char *to, size_t size, const struct nlattr *attribute)
{
	if (attribute)
		nla_strlcpy(to, attribute, size);
}

/* That of an interface which is gone or unknown is left empty. */
static void copy_name_of_index(char to[IF_NAMESIZE], const struct nlattr *attribute)
{
	if (attribute)
		if_indextoname(nla_get_u32(attribute), to);
}

static void read_link_info(struct netdev *netdev, struct nlattr *attribute)
{
	struct nlattr *info[IFLA_INFO_MAX + 1];

	if (!attribute || nla_parse_nested(info, IFLA_INFO_MAX, attribute, NULL))
		return;
	copy_name(netdev->kind, sizeof(netdev->kind), info[IFLA_INFO_KIND]);
	copy_name(netdev->master_kind, sizeof(netdev->master_kind), info[IFLA_INFO_SLAVE_KIND]);
}

static void read_attributes(struct netdev *netdev, struct nlattr *const *attributes)
{
	struct rtnl_link_stats64 stats = {0};

	copy_name(netdev->name, sizeof(netdev->name), attributes[IFLA_IFNAME]);
	read_link_info(netdev, attributes[IFLA_LINKINFO]);
	nla_memcpy(&netdev->mtu, attributes[IFLA_MTU], sizeof(netdev->mtu));
	nla_memcpy(&netdev->rx_queues, attributes[IFLA_NUM_RX_QUEUES], sizeof(netdev->rx_queues));
	nla_memcpy(&netdev->tx_queues, attributes[IFLA_NUM_TX_QUEUES], sizeof(netdev->tx_queues));
	netdev->carrier = attributes[IFLA_CARRIER] && nla_get_u8(attributes[IFLA_CARRIER]);
	copy_name_of_index(netdev->master, attributes[IFLA_MASTER]);
	/* Otherwise the number is of another namespace; that of a veth is its peer's. */
	if (!attributes[IFLA_LINK_NETNSID] && strcmp(netdev->kind, "veth"))
		copy_name_of_index(netdev->lower, attributes[IFLA_LINK]);
	/* Copied: the payload is only 4-byte aligned, and older kernels send fewer fields. */
	nla_memcpy(&stats, attributes[IFLA_STATS64], sizeof(stats));
	netdev->rx_packets = stats.rx_packets;
	netdev->rx_bytes = stats.rx_bytes;
}

static int read_link(struct nlmsghdr *message, void *netdev_at)
{
	const struct ifinfomsg *link = nlmsg_data(message);
	struct nlattr *attributes[IFLA_MAX + 1];
	struct netdev *netdev = netdev_at;

	if (nlmsg_parse(message, sizeof(*link), attributes, IFLA_MAX, NULL))
		return -EBADMSG;
	memset(netdev, 0, sizeof(*netdev));
	netdev->ifindex = (unsigned int)link->ifi_index;
	netdev->type = link->ifi_type;
	netdev->up = link->ifi_flags & IFF_UP;
	read_attributes(netdev, attributes);
	return 0;
}

static int find_quietly(const char *name, struct netdev *netdev)
{
	size_t length = strlen(name);
	struct nl_msg *request;
	int err;

	/* The kernel would call these names malformed; for the user they just don't exist. */
	if (!length || length >= NAME_MAX_SIZE)
		return -ENODEV;
	request = netlink_request(RTM_GETLINK, 0);
	if (request)
		nla_put_string(request, length < IF_NAMESIZE ? IFLA_IFNAME : IFLA_ALT_IFNAME, name);
	err = netlink_ask(request, read_link, netdev);
	/* Before alternative names (5.5) a long name is an invalid one. */
	return err == -EINVAL ? -ENODEV : err;
}

/* ---- all interfaces ---- */

struct netdevs {
	struct netdev *all;
	size_t count;
	size_t room;
};

static int append_link(struct nlmsghdr *message, void *data)
{
	struct netdevs *netdevs = data;

	if (netdevs->count == netdevs->room) {
		size_t room = netdevs->room ? 2 * netdevs->room : 16;
		struct netdev *all = reallocarray(netdevs->all, room, sizeof(*all));

		if (!all)
			return -ENOMEM;
		netdevs->all = all;
		netdevs->room = room;
	}
	return read_link(message, &netdevs->all[netdevs->count++]);
}

static void forget_links(void *data)
{
	struct netdevs *netdevs = data;

	netdevs->count = 0;
}

int netdev_list(struct netdev **list)
{
	struct netdevs netdevs = {0};
	int err = netlink_dump(RTM_GETLINK, forget_links, append_link, &netdevs);

	if (err) {
		free(netdevs.all);
		return err;
	}
	*list = netdevs.all;
	return (int)netdevs.count;
}

/* ---- the refusal of an unknown name ---- */

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int least = a < b ? a : b;

	return least < c ? least : c;
}

/* Edits that turn @a into @b, a swap of neighbours counting one: "eht0" is next to "eth0". */
static unsigned int edit_distance(const char *a, const char *b)
{
	unsigned int rows[3][IF_NAMESIZE + 1] = {{0}};
	unsigned int *before = rows[0], *last = rows[1], *row = rows[2], *spare;
	size_t length = strlen(b);
	size_t i, j;

	for (j = 0; j <= length; j++)
		row[j] = (unsigned int)j;
	for (i = 1; a[i - 1]; i++) {
		spare = before;
		before = last;
		last = row;
		row = spare;
		row[0] = (unsigned int)i;
		for (j = 1; j <= length; j++) {
			row[j] = min3(last[j] + 1, row[j - 1] + 1,
				      last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
	}
	return row[length];
}

const struct netdev *netdev_nearest(const char *name, const struct netdev *list, int count)
{
	const struct netdev *best = NULL;
	size_t length = strlen(name);
	unsigned int least = 3, distance;
	int i;

	for (i = 0; list && i < count; i++) {
		distance = edit_distance(name, list[i].name);
		if (distance < least && 2 * distance < length) {
			least = distance;
			best = &list[i];
		}
	}
	return best;
}

static void join_names(const struct netdev *list, int count, char *text, size_t size)
{
	size_t used = 0;
	int i;

	for (i = 0; i < count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
					 list[i].name);
}

static int complain_unknown(const char *name, struct complaint *why)
{
	char names[NAMES_TO_LIST * (IF_NAMESIZE + 2)] = "";
	struct netdev *list = NULL;
	const struct netdev *meant;
	int count = netdev_list(&list);

	meant = netdev_nearest(name, list, count);
	if (meant) {
		complain(why, 0, "cannot find interface '%s'; did you mean '%s'?", name,
			 meant->name);
	} else if (count > 0 && count <= NAMES_TO_LIST) {
		join_names(list, count, names, sizeof(names));
		complain(why, 0, "cannot find interface '%s'; there %s: %s", name,
			 count == 1 ? "is only" : "are", names);
	} else {
		complain(why, 0, "cannot find interface '%s'; see: ip -brief link", name);
	}
	free(list);
	return -ENODEV;
}

int netdev_find(const char *name, struct netdev *netdev, struct complaint *why)
{
	int err = find_quietly(name, netdev);

	if (err == -ENODEV)
		return complain_unknown(name, why);
	if (err)
		return complain(why, err, "cannot ask the kernel for interface '%s': %s", name,
				strerror(-err));
	return 0;
}

/* ---- waiting ---- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* Sleep until a link changes or @deadline (ns) has come. */
static int await_change(int socket, uint64_t deadline)
{
	struct pollfd wake = {.fd = socket, .events = POLLIN};
	uint64_t now = now_ns();
	uint64_t left = deadline > now ? deadline - now : 0;
	struct timespec timeout = {.tv_sec = (time_t)(left / NS_PER_SECOND),
				   .tv_nsec = (long)(left % NS_PER_SECOND)};
	char start;
	int ready;

	if (!left)
		return -ETIMEDOUT;
	ready = ppoll(&wake, 1, &timeout, NULL);
	if (ready <= 0)
		return ready ? -errno : -ETIMEDOUT;
	/* What changed doesn't matter, nor whether messages were lost: the caller looks again. */
	while (recv(socket, &start, sizeof(start), MSG_DONTWAIT) > 0)
		;
	return 0;
}

int netdev_wait(const char *name, uint64_t timeout_ns)
{
	uint64_t now = now_ns();
	uint64_t deadline = timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
	struct netdev netdev;
	struct nl_sock *socket;
	/* Subscribed before the first look, so that no interface slips in between. */
	int err = netlink_open(RTNLGRP_LINK, &socket);

	if (err)
		return err;
	for (;;) {
		err = find_quietly(name, &netdev);
		if (err != -ENODEV)
			break;
		err = await_change(nl_socket_get_fd(socket), deadline);
		if (err && err != -EINTR)
			break;
	}
	nl_socket_free(socket);
	return err;
}
