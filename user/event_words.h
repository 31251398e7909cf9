/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an event says, for those who print it. */
#ifndef XDP_LIMIT_EVENT_WORDS_H
#define XDP_LIMIT_EVENT_WORDS_H

#include "prefix.h"
#include "watch.h"

/** Who it is about; false when nobody is known. */
bool event_source(const struct event *event, struct policy_prefix *source);
/** The limit's name; NULL for none. */
const char *event_limit(const struct news *news);
/** tcp, udp and so on; NULL for those without a name here. */
const char *event_protocol(const struct event *event);
/** Whether a packet is what it is about: it has a reason, a length and a destination. */
bool event_has_packet(const struct event *event);

#endif
