// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit get: what would happen to an address now. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "command.h"
#include "json.h"
#include "report.h"
#include "target.h"

/* What is known of one address: the same struct for text and JSON. */
struct answer {
	const struct config *config;
	char source[ADDRESS_TEXT_SIZE];
	double guard_seconds; /* 0: no guard */
	bool has_bucket;
	struct limit_state states[MAX_LIMITS];
	struct tally tallies[MAX_LIMITS];
};

static int fill_answer(const struct running *running, const struct address *address,
		       struct answer *answer)
{
	const struct table_identity *table = &running->table;
	struct bucket buckets[MAX_LIMITS] = {0};
	struct address source = *address;
	uint64_t now = boot_clock_ns(), guard = read_guard(running, address);
	int err;

	address_source(&source, table->ipv4_prefix, table->ipv6_prefix);
	format_source(&source, table->ipv4_prefix, table->ipv6_prefix, answer->source);
	err = read_source(running, &source, buckets);
	if (err && err != -ENOENT)
		return err;
	answer->config = &running->config;
	answer->has_bucket = !err;
	answer->guard_seconds = guard > now ? (double)(guard - now) / NS_PER_SECOND : 0;
	for (uint32_t i = 0; i < running->config.limit_count; i++) {
		const struct limit *limit = &running->config.limits[i];
		uint64_t fresh = now << limit->tick;

		limit_read(limit, &running->config.labels[i], err ? fresh : buckets[i].word, now,
			   &answer->states[i]);
		answer->tallies[i] = buckets[i].tally;
	}
	return 0;
}

/* ---- JSON ---- */

static struct json_object *limit_json(const struct answer *answer, unsigned int index)
{
	const struct limit_label *label = &answer->config->labels[index];
	const struct limit_state *state = &answer->states[index];
	struct json_object *object = json_object_new_object();
	bool metered = label->kind == LIMIT_METERED;

	json_put_text(object, "name", label->name);
	json_put_text(object, "unit",
		      answer->config->limits[index].unit == UNIT_BYTES ? "bytes" : "packets");
	json_put_text(object, "kind",
		      metered			   ? "metered"
		      : label->kind == LIMIT_BLOCK ? "block"
						   : "unlimited");
	if (metered) {
		json_put_number(object, "rate", label->amount);
		json_put_seconds(object, "per_seconds", (double)label->per_ns / NS_PER_SECOND);
		json_put_number(object, "burst", label->burst);
		json_put_number(object, "remaining", state->remaining);
		json_put_seconds(object, "reset_seconds", state->reset_seconds);
		json_put_seconds(object, "retry_after_seconds", state->retry_after_seconds);
	}
	json_put_number(object, "passed_packets", answer->tallies[index].passed_packets);
	json_put_number(object, "dropped_packets", answer->tallies[index].dropped_packets);
	return object;
}

static void print_json(const struct answer *answer)
{
	struct json_object *object = json_object_new_object();
	struct json_object *limits = json_object_new_array();

	json_put_text(object, "source", answer->source);
	json_put_null(object, "tier");
	json_put_null(object, "banned_until");
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
	const struct limit_label *label = &answer->config->labels[index];
	const struct limit_state *state = &answer->states[index];
	const char *unit = answer->config->limits[index].unit == UNIT_BYTES ? "bytes" : "packets";

	printf("    %" PRIu64 " of %llu %s remaining", state->remaining, label->burst, unit);
	if (state->retry_after_seconds > 0)
		printf(", nothing passes for %.3f s", state->retry_after_seconds);
	printf(", full again in %.3f s\n", state->reset_seconds);
}

static void print_limit(const struct answer *answer, unsigned int index)
{
	const struct limit_label *label = &answer->config->labels[index];
	const struct rate rate = {label->kind, answer->config->limits[index].unit, label->amount,
				  label->per_ns};
	char text[UNITS_TEXT_SIZE];

	format_rate(&rate, text, sizeof(text));
	printf("  %s: %s\n", label->name, text);
	if (label->kind == LIMIT_METERED)
		print_metered(answer, index);
	printf("    passed %llu, dropped %llu packets\n", answer->tallies[index].passed_packets,
	       answer->tallies[index].dropped_packets);
}

static void print_text(const struct answer *answer)
{
	printf("%s%s\n", answer->source,
	       answer->has_bucket ? "" : ": no bucket, as good as a full one");
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
	struct target target;
	enum exit_status status = target_open(invocation->positionals[0], &target);

	if (status != EXIT_DONE)
		return status;
	status = get(invocation, &target);
	target_close(&target);
	return status;
}

static const struct option_spec options[] = {{NULL, NULL, NULL}};

const struct command command_get = {
	.name = "get",
	.arguments = "IFACE ADDRESS [--json]",
	.summary = "what would happen to an address now",
	.notes =
		"remaining is what would pass at once: packets, or the largest frame in bytes. "
		"Retry-after\nis the time until the smallest packet (60 bytes on a byte limit) fits.",
	.positionals_min = 2,
	.positionals_max = 2,
	.reads = true,
	.options = options,
	.run = run,
};
