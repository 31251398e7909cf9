// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What top makes of readings, with set times: rates, peaks, who comes and goes, orders, keys, lines.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "address.h"
#include "prefix.h"
#include "top_draw.h"
#include "top_rates.h"
#include "top_view.h"

#define S 1000000000ULL

static struct address at(const char *text)
{
	struct address address;
	struct complaint why;

	assert_int_equal(parse_address(text, &address, &why), 0);
	return address;
}

/* ---- meters ---- */

static const struct {
	const char *what;
	struct top_counts before, now;
	uint64_t elapsed_ns;
	struct top_rates rates;
} meters[] = {
	{"what came in two seconds is halved",
	 {{10, 1000, 20, 2000}, 3},
	 {{30, 3000, 60, 8000}, 13},
	 2 * S,
	 {10, 1000, 20, 3000, 5}},
	{"a quarter of a second counts four times",
	 {{0}, 0},
	 {{1, 60, 2, 120}, 0},
	 S / 4,
	 {4, 240, 8, 480, 0}},
	{"nothing came", {{7, 7, 7, 7}, 7}, {{7, 7, 7, 7}, 7}, S, {0, 0, 0, 0, 0}},
	{"a counter that went back has no rate",
	 {{50, 500, 9, 90}, 4},
	 {{3, 30, 10, 100}, 0},
	 S,
	 {0, 0, 1, 10, 0}},
	{"64 bits",
	 {{1ULL << 60, 0, 0, 0}, 0},
	 {{(1ULL << 60) + 1024, 0, 0, 0}, 0},
	 S,
	 {1024, 0, 0, 0, 0}},
};

static bool is_same(const struct top_rates *a, const struct top_rates *b)
{
	return a->passed_packets == b->passed_packets && a->passed_bytes == b->passed_bytes &&
	       a->dropped_packets == b->dropped_packets && a->dropped_bytes == b->dropped_bytes &&
	       a->would_drop_packets == b->would_drop_packets;
}

static void meters_rate_two_readings(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(meters) / sizeof(meters[0]); i++) {
		struct top_meter meter = {0};

		top_meter_read(&meter, &meters[i].before, 5 * S);
		if (meter.known)
			fail_msg("%s: known after one reading", meters[i].what);
		top_meter_read(&meter, &meters[i].now, 5 * S + meters[i].elapsed_ns);
		if (!meter.known || !is_same(&meter.rates, &meters[i].rates))
			fail_msg("%s: passed %f/s, dropped %f/s", meters[i].what,
				 meter.rates.passed_packets, meter.rates.dropped_packets);
	}
}

/* ---- buckets ---- */

static void add(struct top_table *table, const char *source, unsigned int limit, uint64_t born_ns,
		struct tally tally, uint64_t now_ns)
{
	const struct bucket bucket = {
		.source = at(source), .limit = (uint16_t)limit, .born_ns = born_ns, .tally = tally};

	assert_int_equal(top_table_add(table, &bucket, now_ns), 0);
}

static const struct top_row *row_of(const struct top_table *table, const char *source,
				    unsigned int limit)
{
	struct address wanted = at(source);

	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].limit == limit &&
		    !memcmp(&table->rows[i].source, &wanted, sizeof(wanted)))
			return &table->rows[i];
	fail_msg("%s is not there", source);
	return NULL;
}

static void assert_row(const struct top_row *row, float passed, float dropped, float bytes)
{
	assert_true(row->known);
	if (row->passed != passed || row->dropped != dropped || row->bytes != bytes)
		fail_msg("passed %f/s, dropped %f/s, %f bytes/s; not %f, %f, %f", row->passed,
			 row->dropped, row->bytes, passed, dropped, bytes);
}

static void rows_have_no_rate_at_first(void **state)
{
	struct top_table table;

	(void)state;
	top_table_start(&table, 1);
	top_table_begin(&table, 10 * S);
	add(&table, "192.0.2.1", 0, S, (struct tally){500, 50000, 9, 900}, 10 * S);
	top_table_end(&table);
	assert_false(row_of(&table, "192.0.2.1", 0)->known);
	assert_true(row_of(&table, "192.0.2.1", 0)->peak_packets == 0);
	assert_int_equal(table.living, 1);
	top_table_free(&table);
}

