// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Events over HTTP, for who asks each second. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "capabilities.h"
#include "feed.h"
#include "service.h"
#include "units.h"

static int take_after(const struct http_request *request, uint64_t *after, struct complaint *why)
{
	const char *text = request->query.values[QUERY_AFTER];

	*after = 0;
	return text ? parse_count(text, "after", 0, INT64_MAX, after, why) : 0;
}

static void refuse_feed(const struct target *target, int err, struct http_answer *answer)
{
	const char *name = target->netdev.name;

	if (err == -ENOENT)
		http_refuse(answer, 404, "the limiter on %s is gone", name);
	else if (err == -EBUSY)
		http_refuse(answer, 503, "too many readers follow events already; end one of them");
	else if (err == -EPERM && !may_make_maps())
		http_refuse(
			answer, 503,
			"cannot follow the events of %s: the server lacks CAP_BPF to make a ring for them",
			name);
	else
		http_refuse(answer, 503, "cannot follow the events of %s: %s%s", name,
			    strerror(-err), permission_hint(err));
}

void http_events(struct http_request *request, struct http_answer *answer)
{
	struct service *service = request->service;
	struct json_object *events;
	struct complaint why;
	struct target target;
	uint64_t after;
	int err = take_after(request, &after, &why);

	if (err) {
		http_refuse(answer, 400, "%s", why.text);
		return;
	}
	if (!service_open(service, request->query.values[QUERY_INTERFACE], false, &target, answer))
		return;
	err = feed_read(&service->feeds, &target.netdev, after, &events);
	if (err)
		refuse_feed(&target, err, answer);
	else
		http_give_json(answer, 200, events);
	target_close(&target);
}
