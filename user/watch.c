// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Follows one interface: forwards what the program tells, and looks for what it doesn't. */
#include "watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "bans.h"
#include "summary.h"
#include "units.h"

#define LOOK_NS	      NS_PER_SECOND
#define LOOK_AGAIN_NS (NS_PER_SECOND / 5)
#define PRESSURE_NS   (10 * NS_PER_SECOND)
/* A look that takes long comes so many times later. */
#define REST 20

#define KIND(NAME) (1U << EVENT_##NAME)

struct watch {
	struct netdev netdev;
	struct running running;
	struct event_request request;
	struct events *events;
	struct events_lost lost; /* of tables that are gone */
	bool was_absent;	 /* at the last look */
	struct ban_list bans;	 /* that are known */
	enum pressure pressure;
	uint64_t next_look_ns, next_bans_ns, next_pressure_ns;
	news_visit *visit; /* of the round under way */
	void *context;
};

/* ---- what is told to the visitor ---- */

static int tell(const struct watch *watch, const struct event *event, const uint8_t *frame,
		const char *text)
{
	const struct news news = {event, frame, &watch->running, text};

	if (!(watch->request.kinds >> event->kind & 1))
		return 0;
	return watch->visit(&news, watch->context);
}

static struct event own_event(enum event_kind kind)
{
	return (struct event){
		.time_ns = boot_clock_ns(),
		.kind = (__u8)kind,
		.reason = REASON_COUNT,
		.limit = NO_LIMIT,
	};
}

/* ---- bans ---- */

/* The table's own source: what a limit bans. */
static struct policy_prefix banned_prefix(const struct watch *watch, const struct event *event)
{
	const struct table_identity *table = &watch->running.table;
	struct policy_prefix prefix;

	memcpy(&prefix.address, event->source, sizeof(prefix.address));
	address_source(&prefix.address, table->ipv4_prefix, table->ipv6_prefix);
	prefix.length = address_is_ipv4(&prefix.address) ? table->ipv4_prefix : table->ipv6_prefix;
	return prefix;
}

/* A limit has banned a source. When the lists were looked at just before this came, it was told already. */
static int take_ban(struct watch *watch, const struct event *event)
{
	struct policy_prefix prefix = banned_prefix(watch, event);
	struct event told = *event;
	int err;

	if (bans_have(&watch->bans, &prefix, event->until_ns))
		return 0;
	err = bans_add(&watch->bans, &prefix, event->until_ns);
	if (err)
		return err;
	memcpy(told.source, &prefix.address, sizeof(told.source));
	told.prefix = (__u8)prefix.length;
	return tell(watch, &told, NULL, NULL);
}

static int take_event(const struct event *event, const uint8_t *frame, void *context)
{
	struct watch *watch = context;

	if (event->kind == EVENT_BAN)
		return take_ban(watch, event);
	return tell(watch, event, frame, NULL);
}

static int note_ban(const struct policy_prefix *prefix, uint64_t until_ns, void *context)
{
	return bans_add(context, prefix, until_ns);
}

static int tell_ban(const struct ban *ban, bool is_new, void *context)
{
	const struct watch *watch = context;
	struct event event = own_event(is_new ? EVENT_BAN : EVENT_UNBAN);

	memcpy(event.source, &ban->prefix.address, sizeof(event.source));
	event.family = address_is_ipv4(&ban->prefix.address) ? 4 : 6;
	event.prefix = (__u8)ban->prefix.length;
	event.until_ns = ban->until_ns;
	if (is_new)
		return tell(watch, &event, NULL, NULL);
	return tell(watch, &event, NULL,
		    ban->until_ns <= event.time_ns ? "its time is over" : "taken off the list");
}

static int read_bans(const struct watch *watch, struct ban_list *now)
{
	int err = live_visit(&watch->running, LIVE_BAN, note_ban, now);

	bans_sort(now);
	return err;
}

static int look_at_bans(struct watch *watch)
{
	struct ban_list now = {0};
	int err = read_bans(watch, &now);

	bans_sort(&watch->bans);
	err = err ?: bans_compare(&watch->bans, &now, tell_ban, watch);
	bans_free(&watch->bans);
	watch->bans = now;
	return err;
}

/* ---- pressure ---- */

static int look_at_table(struct watch *watch)
{
	struct event event = own_event(EVENT_PRESSURE);
	struct warnings warnings = {0};
	struct summary summary;
	enum pressure before = watch->pressure;
	int err = summary_read(&watch->netdev, &watch->running, &summary);

	if (err)
		return err;
	watch->pressure = summary_pressure(&summary);
	if (watch->pressure > before) {
		summary_warnings(&summary, &warnings);
		err = tell(watch, &event, NULL, warnings.count ? warnings.text[0] : NULL);
	}
	summary_free(&summary);
	return err;
}

