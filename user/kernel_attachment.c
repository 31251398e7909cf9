// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is attached to an interface, whose it is, and removing it. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <unistd.h>
#include "kernel.h"
#include "kernel_dispatcher.h"
#include "kernel_open.h"
#include "kernel_pins.h"
#include "kernel_program.h"

const char *mode_name(enum xdp_mode mode)
{
	static const char *const names[] = {
		[MODE_NONE] = "none",
		[MODE_NATIVE] = "native",
		[MODE_GENERIC] = "generic",
		[MODE_OFFLOAD] = "offload",
	};

	return names[mode];
}

const char *attachment_way(const struct attachment *attachment)
{
	if (attachment->dispatcher_id)
		return "dispatcher";
	return attachment->link_id ? "link" : "netlink";
}

void describe_members(const struct attachment *attachment, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; i < attachment->member_count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%u %s", i ? ", " : "",
					 attachment->members[i].priority,
					 attachment->members[i].name);
}

/* The kernel refuses native beside generic; what is on the card itself comes before either. */
static void take_mode(const struct bpf_xdp_query_opts *query, struct attachment *attachment)
{
	const struct {
		enum xdp_mode mode;
		uint32_t program_id;
	} places[] = {
		{MODE_NATIVE, query->drv_prog_id},
		{MODE_GENERIC, query->skb_prog_id},
		{MODE_OFFLOAD, query->hw_prog_id},
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!places[i].program_id)
			continue;
		attachment->mode = places[i].mode;
		attachment->program_id = places[i].program_id;
	}
}

static bool holds(int link, const void *context)
{
	const struct attachment *attachment = context;
	struct bpf_link_info info = {0};
	uint32_t size = sizeof(info);

	return !bpf_obj_get_info_by_fd(link, &info, &size) && info.type == BPF_LINK_TYPE_XDP &&
	       info.prog_id == attachment->program_id && info.xdp.ifindex == attachment->ifindex;
}

/*
 * A link may be held by a process alone, so all are asked. An ifindex says little across namespaces,
 * but each of our programs is attached only once.
 */
static int find_unpinned_link(struct attachment *attachment)
{
	uint32_t id = 0;

	while (!bpf_link_get_next_id(id, &id)) {
		int fd = bpf_link_get_fd_by_id(id);
		bool found;

		if (fd < 0 && errno == ENOENT) /* gone meanwhile */
			continue;
		if (fd < 0)
			return -errno;
		found = holds(fd, attachment);
		close(fd);
		if (found) {
			attachment->link_id = id;
			return 0;
		}
	}
	return errno == ENOENT ? 0 : -errno;
}

static int find_link(struct attachment *attachment)
{
	int fd = pins_find(attachment->ifindex, PIN_LINK, holds, attachment);

	if (fd < 0)
		return find_unpinned_link(attachment);
	attachment->link_id = object_id(fd);
	close(fd);
	return 0;
}

static int describe_program(struct attachment *attachment)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	struct config config;
	int fd = open_program(attachment->ifindex, attachment->program_id);
	int err;

	if (fd < 0)
		return fd;
	err = bpf_obj_get_info_by_fd(fd, &info, &size);
	if (!err) {
		snprintf(attachment->program_name, sizeof(attachment->program_name), "%s",
			 info.name);
		err = program_config(attachment->ifindex, fd, &config);
		attachment->ours = !err;
		err = err == -ENOENT ? 0 : err;
	}
	close(fd);
	return err;
}

int attachment_find(unsigned int ifindex, struct attachment *attachment)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, query);
	int err = bpf_xdp_query(ifindex, 0, &query);

	*attachment = (struct attachment){.ifindex = ifindex, .mode = MODE_NONE};
	if (err)
		return err;
	take_mode(&query, attachment);
	if (attachment->mode == MODE_NONE)
		return 0;
	err = find_link(attachment) ?: describe_program(attachment) ?: dispatcher_look(attachment);
	/* Ours is a member. */
	return err || !attachment->dispatcher_id || !attachment->ours
		       ? err
		       : describe_program(attachment);
}

/* A link is opened anew each time: whoever keeps it open would keep it attached. */
int attachment_is_current(const struct attachment *attachment)
{
	bool current;
	int fd;

	if (!attachment->link_id)
		return 0;
	fd = open_link(attachment->ifindex, attachment->link_id);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	current = holds(fd, attachment);
	close(fd);
	return current;
}

static int remove_link(const struct attachment *attachment)
{
	int fd = open_link(attachment->ifindex, attachment->link_id);
	int err;

	if (fd < 0)
		return fd;
	err = bpf_link_detach(fd) ? -errno : 0;
	close(fd);
	return err;
}

/* The mode has to be named: without it, or with the other, the kernel says 0 and does nothing. */
static int remove_netlink(const struct attachment *attachment)
{
	static const uint32_t flags[] = {
		[MODE_NATIVE] = XDP_FLAGS_DRV_MODE,
		[MODE_GENERIC] = XDP_FLAGS_SKB_MODE,
		[MODE_OFFLOAD] = XDP_FLAGS_HW_MODE,
	};

	return bpf_xdp_detach(attachment->ifindex, flags[attachment->mode], NULL);
}

static int check_gone(const struct attachment *attachment)
{
	struct attachment after;
	int err = attachment_find(attachment->ifindex, &after);

	if (err)
		return err;
	return after.program_id == attachment->program_id ? -EBUSY : 0;
}

int attachment_take_off(const struct attachment *attachment)
{
	int err = attachment->link_id ? remove_link(attachment) : remove_netlink(attachment);

	return err ?: check_gone(attachment);
}

int attachment_remove(const struct attachment *attachment)
{
	if (attachment->dispatcher_id)
		return dispatcher_leave(attachment->ifindex, 0) ?: check_gone(attachment);
	return attachment_take_off(attachment);
}
