// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rates, bursts, times and counts as operators write them: each row is one sentence of the grammar.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "units.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MINUTE	     (60 * NS_PER_SECOND)
#define HOUR	     (60 * MINUTE)
#define DAY	     (24 * HOUR)
#define ROUNDS	     200000

__extension__ typedef unsigned __int128 u128;

/* ---- accepted rates -------------------------------------------------------------------------- */

struct rate_case {
	const char *name;
	const char *text;
	enum unit unit;
	uint64_t amount;
	uint64_t per_ns;
	const char *printed;
};

static const struct rate_case rate_cases[] = {
	{"packets per second", "1000 pps", UNIT_PACKETS, 1000, NS_PER_SECOND, "1000 pps"},
	{"the blank is optional", "1000pps", UNIT_PACKETS, 1000, NS_PER_SECOND, "1000 pps"},
	{"blanks around", "\t 1000  pps ", UNIT_PACKETS, 1000, NS_PER_SECOND, "1000 pps"},
	{"k on pps", "10kpps", UNIT_PACKETS, 10000, NS_PER_SECOND, "10000 pps"},
	{"M on pps", "1.5 Mpps", UNIT_PACKETS, 1500000, NS_PER_SECOND, "1500000 pps"},
	{"G on pps, the highest rate", "1 Gpps", UNIT_PACKETS, 1000000000, NS_PER_SECOND,
	 "1000000000 pps"},
	{"N/s", "10/s", UNIT_PACKETS, 10, NS_PER_SECOND, "10 pps"},
	{"N/min", "5/min", UNIT_PACKETS, 5, MINUTE, "5/min"},
	{"N/m", "5/m", UNIT_PACKETS, 5, MINUTE, "5/min"},
	{"N/h", "100 / h", UNIT_PACKETS, 100, HOUR, "100/h"},
	{"N/day, the lowest rate", "1/day", UNIT_PACKETS, 1, DAY, "1/day"},
	{"N/d", "7/d", UNIT_PACKETS, 7, DAY, "7/day"},
	{"N packets per T", "20 packets per 5m", UNIT_PACKETS, 20, 5 * MINUTE, "20 per 5m"},
	{"N per a unit of time", "20 per h", UNIT_PACKETS, 20, HOUR, "20/h"},
	{"O-028: N per T", "8000 per 30s", UNIT_PACKETS, 8000, 30 * NS_PER_SECOND, "8000 per 30s"},
	{"O-028: N per T with blanks", "8000 per 30 s", UNIT_PACKETS, 8000, 30 * NS_PER_SECOND,
	 "8000 per 30s"},
	{"O-028: N per T without blanks", "8000per30s", UNIT_PACKETS, 8000, 30 * NS_PER_SECOND,
	 "8000 per 30s"},
	{"half a packet per second", "0.5 pps", UNIT_PACKETS, 1, 2 * NS_PER_SECOND, "1 per 2s"},
	{"decimals stay exact", "0.001 pps", UNIT_PACKETS, 1, 1000 * NS_PER_SECOND, "1 per 1000s"},
	{"zeros behind the point", "1000.000000000000000000000000 pps", UNIT_PACKETS, 1000,
	 NS_PER_SECOND, "1000 pps"},
	{"zeros in front", "0001000 pps", UNIT_PACKETS, 1000, NS_PER_SECOND, "1000 pps"},
	{"decimal time", "1 per 1.5s", UNIT_PACKETS, 1, 1500000000, "1 per 1500ms"},
	{"64 bits of both", "18446744073709551615 per 18446744073709551615ns", UNIT_PACKETS,
	 UINT64_MAX, UINT64_MAX, "18446744073709551615 per 18446744073709551615ns"},
	{"bits", "10 Mbit/s", UNIT_BYTES, 1250000, NS_PER_SECOND, "10 Mbit/s"},
	{"bits without blank", "10Mbit/s", UNIT_BYTES, 1250000, NS_PER_SECOND, "10 Mbit/s"},
	{"decimals of bits", "1.5 Mbit/s", UNIT_BYTES, 187500, NS_PER_SECOND, "1500 kbit/s"},
	{"bytes", "1000 B/s", UNIT_BYTES, 1000, NS_PER_SECOND, "8 kbit/s"},
	{"kilobytes", "25 kB/s", UNIT_BYTES, 25000, NS_PER_SECOND, "25 kB/s"},
	{"megabytes", "1.5 MB/s", UNIT_BYTES, 1500000, NS_PER_SECOND, "12 Mbit/s"},
	{"gigabytes", "1 GB/s", UNIT_BYTES, 1000000000, NS_PER_SECOND, "8 Gbit/s"},
	{"Ki is 1024", "64 KiB/s", UNIT_BYTES, 65536, NS_PER_SECOND, "64 KiB/s"},
	{"Mi is 1024^2", "1 MiB/s", UNIT_BYTES, 1 << 20, NS_PER_SECOND, "1 MiB/s"},
	{"Gi is 1024^3", "1 GiB/s", UNIT_BYTES, 1 << 30, NS_PER_SECOND, "1 GiB/s"},
	{"bytes per hour", "10 MB/h", UNIT_BYTES, 10000000, HOUR, "10000000 B per 1h"},
	{"less than whole bytes", "100 bit/s", UNIT_BYTES, 25, 2 * NS_PER_SECOND, "100 bit/s"},
	{"an odd number of bits", "9 bit/s", UNIT_BYTES, 9, 8 * NS_PER_SECOND, "9 bit/s"},
	{"the lowest bandwidth", "8 bit/s", UNIT_BYTES, 1, NS_PER_SECOND, "8 bit/s"},
	{"the highest bandwidth", "1000 Gbit/s", UNIT_BYTES, 125000000000, NS_PER_SECOND,
	 "125 GB/s"},
	{"O-095: 8 kbit/s is 1000 B/s exactly", "8 kbit/s", UNIT_BYTES, 1000, NS_PER_SECOND,
	 "8 kbit/s"},
	{"O-044: 200 Gbit/s", "200 Gbit/s", UNIT_BYTES, 25000000000, NS_PER_SECOND, "25 GB/s"},
	{"400 Gbit/s", "400 Gbit/s", UNIT_BYTES, 50000000000, NS_PER_SECOND, "50 GB/s"},
};

