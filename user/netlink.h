/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Questions to rtnetlink, by libnl. */
#ifndef XDP_LIMIT_NETLINK_H
#define XDP_LIMIT_NETLINK_H

#include <netlink/msg.h>
#include <netlink/socket.h>

/* Takes one message of an answer. Returns 0, or -errno to end it. */
typedef int (*netlink_each)(struct nlmsghdr *message, void *data);

/**
 * netlink_open - a socket of its own for who asks, told of what concerns @group (RTNLGRP_*; NONE: nothing).
 * Returns 0 or -errno; nl_socket_free().
 */
int netlink_open(int group, struct nl_sock **socket);

/** netlink_request - RTM_GET* of every family, attributes may follow. NULL: no memory. */
struct nl_msg *netlink_request(int type, int flags);

/**
 * netlink_ask - give each message of the answer to @request, which is freed, to @each.
 * Returns 0 or -errno: of the kernel, of @each, of a system call; -EINTR when a dump may have missed something.
 */
int netlink_ask(struct nl_msg *request, netlink_each each, void *data);

/**
 * netlink_dump - ask for all of RTM_GET* @type, again when something changed meanwhile; before each
 * time @restart is called (NULL: @each doesn't mind to see a message twice). Returns 0 or -errno.
 */
int netlink_dump(int type, void (*restart)(void *data), netlink_each each, void *data);

#endif
