// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A request as libmicrohttpd hands it on: the first line is method and target, the second Host, the third
 * Accept, the fourth Authorization, the rest the body. Whatever is refused has a 4xx and a sentence in JSON.
 */
#include <json-c/json.h>
#include <string.h>
#include "fuzz.h"
#include "http.h"
#include "http_body.h"
#include "http_host.h"
#include "metrics_text.h"
#include "prefix.h"
#include "token.h"
#include "utf8.h"

static void must_be_utf8(const char *text)
{
	for (size_t step; *text; text += step) {
		step = utf8_length(text);
		must(step, "not UTF-8: %s", text);
	}
}

static void must_be_refused(const struct http_answer *answer)
{
	struct json_object *object, *error = NULL;
	char *text = text_of((const uint8_t *)answer->body, answer->length);

	must(answer->status >= 400 && answer->status < 500, "%u", answer->status);
	must_be_utf8(text);
	object = json_tokener_parse(text);
	must(json_object_object_get_ex(object, "error", &error), "%s", text);
	must_be_sentence(json_object_get_string(error));
	json_object_put(object);
	free(text);
}

static void try_target(const char *method, const char *target)
{
	struct http_request request = {0};
	struct http_answer answer = {0};
	const struct http_route *route = http_route_check(target, method, &request, &answer);

	if (!route)
		must_be_refused(&answer);
	for (int i = 0; route && i < QUERY_COUNT; i++) {
		const char *value = request.query.values[i];

		if (!value)
			continue;
		must(route->keys >> i & 1, "a key that is not allowed: %s", target);
		must(*value && value >= request.query.text &&
			     value < request.query.text + sizeof(request.query.text),
		     "%s", target);
		must_be_utf8(value);
		must_be_sentence(value);
	}
	http_answer_free(&answer);
}

/* What is taken prints to itself, and is taken again. */
static void try_body(const char *text, size_t length, bool adds)
{
	struct complaint why = {""};
	struct http_body body;
	int err = http_body_parse(text, length, adds, &body, &why);

	if (err) {
		must_be_refusal(err, &why);
	} else {
		must(body.prefixes.count, "nothing to change");
		must(adds || !body.for_ns, "a time to delete for");
		must(strlen(body.interface) < sizeof(body.interface), "a name without end");
	}
	for (size_t i = 0; i < body.prefixes.count; i++) {
		struct policy_prefix again;
		char printed[ADDRESS_TEXT_SIZE];

		format_prefix(&body.prefixes.prefixes[i], printed);
		must(!parse_prefix(printed, &again, &why), "%s", why.text);
	}
	http_body_free(&body);
}

static void try_headers(const char *host, const char *accept, const char *authorization)
{
	static const struct token token = {"0123456789abcdef"};
	bool is_it = token_is_in(&token, authorization);

	must(is_it == (!strncasecmp(authorization, "Bearer ", 7) &&
		       !strcmp(authorization + 7, token.text)),
	     "%s", authorization);
	if (host_is_local(host))
		must(!strncasecmp(host, "localhost", 9) || strpbrk(host, "0123456789:"), "%s",
		     host);
	if (metrics_format_of(accept) == METRICS_OPENMETRICS)
		must(strcasestr(accept, "application/openmetrics-text"), "%s", accept);
}

/* The line at *@rest, without its end; *@rest is what follows, "" at the end. */
static char *next_line(char **rest)
{
	char *line = *rest, *end = line + strcspn(line, "\n");

	*rest = *end ? end + 1 : end;
	*end = '\0';
	return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size), *rest = text;
	char *method = next_line(&rest), *target = method + strcspn(method, " ");
	char *host = next_line(&rest), *accept = next_line(&rest),
	     *authorization = next_line(&rest);
	size_t length = size - (size_t)(rest - text);

	if (*target)
		*target++ = '\0';
	try_target(method, target);
	try_headers(host, accept, authorization);
	/* Zero bytes too. */
	try_body(rest, length, true);
	try_body(rest, length, false);
	free(text);
	return 0;
}
