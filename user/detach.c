// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit detach: remove ours, ask the kernel whether it is gone, remove the pins. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "kernel.h"
#include "lock.h"
#include "report.h"
#include "sweep.h"
#include "target.h"

enum detach_option {
	OPTION_ALL,
	OPTION_IF_ATTACHED,
	OPTION_WAIT,
};

static const struct option_spec options[] = {
	[OPTION_ALL] = {"all", NULL, "every limiter of this network namespace, and pins left over"},
	[OPTION_IF_ATTACHED] = {"if-attached", NULL,
				"succeed when there is no limiter or no such interface"},
	[OPTION_WAIT] = {"wait", "TIME", "for another command to end"},
	{NULL, NULL, NULL},
};

static enum exit_status remove_pins(unsigned int ifindex, const char *name)
{
	int err = pins_remove(ifindex);

	if (!err)
		return EXIT_DONE;
	report_error("cannot remove the pins of %s: %s", name, strerror(-err));
	return EXIT_FAILED;
}

static enum exit_status refuse(unsigned int ifindex, const char *name,
			       const struct attachment *there)
{
	char path[PIN_PATH_SIZE];
	bool left;

	if (there->dispatcher_id)
		report_error("no limiter in the dispatcher of %s", name);
	else if (there->mode != MODE_NONE)
		report_error("cannot detach from %s: XDP program '%s' (id %u) is not ours", name,
			     there->program_name, there->program_id);
	else
		report_error("no limiter on %s", name);
	left = pins_exist(ifindex) && !pins_directory(ifindex, path);
	if (remove_pins(ifindex, name) == EXIT_DONE && left)
		report_note("pins left over in %s removed", path);
	return EXIT_NOT_ATTACHED;
}

static enum exit_status detach_locked(unsigned int ifindex, const char *name)
{
	struct attachment there;
	int err = attachment_find(ifindex, &there);

	if (err) {
		report_error("cannot read what is attached to %s: %s%s", name, strerror(-err),
			     permission_hint(err));
		return EXIT_FAILED;
	}
	/* What a killed attach has put into a dispatcher is ours, too. */
	if (!there.ours && !there.other_id)
		return refuse(ifindex, name, &there);
	err = attachment_remove(&there);
	if (err) {
		report_error("cannot detach from %s: %s", name,
			     err == -EBUSY ? "the program is still attached" : strerror(-err));
		return EXIT_FAILED;
	}
	printf("%s: detached\n", name);
	return remove_pins(ifindex, name);
}

/* One that shares a table is not changed while others that do are. */
static int lock_table_of(unsigned int ifindex, uint64_t wait_ns, struct complaint *why)
{
	struct running running;
	int err = running_open(ifindex, &running) ? 0 : lock_shared(&running, wait_ns, why);

	running_close(&running);
	return err;
}

static enum exit_status detach_one(unsigned int ifindex, const char *name, uint64_t wait_ns)
{
	struct complaint why;
	enum exit_status status;
	int err = lock_interface(ifindex, name, wait_ns, &why);

	err = err ?: lock_table_of(ifindex, wait_ns, &why);
	if (err) {
		report_error("%s", why.text);
		status = status_of_error(err);
	} else {
		status = detach_locked(ifindex, name);
	}
	lock_release();
	return status;
}

/* ---- --all: each for itself ---- */

struct all {
	uint64_t wait_ns;
	enum exit_status worst;
};

static void note_status(struct all *all, enum exit_status status)
{
	all->worst = exit_worse(all->worst, status);
}

/* Whether anything of ours runs there: 1, 0, or -errno when that can't be told. */
static int is_limited(unsigned int ifindex)
{
	struct attachment there;
	int err = attachment_find(ifindex, &there);

	/* Whose a program is that has no pins of ours, only CAP_SYS_ADMIN may see. */
	if (err == -ENODEV || (err == -EPERM && !pins_exist(ifindex)))
		return 0;
	return err ?: there.ours || there.other_id;
}

