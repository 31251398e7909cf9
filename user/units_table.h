/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The words of rates, bursts and times, with what they are worth; for units_*.c only. */
#ifndef XDP_LIMIT_UNITS_TABLE_H
#define XDP_LIMIT_UNITS_TABLE_H

#include <stdint.h>
#include "units.h"

#define NS_PER_MINUTE (60 * NS_PER_SECOND)
#define NS_PER_HOUR   (60 * NS_PER_MINUTE)
#define NS_PER_DAY    (24 * NS_PER_HOUR)

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

/* By enum unit. */
extern const struct scope scopes[];

enum prefix_kind {
	PREFIX_NONE = 1,
	PREFIX_DECIMAL = 2,
	PREFIX_BINARY = 4,
};

struct prefix {
	const char *text;
	uint64_t times;
	enum prefix_kind kind;
};

/* All tables below end with a NULL text. */
extern const struct prefix prefixes[];

enum use {
	IN_RATES = 1, /* with "/s" or "per 30s" behind */
	IN_BURSTS = 2,
	IS_RATE = 4, /* per second, says so itself */
};

/* What stands behind a number, after its prefix; "10/s" and "8000 per 30s" have nothing there. */
struct measure {
	const char *text;
	enum unit unit;
	uint64_t divisor; /* of these make one unit */
	unsigned int prefixes;
	unsigned int uses;
};

extern const struct measure measures[];

struct time_unit {
	const char *text;
	uint64_t ns;
};

/* In descending order: printers take the first that divides. */
extern const struct time_unit time_units[];

struct rate_word {
	const char *text;
	enum limit_kind kind;
};

extern const struct rate_word rate_words[];

#endif
