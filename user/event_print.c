// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Events as lines for people, and the words that both outputs share. */
#include "event_print.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include "event_words.h"
#include "match_words.h"
#include "summary.h"
#include "units.h"

#define SOON_NS (20 * 3600 * NS_PER_SECOND)

static const char *const kind_names[] = {
#define XDP_LIMIT_NAME(NAME, name, per_second, text) [EVENT_##NAME] = #name,
	XDP_LIMIT_EVENT_KINDS(XDP_LIMIT_NAME)
#undef XDP_LIMIT_NAME
};

const char *event_kind_name(unsigned int kind)
{
	return kind < EVENT_KINDS ? kind_names[kind] : "unknown";
}

/* The kind called so by the first @length letters; EVENT_KINDS for none. */
static unsigned int find_kind(const char *name, size_t length)
{
	unsigned int kind = 0;

	while (kind < EVENT_KINDS &&
	       (strncmp(kind_names[kind], name, length) || kind_names[kind][length]))
		kind++;
	return kind;
}

int event_kinds_parse(const char *text, uint32_t *kinds, struct complaint *why)
{
	uint32_t found = 0;

	for (const char *name = text;; name++) {
		size_t length = strcspn(name, ",");
		unsigned int kind = find_kind(name, length);

		if (kind == EVENT_KINDS || !length)
			return complain(
				why, -EINVAL,
				"--kind '%.*s' is not known; write one or more of drop, list, "
				"gate, ban, unban, pressure, sample, with commas",
				(int)length, name);
		found |= 1U << kind;
		name += length;
		if (!*name)
			break;
	}
	*kinds = found;
	return 0;
}

uint64_t event_epoch_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec - boot_clock_ns();
}

/* ---- what both outputs say ---- */

bool event_source(const struct event *event, struct policy_prefix *source)
{
	memcpy(&source->address, event->source, sizeof(source->address));
	source->length = event->prefix;
	return event->family;
}

const char *event_limit(const struct news *news)
{
	return news->event->limit < MAX_LIMITS
		       ? news->running->table.limits[news->event->limit].name
		       : NULL;
}

const char *event_protocol(const struct event *event)
{
	for (const struct match_word *word = protocol_words; word->text; word++)
		if (word->value == event->protocol)
			return word->text;
	return NULL;
}

bool event_has_packet(const struct event *event)
{
	return event->reason < REASON_COUNT;
}

/* ---- lines ---- */

static void print_time(uint64_t time_ns, FILE *out)
{
	time_t seconds = (time_t)(time_ns / NS_PER_SECOND);
	struct tm local;
	char text[16];

	localtime_r(&seconds, &local);
	strftime(text, sizeof(text), "%H:%M:%S", &local);
	fprintf(out, "%s.%03u ", text, (unsigned int)(time_ns % NS_PER_SECOND / 1000000));
}

/* As the policy has it, without tiers. An earlier policy's limit has a name and no rate any more. */
static void print_rate(const struct config *config, uint8_t id, FILE *out)
{
	char text[UNITS_TEXT_SIZE];

	for (uint32_t i = 0; i < config->limit_count; i++) {
		const struct limit_label *label = &config->labels[i];
		const struct rate rate = {label->kind, config->limits[i].unit, label->amount,
					  label->per_ns};

		if (config->limits[i].id != id)
			continue;
		format_rate(&rate, text, sizeof(text));
		fprintf(out, " (%s)", text);
	}
}

static void print_limit(const struct news *news, FILE *out)
{
	const char *limit = event_limit(news);

	if (!limit)
		return;
	fprintf(out, " limit %s", limit);
	print_rate(&news->running->config, news->event->limit, out);
}

