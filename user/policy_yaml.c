// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Walks the nodes of a policy file by tables of keys; every refusal has its place. */
#include "policy_yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "nearest.h"
#include "words.h"

void blame(struct reader *reader, const yaml_node_t *node, const char *format, ...)
{
	struct complaint *what = findings_add(reader->findings,
					      (unsigned int)node->start_mark.line + 1,
					      (unsigned int)node->start_mark.column + 1);
	va_list arguments;

	if (!what) {
		reader->err = -ENOMEM;
		return;
	}
	va_start(arguments, format);
	complain_list(what, 0, format, arguments);
	va_end(arguments);
}

/* ---- single values ---- */

bool is_scalar(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE;
}

static const char *scalar_text(const yaml_node_t *node)
{
	return (const char *)node->data.scalar.value;
}

static const char *kind_name(const yaml_node_t *node)
{
	static const char *const names[] = {
		[YAML_NO_NODE] = "nothing",
		[YAML_SCALAR_NODE] = "a single value",
		[YAML_SEQUENCE_NODE] = "a list",
		[YAML_MAPPING_NODE] = "a mapping",
	};

	return names[node->type];
}

/* A value that was left out: `deny:` and nothing behind it. */
bool is_absent(const yaml_node_t *node)
{
	return is_scalar(node) && !node->data.scalar.length &&
	       node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static void blame_kind(struct reader *reader, const yaml_node_t *node, const char *noun,
		       const char *wanted)
{
	if (is_absent(node))
		blame(reader, node, "%s has no value; it must be %s", noun, wanted);
	else
		blame(reader, node, "%s must be %s, not %s", noun, wanted, kind_name(node));
}

static bool has_control_character(const yaml_node_t *node)
{
	for (size_t i = 0; i < node->data.scalar.length; i++)
		if (node->data.scalar.value[i] < 0x20 || node->data.scalar.value[i] == 0x7f)
			return true;
	return false;
}

const char *read_text(struct reader *reader, const yaml_node_t *node, const char *noun)
{
	if (!is_scalar(node))
		blame_kind(reader, node, noun, "a single value");
	else if (!node->data.scalar.length)
		blame(reader, node, "%s has no value", noun);
	else if (has_control_character(node))
		blame(reader, node, "%s has a line break or control character in it", noun);
	else
		return scalar_text(node);
	return NULL;
}

int read_word(struct reader *reader, const yaml_node_t *node, const char *noun,
	      const char *const *words)
{
	const char *text = read_text(reader, node, noun);
	struct complaint why;
	int word = text ? choose_word(noun, text, words, &why) : -1;

	if (text && word < 0)
		blame(reader, node, "%s", why.text);
	return word < 0 ? -1 : word;
}

int read_count(struct reader *reader, const yaml_node_t *node, const char *noun, uint64_t min,
	       uint64_t max, uint64_t *count)
{
	const char *text = read_text(reader, node, noun);
	struct complaint why;

	if (!text)
		return -1;
	if (!parse_count(text, noun, min, max, count, &why))
		return 0;
	blame(reader, node, "%s", why.text);
	return -1;
}

/* ---- lists ---- */

static const yaml_node_t *node_at(const struct reader *reader, int id)
{
	return yaml_document_get_node(reader->document, id);
}

const yaml_node_t *list_item(const struct reader *reader, const yaml_node_t *list, size_t index)
{
	const yaml_node_item_t *items = list->data.sequence.items.start;

	if (list->type != YAML_SEQUENCE_NODE)
		return index ? NULL : list;
	if (index >= (size_t)(list->data.sequence.items.top - items))
		return NULL;
	return node_at(reader, items[index]);
}

static void read_items(struct reader *reader, const yaml_node_t *list, read_fn *read, void *target)
{
	const yaml_node_t *item;

	for (size_t i = 0; !reader->err && (item = list_item(reader, list, i)); i++)
		read(reader, item, target);
}

void read_list(struct reader *reader, const yaml_node_t *node, const char *noun, read_fn *read,
	       void *target)
{
	if (node->type == YAML_SEQUENCE_NODE)
		read_items(reader, node, read, target);
	else
		blame_kind(reader, node, noun, "a list");
}

void read_values(struct reader *reader, const yaml_node_t *node, const char *noun, read_fn *read,
		 void *target)
{
	if (node->type != YAML_MAPPING_NODE)
		read_items(reader, node, read, target);
	else
		blame_kind(reader, node, noun, "a value or a list of values");
}

/* ---- mappings ---- */

static bool expect_mapping(struct reader *reader, const yaml_node_t *node, const char *noun)
{
	if (node->type == YAML_MAPPING_NODE)
		return true;
	blame_kind(reader, node, noun, "a mapping (key: value)");
	return false;
}

static bool key_is(const yaml_node_t *key, const char *name)
{
	return is_scalar(key) && key->data.scalar.length == strlen(name) &&
	       !memcmp(key->data.scalar.value, name, key->data.scalar.length);
}

const yaml_node_t *mapping_value(const struct reader *reader, const yaml_node_t *mapping,
				 const char *name)
{
	const yaml_node_pair_t *pair;

	if (mapping->type != YAML_MAPPING_NODE)
		return NULL;
	for (pair = mapping->data.mapping.pairs.start; pair < mapping->data.mapping.pairs.top;
	     pair++)
		if (key_is(node_at(reader, pair->key), name))
			return node_at(reader, pair->value);
	return NULL;
}

static void blame_unknown(struct reader *reader, const yaml_node_t *node, const char *noun,
			  const struct key *keys, const char *text)
{
	struct nearest nearest = {.text = text};
	char list[256] = "";
	size_t length = 0;

	for (int i = 0; keys[i].name; i++) {
		nearest_try(&nearest, keys[i].name);
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s",
					   i ? ", " : "", keys[i].name);
	}
	if (nearest.best)
		blame(reader, node, "%s has no key \"%.60s\"; did you mean \"%s\"?", noun, text,
		      nearest.best);
	else
		blame(reader, node, "%s has no key \"%.60s\"; it has %s", noun, text, list);
}