static void accepts_rate(void **state)
{
	const struct rate_case *c = *state;
	char printed[UNITS_TEXT_SIZE];
	struct complaint why = {"not refused"};
	struct rate rate;

	if (parse_rate(c->text, c->unit, &rate, &why))
		fail_msg("%s", why.text);
	assert_int_equal(rate.kind, LIMIT_METERED);
	assert_int_equal(rate.unit, c->unit);
	assert_int_equal(rate.amount, c->amount);
	assert_int_equal(rate.per_ns, c->per_ns);
	format_rate(&rate, printed, sizeof(printed));
	assert_string_equal(printed, c->printed);
}

/* ---- refused rates --------------------------------------------------------------------------- */

/* What is refused: with which error, and with which words in the sentence beside the text itself.
 */
struct refusal {
	const char *name;
	const char *text;
	enum unit unit;
	int err;
	const char *says;
};

static const struct refusal rate_refusals[] = {
	{"O-095: bps", "1000 bps", UNIT_BYTES, -EINVAL, "write \"1000 bit/s\" or \"1000 B/s\""},
	{"O-095: kbps", "64kbps", UNIT_BYTES, -EINVAL, "write \"64 kbit/s\" or \"64 kB/s\""},
	{"O-095: kbps behind blanks", "  64 kbps", UNIT_BYTES, -EINVAL, "write \"64 kbit/s\""},
	{"O-095: Mbps", "1.5 Mbps", UNIT_BYTES, -EINVAL, "write \"1.5 Mbit/s\" or \"1.5 MB/s\""},
	{"O-095: MBps", "10 MBps", UNIT_BYTES, -EINVAL, "\"10 Mbit/s\" or \"10 MB/s\""},
	{"O-095: Mb/s", "10 Mb/s", UNIT_BYTES, -EINVAL, "\"10 Mbit/s\" or \"10 MB/s\""},
	{"O-095: mbps", "10 mbps", UNIT_BYTES, -EINVAL, "\"10 Mbit/s\""},
	{"O-095: bandwidth without /s", "10 Mbit", UNIT_BYTES, -EINVAL, "write \"10 Mbit/s\""},
	{"O-095: bytes without /s", "64 KiB", UNIT_BYTES, -EINVAL, "write \"64 KiB/s\""},
	{"O-095: a bare number of bytes", "1000", UNIT_BYTES, -EINVAL,
	 "write \"1000 bit/s\" or \"1000 B/s\""},
	{"a bare number of packets", "1000", UNIT_PACKETS, -EINVAL, "write \"1000 pps\""},
	{"packets without a time", "1000 packets", UNIT_PACKETS, -EINVAL,
	 "\"1000 packets per 30s\""},
	{"Kibit", "10 Kibit/s", UNIT_BYTES, -EINVAL, "\"10 Mbit/s\""},
	{"KB: neither 1000 nor 1024", "10 KB/s", UNIT_BYTES, -EINVAL, "\"64 KiB/s\""},
	{"Kipps", "10 Kipps", UNIT_PACKETS, -EINVAL, "\"1000 pps\""},
	{"a prefix alone", "10k/s", UNIT_PACKETS, -EINVAL, "\"1000 pps\""},
	{"O-101: 0 pps", "0 pps", UNIT_PACKETS, -ERANGE,
	 "write block to drop everything, unlimited"},
	{"O-101: 0", "0", UNIT_PACKETS, -ERANGE, "block"},
	{"O-101: 0.000", "0.000/s", UNIT_PACKETS, -ERANGE, "block"},
	{"O-100: 0 bit/s", "0 bit/s", UNIT_BYTES, -ERANGE, "block"},
	{"O-100: N per 0s", "10 per 0s", UNIT_PACKETS, -ERANGE, "1/day to 1000000000 pps"},
	{"bytes on a packet limit", "10 Mbit/s", UNIT_PACKETS, -EINVAL,
	 "this limit counts packets"},
	{"Mbps on a packet limit", "10 Mbps", UNIT_PACKETS, -EINVAL, "this limit counts packets"},
	{"packets on a byte limit", "1000 pps", UNIT_BYTES, -EINVAL, "this limit counts bytes"},
	{"N/s on a byte limit", "1000/s", UNIT_BYTES, -EINVAL, "this limit counts bytes"},
	{"negative", "-5 pps", UNIT_PACKETS, -EINVAL, "\"1000 pps\""},
	{"a sign", "+5 pps", UNIT_PACKETS, -EINVAL, "\"1000 pps\""},
	{"trailing junk", "1000 pps x", UNIT_PACKETS, -EINVAL, "\"1000 pps\""},
	{"trailing number", "5/min 3", UNIT_PACKETS, -EINVAL, "\"5/min\""},
	{"pps and /s", "1000 pps/s", UNIT_PACKETS, -EINVAL, "\"1000 pps\""},
	{"no time behind /", "1000/", UNIT_PACKETS, -EINVAL, "\"10/s\""},
	{"no time behind per", "1000 per", UNIT_PACKETS, -EINVAL, "\"8000 per 30s\""},
	{"unknown time", "1000 per fortnight", UNIT_PACKETS, -EINVAL, "\"8000 per 30s\""},
	{"empty", "", UNIT_PACKETS, -EINVAL, "unlimited"},
	{"blank", "  ", UNIT_BYTES, -EINVAL, "unlimited"},
	{"a point without digits", "5. pps", UNIT_PACKETS, -EINVAL, "\"1000 pps\""},
	{"a point first", ".5 pps", UNIT_PACKETS, -EINVAL, "\"1000 pps\""},
	{"decimal comma", "1,5 Mbit/s", UNIT_BYTES, -EINVAL, "\"1.5 MB/s\""},
	{"exponent", "1e6 pps", UNIT_PACKETS, -EINVAL, "\"1000 pps\""},
	{"hexadecimal", "0x10 pps", UNIT_PACKETS, -ERANGE, "block"},
	{"a word that is none", "none", UNIT_PACKETS, -EINVAL, "unlimited, or block"},
	{"a word and more", "block 5", UNIT_PACKETS, -EINVAL, "unlimited, or block"},
	{"capital word", "Unlimited", UNIT_PACKETS, -EINVAL, "unlimited, or block"},
	{"too slow", "0.9/day", UNIT_PACKETS, -ERANGE, "1/day to 1000000000 pps"},
	{"too slow by a longer time", "1 per 86400001ms", UNIT_PACKETS, -ERANGE, "1/day"},
	{"too fast", "1000000001 pps", UNIT_PACKETS, -ERANGE, "1/day to 1000000000 pps"},
	{"too fast by a shorter time", "2 per 1ns", UNIT_PACKETS, -ERANGE, "1000000000 pps"},
	{"bandwidth too low", "7 bit/s", UNIT_BYTES, -ERANGE, "1 B/s to 1000 Gbit/s"},
	{"bandwidth too high", "1000.1 Gbit/s", UNIT_BYTES, -ERANGE, "1 B/s to 1000 Gbit/s"},
	{"O-044: 2^63-1 B/s", "9223372036854775807 B/s", UNIT_BYTES, -ERANGE, "1000 Gbit/s"},
	{"O-044: 2^63-1 pps", "9223372036854775807 pps", UNIT_PACKETS, -ERANGE, "1000000000 pps"},
	{"O-044: 2^64-1 GiB/s", "18446744073709551615 GiB/s", UNIT_BYTES, -ERANGE, "1000 Gbit/s"},
	{"O-044: 2^64 pps", "18446744073709551616 pps", UNIT_PACKETS, -ERANGE, "1000000000 pps"},
	{"too many decimals", "1.00000000000000000001 pps", UNIT_PACKETS, -ERANGE,
	 "too many digits"},
	{"a decimal beyond 64 bits", "18446744073709551615.5 pps", UNIT_PACKETS, -ERANGE,
	 "too many digits"},
	{"too many zeros before a digit", "1 per 0.00000000000000000000001s", UNIT_PACKETS, -ERANGE,
	 "1/day"},
	{"too small a decimal", "0.00000000000000000000001 pps", UNIT_PACKETS, -ERANGE,
	 "too many digits"},
	{"decimals too fine for the time", "1.0000000000001/day", UNIT_PACKETS, -ERANGE,
	 "too many digits"},
	{"time too long", "1000 per 300000d", UNIT_PACKETS, -ERANGE, "1/day"},
};

