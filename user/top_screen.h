/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The terminal of top: the only file that knows ncurses. */
#ifndef XDP_LIMIT_TOP_SCREEN_H
#define XDP_LIMIT_TOP_SCREEN_H

#include "complaint.h"
#include "top_draw.h"

/** top_screen_open - 0; -ENOTTY or -ENOTSUP with a sentence in @why. top_screen_close() after it succeeded. */
int top_screen_open(struct complaint *why);
/** top_screen_close - the terminal is as it was. */
void top_screen_close(void);

/** top_screen_draw - only what has changed goes to the terminal; all of it after a @repaint. */
void top_screen_draw(const struct top_reading *reading, struct top_view *view, bool repaint);

/** top_screen_key - the next key that was pressed, a character or enum top_key; -1 for none. */
int top_screen_key(void);

#endif
