// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Short names for json-c. */
#include "json.h"

#include <stdio.h>

void json_put_seconds(struct json_object *object, const char *key, double seconds)
{
	char text[64];

	snprintf(text, sizeof(text), "%.9f", seconds);
	json_object_object_add(object, key, json_object_new_double_s(seconds, text));
}

struct json_object *json_put_object(struct json_object *object, const char *key)
{
	struct json_object *child = json_object_new_object();

	json_object_object_add(object, key, child);
	return child;
}

void json_print(struct json_object *object)
{
	puts(json_object_to_json_string_ext(object, JSON_LAYOUT));
	json_object_put(object);
}
