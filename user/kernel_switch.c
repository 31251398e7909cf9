// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One hook from the old program to the new one, with the pins, and back. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <string.h>
#include <unistd.h>
#include "kernel_change.h"
#include "kernel_dispatcher.h"
#include "kernel_open.h"
#include "kernel_pin_set.h"
#include "kernel_pins.h"
#include "report.h"

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
static int update_link(const struct attachment *there, int program, int old_program)
{
	LIBBPF_OPTS(bpf_link_update_opts, options, .flags = BPF_F_REPLACE,
		    .old_prog_fd = old_program);
	int link = open_link(there->ifindex, there->link_id);
	int err;

	if (link < 0)
		return link;
	if (!bpf_link_update(link, program, &options))
		return link;
	err = -errno;
	close(link);
	return err;
}

bool switches_in_place(const struct change *change)
{
	const struct attachment *there = &change->running.attachment;

	return there->ours && there->link_id &&
	       there->mode == (change->target->generic ? MODE_GENERIC : MODE_NATIVE);
}

/*
 * Over ours by a link of the same mode: updated in place. Else the hook has to be emptied first, since
 * the kernel can't convert one into the other.
 */
static int take_hook(const struct change *change)
{
	const struct attachment *there = &change->running.attachment;
	const struct attach_target *target = change->target;
	int err = 0;

	if (switches_in_place(change))
		return update_link(there, change->loaded.program, change->running.program);
	if (there->mode != MODE_NONE)
		err = attachment_remove(there);
	return err ?: create_link(target->netdev.ifindex, change->loaded.program, target->generic);
}

/* In a dispatcher it is the generation that switches. */
static int pin_member(const struct change *change, struct refusal *refusal)
{
	int err = pin_set_finish(change->target->netdev.ifindex, -1);

	return err ? refuse(refusal, STEP_PIN, err) : 0;
}

int switch_over(struct change *change, struct refusal *refusal)
{
	const struct attachment *there = &change->running.attachment;
	int err;

	if (change->target->shared)
		return pin_member(change, refusal);
	if (there->mode != MODE_NONE) {
		change->old = open_program(there->ifindex, there->program_id);
		if (change->old < 0)
			return refuse(refusal, STEP_LINK, change->old);
	}
	err = take_hook(change);
	if (err < 0)
		return refuse(refusal, STEP_LINK, err);
	change->link = err;
	err = pin_set_finish(change->target->netdev.ifindex, change->link);
	if (!err && there->ours && !change->readable)
		pin_set_drop_strangers(there->ifindex);
	return err ? refuse(refusal, STEP_PIN, err) : 0;
}

/* ---- and back ---- */

/* The old program where it was: by a link if it is ours, else over netlink. The link, or -1. */
static int put_back(const struct change *change)
{
	const struct attachment *there = &change->running.attachment;
	unsigned int ifindex = change->target->netdev.ifindex;
	bool generic = there->mode == MODE_GENERIC;
	int link = there->ours ? create_link(ifindex, change->old, generic) : -1;

	if (link < 0 && bpf_xdp_attach(ifindex, change->old, mode_flag(generic), NULL))
		report_warning("could not put program '%s' (id %u) back", there->program_name,
			       there->program_id);
	return link;
}

/* Another version's maps are not known, but without its link it would end with this process. */
static int restore_link(const struct change *change, int link)
{
	int err = link < 0 ? 0 : pin_set_link(change->target->netdev.ifindex, link);

	/* Where the new program had the hook already, its pins have taken the places of the others. */
	return err ?: change->link < 0 ? 0 : -ENOENT;
}

static void restore_pins(const struct change *change, int link)
{
	const struct running *running = &change->running;
	const struct pin_set old = {running->program, running->maps};
	unsigned int ifindex = change->target->netdev.ifindex;
	int err;

	if (change->readable)
		err = pin_set_prepare(ifindex, &old) ?: pin_set_finish(ifindex, link);
	else
		err = restore_link(change, link);
	if (err)
		report_warning("could not restore all pins of the old program");
}

static void update_back(const struct change *change)
{
	LIBBPF_OPTS(bpf_link_update_opts, options, .flags = BPF_F_REPLACE,
		    .old_prog_fd = change->loaded.program);

	if (change->link < 0)
		return;
	if (bpf_link_update(change->link, change->running.program, &options))
		report_warning("could not switch back to the old program");
	restore_pins(change, change->link);
}

static void replace_back(const struct change *change)
{
	const struct attachment *there = &change->running.attachment;
	unsigned int ifindex = change->target->netdev.ifindex;
	struct attachment now;
	int link;

	if (change->link >= 0)
		bpf_link_detach(change->link);
	if (change->old < 0 ||
	    (!attachment_find(ifindex, &now) && now.program_id == there->program_id))
		return;
	link = put_back(change);
	if (link < 0)
		return;
	restore_pins(change, link);
	close(link);
}

void switch_back(struct change *change)
{
	unsigned int ifindex = change->target->netdev.ifindex;

	if (change->target->shared)
		restore_pins(change, -1);
	else if (switches_in_place(change))
		update_back(change);
	else
		replace_back(change);
	pins_clean(ifindex, PIN_NEW);
	pins_clean(ifindex, PIN_FORMER);
	if (!change->running.attachment.ours)
		pins_remove(ifindex);
}

/* ---- members of a dispatcher ---- */

void switch_finish(const struct change *change, bool on_trial)
{
	const struct netdev *netdev = &change->target->netdev;
	int err;

	if (!change->target->shared || !change->running.attachment.ours || on_trial)
		return;
	err = dispatcher_leave(netdev->ifindex, object_id(change->loaded.program));
	if (err)
		report_warning("the former policy could not be taken out of the dispatcher of %s "
			       "(%s): the next change tries again",
			       netdev->name, strerror(-err));
}

void switch_leave(const struct change *change)
{
	const struct attachment *there = &change->running.attachment;
	const struct netdev *netdev = &change->target->netdev;

	if (change->loaded.joined &&
	    dispatcher_leave(netdev->ifindex, there->ours ? there->program_id : 0))
		report_warning(
			"could not take the new policy out of the dispatcher of %s: it judges "
			"nothing",
			netdev->name);
}

int switch_to_former(unsigned int ifindex, const struct running *running,
		     const struct running *former)
{
	const struct pin_set set = {former->program, former->maps};
	int err = pin_set_prepare(ifindex, &set);
	int link;

	if (!err && running->attachment.dispatcher_id)
		return pin_set_finish(ifindex, -1);
	link = err ? err : update_link(&running->attachment, former->program, running->program);
	if (link < 0)
		return link;
	err = pin_set_finish(ifindex, link);
	close(link);
	return err;
}
