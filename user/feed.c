// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The latest events of interfaces, for those who ask time and again instead of waiting. */
#include "feed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "event_print.h"
#include "json.h"

#define IDLE_NS (10 * NS_PER_SECOND)

#define ALL_BUT_SAMPLES (((1U << EVENT_KINDS) - 1) & ~(1U << EVENT_SAMPLE))

static void close_feed(struct feed *feed)
{
	watch_close(feed->watch);
	for (uint64_t i = feed->first; i < feed->next; i++)
		json_object_put(feed->events[i % FEED_EVENTS]);
	memset(feed, 0, sizeof(*feed));
}

static struct feed *find_feed(struct feeds *feeds, unsigned int ifindex)
{
	for (int i = 0; i < FEEDS_MAX; i++)
		if (feeds->list[i].ifindex == ifindex)
			return &feeds->list[i];
	return NULL;
}

static int open_feed(struct feeds *feeds, const struct netdev *netdev, struct feed **opened)
{
	const struct event_request request = {.kinds = ALL_BUT_SAMPLES};
	struct feed *feed = find_feed(feeds, 0);
	int err = feed ? watch_open(netdev, &request, &feed->watch) : -EBUSY;

	if (err)
		return err;
	feed->ifindex = netdev->ifindex;
	/* Microseconds: an interface that is followed again never gives a number twice. */
	feed->first = feed->next = boot_clock_ns() / 1000;
	*opened = feed;
	return 0;
}

/* The line that `events` prints, without its end. */
static void put_line(struct json_object *object, const struct news *news, uint64_t epoch_ns)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return;
	event_print(news, epoch_ns, out);
	fclose(out);
	if (length)
		text[length - 1] = '\0';
	json_put_text(object, "line", text);
	free(text);
}

static int keep(const struct news *news, void *context)
{
	uint64_t epoch_ns = event_epoch_ns();
	struct feed *feed = context;

	if (feed->next - feed->first == FEED_EVENTS)
		json_object_put(feed->events[feed->first++ % FEED_EVENTS]);
	feed->events[feed->next % FEED_EVENTS] = event_json(news, epoch_ns);
	put_line(feed->events[feed->next % FEED_EVENTS], news, epoch_ns);
	feed->next++;
	return 0;
}

static struct json_object *lost_json(const struct feed *feed)
{
	struct events_lost lost;
	struct json_object *all, *counts;

	if (watch_lost(feed->watch, &lost))
		return NULL;
	all = events_lost_json(&lost, 0);
	counts = json_object_get(json_object_object_get(all, "lost"));
	json_object_put(all);
	return counts;
}

static struct json_object *feed_json(const struct feed *feed, uint64_t after)
{
	struct json_object *object = json_object_new_object(), *list = json_object_new_array();

	json_put_number(object, "next", feed->next);
	json_object_object_add(object, "lost", lost_json(feed));
	for (uint64_t i = after > feed->first ? after : feed->first; i < feed->next; i++)
		json_object_array_add(list, json_object_get(feed->events[i % FEED_EVENTS]));
	json_object_object_add(object, "events", list);
	return object;
}

int feed_read(struct feeds *feeds, const struct netdev *netdev, uint64_t after,
	      struct json_object **answer)
{
	struct feed *feed = find_feed(feeds, netdev->ifindex);
	int err = feed ? 0 : open_feed(feeds, netdev, &feed);

	if (err)
		return err;
	err = watch_poll(feed->watch, 0, keep, feed);
	if (err < 0 && err != -EINTR) {
		close_feed(feed);
		return err;
	}
	feed->asked_ns = boot_clock_ns();
	*answer = feed_json(feed, after);
	return 0;
}

void feeds_expire(struct feeds *feeds, uint64_t now_ns)
{
	for (int i = 0; i < FEEDS_MAX; i++)
		if (feeds->list[i].ifindex && now_ns - feeds->list[i].asked_ns > IDLE_NS)
			close_feed(&feeds->list[i]);
}

void feeds_free(struct feeds *feeds)
{
	for (int i = 0; i < FEEDS_MAX; i++)
		if (feeds->list[i].ifindex)
			close_feed(&feeds->list[i]);
}
