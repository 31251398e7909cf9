/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who is at the other end of the SSH connection that a command was typed into. */
#ifndef XDP_LIMIT_SSHGUARD_H
#define XDP_LIMIT_SSHGUARD_H

#include <sys/types.h>
#include "address.h"

/**
 * parse_ssh_connection - "PEER PEER-PORT SERVER SERVER-PORT", as sshd puts it into SSH_CONNECTION.
 * An IPv6 zone ("fe80::1%eth0") is left out. Returns 0, or -EINVAL.
 */
int parse_ssh_connection(const char *text, struct address *peer, struct address *server);

/**
 * ssh_peer_find - the peer and the local address of the SSH connection of this process: from its
 * environment, or of the nearest ancestor that has one there (sudo drops it).
 * Returns 1 when found, 0 when there is none, -EINVAL when there is one that can't be understood.
 */
int ssh_peer_find(struct address *peer, struct address *server);

/**
 * ssh_peer_find_in - the same over a chosen @environment (the value of SSH_CONNECTION, NULL for
 * none), procfs at @proc, and first ancestor @pid.
 */
int ssh_peer_find_in(const char *environment, const char *proc, pid_t pid, struct address *peer,
		     struct address *server);

#endif