/* Line numbers by position in the table of keys; 0: not seen yet. */
static void check_key(struct reader *reader, const yaml_node_t *node, const char *noun,
		      const struct key *keys, size_t *lines)
{
	const char *text = read_text(reader, node, "a key");

	for (unsigned int i = 0; text && keys[i].name; i++) {
		if (strcmp(keys[i].name, text) != 0)
			continue;
		if (lines[i])
			blame(reader, node, "\"%s\" is given twice; the first is on line %zu", text,
			      lines[i]);
		else
			lines[i] = node->start_mark.line + 1;
		return;
	}
	if (text)
		blame_unknown(reader, node, noun, keys, text);
}

void read_mapping(struct reader *reader, const yaml_node_t *node, const char *noun,
		  const struct key *keys, void *target)
{
	const yaml_node_pair_t *pair;
	size_t lines[KEYS_MAX] = {0};

	if (!expect_mapping(reader, node, noun))
		return;
	for (pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++)
		check_key(reader, node_at(reader, pair->key), noun, keys, lines);
	for (; keys->name && !reader->err; keys++) {
		const yaml_node_t *value = mapping_value(reader, node, keys->name);

		if (value)
			keys->read(reader, value, target);
		else if (keys->required)
			blame(reader, node, "%s needs the key \"%s\"", noun, keys->name);
	}
}

void read_pairs(struct reader *reader, const yaml_node_t *node, const char *noun,
		void (*read)(struct reader *reader, const yaml_node_t *key,
			     const yaml_node_t *value, void *target),
		void *target)
{
	const yaml_node_pair_t *pair;

	if (!expect_mapping(reader, node, noun))
		return;
	for (pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++)
		read(reader, node_at(reader, pair->key), node_at(reader, pair->value), target);
}
