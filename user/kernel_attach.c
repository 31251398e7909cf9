// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Attaches a policy to one interface or several: all of them, or everything stays as it was. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "kernel.h"
#include "kernel_change.h"
#include "kernel_dispatcher.h"
#include "kernel_pin_set.h"
#include "kernel_pins.h"
#include "kernel_program.h"
#include "report.h"

#define VANISHING_TRIES	   20
#define VANISHING_PAUSE_NS (20 * 1000 * 1000)

/* ---- what is there already ---- */

static int refuse_foreign(const struct netdev *netdev, const struct attachment *there,
			  struct complaint *why)
{
	const char *device = netdev->name;
	char holder[96];

	if (there->bereft)
		return complain(
			why, -EBUSY,
			"cannot attach to %s: a dispatcher of libxdp is there that has lost "
			"its programs, since its pins in /sys/fs/bpf/xdp are gone; remove it "
			"(xdp-loader unload %s --all), or replace it with --force",
			device, device);
	if (there->link_id)
		snprintf(holder, sizeof(holder), "by link id %u: bpftool link detach id %u",
			 there->link_id, there->link_id);
	else
		snprintf(holder, sizeof(holder), "over netlink: ip link set dev %s %s off", device,
			 there->mode == MODE_GENERIC ? "xdpgeneric" : "xdpdrv");
	return complain(
		why, -EBUSY,
		"cannot attach to %s: another XDP program '%s' (id %u, %s mode) is there; remove "
		"it (attached %s), load it by xdp-loader or libxdp, so that both stand in its "
		"dispatcher, use another interface, or replace it with --force",
		device, there->program_name, there->program_id, mode_name(there->mode), holder);
}

/* What is on trial is confirmed or gone before something else comes. */
static int end_trial(const struct netdev *netdev, struct running *running, struct complaint *why)
{
	int err;

	if (trial_state(running) == TRIAL_RUNNING)
		return complain(why, -EBUSY,
				"the policy of %s is on trial for another %.0f s; keep it first: "
				"xdp-limit confirm %s",
				netdev->name, (double)trial_left_ns(running) / NS_PER_SECOND,
				netdev->name);
	if (trial_state(running) == TRIAL_NONE)
		return 0;
	err = trial_settle(netdev->ifindex, running);
	if (err)
		return err;
	running_close(running);
	return running_open(netdev->ifindex, running);
}

/* Whether a trial would fall back to ours that runs, and not to none. */
static bool goes_back(const struct attach_request *request, const struct running *running)
{
	return request->confirm_ns && running->attachment.ours;
}

/* The former program is called by the new one, in whose mode it then runs. */
static bool can_go_back(const struct attach_request *request, const struct change *change)
{
	return !goes_back(request, &change->running) || switches_in_place(change);
}

/* Nothing is read of another ABI's maps but how much is in them. 0 when that may go. */
static int take_loss(const struct attach_request *request, const struct netdev *netdev,
		     const struct running *running, struct complaint *why)
{
	struct program_state state;

	program_state(netdev->ifindex, running->program, &state);
	/* Nor to whom its table is shared as what. */
	if (state.shared && !request->shared_name)
		return complain(
			why, -EPROTO,
			"the limiter on %s is of ABI %u, this is %u, and it shares its table with other "
			"interfaces; to go on sharing take them over in one command: xdp-limit attach %s "
			"... --config FILE --share-table NAME",
			netdev->name, running->config.abi, XDP_LIMIT_ABI, netdev->name);
	report_note(
		"the limiter on %s is of ABI %u, this is %u, which can't read its state: limiting "
		"goes on, but its buckets start afresh, its totals at 0, and %" PRIu64
		" entries of live lists, %" PRIu64 " bans by limits and the SSH guards are lost",
		netdev->name, running->config.abi, XDP_LIMIT_ABI, state.listed, state.banned);
	return 0;
}

static bool is_any(int fd, const void *context)
{
	(void)fd;
	(void)context;
	return true;
}

/* What a limiter that ended by itself has left pinned: it is replaced. */
static void note_ended(const struct netdev *netdev)
{
	struct program_state state;
	int program = pins_find(netdev->ifindex, PIN_PROGRAM, is_any, NULL);

	if (program < 0)
		return;
	program_state(netdev->ifindex, program, &state);
	close(program);
	if (state.listed || state.banned)
		report_note(
			"the limiter that was on %s had ended, and what its pins still hold goes: "
			"%" PRIu64 " entries of live lists, %" PRIu64 " bans by limits",
			netdev->name, state.listed, state.banned);
}

