// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The body of a write. */
#include "http_body.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include "list_change.h"
#include "prefix.h"

/* An object, an array in it, and one more for json-c to count. */
#define DEPTH 3

static struct json_object *parse(const char *text, size_t length, struct complaint *why)
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH);
	struct json_object *object = NULL;
	enum json_tokener_error error;

	if (!tokener || length > BODY_MAX) {
		complain(why, -ENOMEM, "the body cannot be held");
		goto out;
	}
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	object = json_tokener_parse_ex(tokener, text, (int)length);
	error = json_tokener_get_error(tokener);
	/* Strict json-c takes what stands behind the value for an error of its own. */
	if (error != json_tokener_success) {
		json_object_put(object);
		object = NULL;
		complain(why, -EINVAL, "the body is not JSON: %s at byte %zu",
			 error == json_tokener_continue ? "it ends early"
							: json_tokener_error_desc(error),
			 json_tokener_get_parse_end(tokener));
	} else if (!json_object_is_type(object, json_type_object)) {
		json_object_put(object);
		object = NULL;
		complain(why, -EINVAL,
			 "the body is no object; write {\"prefixes\": [\"192.0.2.1\"]}");
	}
out:
	if (tokener)
		json_tokener_free(tokener);
	return object;
}

/* Its text, when it is a string without zero bytes. */
static const char *text_of(struct json_object *value)
{
	const char *text;

	if (!json_object_is_type(value, json_type_string))
		return NULL;
	text = json_object_get_string(value);
	return strlen(text) == (size_t)json_object_get_string_len(value) ? text : NULL;
}

static int take_interface(struct json_object *value, struct http_body *body, struct complaint *why)
{
	const char *text = text_of(value);

	if (!text || !*text)
		return complain(why, -EINVAL, "\"interface\" must be a name");
	if (strlen(text) >= sizeof(body->interface))
		return complain(why, -EINVAL, "\"interface\": '%s' is longer than a name can be",
				text);
	strcpy(body->interface, text);
	return 0;
}

static int take_prefixes(struct json_object *value, struct http_body *body, struct complaint *why)
{
	int err = 0;

	if (!json_object_is_type(value, json_type_array))
		return complain(why, -EINVAL, "\"prefixes\" must be an array of strings");
	for (size_t i = 0; i < json_object_array_length(value) && !err; i++) {
		const char *text = text_of(json_object_array_get_idx(value, i));
		struct policy_prefix prefix;

		if (!text)
			return complain(why, -EINVAL, "\"prefixes\" must be an array of strings");
		err = parse_prefix(text, &prefix, why);
		if (!err && policy_add_prefix(&body->prefixes, &prefix))
			err = complain(why, -ENOMEM, "out of memory");
	}
	return err;
}

static int take_time(struct json_object *value, struct http_body *body, struct complaint *why)
{
	const char *text = text_of(value);
	struct complaint detail;
	int err;

	if (!text)
		return complain(why, -EINVAL, "\"for\" must be a time with its unit: \"10m\"");
	err = parse_list_time(text, &body->for_ns, &detail);
	return err ? complain(why, err, "\"for\": %s", detail.text) : 0;
}

static const struct field {
	const char *name;
	int (*take)(struct json_object *value, struct http_body *body, struct complaint *why);
	bool only_adds;
} fields[] = {
	{"interface", take_interface, false},
	{"prefixes", take_prefixes, false},
	{"for", take_time, true},
};

static int take_field(const char *name, struct json_object *value, bool adds,
		      struct http_body *body, struct complaint *why)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (strcmp(name, fields[i].name))
			continue;
		if (fields[i].only_adds && !adds)
			return complain(why, -EINVAL, "\"%s\" goes with POST", name);
		return fields[i].take(value, body, why);
	}
	return complain(why, -EINVAL, "unknown key \"%s\"; known are: interface, prefixes, for",
			name);
}

int http_body_parse(const char *text, size_t length, bool adds, struct http_body *body,
		    struct complaint *why)
{
	struct json_object *object = parse(text, length, why);
	int err = object ? 0 : -EINVAL;

	*body = (struct http_body){0};
	if (object) {
		json_object_object_foreach(object, name, value)
		{
			err = take_field(name, value, adds, body, why);
			if (err)
				break;
		}
	}
	json_object_put(object);
	if (!err && !body->prefixes.count)
		err = complain(why, -EINVAL,
			       "nothing to change: give addresses or prefixes, "
			       "{\"prefixes\": [\"192.0.2.1\"]}");
	return err;
}

void http_body_free(struct http_body *body)
{
	free(body->prefixes.prefixes);
}
