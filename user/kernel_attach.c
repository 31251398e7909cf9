// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Switches an interface to a loaded program in one step, or leaves everything as it was. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "kernel.h"
#include "kernel_attach.h"
#include "kernel_load.h"
#include "kernel_pins.h"
#include "report.h"

#define VANISHING_TRIES	   20
#define VANISHING_PAUSE_NS (20 * 1000 * 1000)

static uint32_t mode_flag(bool generic)
{
	return generic ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE;
}

/*
 * A refused link gives only an errno. The same asked over netlink gives the driver's sentence;
 * should it succeed after all, it is taken back at once.
 */
static void fetch_sentence(unsigned int ifindex, int program, uint32_t flag)
{
	kernel_log_clear();
	if (!bpf_xdp_attach(ifindex, program, XDP_FLAGS_UPDATE_IF_NOEXIST | flag, NULL))
		bpf_xdp_detach(ifindex, flag, NULL);
}

/* ---- pins: made under new names beside the old ones, then put in place ---- */

/* What a limiter keeps alive by its pins; the link apart, since it may not be there yet. */
struct pinned_set {
	int program;
	const int *maps;
};

static int pin_new(unsigned int ifindex, const char *name, int fd)
{
	char path[PIN_PATH_SIZE];
	int err = pins_path(ifindex, name, PIN_NEW, path);

	return err ?: bpf_obj_pin(fd, path) ? -errno : 0;
}

static int pin_set(unsigned int ifindex, const struct pinned_set *set)
{
	char directory[PIN_PATH_SIZE];
	int err = pins_directory(ifindex, directory);

	if (err)
		return err;
	if (mkdir(directory, 0700) && errno != EEXIST)
		return -errno;
	err = pins_clean(ifindex, PIN_NEW) ?: pin_new(ifindex, PIN_PROGRAM, set->program);
	for (int i = 0; i < MAP_COUNT && !err; i++)
		err = pin_new(ifindex, map_names[i], set->maps[i]);
	return err;
}

static int put_in_place(unsigned int ifindex, const char *name)
{
	char from[PIN_PATH_SIZE], to[PIN_PATH_SIZE];
	int err = pins_path(ifindex, name, PIN_NEW, from) ?: pins_path(ifindex, name, "", to);

	return err ?: rename(from, to) ? -errno : 0;
}

static int put_all_in_place(unsigned int ifindex)
{
	int err = put_in_place(ifindex, PIN_LINK) ?: put_in_place(ifindex, PIN_PROGRAM);

	for (int i = 0; i < MAP_COUNT && !err; i++)
		err = put_in_place(ifindex, map_names[i]);
	return err;
}

/* ---- what the maps say of the program that is about to run ---- */

static int write_entry(int map, const void *key, const void *value)
{
	return bpf_map_update_elem(map, key, value, BPF_ANY) ? -errno : 0;
}

/* Ended guards leave, or all of them. Returns when the last of the others ends, 0 without any. */
static uint64_t sweep_guards(int map, bool all)
{
	struct address key, next, ended[GUARD_CAPACITY];
	uint64_t ends, last = 0, now = boot_clock_ns();
	unsigned int dead = 0;

	for (void *from = NULL; !bpf_map_get_next_key(map, from, &next); from = &key) {
		key = next;
		if (bpf_map_lookup_elem(map, &key, &ends))
			continue;
		if (ends > now && !all)
			last = ends > last ? ends : last;
		else if (dead < GUARD_CAPACITY)
			ended[dead++] = key;
	}
	while (dead)
		bpf_map_delete_elem(map, &ended[--dead]);
	return last;
}

/* Before the switch: from here on the older program repairs no word any more. */
static int write_switches(const struct loaded *loaded, uint64_t generation, uint64_t guards_end_ns,
			  uint64_t deadline_ns)
{
	struct switches switches;
	uint32_t index = 0;
	int map = loaded->maps[MAP_SWITCHES];

	if (bpf_map_lookup_elem(map, &index, &switches))
		return -errno;
	switches.generation = generation;
	switches.guards_end_ns = guards_end_ns;
	switches.deadline_ns = deadline_ns;
	if (loaded->live_lists)
		switches.live_lists = loaded->live_lists;
	return write_entry(map, &index, &switches);
}

