// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the commands that read say, over HTTP. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "json.h"
#include "list_change.h"
#include "rate_headers.h"
#include "service.h"
#include "source_list.h"
#include "summary.h"

/* The commands have no bound; an answer over HTTP is held in memory. */
#define TOP_DEFAULT 100
#define TOP_MAX	    10000

/* ---- text that is written to a stream ---- */

struct text {
	char *bytes;
	size_t length;
	FILE *out;
};

static bool text_start(struct text *text, struct http_answer *answer)
{
	*text = (struct text){0};
	text->out = open_memstream(&text->bytes, &text->length);
	if (!text->out)
		http_refuse(answer, 503, "out of memory");
	return text->out;
}

static void text_give(struct text *text, struct http_answer *answer)
{
	bool failed = ferror(text->out);

	if (fclose(text->out) || failed) {
		free(text->bytes);
		http_refuse(answer, 503, "out of memory");
		return;
	}
	http_give_text(answer, 200, "application/json", text->bytes, text->length);
}

/* ---- the routes ---- */

void http_interfaces(struct http_request *request, struct http_answer *answer)
{
	struct service *service = request->service;
	int err = service_refresh(service);
	struct json_object *list;

	if (err) {
		http_refuse(answer, 503, "cannot read what is attached: %s%s", strerror(-err),
			    permission_hint(err));
		return;
	}
	list = json_object_new_array();
	for (size_t i = 0; i < service->known_count; i++) {
		struct json_object *object = json_object_new_object();

		json_put_text(object, "interface", service->known[i].name);
		json_put_bool(object, "attached", service->known[i].attached);
		json_object_array_add(list, object);
	}
	http_give_json(answer, 200, list);
}

/* The limiter that a request is about; false: refused. target_close() only after true. */
static bool open_target(struct http_request *request, struct target *target,
			struct http_answer *answer)
{
	return service_open(request->service, request->query.values[QUERY_INTERFACE], false, target,
			    answer);
}

void http_status(struct http_request *request, struct http_answer *answer)
{
	struct summary summary;
	struct target target;
	int err;

	if (!open_target(request, &target, answer))
		return;
	err = summary_read(&target.netdev, &target.running, &summary);
	if (err) {
		http_refuse(answer, 503, "cannot read the counters of %s: %s", target.netdev.name,
			    strerror(-err));
	} else {
		http_give_json(answer, 200, summary_json(&summary));
		summary_free(&summary);
	}
	target_close(&target);
}

static int take_address(const struct http_request *request, bool needed, struct address *address,
			struct complaint *why)
{
	const char *text = request->query.values[QUERY_ADDRESS];

	if (text)
		return parse_address(text, address, why);
	return needed ? complain(why, -EINVAL, "no address; write ?address=192.0.2.1") : 0;
}

static int take_request(const struct http_request *request, struct address *address,
			struct source_request *wanted, struct complaint *why)
{
	const char *const *values = request->query.values;
	int err = take_address(request, false, address, why);

	*wanted = (struct source_request){
		.address = values[QUERY_ADDRESS] ? address : NULL,
		.by = values[QUERY_BY],
		.limit = values[QUERY_LIMIT],
		.top = TOP_DEFAULT,
	};
	if (!err && values[QUERY_TOP])
		err = parse_count(values[QUERY_TOP], "top", 1, TOP_MAX, &wanted->top, why);
	return err;
}

static unsigned int code_of(int err)
{
	return err == -EINVAL || err == -ERANGE ? 400 : 503;
}

static void give_sources(const struct source_list *list, struct http_answer *answer)
{
	struct text text;

	if (!text_start(&text, answer))
		return;
	source_list_json(list, text.out);
	text_give(&text, answer);
}

void http_sources(struct http_request *request, struct http_answer *answer)
{
	struct source_request wanted;
	struct source_list list;
	struct address address;
	struct complaint why;
	struct target target;
	int err = take_request(request, &address, &wanted, &why);

	if (err) {
		http_refuse(answer, code_of(err), "%s", why.text);
		return;
	}
	if (!open_target(request, &target, answer))
		return;
	err = source_list_read(&target.running, &wanted, &list, &why);
	if (err) {
		http_refuse(answer, code_of(err), "%s", why.text);
	} else {
		give_sources(&list, answer);
		source_list_free(&list);
	}
	target_close(&target);
}

/* The index of the limit that was asked for; -1 for none, -2 when there is no such. */
static int find_limit(const struct config *config, const char *name)
{
	for (uint32_t i = 0; name && i < config->limit_count; i++)
		if (!strcmp(config->labels[i].name, name))
			return (int)i;
	return name ? -2 : -1;
}

static void ask(struct http_request *request, const struct target *target,
		const struct address *address, bool decides, struct http_answer *http)
{
	const char *name = request->query.values[QUERY_LIMIT];
	int limit = find_limit(&target->running.config, name);
	struct verdict verdict;
	struct answer answer;
	int err;

	if (limit < -1) {
		http_refuse(http, 400, "there is no limit '%s'; /v1/status lists them", name);
		return;
	}
	err = answer_read(&target->running, address, &answer);
	if (err) {
		http_refuse(http, 503, "cannot read the bucket on %s: %s", target->netdev.name,
			    strerror(-err));
		return;
	}
	verdict_of(&answer, limit, &verdict);
	http_give_json(http, decides && verdict.refused ? 403 : 200, answer_json(&answer));
	rate_headers(&answer, &verdict, http);
}

static void get(struct http_request *request, bool decides, struct http_answer *answer)
{
	struct address address;
	struct complaint why;
	struct target target;

	if (take_address(request, true, &address, &why)) {
		http_refuse(answer, 400, "%s", why.text);
		return;
	}
	if (!open_target(request, &target, answer))
		return;
	ask(request, &target, &address, decides, answer);
	target_close(&target);
}

void http_get(struct http_request *request, struct http_answer *answer)
{
	get(request, false, answer);
}

void http_auth(struct http_request *request, struct http_answer *answer)
{
	get(request, true, answer);
}

static void give_list(struct http_request *request, enum live_list list, struct http_answer *answer)
{
	struct target target;
	struct text text;

	if (!open_target(request, &target, answer))
		return;
	if (text_start(&text, answer)) {
		int err = live_list_json(&target.running, list, text.out);

		text_give(&text, answer);
		if (err) {
			http_answer_free(answer);
			http_refuse(answer, 503, "cannot read the live lists of %s: %s",
				    target.netdev.name, strerror(-err));
		}
	}
	target_close(&target);
}

void http_list_allow(struct http_request *request, struct http_answer *answer)
{
	give_list(request, LIVE_ALLOW, answer);
}

void http_list_deny(struct http_request *request, struct http_answer *answer)
{
	give_list(request, LIVE_DENY, answer);
}

void http_list_ban(struct http_request *request, struct http_answer *answer)
{
	give_list(request, LIVE_BAN, answer);
}
