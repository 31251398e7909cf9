// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Interfaces as rtnetlink describes them: by name, all of them, or once one appears. */
#include "netdev.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "units.h"

#define ANSWER_SIZE   32768 /* what the kernel fills at most in one datagram of a dump */
#define NAME_MAX_SIZE 128   /* ALTIFNAMSIZ: alternative names are longer than IF_NAMESIZE */
#define DUMP_ATTEMPTS 10
#define NAMES_TO_LIST 8

/* ---- one message -> struct netdev ---- */

static void copy_name(char *to, size_t size, const struct nlattr *attribute)
{
	snprintf(to, size, "%.*s", (int)mnl_attr_get_payload_len(attribute),
		 mnl_attr_get_str(attribute));
}

static int read_link_info(const struct nlattr *attribute, void *data)
{
	struct netdev *netdev = data;

	switch (mnl_attr_get_type(attribute)) {
	case IFLA_INFO_KIND:
		copy_name(netdev->kind, sizeof(netdev->kind), attribute);
		break;
	case IFLA_INFO_SLAVE_KIND:
		copy_name(netdev->master_kind, sizeof(netdev->master_kind), attribute);
		break;
	}
	return MNL_CB_OK;
}

static void read_stats(struct netdev *netdev, const struct nlattr *attribute)
{
	struct rtnl_link_stats64 stats = {0};
	size_t size = mnl_attr_get_payload_len(attribute);

	/* Copied: the payload is only 4-byte aligned, and older kernels send fewer fields. */
	memcpy(&stats, mnl_attr_get_payload(attribute),
	       size < sizeof(stats) ? size : sizeof(stats));
	netdev->rx_packets = stats.rx_packets;
	netdev->rx_bytes = stats.rx_bytes;
}

static int read_attribute(const struct nlattr *attribute, void *data)
{
	struct netdev *netdev = data;

	switch (mnl_attr_get_type(attribute)) {
	case IFLA_IFNAME:
		copy_name(netdev->name, sizeof(netdev->name), attribute);
		break;
	case IFLA_MTU:
		netdev->mtu = mnl_attr_get_u32(attribute);
		break;
	case IFLA_NUM_RX_QUEUES:
		netdev->rx_queues = mnl_attr_get_u32(attribute);
		break;
	case IFLA_NUM_TX_QUEUES:
		netdev->tx_queues = mnl_attr_get_u32(attribute);
		break;
	case IFLA_MASTER:
		/* Gone or unknown leaves the name empty. */
		if_indextoname(mnl_attr_get_u32(attribute), netdev->master);
		break;
	case IFLA_LINK:
		if_indextoname(mnl_attr_get_u32(attribute), netdev->lower);
		break;
	case IFLA_LINK_NETNSID: /* comes later: the number is of another namespace */
		netdev->lower[0] = '\0';
		break;
	case IFLA_STATS64:
		read_stats(netdev, attribute);
		break;
	case IFLA_LINKINFO:
		mnl_attr_parse_nested(attribute, read_link_info, netdev);
		break;
	}
	return MNL_CB_OK;
}

static void read_link(const struct nlmsghdr *message, struct netdev *netdev)
{
	const struct ifinfomsg *link = mnl_nlmsg_get_payload(message);

	memset(netdev, 0, sizeof(*netdev));
	netdev->ifindex = (unsigned int)link->ifi_index;
	netdev->type = link->ifi_type;
	netdev->up = link->ifi_flags & IFF_UP;
	mnl_attr_parse(message, sizeof(*link), read_attribute, netdev);
	if (!strcmp(netdev->kind, "veth")) /* that is its peer */
		netdev->lower[0] = '\0';
}

/* ---- requests ---- */

struct request {
	char buffer[1024];
	struct nlmsghdr *message;
};

static void request_links(struct request *request, uint16_t flags)
{
	memset(request, 0, sizeof(*request));
	request->message = mnl_nlmsg_put_header(request->buffer);
	request->message->nlmsg_type = RTM_GETLINK;
	request->message->nlmsg_flags = NLM_F_REQUEST | flags;
	request->message->nlmsg_seq = 1;
	mnl_nlmsg_put_extra_header(request->message, sizeof(struct ifinfomsg));
}

