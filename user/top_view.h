/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the operator of top looks at and is asked, changed by keys; pure. */
#ifndef XDP_LIMIT_TOP_VIEW_H
#define XDP_LIMIT_TOP_VIEW_H

#include "top_rates.h"

/* Keys that are no character. */
enum top_key {
	TOP_KEY_UP = 256,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_ENTER,
	TOP_KEY_BACKSPACE,
	TOP_KEY_ESCAPE,
	TOP_KEY_REDRAW, /* also after a resize */
};

enum top_mode {
	TOP_LIST,
	TOP_HELP,
	TOP_ASK_FILTER,	 /* typing a prefix */
	TOP_ASK_TIME,	 /* typing how long a ban lasts */
	TOP_ASK_CONFIRM, /* y, or not */
};

/* What a key asks of the program. */
enum top_action {
	TOP_NOTHING, /* but to draw */
	TOP_QUIT,
	TOP_ANSWER, /* the question is another one */
	TOP_CHANGE, /* put the selected source on the list */
	TOP_REPAINT,
};

#define TOP_INPUT_SIZE	 64
#define TOP_MESSAGE_SIZE 512

struct top_view {
	const struct running *running; /* its limits' names and kinds */
	struct top_question question;
	struct top_answer answer;
	size_t selected; /* of the answer's rows */
	size_t first;	 /* row that is drawn */
	size_t page;	 /* rows that fit; set by who draws */
	bool frozen;
	enum top_mode mode;
	char input[TOP_INPUT_SIZE];
	char message[TOP_MESSAGE_SIZE]; /* until the next key */
	/* The change that is asked for: */
	enum live_list list;
	struct policy_prefix prefix;
	uint64_t for_ns; /* 0: for ever */
};

extern const char *const top_order_names[TOP_ORDER_COUNT];
/** top_order_find - the order of that name; -EINVAL. */
int top_order_find(const char *name);

void top_view_start(struct top_view *view, const struct running *running,
		    const struct top_question *question, struct top_row *rows, size_t room);

/** top_view_key - what @key (a character or enum top_key) does now. */
enum top_action top_view_key(struct top_view *view, int key);

/** top_view_answered - the answer is a new one: the selection stays with its source. */
void top_view_answered(struct top_view *view, const struct top_row *selected);

/** top_view_say - a sentence for the bottom of the screen. */
void top_view_say(struct top_view *view, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
