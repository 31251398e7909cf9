// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The wire: libmicrohttpd around requests and answers. */
#include "http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include "feed.h"
#include "http_body.h"
#include "http_clients.h"
#include "http_host.h"
#include "report.h"

#define LISTENERS_MAX 2

/* Connections at once, and what else has a descriptor: sockets, libraries, and the maps of the limiter that is asked
 * for and of each whose events are kept. */
#define CLIENTS_MAX   512
#define CLIENTS_SPARE 64 /* ended by us, not yet closed */
#define OTHER_FILES   (128 + FEEDS_MAX * (MAP_COUNT + 4))

/* Line and headers of one request, and the answer's. */
#define MEMORY_EACH 16384

/* Nothing is sent or taken for so long: closed, whatever the client's deadline. */
#define IDLE_SECONDS 20

struct listener {
	struct http_server *server;
	struct MHD_Daemon *daemon;
	int epoll;
	bool local;
};

struct http_server {
	struct service *service;
	struct http_clients clients;
	struct listener listeners[LISTENERS_MAX];
	int count;
};

/* One request on its way. */
struct exchange {
	char *target;
	const struct http_route *route; /* NULL: answered already */
	struct http_request request;
	struct http_answer answer;
	char *body;
	size_t body_length;
	bool begun, too_large;
};

/* ---- what libmicrohttpd tells ---- */

static void *begin(void *listener, const char *target, struct MHD_Connection *connection)
{
	struct exchange *exchange = calloc(1, sizeof(*exchange));

	(void)listener;
	(void)connection;
	if (exchange)
		exchange->target = strdup(target);
	return exchange;
}

static void note_client(struct listener *listener, struct MHD_Connection *connection,
			enum client_state state)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	if (info && info->socket_context)
		clients_note(&listener->server->clients, info->socket_context, state,
			     boot_clock_ns());
}

static void end_exchange(void *context, struct MHD_Connection *connection, void **exchange_at,
			 enum MHD_RequestTerminationCode code)
{
	struct exchange *exchange = *exchange_at;

	(void)code;
	note_client(context, connection, CLIENT_ASKING);
	*exchange_at = NULL;
	if (!exchange)
		return;
	http_answer_free(&exchange->answer);
	free(exchange->body);
	free(exchange->target);
	free(exchange);
}

static void note_connection(void *context, struct MHD_Connection *connection, void **client_at,
			    enum MHD_ConnectionNotificationCode code)
{
	struct http_clients *clients = &((struct listener *)context)->server->clients;
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		*client_at = clients_add(clients, info->connect_fd, boot_clock_ns());
	else if (*client_at)
		clients_remove(clients, *client_at);
}

static void log_wire(void *context, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

static void log_wire(void *context, const char *format, va_list arguments)
{
	struct complaint line;

	(void)context;
	complain_list(&line, 0, format, arguments);
	report_detail("%s", line.text);
}

/* ---- one request ---- */

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

#define PEER_SIZE 80

static void name_peer(struct MHD_Connection *connection, char text[PEER_SIZE])
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct sockaddr_storage storage = {0};
	socklen_t size = sizeof(storage);
	char address[INET6_ADDRSTRLEN] = "?";
	struct ucred credentials;

	getpeername(info->connect_fd, (struct sockaddr *)&storage, &size);
	if (storage.ss_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)&storage;

		inet_ntop(AF_INET, &in->sin_addr, address, sizeof(address));
		snprintf(text, PEER_SIZE, "%s:%u", address, ntohs(in->sin_port));
	} else if (storage.ss_family == AF_INET6) {
		const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)&storage;

		inet_ntop(AF_INET6, &in->sin6_addr, address, sizeof(address));
		snprintf(text, PEER_SIZE, "[%s]:%u", address, ntohs(in->sin6_port));
	} else {
		size = sizeof(credentials);
		if (getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size))
			snprintf(text, PEER_SIZE, "a local process");
		else
			snprintf(text, PEER_SIZE, "user %u (process %d)", credentials.uid,
				 credentials.pid);
	}
}

/* What can be refused before there is a body. */
static void judge(const struct listener *listener, struct exchange *exchange, const char *method,
		  struct MHD_Connection *connection)
{
	const char *host = header_of(connection, MHD_HTTP_HEADER_HOST);
	const char *length = header_of(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
	struct http_request *request = &exchange->request;
	struct http_answer *answer = &exchange->answer;
	char peer[PEER_SIZE];

	if (listener->local && host && !host_is_local(host)) {
		http_refuse(answer, 421, "'%s' is no name of this machine for itself", host);
		return;
	}
	request->service = listener->server->service;
	request->accept = header_of(connection, MHD_HTTP_HEADER_ACCEPT);
	request->authorization = header_of(connection, MHD_HTTP_HEADER_AUTHORIZATION);
	exchange->route = http_route_check(exchange->target, method, request, answer);
	if (!exchange->route)
		return;
	name_peer(connection, peer);
	request->peer = peer;
	if (request->method != HTTP_GET && !http_may_write(request, answer))
		exchange->route = NULL;
	else if (length && strtoull(length, NULL, 10) > BODY_MAX)
		exchange->too_large = true;
	request->peer = NULL;
}

/* More than fits is taken and thrown away: the answer can only be sent behind it. That of a GET is, too. */
static void take_body(struct exchange *exchange, const char *data, size_t size)
{
	char *body;

	if (exchange->request.method == HTTP_GET)
		return;
	if (exchange->too_large || exchange->body_length + size > BODY_MAX) {
		exchange->too_large = true;
		return;
	}
	body = realloc(exchange->body, exchange->body_length + size);
	if (!body) {
		exchange->too_large = true;
		return;
	}
	memcpy(body + exchange->body_length, data, size);
	exchange->body = body;
	exchange->body_length += size;
}

static void work(struct exchange *exchange, struct MHD_Connection *connection)
{
	struct http_request *request = &exchange->request;
	char peer[PEER_SIZE];

	if (!exchange->route)
		return; /* refused already */
	if (exchange->too_large) {
		http_refuse(&exchange->answer, 413, "the body is longer than %u bytes", BODY_MAX);
		return;
	}
	name_peer(connection, peer);
	request->peer = peer;
	request->body = exchange->body ?: "";
	request->body_length = exchange->body_length;
	exchange->route->work[request->method](request, &exchange->answer);
}

static enum MHD_Result send_answer(struct http_answer *answer, struct MHD_Connection *connection)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		answer->length, (void *)answer->body, /* it is not written to */
		answer->allocated ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
	enum MHD_Result sent;

