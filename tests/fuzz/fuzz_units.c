// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rates, bursts, times and counts: a refusal writes nothing but its sentence, and what was read prints
 * to itself. A line break parts the burst from its rate; without one the text is both.
 */
#include <stdbool.h>
#include <string.h>
#include "fuzz.h"
#include "units.h"

#define UNTOUCHED 0xa5a5a5a5a5a5a5a5ULL

static bool same_rate(const struct rate *left, const struct rate *right)
{
	return left->kind == right->kind && left->unit == right->unit &&
	       left->amount == right->amount && left->per_ns == right->per_ns;
}

static void must_print_rate(const struct rate *rate)
{
	char text[UNITS_TEXT_SIZE];
	struct complaint why;
	struct rate again;

	format_rate(rate, text, sizeof(text));
	must(!parse_rate(text, rate->unit, &again, &why), "%s", why.text);
	must(same_rate(rate, &again), "%s: %llu per %llu ns became %llu per %llu ns", text,
	     (unsigned long long)rate->amount, (unsigned long long)rate->per_ns,
	     (unsigned long long)again.amount, (unsigned long long)again.per_ns);
}

static void must_print_burst(uint64_t burst, const struct rate *rate)
{
	char text[UNITS_TEXT_SIZE];
	struct complaint why;
	uint64_t again;

	must(!check_burst(burst, rate->unit, &why), "%s", why.text);
	format_burst(burst, rate->unit, text, sizeof(text));
	must(!parse_burst(text, rate, &again, &why), "%s", why.text);
	must(burst == again, "%s", text);
	describe_burst(burst, rate, text, sizeof(text));
	must_be_sentence(text);
}

static void try_burst(const char *text, const struct rate *rate)
{
	uint64_t burst = UNTOUCHED;
	struct complaint why = {""};
	int err = parse_burst(text, rate, &burst, &why);

	if (!err) {
		must_print_burst(burst, rate);
		return;
	}
	must_be_refusal(err, &why);
	must(burst == UNTOUCHED, "written in spite of: %s", why.text);
}

static void try_rate(const char *text, const char *burst, enum unit unit)
{
	struct rate rate = {.amount = UNTOUCHED, .per_ns = UNTOUCHED};
	struct complaint why = {""};
	int err = parse_rate(text, unit, &rate, &why);

	if (err) {
		must_be_refusal(err, &why);
		must(rate.amount == UNTOUCHED && rate.per_ns == UNTOUCHED,
		     "written in spite of: %s", why.text);
		return;
	}
	must_print_rate(&rate);
	if (rate.kind == LIMIT_METERED) {
		must(rate_unit(text) == unit, "%s", text);
		must_print_burst(default_burst(&rate), &rate);
	}
	try_burst(burst, &rate);
}

/* Bursts are read beside the slowest, the fastest and the finest rates too. */
static void try_bursts(const char *text)
{
	static const struct rate rates[] = {
		{LIMIT_METERED, UNIT_PACKETS, 1, 86400 * NS_PER_SECOND},
		{LIMIT_METERED, UNIT_PACKETS, 1000000000, NS_PER_SECOND},
		{LIMIT_METERED, UNIT_BYTES, 1, NS_PER_SECOND},
		{LIMIT_METERED, UNIT_BYTES, 125000000000, NS_PER_SECOND},
		{LIMIT_METERED, UNIT_PACKETS, 999999999999999999, UINT64_MAX},
		{LIMIT_BLOCK, UNIT_PACKETS, 0, 0},
	};

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		try_burst(text, &rates[i]);
}

static void try_time(const char *text)
{
	uint64_t ns = UNTOUCHED, again;
	struct complaint why = {""};
	char printed[UNITS_TEXT_SIZE];
	int err = parse_time(text, &ns, &why);

	if (err) {
		must_be_refusal(err, &why);
		must(ns == UNTOUCHED, "written in spite of: %s", why.text);
		return;
	}
	format_time(ns, printed, sizeof(printed));
	must(!parse_time(printed, &again, &why) && again == ns, "%s", printed);
}

static void try_count(const char *text)
{
	const uint64_t min = 1024, max = 1ULL << 28;
	struct complaint why = {""};
	uint64_t count = UNTOUCHED;
	int err = parse_count(text, "--sources", min, max, &count, &why);

	if (!err) {
		must(count >= min && count <= max, "%llu", (unsigned long long)count);
		return;
	}
	must_be_refusal(err, &why);
	must(count == UNTOUCHED, "written in spite of: %s", why.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size), *burst = strchr(text, '\n');

	if (burst)
		*burst++ = '\0';
	try_rate(text, burst ?: text, UNIT_PACKETS);
	try_rate(text, burst ?: text, UNIT_BYTES);
	try_bursts(burst ?: text);
	try_time(text);
	try_count(text);
	free(text);
	return 0;
}
