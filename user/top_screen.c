// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The terminal of top: the only file that knows ncurses. */
#include "top_screen.h"

#include <curses.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <term.h>
#include <unistd.h>

#define ESCAPE_DELAY_MS 50 /* more than a terminal takes to send the rest of a key */

static SCREEN *screen;

/* https://no-color.org: whatever its value, unless it is empty. */
static bool wants_colours(void)
{
	const char *no_color = getenv("NO_COLOR");

	return !(no_color && *no_color) && has_colors();
}

static attr_t style_attributes[] = {
	[TOP_PLAIN] = A_NORMAL, [TOP_HEADING] = A_REVERSE, [TOP_SELECTED] = A_REVERSE | A_BOLD,
	[TOP_ALARM] = A_BOLD,	[TOP_PROMPT] = A_BOLD,
};

/* Colours only say once more what words and numbers say. */
static void choose_colours(void)
{
	if (!wants_colours())
		return;
	start_color();
	use_default_colors();
	init_pair(1, COLOR_RED, -1);
	style_attributes[TOP_ALARM] = COLOR_PAIR(1) | A_BOLD;
}

/* "dumb", or a teletype: lines would come one below the other, for ever. */
static bool can_be_drawn_on(void)
{
	if (tigetstr("cup"))
		return true;
	endwin();
	delscreen(screen);
	return false;
}

static int open_terminal(struct complaint *why)
{
	const char *terminal = getenv("TERM") ?: "";

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return complain(why, -ENOTTY,
				"top needs a terminal; --batch writes plain text to anything");
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return complain(why, -ENOTSUP,
				"the terminal type TERM=%s is not known here; try TERM=vt100, "
				"or --batch",
				terminal);
	if (!can_be_drawn_on())
		return complain(why, -ENOTSUP,
				"a terminal of type TERM=%s can't be drawn on; --batch writes "
				"plain text",
				terminal);
	return 0;
}

int top_screen_open(struct complaint *why)
{
	int err = open_terminal(why);

	if (err)
		return err;
	set_escdelay(ESCAPE_DELAY_MS);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	choose_colours();
	return 0;
}

void top_screen_close(void)
{
	curs_set(1);
	endwin();
	delscreen(screen);
}

static void put(void *context, int y, enum top_style style, const char *text)
{
	(void)context;
	attrset(style_attributes[style]);
	mvaddstr(y, 0, text);
}

void top_screen_draw(const struct top_reading *reading, struct top_view *view, bool repaint)
{
	const struct top_canvas canvas = {.width = COLS, .height = LINES, .put = put};

	if (repaint)
		clearok(stdscr, TRUE);
	erase();
	top_draw(reading, view, &canvas);
	refresh();
}

static const struct {
	int curses, key;
} keys[] = {
	{KEY_UP, TOP_KEY_UP},	      {KEY_DOWN, TOP_KEY_DOWN},
	{KEY_PPAGE, TOP_KEY_PAGE_UP}, {KEY_NPAGE, TOP_KEY_PAGE_DOWN},
	{KEY_HOME, TOP_KEY_HOME},     {KEY_END, TOP_KEY_END},
	{KEY_ENTER, TOP_KEY_ENTER},   {'\r', TOP_KEY_ENTER},
	{'\n', TOP_KEY_ENTER},	      {KEY_BACKSPACE, TOP_KEY_BACKSPACE},
	{'\b', TOP_KEY_BACKSPACE},    {127, TOP_KEY_BACKSPACE},
	{27, TOP_KEY_ESCAPE},	      {KEY_RESIZE, TOP_KEY_REDRAW},
	{'L' & 0x1f, TOP_KEY_REDRAW}, /* Control-L */
};

int top_screen_key(void)
{
	int key = getch();

	if (key == ERR)
		return -1;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].curses == key)
			return keys[i].key;
	/* Of keys that ncurses knows and we don't, none is ours. */
	return key < KEY_MIN ? key : 0;
}
