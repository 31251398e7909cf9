/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The traffic that a network dies without: never charged, within a budget per interface. */
#ifndef XDP_LIMIT_CONTROL_H
#define XDP_LIMIT_CONTROL_H

#include <linux/in.h>
#include <linux/in6.h>
#include "charge.h"
#include "clock.h"
#include "maps.h"
#include "packet.h"

#define CONTROL_INTERVAL_NS 1000000ULL /* 1000 per second, and as many at once */
#define CONTROL_BURST_NS    1000000000ULL

#define ICMP_DEST_UNREACH     3
#define ICMP_FRAG_NEEDED      4
#define ICMPV6_PACKET_TOO_BIG 2
#define ICMPV6_MLD_QUERY      130
#define ICMPV6_MLD_DONE	      132
#define ICMPV6_ROUTER_FIRST   133 /* RS, RA, NS, NA, redirect */
#define ICMPV6_ROUTER_LAST    137
#define ICMPV6_MLD2_REPORT    143

enum dhcp_port {
	DHCP_SERVER = 67,
	DHCP_CLIENT = 68,
	DHCPV6_CLIENT = 546,
	DHCPV6_SERVER = 547,
};

INLINE bool is_neighbour_discovery(const struct packet *packet)
{
	/* A hop limit of 255 proves that no router forwarded it (RFC 4861, 3.1). */
	return packet->icmp_type >= ICMPV6_ROUTER_FIRST &&
	       packet->icmp_type <= ICMPV6_ROUTER_LAST && packet->hop_limit == 255 &&
	       packet->icmp_code == 0;
}

INLINE bool is_multicast_listener(const struct packet *packet)
{
	bool type = (packet->icmp_type >= ICMPV6_MLD_QUERY &&
		     packet->icmp_type <= ICMPV6_MLD_DONE) ||
		    packet->icmp_type == ICMPV6_MLD2_REPORT;

	return type && packet->hop_limit == 1 && (is_link_local(packet) || is_unspecified(packet));
}

INLINE bool is_icmpv6_control(const struct packet *packet)
{
	return (packet->icmp_type == ICMPV6_PACKET_TOO_BIG && packet->icmp_code == 0) ||
	       is_neighbour_discovery(packet) || is_multicast_listener(packet);
}

INLINE bool is_icmp_control(const struct packet *packet)
{
	return packet->icmp_type == ICMP_DEST_UNREACH && packet->icmp_code == ICMP_FRAG_NEEDED;
}

INLINE bool is_between(const struct packet *packet, __u16 one, __u16 other)
{
	__u16 from = packet->source_port, to = packet->destination_port;

	return (from == one && to == other) || (from == other && to == one);
}

INLINE bool is_dhcp(const struct packet *packet)
{
	bool ports = packet->family == 4 ? is_between(packet, DHCP_CLIENT, DHCP_SERVER)
					 : is_between(packet, DHCPV6_CLIENT, DHCPV6_SERVER);

	return ports && (is_unspecified(packet) || is_link_local(packet));
}

INLINE bool is_control(const struct packet *packet)
{
	if (packet->flags & PACKET_FRAGMENT)
		return false;
	switch (packet->protocol) {
	case IPPROTO_ICMPV6:
		return packet->flags & PACKET_HAS_ICMP && is_icmpv6_control(packet);
	case IPPROTO_ICMP:
		return packet->flags & PACKET_HAS_ICMP && is_icmp_control(packet);
	case IPPROTO_IGMP:
		return packet->family == 4 && packet->hop_limit == 1;
	case IPPROTO_UDP:
		return is_dhcp(packet);
	default:
		return false;
	}
}

/*
 * Whether the interface's budget has room at @now_ns. Cold, so a call is fine, and a global
 * function is verified once, not for each kind of control packet.
 */
__noinline int control_budget(__u64 now_ns)
{
	static const volatile struct limit budget = {
		.burst = CONTROL_BURST_NS,
		.multiplier = CONTROL_INTERVAL_NS,
		.slack = CONTROL_BURST_NS,
		.max_units = 1000,
	};
	__u32 index = BUDGET_CONTROL;
	struct shared_word *shared = bpf_map_lookup_elem(&budgets, &index);
	__u64 left;

	return shared &&
	       charge_word(&shared->word, now_ns, &budget, CONTROL_INTERVAL_NS, &left) == CHARGED;
}

/** Pass control traffic uncharged; beyond the budget it is charged like everything else. */
INLINE enum reason control(const struct packet *packet, struct clock *clock)
{
	if (!is_control(packet) || !control_budget(clock_ns(clock)))
		return REASON_NONE;
	return REASON_CONTROL;
}

#endif