static int receive_answer(struct mnl_socket *socket, mnl_cb_t each, void *data)
{
	char buffer[ANSWER_SIZE];
	ssize_t length;
	int more;

	do {
		length = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
		if (length < 0)
			return -errno;
		more = mnl_cb_run(buffer, (size_t)length, 1, mnl_socket_get_portid(socket), each,
				  data);
		if (more < 0)
			return -errno;
	} while (more > MNL_CB_STOP);
	return 0;
}

static int ask(const struct request *request, mnl_cb_t each, void *data)
{
	struct mnl_socket *socket;
	int err = 0;

	socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!socket)
		return -errno;
	if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    mnl_socket_sendto(socket, request->message, request->message->nlmsg_len) < 0)
		err = -errno;
	if (!err)
		err = receive_answer(socket, each, data);
	mnl_socket_close(socket);
	return err;
}

static int keep_link(const struct nlmsghdr *message, void *data)
{
	read_link(message, data);
	return MNL_CB_STOP;
}

static int find_quietly(const char *name, struct netdev *netdev)
{
	struct request request;
	size_t length = strlen(name);
	int err;

	/* The kernel would call these names malformed; for the user they just don't exist. */
	if (!length || length >= NAME_MAX_SIZE)
		return -ENODEV;
	request_links(&request, 0);
	mnl_attr_put_strz(request.message, length < IF_NAMESIZE ? IFLA_IFNAME : IFLA_ALT_IFNAME,
			  name);
	err = ask(&request, keep_link, netdev);
	/* Before alternative names (5.5) a long name is an invalid one. */
	return err == -EINVAL ? -ENODEV : err;
}

/* ---- all interfaces ---- */

struct netdevs {
	struct netdev *all;
	size_t count;
	size_t room;
};

static int append_link(const struct nlmsghdr *message, void *data)
{
	struct netdevs *netdevs = data;

	if (netdevs->count == netdevs->room) {
		size_t room = netdevs->room ? 2 * netdevs->room : 16;
		struct netdev *all = reallocarray(netdevs->all, room, sizeof(*all));

		if (!all)
			return MNL_CB_ERROR;
		netdevs->all = all;
		netdevs->room = room;
	}
	read_link(message, &netdevs->all[netdevs->count++]);
	return MNL_CB_OK;
}

int netdev_list(struct netdev **list)
{
	struct netdevs netdevs = {0};
	struct request request;
	int attempts = DUMP_ATTEMPTS;
	int err;

	request_links(&request, NLM_F_DUMP);
	/* EINTR: interfaces came or went during the dump, so it may have missed some. */
	do {
		netdevs.count = 0;
		err = ask(&request, append_link, &netdevs);
	} while (err == -EINTR && --attempts);
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
static int await_change(struct mnl_socket *socket, uint64_t deadline)
{
	struct pollfd wake = {.fd = mnl_socket_get_fd(socket), .events = POLLIN};
	uint64_t now = now_ns();
	uint64_t left = deadline > now ? deadline - now : 0;
	struct timespec timeout = {.tv_sec = (time_t)(left / NS_PER_SECOND),
				   .tv_nsec = (long)(left % NS_PER_SECOND)};
	char buffer[ANSWER_SIZE];
	int ready;

	if (!left)
		return -ETIMEDOUT;
	ready = ppoll(&wake, 1, &timeout, NULL);
	if (ready <= 0)
		return ready ? -errno : -ETIMEDOUT;
	/* What changed doesn't matter, nor whether messages were lost: the caller looks again. */
	while (mnl_socket_recvfrom(socket, buffer, sizeof(buffer)) > 0)
		;
	return 0;
}

int netdev_wait(const char *name, uint64_t timeout_ns)
{
	uint64_t now = now_ns();
	uint64_t deadline = timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
	struct netdev netdev;
	struct mnl_socket *socket;
	int err;

	socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (!socket)
		return -errno;
	/* Subscribed before the first look, so that no interface slips in between. */
	if (mnl_socket_bind(socket, RTMGRP_LINK, MNL_SOCKET_AUTOPID) < 0) {
		err = -errno;
		goto close_socket;
	}
	for (;;) {
		err = find_quietly(name, &netdev);
		if (err != -ENODEV)
			break;
		err = await_change(socket, deadline);
		if (err && err != -EINTR)
			break;
	}
close_socket:
	mnl_socket_close(socket);
	return err;
}
