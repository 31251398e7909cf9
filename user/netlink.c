// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One question to rtnetlink, one answer, and -errno instead of libnl's own numbers. */
#include "netlink.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <netlink/errno.h>
#include <netlink/netlink.h>

#define ANSWER_SIZE   32768 /* what the kernel fills at most in one datagram of a dump */
#define DUMP_ATTEMPTS 10

/* ---- errors ---- */

/* Several errnos are one number of libnl's, so the errno itself stays in errno. */
static int to_libnl(int err)
{
	if (!err)
		return NL_OK;
	errno = -err;
	return -nl_syserr2nlerr(errno);
}

/* Not of a system call, the kernel or a callback: the answer isn't what libnl expects. */
static int from_libnl(int err)
{
	if (err >= 0)
		return 0;
	if (err == -NLE_DUMP_INTR)
		return -EINTR;
	return errno && err == -nl_syserr2nlerr(errno) ? -errno : -EPROTO;
}

/* ---- one question ---- */

struct reading {
	netlink_each each;
	void *data;
};

static int pass_message(struct nl_msg *message, void *data)
{
	const struct reading *reading = data;

	return to_libnl(reading->each(nlmsg_hdr(message), reading->data));
}

static int pass_refusal(struct sockaddr_nl *kernel, struct nlmsgerr *refusal, void *data)
{
	(void)kernel;
	(void)data;
	return to_libnl(refusal->error);
}

int netlink_open(int group, struct nl_sock **socket)
{
	int err;

	*socket = nl_socket_alloc();
	if (!*socket)
		return -ENOMEM;
	err = from_libnl(nl_connect(*socket, NETLINK_ROUTE)
				 ?: nl_socket_add_membership(*socket, group));
	if (err)
		nl_socket_free(*socket);
	return err;
}

struct nl_msg *netlink_request(int type, int flags)
{
	struct ifinfomsg all = {0}; /* the longest head of what is asked for here */
	struct nl_msg *request = nlmsg_alloc_simple(type, flags);

	if (request && nlmsg_append(request, &all, sizeof(all), NLMSG_ALIGNTO)) {
		nlmsg_free(request);
		return NULL;
	}
	return request;
}

static int exchange(struct nl_sock *socket, struct nl_msg *request, struct reading *reading)
{
	int err;

	nl_socket_set_msg_buf_size(socket, ANSWER_SIZE);
	nl_socket_modify_cb(socket, NL_CB_VALID, NL_CB_CUSTOM, pass_message, reading);
	nl_socket_modify_err_cb(socket, NL_CB_CUSTOM, pass_refusal, NULL);
	err = nl_send_auto(socket, request);
	return from_libnl(err < 0 ? err : nl_recvmsgs_default(socket));
}

int netlink_ask(struct nl_msg *request, netlink_each each, void *data)
{
	struct reading reading = {each, data};
	struct nl_sock *socket;
	int err = request ? netlink_open(RTNLGRP_NONE, &socket) : -ENOMEM;

	if (!err) {
		err = exchange(socket, request, &reading);
		nl_socket_free(socket);
	}
	nlmsg_free(request);
	return err;
}

int netlink_dump(int type, void (*restart)(void *data), netlink_each each, void *data)
{
	int attempts = DUMP_ATTEMPTS;
	int err;

	do {
		if (restart)
			restart(data);
		err = netlink_ask(netlink_request(type, NLM_F_DUMP), each, data);
	} while (err == -EINTR && --attempts);
	return err;
}
