// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads a burst, or says what is wrong with it; the burst of a limit that names none. */
#include <errno.h>
#include "units_scan.h"

#define DEFAULT_BURST_NS (NS_PER_SECOND / 4) /* of bytes */
#define DEFAULT_BURST_B	 65536ULL

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
