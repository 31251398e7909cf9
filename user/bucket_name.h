/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a bucket belongs to, as text: a source, a destination, or a pair of both. */
#ifndef XDP_LIMIT_BUCKET_NAME_H
#define XDP_LIMIT_BUCKET_NAME_H

#include "complaint.h"
#include "kernel.h"

#define BUCKET_NAME_SIZE (2 * ADDRESS_TEXT_SIZE)

/** What the limit @limit counts per. */
const struct kind_identity *limit_kind_of(const struct running *running, unsigned int limit);

/**
 * limit_by_name - the index of a limit in the policy, -1 for the name NULL: 0, or -EINVAL with a sentence
 * in @why.
 */
int limit_by_name(const struct config *config, const char *name, int *limit, struct complaint *why);

/**
 * bucket_name - "192.0.2.1", "192.0.2.0/24", ">198.51.100.1" for a destination,
 * "192.0.2.1>198.51.100.1" for a pair; of an IPv6 pair the destination is a hash: "2001:db8::/64>#...".
 */
void bucket_name(const struct running *running, const struct bucket *bucket,
		 char name[BUCKET_NAME_SIZE]);

#endif
