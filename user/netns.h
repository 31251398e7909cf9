/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Network namespaces by name or path. */
#ifndef XDP_LIMIT_NETNS_H
#define XDP_LIMIT_NETNS_H

#include "complaint.h"

/**
 * netns_enter - move this process into the network namespace @name (of `ip netns`, or a path when
 * it has a slash); its mounts stay, so pins go to the host's bpffs.
 * Returns 0, or -errno with a sentence in @why.
 */
int netns_enter(const char *name, struct complaint *why);

#endif