static void refuses_rate(void **state)
{
	const struct refusal *c = *state;
	struct rate rate, untouched;
	struct complaint why = {""};

	memset(&rate, 0x5a, sizeof(rate));
	untouched = rate;
	assert_int_equal(parse_rate(c->text, c->unit, &rate, &why), c->err);
	assert_memory_equal(&rate, &untouched, sizeof(rate));
	if (!strstr(why.text, c->text) || !strstr(why.text, c->says))
		fail_msg("%s: the refusal is: %s", c->text, why.text);
}

static void accepts_words(void **state)
{
	static const struct {
		const char *text;
		enum limit_kind kind;
	} words[] = {{"unlimited", LIMIT_UNLIMITED}, {"block", LIMIT_BLOCK}};
	char printed[UNITS_TEXT_SIZE];
	struct complaint why;
	struct rate rate;

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++) {
		assert_int_equal(parse_rate(words[i].text, UNIT_BYTES, &rate, &why), 0);
		assert_int_equal(rate.kind, words[i].kind);
		assert_int_equal(rate.unit, UNIT_BYTES);
		assert_int_equal(rate.amount, 0);
		assert_int_equal(rate.per_ns, 0);
		assert_int_equal(default_burst(&rate), 0);
		format_rate(&rate, printed, sizeof(printed));
		assert_string_equal(printed, words[i].text);
		assert_int_equal(parse_burst("1000", &rate, &(uint64_t){0}, &why), -EINVAL);
		assert_non_null(strstr(why.text, words[i].text));
	}
}

