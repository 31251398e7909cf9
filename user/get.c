// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit get: what would happen to an address now. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "bucket_name.h"
#include "command.h"
#include "json.h"
#include "report.h"
#include "summary.h"
#include "target.h"

/* What is known of one address: the same struct for text and JSON. */
struct answer {
	const struct config *config;
	char source[ADDRESS_TEXT_SIZE];
	unsigned int tier;    /* from 1; 0: none */
	enum reason listed;   /* what the lists say; REASON_NONE: the limits decide */
	double ban_seconds;   /* until the ban ends; 0: none, negative: never */
	double guard_seconds; /* 0: no guard */
	bool has_bucket;
	enum per pers[MAX_LIMITS]; /* what each limit counts per */
	struct limit_state states[MAX_LIMITS];
	struct tally tallies[MAX_LIMITS];
};

static double seconds_until(uint64_t until_ns, uint64_t now_ns)
{
	if (until_ns == FOREVER)
		return -1;
	return until_ns > now_ns ? (double)(until_ns - now_ns) / NS_PER_SECOND : 0;
}

static void fill_lists(const struct running *running, const struct address *address, uint64_t now,
		       struct answer *answer)
{
	answer->config = &running->config;
	answer->tier = ask_tier(running, address);
	answer->listed = ask_lists(running, address);
	answer->ban_seconds = seconds_until(live_banned_until(running, address), now);
	answer->guard_seconds = seconds_until(read_guard(running, address), now);
}

/* The place of a limit in the configuration, for this answer's tier. */
static unsigned int place_of(const struct answer *answer, unsigned int limit)
{
	return answer->tier * MAX_LIMITS + limit;
}

/* A source that is banned or denied meets no limit: what its buckets hold is no use to it. */
static bool is_refused(const struct answer *answer)
{
	return answer->guard_seconds <= 0 &&
	       (answer->listed == REASON_BANNED || answer->listed == REASON_DENIED);
}

static void refuse_all(struct answer *answer)
{
	bool ends = answer->listed == REASON_BANNED && answer->ban_seconds > 0;

	for (uint32_t i = 0; i < answer->config->limit_count; i++) {
		struct limit_state *state = &answer->states[i];

		state->remaining = 0;
		if (!ends)
			state->retry_after_seconds = INFINITY;
		else if (state->retry_after_seconds < answer->ban_seconds)
			state->retry_after_seconds = answer->ban_seconds;
	}
}

static int fill_answer(const struct running *running, const struct address *address,
		       struct answer *answer)
{
	const struct table_identity *table = &running->table;
	struct bucket buckets[MAX_LIMITS];
	struct address source = *address;
	uint64_t now = boot_clock_ns();
	int err = read_source(running, address, buckets);

	if (err && err != -ENOENT)
		return err;
	address_source(&source, table->ipv4_prefix, table->ipv6_prefix);
	format_source(&source, table->ipv4_prefix, table->ipv6_prefix, answer->source);
	fill_lists(running, address, now, answer);
	answer->has_bucket = false;
	err = 0;
	for (uint32_t i = 0; i < running->config.limit_count && !err; i++) {
		err = read_state(running, &buckets[i], place_of(answer, i), now,
				 &answer->states[i]);
		answer->tallies[i] = buckets[i].tally;
		answer->pers[i] = limit_kind_of(running, i)->per;
		answer->has_bucket |= buckets[i].born_ns && answer->pers[i] == PER_SOURCE;
	}
	if (!err && is_refused(answer))
		refuse_all(answer);
	return err;
}

/* ---- JSON ---- */

static const char *per_name(enum per per)
{
	static const char *const names[] = {
		[PER_SOURCE] = "source",
		[PER_DESTINATION] = "destination",
		[PER_PAIR] = "source+destination",
		[PER_INTERFACE] = "interface",
	};

	return names[per];
}

/* Whether the address alone tells which bucket is meant: a destination is not asked for. */
static bool is_of_address(const struct answer *answer, unsigned int index)
{
	return answer->pers[index] == PER_SOURCE || answer->pers[index] == PER_INTERFACE;
}

/* A flat table keeps no count of what passed. */
static bool counts_passed(const struct answer *answer, unsigned int index)
{
	return !answer->config->limits[index].fingerprint_bits;
}

static void put_state(struct json_object *object, const struct limit_state *state)
{
	if (!state) {
		json_put_null(object, "remaining");
		json_put_null(object, "reset_seconds");
		json_put_null(object, "retry_after_seconds");
		return;
	}
	json_put_number(object, "remaining", state->remaining);
	json_put_seconds(object, "reset_seconds", state->reset_seconds);
	if (isinf(state->retry_after_seconds))
		json_put_null(object, "retry_after_seconds");
	else
		json_put_seconds(object, "retry_after_seconds", state->retry_after_seconds);
}

static struct json_object *limit_json(const struct answer *answer, unsigned int index)
{
	const struct limit_label *label = &answer->config->labels[place_of(answer, index)];
	const struct limit_state *state = &answer->states[index];
	struct json_object *object = json_object_new_object();
	bool metered = label->kind == LIMIT_METERED;
	bool known = is_of_address(answer, index);

	json_put_text(object, "name", label->name);
	json_put_text(object, "unit",
		      answer->config->limits[index].unit == UNIT_BYTES ? "bytes" : "packets");
	json_put_text(object, "per", per_name(answer->pers[index]));
	json_put_text(object, "kind",
		      metered			   ? "metered"
		      : label->kind == LIMIT_BLOCK ? "block"
						   : "unlimited");
	if (metered) {
		json_put_number(object, "rate", label->amount);
		json_put_seconds(object, "per_seconds", (double)label->per_ns / NS_PER_SECOND);
		json_put_number(object, "burst", label->burst);
		put_state(object, known ? state : NULL);
	}
	if (counts_passed(answer, index))
		json_put_number(object, "passed_packets", answer->tallies[index].passed_packets);
	else
		json_put_null(object, "passed_packets");
	json_put_number(object, "dropped_packets", answer->tallies[index].dropped_packets);
	return object;
}

