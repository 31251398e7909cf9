// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rates, bursts and times: from text to numbers and back, exact. */
#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ARRAY_SIZE(a)    (sizeof(a) / sizeof((a)[0]))
#define NS_PER_MINUTE    (60 * NS_PER_SECOND)
#define NS_PER_HOUR      (60 * NS_PER_MINUTE)
#define NS_PER_DAY       (24 * NS_PER_HOUR)
#define DEFAULT_BURST_NS (NS_PER_SECOND / 4) /* of bytes */
#define DEFAULT_BURST_B  65536ULL

__extension__ typedef unsigned __int128 u128;

/* What one unit allows and how refusals spell it. */
struct scope {
	const char *counts;
	const char *rate_examples;
	const char *rate_range;
	const char *burst_examples;
	const char *burst_range;
	uint64_t slowest_ns; /* one unit per this */
	uint64_t fastest;    /* units per second */
	uint64_t burst_min;
	uint64_t burst_max;
};

static const struct scope scopes[] = {
	[UNIT_PACKETS] =
		{
			.counts = "packets",
			.rate_examples = "\"1000 pps\", \"10/s\", \"5/min\" or \"8000 per 30s\"",
			.rate_range = "1/day to 1000000000 pps",
			.burst_examples = "\"2000 packets\" or \"250ms\"",
			.burst_range = "1 packet to 2147483648 packets",
			.slowest_ns = NS_PER_DAY,
			.fastest = 1000000000,
			.burst_min = 1,
			.burst_max = 1ULL << 31,
		},
	[UNIT_BYTES] =
		{
			.counts = "bytes",
			.rate_examples = "\"10 Mbit/s\", \"1.5 MB/s\" or \"64 KiB/s\"",
			.rate_range = "1 B/s to 1000 Gbit/s",
			.burst_examples = "\"256 KiB\", \"64 kB\", \"1500 B\" or \"250ms\"",
			.burst_range = "60 B (the smallest frame) to 1024 GiB",
			.slowest_ns = NS_PER_SECOND,
			.fastest = 125000000000, /* beyond, a tick is too coarse for one frame */
			.burst_min = 60,
			.burst_max = 1ULL << 40,
		},
};

enum prefix_kind {
	PREFIX_NONE = 1,
	PREFIX_DECIMAL = 2,
	PREFIX_BINARY = 4,
};

static const struct prefix {
	const char *text;
	uint64_t times;
	enum prefix_kind kind;
} prefixes[] = {
	{"", 1, PREFIX_NONE},
	{"k", 1000, PREFIX_DECIMAL},
	{"M", 1000000, PREFIX_DECIMAL},
	{"G", 1000000000, PREFIX_DECIMAL},
	{"Ki", 1ULL << 10, PREFIX_BINARY},
	{"Mi", 1ULL << 20, PREFIX_BINARY},
	{"Gi", 1ULL << 30, PREFIX_BINARY},
};

enum use {
	IN_RATES = 1, /* with "/s" or "per 30s" behind */
	IN_BURSTS = 2,
	IS_RATE = 4, /* per second, says so itself */
};

/* What stands behind a number, after its prefix; "10/s" and "8000 per 30s" have nothing there. */
static const struct measure {
	const char *text;
	enum unit unit;
	uint64_t divisor; /* of these make one unit */
	unsigned int prefixes;
	unsigned int uses;
} measures[] = {
	{"pps", UNIT_PACKETS, 1, PREFIX_NONE | PREFIX_DECIMAL, IS_RATE},
	{"packets", UNIT_PACKETS, 1, PREFIX_NONE, IN_RATES | IN_BURSTS},
	{"packet", UNIT_PACKETS, 1, PREFIX_NONE, IN_RATES | IN_BURSTS},
	{"bit", UNIT_BYTES, 8, PREFIX_NONE | PREFIX_DECIMAL, IN_RATES},
	{"B", UNIT_BYTES, 1, PREFIX_NONE | PREFIX_DECIMAL | PREFIX_BINARY, IN_RATES | IN_BURSTS},
	{"", UNIT_PACKETS, 1, PREFIX_NONE, IN_RATES},
};