/* ---- bursts ---------------------------------------------------------------------------------- */

struct burst_case {
	const char *name;
	const char *text;
	const char *rate;
	enum unit unit;
	uint64_t burst;
	const char *printed;
};

static const struct burst_case burst_cases[] = {
	{"packets", "2000 packets", "1000 pps", UNIT_PACKETS, 2000, "2000 packets"},
	{"one packet", "1 packet", "1000 pps", UNIT_PACKETS, 1, "1 packet"},
	{"a bare number is packets", "2000", "1000 pps", UNIT_PACKETS, 2000, "2000 packets"},
	{"the largest", "2147483648", "1000 pps", UNIT_PACKETS, 1ULL << 31, "2147483648 packets"},
	{"a time of the rate", "250ms", "1000 pps", UNIT_PACKETS, 250, "250 packets"},
	{"a time is rounded down", "250ms", "10 pps", UNIT_PACKETS, 2, "2 packets"},
	{"a time of a slow rate", "2 d", "10/day", UNIT_PACKETS, 20, "20 packets"},
	{"m is minutes", "2m", "10 pps", UNIT_PACKETS, 1200, "1200 packets"},
	{"a time of just one packet", "100ms", "10 pps", UNIT_PACKETS, 1, "1 packet"},
	{"a time of just one frame", "60ms", "1000 B/s", UNIT_BYTES, 60, "60 B"},
	{"kB where KiB is as short", "256 kB", "1 MB/s", UNIT_BYTES, 256000, "256 kB"},
	{"KiB", "256 KiB", "1 MB/s", UNIT_BYTES, 262144, "256 KiB"},
	{"kB", "64kB", "1 MB/s", UNIT_BYTES, 64000, "64 kB"},
	{"bytes", "1500 B", "1 MB/s", UNIT_BYTES, 1500, "1500 B"},
	{"decimals of bytes", "1.5 kB", "1 MB/s", UNIT_BYTES, 1500, "1500 B"},
	{"the smallest frame", "60 B", "1 MB/s", UNIT_BYTES, 60, "60 B"},
	{"the most bytes", "1024 GiB", "1 MB/s", UNIT_BYTES, 1ULL << 40, "1024 GiB"},
	{"a time of a bandwidth", "250 ms", "10 Mbit/s", UNIT_BYTES, 312500, "312500 B"},
	{"a time with decimals", "0.5s", "10 Mbit/s", UNIT_BYTES, 625000, "625 kB"},
};

