// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which limit speaks to a client, and in which headers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "rate_headers.h"

static struct config config;
static struct answer answer;

/* Two limits in the order in which they are charged: 20 per 2 minutes, 1 MiB at 1 Mbit/s. */
static int set_up(void **state)
{
	(void)state;
	config = (struct config){.limit_count = 2};
	answer = (struct answer){.config = &config, .listed = REASON_NONE};
	config.labels[0] = (struct limit_label){"slow",	       10, 60 * NS_PER_SECOND, 20,
						LIMIT_METERED, {0}};
	config.labels[1] = (struct limit_label){"bulk",	 125000,	NS_PER_SECOND,
						1 << 20, LIMIT_METERED, {0}};
	config.limits[1].unit = UNIT_BYTES;
	answer.states[0] = (struct limit_state){20, 0, 0};
	answer.states[1] = (struct limit_state){1 << 20, 0, 0};
	return 0;
}

/* "NAME: VALUE\n..." of the answer's headers */
static void expect_headers(int only, const char *want)
{
	struct http_answer http = {0};
	struct verdict verdict;
	char text[1024] = "";
	size_t used = 0;

	verdict_of(&answer, only, &verdict);
	rate_headers(&answer, &verdict, &http);
	for (int i = 0; i < http.header_count; i++)
		used += snprintf(text + used, sizeof(text) - used, "%s: %s\n", http.headers[i].name,
				 http.headers[i].value);
	assert_string_equal(text, want);
}

static bool refused(int only)
{
	struct verdict verdict;

	verdict_of(&answer, only, &verdict);
	return verdict.refused;
}

static int speaker(void)
{
	struct verdict verdict;

	verdict_of(&answer, -1, &verdict);
	return verdict.limit;
}

static void metered(void **state)
{
	(void)state;
	answer.states[0] = (struct limit_state){5, 89.2, 0};
	expect_headers(-1,
		       "X-RateLimit-Limit: 20\nX-RateLimit-Remaining: 5\nX-RateLimit-Reset: 90\n"
		       "RateLimit-Policy: \"slow\";q=20;w=120\nRateLimit: \"slow\";r=5;t=90\n");
	expect_headers(1, "X-RateLimit-Limit: 1048576\nX-RateLimit-Remaining: 1048576\n"
			  "X-RateLimit-Reset: 0\n"
			  "RateLimit-Policy: \"bulk\";q=1048576;w=9;qu=\"content-bytes\"\n"
			  "RateLimit: \"bulk\";r=1048576;t=0\n");
}

static void exhausted(void **state)
{
	(void)state;
	answer.states[0] = (struct limit_state){0, 119.1, 5.1};
	assert_true(refused(-1));
	expect_headers(-1,
		       "X-RateLimit-Limit: 20\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 120\n"
		       "RateLimit-Policy: \"slow\";q=20;w=120\nRateLimit: \"slow\";r=0;t=120\n"
		       "Retry-After: 6\n");
	assert_false(refused(1));
}

/* A part of a second is a second to wait, not none. */
static void soon(void **state)
{
	(void)state;
	answer.states[0] = (struct limit_state){0, 0.2, 0.0001};
	expect_headers(-1, "X-RateLimit-Limit: 20\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1\n"
			   "RateLimit-Policy: \"slow\";q=20;w=120\nRateLimit: \"slow\";r=0;t=1\n"
			   "Retry-After: 1\n");
}

static void tightest(void **state)
{
	(void)state;
	assert_int_equal(speaker(), 0); /* a tie: the first, so the slowest */
	answer.states[1].remaining = 1 << 19;
	assert_int_equal(speaker(), 1); /* the least share */
	answer.states[0].remaining = 9;
	assert_int_equal(speaker(), 0);
	answer.states[1] = (struct limit_state){0, 8, 0.01};
	assert_int_equal(speaker(), 1); /* one that refuses */
	answer.states[0] = (struct limit_state){0, 60, 6};
	assert_int_equal(speaker(), 0); /* the one that refuses longest */
}

static void who_does_not_speak(void **state)
{
	(void)state;
	answer.states[0] = (struct limit_state){0, 60, 6};
	answer.pers[0] = PER_DESTINATION;
	assert_int_equal(speaker(), 1);
	answer.pers[0] = PER_INTERFACE;
	assert_int_equal(speaker(), 0);
	config.observed_limits = 1;
	assert_int_equal(speaker(), 1);
	assert_false(refused(0));
	config.observed_limits = 0;
	config.labels[0].kind = LIMIT_UNLIMITED;
	assert_int_equal(speaker(), 1);
	config.labels[1].kind = LIMIT_UNLIMITED;
	assert_int_equal(speaker(), -1);
	assert_false(refused(-1));
	expect_headers(-1, "");
}

/* Whether a packet meets a match isn't known: a block of some port would refuse everybody. */
static void blocked(void **state)
{
	(void)state;
	config.labels[0] = (struct limit_label){"none", 0, 0, 0, LIMIT_BLOCK, {0}};
	answer.states[0] = (struct limit_state){0, INFINITY, INFINITY};
	assert_true(refused(-1));
	expect_headers(-1, "X-RateLimit-Limit: 0\nX-RateLimit-Remaining: 0\n"
			   "RateLimit-Policy: \"none\";q=0\nRateLimit: \"none\";r=0\n");
	config.match_fields = MATCH_PROTOCOL;
	assert_false(refused(-1));
	assert_int_equal(speaker(), 1);
	assert_true(refused(0));
}

static void listed(void **state)
{
	(void)state;
	answer.states[0] = (struct limit_state){0, 60, 6};
	answer.listed = REASON_ALLOWED;
	assert_false(refused(-1));
	expect_headers(-1, "");
	answer.listed = REASON_DENIED;
	answer.states[0].retry_after_seconds = INFINITY;
	answer.states[1] = (struct limit_state){0, 0, INFINITY};
	assert_true(refused(-1));
	expect_headers(-1,
		       "X-RateLimit-Limit: 20\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 60\n"
		       "RateLimit-Policy: \"slow\";q=20;w=120\nRateLimit: \"slow\";r=0;t=60\n");
	answer.guard_seconds = 10;
	assert_false(refused(-1));
	answer.guard_seconds = 0;
	answer.listed = REASON_BANNED;
	answer.ban_seconds = 99.5;
	config.limit_count = 0;
	expect_headers(-1, "Retry-After: 100\n");
	config.dry_run = 1;
	assert_false(refused(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(metered, set_up),
		cmocka_unit_test_setup(exhausted, set_up),
		cmocka_unit_test_setup(soon, set_up),
		cmocka_unit_test_setup(tightest, set_up),
		cmocka_unit_test_setup(who_does_not_speak, set_up),
		cmocka_unit_test_setup(blocked, set_up),
		cmocka_unit_test_setup(listed, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
