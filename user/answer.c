// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Gathers what would happen to an address now. */
#include "answer.h"

#include <errno.h>
#include <math.h>
#include "bucket_name.h"

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

unsigned int answer_place(const struct answer *answer, unsigned int limit)
{
	return answer->tier * MAX_LIMITS + limit;
}

const struct limit_label *answer_label(const struct answer *answer, unsigned int limit)
{
	return &answer->config->labels[answer_place(answer, limit)];
}

/* What its buckets hold is no use to it then. */
bool answer_is_refused(const struct answer *answer)
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

int answer_read(const struct running *running, const struct address *address, struct answer *answer)
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
		err = read_state(running, &buckets[i], answer_place(answer, i), now,
				 &answer->states[i]);
		answer->tallies[i] = buckets[i].tally;
		answer->pers[i] = limit_kind_of(running, i)->per;
		answer->has_bucket |= buckets[i].born_ns && answer->pers[i] == PER_SOURCE;
	}
	if (!err && answer_is_refused(answer))
		refuse_all(answer);
	return err;
}

const char *answer_tier(const struct answer *answer)
{
	return answer->tier ? answer->config->tier_names[answer->tier - 1] : NULL;
}

const char *answer_per(const struct answer *answer, unsigned int index)
{
	static const char *const names[] = {
		[PER_SOURCE] = "source",
		[PER_DESTINATION] = "destination",
		[PER_PAIR] = "source+destination",
		[PER_INTERFACE] = "interface",
	};

	return names[answer->pers[index]];
}

bool answer_is_of_address(const struct answer *answer, unsigned int index)
{
	return answer->pers[index] == PER_SOURCE || answer->pers[index] == PER_INTERFACE;
}

bool answer_counts_passed(const struct answer *answer, unsigned int index)
{
	return !answer->config->limits[index].fingerprint_bits;
}
