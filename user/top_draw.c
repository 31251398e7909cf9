// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The screen of top as lines of text; no terminal. */
#include "top_draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "bucket_name.h"
#include "prefix.h"
#include "units.h"

#define SMALLEST_WIDTH	40
#define SMALLEST_HEIGHT 10

/* ---- numbers ---- */

void top_format_number(double number, char text[TOP_NUMBER_SIZE])
{
	static const char units[] = {'\0', 'k', 'M', 'G', 'T', 'P', 'E'};
	size_t unit = 0;
	int decimals;

	/* Four digits stay as they are; what would round to 1000 of a unit is one of the next. */
	while (unit + 1 < sizeof(units) && number >= (unit ? 999.5 : 9999.5)) {
		number /= 1000;
		unit++;
	}
	decimals = number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
	/* Without a unit, a tenth at most, and none of a whole number. */
	if (!unit)
		decimals = number >= 9.95 || number == (uint64_t)number ? 0 : 1;
	snprintf(text, TOP_NUMBER_SIZE, "%.*f%c", decimals, number, units[unit]);
}

/* What is not known, or not known yet. */
static void format_known(bool known, double number, char text[TOP_NUMBER_SIZE])
{
	if (known)
		top_format_number(number, text);
	else
		snprintf(text, TOP_NUMBER_SIZE, "-");
}

/* ---- lines ---- */

struct drawing {
	const struct top_reading *reading;
	struct top_view *view;
	const struct top_canvas *canvas;
	int y;
};

static void put_line(struct drawing *drawing, enum top_style style, const char *text)
{
	char line[TOP_LINE_SIZE];
	int width = drawing->canvas->width;

	if (width > TOP_LINE_SIZE - 1)
		width = TOP_LINE_SIZE - 1;
	snprintf(line, sizeof(line), "%-*.*s", width, width, text);
	drawing->canvas->put(drawing->canvas->context, drawing->y++, style, line);
}

static const struct config *config_of(const struct drawing *drawing)
{
	return &drawing->reading->running->config;
}

/* ---- the head ---- */

static void format_interval(uint64_t ns, char *text, size_t size)
{
	snprintf(text, size, "%.*f s", ns < 10 * NS_PER_SECOND ? 1 : 0, (double)ns / NS_PER_SECOND);
}

static void put_title(struct drawing *drawing)
{
	const struct top_reading *reading = drawing->reading;
	char every[UNITS_TEXT_SIZE], walk[UNITS_TEXT_SIZE] = "", line[TOP_LINE_SIZE];

	format_interval(reading->interval_ns, every, sizeof(every));
	/* A table so large that walks over it at that rate would cost too much. */
	if (reading->walk_ns > reading->interval_ns + reading->interval_ns / 4)
		format_interval(reading->walk_ns, walk, sizeof(walk));
	snprintf(line, sizeof(line), "xdp-limit top %s: %s%s, %zu buckets, every %s%s%s",
		 reading->interface, drawing->view->frozen ? "FROZEN, " : "",
		 mode_name(reading->running->attachment.mode), reading->table.living, every,
		 *walk ? ", sources every " : "", walk);
	put_line(drawing, drawing->view->frozen ? TOP_ALARM : TOP_PLAIN, line);
}

static void add_note(char line[TOP_LINE_SIZE], const char *note)
{
	size_t length = strlen(line);

	snprintf(line + length, TOP_LINE_SIZE - length, "%s%s", length ? "; " : "", note);
}

static void put_notes(struct drawing *drawing)
{
	const struct top_reading *reading = drawing->reading;
	char line[TOP_LINE_SIZE] = "", trial[64];

	snprintf(trial, sizeof(trial), "ON TRIAL, %.0f s left",
		 (double)reading->trial_left_ns / NS_PER_SECOND);
	if (reading->gate_closed)
		add_note(line, "GATE CLOSED");
	if (reading->trial_left_ns)
		add_note(line, trial);
	if (config_of(drawing)->dry_run)
		add_note(line, "DRY RUN");
	if (config_of(drawing)->flat)
		add_note(line, "flat table: only losing sources");
	put_line(drawing, *line ? TOP_ALARM : TOP_PLAIN, line);
}

