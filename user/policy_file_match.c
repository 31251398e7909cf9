// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The section `match` of a limit: which packets it meets. */
#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include "match_words.h"
#include "nearest.h"
#include "policy_sections.h"

/* ---- numbers and ranges ---- */

/* What the values of a field are. */
struct field {
	const char *noun;
	uint64_t min, max;
	const struct match_word *words; /* NULL: only numbers */
};

/* A list on its way into the match. */
struct range_target {
	const struct field *field;
	struct range_list *list;
};

static void add_range(struct reader *reader, const yaml_node_t *node, const struct field *field,
		      struct range_list *list, const struct range *range)
{
	if (list->count == MATCH_MAX)
		blame(reader, node,
		      "%s has more than %d values in this limit; use ranges, or a second "
		      "limit",
		      field->noun, MATCH_MAX);
	if (list->count >= MATCH_MAX)
		return;
	list->ranges[list->count++] = *range;
}

static void blame_value(struct reader *reader, const yaml_node_t *node, const struct field *field,
			const char *text)
{
	struct nearest nearest = {.text = text};
	char list[128] = "";
	size_t length = 0;

	for (int i = 0; field->words[i].text; i++) {
		nearest_try(&nearest, field->words[i].text);
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s, ",
					   field->words[i].text);
	}
	blame(reader, node,
	      "%s \"%.60s\" is not known; %s%s%swrite one of %sor a number from %llu to %llu",
	      field->noun, text, nearest.best ? "did you mean \"" : "", nearest.best ?: "",
	      nearest.best ? "\"? Else " : "", list, (unsigned long long)field->min,
	      (unsigned long long)field->max);
}

static bool find_word(const struct field *field, const char *text, struct range *range)
{
	for (int i = 0; field->words && field->words[i].text; i++) {
		if (strcmp(field->words[i].text, text) != 0)
			continue;
		range->first = range->last = field->words[i].value;
		return true;
	}
	return false;
}

/* "N" or "N-M" */
static int parse_range(const struct field *field, const char *text, struct range *range,
		       struct complaint *why)
{
	const char *dash = strchr(text, '-');
	uint64_t first, last;
	char left[32];
	int err;

	if (dash && dash != text)
		snprintf(left, sizeof(left), "%.*s", dash - text < 31 ? (int)(dash - text) : 31,
			 text);
	else
		dash = NULL;
	err = parse_count(dash ? left : text, field->noun, field->min, field->max, &first, why);
	last = first;
	if (!err && dash)
		err = parse_count(dash + 1, field->noun, field->min, field->max, &last, why);
	if (err)
		return err;
	if (last < first)
		return complain(why, -1, "%s \"%.60s\" runs backwards; write \"%u-%u\"",
				field->noun, text, (unsigned int)last, (unsigned int)first);
	*range = (struct range){(uint32_t)first, (uint32_t)last};
	return 0;
}

static void read_range(struct reader *reader, const yaml_node_t *node, void *target)
{
	const struct range_target *to = target;
	const struct field *field = to->field;
	const char *text = read_text(reader, node, field->noun);
	struct complaint why;
	struct range range;
	bool known;

	if (!text)
		return;
	known = find_word(field, text, &range);
	if (!known && field->words && !isdigit((unsigned char)text[0]))
		blame_value(reader, node, field, text);
	else if (!known && strchr(text, ','))
		blame(reader, node, "%s \"%.60s\" is not a number or range; write a list: [%.60s]",
		      field->noun, text, text);
	else if (!known && parse_range(field, text, &range, &why))
		blame(reader, node, "%s", why.text);
	else
		add_range(reader, node, field, to->list, &range);
}

static bool is_empty_list(const yaml_node_t *node)
{
	return node->type == YAML_SEQUENCE_NODE &&
	       node->data.sequence.items.top == node->data.sequence.items.start;
}

/* What every packet fails to be in, no limit can meet. */
static void read_choices(struct reader *reader, const yaml_node_t *node, const char *noun,
			 read_fn *read, void *target)
{
	if (is_empty_list(node))
		blame(reader, node, "no packet can match an empty list; leave %s out to match all",
		      noun);
	else
		read_values(reader, node, noun, read, target);
}

static void read_ranges(struct reader *reader, const yaml_node_t *node, const struct field *field,
			struct range_list *list)
{
	struct range_target target = {field, list};

	read_choices(reader, node, field->noun, read_range, &target);
}

