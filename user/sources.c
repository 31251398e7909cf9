// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit sources: the buckets, the worst first. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bucket_name.h"
#include "command.h"
#include "report.h"
#include "selection.h"
#include "target.h"

enum sources_option {
	OPTION_TOP,
	OPTION_BY,
	OPTION_LIMIT,
};

// clang-format off
static const struct option_spec options[] = {
	[OPTION_TOP] = {"top", "N", "only the first N"},
	[OPTION_BY] = {"by", "dropped|passed|rate",
		"dropped (default), passed, or rate (packets per second of its life)"},
	[OPTION_LIMIT] = {"limit", "NAME", "only buckets of this limit"},
	{NULL, NULL, NULL},
};
// clang-format on

static const struct {
	const char *name;
	enum order order;
} orders[] = {
	{"dropped", ORDER_DROPPED},
	{"passed", ORDER_PASSED},
	{"rate", ORDER_RATE},
};

struct source_list {
	const struct running *running;
	struct selection selection;
	int limit; /* index; -1 for all */
	uint64_t now_ns;
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
	return complain(why, -EINVAL, "--by '%s' is not known; write dropped, passed or rate",
			text);
}

static int take_limit(const struct config *config, const char *name, int *limit,
		      struct complaint *why)
{
	*limit = -1;
	for (uint32_t i = 0; name && i < config->limit_count; i++)
		if (!strcmp(config->labels[i].name, name))
			*limit = i;
	if (name && *limit < 0)
		return complain(why, -EINVAL,
				"there is no limit '%s'; `xdp-limit status` lists them", name);
	return 0;
}

static int prepare(const struct invocation *invocation, const struct running *running,
		   struct source_list *listing, struct complaint *why)
{
	uint64_t top = 0;
	enum order order;
	int err = take_order(invocation->values[OPTION_BY], &order, why)
			  ?: take_limit(&running->config, invocation->values[OPTION_LIMIT],
					&listing->limit, why);

	if (!err && invocation->values[OPTION_TOP])
		err = parse_count(invocation->values[OPTION_TOP], "--top", 1, SOURCES_MAX, &top,
				  why);
	listing->running = running;
	listing->now_ns = boot_clock_ns();
	selection_start(&listing->selection, top, order, listing->now_ns);
	return err;
}

static int take_bucket(const struct bucket *bucket, void *context)
{
	struct source_list *listing = context;

	if (listing->limit >= 0 && bucket->limit != listing->limit)
		return 0;
	return selection_add(&listing->selection, bucket);
}

/* One address: exactly the buckets that it is in as a source, without a walk. */
static int take_address(struct source_list *listing, const char *text, struct complaint *why)
{
	struct bucket buckets[MAX_LIMITS];
	struct address address;
	int err = parse_address(text, &address, why);

	if (err)
		return err;
	err = read_source(listing->running, &address, buckets);
	if (err)
		return err == -ENOENT ? 0
				      : complain(why, -EIO, "cannot read the bucket of %s: %s",
						 text, strerror(-err));
	for (uint32_t i = 0; i < listing->running->config.limit_count && !err; i++)
		if (buckets[i].born_ns && limit_kind_of(listing->running, i)->per != PER_INTERFACE)
			err = take_bucket(&buckets[i], listing);
	return err;
}

/* Of a source in a tier: under the tier's rate. */
static uint64_t remaining(const struct source_list *listing, const struct bucket *bucket)
{
	const struct running *running = listing->running;
	unsigned int place = bucket->limit;
	struct limit_state state = {0};

	if (running->config.tiers && limit_kind_of(running, bucket->limit)->per == PER_SOURCE)
		place += ask_tier(running, &bucket->source) * MAX_LIMITS;
	read_state(running, bucket, place, listing->now_ns, &state);
	return state.remaining;
}

#define COUNT_TEXT_SIZE 24

/* A flat table keeps no count of what passed. */
static void format_passed(const struct running *running, uint64_t count, const char *unknown,
			  char text[COUNT_TEXT_SIZE])
{
	if (running->config.flat)
		snprintf(text, COUNT_TEXT_SIZE, "%s", unknown);
	else
		snprintf(text, COUNT_TEXT_SIZE, "%" PRIu64, count);
}

/* Names and addresses need no escapes, and a million objects would need a gigabyte. */
static void print_json_row(const struct source_list *listing, const struct bucket *bucket,
			   bool last)
{
	const struct running *running = listing->running;
	const struct tally *tally = &bucket->tally;
	char source[BUCKET_NAME_SIZE], passed[COUNT_TEXT_SIZE], bytes[COUNT_TEXT_SIZE];

	bucket_name(running, bucket, source);
	format_passed(running, tally->passed_packets, "null", passed);
	format_passed(running, tally->passed_bytes, "null", bytes);
	printf("  {\"source\": \"%s\", \"limit\": \"%s\", \"passed_packets\": %s, "
	       "\"passed_bytes\": %s, \"dropped_packets\": %llu, "
	       "\"dropped_bytes\": %llu, \"remaining\": %" PRIu64 "}%s\n",
	       source, running->config.labels[bucket->limit].name, passed, bytes,
	       tally->dropped_packets, tally->dropped_bytes, remaining(listing, bucket),
	       last ? "" : ",");
}

static void print_json(const struct source_list *listing)
{
	const struct selection *selection = &listing->selection;

	puts("[");
	for (size_t i = 0; i < selection->count; i++)
		print_json_row(listing, &selection->buckets[i], i + 1 == selection->count);
	puts("]");
}

static void print_text(const struct source_list *listing)
{
	const struct running *running = listing->running;

	printf("%-28s %-12s %14s %14s %14s\n", "source", "limit", "passed", "dropped", "remaining");
	for (size_t i = 0; i < listing->selection.count; i++) {
		const struct bucket *bucket = &listing->selection.buckets[i];
		char source[BUCKET_NAME_SIZE], passed[COUNT_TEXT_SIZE];

		bucket_name(running, bucket, source);
		format_passed(running, bucket->tally.passed_packets, "-", passed);
		printf("%-28s %-12s %14s %14llu %14" PRIu64 "\n", source,
		       running->config.labels[bucket->limit].name, passed,
		       bucket->tally.dropped_packets, remaining(listing, bucket));
	}
}

static enum exit_status list(const struct invocation *invocation, const struct target *target)
{
	const char *address = invocation->positionals[1];
	struct source_list listing;
	struct complaint why = {""};
	int err = prepare(invocation, &target->running, &listing, &why);

	if (!err)
		err = address ? take_address(&listing, address, &why)
			      : read_buckets(&target->running, take_bucket, &listing);
	if (err) {
		report_error("%s", why.text[0] ? why.text : strerror(-err));
		selection_free(&listing.selection);
		return err == -EINVAL || err == -ERANGE ? EXIT_USAGE : EXIT_FAILED;
	}
	selection_finish(&listing.selection);
	if (invocation->json)
		print_json(&listing);
	else
		print_text(&listing);
	selection_free(&listing.selection);
	return EXIT_DONE;
}

static enum exit_status run(const struct invocation *invocation)
{
	return target_run(invocation, list);
}

const struct command command_sources = {
	.name = "sources",
	.arguments = "IFACE [ADDRESS] [--top N] [--by ORDER] [--limit NAME] [--json]",
	.summary = "the sources with buckets, the most dropped first",
	.notes =
		"Of a flat table: the sources that have lost packets. What passed is not counted by source.",
	.positionals_min = 1,
	.positionals_max = 2,
	.reads = true,
	.options = options,
	.run = run,
};