static const char *tier_name(const struct answer *answer)
{
	return answer->tier ? answer->config->tier_names[answer->tier - 1] : NULL;
}

/* A time of the wall clock, as Unix seconds; what has no end says so. */
static void put_ban(struct json_object *object, const struct answer *answer)
{
	if (answer->ban_seconds < 0)
		json_put_text(object, "banned_until", "forever");
	else if (answer->ban_seconds > 0)
		json_put_seconds(object, "banned_until", (double)time(NULL) + answer->ban_seconds);
	else
		json_put_null(object, "banned_until");
}

static void print_json(const struct answer *answer)
{
	struct json_object *object = json_object_new_object();
	struct json_object *limits = json_object_new_array();

	json_put_text(object, "source", answer->source);
	json_put_text(object, "tier", tier_name(answer));
	put_ban(object, answer);
	json_put_text(object, "listed",
		      answer->listed == REASON_NONE ? NULL : reason_name(answer->listed));
	if (answer->guard_seconds > 0)
		json_put_seconds(object, "ssh_guard_seconds", answer->guard_seconds);
	else
		json_put_null(object, "ssh_guard_seconds");
	json_put_bool(object, "has_bucket", answer->has_bucket);
	for (uint32_t i = 0; i < answer->config->limit_count; i++)
		json_object_array_add(limits, limit_json(answer, i));
	json_object_object_add(object, "limits", limits);
	json_print(object);
}

/* ---- text ---- */

static void print_metered(const struct answer *answer, unsigned int index)
{
	const struct limit_label *label = &answer->config->labels[place_of(answer, index)];
	const struct limit_state *state = &answer->states[index];
	const char *unit = answer->config->limits[index].unit == UNIT_BYTES ? "bytes" : "packets";

	printf("    %" PRIu64 " of %llu %s remaining", state->remaining, label->burst, unit);
	if (isinf(state->retry_after_seconds))
		printf(", nothing passes");
	else if (state->retry_after_seconds > 0)
		printf(", nothing passes for %.3f s", state->retry_after_seconds);
	printf(", full again in %.3f s\n", state->reset_seconds);
}

static void print_limit(const struct answer *answer, unsigned int index)
{
	const struct limit_label *label = &answer->config->labels[place_of(answer, index)];
	const struct rate rate = {label->kind, answer->config->limits[index].unit, label->amount,
				  label->per_ns};
	char text[UNITS_TEXT_SIZE];

	format_rate(&rate, text, sizeof(text));
	printf("  %s: %s\n", label->name, text);
	if (!is_of_address(answer, index)) {
		printf("    counted per %s: see `xdp-limit sources`\n",
		       per_name(answer->pers[index]));
		return;
	}
	if (label->kind == LIMIT_METERED)
		print_metered(answer, index);
	if (counts_passed(answer, index))
		printf("    passed %llu, dropped %llu packets\n",
		       answer->tallies[index].passed_packets,
		       answer->tallies[index].dropped_packets);
	else
		printf("    dropped %llu packets\n", answer->tallies[index].dropped_packets);
}

static void print_text(const struct answer *answer)
{
	printf("%s%s\n", answer->source,
	       answer->has_bucket     ? ""
	       : answer->config->flat ? ": no bucket; it would take the slot that owes least"
				      : ": no bucket, as good as a full one");
	if (answer->ban_seconds < 0)
		puts("  banned for ever");
	else if (answer->ban_seconds > 0)
		printf("  banned for %.0f s more\n", answer->ban_seconds);
	if (answer->listed != REASON_NONE && answer->listed != REASON_BANNED)
		printf("  %s: %s\n", reason_name(answer->listed), reason_text(answer->listed));
	if (answer->tier)
		printf("  tier %s\n", tier_name(answer));
	if (answer->guard_seconds > 0)
		printf("  SSH guard: exempt for %.0f s more\n", answer->guard_seconds);
	for (uint32_t i = 0; i < answer->config->limit_count; i++)
		print_limit(answer, i);
}

static enum exit_status get(const struct invocation *invocation, const struct target *target)
{
	struct address address;
	struct complaint why;
	struct answer answer;
	int err = parse_address(invocation->positionals[1], &address, &why);

	if (err) {
		report_error("%s", why.text);
		return EXIT_USAGE;
	}
	err = fill_answer(&target->running, &address, &answer);
	if (err) {
		report_error("cannot read the bucket of %s on %s: %s", invocation->positionals[1],
			     target->netdev.name, strerror(-err));
		return EXIT_FAILED;
	}
	if (invocation->json)
		print_json(&answer);
	else
		print_text(&answer);
	return EXIT_DONE;
}

static enum exit_status run(const struct invocation *invocation)
{
	return target_run(invocation, get);
}

static const struct option_spec options[] = {{NULL, NULL, NULL}};

const struct command command_get = {
	.name = "get",
	.arguments = "IFACE ADDRESS [--json]",
	.summary = "what would happen to an address now",
	.notes =
		"remaining is what would pass at once: packets, or the largest frame in bytes. "
		"Retry-after\nis the time until the smallest packet (60 bytes on a byte limit) fits. A source "
		"that is denied, or\nbanned for ever, has none: null in JSON.",
	.positionals_min = 2,
	.positionals_max = 2,
	.reads = true,
	.options = options,
	.run = run,
};