static void rows_rate_since_they_were_seen(void **state)
{
	struct top_table table;

	(void)state;
	top_table_start(&table, 1);
	top_table_begin(&table, 10 * S);
	add(&table, "192.0.2.1", 0, S, (struct tally){500, 50000, 10, 1000}, 10 * S);
	add(&table, "192.0.2.1", 1, S, (struct tally){500, 50000, 0, 0}, 10 * S);
	top_table_end(&table);
	/* Of a slow walk: not from its beginning, but from where it saw the row. */
	top_table_begin(&table, 11 * S);
	add(&table, "192.0.2.1", 0, S, (struct tally){520, 52000, 50, 5000}, 14 * S);
	add(&table, "192.0.2.1", 1, S, (struct tally){600, 60000, 0, 0}, 14 * S);
	top_table_end(&table);
	assert_row(row_of(&table, "192.0.2.1", 0), 5, 10, 1500);
	assert_row(row_of(&table, "192.0.2.1", 1), 25, 0, 2500);
	top_table_free(&table);
}

/* O-029: the highest is kept, whatever comes after it. */
static void rows_keep_their_peaks(void **state)
{
	static const uint64_t packets[] = {0, 100, 1100, 1150, 1150};
	struct top_table table;

	(void)state;
	top_table_start(&table, 1);
	for (uint64_t i = 0; i < 5; i++) {
		top_table_begin(&table, (10 + i) * S);
		add(&table, "192.0.2.1", 0, S,
		    (struct tally){packets[i] / 2, packets[i] * 30, packets[i] / 2,
				   packets[i] * 30},
		    (10 + i) * S);
		top_table_end(&table);
	}
	assert_row(row_of(&table, "192.0.2.1", 0), 0, 0, 0);
	assert_true(row_of(&table, "192.0.2.1", 0)->peak_packets == 1000);
	assert_true(row_of(&table, "192.0.2.1", 0)->peak_bytes == 60000);
	top_table_free(&table);
}

/* Born since the last walk: all it has came since. One that was there before may have it from long ago. */
static void new_rows_rate_what_they_have(void **state)
{
	struct top_table table;

	(void)state;
	top_table_start(&table, 1);
	top_table_begin(&table, 10 * S);
	top_table_end(&table);
	top_table_begin(&table, 12 * S);
	add(&table, "192.0.2.1", 0, 11 * S, (struct tally){80, 8000, 20, 2000}, 12 * S);
	add(&table, "192.0.2.2", 0, 9 * S, (struct tally){80, 8000, 20, 2000}, 12 * S);
	top_table_end(&table);
	assert_row(row_of(&table, "192.0.2.1", 0), 40, 10, 5000);
	assert_false(row_of(&table, "192.0.2.2", 0)->known);
	top_table_free(&table);
}

/* Evicted or reset, and made anew: nothing of the former life is taken off. */
static void reborn_rows_begin_at_zero(void **state)
{
	struct top_table table;

	(void)state;
	top_table_start(&table, 1);
	top_table_begin(&table, 10 * S);
	add(&table, "192.0.2.1", 0, S, (struct tally){1000, 1000, 1000, 1000}, 10 * S);
	top_table_end(&table);
	top_table_begin(&table, 11 * S);
	add(&table, "192.0.2.1", 0, 10 * S + 5, (struct tally){1200, 1200, 3, 300}, 11 * S);
	top_table_end(&table);
	assert_row(row_of(&table, "192.0.2.1", 0), 1200, 3, 1500);
	top_table_free(&table);
}

/* A CPU's cache read just before it went to its bucket counts twice: the next reading is lower. */
static void rows_that_go_back_have_no_rate(void **state)
{
	struct top_table table;

	(void)state;
	top_table_start(&table, 1);
	top_table_begin(&table, 10 * S);
	add(&table, "192.0.2.1", 0, S, (struct tally){1256, 1256, 0, 0}, 10 * S);
	top_table_end(&table);
	top_table_begin(&table, 11 * S);
	add(&table, "192.0.2.1", 0, S, (struct tally){1100, 1100, 7, 700}, 11 * S);
	top_table_end(&table);
	assert_row(row_of(&table, "192.0.2.1", 0), 0, 7, 700);
	assert_true(row_of(&table, "192.0.2.1", 0)->peak_packets == 7);
	top_table_free(&table);
}

