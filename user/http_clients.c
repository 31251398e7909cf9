// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The open connections, and which of them has had its time. */
#include "http_clients.h"

#include <stdlib.h>
#include <sys/socket.h>
#include "units.h"

/* From connecting, or from the last answer, to the last byte of a request; and to that of the answer. */
static const uint64_t times_ns[] = {
	[CLIENT_ASKING] = 20 * NS_PER_SECOND,
	[CLIENT_ANSWERED] = 60 * NS_PER_SECOND,
};

void clients_init(struct http_clients *clients, size_t max)
{
	*clients = (struct http_clients){.max = max};
	clients->first.before = clients->first.after = &clients->first;
}

static void unlink_client(struct client *client)
{
	client->before->after = client->after;
	client->after->before = client->before;
}

static void link_last(struct http_clients *clients, struct client *client)
{
	client->before = clients->first.before;
	client->after = &clients->first;
	client->before->after = client;
	clients->first.before = client;
}

static void end(struct client *client)
{
	if (client->ended)
		return;
	client->ended = true;
	shutdown(client->fd, SHUT_RDWR);
}

/* Of those that are not ended yet the first, so the one that is in its state for longest; who asks goes
 * before who is answered. */
static struct client *choose_victim(struct http_clients *clients)
{
	struct client *answered = NULL;

	for (struct client *at = clients->first.after; at != &clients->first; at = at->after) {
		if (at->ended)
			continue;
		if (at->state == CLIENT_ASKING)
			return at;
		answered = answered ?: at;
	}
	return answered;
}

struct client *clients_add(struct http_clients *clients, int fd, uint64_t now_ns)
{
	struct client *client = calloc(1, sizeof(*client)), *victim;

	if (!client)
		return NULL;
	if (clients->count >= clients->max) {
		victim = choose_victim(clients);
		if (victim)
			end(victim);
	}
	client->fd = fd;
	client->deadline_ns = now_ns + times_ns[CLIENT_ASKING];
	link_last(clients, client);
	clients->count++;
	return client;
}

void clients_remove(struct http_clients *clients, struct client *client)
{
	unlink_client(client);
	clients->count--;
	free(client);
}

void clients_note(struct http_clients *clients, struct client *client, enum client_state state,
		  uint64_t now_ns)
{
	client->state = state;
	client->deadline_ns = now_ns + times_ns[state];
	unlink_client(client);
	link_last(clients, client);
}

void clients_expire(struct http_clients *clients, uint64_t now_ns)
{
	for (struct client *at = clients->first.after; at != &clients->first; at = at->after)
		if (at->deadline_ns <= now_ns)
			end(at);
}
