/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which limits a packet meets: a bit mask in charge order. */
#ifndef XDP_LIMIT_CLASSIFY_H
#define XDP_LIMIT_CLASSIFY_H

#include "packet.h"

/** The set of limits to charge, bit i for config.limits[i]. Every limit meets every packet. */
INLINE __u32 classify(const struct packet *packet)
{
	(void)packet;
	return config.limit_count >= 32 ? ~0U : (1U << config.limit_count) - 1;
}

#endif
