// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is answered: status, headers, body. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "http.h"
#include "json.h"
#include "utf8.h"

#define TYPE_JSON "application/json"

void http_give_text(struct http_answer *answer, unsigned int status, const char *type, char *text,
		    size_t length)
{
	if (!text) {
		http_give_static(answer, TYPE_JSON, "{}", 2);
		answer->status = 500;
		return;
	}
	answer->status = status;
	answer->type = type;
	answer->body = answer->allocated = text;
	answer->length = length;
}

void http_give_static(struct http_answer *answer, const char *type, const void *bytes,
		      size_t length)
{
	answer->status = 200;
	answer->type = type;
	answer->body = bytes;
	answer->length = length;
}

void http_give_json(struct http_answer *answer, unsigned int status, struct json_object *object)
{
	char *text = NULL;

	if (asprintf(&text, "%s\n", json_object_to_json_string_ext(object, JSON_LAYOUT)) < 0)
		text = NULL;
	json_object_put(object);
	http_give_text(answer, status, TYPE_JSON, text, text ? strlen(text) : 0);
}

void http_refuse(struct http_answer *answer, unsigned int status, const char *format, ...)
{
	struct json_object *object = json_object_new_object();
	struct complaint reason;
	va_list arguments;

	va_start(arguments, format);
	complain_list(&reason, 0, format, arguments);
	va_end(arguments);
	utf8_clean(reason.text);
	json_put_text(object, "error", reason.text);
	http_give_json(answer, status, object);
}

void http_add_header(struct http_answer *answer, const char *name, const char *format, ...)
{
	struct http_header *header = &answer->headers[answer->header_count];
	va_list arguments;

	if (answer->header_count == HTTP_HEADERS_MAX)
		return;
	header->name = name;
	va_start(arguments, format);
	vsnprintf(header->value, sizeof(header->value), format, arguments);
	va_end(arguments);
	answer->header_count++;
}

void http_answer_free(struct http_answer *answer)
{
	free(answer->allocated);
	*answer = (struct http_answer){0};
}
