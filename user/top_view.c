// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the operator of top looks at and is asked, changed by keys; no terminal, no kernel. */
#include "top_view.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "bucket_name.h"
#include "prefix.h"
#include "units.h"

const char *const top_order_names[TOP_ORDER_COUNT] = {
	[TOP_BY_DROPPED] = "dropped",	    [TOP_BY_PASSED] = "passed",
	[TOP_BY_BYTES] = "bytes",	    [TOP_BY_PEAK_PACKETS] = "peak-packets",
	[TOP_BY_PEAK_BYTES] = "peak-bytes",
};

int top_order_find(const char *name)
{
	for (int i = 0; i < TOP_ORDER_COUNT; i++)
		if (!strcmp(top_order_names[i], name))
			return i;
	return -EINVAL;
}

void top_view_start(struct top_view *view, const struct running *running,
		    const struct top_question *question, struct top_row *rows, size_t room)
{
	*view = (struct top_view){
		.running = running,
		.question = *question,
		.answer = {.rows = rows, .room = room},
		.page = 1,
	};
}

void top_view_say(struct top_view *view, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(view->message, sizeof(view->message), format, arguments);
	va_end(arguments);
}

/* ---- the selection ---- */

/* Both ends and the page around the selected row. */
static void keep_in_sight(struct top_view *view)
{
	size_t count = view->answer.count;

	if (view->selected >= count)
		view->selected = count ? count - 1 : 0;
	if (view->first > view->selected)
		view->first = view->selected;
	if (view->selected >= view->first + view->page)
		view->first = view->selected - view->page + 1;
	if (view->first + view->page > count)
		view->first = count > view->page ? count - view->page : 0;
}

/* On the first row it stays there, whoever that is: the worst one. */
void top_view_answered(struct top_view *view, const struct top_row *selected)
{
	for (size_t i = 0; view->selected && i < view->answer.count; i++) {
		const struct top_row *row = &view->answer.rows[i];

		if (row->limit == selected->limit &&
		    !memcmp(&row->source, &selected->source, sizeof(row->source))) {
			view->selected = i;
			break;
		}
	}
	keep_in_sight(view);
}

static void move(struct top_view *view, size_t from, long by)
{
	long to = (long)from + by;

	view->selected = to < 0 ? 0 : (size_t)to;
	keep_in_sight(view);
}

static const struct {
	int key;
	long rows, pages;
} moves[] = {
	{TOP_KEY_UP, -1, 0},	    {'k', -1, 0},
	{TOP_KEY_DOWN, 1, 0},	    {'j', 1, 0},
	{TOP_KEY_PAGE_UP, 0, -1},   {TOP_KEY_PAGE_DOWN, 0, 1},
	{TOP_KEY_HOME, -100000, 0}, {'g', -100000, 0},
	{TOP_KEY_END, 100000, 0},   {'G', 100000, 0},
};

static bool take_move(struct top_view *view, int key)
{
	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++)
		if (moves[i].key == key) {
			move(view, view->selected,
			     moves[i].rows + moves[i].pages * (long)view->page);
			return true;
		}
	return false;
}

/* ---- asking for a change ---- */

/* What a list can hold of the selected row: its source, cut as its limit cuts it. */
static int selected_prefix(const struct top_view *view, struct policy_prefix *prefix)
{
	const struct top_row *row = &view->answer.rows[view->selected];
	const struct kind_identity *kind = limit_kind_of(view->running, row->limit);
	const struct bucket bucket = {.source = row->source, .limit = row->limit};
	char name[BUCKET_NAME_SIZE];
	struct complaint why;

	if (kind->per != PER_SOURCE)
		return -EINVAL;
	bucket_name(view->running, &bucket, name);
	return parse_prefix(name, prefix, &why);
}

#define BAN_TIME "10m"

static void ask_change(struct top_view *view, enum live_list list)
{
	if (!view->answer.count) {
		top_view_say(view, "no source is selected");
		return;
	}
	if (selected_prefix(view, &view->prefix)) {
		top_view_say(view,
			     "this limit counts per destination or pair: no source to put on "
			     "a list; `xdp-limit %s %s add PREFIX` takes any",
			     list == LIVE_BAN ? "ban" : "allow", view->running->config.interface);
		return;
	}
	view->list = list;
	view->for_ns = 0;
	view->mode = list == LIVE_BAN ? TOP_ASK_TIME : TOP_ASK_CONFIRM;
	snprintf(view->input, sizeof(view->input), "%s", BAN_TIME);
}

