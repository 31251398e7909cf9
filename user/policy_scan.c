// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Refuses what is no YAML, or YAML that a policy has no use for, before anything is read. */
#include <errno.h>
#include <string.h>
#include "policy_yaml.h"

struct scan {
	const char *text;
	size_t size;
	struct findings *findings;
	unsigned int depth;
	unsigned int documents;
	bool ended; /* what follows can't be understood */
	int err;
};

static void say(struct scan *scan, const yaml_mark_t *mark, const char *sentence, const char *what)
{
	struct complaint *complaint = findings_add(scan->findings, (unsigned int)mark->line + 1,
						   (unsigned int)mark->column + 1);

	if (complaint)
		complain(complaint, 0, "%.300s%.100s", sentence, what);
	else
		scan->err = -ENOMEM;
}

/* ---- syntax ---- */

/* Where the byte at @offset stands. */
static yaml_mark_t mark_of(const struct scan *scan, size_t offset)
{
	yaml_mark_t mark = {.index = offset};

	for (size_t i = 0; i < offset && i < scan->size; i++) {
		bool newline = scan->text[i] == '\n';

		mark.line += newline;
		mark.column = newline ? 0 : mark.column + 1;
	}
	return mark;
}

/* The line with this number (from 0), up to the end of the text; empty behind it. */
static const char *find_line(const struct scan *scan, size_t line)
{
	const char *at = scan->text, *end = scan->text + scan->size;

	for (; line && at < end; line--) {
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : end;
	}
	return at;
}

/* Whether a tab is among what indents the line. */
static bool is_indented_with_tab(const struct scan *scan, size_t line)
{
	const char *end = scan->text + scan->size;

	for (const char *at = find_line(scan, line); at < end && (*at == ' ' || *at == '\t'); at++)
		if (*at == '\t')
			return true;
	return false;
}

/* Columns count characters, so this may miss behind others than ASCII: then nothing is hinted. */
static bool begins_with_colon(const struct scan *scan, const yaml_mark_t *mark)
{
	const char *end = scan->text + scan->size, *line = find_line(scan, mark->line);

	return (size_t)(end - line) > mark->column + 1 && line[mark->column] == ':' &&
	       line[mark->column + 1] == ':';
}

/* What libyaml says about the usual slips helps nobody. */
static const char *find_hint(const struct scan *scan, const yaml_parser_t *parser)
{
	if (is_indented_with_tab(scan, parser->problem_mark.line))
		return "a tab indents this line; YAML wants blanks";
	if (begins_with_colon(scan, &parser->problem_mark))
		return "an address that begins with a colon must stand in quotes";
	if (parser->context && strstr(parser->context, "a tag"))
		return "a word that begins with ! must stand in quotes";
	return NULL;
}

static void say_syntax(struct scan *scan, const yaml_parser_t *parser)
{
	const char *hint = find_hint(scan, parser);
	char context[128] = "";

	if (parser->context)
		snprintf(context, sizeof(context), " %s that begins on line %zu", parser->context,
			 parser->context_mark.line + 1);
	if (hint)
		say(scan, &parser->problem_mark, hint, "");
	else
		say(scan, &parser->problem_mark, parser->problem ?: "not YAML", context);
}

static void say_problem(struct scan *scan, const yaml_parser_t *parser)
{
	yaml_mark_t mark;

	scan->ended = true;
	if (parser->error == YAML_MEMORY_ERROR) {
		scan->err = -ENOMEM;
	} else if (parser->error == YAML_READER_ERROR) {
		mark = mark_of(scan, parser->problem_offset);
		say(scan, &mark, "the file is not UTF-8 text: ", parser->problem ?: "");
	} else {
		say_syntax(scan, parser);
	}
}

/* ---- what a policy has no use for ---- */

static void check_anchor(struct scan *scan, const yaml_event_t *event, const yaml_char_t *anchor)
{
	if (anchor)
		say(scan, &event->start_mark,
		    "anchors (&) are not for policies; write it out in each place: &",
		    (const char *)anchor);
}

/* An unquoted !ack is a tag of YAML: the value that was meant is empty then. */
static void check_tag(struct scan *scan, const yaml_event_t *event, const yaml_char_t *tag)
{
	if (!tag)
		return;
	if (tag[0] == '!')
		say(scan, &event->start_mark,
		    "a word that begins with ! must stand in quotes: ", (const char *)tag);
	else
		say(scan, &event->start_mark,
		    "tags (!!) are not for policies; leave it out: ", (const char *)tag);
}

static void enter(struct scan *scan, const yaml_event_t *event)
{
	if (++scan->depth <= POLICY_DEPTH_MAX)
		return;
	say(scan, &event->start_mark, "nested too deeply; a policy needs at most 5 levels", "");
	scan->ended = true;
}

static void start_document(struct scan *scan, const yaml_event_t *event)
{
	if (++scan->documents == 1)
		return;
	say(scan, &event->start_mark, "a second document begins here; a policy is one document",
	    "");
	scan->ended = true;
}

static void scan_event(struct scan *scan, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		start_document(scan, event);
		break;
	case YAML_ALIAS_EVENT:
		say(scan, &event->start_mark,
		    "aliases (*) are not for policies; write it out in each place: *",
		    (const char *)event->data.alias.anchor);
		break;
	case YAML_SCALAR_EVENT:
		check_anchor(scan, event, event->data.scalar.anchor);
		check_tag(scan, event, event->data.scalar.tag);
		break;
	case YAML_SEQUENCE_START_EVENT:
		check_anchor(scan, event, event->data.sequence_start.anchor);
		check_tag(scan, event, event->data.sequence_start.tag);
		enter(scan, event);
		break;
	case YAML_MAPPING_START_EVENT:
		check_anchor(scan, event, event->data.mapping_start.anchor);
		check_tag(scan, event, event->data.mapping_start.tag);
		enter(scan, event);
		break;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		scan->depth--;
		break;
	case YAML_STREAM_END_EVENT:
		scan->ended = true;
		break;
	default:
		break;
	}
}

int scan_yaml(const char *text, size_t size, struct findings *findings)
{
	struct scan scan = {.text = text, .size = size, .findings = findings};
	yaml_parser_t parser;
	yaml_event_t event;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	while (!scan.ended && !scan.err) {
		if (!yaml_parser_parse(&parser, &event)) {
			say_problem(&scan, &parser);
			break;
		}
		scan_event(&scan, &event);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return scan.err;
}
