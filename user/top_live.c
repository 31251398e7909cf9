// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* top on a terminal: waits for keys, signals and the time of the next reading. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "list_change.h"
#include "lock.h"
#include "prefix.h"
#include "report.h"
#include "top.h"
#include "top_screen.h"

#define ROWS 1000 /* that one can scroll through; the filter finds the others */

struct live {
	struct top_sampler *sampler;
	struct top_view view;
	int signals;
	bool quit;
};

/* ---- changing the lists ---- */

/* What list_remark() has to say goes behind the message. */
static struct top_view *hearer;

static void hear(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void hear(const char *format, ...)
{
	size_t length = strlen(hearer->message);
	va_list arguments;

	length += snprintf(hearer->message + length, TOP_MESSAGE_SIZE - length, "; ");
	va_start(arguments, format);
	if (length < TOP_MESSAGE_SIZE)
		vsnprintf(hearer->message + length, TOP_MESSAGE_SIZE - length, format, arguments);
	va_end(arguments);
}

static void add_to_list(const struct target *target, const struct list_change *change,
			struct top_view *view)
{
	char prefix[ADDRESS_TEXT_SIZE];
	struct complaint why;

	if (list_change_add(target, change, &why)) {
		top_view_say(view, "%s", why.text);
		return;
	}
	format_prefix(&view->prefix, prefix);
	top_view_say(view, "%s is on the %s list; undo: xdp-limit %s %s del %s", prefix,
		     change->verb, change->verb, target->netdev.name, prefix);
	hearer = view;
	list_change_remark(target, change, hear, hear);
}

/* What was found at the start may have been replaced until the lock is ours. */
static void change(struct live *live)
{
	struct top_view *view = &live->view;
	const struct list_change change = {
		.list = view->list,
		.verb = view->list == LIVE_BAN ? "ban" : "allow",
		.prefixes = {.prefixes = &view->prefix, .count = 1},
		.for_ns = view->for_ns,
	};
	const char *name = live->sampler->target.netdev.name;
	struct complaint why;
	struct target target;

	if (target_look_locked(name, 0, &target, &why) == EXIT_DONE) {
		add_to_list(&target, &change, view);
		target_close(&target);
		lock_release();
	} else {
		top_view_say(view, "%s", why.text);
	}
}

/* ---- events ---- */

static void answer(struct live *live)
{
	struct top_view *view = &live->view;
	struct top_row selected = {0};

	if (view->selected < view->answer.count)
		selected = view->answer.rows[view->selected];
	top_ask(&live->sampler->reading.table, &view->question, &view->answer);
	top_view_answered(view, &selected);
}

static void take_keys(struct live *live, bool *repaint)
{
	int key;

	while (!live->quit && (key = top_screen_key()) >= 0)
		switch (top_view_key(&live->view, key)) {
		case TOP_QUIT:
			live->quit = true;
			break;
		case TOP_ANSWER:
			answer(live);
			break;
		case TOP_CHANGE:
			change(live);
			/* Something may have been said on stderr. */
			*repaint = true;
			break;
		case TOP_REPAINT:
			*repaint = true;
			break;
		default:
			break;
		}
}

/* The rows of another policy's limits are not to be shown under the names of this one's. */
static void take_news(struct live *live, int news)
{
	struct top_view *view = &live->view;

	if (news & TOP_NEWS_POLICY) {
		view->question.limit = -1;
		view->mode = TOP_LIST;
		top_view_say(view, "another policy was applied; rates and peaks begin anew");
	}
	if (news & TOP_NEWS_POLICY || (news & TOP_NEWS_BUCKETS && !view->frozen))
		answer(live);
}

/* Until a key, a signal, or the next reading. */
static void wait_for_event(struct live *live)
{
	struct pollfd files[] = {
		{.fd = STDIN_FILENO, .events = POLLIN},
		{.fd = live->signals, .events = POLLIN},
	};
	uint64_t now = boot_clock_ns(), due = top_sampler_due(live->sampler);
	struct timespec left = {0};

	if (due > now)
		left = (struct timespec){(due - now) / NS_PER_SECOND, (due - now) % NS_PER_SECOND};
	if (ppoll(files, 2, &left, NULL) <= 0)
		return;
	/* A terminal that is gone has no more keys. */
	live->quit |= files[1].revents || files[0].revents & (POLLHUP | POLLERR | POLLNVAL);
}

static int run(struct live *live)
{
	bool repaint = false;
	int news = 0;

	while (!live->quit && news >= 0) {
		top_screen_draw(&live->sampler->reading, &live->view, repaint);
		repaint = false;
		wait_for_event(live);
		take_keys(live, &repaint);
		if (boot_clock_ns() < top_sampler_due(live->sampler))
			continue;
		news = top_sampler_work(live->sampler);
		if (news > 0)
			take_news(live, news);
	}
	return news < 0 ? news : 0;
}

/* They only end the loop, so that the terminal is put back first. */
static int take_signals(void)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigaddset(&ends, SIGQUIT);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	return signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
}

enum exit_status top_live(struct top_sampler *sampler, const struct top_question *question)
{
	struct top_row *rows = calloc(2 * ROWS, sizeof(*rows));
	struct live live = {.sampler = sampler, .signals = take_signals()};
	struct complaint why;
	int err;

	if (!rows || live.signals < 0) {
		report_error("cannot start top: %s", strerror(errno));
		free(rows);
		return EXIT_FAILED;
	}
	top_view_start(&live.view, &sampler->target.running, question, rows, 2 * ROWS);
	err = top_screen_open(&why);
	if (err) {
		report_error("%s", why.text);
		free(rows);
		return err == -ENOTTY ? EXIT_USAGE : EXIT_UNSUPPORTED;
	}
	err = run(&live);
	top_screen_close();
	close(live.signals);
	free(rows);
	return top_report(sampler->target.netdev.name, err);
}
