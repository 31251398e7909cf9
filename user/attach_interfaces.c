// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The interfaces that a policy is to be attached to: found, fit for it, and ours to change. */
#include "attach_interfaces.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "lock.h"
#include "netdev.h"
#include "report.h"
#include "sweep.h"
#include "target.h"

/* What is left of a time that began at @start_ns. */
static uint64_t left_of(uint64_t wait_ns, uint64_t start_ns)
{
	uint64_t passed = boot_clock_ns() - start_ns;

	return passed < wait_ns ? wait_ns - passed : 0;
}

static enum exit_status find_interface(const char *name, uint64_t wait_ns, struct netdev *netdev)
{
	struct complaint why;
	int err;

	if (wait_ns)
		netdev_wait(name, wait_ns);
	err = netdev_find(name, netdev, &why);
	if (!err)
		return EXIT_DONE;
	report_error("%s%s", why.text, wait_ns ? " (waited for it)" : "");
	return EXIT_FAILED;
}

static enum exit_status check_interface(const struct netdev *netdev)
{
	struct complaint why;

	if (!netdev_refuses(netdev, &why))
		return EXIT_DONE;
	report_error("%s", why.text);
	return EXIT_UNSUPPORTED;
}

/* Alternative names lead to the same one, too. */
static enum exit_status refuse_twice(const char *const *names, size_t count,
				     const struct attach_target *targets)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			if (targets[i].netdev.ifindex == targets[j].netdev.ifindex) {
				report_error("%s is named twice: '%s' and '%s'",
					     targets[i].netdev.name, names[j], names[i]);
				return EXIT_USAGE;
			}
	return EXIT_DONE;
}

static int by_index(const void *left, const void *right)
{
	const struct netdev *a = left, *b = right;

	return a->ifindex < b->ifindex ? -1 : a->ifindex > b->ifindex;
}

/* In the order of their numbers, so that two commands that wait for each other's can't be. */
static enum exit_status lock_all(const struct attach_target *targets, size_t count,
				 uint64_t wait_ns, uint64_t start_ns)
{
	struct netdev order[TARGETS_MAX] = {0};
	struct complaint why;
	int err = pins_prepare(&why);

	for (size_t i = 0; i < count; i++)
		order[i] = targets[i].netdev;
	qsort(order, count, sizeof(order[0]), by_index);
	for (size_t i = 0; i < count && !err; i++)
		err = lock_interface(order[i].ifindex, order[i].name, left_of(wait_ns, start_ns),
				     &why);
	if (!err) {
		sweep_gone();
		return EXIT_DONE;
	}
	report_error("%s", why.text);
	return status_of_error(err);
}

/* Whether a name leads elsewhere by now: its interface was made anew while its lock was waited for. */
static bool any_made_anew(const char *const *names, size_t count,
			  const struct attach_target *targets)
{
	struct complaint ignored;
	struct netdev now;

	for (size_t i = 0; i < count; i++)
		if (netdev_find(names[i], &now, &ignored) ||
		    now.ifindex != targets[i].netdev.ifindex)
			return true;
	return false;
}

static enum exit_status find_all(const char *const *names, size_t count, uint64_t wait_ns,
				 uint64_t start_ns, struct attach_target *targets)
{
	enum exit_status status = EXIT_DONE;

	for (size_t i = 0; i < count && status == EXIT_DONE; i++) {
		status = find_interface(names[i], left_of(wait_ns, start_ns), &targets[i].netdev);
		if (status == EXIT_DONE)
			status = check_interface(&targets[i].netdev);
	}
	return status == EXIT_DONE ? refuse_twice(names, count, targets) : status;
}

enum exit_status take_interfaces(const char *const *names, size_t count, uint64_t wait_ns,
				 struct attach_target *targets)
{
	uint64_t start_ns = boot_clock_ns();
	enum exit_status status;

	for (;;) {
		status = find_all(names, count, wait_ns, start_ns, targets);
		if (status == EXIT_DONE)
			status = lock_all(targets, count, wait_ns, start_ns);
		if (status != EXIT_DONE || !any_made_anew(names, count, targets))
			return status;
		for (size_t i = 0; i < count; i++)
			lock_release();
	}
}