/* ---- what is followed ---- */

static void add_lost(struct events_lost *sum, const struct events_lost *part)
{
	for (int i = 0; i < EVENT_KERNEL_KINDS; i++)
		sum->capped[i] += part->capped[i];
	sum->overflowed += part->overflowed;
}

/* Another program is there. On the same maps its events come as before. */
static int follow(struct watch *watch, struct running *next)
{
	struct events_lost lost;
	int err = 0;

	if (!events_are_of(watch->events, next)) {
		if (!events_lost(watch->events, &watch->running, &lost))
			add_lost(&watch->lost, &lost);
		events_close(watch->events);
		watch->events = NULL;
		watch->pressure = PRESSURE_NONE;
		err = events_open(next, &watch->request, &watch->events);
	}
	running_close(&watch->running);
	watch->running = *next;
	return err;
}

/* An attach over netlink leaves the interface without a program for a moment: absent is who is so twice. */
static int look_around(struct watch *watch, uint64_t now)
{
	struct attachment there;
	struct running next;
	if (!attachment_find(watch->netdev.ifindex, &there) && there.ours &&
	    there.program_id == watch->running.attachment.program_id)
		return 0;
	if (!running_open(watch->netdev.ifindex, &next)) {
		watch->was_absent = false;
		return follow(watch, &next);
	}
	running_close(&next);
	if (watch->was_absent)
		return -ENOENT;
	watch->was_absent = true;
	watch->next_look_ns = now + LOOK_AGAIN_NS;
	return 0;
}

/* ---- turns ---- */

static bool is_due(uint64_t *next_ns, uint64_t now, uint64_t interval_ns)
{
	if (now < *next_ns)
		return false;
	*next_ns = now + interval_ns;
	return true;
}

/* How long it took says how soon it comes again. */
static void rest(uint64_t *next_ns, uint64_t since_ns)
{
	uint64_t now = boot_clock_ns(), pause = REST * (now - since_ns);

	if (*next_ns < now + pause)
		*next_ns = now + pause;
}

static int look(struct watch *watch)
{
	uint64_t now = boot_clock_ns();
	int err = is_due(&watch->next_look_ns, now, LOOK_NS) ? look_around(watch, now) : 0;

	if (!err && watch->request.kinds & (KIND(BAN) | KIND(UNBAN)) &&
	    is_due(&watch->next_bans_ns, now, LOOK_NS)) {
		err = look_at_bans(watch);
		rest(&watch->next_bans_ns, now);
		now = boot_clock_ns();
	}
	if (!err && watch->request.kinds & KIND(PRESSURE) &&
	    is_due(&watch->next_pressure_ns, now, PRESSURE_NS)) {
		err = look_at_table(watch);
		rest(&watch->next_pressure_ns, now);
	}
	return err;
}

/* ---- the door ---- */

static int start(struct watch *watch)
{
	int err = running_open(watch->netdev.ifindex, &watch->running);

	err = err ?: events_open(&watch->running, &watch->request, &watch->events);
	/* Those who are banned already are no news. */
	return err ?: read_bans(watch, &watch->bans);
}

int watch_open(const struct netdev *netdev, const struct event_request *request,
	       struct watch **opened)
{
	struct watch *watch = calloc(1, sizeof(*watch));
	int err;

	*opened = NULL;
	if (!watch)
		return -ENOMEM;
	watch->netdev = *netdev;
	watch->request = *request;
	err = start(watch);
	if (err)
		watch_close(watch);
	else
		*opened = watch;
	return err;
}

int watch_poll(struct watch *watch, int timeout_ms, news_visit *visit, void *context)
{
	int longest = LOOK_NS / 1000000, err;

	watch->visit = visit;
	watch->context = context;
	err = look(watch);
	if (err)
		return err;
	return events_poll(watch->events,
			   timeout_ms < 0 || timeout_ms > longest ? longest : timeout_ms,
			   take_event, watch);
}

int watch_fd(const struct watch *watch)
{
	return events_fd(watch->events);
}

int watch_lost(const struct watch *watch, struct events_lost *lost)
{
	int err = 0;

	*lost = (struct events_lost){0};
	/* It may have found no place among the readers of a new table. */
	if (watch->events)
		err = events_lost(watch->events, &watch->running, lost);
	add_lost(lost, &watch->lost);
	return err;
}

const struct running *watch_running(const struct watch *watch)
{
	return &watch->running;
}

void watch_close(struct watch *watch)
{
	if (!watch)
		return;
	events_close(watch->events);
	bans_free(&watch->bans);
	running_close(&watch->running);
	free(watch);
}
