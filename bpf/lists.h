/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sources that no limit is asked about. */
#ifndef XDP_LIMIT_LISTS_H
#define XDP_LIMIT_LISTS_H

#include "clock.h"
#include "maps.h"
#include "packet.h"

/* The SSH peer that attached, for a while. */
INLINE enum reason ssh_guard(const struct packet *packet, struct clock *clock)
{
	struct guard_key key;
	__u64 *ends;

	__builtin_memcpy(key.address, packet->source, sizeof(key.address));
	ends = bpf_map_lookup_elem(&guards, &key);
	return ends && clock_ns(clock) < *ends ? REASON_SSH_GUARD : REASON_NONE;
}

/* Once the last guard has ended the look-up costs nobody anything, without any process's help. */
INLINE enum reason lists(const struct packet *packet, const struct switches *now,
			 struct clock *clock)
{
	__u64 guards_end = READ_ONCE(now->guards_end_ns);

	if (guards_end && clock_ns(clock) < guards_end)
		return ssh_guard(packet, clock);
	return REASON_NONE;
}

#endif
