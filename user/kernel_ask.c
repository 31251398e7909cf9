// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Asks the lists and tiers of a running limiter as a packet would. */
#include <bpf/bpf.h>
#include <string.h>
#include <unistd.h>
#include "compile_lists.h"
#include "kernel.h"
#include "kernel_program.h"

/* Whether the program's map @name has something for @key. */
static bool look_up(int program, const char *name, const void *key, void *value)
{
	int map = program_map(program, name);
	bool found;

	if (map < 0)
		return false;
	found = !bpf_map_lookup_elem(map, key, value);
	close(map);
	return found;
}

static struct prefix_key whole_key(const struct address *address)
{
	const struct policy_prefix prefix = {
		.address = *address,
		.length = address_is_ipv4(address) ? 32 : 128,
	};

	return prefix_key_of(&prefix);
}

unsigned int ask_tier(const struct running *running, const struct address *address)
{
	struct prefix_key key = whole_key(address);
	uint32_t tier = 0;

	if (!running->config.tiers || !look_up(running->program, "tier_prefix", &key, &tier))
		return 0;
	return tier <= running->config.tiers ? tier : 0;
}

/* The longest entry so far, and what it says. */
struct answer {
	unsigned int length; /* plus 1; 0: none */
	enum reason reason;
	uint64_t now;
};

static bool weigh(struct answer *answer, unsigned int length, uint64_t allow_until,
		  uint64_t deny_until)
{
	bool denies = deny_until > answer->now;

	if (!denies && allow_until <= answer->now)
		return false;
	if (denies ? length + 1 >= answer->length : length + 1 > answer->length) {
		answer->length = length + 1;
		answer->reason = denies ? REASON_DENIED : REASON_ALLOWED;
	}
	return true;
}

static void ask_set(const struct running *running, const struct listing *listing,
		    const char *prefix, const struct address *address, struct answer *answer)
{
	struct prefix_key key = whole_key(address);
	struct prefix_listing nested;

	weigh(answer, WHOLE_PREFIX, listing->allow_until_ns, listing->deny_until_ns);
	if (!look_up(running->program, prefix, &key, &nested))
		return;
	for (int i = 0; i < LIST_LEVELS; i++)
		if (weigh(answer, nested.levels[i].length, nested.levels[i].allow_until_ns,
			  nested.levels[i].deny_until_ns))
			return;
}

enum reason ask_lists(const struct running *running, const struct address *address)
{
	struct answer answer = {.reason = REASON_NONE, .now = boot_clock_ns()};
	struct listing live = {0}, file = {0};

	if (live_banned_until(running, address))
		return REASON_BANNED;
	live_find(running, address, &live);
	look_up(running->program, "file_exact", address, &file);
	ask_set(running, &live, map_names[MAP_LIVE_PREFIX], address, &answer);
	ask_set(running, &file, "file_prefix", address, &answer);
	return answer.reason;
}