/* In descending order: printers take the first that divides. */
static const struct time_unit {
	const char *text;
	uint64_t ns;
} time_units[] = {
	{"d", NS_PER_DAY},    {"day", NS_PER_DAY},    {"h", NS_PER_HOUR},
	{"m", NS_PER_MINUTE}, {"min", NS_PER_MINUTE}, {"s", NS_PER_SECOND},
	{"ms", 1000000},      {"us", 1000},           {"ns", 1},
};

static const struct {
	const char *text;
	enum limit_kind kind;
} rate_words[] = {
	{"unlimited", LIMIT_UNLIMITED},
	{"block", LIMIT_BLOCK},
};

/* ---- scanning -------------------------------------------------------------------------------- */

/* The number that is @digits / @scale: decimals without rounding. */
struct decimal {
	uint64_t digits;
	uint64_t scale;
};

struct word {
	const char *start;
	size_t length;
};

/* A number with its measure: @units / @scale of @unit. */
struct quantity {
	const struct measure *measure;
	u128 units;
	uint64_t scale;
};

static void skip_blanks(const char **at)
{
	*at += strspn(*at, " \t");
}

static bool at_end(const char *at)
{
	skip_blanks(&at);
	return !*at;
}

static bool add_digit(uint64_t *digits, char digit)
{
	return !__builtin_mul_overflow(*digits, 10, digits) &&
	       !__builtin_add_overflow(*digits, (uint64_t)(digit - '0'), digits);
}

/* Zeros at the end of a fraction say nothing and must not use up the digits. */
static size_t fraction_length(const char *fraction)
{
	size_t length = strspn(fraction, "0123456789");

	while (length && fraction[length - 1] == '0')
		length--;
	return length;
}

/* -EINVAL: not a number here; -ERANGE: more digits than fit. */
static int scan_decimal(const char **at, struct decimal *number)
{
	*number = (struct decimal){.digits = 0, .scale = 1};
	skip_blanks(at);
	if (!isdigit((unsigned char)**at))
		return -EINVAL;
	for (; isdigit((unsigned char)**at); (*at)++)
		if (!add_digit(&number->digits, **at))
			return -ERANGE;
	if (**at != '.')
		return 0;
	(*at)++;
	if (!isdigit((unsigned char)**at))
		return -EINVAL;
	for (size_t i = 0, length = fraction_length(*at); i < length; i++) {
		/* a tenth of the range stays free: a measure may divide by 8 */
		if (!add_digit(&number->digits, (*at)[i]) || number->scale > UINT64_MAX / 100)
			return -ERANGE;
		number->scale *= 10;
	}
	*at += strspn(*at, "0123456789");
	return 0;
}

static struct word scan_word(const char **at)
{
	struct word word;

	skip_blanks(at);
	word.start = *at;
	while (isalpha((unsigned char)**at))
		(*at)++;
	word.length = (size_t)(*at - word.start);
	return word;
}

static bool word_is(struct word word, const char *text)
{
	return word.length == strlen(text) && !memcmp(word.start, text, word.length);
}

static bool word_ends(struct word *word, const char *tail)
{
	size_t length = strlen(tail);

	if (word->length < length || memcmp(word->start + word->length - length, tail, length) != 0)
		return false;
	word->length -= length;
	return true;
}

static const struct prefix *find_prefix(struct word word)
{
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (word_is(word, prefixes[i].text))
			return &prefixes[i];
	return NULL;
}

static const struct measure *find_measure(struct word word, uint64_t *times)
{
	for (size_t i = 0; i < ARRAY_SIZE(measures); i++) {
		const struct measure *measure = &measures[i];
		const struct prefix *prefix;
		struct word head = word;

		if (!word_ends(&head, measure->text))
			continue;
		prefix = find_prefix(head);
		if (prefix && prefix->kind & measure->prefixes) {
			*times = prefix->times;
			return measure;
		}
	}
	return NULL;
}

static const struct time_unit *find_time_unit(struct word word)
{
	for (size_t i = 0; i < ARRAY_SIZE(time_units); i++)
		if (word_is(word, time_units[i].text))
			return &time_units[i];
	return NULL;
}