static void accepts_burst(void **state)
{
	const struct burst_case *c = *state;
	char printed[UNITS_TEXT_SIZE];
	struct complaint why;
	struct rate rate;
	uint64_t burst;

	assert_int_equal(parse_rate(c->rate, c->unit, &rate, &why), 0);
	if (parse_burst(c->text, &rate, &burst, &why))
		fail_msg("%s", why.text);
	assert_int_equal(burst, c->burst);
	format_burst(burst, c->unit, printed, sizeof(printed));
	assert_string_equal(printed, c->printed);
}

/* Beside 10 pps and 1000 B/s. */
static const struct refusal burst_refusals[] = {
	{"a bare number of bytes", "2000", UNIT_BYTES, -EINVAL, "write \"2000 B\" or \"250ms\""},
	{"bytes on a packet limit", "256 KiB", UNIT_PACKETS, -EINVAL, "this limit counts packets"},
	{"packets on a byte limit", "20 packets", UNIT_BYTES, -EINVAL, "this limit counts bytes"},
	{"a rate is no burst", "2000 pps", UNIT_PACKETS, -EINVAL, "\"2000 packets\""},
	{"bits are no burst", "64 kbit", UNIT_BYTES, -EINVAL, "\"64 kB\""},
	{"a prefix alone", "10M", UNIT_PACKETS, -EINVAL, "\"2000 packets\""},
	{"O-100: 0 packets", "0", UNIT_PACKETS, -ERANGE, "1 packet to 2147483648 packets"},
	{"O-100: 0 B", "0 B", UNIT_BYTES, -ERANGE, "60 B (the smallest frame) to 1024 GiB"},
	{"O-100: 0s", "0s", UNIT_PACKETS, -ERANGE, "at least 100ms"},
	{"O-046: less than a frame", "59 B", UNIT_BYTES, -ERANGE, "60 B"},
	{"O-046: less than a frame as a time", "59ms", UNIT_BYTES, -ERANGE, "at least 60ms"},
	{"less than a packet as a time", "99ms", UNIT_PACKETS, -ERANGE, "at least 100ms"},
	{"half a packet", "1.5", UNIT_PACKETS, -ERANGE, "whole number of packets"},
	{"half a byte", "100.5 B", UNIT_BYTES, -ERANGE, "whole number of bytes"},
	{"too many packets", "2147483649", UNIT_PACKETS, -ERANGE, "2147483648"},
	{"too many bytes", "1025 GiB", UNIT_BYTES, -ERANGE, "1024 GiB"},
	{"too long a time", "9999d", UNIT_PACKETS, -ERANGE, "2147483648"},
	{"a time beyond 64 bits", "300000d", UNIT_PACKETS, -ERANGE, "2147483648"},
	{"a number beyond 64 bits", "99999999999999999999", UNIT_PACKETS, -ERANGE, "2147483648"},
	{"negative", "-1", UNIT_PACKETS, -EINVAL, "\"2000 packets\""},
	{"trailing junk", "2000 packets!", UNIT_PACKETS, -EINVAL, "\"2000 packets\""},
	{"empty", "", UNIT_BYTES, -EINVAL, "\"256 KiB\""},
};