/* ---- totals and limits ---- */

#define METER_FORMAT "%-14.14s %-16.16s %8s %9s %8s %8s %10s"

static void put_meter(struct drawing *drawing, const char *name, const char *rate,
		      const struct top_meter *meter, const struct top_counts *sum)
{
	const struct top_rates *rates = &meter->rates;
	char passed[TOP_NUMBER_SIZE], dropped[TOP_NUMBER_SIZE], would[TOP_NUMBER_SIZE];
	char bits[TOP_NUMBER_SIZE], line[TOP_LINE_SIZE], lost[TOP_NUMBER_SIZE];

	format_known(meter->known, rates->passed_packets, passed);
	format_known(meter->known, rates->dropped_packets, dropped);
	format_known(meter->known, rates->would_drop_packets, would);
	format_known(meter->known, 8 * (rates->passed_bytes + rates->dropped_bytes), bits);
	top_format_number((double)sum->tally.dropped_packets, lost);
	snprintf(line, sizeof(line), METER_FORMAT, name, rate, passed, dropped, would, bits, lost);
	put_line(drawing,
		 meter->known && (rates->dropped_packets > 0 || rates->would_drop_packets > 0)
			 ? TOP_ALARM
			 : TOP_PLAIN,
		 line);
}

static void put_limit(struct drawing *drawing, unsigned int index)
{
	const struct config *config = config_of(drawing);
	const struct limit_label *label = &config->labels[index];
	const struct rate rate = {label->kind, config->limits[index].unit, label->amount,
				  label->per_ns};
	char text[UNITS_TEXT_SIZE], name[NAME_SIZE + 2];

	format_rate(&rate, text, sizeof(text));
	snprintf(name, sizeof(name), "%s%s", label->name, config->limits[index].observe ? "~" : "");
	put_meter(drawing, name, text, &drawing->reading->limits[index],
		  &drawing->reading->limit_sums[index]);
}

/* Those that drop most, where not all of them fit. */
static unsigned int worst_left(const struct top_reading *reading, uint64_t shown)
{
	unsigned int worst = MAX_LIMITS;
	double most = -1;

	for (unsigned int i = 0; i < reading->running->config.limit_count; i++) {
		const struct top_rates *rates = &reading->limits[i].rates;
		double lost = rates->dropped_packets + rates->would_drop_packets;

		if (!(shown >> i & 1) && lost > most) {
			most = lost;
			worst = i;
		}
	}
	return worst;
}

static void put_limits(struct drawing *drawing)
{
	const struct top_reading *reading = drawing->reading;
	unsigned int count = reading->running->config.limit_count;
	unsigned int room = drawing->canvas->height / 4, fits = count <= room ? count : room - 1;
	char line[TOP_LINE_SIZE];
	uint64_t shown = 0; /* the bit MAX_LIMITS is nobody's */

	snprintf(line, sizeof(line), METER_FORMAT, "limit", "rate", "passed/s", "dropped/s",
		 "would/s", "bit/s", "dropped");
	put_line(drawing, TOP_HEADING, line);
	put_meter(drawing, "(all packets)", "", &reading->total, &reading->total_sum);
	for (unsigned int i = 0; i < fits; i++)
		shown |= 1ULL << worst_left(reading, shown);
	for (unsigned int i = 0; i < count; i++)
		if (shown >> i & 1)
			put_limit(drawing, i);
	if (fits < count) {
		snprintf(line, sizeof(line), "... and %u more that drop less", count - fits);
		put_line(drawing, TOP_PLAIN, line);
	}
}

/* ---- sources ---- */

#define NUMBERS_FORMAT "%8s %9s %7s %8s %10s"
#define NUMBERS_WIDTH  46
#define LIMIT_WIDTH    9