/* ---- the steps, each for one interface ---- */

struct attempt {
	const struct attach_request *request;
	struct change *changes;	     /* one for each target */
	const struct running *donor; /* of request->donor */
	struct refusal *refusal;
	struct complaint *why;
};

/* Where a dispatcher is, the limiter joins it, at the place that it has. */
static void settle_place(const struct attach_request *request, const struct attachment *there,
			 struct attach_target *target)
{
	target->shared = request->shared || there->dispatcher_id;
	target->priority = request->priority;
	for (int i = 0; i < there->member_count && !target->priority; i++)
		if (there->members[i].program_id == there->program_id)
			target->priority = there->members[i].priority;
	if (!target->priority)
		target->priority = MEMBER_PRIORITY;
}

/* A member is on duty by the generation, which is the table's: one that changes would end the others. */
static int refuse_table(const struct attempt *attempt, const struct change *change)
{
	const char *device = change->target->netdev.name;
	const char *table = attempt->request->shared_name;

	if (change->running.attachment.dispatcher_id)
		return complain(
			attempt->why, -EBUSY,
			"%s has a dispatcher of libxdp, and in that it can't share the table "
			"%s: attach it without --share-table",
			device, table);
	return complain(
		attempt->why, -EBUSY,
		"%s shares the table %s, and can't in a dispatcher: xdp-limit detach %s, then "
		"attach it --shared",
		device, table, device);
}

static int refuse_sharing(const struct attempt *attempt, const struct change *change)
{
	const struct attachment *there = &change->running.attachment;
	const char *device = change->target->netdev.name;

	if (there->dispatcher_id &&
	    there->mode != (change->target->generic ? MODE_GENERIC : MODE_NATIVE))
		return refuse(attempt->refusal, STEP_JOIN, -EEXIST);
	if (!there->dispatcher_id && there->ours)
		return complain(attempt->why, -EBUSY,
				"the limiter on %s is attached alone, and can't be moved into a "
				"dispatcher: xdp-limit detach %s, then attach it --shared",
				device, device);
	if (there->ours && attempt->request->confirm_ns && !change->kept)
		return complain(attempt->why, -EINVAL,
				"%s: --confirm can't go back to another table in a dispatcher: "
				"attach without one of --confirm and --recreate",
				device);
	return 0;
}

/* The ways in which it can't be attached, before anything is loaded. */
static int refuse_way(const struct attempt *attempt, const struct change *change)
{
	const struct attachment *there = &change->running.attachment;
	const struct netdev *netdev = &change->target->netdev;

	if (there->mode != MODE_NONE && !there->ours && !there->dispatcher_id &&
	    !attempt->request->force)
		return refuse_foreign(netdev, there, attempt->why);
	if (change->target->shared && attempt->request->shared_name)
		return refuse_table(attempt, change);
	if (change->target->shared)
		return refuse_sharing(attempt, change);
	if (attempt->request->priority)
		return complain(attempt->why, -EINVAL,
				"--priority is a place in a dispatcher of libxdp, and %s has none; "
				"make one with --shared",
				netdev->name);
	if (!can_go_back(attempt->request, change))
		return complain(
			attempt->why, -EINVAL,
			"%s: --confirm can't go back to another mode: attach in %s mode, or without "
			"--confirm",
			netdev->name, mode_name(there->mode));
	return 0;
}

/* Looks only, and settles what a trial left. */
static int open_one(const struct attempt *attempt, struct change *change)
{
	const struct netdev *netdev = &change->target->netdev;
	struct running *running = &change->running;
	const struct attachment *there = &running->attachment;
	int err = running_open(netdev->ifindex, running);

	if (!err)
		err = end_trial(netdev, running, attempt->why);
	if (attempt->why->text[0])
		return err;
	change->readable = !err;
	change->kept = !err && !attempt->request->recreate;
	change->target->was_dry = !err && running->config.dry_run;
	if (err && err != -ENOENT && err != -EPROTO)
		return refuse(attempt->refusal, STEP_FIND, err);
	if (err == -EPROTO && take_loss(attempt->request, netdev, running, attempt->why))
		return err;
	if (err == -EPROTO && attempt->request->confirm_ns)
		return complain(
			attempt->why, -EINVAL,
			"%s: --confirm can't go back to a limiter of ABI %u, this is %u: attach "
			"without --confirm",
			netdev->name, running->config.abi, XDP_LIMIT_ABI);
	settle_place(attempt->request, there, change->target);
	return refuse_way(attempt, change);
}

