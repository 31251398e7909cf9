/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The latest events of interfaces, for those who ask time and again instead of waiting. */
#ifndef XDP_LIMIT_FEED_H
#define XDP_LIMIT_FEED_H

#include "netdev.h"

struct json_object;
struct watch;

#define FEEDS_MAX   8
#define FEED_EVENTS 256 /* that are kept of an interface */

struct feed {
	unsigned int ifindex; /* 0: not in use */
	struct watch *watch;
	uint64_t asked_ns; /* boot clock: when somebody asked last */
	uint64_t first;	   /* the number of the oldest that is kept */
	uint64_t next;	   /* and of the one to come */
	struct json_object *events[FEED_EVENTS];
};

struct feeds {
	struct feed list[FEEDS_MAX];
};

/**
 * feed_read - {"next", "lost", "events"} of @netdev: the events from number @after on, of those that are kept. It
 * is followed from the first question on, while somebody asks at least each ten seconds; numbers only grow.
 * Returns 0 with *@answer, to be put; -ENOENT when there is no limiter; -EBUSY when more interfaces are
 * asked for than can be followed, or there are too many readers; -errno.
 */
int feed_read(struct feeds *feeds, const struct netdev *netdev, uint64_t after,
	      struct json_object **answer);

/** feeds_expire - follow no longer what nobody asks for. */
void feeds_expire(struct feeds *feeds, uint64_t now_ns);
void feeds_free(struct feeds *feeds);

#endif
