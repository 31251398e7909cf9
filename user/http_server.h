/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The wire: libmicrohttpd around requests and answers. One thread; nothing else includes it. */
#ifndef XDP_LIMIT_HTTP_SERVER_H
#define XDP_LIMIT_HTTP_SERVER_H

#include <stdbool.h>
#include "complaint.h"
#include "service.h"

struct http_server;

/** http_server_new - for requests to @service. NULL: out of memory. */
struct http_server *http_server_new(struct service *service);

/**
 * http_server_listen - answer on @socket, which is the server's from then on. @local: only names of this
 * machine are taken for its own. 0 or -errno with a sentence.
 */
int http_server_listen(struct http_server *server, int socket, bool local, struct complaint *why);

/** http_server_run - answer until @signals (a signalfd) has one: 0 or -errno. */
int http_server_run(struct http_server *server, int signals);
void http_server_free(struct http_server *server);

#endif