/* What a killed command left in a dispatcher would come to life with the next generation. */
static int clear_one(const struct attempt *attempt, struct change *change)
{
	const struct attachment *there = &change->running.attachment;
	int err = there->other_id ? dispatcher_leave(change->target->netdev.ifindex,
						     there->ours ? there->program_id : 0)
				  : 0;

	return err ? refuse(attempt->refusal, STEP_JOIN, err) : 0;
}

static bool is_on_shared(const struct attach_request *request, const struct running *running)
{
	return !strcmp(running->table.shared_name, request->shared_name);
}

/* Whose table the targets go on with: of one of them, or of the donor; NULL for a fresh one. */
static const struct running *find_shared(const struct attempt *attempt)
{
	const struct attach_request *request = attempt->request;

	if (request->recreate)
		return NULL;
	for (size_t i = 0; i < request->count; i++)
		if (attempt->changes[i].kept && is_on_shared(request, &attempt->changes[i].running))
			return &attempt->changes[i].running;
	return request->donor ? attempt->donor : NULL;
}

/* A fresh table of several takes the lists of those that had one: of the first, who all agree on it. */
static const struct running *find_lists(const struct attempt *attempt)
{
	for (size_t i = 0; i < attempt->request->count; i++)
		if (attempt->changes[i].readable)
			return &attempt->changes[i].running;
	return NULL;
}

/* All of the targets are on one table. One that joins takes the generation that there is. */
static void inherit_shared(const struct attempt *attempt, const struct change *change,
			   struct heritage *heritage)
{
	const struct attach_request *request = attempt->request;
	const struct change *first = &attempt->changes[0];

	heritage->table = find_shared(attempt);
	heritage->lists = find_lists(attempt);
	heritage->generation = heritage->table ? state_generation(heritage->table) : 0;
	if (!request->joins || !heritage->table)
		heritage->generation++;
	if (change != first)
		heritage->first = &first->loaded;
	if (!change->kept || !is_on_shared(request, &change->running))
		heritage->own = NULL;
}

static int load_one(const struct attempt *attempt, struct change *change)
{
	const struct running *running = &change->running;
	const struct running *kept = change->kept ? running : NULL;
	struct heritage heritage = {
		.own = kept,
		.table = kept,
		.lists = change->readable ? running : NULL,
		.generation = kept ? running->config.generation + 1 : 1,
		.previous = goes_back(attempt->request, running) ? running->program : -1,
	};

	if (attempt->request->shared_name)
		inherit_shared(attempt, change, &heritage);
	return kernel_load(attempt->request, change->target, &heritage, &change->loaded,
			   attempt->refusal, attempt->why);
}

static int switch_one(const struct attempt *attempt, struct change *change)
{
	const struct pin_set set = {change->loaded.program, change->loaded.maps};
	const struct pin_set former = {change->running.program, change->running.maps};
	bool kept = goes_back(attempt->request, &change->running);
	unsigned int ifindex = change->target->netdev.ifindex;
	int err;

	if (!change->running.attachment.ours)
		note_ended(&change->target->netdev);
	err = pin_set_prepare(ifindex, &set) ?: pin_set_keep_former(ifindex, kept ? &former : NULL);
	if (err)
		return refuse(attempt->refusal, STEP_PIN, err);
	err = state_write(attempt->request, &change->loaded);
	return err ? refuse(attempt->refusal, STEP_FILL, err)
		   : switch_over(change, attempt->refusal);
}

/* ---- all of them ---- */

/* *@done counts those that the step was tried for, the failed one included. */
static int for_all(const struct attempt *attempt,
		   int (*step)(const struct attempt *attempt, struct change *change), size_t *done)
{
	int err = 0;

	for (*done = 0; *done < attempt->request->count && !err; ++*done) {
		struct change *change = &attempt->changes[*done];

		attempt->refusal->netdev = &change->target->netdev;
		attempt->refusal->generic = change->target->generic;
		err = step(attempt, change);
	}
	return err;
}

