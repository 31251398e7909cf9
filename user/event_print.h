/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An event as a line for people, and as JSON: two functions over one struct. */
#ifndef XDP_LIMIT_EVENT_PRINT_H
#define XDP_LIMIT_EVENT_PRINT_H

#include <stdio.h>
#include "watch.h"

struct json_object;

const char *event_kind_name(unsigned int kind);
/** event_kinds_parse - names with commas between them to bits: 0, or -EINVAL with a sentence in @why. */
int event_kinds_parse(const char *text, uint32_t *kinds, struct complaint *why);

/** What to add to the boot clock to have the time since 1970. */
uint64_t event_epoch_ns(void);

/** event_print - one line: local time, kind, source, why. */
void event_print(const struct news *news, uint64_t epoch_ns, FILE *out);
/** event_comment - what a capture file says of a sample: reason and limit. */
void event_comment(const struct news *news, char *text, size_t size);
/** event_json - an object with all keys, null where there is nothing to say; the caller's. */
struct json_object *event_json(const struct news *news, uint64_t epoch_ns);

/** events_lost_print, events_lost_json - what was not told: a line, or an object of the kind `lost`. */
void events_lost_print(const struct events_lost *lost, uint64_t time_ns, FILE *out);
struct json_object *events_lost_json(const struct events_lost *lost, uint64_t time_ns);
/** events_lost_any - whether anything was. */
bool events_lost_any(const struct events_lost *lost);

#endif
