// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The harness itself: one limit, one source, a clock that is set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include "prog.h"
#include "frames.h"

static void burst_then_rate_of(enum table_type type)
{
	struct policy policy = packet_policy("10pps", "10");
	struct limiter limiter;
	struct frame frame;

	policy.table_type = type;
	frame_named(&frame, P4U);
	limiter_open(&limiter, &policy, NULL);
	clock_set(&limiter, NS_PER_SECOND);
	assert_int_equal(send_many(&limiter, &frame, 12), 10);
	clock_advance(&limiter, NS_PER_SECOND + 50000000);
	assert_int_equal(send_many(&limiter, &frame, 12), 10);
	limiter_close(&limiter);
}

static void burst_then_rate(void **state)
{
	(void)state;
	burst_then_rate_of(TABLE_LRU);
}

static void burst_then_rate_flat(void **state)
{
	(void)state;
	burst_then_rate_of(TABLE_FLAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(burst_then_rate),
		cmocka_unit_test(burst_then_rate_flat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