static enum top_action take_time(struct top_view *view)
{
	struct complaint why;

	view->mode = TOP_ASK_CONFIRM;
	if (!view->input[0])
		return TOP_NOTHING; /* for ever */
	if (parse_time(view->input, &view->for_ns, &why)) {
		top_view_say(view, "%s", why.text);
		view->mode = TOP_ASK_TIME;
	} else if (!view->for_ns) {
		top_view_say(view, "a ban of no time would end at once; nothing means for ever");
		view->mode = TOP_ASK_TIME;
	}
	return TOP_NOTHING;
}

static enum top_action take_filter(struct top_view *view)
{
	struct complaint why;

	if (view->input[0] && parse_prefix(view->input, &view->question.prefix, &why)) {
		top_view_say(view, "%s", why.text);
		return TOP_NOTHING;
	}
	view->question.filtered = view->input[0];
	view->mode = TOP_LIST;
	return TOP_ANSWER;
}

/* ---- keys by mode ---- */

static enum top_action type(struct top_view *view, int key,
			    enum top_action (*done)(struct top_view *view))
{
	size_t length = strlen(view->input);

	switch (key) {
	case TOP_KEY_ENTER:
		return done(view);
	case TOP_KEY_ESCAPE:
		view->mode = TOP_LIST;
		break;
	case TOP_KEY_BACKSPACE:
		if (length)
			view->input[length - 1] = '\0';
		break;
	case 'U' & 0x1f: /* Control-U, as in a shell */
		view->input[0] = '\0';
		break;
	default:
		if (key < 127 && isprint(key) && length + 1 < sizeof(view->input)) {
			view->input[length] = (char)key;
			view->input[length + 1] = '\0';
		}
		break;
	}
	return TOP_NOTHING;
}

/* Only a y says yes; enter would be too easy to meet. */
static enum top_action confirm(struct top_view *view, int key)
{
	view->mode = TOP_LIST;
	if (key == 'y' || key == 'Y')
		return TOP_CHANGE;
	top_view_say(view, "nothing was changed");
	return TOP_NOTHING;
}

static void ask_filter(struct top_view *view)
{
	view->mode = TOP_ASK_FILTER;
	view->input[0] = '\0';
	if (view->question.filtered)
		format_prefix(&view->question.prefix, view->input);
}

/* All limits, then each of them. */
static void next_limit(struct top_view *view)
{
	view->question.limit++;
	if (view->question.limit >= (int)view->running->config.limit_count)
		view->question.limit = -1;
}

static void turn_order(struct top_view *view, unsigned int by)
{
	view->question.order = (view->question.order + by) % TOP_ORDER_COUNT;
}

static enum top_action list_key(struct top_view *view, int key)
{
	switch (key) {
	case 'q':
	case 'Q':
		return TOP_QUIT;
	case 's':
		turn_order(view, 1);
		return TOP_ANSWER;
	case 'S':
		turn_order(view, TOP_ORDER_COUNT - 1);
		return TOP_ANSWER;
	case 'l':
		next_limit(view);
		return TOP_ANSWER;
	case '/':
	case 'f':
		ask_filter(view);
		break;
	case ' ':
		view->frozen = !view->frozen;
		return TOP_ANSWER;
	case 'b':
		ask_change(view, LIVE_BAN);
		break;
	case 'a':
		ask_change(view, LIVE_ALLOW);
		break;
	case '?':
	case 'h':
		view->mode = TOP_HELP;
		break;
	default:
		take_move(view, key);
		break;
	}
	return TOP_NOTHING;
}

enum top_action top_view_key(struct top_view *view, int key)
{
	/* A terminal that changes its size answers no question. */
	if (key == TOP_KEY_REDRAW)
		return TOP_REPAINT;
	view->message[0] = '\0';
	switch (view->mode) {
	case TOP_HELP:
		view->mode = TOP_LIST;
		return TOP_NOTHING;
	case TOP_ASK_FILTER:
		return type(view, key, take_filter);
	case TOP_ASK_TIME:
		return type(view, key, take_time);
	case TOP_ASK_CONFIRM:
		return confirm(view, key);
	default:
		return list_key(view, key);
	}
}