static int write_guard(const struct attach_request *request, int map, uint64_t *guards_end_ns)
{
	*guards_end_ns = sweep_guards(map, false);
	if (!request->guarded)
		return 0;
	if (request->guard_ends_ns > *guards_end_ns)
		*guards_end_ns = request->guard_ends_ns;
	return write_entry(map, &request->guard_peer, &request->guard_ends_ns);
}

static int write_state(const struct attach_request *request, const struct loaded *loaded)
{
	uint64_t deadline_ns = request->confirm_ns ? boot_clock_ns() + request->confirm_ns : 0;
	uint64_t guards_end_ns;
	uint32_t index = 0;
	int err = write_guard(request, loaded->maps[MAP_GUARDS], &guards_end_ns);

	err = err ?: write_switches(loaded, loaded->generation, guards_end_ns, deadline_ns);
	return err ?: write_entry(loaded->maps[MAP_TABLE], &index, &loaded->table);
}

/* ---- the switch ---- */

static int create_link(unsigned int ifindex, int program, bool generic)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = mode_flag(generic));
	int link = bpf_link_create(program, ifindex, BPF_XDP, &options);
	int err = -errno;

	if (link >= 0)
		return link;
	fetch_sentence(ifindex, program, mode_flag(generic));
	return err;
}

/* Names the old program, so that two commands can't cross. Returns the link, or -errno. */
static int update_link(uint32_t link_id, int program, int old_program)
{
	LIBBPF_OPTS(bpf_link_update_opts, options, .flags = BPF_F_REPLACE,
		    .old_prog_fd = old_program);
	int link = bpf_link_get_fd_by_id(link_id);
	int err;

	if (link < 0)
		return -errno;
	if (!bpf_link_update(link, program, &options))
		return link;
	err = -errno;
	close(link);
	return err;
}

static bool updates_in_place(const struct attach_request *request, const struct running *running)
{
	const struct attachment *there = &running->attachment;

	return there->ours && there->link_id &&
	       there->mode == (request->generic ? MODE_GENERIC : MODE_NATIVE);
}

/*
 * Over ours by a link of the same mode: updated in place, every packet meets the old or the new
 * program. Else the hook has to be emptied first, since the kernel can't convert one into the other.
 */
static int switch_program(const struct attach_request *request, const struct running *running,
			  int program)
{
	const struct attachment *there = &running->attachment;
	unsigned int ifindex = request->netdev->ifindex;
	int err = 0;

	if (updates_in_place(request, running))
		return update_link(there->link_id, program, running->program);
	if (there->mode != MODE_NONE)
		err = attachment_remove(ifindex, there);
	return err ?: create_link(ifindex, program, request->generic);
}

/* ---- and back, when the switch or what came after it failed ---- */

/* The old program where it was: by a link if it is ours, else over netlink. The link, or -1. */
static int put_back(unsigned int ifindex, const struct attachment *there, int program)
{
	bool generic = there->mode == MODE_GENERIC;
	int link = there->ours ? create_link(ifindex, program, generic) : -1;

	if (link < 0 && bpf_xdp_attach(ifindex, program, mode_flag(generic), NULL))
		report_warning("could not put program '%s' (id %u) back", there->program_name,
			       there->program_id);
	return link;
}

static void restore_pins(unsigned int ifindex, const struct running *running, int link)
{
	const struct pinned_set old = {running->program, running->maps};

	if (link < 0 || running->maps[MAP_TABLE] < 0)
		return;
	if (pin_set(ifindex, &old) || pin_new(ifindex, PIN_LINK, link) || put_all_in_place(ifindex))
		report_warning("could not restore all pins of the old program");
}

static void update_back(const struct attach_request *request, const struct running *running,
			int program, int link)
{
	LIBBPF_OPTS(bpf_link_update_opts, options, .flags = BPF_F_REPLACE, .old_prog_fd = program);

	if (link < 0)
		return;
	if (bpf_link_update(link, running->program, &options))
		report_warning("could not switch back to the old program");
	restore_pins(request->netdev->ifindex, running, link);
}