static void refuses_burst(void **state)
{
	const struct refusal *c = *state;
	struct rate rate = {.unit = c->unit, .per_ns = NS_PER_SECOND};
	struct complaint why = {""};
	uint64_t burst = 77;

	rate.amount = c->unit == UNIT_PACKETS ? 10 : 1000;
	assert_int_equal(parse_burst(c->text, &rate, &burst, &why), c->err);
	assert_int_equal(burst, 77);
	if (!strstr(why.text, c->text) || !strstr(why.text, c->says))
		fail_msg("%s: the refusal is: %s", c->text, why.text);
}

static const struct burst_case default_cases[] = {
	{"default burst: one second of packets", NULL, "1000 pps", UNIT_PACKETS, 1000, NULL},
	{"default burst: at least one packet", NULL, "1/day", UNIT_PACKETS, 1, NULL},
	{"default burst: rounded down", NULL, "8000 per 30s", UNIT_PACKETS, 266, NULL},
	{"default burst: the highest rate", NULL, "1 Gpps", UNIT_PACKETS, 1000000000, NULL},
	{"default burst: 250 ms of bytes", NULL, "100 Mbit/s", UNIT_BYTES, 3125000, NULL},
	{"default burst: the highest bandwidth", NULL, "1000 Gbit/s", UNIT_BYTES, 31250000000,
	 NULL},
	{"O-046: the default byte burst holds a frame", NULL, "1000 B/s", UNIT_BYTES, 65536, NULL},
	{"O-049: 500 kbit/s", NULL, "500 kbit/s", UNIT_BYTES, 65536, NULL},
	{"O-049: 10 Mbit/s is 250 ms, not one second", NULL, "10 Mbit/s", UNIT_BYTES, 312500, NULL},
};

static void defaults_burst(void **state)
{
	const struct burst_case *c = *state;
	struct complaint why;
	struct rate rate;

	assert_int_equal(parse_rate(c->rate, c->unit, &rate, &why), 0);
	assert_int_equal(default_burst(&rate), c->burst);
	assert_int_equal(check_burst(c->burst, c->unit, &why), 0);
}

/* ---- times, counts, sizes -------------------------------------------------------------------- */

static void reads_times(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
		const char *printed;
	} cases[] = {
		{"7ns", 7, "7ns"},
		{"7us", 7000, "7us"},
		{"250ms", 250000000, "250ms"},
		{"30s", 30 * NS_PER_SECOND, "30s"},
		{"30 s", 30 * NS_PER_SECOND, "30s"},
		{"10m", 10 * MINUTE, "10m"},
		{"10min", 10 * MINUTE, "10m"},
		{"2h", 2 * HOUR, "2h"},
		{"24h", DAY, "1d"},
		{"1day", DAY, "1d"},
		{"1.5h", 90 * MINUTE, "90m"},
		{"0.5ms", 500000, "500us"},
		{"0s", 0, "0s"},
		{"213503d", 213503 * DAY, "213503d"},
		{"10000000000.000000001s", 10000000000000000001ULL, "10000000000000000001ns"},
		{"18446744073709551615ns", UINT64_MAX, "18446744073709551615ns"},
	};
	char printed[UNITS_TEXT_SIZE];
	struct complaint why;
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		if (parse_time(cases[i].text, &ns, &why))
			fail_msg("%s", why.text);
		assert_int_equal(ns, cases[i].ns);
		format_time(ns, printed, sizeof(printed));
		assert_string_equal(printed, cases[i].printed);
	}
}

static void refuses_times(void **state)
{
	static const struct refusal cases[] = {
		{.text = "30", .err = -EINVAL, .says = "write \"30s\""},
		{.text = "0", .err = -EINVAL, .says = "write \"0s\""},
		{.text = "s", .err = -EINVAL, .says = "h or d"},
		{.text = "30 sec", .err = -EINVAL, .says = "h or d"},
		{.text = "30S", .err = -EINVAL, .says = "h or d"},
		{.text = "-30s", .err = -EINVAL, .says = "h or d"},
		{.text = "30s5", .err = -EINVAL, .says = "h or d"},
		{.text = "", .err = -EINVAL, .says = "h or d"},
		{.text = "0.5ns", .err = -ERANGE, .says = "213503d"},
		{.text = "213504d", .err = -ERANGE, .says = "213503d"},
		{.text = "18446744073709551616ns", .err = -ERANGE, .says = "213503d"},
	};
	struct complaint why;
	uint64_t ns = 77;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(parse_time(cases[i].text, &ns, &why), cases[i].err);
		assert_int_equal(ns, 77);
		if (!strstr(why.text, cases[i].text) || !strstr(why.text, cases[i].says))
			fail_msg("%s: the refusal is: %s", cases[i].text, why.text);
	}
}

