/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which limits a packet meets: a bit mask in charge order, without a loop over the limits. */
#ifndef XDP_LIMIT_CLASSIFY_H
#define XDP_LIMIT_CLASSIFY_H

#include <linux/in.h>
#include "maps.h"
#include "packet.h"

/* The limits that one value of a field lets through; all, should the look-up fail. */
INLINE __u32 let_through(void *map, __u32 value)
{
	__u32 *limits = bpf_map_lookup_elem(map, &value);

	return limits ? *limits : ~0U;
}

INLINE __u32 by_ports(const struct packet *packet)
{
	__u32 limits = ~0U;

	if (!(packet->flags & PACKET_HAS_PORTS))
		return config.defaults.no_ports;
	if (config.match_fields & MATCH_SOURCE_PORT)
		limits &= let_through(&match_sport, packet->source_port);
	if (config.match_fields & MATCH_DESTINATION_PORT)
		limits &= let_through(&match_dport, packet->destination_port);
	return limits;
}

/* A later fragment of a TCP segment has no flags to match either. */
INLINE __u32 by_flags(const struct packet *packet)
{
	if (packet->protocol != IPPROTO_TCP || !(packet->flags & PACKET_HAS_PORTS))
		return config.defaults.no_flags;
	return let_through(&match_flags, packet->tcp_flags);
}

INLINE __u32 by_destination(const struct packet *packet)
{
	struct prefix_key key = {.length = WHOLE_PREFIX, .family = packet->family};
	__u32 *limits;

	__builtin_memcpy(key.address, packet->destination, sizeof(key.address));
	limits = bpf_map_lookup_elem(&match_dest, &key);
	return limits ? *limits : config.defaults.no_destination;
}

/* By the fields that are in use; the verifier removes the look-ups of the others. */
INLINE __u32 by_fields(const struct packet *packet, __u32 fields)
{
	__u32 met = config.all_limits;

	if (fields & MATCH_FAMILY)
		met &= config.defaults.family[packet->family == 6];
	if (fields & MATCH_PROTOCOL)
		met &= let_through(&match_protocol, packet->protocol);
	if (fields & (MATCH_SOURCE_PORT | MATCH_DESTINATION_PORT))
		met &= by_ports(packet);
	if (fields & MATCH_TCP_FLAGS)
		met &= by_flags(packet);
	if (fields & MATCH_VLAN)
		met &= let_through(&match_vlan, packet->vlan);
	if (fields & MATCH_LENGTH)
		met &= let_through(&match_length, packet->length < LENGTH_VALUES
							  ? packet->length
							  : LENGTH_VALUES - 1);
	if (fields & MATCH_DESTINATION)
		met &= by_destination(packet);
	return met;
}

/** The set of limits to charge, bit i for config.limits[i]. */
INLINE __u32 classify(const struct packet *packet)
{
	__u32 fields = config.match_fields;

	return fields ? by_fields(packet, fields) : config.all_limits;
}

#endif
