/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sockets that wait for clients: an address and port, or a path. */
#ifndef XDP_LIMIT_LISTEN_H
#define XDP_LIMIT_LISTEN_H

#include <stdbool.h>
#include "complaint.h"

#define LISTEN_TEXT_SIZE 80

/**
 * listen_address - on `ADDRESS:PORT` (IPv6 in brackets; port 0: the kernel's choice). *@local: only this
 * machine reaches it; @text: the address with the port that it has. A descriptor, or -errno with a
 * sentence: -EINVAL for what is no such address.
 */
int listen_address(const char *address, bool *local, char text[LISTEN_TEXT_SIZE],
		   struct complaint *why);

/**
 * listen_path - on a Unix socket, which all users may connect to: the directory says who can. A
 * socket that nobody listens on any more is replaced. A descriptor, or -errno with a sentence.
 */
int listen_path(const char *path, struct complaint *why);

#endif