static void reads_counts(void **state)
{
	static const struct refusal cases[] = {
		{.text = "16", .err = -ERANGE, .says = "minimum is 1024"},
		{.text = "0", .err = -ERANGE, .says = "minimum is 1024"},
		{.text = "1025", .err = 0},
		{.text = "1024", .err = 0},
		{.text = "2000", .err = 0},
		{.text = "2001", .err = -ERANGE, .says = "maximum is 2000"},
		{.text = "99999999999999999999", .err = -ERANGE, .says = "maximum is 2000"},
		{.text = "-1024", .err = -EINVAL, .says = "from 1024 to 2000"},
		{.text = "1024.5", .err = -EINVAL, .says = "from 1024 to 2000"},
		{.text = "1024k", .err = -EINVAL, .says = "from 1024 to 2000"},
		{.text = "", .err = -EINVAL, .says = "from 1024 to 2000"},
	};
	struct complaint why;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t count = 77;

		assert_int_equal(parse_count(cases[i].text, "--sources", 1024, 2000, &count, &why),
				 cases[i].err);
		if (cases[i].err) {
			assert_int_equal(count, 77);
			assert_non_null(strstr(why.text, "--sources"));
			assert_non_null(strstr(why.text, cases[i].says));
		} else {
			assert_int_not_equal(count, 77);
		}
	}
}

static void rounds_bytes_for_people(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *printed;
	} cases[] = {
		{0, "0 B"},
		{1023, "1023 B"},
		{1024, "1 KiB"},
		{1536, "1.5 KiB"},
		{10138, "9.9 KiB"},
		{10189, "10 KiB"},
		{1048063, "1023 KiB"},
		{1048064, "1 MiB"},
		{144703488, "138 MiB"},
		{UINT64_MAX, "16 EiB"},
	};
	char printed[UNITS_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		format_bytes(cases[i].bytes, printed, sizeof(printed));
		assert_string_equal(printed, cases[i].printed);
	}
}

/* ---- properties ------------------------------------------------------------------------------ */

static uint64_t random_state;

/* xorshift64: the same numbers in every run. */
static uint64_t random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* All magnitudes alike: half of all uniform numbers would have 64 bits. */
static uint64_t random_magnitude(void)
{
	return random_u64() >> (random_u64() % 64);
}

static bool in_range(const struct rate *rate)
{
	u128 fastest = rate->unit == UNIT_PACKETS ? 1000000000ULL : 125000000000ULL;
	uint64_t slowest = rate->unit == UNIT_PACKETS ? DAY : NS_PER_SECOND;

	return rate->amount && rate->per_ns &&
	       (u128)rate->amount * NS_PER_SECOND <= fastest * rate->per_ns &&
	       (u128)rate->amount * slowest >= rate->per_ns;
}

static struct rate random_rate(void)
{
	static const uint64_t times[] = {
		NS_PER_SECOND,
		2 * NS_PER_SECOND,
		4 * NS_PER_SECOND,
		8 * NS_PER_SECOND,
		30 * NS_PER_SECOND,
		MINUTE,
		HOUR,
		DAY,
	};
	struct rate rate = {.kind = LIMIT_METERED};

	do {
		rate.unit = random_u64() % 2 ? UNIT_PACKETS : UNIT_BYTES;
		rate.amount = random_magnitude();
		rate.per_ns = random_u64() % 4 ? times[random_u64() % COUNT(times)]
					       : random_magnitude();
	} while (!in_range(&rate));
	return rate;
}

static void prints_what_it_reads_rates(void **state)
{
	char printed[UNITS_TEXT_SIZE];
	struct complaint why;
	struct rate read;

	(void)state;
	random_state = 0x9e3779b97f4a7c15;
	for (int i = 0; i < ROUNDS; i++) {
		struct rate rate = random_rate();

		format_rate(&rate, printed, sizeof(printed));
		if (parse_rate(printed, rate.unit, &read, &why))
			fail_msg("%s", why.text);
		if (read.unit != rate.unit || read.amount != rate.amount ||
		    read.per_ns != rate.per_ns)
			fail_msg("%s: %lu per %lu ns, not %lu per %lu ns", printed, read.amount,
				 read.per_ns, rate.amount, rate.per_ns);
	}
}

