/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sources that no limit is asked about. */
#ifndef XDP_LIMIT_LISTS_H
#define XDP_LIMIT_LISTS_H

#include "clock.h"
#include "maps.h"
#include "packet.h"

/*
 * The SSH peer that attached, for a while. The switch is off again once the loader finds all
 * guards ended, so that nobody pays for the look-up for ever.
 */
INLINE enum reason ssh_guard(const struct packet *packet, struct clock *clock)
{
	struct guard_key key;
	__u64 *ends;

	__builtin_memcpy(key.address, packet->source, sizeof(key.address));
	ends = bpf_map_lookup_elem(&guards, &key);
	return ends && clock_ns(clock) < *ends ? REASON_SSH_GUARD : REASON_NONE;
}

INLINE enum reason lists(const struct packet *packet, const struct switches *now,
			 struct clock *clock)
{
	return READ_ONCE(now->guards) ? ssh_guard(packet, clock) : REASON_NONE;
}

#endif
