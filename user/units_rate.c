// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads a rate, or says what is wrong with it. */
#include <errno.h>
#include <string.h>
#include "units_scan.h"

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

	for (size_t i = 0; at_end(text) && rate_words[i].text; i++) {
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

enum unit rate_unit(const char *text)
{
	const struct measure *measure;
	struct decimal number;
	struct word word;
	uint64_t times;

	if (scan_decimal(&text, &number) == -EINVAL)
		return UNIT_PACKETS;
	word = scan_word(&text);
	measure = find_measure(word, &times);
	if (measure)
		return measure->unit;
	return is_bits_or_bytes(&word) ? UNIT_BYTES : UNIT_PACKETS;
}
