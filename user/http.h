/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A request, what is answered to it, and which function does: without a word of the wire. */
#ifndef XDP_LIMIT_HTTP_H
#define XDP_LIMIT_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include "http_query.h"

struct json_object;
struct service;

enum http_method {
	HTTP_GET, /* and HEAD, which leaves the body out */
	HTTP_POST,
	HTTP_DELETE,
	HTTP_METHODS,
};

struct http_request {
	struct service *service;
	enum http_method method;
	struct http_query query;
	const char *accept;	   /* of the header; NULL for none */
	const char *authorization; /* likewise */
	const char *peer;	   /* who asks, for the log */
	const char *body;
	size_t body_length;
};

#define HTTP_HEADERS_MAX 8

struct http_header {
	const char *name;
	char value[224];
};

struct http_answer {
	unsigned int status;
	const char *type;
	const char *body; /* of @length bytes; */
	char *allocated;  /* is freed with the answer, unless NULL */
	size_t length;
	struct http_header headers[HTTP_HEADERS_MAX];
	int header_count;
};

/** http_refuse - {"error": sentence}, printf style. */
void http_refuse(struct http_answer *answer, unsigned int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** http_give_json - @object, released, as the commands print it. */
void http_give_json(struct http_answer *answer, unsigned int status, struct json_object *object);

/** http_give_text - @text of @length bytes, freed with the answer; 500 when it is NULL. */
void http_give_text(struct http_answer *answer, unsigned int status, const char *type, char *text,
		    size_t length);

/** http_give_static - @length bytes that stay where they are. */
void http_give_static(struct http_answer *answer, const char *type, const void *bytes,
		      size_t length);

void http_add_header(struct http_answer *answer, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void http_answer_free(struct http_answer *answer);

/* ---- routes (http_route.c) ---- */

typedef void http_work(struct http_request *request, struct http_answer *answer);

struct http_route {
	const char *path;
	http_work *work[HTTP_METHODS]; /* NULL: not allowed */
	unsigned int keys;	       /* of the query, bits 1 << QUERY_* */
};

const struct http_route *http_route_find(const char *path, size_t length);

/**
 * http_route_check - what can be said before the body is there: the route of @target and @method, with
 * @request's method and query filled. NULL: refused, in @answer.
 */
const struct http_route *http_route_check(const char *target, const char *method,
					  struct http_request *request, struct http_answer *answer);

/* ---- what the routes do (http_read.c, http_write.c, http_metrics.c, http_events.c, http_page.c) ---- */

http_work http_interfaces, http_status, http_sources, http_get, http_auth;
http_work http_list_allow, http_list_deny, http_list_ban;
http_work http_change_allow, http_change_deny, http_change_ban;
http_work http_metrics, http_events, http_page, http_page_css, http_page_js;

/** http_may_write - whether @request has the token; else it is refused in @answer, and logged. */
bool http_may_write(const struct http_request *request, struct http_answer *answer);

#endif