static void switch_back(const struct attach_request *request, const struct running *running,
			int old, int link)
{
	const struct attachment *there = &running->attachment;
	unsigned int ifindex = request->netdev->ifindex;
	struct attachment now;

	if (link >= 0)
		bpf_link_detach(link);
	if (old < 0 || (!attachment_find(ifindex, &now) && now.program_id == there->program_id))
		return;
	link = put_back(ifindex, there, old);
	restore_pins(ifindex, running, link);
	if (link >= 0)
		close(link);
}

/* The table keeps the old program's view of itself when the new one didn't come to run. */
static void restore_state(const struct running *running, const struct loaded *loaded, bool kept)
{
	uint32_t index = 0;

	if (!kept)
		return;
	write_switches(loaded, running->config.generation,
		       sweep_guards(loaded->maps[MAP_GUARDS], false), 0);
	write_entry(loaded->maps[MAP_TABLE], &index, &running->table);
}

/* @old: the program that is there now, held so that it can be put back; -1 for none. */
static int switch_and_pin(const struct attach_request *request, const struct running *running,
			  int program, int old, struct refusal *refusal)
{
	unsigned int ifindex = request->netdev->ifindex;
	int link = switch_program(request, running, program);
	int err = link < 0 ? refuse(refusal, STEP_LINK, link) : 0;

	if (!err) {
		err = pin_new(ifindex, PIN_LINK, link) ?: put_all_in_place(ifindex);
		if (err)
			refuse(refusal, STEP_PIN, err);
	}
	if (err && updates_in_place(request, running))
		update_back(request, running, program, link);
	else if (err)
		switch_back(request, running, old, link);
	if (link >= 0)
		close(link);
	return err;
}

static int hold_and_switch(const struct attach_request *request, const struct running *running,
			   int program, struct refusal *refusal)
{
	const struct attachment *there = &running->attachment;
	int old = -1, err;

	if (there->mode != MODE_NONE) {
		old = bpf_prog_get_fd_by_id(there->program_id);
		if (old < 0)
			return refuse(refusal, STEP_LINK, -errno);
	}
	err = switch_and_pin(request, running, program, old, refusal);
	if (old >= 0)
		close(old);
	return err;
}

static int attach_loaded(const struct attach_request *request, const struct running *running,
			 const struct loaded *loaded, bool kept, struct refusal *refusal)
{
	const struct pinned_set set = {loaded->program, loaded->maps};
	unsigned int ifindex = request->netdev->ifindex;
	int err = pin_set(ifindex, &set);

	if (err)
		refuse(refusal, STEP_PIN, err);
	if (!err) {
		err = write_state(request, loaded);
		if (err)
			refuse(refusal, STEP_CREATE_MAP, err);
	}
	if (!err)
		err = hold_and_switch(request, running, loaded->program, refusal);
	if (!err) {
		/* Not before: an attach that failed has ended nobody's guard. */
		if (request->no_guards)
			sweep_guards(loaded->maps[MAP_GUARDS], true);
		return 0;
	}
	restore_state(running, loaded, kept);
	pins_clean(ifindex, PIN_NEW);
	if (!running->attachment.ours)
		pins_remove(ifindex);
	return err;
}

static int refuse_foreign(const struct attach_request *request, const struct attachment *there,
			  struct complaint *why)
{
	const char *device = request->netdev->name;
	char holder[96];

	if (there->link_id)
		snprintf(holder, sizeof(holder), "by link id %u: bpftool link detach id %u",
			 there->link_id, there->link_id);
	else
		snprintf(holder, sizeof(holder), "over netlink: ip link set dev %s %s off", device,
			 there->mode == MODE_GENERIC ? "xdpgeneric" : "xdpdrv");
	return complain(
		why, -EBUSY,
		"cannot attach to %s: another XDP program '%s' (id %u, %s mode) is there; remove "
		"it (attached %s), use another interface, or replace it with --force",
		device, there->program_name, there->program_id, mode_name(there->mode), holder);
}