/* ---- questions ---- */

static size_t ask(const struct top_table *table, const struct top_question *question,
		  struct top_row *rows, size_t room)
{
	struct top_answer answer = {.rows = rows, .room = room};

	top_ask(table, question, &answer);
	return answer.count;
}

static void gone_rows_are_not_shown(void **state)
{
	const struct top_question all = {.limit = -1};
	struct top_row rows[8];
	struct top_table table;

	(void)state;
	top_table_start(&table, 1);
	top_table_begin(&table, 10 * S);
	add(&table, "192.0.2.1", 0, S, (struct tally){0}, 10 * S);
	add(&table, "192.0.2.2", 0, S, (struct tally){0}, 10 * S);
	top_table_end(&table);
	top_table_begin(&table, 11 * S);
	add(&table, "192.0.2.2", 0, S, (struct tally){0}, 11 * S);
	/* It may still come. */
	assert_int_equal(ask(&table, &all, rows, 8), 2);
	top_table_end(&table);
	assert_int_equal(ask(&table, &all, rows, 8), 1);
	assert_memory_equal(&rows[0].source, &(struct address[]){at("192.0.2.2")}, 16);
	assert_int_equal(table.living, 1);
	top_table_free(&table);
}

static void fill_numbered(struct top_table *table, unsigned int count, uint64_t now_ns)
{
	char text[32];

	top_table_begin(table, now_ns);
	for (unsigned int i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "10.%u.%u.%u", i >> 16, i >> 8 & 255, i & 255);
		/* Each its own rate, in no order. */
		add(table, text, i % 3, S,
		    (struct tally){.dropped_packets = now_ns / S * ((i * 7919ULL) % count)},
		    now_ns);
	}
	top_table_end(table);
}

static void the_first_of_many_in_order(void **state)
{
	const struct top_question all = {.limit = -1}, second = {.limit = 1};
	enum { MANY = 50021 }; /* prime: 7919 * i goes over all of them */
	static struct top_row rows[40];
	struct top_table table;

	(void)state;
	top_table_start(&table, 99);
	fill_numbered(&table, MANY, 10 * S);
	fill_numbered(&table, MANY, 11 * S);
	assert_int_equal(table.count, MANY);
	assert_int_equal(ask(&table, &all, rows, 40), 20);
	for (unsigned int i = 0; i < 20; i++)
		assert_true(rows[i].dropped == MANY - 1 - i);
	assert_int_equal(ask(&table, &second, rows, 40), 20);
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(rows[i].limit, 1);
	/* All of them gone but a few: what was kept for them goes too. */
	fill_numbered(&table, 100, 12 * S);
	assert_int_equal(table.count, 100);
	fill_numbered(&table, 100, 13 * S);
	assert_int_equal(table.living, 100);
	top_table_free(&table);
}

static const struct {
	const char *prefix;
	const char *source;
	bool met;
} filters[] = {
	{"192.0.2.0/24", "192.0.2.255", true},
	{"192.0.2.0/24", "192.0.3.0", false},
	{"192.0.2.7", "192.0.2.7", true},
	{"0.0.0.0/0", "203.0.113.9", true},
	{"0.0.0.0/0", "2001:db8::", false},
	{"::/0", "203.0.113.9", false},
	{"::/0", "2001:db8::", true},
	{"2001:db8::/32", "2001:db8:5::", true},
	{"2001:db8:0:1::/64", "2001:db8:0:2::", false},
};

static void filters_by_prefix(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		struct top_question question = {.limit = -1, .filtered = true};
		struct complaint why;
		struct top_row rows[4];
		struct top_table table;

		assert_int_equal(parse_prefix(filters[i].prefix, &question.prefix, &why), 0);
		top_table_start(&table, 1);
		top_table_begin(&table, S);
		add(&table, filters[i].source, 0, S, (struct tally){0}, S);
		top_table_end(&table);
		if (ask(&table, &question, rows, 4) != filters[i].met)
			fail_msg("%s in %s: not %d", filters[i].source, filters[i].prefix,
				 filters[i].met);
		top_table_free(&table);
	}
}

