/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The open connections, and which of them has had its time: who sends a byte now and then, or reads one,
 * holds a place no longer than that, and less when places are rare.
 */
#ifndef XDP_LIMIT_HTTP_CLIENTS_H
#define XDP_LIMIT_HTTP_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum client_state {
	CLIENT_ASKING,	 /* its request is not complete */
	CLIENT_ANSWERED, /* its answer is on its way */
};

struct client {
	struct client *before, *after;
	int fd;
	enum client_state state;
	uint64_t deadline_ns; /* boot clock */
	bool ended;
};

struct http_clients {
	struct client first; /* of a ring, the oldest behind it; none itself */
	size_t count, max;
};

void clients_init(struct http_clients *clients, size_t max);

/** clients_add - a connection: NULL when there is no memory. The one that waits longest may go for it. */
struct client *clients_add(struct http_clients *clients, int fd, uint64_t now_ns);
void clients_remove(struct http_clients *clients, struct client *client);

/** clients_note - @client is in another state, with the time that this one has. */
void clients_note(struct http_clients *clients, struct client *client, enum client_state state,
		  uint64_t now_ns);

/** clients_expire - end those whose time is over: their sockets, which the server then closes. */
void clients_expire(struct http_clients *clients, uint64_t now_ns);

#endif
