/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The screen of top as lines of text, for any terminal; pure. */
#ifndef XDP_LIMIT_TOP_DRAW_H
#define XDP_LIMIT_TOP_DRAW_H

#include "top_rates.h"
#include "top_view.h"

enum top_style {
	TOP_PLAIN,
	TOP_HEADING,
	TOP_SELECTED,
	TOP_ALARM, /* what drops, or should be looked at */
	TOP_PROMPT,
};

#define TOP_LINE_SIZE 256

/* Where lines go: @y from 0, @text at most as wide as the screen. */
struct top_canvas {
	int width, height;
	void (*put)(void *context, int y, enum top_style style, const char *text);
	void *context;
};

/** top_draw - all lines of the screen that are not empty. */
void top_draw(const struct top_reading *reading, struct top_view *view,
	      const struct top_canvas *canvas);

#define TOP_NUMBER_SIZE 16

/** top_format_number - "0", "0.5", "1000", "12.3k", "456M": at most five characters. */
void top_format_number(double number, char text[TOP_NUMBER_SIZE]);

#endif