/* As bpf/buckets.h puts it together: the destination before the mapped source. */
static void filters_pairs_by_source(void **state)
{
	struct bucket pair = {.source = at("192.0.2.7"), .born_ns = 1};
	struct top_question question = {.limit = -1, .filtered = true};
	struct complaint why;
	struct top_row rows[4];
	struct top_table table;

	(void)state;
	memcpy(pair.source.bytes + 4, at("198.51.100.1").bytes + 12, 4);
	top_table_start(&table, 1);
	top_table_begin(&table, S);
	assert_int_equal(top_table_add(&table, &pair, S), 0);
	top_table_end(&table);
	assert_int_equal(parse_prefix("192.0.2.0/24", &question.prefix, &why), 0);
	assert_int_equal(ask(&table, &question, rows, 4), 1);
	assert_int_equal(parse_prefix("198.51.100.0/24", &question.prefix, &why), 0);
	assert_int_equal(ask(&table, &question, rows, 4), 0);
	top_table_free(&table);
}

/* ---- numbers ---- */

static const struct {
	double number;
	const char *text;
} numbers[] = {
	{0, "0"},	   {0.5, "0.5"},       {0.04, "0.0"},	   {9.94, "9.9"},
	{9.96, "10"},	   {1000, "1000"},     {9999.4, "9999"},   {9999.5, "10.0k"},
	{12345, "12.3k"},  {99949, "99.9k"},   {99951, "100k"},	   {999499, "999k"},
	{999500, "1.00M"}, {1.234e6, "1.23M"}, {9.994e6, "9.99M"}, {9.996e6, "10.0M"},
	{4e11, "400G"},	   {1e15, "1.00P"},    {2e21, "2000E"},
};

static void numbers_fit_five_characters(void **state)
{
	char text[TOP_NUMBER_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		top_format_number(numbers[i].number, text);
		if (strcmp(text, numbers[i].text))
			fail_msg("%f: '%s', not '%s'", numbers[i].number, text, numbers[i].text);
		assert_true(strlen(text) <= 5);
	}
}

/* ---- the screen and its keys ---- */

/* A limiter of two limits, per source and per pair, with @count sources that lose packets. */
struct scene {
	struct running running;
	struct top_reading reading;
	struct top_view view;
	struct top_row rows[64];
	int width, height;
	char lines[64][TOP_LINE_SIZE];
	enum top_style styles[64];
};

static void take_line(void *context, int y, enum top_style style, const char *text)
{
	struct scene *scene = context;

	assert_in_range(y, 0, scene->height - 1);
	assert_true((int)strlen(text) <= scene->width);
	snprintf(scene->lines[y], TOP_LINE_SIZE, "%s", text);
	scene->styles[y] = style;
}

static void draw(struct scene *scene)
{
	const struct top_canvas canvas = {scene->width, scene->height, take_line, scene};

	memset(scene->lines, 0, sizeof(scene->lines));
	top_draw(&scene->reading, &scene->view, &canvas);
}

static bool shows(struct scene *scene, const char *text)
{
	draw(scene);
	for (int y = 0; y < scene->height; y++)
		if (strstr(scene->lines[y], text))
			return true;
	return false;
}

static void answer(struct scene *scene)
{
	struct top_row selected = scene->rows[scene->view.selected];

	top_ask(&scene->reading.table, &scene->view.question, &scene->view.answer);
	top_view_answered(&scene->view, &selected);
}

static struct scene *make_scene(unsigned int count)
{
	const struct top_question all = {.limit = -1};
	struct scene *scene = calloc(1, sizeof(*scene));
	struct running *running = &scene->running;
	char text[32];

