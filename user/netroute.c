// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Default gateways and own addresses of an interface, from the kernel's routes and addresses. */
#include "netroute.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <string.h>

#define ANSWER_SIZE   32768 /* what the kernel fills at most in one datagram of a dump */
#define DUMP_ATTEMPTS 10
#define IPV4_SIZE     4U
#define IPV6_SIZE     16U

/* ---- messages -> addresses ---- */

static bool is_ours(const struct route_links *links, unsigned int ifindex)
{
	return ifindex && (ifindex == links->own || ifindex == links->master);
}

/* @bytes as the kernel has them: 4 or 16. Others (MPLS) and the unspecified are left out. */
static int add(struct specials *specials, enum special_kind kind, const void *bytes, size_t size)
{
	static const uint8_t unspecified[IPV6_SIZE];
	struct special special = {.kind = kind};

	if ((size != IPV4_SIZE && size != IPV6_SIZE) || !memcmp(bytes, unspecified, size))
		return 0;
	if (size == IPV4_SIZE)
		memset(&special.address.bytes[10], 0xff, 2);
	memcpy(&special.address.bytes[IPV6_SIZE - size], bytes, size);
	return specials_add(specials, &special);
}

static int add_payload(struct specials *specials, enum special_kind kind,
		       const struct nlattr *attribute)
{
	return attribute ? add(specials, kind, mnl_attr_get_payload(attribute),
			       mnl_attr_get_payload_len(attribute))
			 : 0;
}

/* What the kernel is asked for here has types up to this one; later ones are left out. */
#define ATTRIBUTES_MAX RTA_VIA

static int keep_attribute(const struct nlattr *attribute, void *data)
{
	const struct nlattr **attributes = data;

	if (mnl_attr_get_type(attribute) <= ATTRIBUTES_MAX)
		attributes[mnl_attr_get_type(attribute)] = attribute;
	return MNL_CB_OK;
}

/* RTA_GATEWAY, or RTA_VIA for an IPv4 route by way of an IPv6 neighbour. */
static int add_gateway(struct specials *specials, const struct nlattr *const *attributes)
{
	const struct nlattr *via = attributes[RTA_VIA];
	size_t head = offsetof(struct rtvia, rtvia_addr);

	if (via && mnl_attr_get_payload_len(via) > head)
		return add(specials, SPECIAL_GATEWAY, (char *)mnl_attr_get_payload(via) + head,
			   mnl_attr_get_payload_len(via) - head);
	return add_payload(specials, SPECIAL_GATEWAY, attributes[RTA_GATEWAY]);
}

static int read_hops(const struct nlattr *multipath, const struct route_links *links,
		     struct specials *specials)
{
	const struct rtnexthop *hop = mnl_attr_get_payload(multipath);
	int left = mnl_attr_get_payload_len(multipath);
	int err = 0;

	while (left >= (int)sizeof(*hop) && RTNH_OK(hop, left) && !err) {
		const struct nlattr *attributes[ATTRIBUTES_MAX + 1] = {NULL};

		mnl_attr_parse_payload(RTNH_DATA(hop), hop->rtnh_len - sizeof(*hop), keep_attribute,
				       attributes);
		if (is_ours(links, (unsigned int)hop->rtnh_ifindex))
			err = add_gateway(specials, attributes);
		left -= RTNH_ALIGN(hop->rtnh_len);
		hop = RTNH_NEXT(hop);
	}
	return err;
}

static int read_route(const struct nlmsghdr *message, const struct route_links *links,
		      struct specials *specials)
{
	const struct rtmsg *route = mnl_nlmsg_get_payload(message);
	const struct nlattr *attributes[ATTRIBUTES_MAX + 1] = {NULL};

	if (route->rtm_dst_len || route->rtm_type != RTN_UNICAST)
		return 0;
	mnl_attr_parse(message, sizeof(*route), keep_attribute, attributes);
	if (attributes[RTA_MULTIPATH])
		return read_hops(attributes[RTA_MULTIPATH], links, specials);
	if (!attributes[RTA_OIF] || !is_ours(links, mnl_attr_get_u32(attributes[RTA_OIF])))
		return 0;
	return add_gateway(specials, attributes);
}

static int read_address(const struct nlmsghdr *message, const struct route_links *links,
			struct specials *specials)
{
	const struct ifaddrmsg *address = mnl_nlmsg_get_payload(message);
	const struct nlattr *attributes[ATTRIBUTES_MAX + 1] = {NULL};

	if (!is_ours(links, address->ifa_index))
		return 0;
	mnl_attr_parse(message, sizeof(*address), keep_attribute, attributes);
	/* On a point-to-point link IFA_ADDRESS is the peer's. */
	return add_payload(specials, SPECIAL_OWN,
			   attributes[IFA_LOCAL] ? attributes[IFA_LOCAL] : attributes[IFA_ADDRESS]);
}

int netroute_read(const struct nlmsghdr *message, const struct route_links *links,
		  struct specials *specials)
{
	switch (message->nlmsg_type) {
	case RTM_NEWROUTE:
		return read_route(message, links, specials);
	case RTM_NEWADDR:
		return read_address(message, links, specials);
	default:
		return 0;
	}
}

/* ---- dumps ---- */

struct reading {
	struct route_links links;
	struct specials *specials;
};

static int read_message(const struct nlmsghdr *message, void *data)
{
	const struct reading *reading = data;
	int err = netroute_read(message, &reading->links, reading->specials);

	errno = -err;
	return err ? MNL_CB_ERROR : MNL_CB_OK;
}

static int send_request(struct mnl_socket *socket, uint16_t type)
{
	char buffer[64] = "";
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);

	message->nlmsg_type = type;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	message->nlmsg_seq = 1;
	/* All zeros, so every family; the longest of what the two requests need. */
	mnl_nlmsg_put_extra_header(message, sizeof(struct rtmsg));
	return mnl_socket_sendto(socket, message, message->nlmsg_len) < 0 ? -errno : 0;
}

static int receive_dump(struct mnl_socket *socket, struct reading *reading)
{
	char buffer[ANSWER_SIZE] __attribute__((aligned(8)));
	ssize_t length;
	int more;

	do {
		length = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
		if (length < 0)
			return -errno;
		more = mnl_cb_run(buffer, (size_t)length, 1, mnl_socket_get_portid(socket),
				  read_message, reading);
		if (more < 0)
			return -errno;
	} while (more > MNL_CB_STOP);
	return 0;
}

static int dump(uint16_t type, struct reading *reading)
{
	struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	int err = 0;

	if (!socket)
		return -errno;
	if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0)
		err = -errno;
	err = err ?: send_request(socket, type) ?: receive_dump(socket, reading);
	mnl_socket_close(socket);
	return err;
}

int netroute_find(const struct netdev *netdev, struct specials *specials)
{
	static const uint16_t requests[] = {RTM_GETROUTE, RTM_GETADDR};
	struct reading reading = {.links = {.own = netdev->ifindex}};
	int err = 0;

	*specials = (struct specials){0};
	reading.specials = specials;
	if (netdev->type == ARPHRD_LOOPBACK)
		return 0;
	if (*netdev->master)
		reading.links.master = if_nametoindex(netdev->master);
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]) && !err; i++) {
		int attempts = DUMP_ATTEMPTS;

		/* EINTR: something changed during the dump, so it may have missed some. */
		do {
			err = dump(requests[i], &reading);
		} while (err == -EINTR && --attempts);
	}
	return err;
}
