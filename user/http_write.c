// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Changes of the live lists over HTTP, for who has the token; each is logged. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "http_body.h"
#include "json.h"
#include "list_change.h"
#include "lock.h"
#include "prefix.h"
#include "report.h"
#include "service.h"

bool http_may_write(const struct http_request *request, struct http_answer *answer)
{
	const struct token *token = &request->service->token;

	if (token_is_in(token, request->authorization))
		return true;
	if (!token->text[0]) {
		http_refuse(answer, 403, "this only reads: it was started without --token-file");
		return false;
	}
	http_refuse(answer, 401, "writing needs the token: Authorization: Bearer TOKEN");
	http_add_header(answer, "WWW-Authenticate", "Bearer");
	report_warning("%s: refused to write: %s token", request->peer,
		       request->authorization ? "a wrong" : "no");
	return false;
}

static void log_change(const struct http_request *request, const struct target *target,
		       const struct list_change *change, const char *what)
{
	char time[UNITS_TEXT_SIZE] = "", prefix[ADDRESS_TEXT_SIZE];

	if (change->for_ns)
		format_time(change->for_ns, time, sizeof(time));
	for (size_t i = 0; i < change->prefixes.count; i++) {
		format_prefix(&change->prefixes.prefixes[i], prefix);
		report_note("%s: %s: %s %s %s%s%s", request->peer, target->netdev.name, what,
			    change->verb, prefix, *time ? " for " : "", time);
	}
}

static struct json_object *new_result(const struct target *target, const struct list_change *change)
{
	struct json_object *object = json_object_new_object();

	json_put_text(object, "interface", target->netdev.name);
	json_put_text(object, "list", change->verb);
	return object;
}

static void add(const struct http_request *request, const struct target *target,
		const struct list_change *change, struct http_answer *answer)
{
	struct json_object *object;
	struct complaint why;
	int err = list_change_add(target, change, &why);

	if (err) {
		http_refuse(answer, err == -ENOSPC ? 409 : 503, "%s", why.text);
		return;
	}
	log_change(request, target, change, "add to");
	list_change_remark(target, change, report_warning, report_note);
	object = new_result(target, change);
	json_put_number(object, "added", change->prefixes.count);
	if (change->for_ns)
		json_put_seconds(object, "seconds", (double)change->for_ns / NS_PER_SECOND);
	else
		json_put_null(object, "seconds");
	http_give_json(answer, 200, object);
}

static void take_off(const struct http_request *request, const struct target *target,
		     const struct list_change *change, struct http_answer *answer)
{
	struct json_object *object;
	struct complaint why;
	int64_t deleted = list_change_delete(target, change, &why);

	if (deleted < 0) {
		http_refuse(answer, 503, "%s", why.text);
		return;
	}
	log_change(request, target, change, "delete from");
	object = new_result(target, change);
	json_put_number(object, "deleted", (uint64_t)deleted);
	http_give_json(answer, 200, object);
}

/* The interface of the body or of the query; not two that differ. */
static const char *choose_interface(const struct http_request *request,
				    const struct http_body *body, struct http_answer *answer)
{
	const char *asked = request->query.values[QUERY_INTERFACE];

	if (asked && *body->interface && strcmp(asked, body->interface) != 0) {
		http_refuse(answer, 400, "query and body name two interfaces: %s and %s", asked,
			    body->interface);
		return NULL;
	}
	return asked ?: body->interface;
}

static void apply(struct http_request *request, struct list_change *change,
		  const struct http_body *body, struct http_answer *answer)
{
	const char *interface = choose_interface(request, body, answer);
	struct target target;

	if (!interface)
		return;
	if (service_open(request->service, *interface ? interface : NULL, true, &target, answer)) {
		if (request->method == HTTP_POST)
			add(request, &target, change, answer);
		else
			take_off(request, &target, change, answer);
		target_close(&target);
		lock_release();
	}
}

static void change_list(struct http_request *request, enum live_list list, const char *verb,
			struct http_answer *answer)
{
	struct http_body body;
	struct complaint why;

	if (http_body_parse(request->body, request->body_length, request->method == HTTP_POST,
			    &body, &why)) {
		http_refuse(answer, 400, "%s", why.text);
	} else {
		struct list_change change = {list, verb, body.prefixes, body.for_ns};

		apply(request, &change, &body, answer);
	}
	http_body_free(&body);
}

void http_change_allow(struct http_request *request, struct http_answer *answer)
{
	change_list(request, LIVE_ALLOW, "allow", answer);
}

void http_change_deny(struct http_request *request, struct http_answer *answer)
{
	change_list(request, LIVE_DENY, "deny", answer);
}

void http_change_ban(struct http_request *request, struct http_answer *answer)
{
	change_list(request, LIVE_BAN, "ban", answer);
}
