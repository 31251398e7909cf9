// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which function answers which path and method; who asks for another is told what there is. */
#include <stdio.h>
#include <string.h>
#include "http.h"

static const char *const method_names[HTTP_METHODS] = {
	[HTTP_GET] = "GET",
	[HTTP_POST] = "POST",
	[HTTP_DELETE] = "DELETE",
};

#define KEY(name) (1U << QUERY_##name)

#define LIST_ROUTE(list)                                                                  \
	{                                                                                 \
		"/v1/" #list, {http_list_##list, http_change_##list, http_change_##list}, \
			KEY(INTERFACE)                                                    \
	}

static const struct http_route routes[] = {
	{"/", {http_page}, 0},
	{"/metrics", {http_metrics}, 0},
	{"/v1/interfaces", {http_interfaces}, 0},
	{"/v1/status", {http_status}, KEY(INTERFACE)},
	{"/v1/sources",
	 {http_sources},
	 KEY(INTERFACE) | KEY(ADDRESS) | KEY(TOP) | KEY(BY) | KEY(LIMIT)},
	{"/v1/get", {http_get}, KEY(INTERFACE) | KEY(ADDRESS) | KEY(LIMIT)},
	{"/v1/auth", {http_auth}, KEY(INTERFACE) | KEY(ADDRESS) | KEY(LIMIT)},
	{"/v1/events", {http_events}, KEY(INTERFACE) | KEY(AFTER)},
	LIST_ROUTE(allow),
	LIST_ROUTE(deny),
	LIST_ROUTE(ban),
	{"/page.css", {http_page_css}, 0},
	{"/page.js", {http_page_js}, 0},
};

#define ROUTES (sizeof(routes) / sizeof(routes[0]))

const struct http_route *http_route_find(const char *path, size_t length)
{
	for (size_t i = 0; i < ROUTES; i++)
		if (strlen(routes[i].path) == length && !memcmp(routes[i].path, path, length))
			return &routes[i];
	return NULL;
}

static void refuse_path(const char *path, size_t length, struct http_answer *answer)
{
	char known[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < ROUTES; i++)
		used += snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
				 routes[i].path);
	http_refuse(answer, 404, "there is no '%.*s'; there are: %s",
		    (int)(length < 64 ? length : 64), path, known);
}

/* HEAD is a GET whose body stays at home. */
static int find_method(const char *name)
{
	if (!strcmp(name, "HEAD"))
		return HTTP_GET;
	for (int i = 0; i < HTTP_METHODS; i++)
		if (!strcmp(method_names[i], name))
			return i;
	return -1;
}

static void refuse_method(const struct http_route *route, struct http_answer *answer)
{
	char allowed[64];
	size_t used = 0;

	for (int i = 0; i < HTTP_METHODS; i++)
		if (route->work[i])
			used += snprintf(allowed + used, sizeof(allowed) - used, "%s%s%s",
					 used ? ", " : "", method_names[i],
					 i == HTTP_GET ? ", HEAD" : "");
	http_refuse(answer, 405, "%s takes: %s", route->path, allowed);
	http_add_header(answer, "Allow", "%s", allowed);
}

const struct http_route *http_route_check(const char *target, const char *method,
					  struct http_request *request, struct http_answer *answer)
{
	const struct http_route *route;
	const char *path, *query;
	int number = find_method(method);
	struct complaint why;
	size_t length;

	if (strlen(target) > TARGET_MAX) {
		http_refuse(answer, 414, "the address is longer than %d bytes", TARGET_MAX);
		return NULL;
	}
	path = http_path(target, &length, &query);
	route = http_route_find(path, length);
	if (!route) {
		refuse_path(path, length, answer);
		return NULL;
	}
	if (number < 0 || !route->work[number]) {
		refuse_method(route, answer);
		return NULL;
	}
	request->method = number;
	if (http_query_parse(query, route->keys, &request->query, &why)) {
		http_refuse(answer, 400, "%s", why.text);
		return NULL;
	}
	return route;
}
