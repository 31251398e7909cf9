// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Asks the lists and tiers of a running limiter as a packet would. */
#include <bpf/bpf.h>
#include "compile_lists.h"
#include "kernel.h"

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

	if (!running->config.tiers || bpf_map_lookup_elem(running->maps[MAP_TIERS], &key, &tier))
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

static void ask_set(const struct listing *listing, int prefixes, const struct address *address,
		    struct answer *answer)
{
	struct prefix_key key = whole_key(address);
	struct prefix_listing nested;

	weigh(answer, WHOLE_PREFIX, listing->allow_until_ns, listing->deny_until_ns);
	if (bpf_map_lookup_elem(prefixes, &key, &nested))
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
	bpf_map_lookup_elem(running->maps[MAP_FILE_EXACT], address, &file);
	ask_set(&live, running->maps[MAP_LIVE_PREFIX], address, &answer);
	ask_set(&file, running->maps[MAP_FILE_PREFIX], address, &answer);
	return answer.reason;
}
