// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From an interface's name to the limiter that runs on it. */
#include "target.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "capabilities.h"
#include "command.h"
#include "lock.h"
#include "report.h"

enum exit_status status_of_error(int err)
{
	switch (err) {
	case 0:
		return EXIT_DONE;
	case -EBUSY:
		return EXIT_BUSY;
	case -EINVAL:
	case -ERANGE:
		return EXIT_USAGE;
	case -ENOTSUP:
		return EXIT_UNSUPPORTED;
	default:
		return EXIT_FAILED;
	}
}

const char *permission_hint(int err)
{
	if (err != -EPERM || effective_capabilities() >> CAP_SYS_ADMIN & 1)
		return "";
	if (geteuid())
		return " (run it as root, to whom its pins belong)";
	return " (what runs has no pins of ours, and to open it by its id this process lacks "
	       "CAP_SYS_ADMIN)";
}

static enum exit_status explain_absence(const struct target *target, int err, struct complaint *why)
{
	const struct attachment *there = &target->running.attachment;
	const char *name = target->netdev.name;
	char members[MEMBERS_TEXT_SIZE];

	if (err == -EPROTO) {
		complain(
			why, err,
			"the limiter on %s is of ABI %u, this xdp-limit of %u, which can't read it; "
			"replace it, without a gap, by `xdp-limit apply %s FILE` or `xdp-limit attach "
			"%s ...`, or remove it by `xdp-limit detach %s`",
			name, target->running.config.abi, XDP_LIMIT_ABI, name, name, name);
		return EXIT_NOT_ATTACHED;
	}
	if (err != -ENOENT) {
		complain(why, err, "cannot read what is attached to %s: %s%s", name, strerror(-err),
			 permission_hint(err));
		return EXIT_FAILED;
	}
	describe_members(there, members, sizeof(members));
	if (there->dispatcher_id)
		complain(why, err,
			 "no limiter in the dispatcher of %s, among: %s; `xdp-limit attach %s ...` "
			 "joins them",
			 name, members, name);
	else if (there->mode != MODE_NONE)
		complain(why, err,
			 "no limiter of ours on %s: XDP program '%s' (id %u, %s mode) is there",
			 name, there->program_name, there->program_id, mode_name(there->mode));
	else
		complain(why, err,
			 "no limiter on %s; start one with: xdp-limit attach %s --rate 1000pps",
			 name, name);
	return EXIT_NOT_ATTACHED;
}

static int reopen(struct target *target)
{
	running_close(&target->running);
	return running_open(target->netdev.ifindex, &target->running);
}

/* When another command holds the lock, that one will do it; who held it before may have done it. */
int target_settle(struct target *target, trial_settler *settle, bool *settled)
{
	struct complaint why;
	int lock, err;

	*settled = false;
	if (trial_state(&target->running) != TRIAL_OVER)
		return 0;
	lock = lock_take(target->netdev.ifindex, target->netdev.name, 0, &why);
	if (lock < 0)
		return 0;
	err = reopen(target);
	if (!err && trial_state(&target->running) == TRIAL_OVER) {
		err = settle(target->netdev.ifindex, &target->running);
		*settled = !err;
		err = err ?: reopen(target);
	}
	close(lock);
	return err;
}

static int settle_and_say(struct target *target)
{
	uint32_t tried = target->running.attachment.program_id;
	bool settled;
	int err = target_settle(target, trial_settle, &settled);

	if (settled)
		report_note("%s: the policy on trial was not confirmed; %s", target->netdev.name,
			    target->running.attachment.program_id == tried
				    ? "the former one has lost its pin, so it stays"
				    : "the former state is back");
	return err;
}

enum exit_status target_look(const char *name, struct target *target, struct complaint *why)
{
	enum exit_status status;
	int err = netdev_find(name, &target->netdev, why);

	if (err)
		return err == -ENODEV ? EXIT_NOT_ATTACHED : EXIT_FAILED;
	err = running_open(target->netdev.ifindex, &target->running);
	err = err ?: settle_and_say(target);
	if (!err)
		return EXIT_DONE;
	status = explain_absence(target, err, why);
	running_close(&target->running);
	return status;
}

enum exit_status target_open(const char *name, struct target *target)
{
	struct complaint why;
	enum exit_status status = target_look(name, target, &why);

	if (status != EXIT_DONE)
		report_error("%s", why.text);
	return status;
}

int lock_shared(const struct running *running, uint64_t wait_ns, struct complaint *why)
{
	const char *name = running->table.shared_name;

	return name[0] ? lock_table(name, wait_ns, why) : 0;
}

/* The interface, and what it shares. */
static int lock_target(const struct target *target, uint64_t wait_ns, struct complaint *why)
{
	int err = lock_interface(target->netdev.ifindex, target->netdev.name, wait_ns, why);

	if (err)
		return err;
	err = lock_shared(&target->running, wait_ns, why);
	if (err)
		lock_release();
	return err;
}

/* Looked at again under the lock: another command may have ended or replaced it meanwhile. */
enum exit_status target_look_locked(const char *name, uint64_t wait_ns, struct target *target,
				    struct complaint *why)
{
	enum exit_status status = target_look(name, target, why);
	char shared[SHARED_NAME_SIZE];
	unsigned int ifindex;
	bool same;
	int err;

	if (status != EXIT_DONE)
		return status;
	ifindex = target->netdev.ifindex;
	snprintf(shared, sizeof(shared), "%s", target->running.table.shared_name);
	err = lock_target(target, wait_ns, why);
	target_close(target);
	if (err)
		return status_of_error(err);
	status = target_look(name, target, why);
	same = target->netdev.ifindex == ifindex;
	if (status == EXIT_DONE && same && !strcmp(shared, target->running.table.shared_name))
		return EXIT_DONE;
	if (status == EXIT_DONE) {
		target_close(target);
		complain(why, -EBUSY, "%s %s meanwhile; try again", name,
			 same ? "got another table" : "was made anew");
		status = EXIT_BUSY;
	}
	lock_release();
	return status;
}

enum exit_status target_open_locked(const char *name, uint64_t wait_ns, struct target *target)
{
	struct complaint why;
	enum exit_status status = target_look_locked(name, wait_ns, target, &why);

	if (status != EXIT_DONE)
		report_error("%s", why.text);
	return status;
}

int attached_visit(int (*visit)(const struct netdev *netdev, int err, void *context), void *context)
{
	struct netdev *list = NULL;
	int count = netdev_list(&list);
	int result = count < 0 ? count : 0;

	for (int i = 0; i < count && !result; i++) {
		struct attachment there;
		int err = attachment_find(list[i].ifindex, &there);

		if (err == -ENODEV || (!err && !there.ours))
			continue;
		result = visit(&list[i], err, context);
	}
	free(list);
	return result;
}

void target_close(struct target *target)
{
	running_close(&target->running);
}

enum exit_status target_run(const struct invocation *invocation, target_work *work)
{
	struct target target;
	enum exit_status status = target_open(invocation->positionals[0], &target);

	if (status != EXIT_DONE)
		return status;
	status = work(invocation, &target);
	target_close(&target);
	return status;
}