	scene->width = 80;
	scene->height = 24;
	running->attachment.mode = MODE_NATIVE;
	strcpy(running->config.interface, "rv0");
	running->table.kinds[0] = (struct kind_identity){1, PER_SOURCE, 32, 64};
	running->table.kinds[1] = (struct kind_identity){1, PER_PAIR, 32, 64};
	running->config.limit_count = 2;
	running->config.kinds[1].id = 1;
	running->config.limits[1].group = 1;
	for (int i = 0; i < 2; i++)
		running->config.labels[i] = (struct limit_label){
			.amount = 1000, .per_ns = S, .burst = 1000, .kind = LIMIT_METERED};
	strcpy(running->config.labels[0].name, "default");
	strcpy(running->config.labels[1].name, "pairs");
	scene->reading = (struct top_reading){
		.running = running, .interface = "rv0", .interval_ns = S};
	top_table_start(&scene->reading.table, 1);
	for (uint64_t walk = 1; walk <= 2; walk++) {
		top_table_begin(&scene->reading.table, walk * S);
		for (unsigned int i = 0; i < count; i++) {
			snprintf(text, sizeof(text), "192.0.2.%u", i);
			add(&scene->reading.table, text, 0, 1,
			    (struct tally){.dropped_packets = walk * (count - i)}, walk * S);
		}
		top_table_end(&scene->reading.table);
	}
	top_view_start(&scene->view, running, &all, scene->rows, 64);
	answer(scene);
	return scene;
}

static void free_scene(struct scene *scene)
{
	top_table_free(&scene->reading.table);
	free(scene);
}

static enum top_action type(struct scene *scene, const char *keys)
{
	enum top_action last = TOP_NOTHING;

	for (; *keys; keys++) {
		last = top_view_key(&scene->view, *keys == '\n' ? TOP_KEY_ENTER : *keys);
		if (last == TOP_ANSWER)
			answer(scene);
	}
	return last;
}

/* Whatever the size: no line is too long, none out of the screen, none twice. */
static void every_size_draws(void **state)
{
	struct scene *scene = make_scene(30);

	(void)state;
	scene->running.config.limit_count = MAX_LIMITS;
	for (scene->height = 1; scene->height < 60; scene->height++)
		for (scene->width = 1; scene->width <= TOP_LINE_SIZE + 10; scene->width += 7) {
			top_view_say(&scene->view, "%0300d", 1);
			draw(scene);
			scene->view.mode = TOP_HELP;
			draw(scene);
			scene->view.mode = TOP_LIST;
		}
	free_scene(scene);
}

static void small_terminals_have_all(void **state)
{
	struct scene *scene = make_scene(30);

	(void)state;
	assert_true(shows(scene, "native, 30 buckets"));
	assert_true(shows(scene, "192.0.2.0 "));
	assert_true(shows(scene, "by dropped; all sources; limit any; 30 of 30"));
	assert_true(shows(scene, "q quit"));
	assert_true(shows(scene, "peak bit/s"));
	scene->height = 9;
	assert_true(shows(scene, "too small"));
	free_scene(scene);
}

static void says_what_is_unusual(void **state)
{
	struct scene *scene = make_scene(1);

	(void)state;
	scene->reading.walk_ns = S + S / 10;
	assert_false(shows(scene, "sources every"));
	scene->reading.walk_ns = 19 * S;
	assert_true(shows(scene, "every 1.0 s, sources every 19 s"));
	scene->reading.gate_closed = true;
	assert_true(shows(scene, "GATE CLOSED"));
	scene->reading.trial_left_ns = 7 * S;
	assert_true(shows(scene, "ON TRIAL, 7 s left"));
	scene->running.config.dry_run = 1;
	assert_true(shows(scene, "DRY RUN"));
	assert_false(shows(scene, "flat table"));
	scene->running.config.flat = 1;
	assert_true(shows(scene, "flat table: only losing sources"));
	free_scene(scene);
}

static void flat_tables_know_no_passed_packets(void **state)
{
	struct scene *scene = make_scene(1);
	const char *column;

	(void)state;
	scene->running.config.flat = 1;
	draw(scene);
	for (int y = 0; y < scene->height; y++)
		if (!strncmp(scene->lines[y], "source ", 7))
			assert_non_null(strstr(scene->lines[y], " would/s dropped/s"));
	scene->running.config.flat = 0;
	column = "passed/s dropped/s   bit/s peak pps peak bit/s";
	assert_true(shows(scene, column));
	free_scene(scene);
}

/* O-029: which of the limits observes, and what it would drop. */
static void limits_show_what_they_would_drop(void **state)
{
	struct scene *scene = make_scene(1);

	(void)state;
	scene->running.config.limits[1].observe = 1;
	scene->reading.limits[1] = (struct top_meter){
		.known = true, .rates = {.passed_packets = 50, .would_drop_packets = 42}};
	assert_true(shows(scene, "pairs~         1000 pps               50         0       42"));
	free_scene(scene);
}