/* What is left of the width, for names: of sources first, then of limits. */
static void put_row(struct drawing *drawing, enum top_style style, const char *source,
		    const char *limit, const char *numbers)
{
	int left = drawing->canvas->width - NUMBERS_WIDTH - 2;
	int limit_width = left - 43 > LIMIT_WIDTH ? left - 43 : LIMIT_WIDTH;
	int source_width = left - limit_width > 15 ? left - limit_width : 15;
	char line[TOP_LINE_SIZE];

	if (limit_width > NAME_SIZE)
		limit_width = NAME_SIZE;
	if (source_width > BUCKET_NAME_SIZE)
		source_width = BUCKET_NAME_SIZE;
	snprintf(line, sizeof(line), "%-*.*s%c%-*.*s %s", source_width, source_width, source,
		 (int)strlen(source) > source_width ? '+' : ' ', limit_width, limit_width, limit,
		 numbers);
	put_line(drawing, style, line);
}

static void put_sources_heading(struct drawing *drawing)
{
	static const char *const columns[] = {
		[TOP_BY_DROPPED] = "dropped/s",	    [TOP_BY_PASSED] = "passed/s",
		[TOP_BY_BYTES] = "bit/s",	    [TOP_BY_PEAK_PACKETS] = "peak pps",
		[TOP_BY_PEAK_BYTES] = "peak bit/s",
	};
	char numbers[TOP_LINE_SIZE];

	/* What a flat table knows of packets that passed: those that a limit would have dropped. */
	snprintf(numbers, sizeof(numbers), NUMBERS_FORMAT,
		 config_of(drawing)->flat ? "would/s" : columns[TOP_BY_PASSED],
		 columns[TOP_BY_DROPPED], columns[TOP_BY_BYTES], columns[TOP_BY_PEAK_PACKETS],
		 columns[TOP_BY_PEAK_BYTES]);
	put_row(drawing, TOP_HEADING, "source", "limit", numbers);
}

static void put_source(struct drawing *drawing, size_t index)
{
	const struct running *running = drawing->reading->running;
	const struct top_row *row = &drawing->view->answer.rows[index];
	const struct bucket bucket = {.source = row->source, .limit = row->limit};
	char source[BUCKET_NAME_SIZE], passed[TOP_NUMBER_SIZE], dropped[TOP_NUMBER_SIZE];
	char bits[TOP_NUMBER_SIZE], peak[TOP_NUMBER_SIZE], peak_bits[TOP_NUMBER_SIZE];
	char numbers[TOP_LINE_SIZE];
	enum top_style style = row->known && row->dropped > 0 ? TOP_ALARM : TOP_PLAIN;

	bucket_name(running, &bucket, source);
	format_known(row->known, row->passed, passed);
	format_known(row->known, row->dropped, dropped);
	format_known(row->known, 8.0 * row->bytes, bits);
	format_known(row->known, row->peak_packets, peak);
	format_known(row->known, 8.0 * row->peak_bytes, peak_bits);
	snprintf(numbers, sizeof(numbers), NUMBERS_FORMAT, passed, dropped, bits, peak, peak_bits);
	put_row(drawing, index == drawing->view->selected ? TOP_SELECTED : style, source,
		running->config.labels[row->limit].name, numbers);
}

static void put_sources(struct drawing *drawing)
{
	struct top_view *view = drawing->view;
	int page;

	put_sources_heading(drawing);
	page = drawing->canvas->height - 2 - drawing->y;
	view->page = page > 1 ? (size_t)page : 1;
	if (!drawing->reading->table.complete)
		put_line(drawing, TOP_PLAIN, "reading the table ...");
	else if (!view->answer.count)
		put_line(drawing, TOP_PLAIN,
			 view->question.filtered || view->question.limit >= 0
				 ? "no source like that"
				 : "no source yet");
	for (size_t i = 0; i < view->page && view->first + i < view->answer.count; i++)
		put_source(drawing, view->first + i);
}

/* ---- the foot ---- */

static void put_question(struct drawing *drawing)
{
	const struct top_view *view = drawing->view;
	const struct top_question *question = &view->question;
	char prefix[ADDRESS_TEXT_SIZE] = "all sources", line[TOP_LINE_SIZE];

	if (question->filtered)
		format_prefix(&question->prefix, prefix);
	snprintf(line, sizeof(line), "by %s; %s; limit %s; %zu of %zu",
		 top_order_names[question->order], prefix,
		 question->limit < 0 ? "any" : config_of(drawing)->labels[question->limit].name,
		 view->answer.matched, drawing->reading->table.living);
	put_line(drawing, TOP_PLAIN, line);
}

