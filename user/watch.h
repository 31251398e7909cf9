/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All events of one interface as they happen: those that the program tells, and those that only a look shows. */
#ifndef XDP_LIMIT_WATCH_H
#define XDP_LIMIT_WATCH_H

#include "kernel.h"
#include "netdev.h"

struct watch;

/* One event, with what belongs to it; all of it only until the visit ends. */
struct news {
	const struct event *event;
	const uint8_t *frame;	       /* event->captured bytes */
	const struct running *running; /* for its limits */
	const char *text;	       /* a sentence, of what needs one; else NULL */
};

/** A non-zero result ends the round. */
typedef int news_visit(const struct news *news, void *context);

/**
 * watch_open - follow the limiter on @netdev from now on, also over apply and `--recreate`.
 * Bans and their ends by commands and by time come from comparing the lists about once a second, pressure from
 * reading the table, neither with more than a twentieth of a CPU.
 * Errors as of running_open() and events_open().
 */
int watch_open(const struct netdev *netdev, const struct event_request *request,
	       struct watch **opened);
/**
 * watch_poll - wait at most @timeout_ms, and a second, and hand what came to @visit. To be called at least
 * each second. Returns 0 or more; -ENOENT when the limiter is gone; -EINTR; what @visit returned when that
 * was negative; -errno.
 */
int watch_poll(struct watch *watch, int timeout_ms, news_visit *visit, void *context);
/** For poll(2): readable when the program told something. It may change after watch_poll(). */
int watch_fd(const struct watch *watch);
/** watch_lost - what was not told since watch_open(): 0 or -errno. */
int watch_lost(const struct watch *watch, struct events_lost *lost);
/** The limiter that is followed; it may be another after watch_poll(). */
const struct running *watch_running(const struct watch *watch);
void watch_close(struct watch *watch);

#endif
