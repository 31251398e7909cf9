// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a question to rtnetlink may come to: errors are the kernel's own, what was interrupted is asked again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <sys/resource.h>
#include "netlink.h"

struct readings {
	int fail_with;
	int messages, restarts;
};

static int count_message(struct nlmsghdr *message, void *data)
{
	struct readings *readings = data;

	assert_int_equal(message->nlmsg_type, RTM_NEWLINK);
	readings->messages++;
	return readings->fail_with;
}

static void count_restart(void *data)
{
	struct readings *readings = data;

	readings->restarts++;
}

static void dump_is_asked_for_once(void **state)
{
	struct readings readings = {0};

	(void)state;
	assert_int_equal(netlink_dump(RTM_GETLINK, count_restart, count_message, &readings), 0);
	assert_int_equal(readings.restarts, 1);
	assert_true(readings.messages > 0);
}

static void interrupted_dump_is_asked_for_again(void **state)
{
	struct readings readings = {.fail_with = -EINTR};

	(void)state;
	assert_int_equal(netlink_dump(RTM_GETLINK, count_restart, count_message, &readings),
			 -EINTR);
	assert_int_equal(readings.restarts, 10);
	assert_int_equal(readings.messages, 10);
}

/* libnl has one number for several of these, and none for others. */
static void errors_of_who_reads_are_kept(void **state)
{
	static const int errors[] = {EPERM, EACCES, ENOMEM, ENOBUFS, ENOENT,
				     ESRCH, EXDEV,  EINVAL, EFAULT,  EBADMSG};

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct readings readings = {.fail_with = -errors[i]};

		assert_int_equal(netlink_dump(RTM_GETLINK, NULL, count_message, &readings),
				 -errors[i]);
		assert_int_equal(readings.messages, 1);
	}
}

static int ask_for_link(const char *name)
{
	struct nl_msg *request = netlink_request(RTM_GETLINK, 0);
	struct readings readings = {0};
	int err;

	assert_non_null(request);
	assert_int_equal(nla_put_string(request, IFLA_IFNAME, name), 0);
	err = netlink_ask(request, count_message, &readings);
	assert_int_equal(readings.messages, err ? 0 : 1);
	return err;
}

static void errors_of_the_kernel_are_kept(void **state)
{
	struct readings readings = {0};

	(void)state;
	assert_int_equal(ask_for_link("lo"), 0);
	assert_int_equal(ask_for_link("no-such-link"), -ENODEV);
	/* No message has this type. */
	assert_int_equal(netlink_ask(netlink_request(RTM_MAX, 0), count_message, &readings),
			 -EOPNOTSUPP);
	assert_int_equal(netlink_ask(NULL, count_message, &readings), -ENOMEM);
}

/* libnl has no number for this one. */
static void errors_of_system_calls_are_kept(void **state)
{
	struct rlimit before, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){0, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(ask_for_link("lo"), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(ask_for_link("lo"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dump_is_asked_for_once),
		cmocka_unit_test(interrupted_dump_is_asked_for_again),
		cmocka_unit_test(errors_of_who_reads_are_kept),
		cmocka_unit_test(errors_of_the_kernel_are_kept),
		cmocka_unit_test(errors_of_system_calls_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
