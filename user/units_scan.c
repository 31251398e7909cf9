// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads numbers, words and what they are worth from the left of a text. */
#include "units_scan.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

void skip_blanks(const char **at)
{
	*at += strspn(*at, " \t");
}

bool at_end(const char *at)
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

int scan_decimal(const char **at, struct decimal *number)
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

struct word scan_word(const char **at)
{
	struct word word;

	skip_blanks(at);
	word.start = *at;
	while (isalpha((unsigned char)**at))
		(*at)++;
	word.length = (size_t)(*at - word.start);
	return word;
}

bool word_is(struct word word, const char *text)
{
	return word.length == strlen(text) && !memcmp(word.start, text, word.length);
}

bool word_ends(struct word *word, const char *tail)
{
	size_t length = strlen(tail);

	if (word->length < length || memcmp(word->start + word->length - length, tail, length) != 0)
		return false;
	word->length -= length;
	return true;
}

const struct prefix *find_prefix(struct word word)
{
	for (size_t i = 0; prefixes[i].text; i++)
		if (word_is(word, prefixes[i].text))
			return &prefixes[i];
	return NULL;
}

const struct measure *find_measure(struct word word, uint64_t *times)
{
	for (size_t i = 0; measures[i].text; i++) {
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

const struct time_unit *find_time_unit(struct word word)
{
	for (size_t i = 0; time_units[i].text; i++)
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

void make_quantity(const struct decimal *number, const struct measure *measure, uint64_t times,
		   struct quantity *quantity)
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

int time_ns(const struct decimal *number, const struct time_unit *unit, uint64_t *ns)
{
	u128 total = (u128)number->digits * unit->ns;

	if (total % number->scale || total / number->scale > UINT64_MAX)
		return -ERANGE;
	*ns = (uint64_t)(total / number->scale);
	return 0;
}

int scan_period(const char **at, uint64_t *ns)
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