static void put_confirm(struct drawing *drawing)
{
	const struct top_view *view = drawing->view;
	char prefix[ADDRESS_TEXT_SIZE], time[UNITS_TEXT_SIZE], line[TOP_LINE_SIZE];

	format_prefix(&view->prefix, prefix);
	format_time(view->for_ns, time, sizeof(time));
	if (view->list == LIVE_ALLOW)
		snprintf(line, sizeof(line), "exempt %s from all limits, for ever? y/n", prefix);
	else
		snprintf(line, sizeof(line), "ban %s%s%s? y/n", prefix,
			 view->for_ns ? " for " : " for ever", view->for_ns ? time : "");
	put_line(drawing, TOP_PROMPT, line);
}

static void put_prompt(struct drawing *drawing)
{
	const struct top_view *view = drawing->view;
	char prefix[ADDRESS_TEXT_SIZE], line[TOP_LINE_SIZE];

	switch (view->mode) {
	case TOP_ASK_CONFIRM:
		put_confirm(drawing);
		return;
	case TOP_ASK_TIME:
		format_prefix(&view->prefix, prefix);
		snprintf(line, sizeof(line), "ban %s for how long (nothing: for ever)? %s_", prefix,
			 view->input);
		break;
	case TOP_ASK_FILTER:
		snprintf(line, sizeof(line), "only sources in (nothing: all): %s_", view->input);
		break;
	default:
		put_line(drawing, TOP_HEADING,
			 "q quit  s sort  / prefix  l limit  space freeze  b ban  a allow  ? help");
		return;
	}
	put_line(drawing, TOP_PROMPT, line);
}

/* A long one takes the place of the last sources. */
static void put_message(struct drawing *drawing)
{
	const char *text = drawing->view->message;
	int width = drawing->canvas->width, length = (int)strlen(text);
	int lines = (length + width - 1) / width;

	if (lines > 5)
		lines = 5;
	drawing->y = drawing->canvas->height - 1 - lines;
	for (int i = 0; i < lines; i++)
		put_line(drawing, TOP_ALARM, text + (size_t)i * width);
}

static void put_foot(struct drawing *drawing)
{
	drawing->y = drawing->canvas->height - 2;
	if (drawing->view->message[0])
		put_message(drawing);
	else
		put_question(drawing);
	put_prompt(drawing);
}

static void put_help(struct drawing *drawing)
{
	static const char *const lines[] = {
		"xdp-limit top: packets per second and bits per second, as they come",
		"",
		"up, down, k, j, page up, page down, home, end, g, G    select a source",
		"s, S     sort by the next column, the former one",
		"/, f     only sources in a prefix, such as 192.0.2.0/24",
		"l        only buckets of the next limit",
		"space    freeze; the numbers behind it go on",
		"b        ban the selected source, for a time; a    exempt it from all limits",
		"q        quit",
		"",
		"would/s: passed, but only because of a dry run or a limit that observes (~)",
		"bit/s, peak pps, peak bit/s: of all packets, those that passed and those dropped",
		"peaks: the highest rate over one interval since top was started; a limit above a",
		"       source's peak never drops it",
		"-        not known: a new row, or a flat table, which counts only who loses packets",
		"",
		"any key goes back",
	};

	for (size_t i = 0;
	     i < sizeof(lines) / sizeof(lines[0]) && drawing->y < drawing->canvas->height; i++)
		put_line(drawing, TOP_PLAIN, lines[i]);
}

void top_draw(const struct top_reading *reading, struct top_view *view,
	      const struct top_canvas *canvas)
{
	struct drawing drawing = {reading, view, canvas, 0};

	if (canvas->width < SMALLEST_WIDTH || canvas->height < SMALLEST_HEIGHT) {
		put_line(&drawing, TOP_PLAIN, "too small: 40x10 at least");
		return;
	}
	if (view->mode == TOP_HELP) {
		put_help(&drawing);
		return;
	}
	put_title(&drawing);
	put_notes(&drawing);
	put_limits(&drawing);
	put_sources(&drawing);
	put_foot(&drawing);
}
