// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Policies on trial: confirmed, or gone by themselves. */
#include <bpf/bpf.h>
#include <errno.h>
#include "kernel.h"
#include "kernel_change.h"
#include "kernel_dispatcher.h"
#include "kernel_open.h"
#include "kernel_pins.h"
#include "kernel_program.h"
#include "kernel_switches.h"

/* 0 for none. Only the newest program looks at the deadline (bpf/pipeline.h), so no other has one. */
static uint64_t deadline_of(const struct running *running)
{
	struct switches switches;

	if (!running->config.on_trial || switches_read(running->maps, &switches) ||
	    switches.generation != running->config.generation)
		return 0;
	return switches.deadline_ns;
}

uint64_t trial_left_ns(const struct running *running)
{
	uint64_t deadline_ns = deadline_of(running), now = boot_clock_ns();

	return deadline_ns > now ? deadline_ns - now : 0;
}

enum trial trial_state(const struct running *running)
{
	uint64_t deadline_ns = deadline_of(running);

	if (!deadline_ns)
		return TRIAL_NONE;
	return boot_clock_ns() > deadline_ns ? TRIAL_OVER : TRIAL_RUNNING;
}

static int end_deadline(const struct running *running)
{
	struct switches switches;
	uint32_t index = 0;
	int err = switches_read(running->maps, &switches);

	if (err)
		return err;
	switches.deadline_ns = 0;
	err = switches_write(running->maps, &switches);
	bpf_map_delete_elem(running->maps[MAP_PREVIOUS], &index);
	return err;
}

int trial_confirm(const struct running *running)
{
	int err = end_deadline(running);

	if (!err && running->attachment.dispatcher_id)
		err = dispatcher_leave(running->attachment.ifindex, running->attachment.program_id);
	/* Only now the former program is free. */
	return err ?: pins_clean(running->attachment.ifindex, PIN_FORMER);
}

/* The former program, or -ENOENT when there was none. */
static int open_previous(const struct running *running)
{
	uint32_t index = 0, id = running->attachment.other_id;
	if (!running->attachment.dispatcher_id &&
	    bpf_map_lookup_elem(running->maps[MAP_PREVIOUS], &index, &id))
		return -errno;
	return open_program(running->attachment.ifindex, id);
}

static int open_former(unsigned int ifindex, int program, struct running *former)
{
	running_clear(former);
	former->attachment.ifindex = ifindex;
	former->program = program;
	return program_maps(ifindex, program, former->maps)
		       ?: program_config(ifindex, program, &former->config);
}

/* The former program repairs words again, and its switches know of no trial. */
static int wake_former(const struct running *former)
{
	struct switches switches;
	int err = switches_read(former->maps, &switches);

	if (err)
		return err;
	switches.generation = former->config.generation;
	switches.deadline_ns = 0;
	return switches_write(former->maps, &switches);
}

static int go_back(unsigned int ifindex, const struct running *running, int program)
{
	struct running former;
	int err = open_former(ifindex, program, &former);

	err = err ?: switch_to_former(ifindex, running, &former);
	err = err ?: wake_former(&former);
	err = err ?: pins_clean(ifindex, PIN_FORMER);
	running_close(&former);
	return err;
}

/*
 * An array of programs that lost its pin is empty, and a member may have been taken out: what was on trial
 * goes on judging.
 */
static int settle_with_previous(unsigned int ifindex, const struct running *running)
{
	int program = open_previous(running);

	if (program == -ENOENT)
		return end_deadline(running) ?: pins_clean(ifindex, PIN_FORMER);
	return program < 0 ? program : go_back(ifindex, running, program);
}

int trial_settle_quietly(unsigned int ifindex, const struct running *running)
{
	if (running->config.has_previous)
		return settle_with_previous(ifindex, running);
	if (running->attachment.dispatcher_id)
		return -ENOENT;
	return attachment_take_off(&running->attachment) ?: pins_remove(ifindex);
}

/* Of the two that are ours the one whose generation holds stays in the dispatcher. */
static int dismiss_other(unsigned int ifindex, const struct running *running)
{
	const struct attachment *there = &running->attachment;
	struct switches switches;
	int err = switches_read(running->maps, &switches);

	if (err)
		return err;
	return dispatcher_leave(ifindex, switches.generation == running->config.generation
						 ? there->program_id
						 : there->other_id);
}

int trial_settle(unsigned int ifindex, const struct running *running)
{
	if (!running->attachment.dispatcher_id)
		return trial_settle_quietly(ifindex, running);
	if (!running->config.has_previous)
		return attachment_remove(&running->attachment) ?: pins_remove(ifindex);
	return settle_with_previous(ifindex, running) ?: dismiss_other(ifindex, running);
}