	if (!response)
		return MHD_NO;
	answer->allocated = NULL;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	for (int i = 0; i < answer->header_count; i++)
		MHD_add_response_header(response, answer->headers[i].name,
					answer->headers[i].value);
	sent = MHD_queue_response(connection, answer->status, response);
	MHD_destroy_response(response);
	return sent;
}

/* Called when the headers are there, then for each part of the body, then at its end. */
static enum MHD_Result take(void *context, struct MHD_Connection *connection, const char *url,
			    const char *method, const char *version, const char *data, size_t *size,
			    void **exchange_at)
{
	struct listener *listener = context;
	struct exchange *exchange = *exchange_at;

	(void)url;
	(void)version;
	if (!exchange || !exchange->target)
		return MHD_NO;
	if (!exchange->begun) {
		exchange->begun = true;
		judge(listener, exchange, method, connection);
		if (exchange->route && !exchange->too_large)
			return MHD_YES;
	} else if (*size) {
		take_body(exchange, data, *size);
		*size = 0;
		return MHD_YES;
	}
	work(exchange, connection);
	note_client(listener, connection, CLIENT_ANSWERED);
	return send_answer(&exchange->answer, connection);
}

/* ---- the server ---- */

/* As many as descriptors allow. */
static size_t clients_possible(void)
{
	const rlim_t wanted = LISTENERS_MAX * (CLIENTS_MAX + CLIENTS_SPARE) + OTHER_FILES;
	struct rlimit files;
	size_t each;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return CLIENTS_MAX;
	if (files.rlim_cur < wanted) {
		files.rlim_cur = files.rlim_max < wanted ? files.rlim_max : wanted;
		setrlimit(RLIMIT_NOFILE, &files);
		getrlimit(RLIMIT_NOFILE, &files);
	}
	if (files.rlim_cur >= wanted)
		return CLIENTS_MAX;
	each = files.rlim_cur > OTHER_FILES ? (files.rlim_cur - OTHER_FILES) / LISTENERS_MAX : 0;
	return each > 2 * CLIENTS_SPARE ? each - CLIENTS_SPARE : CLIENTS_SPARE;
}

struct http_server *http_server_new(struct service *service)
{
	struct http_server *server = calloc(1, sizeof(*server));

	if (!server)
		return NULL;
	server->service = service;
	clients_init(&server->clients, clients_possible());
	return server;
}

int http_server_listen(struct http_server *server, int socket, bool local, struct complaint *why)
{
	struct listener *listener = &server->listeners[server->count];
	const union MHD_DaemonInfo *info;

	*listener = (struct listener){.server = server, .local = local};
	errno = 0;
	listener->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL, take, listener,
		MHD_OPTION_EXTERNAL_LOGGER, log_wire, NULL, MHD_OPTION_LISTEN_SOCKET, socket,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)server->clients.max + CLIENTS_SPARE,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_SECONDS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_EACH,
		MHD_OPTION_URI_LOG_CALLBACK, begin, listener, MHD_OPTION_NOTIFY_COMPLETED,
		end_exchange, listener, MHD_OPTION_NOTIFY_CONNECTION, note_connection, listener,
		MHD_OPTION_END);
	if (!listener->daemon) {
		close(socket);
		return complain(why, -EIO, "cannot start libmicrohttpd: %s",
				errno ? strerror(errno) : "it says not why; see -v");
	}
	info = MHD_get_daemon_info(listener->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	listener->epoll = info->epoll_fd;
	server->count++;
	return 0;
}

/* Milliseconds until something is due: a second at most, for the clients' deadlines. */
static int time_left(const struct http_server *server)
{
	MHD_UNSIGNED_LONG_LONG left, least = server->clients.count ? 1000 : 60000;

	for (int i = 0; i < server->count; i++)
		if (MHD_get_timeout(server->listeners[i].daemon, &left) == MHD_YES && left < least)
			least = left;
	return (int)least;
}

int http_server_run(struct http_server *server, int signals)
{
	struct pollfd polled[LISTENERS_MAX + 1] = {{.fd = signals, .events = POLLIN}};

	for (int i = 0; i < server->count; i++)
		polled[i + 1] = (struct pollfd){server->listeners[i].epoll, POLLIN, 0};
	for (;;) {
		if (poll(polled, server->count + 1, time_left(server)) < 0 && errno != EINTR)
			return -errno;
		if (polled[0].revents)
			return 0;
		clients_expire(&server->clients, boot_clock_ns());
		feeds_expire(&server->service->feeds, boot_clock_ns());
		for (int i = 0; i < server->count; i++)
			MHD_run(server->listeners[i].daemon);
	}
}

void http_server_free(struct http_server *server)
{
	for (int i = 0; i < server->count; i++)
		MHD_stop_daemon(server->listeners[i].daemon);
	free(server);
}