#define RANGE_READER(name, member, ...)                                                      \
	static void name(struct reader *reader, const yaml_node_t *node, void *target)       \
	{                                                                                    \
		static const struct field field = {__VA_ARGS__};                             \
                                                                                             \
		read_ranges(reader, node, &field, &((struct policy_match *)target)->member); \
	}

RANGE_READER(read_protocol, protocols, "protocol", 0, 255, protocol_words)
RANGE_READER(read_source_port, source_ports, "source-port", 0, 65535, NULL)
RANGE_READER(read_destination_port, destination_ports, "destination-port", 0, 65535, NULL)
RANGE_READER(read_vlan, vlans, "vlan", 0, 4094, NULL)
RANGE_READER(read_length, lengths, "length", 1, 65535, NULL)

/* ---- TCP flags ---- */

static uint8_t find_flag(struct reader *reader, const yaml_node_t *node, const char *name)
{
	struct nearest nearest = {.text = name};

	for (int i = 0; flag_words[i].text; i++) {
		if (!strcmp(flag_words[i].text, name))
			return (uint8_t)flag_words[i].value;
		nearest_try(&nearest, flag_words[i].text);
	}
	blame(reader, node,
	      "there is no TCP flag \"%.40s\"%s%s%s; write fin, syn, rst, psh, ack, urg, "
	      "ece or cwr, and \"!ack\" for one that is not set",
	      name, nearest.best ? " (did you mean \"" : "", nearest.best ?: "",
	      nearest.best ? "\"?)" : "");
	return 0;
}

static void add_flag(struct reader *reader, const yaml_node_t *node, char *word,
		     struct policy_match *match)
{
	bool unset = word[0] == '!';
	const char *name = word + unset;
	uint8_t flag = find_flag(reader, node, name);

	if (match->flags_mask & flag && !(match->flags_value & flag) != unset)
		blame(reader, node, "no packet can match: %s can't be both set and not set", name);
	match->flags_mask |= flag;
	match->flags_value |= unset ? 0 : flag;
}

/* "syn" or "syn,!ack" */
static void read_flag_text(struct reader *reader, const yaml_node_t *node, void *target)
{
	const char *text = read_text(reader, node, "tcp-flags");
	char words[64], *rest = words, *word;

	if (!text)
		return;
	if (strlen(text) >= sizeof(words)) {
		blame(reader, node, "tcp-flags \"%.60s...\" is too long; name each flag once",
		      text);
		return;
	}
	memcpy(words, text, strlen(text) + 1);
	while ((word = strsep(&rest, ",")) != NULL) {
		word += strspn(word, " ");
		word[strcspn(word, " ")] = '\0';
		add_flag(reader, node, word, target);
	}
}

static void read_flags(struct reader *reader, const yaml_node_t *node, void *target)
{
	read_choices(reader, node, "tcp-flags", read_flag_text, target);
}

/* ---- addresses ---- */

static void read_destination_prefix(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct prefix_list *list = target;
	struct policy_prefix prefix;

	if (read_prefix(reader, node, &prefix))
		return;
	if (list->count < MATCH_MAX)
		list->prefixes[list->count++] = prefix;
	else
		blame(reader, node,
		      "destination has more than %d prefixes in this limit; use shorter "
		      "ones, or a second limit",
		      MATCH_MAX);
}

static void read_destination(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct policy_match *match = target;

	read_choices(reader, node, "destination", read_destination_prefix, &match->destinations);
}

static void read_family(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct policy_match *match = target;
	const char *text = read_text(reader, node, "family");

	if (!text)
		return;
	if (!strcmp(text, "ipv4") || !strcmp(text, "4"))
		match->family = 4;
	else if (!strcmp(text, "ipv6") || !strcmp(text, "6"))
		match->family = 6;
	else
		blame(reader, node, "family \"%.60s\" is not known; write ipv4 or ipv6", text);
}

void read_match(struct reader *reader, const yaml_node_t *node, void *target)
{
	static const struct key keys[] = {
		{"protocol", read_protocol, false},
		{"source-port", read_source_port, false},
		{"destination-port", read_destination_port, false},
		{"tcp-flags", read_flags, false},
		{"destination", read_destination, false},
		{"family", read_family, false},
		{"vlan", read_vlan, false},
		{"length", read_length, false},
		{NULL, NULL, false},
	};

	read_mapping(reader, node, "match", keys, target);
}