/* The last one first. State comes after all hooks: two of them may be on one table. */
static void undo(struct change *changes, size_t count)
{
	for (size_t i = count; i > 0; i--)
		switch_back(&changes[i - 1]);
	for (size_t i = count; i > 0; i--)
		state_restore(&changes[i - 1]);
}

static struct change *make_changes(const struct attach_request *request)
{
	struct change *changes = calloc(request->count, sizeof(*changes));

	for (size_t i = 0; changes && i < request->count; i++) {
		changes[i] = (struct change){.target = &request->targets[i], .old = -1, .link = -1};
		running_clear(&changes[i].running);
	}
	return changes;
}

static void free_changes(struct change *changes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (changes[i].link >= 0)
			close(changes[i].link);
		if (changes[i].old >= 0)
			close(changes[i].old);
		kernel_unload(&changes[i].loaded);
		running_close(&changes[i].running);
	}
	free(changes);
}

static int try_all(const struct attempt *attempt)
{
	const struct attach_request *request = attempt->request;
	size_t looked, switched = 0;
	int err = for_all(attempt, open_one, &looked);

	err = err ?: for_all(attempt, clear_one, &looked);
	err = err ?: for_all(attempt, load_one, &looked);
	err = err ?: for_all(attempt, switch_one, &switched);
	if (err)
		undo(attempt->changes, switched);
	for (size_t i = 0; i < request->count; i++)
		if (err)
			switch_leave(&attempt->changes[i]);
		else
			switch_finish(&attempt->changes[i], request->confirm_ns);
	/* Not before: an attach that failed has ended nobody's guard. */
	for (size_t i = 0; !err && request->no_guards && i < request->count; i++)
		state_end_guards(&attempt->changes[i].loaded);
	return err;
}

static int attach_once(const struct attach_request *request, struct refusal *refusal,
		       struct complaint *why)
{
	struct running donor;
	const struct attempt attempt = {request, make_changes(request), &donor, refusal, why};
	int err;

	if (!attempt.changes)
		return refuse(refusal, STEP_PROBE, -ENOMEM);
	refusal->netdev = &request->targets[0].netdev;
	running_clear(&donor);
	err = request->donor ? running_open(request->donor, &donor) : 0;
	if (err)
		refuse(refusal, STEP_PROBE, err);
	else
		err = try_all(&attempt);
	running_close(&donor);
	free_changes(attempt.changes, request->count);
	return err;
}

/*
 * A link of ours that goes while it is looked at: a process that held it unpinned is just ending.
 * Its id goes first, then the program; in between it looks like one attached over netlink.
 */
static bool is_vanishing(const struct refusal *refusal, int err)
{
	struct attachment there;

	/* Without its pins, which have just been removed. */
	if (refusal->step == STEP_FIND)
		return err == -EPERM;
	if (refusal->step != STEP_LINK)
		return false;
	return err == -ENOENT ||
	       (err == -EBUSY && !attachment_find(refusal->netdev->ifindex, &there) &&
		(there.ours || there.mode == MODE_NONE));
}

/* Of an interface that isn't there the kernel says only EINVAL. */
static bool is_gone(const struct refusal *refusal)
{
	char name[IF_NAMESIZE];

	return refusal->step == STEP_LINK && !if_indextoname(refusal->netdev->ifindex, name) &&
	       errno == ENXIO;
}

static int refuse_gone(struct refusal *refusal)
{
	refusal->err = -ENODEV;
	refusal->kernel_text = NULL;
	return -ENODEV;
}

int kernel_attach(const struct attach_request *request, struct refusal *refusal,
		  struct complaint *why)
{
	const struct timespec pause = {.tv_nsec = VANISHING_PAUSE_NS};
	int err = attach_once(request, refusal, why);

	for (int i = 0; i < VANISHING_TRIES; i++) {
		if (!err || !is_vanishing(refusal, err))
			break;
		nanosleep(&pause, NULL);
		err = attach_once(request, refusal, why);
	}
	return err && is_gone(refusal) ? refuse_gone(refusal) : err;
}