static void prints_what_it_reads_bursts_and_times(void **state)
{
	char printed[UNITS_TEXT_SIZE];
	struct complaint why;
	uint64_t read = 0;

	(void)state;
	random_state = 0x2545f4914f6cdd1d;
	for (int i = 0; i < ROUNDS; i++) {
		struct rate rate = random_rate();
		uint64_t number = random_magnitude();

		format_time(number, printed, sizeof(printed));
		if (parse_time(printed, &read, &why))
			fail_msg("%s", why.text);
		assert_int_equal(read, number);
		if (check_burst(number, rate.unit, &why))
			continue;
		format_burst(number, rate.unit, printed, sizeof(printed));
		if (parse_burst(printed, &rate, &read, &why))
			fail_msg("%s", why.text);
		assert_int_equal(read, number);
	}
}

/* The text says @whole.@millionths of @times bits per second: the fraction must say the same. */
static void reads_decimals_exactly(void **state)
{
	static const struct {
		const char *text;
		uint64_t bits;
	} measures[] = {{"bit/s", 1}, {"kbit/s", 1000}, {"Mbit/s", 1000000}, {"Gbit/s", 1000000000},
			{"B/s", 8},   {"kB/s", 8000},	{"KiB/s", 8192},     {"MiB/s", 8 << 20}};
	struct complaint why;
	struct rate rate;
	char text[64];

	(void)state;
	random_state = 0xd1342543de82ef95;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t whole = 8 + random_u64() % 900, millionths = random_u64() % 1000000;
		size_t m = random_u64() % COUNT(measures);

		snprintf(text, sizeof(text), "%lu.%06lu %s", whole, millionths, measures[m].text);
		if (parse_rate(text, UNIT_BYTES, &rate, &why))
			fail_msg("%s", why.text);
		/* amount / per = bits / 8 / s, over a common denominator */
		if ((u128)rate.amount * 8 * 1000000 * NS_PER_SECOND !=
		    ((u128)whole * 1000000 + millionths) * measures[m].bits * rate.per_ns)
			fail_msg("%s: %lu per %lu ns", text, rate.amount, rate.per_ns);
	}
}

/* ---- the run --------------------------------------------------------------------------------- */

static void add(struct CMUnitTest *test, const char *name, CMUnitTestFunction function,
		const void *row)
{
	*test = (struct CMUnitTest){
		.name = name,
		.test_func = function,
		.initial_state = (void *)(uintptr_t)row,
	};
}

int main(void)
{
	static const struct CMUnitTest plain[] = {
		cmocka_unit_test(accepts_words),
		cmocka_unit_test(reads_times),
		cmocka_unit_test(refuses_times),
		cmocka_unit_test(reads_counts),
		cmocka_unit_test(rounds_bytes_for_people),
		cmocka_unit_test(prints_what_it_reads_rates),
		cmocka_unit_test(prints_what_it_reads_bursts_and_times),
		cmocka_unit_test(reads_decimals_exactly),
	};
	static struct CMUnitTest tests[COUNT(plain) + COUNT(rate_cases) + COUNT(rate_refusals) +
				       COUNT(burst_cases) + COUNT(burst_refusals) +
				       COUNT(default_cases)];
	size_t count = COUNT(plain);

	memcpy(tests, plain, sizeof(plain));
	for (size_t i = 0; i < COUNT(rate_cases); i++)
		add(&tests[count++], rate_cases[i].name, accepts_rate, &rate_cases[i]);
	for (size_t i = 0; i < COUNT(rate_refusals); i++)
		add(&tests[count++], rate_refusals[i].name, refuses_rate, &rate_refusals[i]);
	for (size_t i = 0; i < COUNT(burst_cases); i++)
		add(&tests[count++], burst_cases[i].name, accepts_burst, &burst_cases[i]);
	for (size_t i = 0; i < COUNT(burst_refusals); i++)
		add(&tests[count++], burst_refusals[i].name, refuses_burst, &burst_refusals[i]);
	for (size_t i = 0; i < COUNT(default_cases); i++)
		add(&tests[count++], default_cases[i].name, defaults_burst, &default_cases[i]);
	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
