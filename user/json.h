/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Short names for json-c: the keys that scripts rely on are written at the call. */
#ifndef XDP_LIMIT_JSON_H
#define XDP_LIMIT_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

/* How everything is laid out. */
#define JSON_LAYOUT \
	(JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE)

static inline void json_put_text(struct json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, text ? json_object_new_string(text) : NULL);
}

/* 64 bits unsigned: exact up to 2^64-1. */
static inline void json_put_number(struct json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key, json_object_new_uint64(number));
}

static inline void json_put_bool(struct json_object *object, const char *key, bool value)
{
	json_object_object_add(object, key, json_object_new_boolean(value));
}

static inline void json_put_null(struct json_object *object, const char *key)
{
	json_object_object_add(object, key, NULL);
}

/** Seconds with nine decimals at most, without the noise of a binary fraction. */
void json_put_seconds(struct json_object *object, const char *key, double seconds);

/** A new object under @key. */
struct json_object *json_put_object(struct json_object *object, const char *key);

/** Print on stdout, with a final newline, and release. */
void json_print(struct json_object *object);

#endif