static void limits_that_do_not_fit_are_counted(void **state)
{
	struct scene *scene = make_scene(1);

	(void)state;
	scene->running.config.limit_count = MAX_LIMITS;
	for (int i = 0; i < MAX_LIMITS; i++)
		snprintf(scene->running.config.labels[i].name, NAME_SIZE, "limit-%d", i);
	scene->reading.limits[30].rates.dropped_packets = 5;
	assert_true(shows(scene, "limit-30 "));
	assert_true(shows(scene, "limit-0 "));
	assert_false(shows(scene, "limit-31 "));
	assert_true(shows(scene, "... and 27 more that drop less"));
	free_scene(scene);
}

static void keys_select_and_sort(void **state)
{
	struct scene *scene = make_scene(30);

	(void)state;
	draw(scene);
	assert_int_equal(scene->view.selected, 0);
	type(scene, "jjj");
	assert_int_equal(scene->view.selected, 3);
	type(scene, "k");
	assert_int_equal(scene->view.selected, 2);
	top_view_key(&scene->view, TOP_KEY_END);
	assert_int_equal(scene->view.selected, 29);
	assert_true(shows(scene, "192.0.2.29 "));
	assert_false(shows(scene, "192.0.2.0 "));
	top_view_key(&scene->view, TOP_KEY_HOME);
	top_view_key(&scene->view, TOP_KEY_UP);
	assert_int_equal(scene->view.selected, 0);
	assert_int_equal(type(scene, "s"), TOP_ANSWER);
	assert_true(shows(scene, "by passed;"));
	assert_int_equal(type(scene, "SS"), TOP_ANSWER);
	assert_true(shows(scene, "by peak-bytes;"));
	assert_int_equal(type(scene, "l"), TOP_ANSWER);
	assert_true(shows(scene, "limit default; 30 of 30"));
	type(scene, "l");
	assert_true(shows(scene, "limit pairs; 0 of 30"));
	assert_true(shows(scene, "no source like that"));
	type(scene, "l");
	assert_true(shows(scene, "limit any"));
	assert_int_equal(type(scene, "q"), TOP_QUIT);
	free_scene(scene);
}

/* Another order moves the row; the selection goes with it. On the first row it stays first. */
static void the_selection_stays_with_its_source(void **state)
{
	struct scene *scene = make_scene(3);
	struct top_row *rows = scene->reading.table.rows;

	(void)state;
	type(scene, "j");
	assert_memory_equal(&scene->rows[1].source, &rows[1].source, 16);
	rows[1].dropped = 1000;
	answer(scene);
	assert_int_equal(scene->view.selected, 0);
	assert_memory_equal(&scene->rows[0].source, &rows[1].source, 16);
	rows[2].dropped = 2000;
	answer(scene);
	assert_int_equal(scene->view.selected, 0);
	assert_memory_equal(&scene->rows[0].source, &rows[2].source, 16);
	free_scene(scene);
}

static void filters_are_typed(void **state)
{
	struct scene *scene = make_scene(30);

	(void)state;
	assert_int_equal(type(scene, "/192.0.2.2/x"), TOP_NOTHING);
	assert_true(shows(scene, "only sources in (nothing: all): 192.0.2.2/x_"));
	type(scene, "\n");
	assert_true(shows(scene, "192.0.2.2/x"));
	assert_int_equal(scene->view.mode, TOP_ASK_FILTER);
	top_view_key(&scene->view, TOP_KEY_BACKSPACE);
	assert_int_equal(type(scene, "31\n"), TOP_ANSWER);
	assert_true(shows(scene, "192.0.2.2/31; limit any; 2 of 30"));
	/* Escape leaves it as it was. */
	type(scene, "/9");
	top_view_key(&scene->view, TOP_KEY_ESCAPE);
	assert_true(shows(scene, "192.0.2.2/31; limit any; 2 of 30"));
	type(scene, "/\x15\n");
	assert_true(shows(scene, "all sources"));
	free_scene(scene);
}

