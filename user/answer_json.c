// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* An answer as JSON: keys are added, never renamed. */
#include <math.h>
#include <time.h>
#include "answer.h"
#include "json.h"
#include "summary.h"

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
	const struct limit_label *label = &answer->config->labels[answer_place(answer, index)];
	const struct limit_state *state = &answer->states[index];
	struct json_object *object = json_object_new_object();
	bool metered = label->kind == LIMIT_METERED;
	bool known = answer_is_of_address(answer, index);

	json_put_text(object, "name", label->name);
	json_put_text(object, "unit",
		      answer->config->limits[index].unit == UNIT_BYTES ? "bytes" : "packets");
	json_put_text(object, "per", answer_per(answer, index));
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
	if (answer_counts_passed(answer, index))
		json_put_number(object, "passed_packets", answer->tallies[index].passed_packets);
	else
		json_put_null(object, "passed_packets");
	json_put_number(object, "dropped_packets", answer->tallies[index].dropped_packets);
	return object;
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

struct json_object *answer_json(const struct answer *answer)
{
	struct json_object *object = json_object_new_object();
	struct json_object *limits = json_object_new_array();

	json_put_text(object, "source", answer->source);
	json_put_text(object, "tier", answer_tier(answer));
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
	return object;
}