static u128 common_divisor(u128 a, u128 b)
{
	while (b) {
		u128 rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static void make_quantity(const struct decimal *number, const struct measure *measure,
			  uint64_t times, struct quantity *quantity)
{
	u128 units = (u128)number->digits * times;
	uint64_t scale = number->scale * measure->divisor;
	uint64_t divisor = (uint64_t)common_divisor(units, scale);

	*quantity = (struct quantity){
		.measure = measure,
		.units = units / divisor,
		.scale = scale / divisor,
	};
}

/* -ERANGE: not a whole number of nanoseconds, or more than 64 bits of them. */
static int time_ns(const struct decimal *number, const struct time_unit *unit, uint64_t *ns)
{
	u128 total = (u128)number->digits * unit->ns;

	if (total % number->scale || total / number->scale > UINT64_MAX)
		return -ERANGE;
	*ns = (uint64_t)(total / number->scale);
	return 0;
}

/* A time, or a unit of time alone: "30s", "s". */
static int scan_period(const char **at, uint64_t *ns)
{
	struct decimal number = {.digits = 1, .scale = 1};
	const struct time_unit *unit;

	skip_blanks(at);
	if (!isalpha((unsigned char)**at)) {
		int err = scan_decimal(at, &number);

		if (err)
			return err;
	}
	unit = find_time_unit(scan_word(at));
	if (!unit)
		return -EINVAL;
	return time_ns(&number, unit, ns);
}

/* ---- rates ----------------------------------------------------------------------------------- */

static int not_a_rate(const char *text, enum unit unit, struct complaint *why)
{
	return complain(why, -EINVAL,
			"\"%.80s\" is not a rate of %s; write %s, or unlimited, or block", text,
			scopes[unit].counts, scopes[unit].rate_examples);
}

static int rate_out_of_range(const char *text, enum unit unit, struct complaint *why)
{
	return complain(why, -ERANGE, "\"%.80s\" is out of range; a rate of %s goes from %s", text,
			scopes[unit].counts, scopes[unit].rate_range);
}

static int rate_too_fine(const char *text, enum unit unit, struct complaint *why)
{
	return complain(why, -ERANGE,
			"\"%.80s\" has too many digits to be kept exactly; a rate of %s goes "
			"from %s",
			text, scopes[unit].counts, scopes[unit].rate_range);
}

static int wrong_unit(const char *text, enum unit found, enum unit unit, struct complaint *why)
{
	return complain(why, -EINVAL, "\"%.80s\" counts %s, but this limit counts %s; write %s",
			text, scopes[found].counts, scopes[unit].counts,
			scopes[unit].rate_examples);
}

static int bare_rate(const char *text, enum unit unit, struct complaint *why)
{
	if (unit == UNIT_PACKETS)
		return complain(why, -EINVAL, "\"%.80s\" has no unit; write \"%.80s pps\"", text,
				text);
	return complain(why, -EINVAL,
			"\"%.80s\" has no unit; write \"%.80s bit/s\" or \"%.80s B/s\" "
			"(k, M or G before the unit for more)",
			text, text, text);
}

/* bps, kbps, Mb/s: eight times too much or too little, depending on who reads it. */
static bool is_bits_or_bytes(struct word *word)
{
	return word_ends(word, "bps") || word_ends(word, "Bps") || word_ends(word, "b");
}

static int unknown_measure(const char *text, struct word word, enum unit unit,
			   struct complaint *why)
{
	const char *number = text + strspn(text, " \t");
	int digits = (int)strspn(number, "0123456789.");
	const struct prefix *prefix;

	if (!is_bits_or_bytes(&word))
		return not_a_rate(text, unit, why);
	if (unit == UNIT_PACKETS)
		return wrong_unit(text, UNIT_BYTES, unit, why);
	prefix = find_prefix(word);
	if (!prefix || prefix->kind == PREFIX_BINARY)
		return not_a_rate(text, unit, why);
	return complain(why, -EINVAL,
			"\"%.80s\" can be read as bits or as bytes; write \"%.*s %sbit/s\" or "
			"\"%.*s %sB/s\"",
			text, digits, number, prefix->text, digits, number, prefix->text);
}

static int missing_period(const char *text, const struct measure *measure, struct complaint *why)
{
	if (measure->unit == UNIT_PACKETS)
		return complain(why, -EINVAL,
				"\"%.80s\" is an amount, not a rate; write \"1000 pps\" or "
				"\"%.80s per 30s\"",
				text, text);
	return complain(why, -EINVAL, "\"%.80s\" is an amount, not a rate; write \"%.80s/s\"", text,
			text);
}

/* The number and what it counts; @at then stands before "/" or "per", or at the end. */
static int scan_amount(const char *text, const char **at, enum unit unit, struct quantity *quantity,
		       struct complaint *why)
{
	const struct measure *measure;
	struct decimal number;
	uint64_t times;
	struct word word;
	int err = scan_decimal(at, &number);

	if (err)
		return err == -ERANGE ? rate_too_fine(text, unit, why)
				      : not_a_rate(text, unit, why);
	if (!number.digits)
		return complain(why, -ERANGE,
				"\"%.80s\": a rate can't be 0; write block to drop everything, "
				"unlimited to drop nothing",
				text);
	word = scan_word(at);
	if (!word.length && **at != '/')
		return **at ? not_a_rate(text, unit, why) : bare_rate(text, unit, why);
	if (word_is(word, "per")) {
		*at = word.start;
		word.length = 0;
	}
	measure = find_measure(word, &times);
	if (!measure)
		return unknown_measure(text, word, unit, why);
	if (measure->unit != unit)
		return wrong_unit(text, measure->unit, unit, why);
	make_quantity(&number, measure, times, quantity);
	return 0;
}

static int scan_per(const char *text, const char **at, const struct measure *measure, uint64_t *ns,
		    struct complaint *why)
{
	int err;

	if (measure->uses & IS_RATE) {
		*ns = NS_PER_SECOND;
		return 0;
	}
	if (at_end(*at))
		return missing_period(text, measure, why);
	skip_blanks(at);
	if (**at == '/')
		(*at)++;
	else if (!word_is(scan_word(at), "per"))
		return not_a_rate(text, measure->unit, why);
	err = scan_period(at, ns);
	if (err == -ERANGE || (!err && !*ns))
		return rate_out_of_range(text, measure->unit, why);
	return err ? not_a_rate(text, measure->unit, why) : 0;
}

/* @quantity per @ns as whole units per whole nanoseconds, or a refusal. */
static int settle_rate(const char *text, const struct quantity *quantity, uint64_t ns,
		       struct rate *rate, struct complaint *why)
{
	enum unit unit = quantity->measure->unit;
	const struct scope *scope = &scopes[unit];
	u128 amount = quantity->units;
	u128 per = (u128)ns * quantity->scale;

	if (amount > UINT64_MAX || amount * scope->slowest_ns < per)
		return rate_out_of_range(text, unit, why);
	if (per > UINT64_MAX)
		return rate_too_fine(text, unit, why);
	if (amount * NS_PER_SECOND > scope->fastest * per)
		return rate_out_of_range(text, unit, why);
	*rate = (struct rate){
		.kind = LIMIT_METERED,
		.unit = unit,
		.amount = (uint64_t)amount,
		.per_ns = (uint64_t)per,
	};
	return 0;
}

static bool parse_rate_word(const char *text, enum unit unit, struct rate *rate)
{
	struct word word = scan_word(&text);

	for (size_t i = 0; at_end(text) && i < ARRAY_SIZE(rate_words); i++) {
		if (!word_is(word, rate_words[i].text))
			continue;
		*rate = (struct rate){.kind = rate_words[i].kind, .unit = unit};
		return true;
	}
	return false;
}

int parse_rate(const char *text, enum unit unit, struct rate *rate, struct complaint *why)
{
	const char *at = text;
	struct quantity quantity = {.measure = &measures[0]};
	uint64_t ns = 0;
	int err;

	if (parse_rate_word(text, unit, rate))
		return 0;
	err = scan_amount(text, &at, unit, &quantity, why);
	if (err)
		return err;
	err = scan_per(text, &at, quantity.measure, &ns, why);
	if (err)
		return err;
	if (!at_end(at))
		return not_a_rate(text, unit, why);
	return settle_rate(text, &quantity, ns, rate, why);
}

/* ---- bursts ---------------------------------------------------------------------------------- */

static int not_a_burst(const char *text, enum unit unit, struct complaint *why)
{
	return complain(why, -EINVAL, "\"%.80s\" is not a burst of %s; write %s", text,
			scopes[unit].counts, scopes[unit].burst_examples);
}

static int burst_out_of_range(const char *text, enum unit unit, struct complaint *why)
{
	return complain(why, -ERANGE, "\"%.80s\" is out of range; a burst of %s goes from %s", text,
			scopes[unit].counts, scopes[unit].burst_range);
}

static bool burst_fits(u128 units, enum unit unit)
{
	return units >= scopes[unit].burst_min && units <= scopes[unit].burst_max;
}

int check_burst(uint64_t units, enum unit unit, struct complaint *why)
{
	char text[UNITS_TEXT_SIZE];

	if (burst_fits(units, unit))
		return 0;
	format_burst(units, unit, text, sizeof(text));
	return burst_out_of_range(text, unit, why);
}

static int burst_of_amount(const char *text, const struct decimal *number, struct word word,
			   enum unit unit, u128 *units, struct complaint *why)
{
	const struct measure *measure;
	struct quantity quantity;
	uint64_t times;

	measure = find_measure(word, &times);
	if (!measure || !(measure->uses & IN_BURSTS))
		return not_a_burst(text, unit, why);
	if (measure->unit != unit)
		return complain(why, -EINVAL,
				"\"%.80s\" counts %s, but this limit counts %s; write %s", text,
				scopes[measure->unit].counts, scopes[unit].counts,
				scopes[unit].burst_examples);
	make_quantity(number, measure, times, &quantity);
	if (quantity.scale != 1)
		return complain(why, -ERANGE, "\"%.80s\" is not a whole number of %s", text,
				scopes[unit].counts);
	*units = quantity.units;
	return 0;
}

static int burst_of_time(const char *text, uint64_t ns, const struct rate *rate, u128 *units,
			 struct complaint *why)
{
	uint64_t min = scopes[rate->unit].burst_min;
	char least[UNITS_TEXT_SIZE], burst[UNITS_TEXT_SIZE];

	*units = (u128)rate->amount * ns / rate->per_ns;
	if (*units >= min)
		return 0;
	format_burst(min, rate->unit, burst, sizeof(burst));
	format_time((uint64_t)(((u128)min * rate->per_ns + rate->amount - 1) / rate->amount), least,
		    sizeof(least));
	return complain(why, -ERANGE,
			"\"%.80s\" of this rate is less than %s, the smallest burst; write "
			"at least %s",
			text, burst, least);
}

static int burst_of_number(const char *text, const struct decimal *number, enum unit unit,
			   u128 *units, struct complaint *why)
{
	if (unit == UNIT_BYTES)
		return complain(why, -EINVAL,
				"\"%.80s\" has no unit, but this limit counts bytes; write "
				"\"%.80s B\" or \"250ms\"",
				text, text);
	if (number->scale != 1)
		return complain(why, -ERANGE, "\"%.80s\" is not a whole number of packets", text);
	*units = number->digits;
	return 0;
}

static int scan_burst(const char *text, const char **at, const struct rate *rate, u128 *units,
		      struct complaint *why)
{
	const struct time_unit *time;
	struct decimal number;
	struct word word;
	uint64_t ns;
	int err = scan_decimal(at, &number);

	if (err == -ERANGE)
		return burst_out_of_range(text, rate->unit, why);
	if (err)
		return not_a_burst(text, rate->unit, why);
	word = scan_word(at);
	if (!at_end(*at))
		return not_a_burst(text, rate->unit, why);
	if (!word.length)
		return burst_of_number(text, &number, rate->unit, units, why);
	time = find_time_unit(word);
	if (!time)
		return burst_of_amount(text, &number, word, rate->unit, units, why);
	if (time_ns(&number, time, &ns))
		return burst_out_of_range(text, rate->unit, why);
	return burst_of_time(text, ns, rate, units, why);
}

int parse_burst(const char *text, const struct rate *rate, uint64_t *units, struct complaint *why)
{
	const char *at = text;
	u128 total = 0;
	int err;

	if (rate->kind != LIMIT_METERED) {
		char rate_text[UNITS_TEXT_SIZE];

		format_rate(rate, rate_text, sizeof(rate_text));
		return complain(why, -EINVAL,
				"\"%.80s\": a burst means nothing beside the rate %s; leave it out",
				text, rate_text);
	}
	err = scan_burst(text, &at, rate, &total, why);
	if (err)
		return err;
	if (!burst_fits(total, rate->unit))
		return burst_out_of_range(text, rate->unit, why);
	*units = (uint64_t)total;
	return 0;
}

uint64_t default_burst(const struct rate *rate)
{
	uint64_t window = rate->unit == UNIT_PACKETS ? NS_PER_SECOND : DEFAULT_BURST_NS;
	uint64_t least = rate->unit == UNIT_PACKETS ? 1 : DEFAULT_BURST_B;
	uint64_t units;

	if (rate->kind != LIMIT_METERED)
		return 0;
	units = (uint64_t)((u128)rate->amount * window / rate->per_ns);
	return units > least ? units : least;
}

/* ---- times and counts ------------------------------------------------------------------------ */

int parse_time(const char *text, uint64_t *ns, struct complaint *why)
{
	const struct time_unit *unit;
	struct decimal number;
	const char *at = text;
	int err = scan_decimal(&at, &number);

	if (!err && at_end(at))
		return complain(why, -EINVAL, "\"%.80s\" has no unit; write \"%.80ss\" for seconds",
				text, text);
	unit = err ? NULL : find_time_unit(scan_word(&at));
	if (err != -ERANGE && (!unit || !at_end(at)))
		return complain(why, -EINVAL,
				"\"%.80s\" is not a time; write a number with ns, us, ms, s, "
				"m (minutes), h or d, such as \"30s\"",
				text);
	if (err || time_ns(&number, unit, ns))
		return complain(why, -ERANGE,
				"\"%.80s\" is out of range; a time is a whole number of ns, "
				"at most 213503d",
				text);
	return 0;
}

int parse_count(const char *text, const char *noun, uint64_t min, uint64_t max, uint64_t *count,
		struct complaint *why)
{
	struct decimal number;
	const char *at = text;
	int err = scan_decimal(&at, &number);

	if (err != -ERANGE && (err || !at_end(at) || number.scale != 1))
		return complain(why, -EINVAL,
				"%s \"%.80s\" is not a whole number; write one from %" PRIu64
				" to %" PRIu64,
				noun, text, min, max);
	if (err || number.digits > max)
		return complain(why, -ERANGE, "%s %.80s is too large; the maximum is %" PRIu64,
				noun, text, max);
	if (number.digits < min)
		return complain(why, -ERANGE, "%s %.80s is too small; the minimum is %" PRIu64,
				noun, text, min);
	*count = number.digits;
	return 0;
}

/* ---- printers -------------------------------------------------------------------------------- */

static int digits_of(uint64_t number)
{
	return snprintf(NULL, 0, "%" PRIu64, number);
}

/* The prefix that leaves the fewest digits and no remainder; of equals the earlier one. */
static const struct prefix *best_prefix(uint64_t number, unsigned int kinds)
{
	const struct prefix *best = &prefixes[0];

	for (size_t i = 1; i < ARRAY_SIZE(prefixes); i++) {
		const struct prefix *prefix = &prefixes[i];

		if (!number || !(prefix->kind & kinds) || number % prefix->times)
			continue;
		if (digits_of(number / prefix->times) < digits_of(number / best->times))
			best = prefix;
	}
	return best;
}

static void format_amount(uint64_t number, const char *measure, unsigned int kinds, char *text,
			  size_t size)
{
	const struct prefix *prefix = best_prefix(number, kinds);

	snprintf(text, size, "%" PRIu64 " %s%s", number / prefix->times, prefix->text, measure);
}

/*
 * Whole bits per second, such as "100 bit/s", which is 25 bytes in 2 s: only when reading that
 * text gives the very same fraction again.
 */
static bool whole_bits(const struct rate *rate, uint64_t *bits)
{
	uint64_t seconds = rate->per_ns / NS_PER_SECOND;

	if (rate->per_ns % NS_PER_SECOND || !seconds || 8 % seconds)
		return false;
	if (seconds > 1 && rate->amount % 2 == 0)
		return false;
	return !__builtin_mul_overflow(rate->amount, 8 / seconds, bits);
}

static void format_byte_rate(const struct rate *rate, char *text, size_t size)
{
	const unsigned int all = PREFIX_NONE | PREFIX_DECIMAL | PREFIX_BINARY;
	uint64_t bits;
	int bit_digits, byte_digits;

	if (!whole_bits(rate, &bits)) {
		char per[UNITS_TEXT_SIZE];

		format_time(rate->per_ns, per, sizeof(per));
		snprintf(text, size, "%" PRIu64 " B per %s", rate->amount, per);
		return;
	}
	bit_digits = digits_of(bits / best_prefix(bits, PREFIX_DECIMAL)->times);
	byte_digits = digits_of(rate->amount / best_prefix(rate->amount, all)->times);
	if (rate->per_ns == NS_PER_SECOND && byte_digits < bit_digits)
		format_amount(rate->amount, "B/s", all, text, size);
	else
		format_amount(bits, "bit/s", PREFIX_DECIMAL, text, size);
}

static void format_packet_rate(const struct rate *rate, char *text, size_t size)
{
	static const struct time_unit spellings[] = {
		{" pps", NS_PER_SECOND},
		{"/min", NS_PER_MINUTE},
		{"/h", NS_PER_HOUR},
		{"/day", NS_PER_DAY},
	};
	char per[UNITS_TEXT_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(spellings); i++) {
		if (rate->per_ns != spellings[i].ns)
			continue;
		snprintf(text, size, "%" PRIu64 "%s", rate->amount, spellings[i].text);
		return;
	}
	format_time(rate->per_ns, per, sizeof(per));
	snprintf(text, size, "%" PRIu64 " per %s", rate->amount, per);
}

void format_rate(const struct rate *rate, char *text, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(rate_words); i++) {
		if (rate->kind != rate_words[i].kind)
			continue;
		snprintf(text, size, "%s", rate_words[i].text);
		return;
	}
	if (rate->unit == UNIT_PACKETS)
		format_packet_rate(rate, text, size);
	else
		format_byte_rate(rate, text, size);
}

void format_burst(uint64_t units, enum unit unit, char *text, size_t size)
{
	if (unit == UNIT_PACKETS)
		snprintf(text, size, "%" PRIu64 " packet%s", units, units == 1 ? "" : "s");
	else
		format_amount(units, "B", PREFIX_DECIMAL | PREFIX_BINARY, text, size);
}

void format_time(uint64_t ns, char *text, size_t size)
{
	size_t i = 0;

	while (ns % time_units[i].ns)
		i++;
	if (ns)
		snprintf(text, size, "%" PRIu64 "%s", ns / time_units[i].ns, time_units[i].text);
	else
		snprintf(text, size, "0s");
}

void format_bytes(uint64_t bytes, char *text, size_t size)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	u128 divisor = 1024;
	uint64_t tenths;
	size_t i = 0;

	if (bytes < 1024) {
		snprintf(text, size, "%" PRIu64 " B", bytes);
		return;
	}
	/* up to 1023.4: what rounds to 1024 is one of the next */
	while (i + 1 < ARRAY_SIZE(units) && (u128)bytes * 2 >= divisor * 2047) {
		divisor *= 1024;
		i++;
	}
	tenths = (uint64_t)(((u128)bytes * 10 + divisor / 2) / divisor);
	if (tenths < 100 && tenths % 10)
		snprintf(text, size, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10,
			 units[i]);
	else
		snprintf(text, size, "%" PRIu64 " %s", (uint64_t)((bytes + divisor / 2) / divisor),
			 units[i]);
}
