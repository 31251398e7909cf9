// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The words that options and the policy file choose from. */
#include "words.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "policy.h"

const char *const algorithm_words[] = {
	[ALGORITHM_TOKEN_BUCKET] = "token-bucket", [ALGORITHM_LEAKY_BUCKET] = "leaky-bucket",
	[ALGORITHM_FIXED_WINDOW] = "fixed-window", [ALGORITHM_SLIDING_WINDOW] = "sliding-window",
	[ALGORITHM_SLIDING_LOG] = "sliding-log",   NULL,
};

const char *const per_words[] = {
	[PER_SOURCE] = "source",
	[PER_DESTINATION] = "destination",
	[PER_PAIR] = "source+destination",
	[PER_INTERFACE] = "interface",
	NULL,
};

const char *const fragments_words[] = {
	[FRAGMENTS_COUNT] = "count",
	[FRAGMENTS_DROP] = "drop",
	[FRAGMENTS_PASS] = "pass",
	NULL,
};

const char *const malformed_words[] = {
	[MALFORMED_DROP] = "drop",
	[MALFORMED_PASS] = "pass",
	NULL,
};

const char *const table_words[] = {[TABLE_LRU] = "lru", [TABLE_FLAT] = "flat", NULL};

const char *const when_full_words[] = {
	[WHEN_FULL_PASS] = "pass",
	[WHEN_FULL_DROP] = "drop",
	[WHEN_FULL_INHERIT] = "inherit",
	NULL,
};

const char *const beyond_words[] = {[false] = "drop", [true] = "pass", NULL};
const char *const observe_words[] = {[false] = "enforce", [true] = "observe", NULL};
const char *const boolean_words[] = {[false] = "false", [true] = "true", NULL};

int choose_word(const char *noun, const char *text, const char *const *words, struct complaint *why)
{
	char list[128] = "";
	size_t length = 0;

	for (int i = 0; words[i]; i++) {
		if (!strcmp(text, words[i]))
			return i;
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s",
					   i ? (words[i + 1] ? ", " : " or ") : "", words[i]);
	}
	return complain(why, -EINVAL, "%s '%.80s' is not known; write %s", noun, text, list);
}
