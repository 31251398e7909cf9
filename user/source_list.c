// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The buckets that were asked for, in an order, and as JSON. */
#include "source_list.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "bucket_name.h"

static const struct {
	const char *name;
	enum order order;
} orders[] = {
	{"dropped", ORDER_DROPPED},
	{"passed", ORDER_PASSED},
	{"rate", ORDER_RATE},
};

static int take_order(const char *text, enum order *order, struct complaint *why)
{
	*order = ORDER_DROPPED;
	if (!text)
		return 0;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		if (!strcmp(text, orders[i].name)) {
			*order = orders[i].order;
			return 0;
		}
	return complain(why, -EINVAL, "the order '%s' is not known; write dropped, passed or rate",
			text);
}

static int take_bucket(const struct bucket *bucket, void *context)
{
	struct source_list *list = context;

	if (list->limit >= 0 && bucket->limit != list->limit)
		return 0;
	return selection_add(&list->selection, bucket);
}

/* One address: exactly the buckets that it is in as a source, without a walk. */
static int take_address(struct source_list *list, const struct address *address)
{
	struct bucket buckets[MAX_LIMITS];
	int err = read_source(list->running, address, buckets);

	if (err)
		return err == -ENOENT ? 0 : err;
	for (uint32_t i = 0; i < list->running->config.limit_count && !err; i++)
		if (buckets[i].born_ns && limit_kind_of(list->running, i)->per != PER_INTERFACE)
			err = take_bucket(&buckets[i], list);
	return err;
}

int source_list_read(const struct running *running, const struct source_request *request,
		     struct source_list *list, struct complaint *why)
{
	enum order order = ORDER_DROPPED;
	int err;

	*list = (struct source_list){.running = running, .now_ns = boot_clock_ns()};
	err = take_order(request->by, &order, why)
		      ?: limit_by_name(&running->config, request->limit, &list->limit, why);
	if (err)
		return err;
	selection_start(&list->selection, request->top, order, list->now_ns);
	if (request->address)
		err = take_address(list, request->address);
	else
		err = read_buckets(running, take_bucket, list);
	if (err) {
		source_list_free(list);
		return complain(why, err, "cannot read the buckets: %s", strerror(-err));
	}
	selection_finish(&list->selection);
	return 0;
}

void source_list_free(struct source_list *list)
{
	selection_free(&list->selection);
}

uint64_t source_remaining(const struct source_list *list, const struct bucket *bucket)
{
	const struct running *running = list->running;
	unsigned int place = bucket->limit;
	struct limit_state state = {0};

	if (running->config.tiers && limit_kind_of(running, bucket->limit)->per == PER_SOURCE)
		place += ask_tier(running, &bucket->source) * MAX_LIMITS;
	read_state(running, bucket, place, list->now_ns, &state);
	return state.remaining;
}

void format_passed(const struct running *running, uint64_t count, const char *unknown,
		   char text[COUNT_TEXT_SIZE])
{
	if (running->config.flat)
		snprintf(text, COUNT_TEXT_SIZE, "%s", unknown);
	else
		snprintf(text, COUNT_TEXT_SIZE, "%" PRIu64, count);
}

/* Names and addresses need no escapes, and a million objects would need a gigabyte. */
static void write_json_row(const struct source_list *list, const struct bucket *bucket, bool last,
			   FILE *out)
{
	const struct running *running = list->running;
	const struct tally *tally = &bucket->tally;
	char source[BUCKET_NAME_SIZE], passed[COUNT_TEXT_SIZE], bytes[COUNT_TEXT_SIZE];

	bucket_name(running, bucket, source);
	format_passed(running, tally->passed_packets, "null", passed);
	format_passed(running, tally->passed_bytes, "null", bytes);
	fprintf(out,
		"  {\"source\": \"%s\", \"limit\": \"%s\", \"passed_packets\": %s, "
		"\"passed_bytes\": %s, \"dropped_packets\": %llu, "
		"\"dropped_bytes\": %llu, \"remaining\": %" PRIu64 "}%s\n",
		source, running->config.labels[bucket->limit].name, passed, bytes,
		tally->dropped_packets, tally->dropped_bytes, source_remaining(list, bucket),
		last ? "" : ",");
}

void source_list_json(const struct source_list *list, FILE *out)
{
	const struct selection *selection = &list->selection;

	fputs("[\n", out);
	for (size_t i = 0; i < selection->count; i++)
		write_json_row(list, &selection->buckets[i], i + 1 == selection->count, out);
	fputs("]\n", out);
}