static int detach_netdevs(struct all *all)
{
	struct netdev *list = NULL;
	int count = netdev_list(&list);

	for (int i = 0; i < count; i++)
		if (is_limited(list[i].ifindex))
			note_status(all, detach_one(list[i].ifindex, list[i].name, all->wait_ns));
	free(list);
	return count < 0 ? count : 0;
}

/* Said what went: nothing is attached that would be told as detached. */
static void remove_left(struct all *all, unsigned int ifindex, const char *name)
{
	bool moved = pins_moved(ifindex), left = pins_exist(ifindex);
	enum exit_status status = remove_pins(ifindex, name);

	note_status(all, status);
	if (status != EXIT_DONE || !left)
		return;
	if (moved)
		report_note("%s has moved to another network namespace; its pins here are removed, "
			    "and with them its limiter, unless it was attached there again",
			    name);
	else
		report_note("pins left over of %s removed", name);
}

/* What is pinned and not attached any more, of interfaces that are gone too. */
static int sweep(unsigned int ifindex, void *context)
{
	struct all *all = context;
	struct complaint why;
	char name[32];
	int err;

	snprintf(name, sizeof(name), "interface %u", ifindex);
	if (is_limited(ifindex))
		return 0; /* where it could not be told, that was said */
	/* An attach that is under way pins first. */
	err = lock_interface(ifindex, name, all->wait_ns, &why);
	if (err) {
		report_error("%s", why.text);
		note_status(all, status_of_error(err));
		return 0;
	}
	if (!is_limited(ifindex))
		remove_left(all, ifindex, name);
	lock_release();
	return 0;
}

static enum exit_status detach_all(uint64_t wait_ns)
{
	struct all all = {.wait_ns = wait_ns, .worst = EXIT_DONE};
	int err = detach_netdevs(&all) ?: pins_visit(sweep, &all);

	sweep_gone(); /* of other namespaces */
	if (!err)
		return all.worst;
	report_error("cannot list the interfaces: %s", strerror(-err));
	return EXIT_FAILED;
}

/* ---- by name ---- */

static enum exit_status detach_name(const char *name, bool spare, uint64_t wait_ns)
{
	struct complaint why;
	struct netdev netdev;
	int err = netdev_find(name, &netdev, &why);

	if (!err)
		return detach_one(netdev.ifindex, netdev.name, wait_ns);
	if (spare && err == -ENODEV)
		return EXIT_DONE;
	report_error("%s", why.text);
	return err == -ENODEV ? EXIT_NOT_ATTACHED : EXIT_FAILED;
}

static enum exit_status detach_named(const struct invocation *invocation, uint64_t wait_ns)
{
	bool spare = invocation->values[OPTION_IF_ATTACHED];
	enum exit_status worst = EXIT_DONE;

	for (int i = 0; i < invocation->positional_count; i++) {
		enum exit_status status = detach_name(invocation->positionals[i], spare, wait_ns);

		if (!spare || status != EXIT_NOT_ATTACHED)
			worst = exit_worse(worst, status);
	}
	sweep_gone(); /* perhaps one of these names */
	return worst;
}

static enum exit_status run(const struct invocation *invocation)
{
	struct complaint why;
	uint64_t wait_ns;
	int err = parse_wait(invocation->values[OPTION_WAIT], &wait_ns, &why);

	if (!err && !invocation->positional_count == !invocation->values[OPTION_ALL])
		err = complain(&why, -EINVAL, "detach takes interfaces or --all");
	if (!err)
		return invocation->positional_count ? detach_named(invocation, wait_ns)
						    : detach_all(wait_ns);
	report_error("%s", why.text);
	return EXIT_USAGE;
}

const struct command command_detach = {
	.name = "detach",
	.arguments = "IFACE... [--if-attached] [--wait TIME] | --all",
	.summary = "stop limiting, and verify that the kernel has let go",
	.positionals_min = 0,
	.positionals_max = TARGETS_MAX,
	.options = options,
	.run = run,
};
