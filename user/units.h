/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rates, bursts and times: from text to numbers and back, exact. */
#ifndef XDP_LIMIT_UNITS_H
#define XDP_LIMIT_UNITS_H

#include <stddef.h>
#include <stdint.h>
#include "abi.h"
#include "complaint.h"

#define NS_PER_SECOND 1000000000ULL

/* A rate as written: @amount units per @per_ns; both 0 for the words unlimited and block. */
struct rate {
	enum limit_kind kind;
	enum unit unit; /* of the words: as the caller asked */
	uint64_t amount;
	uint64_t per_ns;
};

/*
 * All parsers return 0, or -EINVAL (not understood) or -ERANGE (understood and refused) with a
 * sentence in @why that quotes the text and gives the right spelling or the allowed range.
 * @why may not be NULL. Nothing is written to the result on failure.
 */

/**
 * parse_rate - `N pps`, `N/s`, `N/min`, `N/h`, `N/day`, `N per T` (packets); `N bit/s`, `N B/s`
 * with a prefix (bytes); `unlimited`, `block`. The blank is optional, decimals are fine.
 * @unit: what the limit counts; a rate of the other unit is refused.
 */
int parse_rate(const char *text, enum unit unit, struct rate *rate, struct complaint *why);

/**
 * rate_unit - what the rate in @text counts, by its measure; packets where that can't be told.
 */
enum unit rate_unit(const char *text);

/**
 * parse_burst - `N packets`, bytes with the same prefixes, or a time of the rate (`250ms`);
 * a bare number means packets on a packet limit and is refused on a byte limit.
 * @units: result, packets or bytes.
 */
int parse_burst(const char *text, const struct rate *rate, uint64_t *units, struct complaint *why);

/** check_burst - whether a burst is in the range that parse_burst() accepts: 0, or -ERANGE. */
int check_burst(uint64_t units, enum unit unit, struct complaint *why);

/** parse_time - ns us ms s m (minute) h d, decimals allowed; result in ns. */
int parse_time(const char *text, uint64_t *ns, struct complaint *why);

/** parse_count - a plain number from @min to @max; @noun names it in refusals ("--sources"). */
int parse_count(const char *text, const char *noun, uint64_t min, uint64_t max, uint64_t *count,
		struct complaint *why);

/** default_burst - one second of the rate for packets (at least 1), 250 ms for bytes (at least
 * 64 KiB); in units. */
uint64_t default_burst(const struct rate *rate);

/* Printers write text that the parsers read back to the same value. */
void format_rate(const struct rate *rate, char *text, size_t size);
void format_burst(uint64_t units, enum unit unit, char *text, size_t size);
void format_time(uint64_t ns, char *text, size_t size);
/** describe_burst - for people: bytes also as a time of the rate, "64 KiB (1049 ms)". */
void describe_burst(uint64_t units, const struct rate *rate, char *text, size_t size);
/** format_bytes - rounded for people: "138 MiB", "1.5 KiB"; not for reading back. */
void format_bytes(uint64_t bytes, char *text, size_t size);

#define UNITS_TEXT_SIZE 64

#endif
