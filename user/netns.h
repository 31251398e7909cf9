/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Network namespaces: by name or path, and which one this is. */
#ifndef XDP_LIMIT_NETNS_H
#define XDP_LIMIT_NETNS_H

#include "complaint.h"

/**
 * netns_enter - move this process into the network namespace @name (of `ip netns`, or a path when
 * it has a slash); its mounts stay, so pins go to the host's bpffs.
 * Returns 0, or -errno with a sentence in @why.
 */
int netns_enter(const char *name, struct complaint *why);

/** netns_inode - what tells the network namespace of this thread from the others there are: 0 or -errno. */
int netns_inode(unsigned long long *inode);

/**
 * netns_assume - from now on netns_inode() says @inode: to look at what was left in the name of a namespace that
 * can't be entered any more. 0: no more.
 */
void netns_assume(unsigned long long inode);

#endif