int attach_former(unsigned int ifindex, const struct running *running, const struct running *former)
{
	const struct pinned_set set = {former->program, former->maps};
	int err = pin_set(ifindex, &set);
	int link = err ? err
		       : update_link(running->attachment.link_id, former->program,
				     running->program);

	if (link < 0)
		return link;
	err = pin_new(ifindex, PIN_LINK, link) ?: put_all_in_place(ifindex);
	close(link);
	return err;
}

/* What is on trial is confirmed or gone before something else comes. */
static int end_trial(const struct attach_request *request, struct running *running, int err,
		     struct complaint *why)
{
	unsigned int ifindex = request->netdev->ifindex;

	if (err)
		return err;
	if (trial_state(running) == TRIAL_RUNNING)
		return complain(why, -EBUSY,
				"the policy of %s is on trial for another %.0f s; keep it first: "
				"xdp-limit confirm %s",
				request->netdev->name,
				(double)trial_left_ns(running) / NS_PER_SECOND,
				request->netdev->name);
	if (trial_state(running) == TRIAL_NONE)
		return 0;
	err = trial_settle(ifindex, running);
	if (err)
		return err;
	running_close(running);
	return running_open(ifindex, running);
}

/* The program that a trial would fall back to: ours that runs, or none. */
static int previous_of(const struct attach_request *request, const struct running *running)
{
	return request->confirm_ns && running->attachment.ours ? running->program : -1;
}

/* The former program is called by the new one, in whose mode it then runs. */
static bool can_go_back(const struct attach_request *request, const struct running *running)
{
	return !request->confirm_ns || !running->attachment.ours ||
	       updates_in_place(request, running);
}

static int attach_once(const struct attach_request *request, struct refusal *refusal,
		       struct complaint *why)
{
	struct running running;
	struct loaded loaded = {0};
	int err = running_open(request->netdev->ifindex, &running);
	bool kept;

	err = end_trial(request, &running, err, why);
	kept = !err && !request->recreate;
	if (err == -EPROTO)
		report_note("the limiter on %s is of ABI %u, this is %u: its buckets start afresh",
			    request->netdev->name, running.config.abi, XDP_LIMIT_ABI);
	if (why->text[0])
		;
	else if (err && err != -ENOENT && err != -EPROTO)
		err = refuse(refusal, STEP_PROBE, err);
	else if (running.attachment.mode != MODE_NONE && !running.attachment.ours &&
		 !request->force)
		err = refuse_foreign(request, &running.attachment, why);
	else if (!can_go_back(request, &running))
		err = complain(
			why, -EINVAL,
			"--confirm can't go back to another mode: attach in %s mode, or without "
			"--confirm",
			mode_name(running.attachment.mode));
	else
		err = kernel_load(request, kept ? &running : NULL, err ? NULL : &running,
				  previous_of(request, &running), &loaded, refusal, why);
	if (!err)
		err = attach_loaded(request, &running, &loaded, kept, refusal);
	kernel_unload(&loaded);
	running_close(&running);
	return err;
}

/*
 * A link of ours that goes while it is looked at: a process that held it unpinned is just ending.
 * Its id goes first, then the program; in between it looks like one attached over netlink.
 */
static bool is_vanishing(unsigned int ifindex, const struct refusal *refusal, int err)
{
	struct attachment there;

	if (refusal->step != STEP_LINK)
		return false;
	return err == -ENOENT || (err == -EBUSY && !attachment_find(ifindex, &there) &&
				  (there.ours || there.mode == MODE_NONE));
}

int kernel_attach(const struct attach_request *request, struct refusal *refusal,
		  struct complaint *why)
{
	const struct timespec pause = {.tv_nsec = VANISHING_PAUSE_NS};
	int err = attach_once(request, refusal, why);

	for (int i = 0; i < VANISHING_TRIES; i++) {
		if (!err || !is_vanishing(request->netdev->ifindex, refusal, err))
			break;
		nanosleep(&pause, NULL);
		err = attach_once(request, refusal, why);
	}
	return err;
}
