// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Events as JSON: every key in every object, so that a reader need not ask. */
#include <stdio.h>
#include <string.h>
#include "event_print.h"
#include "event_words.h"
#include "json.h"
#include "summary.h"
#include "units.h"

/* Nanoseconds do not fit into a double of this size; the text has them all. */
static void put_time(struct json_object *object, const char *key, uint64_t time_ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu.%09llu", time_ns / NS_PER_SECOND,
		 time_ns % NS_PER_SECOND);
	json_object_object_add(object, key,
			       json_object_new_double_s((double)time_ns / NS_PER_SECOND, text));
}

static void put_source(struct json_object *object, const struct event *event)
{
	struct policy_prefix source;
	char text[ADDRESS_TEXT_SIZE];
	bool known = event_source(event, &source);

	if (known)
		format_prefix(&source, text);
	json_put_text(object, "source", known ? text : NULL);
}

static void put_number_if(struct json_object *object, const char *key, bool there, uint64_t number)
{
	if (there)
		json_put_number(object, key, number);
	else
		json_put_null(object, key);
}

static void put_packet(struct json_object *object, const struct event *event)
{
	bool packet = event_has_packet(event), addressed = packet && event->family;
	const char *protocol = event_protocol(event);
	struct address destination;
	char text[ADDRESS_TEXT_SIZE];

	memcpy(&destination, event->destination, sizeof(destination));
	format_address(&destination, text);
	json_put_text(object, "reason", packet ? reason_name(event->reason) : NULL);
	json_put_text(object, "destination", addressed ? text : NULL);
	if (addressed && protocol)
		json_put_text(object, "protocol", protocol);
	else
		put_number_if(object, "protocol", addressed, event->protocol);
	put_number_if(object, "source_port", event->source_port, event->source_port);
	put_number_if(object, "destination_port", event->destination_port, event->destination_port);
	put_number_if(object, "bytes", packet, event->length);
	json_put_bool(object, "dry_run", event->flags & EVENT_DRY_RUN);
}

struct json_object *event_json(const struct news *news, uint64_t epoch_ns)
{
	struct json_object *object = json_object_new_object();
	const struct event *event = news->event;

	put_time(object, "time", event->time_ns + epoch_ns);
	json_put_text(object, "kind", event_kind_name(event->kind));
	put_source(object, event);
	json_put_text(object, "limit", event_limit(news));
	put_packet(object, event);
	if (event->until_ns && event->until_ns != FOREVER)
		put_time(object, "until", event->until_ns + epoch_ns);
	else
		json_put_null(object, "until");
	json_put_text(object, "text", news->text);
	return object;
}

struct json_object *events_lost_json(const struct events_lost *lost, uint64_t time_ns)
{
	struct json_object *object = json_object_new_object(), *counts;

	put_time(object, "time", time_ns);
	json_put_text(object, "kind", "lost");
	counts = json_put_object(object, "lost");
	for (unsigned int i = 0; i < EVENT_KERNEL_KINDS; i++)
		json_put_number(counts, event_kind_name(i), lost->capped[i]);
	json_put_number(counts, "unread", lost->overflowed);
	return object;
}
