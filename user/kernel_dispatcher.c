// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Beside other programs: a dispatcher of libxdp calls one after the other, and ours is one of them. */
#include "kernel_dispatcher.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xdp/libxdp.h>
#include "kernel_log.h"
#include "kernel_program.h"
#include "kernel_switches.h"

#define DISPATCHER "xdp_dispatcher" /* the name by which libxdp knows its own */

static int catch (enum libxdp_print_level level, const char *format, va_list arguments)
{
	if (level == LIBXDP_WARN)
		kernel_log_keep(format, arguments);
	return 0;
}

void dispatcher_log_start(void)
{
	libxdp_set_print(catch);
}

static int open_dispatcher(unsigned int ifindex, struct xdp_multiprog **dispatcher)
{
	*dispatcher = xdp_multiprog__get_from_ifindex((int)ifindex);
	return (int)libxdp_get_error(*dispatcher);
}

/* ---- who is in it ---- */

/* Not so: the former one of a trial, or one that a command which was killed had not yet switched to. */
static bool was_switched_to(unsigned int ifindex, int program, const struct config *config)
{
	struct switches switches = {0};
	int maps[MAP_COUNT];

	if (config->abi != XDP_LIMIT_ABI)
		return true; /* who can't be asked counts */
	if (!program_maps(ifindex, program, maps))
		switches_read(maps, &switches);
	for (int i = 0; i < MAP_COUNT; i++)
		if (maps[i] >= 0)
			close(maps[i]);
	return switches.generation == config->generation;
}

/* Two have been switched to when a command was killed that made a fresh table: then the later counts. */
static void take_ours(struct attachment *attachment, uint32_t id, bool switched_to)
{
	uint32_t other = id;

	if (switched_to && (!attachment->ours || id > attachment->program_id)) {
		other = attachment->ours ? attachment->program_id : 0;
		attachment->program_id = id;
		attachment->ours = true;
	}
	if (other)
		attachment->other_id = other;
}

static void take_member(const struct xdp_program *program, struct attachment *attachment)
{
	struct member *member = &attachment->members[attachment->member_count++];
	struct config config;

	member->program_id = xdp_program__id(program);
	member->priority = xdp_program__run_prio(program);
	snprintf(member->name, sizeof(member->name), "%s", xdp_program__name(program));
	member->ours = !program_config(attachment->ifindex, xdp_program__fd(program), &config);
	if (member->ours)
		take_ours(attachment, member->program_id,
			  was_switched_to(attachment->ifindex, xdp_program__fd(program), &config));
}

int dispatcher_look(struct attachment *attachment)
{
	struct xdp_multiprog *dispatcher;
	struct xdp_program *program = NULL;
	int err;

	if (strcmp(attachment->program_name, DISPATCHER))
		return 0;
	err = open_dispatcher(attachment->ifindex, &dispatcher);
	if (err)
		return err;
	/* Nobody can join it then: a program like any other. */
	attachment->bereft = xdp_multiprog__is_legacy(dispatcher);
	if (!attachment->bereft)
		attachment->dispatcher_id = attachment->program_id;
	while ((program = xdp_multiprog__next_prog(program, dispatcher)) &&
	       attachment->member_count < MEMBERS_MAX)
		take_member(program, attachment);
	xdp_multiprog__close(dispatcher);
	return 0;
}

/* ---- coming and going ---- */

static bool is_member(const struct attachment *attachment, uint32_t id)
{
	for (int i = 0; i < attachment->member_count; i++)
		if (attachment->members[i].program_id == id)
			return true;
	return false;
}

/* Where the kernel has no dispatchers, libxdp attaches a first program alone, which is not what was asked for. */
static int check_joined(unsigned int ifindex, uint32_t id)
{
	struct attachment now;
	int err = attachment_find(ifindex, &now);

	if (err || is_member(&now, id))
		return err;
	if (now.program_id == id)
		attachment_remove(&now);
	return -EOPNOTSUPP;
}

static int attach(const struct joining *joining, struct xdp_program *program)
{
	enum xdp_attach_mode mode = joining->generic ? XDP_MODE_SKB : XDP_MODE_NATIVE;
	int err = xdp_program__set_run_prio(program, joining->priority)
			  ?: xdp_program__attach(program, (int)joining->ifindex, mode, 0);

	return err ?: check_joined(joining->ifindex, xdp_program__id(program));
}

/* libxdp loads it too, since it is verified as a part of its dispatcher. */
int dispatcher_join(const struct joining *joining)
{
	LIBBPF_OPTS(xdp_program_opts, options, .obj = joining->object,
		    .prog_name = bpf_program__name(joining->program));
	struct xdp_program *program;
	int err;

	if (libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_EXT, NULL) != 1)
		return -EOPNOTSUPP;
	kernel_log_clear();
	program = xdp_program__create(&options);
	err = (int)libxdp_get_error(program);
	if (err)
		return err;
	err = attach(joining, program);
	xdp_program__close(program);
	return err;
}

/* Those of ours in @dispatcher, except for @kept; how many. */
static int find_ours(unsigned int ifindex, struct xdp_multiprog *dispatcher, uint32_t kept,
		     struct xdp_program **ours)
{
	struct xdp_program *program = NULL;
	struct config config;
	int count = 0;

	while ((program = xdp_multiprog__next_prog(program, dispatcher)) && count < MEMBERS_MAX)
		if (xdp_program__id(program) != kept &&
		    !program_config(ifindex, xdp_program__fd(program), &config))
			ours[count++] = program;
	return count;
}

int dispatcher_leave(unsigned int ifindex, uint32_t kept)
{
	struct xdp_program *ours[MEMBERS_MAX];
	struct xdp_multiprog *dispatcher;
	int err = open_dispatcher(ifindex, &dispatcher);
	int count;

	if (err)
		return err == -ENOENT ? 0 : err;
	count = find_ours(ifindex, dispatcher, kept, ours);
	if (count)
		err = xdp_program__detach_multi(ours, (size_t)count, (int)ifindex,
						xdp_multiprog__attach_mode(dispatcher), 0);
	xdp_multiprog__close(dispatcher);
	return err;
}