static void print_packet(const struct event *event, FILE *out)
{
	const char *protocol = event_protocol(event);
	struct address destination;
	char text[ADDRESS_TEXT_SIZE];
	bool ipv6;

	if (event->reason != REASON_OVER_LIMIT)
		fprintf(out, " %s", reason_name(event->reason));
	if (event->family) {
		memcpy(&destination, event->destination, sizeof(destination));
		format_address(&destination, text);
		ipv6 = event->family == 6 && event->destination_port;
		if (protocol)
			fprintf(out, " %s", protocol);
		else
			fprintf(out, " protocol %u", event->protocol);
		if (event->source_port)
			fprintf(out, " %u", event->source_port);
		fprintf(out, " > %s%s%s", ipv6 ? "[" : "", text, ipv6 ? "]" : "");
		if (event->destination_port)
			fprintf(out, ":%u", event->destination_port);
	}
	fprintf(out, " %u bytes", event->length);
	if (event->flags & EVENT_DRY_RUN)
		fputs(" (dry run)", out);
}

/* With the date where the time of day would not do. */
static void print_end(const struct event *event, uint64_t epoch_ns, FILE *out)
{
	bool soon = event->until_ns - event->time_ns < SOON_NS;
	time_t seconds = (time_t)((event->until_ns + epoch_ns) / NS_PER_SECOND);
	struct tm local;
	char text[32];

	localtime_r(&seconds, &local);
	strftime(text, sizeof(text), soon ? "%H:%M:%S" : "%Y-%m-%d %H:%M", &local);
	fprintf(out, " until %s", text);
}

static void print_ban(const struct news *news, uint64_t epoch_ns, FILE *out)
{
	if (!event_limit(news))
		fputs(" listed", out);
	if (news->event->until_ns == FOREVER)
		fputs(" for ever", out);
	else
		print_end(news->event, epoch_ns, out);
}

void event_print(const struct news *news, uint64_t epoch_ns, FILE *out)
{
	const struct event *event = news->event;
	char source[ADDRESS_TEXT_SIZE];
	struct policy_prefix prefix;

	print_time(event->time_ns + epoch_ns, out);
	fputs(event_kind_name(event->kind), out);
	if (event_source(event, &prefix)) {
		format_prefix(&prefix, source);
		fprintf(out, " %s", source);
	}
	print_limit(news, out);
	if (event->kind == EVENT_BAN)
		print_ban(news, epoch_ns, out);
	else if (event_has_packet(event))
		print_packet(event, out);
	if (news->text)
		fprintf(out, " %s", news->text);
	fputc('\n', out);
}

void event_comment(const struct news *news, char *text, size_t size)
{
	const char *limit = event_limit(news);

	snprintf(text, size, "%s%s%s%s", reason_name(news->event->reason), limit ? ", limit " : "",
		 limit ?: "", news->event->flags & EVENT_DRY_RUN ? ", dry run" : "");
}

/* ---- what was not told ---- */

bool events_lost_any(const struct events_lost *lost)
{
	bool any = lost->overflowed;

	for (int i = 0; i < EVENT_KERNEL_KINDS; i++)
		any |= lost->capped[i] != 0;
	return any;
}

void events_lost_print(const struct events_lost *lost, uint64_t time_ns, FILE *out)
{
	static const unsigned int per_second[] = {
#define XDP_LIMIT_CAP(NAME, name, most, text) [EVENT_##NAME] = (most),
		XDP_LIMIT_EVENT_KINDS(XDP_LIMIT_CAP)
#undef XDP_LIMIT_CAP
	};
	const char *separator = " ";

	print_time(time_ns, out);
	fputs("lost", out);
	for (unsigned int i = 0; i < EVENT_KERNEL_KINDS; i++) {
		if (!lost->capped[i])
			continue;
		fprintf(out, "%s%" PRIu64 " %s (more than %u per second)", separator,
			lost->capped[i], kind_names[i], per_second[i]);
		separator = ", ";
	}
	if (lost->overflowed)
		fprintf(out, "%s%" PRIu64 " that were not read in time", separator,
			lost->overflowed);
	fputc('\n', out);
}