static void bans_are_confirmed(void **state)
{
	struct scene *scene = make_scene(3);

	(void)state;
	assert_int_equal(type(scene, "jb"), TOP_NOTHING);
	assert_true(shows(scene, "ban 192.0.2.1 for how long (nothing: for ever)? 10m_"));
	assert_int_equal(type(scene, "\n"), TOP_NOTHING);
	assert_true(shows(scene, "ban 192.0.2.1 for 10m? y/n"));
	assert_int_equal(type(scene, "\n"), TOP_NOTHING);
	assert_true(shows(scene, "nothing was changed"));
	assert_int_equal(type(scene, "b\x15"
				     "5 parsecs\n"),
			 TOP_NOTHING);
	assert_int_equal(scene->view.mode, TOP_ASK_TIME);
	assert_int_equal(type(scene, "\x15"
				     "0s\n"),
			 TOP_NOTHING);
	assert_int_equal(scene->view.mode, TOP_ASK_TIME);
	assert_int_equal(type(scene, "\x15"
				     "2h\n"),
			 TOP_NOTHING);
	assert_int_equal(type(scene, "y"), TOP_CHANGE);
	assert_int_equal(scene->view.list, LIVE_BAN);
	assert_true(scene->view.for_ns == 7200 * S);
	assert_int_equal(type(scene, "b\x15\n"), TOP_NOTHING);
	assert_true(shows(scene, "ban 192.0.2.1 for ever? y/n"));
	assert_int_equal(type(scene, "n"), TOP_NOTHING);
	assert_int_equal(type(scene, "a"), TOP_NOTHING);
	assert_true(shows(scene, "exempt 192.0.2.1 from all limits, for ever? y/n"));
	assert_int_equal(type(scene, "y"), TOP_CHANGE);
	assert_int_equal(scene->view.list, LIVE_ALLOW);
	free_scene(scene);
}

static void pairs_and_nobody_are_not_listed(void **state)
{
	struct scene *scene = make_scene(1);

	(void)state;
	scene->rows[0].limit = 1;
	assert_int_equal(type(scene, "b"), TOP_NOTHING);
	assert_true(shows(scene, "no source to put on a list"));
	assert_int_equal(scene->view.mode, TOP_LIST);
	type(scene, "/10.0.0.0/8\n");
	assert_int_equal(type(scene, "a"), TOP_NOTHING);
	assert_true(shows(scene, "no source is selected"));
	free_scene(scene);
}

static void help_is_a_key_away(void **state)
{
	struct scene *scene = make_scene(1);

	(void)state;
	type(scene, "?");
	assert_true(shows(scene, "peak pps"));
	assert_int_equal(type(scene, "q"), TOP_NOTHING);
	assert_true(shows(scene, "q quit"));
	free_scene(scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(meters_rate_two_readings),
		cmocka_unit_test(rows_have_no_rate_at_first),
		cmocka_unit_test(rows_rate_since_they_were_seen),
		cmocka_unit_test(rows_keep_their_peaks),
		cmocka_unit_test(new_rows_rate_what_they_have),
		cmocka_unit_test(reborn_rows_begin_at_zero),
		cmocka_unit_test(rows_that_go_back_have_no_rate),
		cmocka_unit_test(gone_rows_are_not_shown),
		cmocka_unit_test(the_first_of_many_in_order),
		cmocka_unit_test(filters_by_prefix),
		cmocka_unit_test(filters_pairs_by_source),
		cmocka_unit_test(numbers_fit_five_characters),
		cmocka_unit_test(every_size_draws),
		cmocka_unit_test(small_terminals_have_all),
		cmocka_unit_test(says_what_is_unusual),
		cmocka_unit_test(flat_tables_know_no_passed_packets),
		cmocka_unit_test(limits_show_what_they_would_drop),
		cmocka_unit_test(limits_that_do_not_fit_are_counted),
		cmocka_unit_test(keys_select_and_sort),
		cmocka_unit_test(the_selection_stays_with_its_source),
		cmocka_unit_test(filters_are_typed),
		cmocka_unit_test(bans_are_confirmed),
		cmocka_unit_test(pairs_and_nobody_are_not_listed),
		cmocka_unit_test(help_is_a_key_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
