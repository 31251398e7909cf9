// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Prints rates, bursts and times: text that reads back to the same value. */
#include <inttypes.h>
#include <stdio.h>
#include "units_scan.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static int digits_of(uint64_t number)
{
	return snprintf(NULL, 0, "%" PRIu64, number);
}

/* The prefix that leaves the fewest digits and no remainder; of equals the earlier one. */
static const struct prefix *best_prefix(uint64_t number, unsigned int kinds)
{
	const struct prefix *best = &prefixes[0];

	for (size_t i = 1; prefixes[i].text; i++) {
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
	for (size_t i = 0; rate_words[i].text; i++) {
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

void describe_burst(uint64_t units, const struct rate *rate, char *text, size_t size)
{
	const u128 ns_per_ms = NS_PER_SECOND / 1000;
	char burst[UNITS_TEXT_SIZE];
	u128 ms;

	format_burst(units, rate->unit, burst, sizeof(burst));
	if (rate->unit == UNIT_PACKETS || !rate->amount) {
		snprintf(text, size, "%s", burst);
		return;
	}
	ms = (u128)units * rate->per_ns / rate->amount / ns_per_ms;
	snprintf(text, size, "%s (%" PRIu64 " ms)", burst, (uint64_t)ms);
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
