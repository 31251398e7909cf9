// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Default gateways and own addresses of an interface, from the kernel's routes and addresses. */
#include "netroute.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <netlink/attr.h>
#include <string.h>
#include "netlink.h"

#define IPV4_SIZE 4U
#define IPV6_SIZE 16U

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
	return attribute ? add(specials, kind, nla_data(attribute), (size_t)nla_len(attribute)) : 0;
}

/* What the kernel is asked for here has types up to this one; later ones are left out. */
#define ATTRIBUTES_MAX RTA_VIA

/* RTA_GATEWAY, or RTA_VIA for an IPv4 route by way of an IPv6 neighbour. */
static int add_gateway(struct specials *specials, struct nlattr *const *attributes)
{
	const struct nlattr *via = attributes[RTA_VIA];
	int head = offsetof(struct rtvia, rtvia_addr);

	if (via && nla_len(via) > head)
		return add(specials, SPECIAL_GATEWAY, (char *)nla_data(via) + head,
			   (size_t)(nla_len(via) - head));
	return add_payload(specials, SPECIAL_GATEWAY, attributes[RTA_GATEWAY]);
}

static int read_hops(const struct nlattr *multipath, const struct route_links *links,
		     struct specials *specials)
{
	struct nlattr *attributes[ATTRIBUTES_MAX + 1];
	const struct rtnexthop *hop = nla_data(multipath);
	int left = nla_len(multipath);
	int err = 0;

	while (left >= (int)sizeof(*hop) && RTNH_OK(hop, left) && !err) {
		nla_parse(attributes, ATTRIBUTES_MAX, (struct nlattr *)RTNH_DATA(hop),
			  (int)(hop->rtnh_len - sizeof(*hop)), NULL);
		if (is_ours(links, (unsigned int)hop->rtnh_ifindex))
			err = add_gateway(specials, attributes);
		left -= RTNH_ALIGN(hop->rtnh_len);
		hop = RTNH_NEXT(hop);
	}
	return err;
}

static int read_route(struct nlmsghdr *message, const struct route_links *links,
		      struct specials *specials)
{
	const struct rtmsg *route = nlmsg_data(message);
	struct nlattr *attributes[ATTRIBUTES_MAX + 1];

	if (nlmsg_parse(message, sizeof(*route), attributes, ATTRIBUTES_MAX, NULL))
		return -EBADMSG;
	if (route->rtm_dst_len || route->rtm_type != RTN_UNICAST)
		return 0;
	if (attributes[RTA_MULTIPATH])
		return read_hops(attributes[RTA_MULTIPATH], links, specials);
	if (!attributes[RTA_OIF] || !is_ours(links, nla_get_u32(attributes[RTA_OIF])))
		return 0;
	return add_gateway(specials, attributes);
}

static int read_address(struct nlmsghdr *message, const struct route_links *links,
			struct specials *specials)
{
	const struct ifaddrmsg *address = nlmsg_data(message);
	struct nlattr *attributes[ATTRIBUTES_MAX + 1];

	if (nlmsg_parse(message, sizeof(*address), attributes, ATTRIBUTES_MAX, NULL))
		return -EBADMSG;
	if (!is_ours(links, address->ifa_index))
		return 0;
	/* On a point-to-point link IFA_ADDRESS is the peer's. */
	return add_payload(specials, SPECIAL_OWN,
			   attributes[IFA_LOCAL] ? attributes[IFA_LOCAL] : attributes[IFA_ADDRESS]);
}

int netroute_read(struct nlmsghdr *message, const struct route_links *links,
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

static int read_message(struct nlmsghdr *message, void *data)
{
	const struct reading *reading = data;

	return netroute_read(message, &reading->links, reading->specials);
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
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]) && !err; i++)
		err = netlink_dump(requests[i], NULL, read_message, &reading);
	return err;
}
