/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads numbers, words and what they are worth from the left of a text; for units_*.c only. */
#ifndef XDP_LIMIT_UNITS_SCAN_H
#define XDP_LIMIT_UNITS_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "units_table.h"

__extension__ typedef unsigned __int128 u128;

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

/* Scanners move @at behind what they took; blanks before it are skipped. */
void skip_blanks(const char **at);
/** Whether nothing but blanks is left. */
bool at_end(const char *at);
/** 0; -EINVAL: not a number here; -ERANGE: more digits than fit. */
int scan_decimal(const char **at, struct decimal *number);
/** Letters, maybe none. */
struct word scan_word(const char **at);
/** A time, or a unit of time alone ("30s", "s"): 0, -EINVAL, or -ERANGE as time_ns(). */
int scan_period(const char **at, uint64_t *ns);

bool word_is(struct word word, const char *text);
/** Whether @word ends in @tail, which is then cut off. */
bool word_ends(struct word *word, const char *tail);

const struct prefix *find_prefix(struct word word);
/** The measure at the end of @word; @times gets the worth of the prefix before it. */
const struct measure *find_measure(struct word word, uint64_t *times);
const struct time_unit *find_time_unit(struct word word);

void make_quantity(const struct decimal *number, const struct measure *measure, uint64_t times,
		   struct quantity *quantity);
/** 0; -ERANGE: not a whole number of nanoseconds, or more than 64 bits of them. */
int time_ns(const struct decimal *number, const struct time_unit *unit, uint64_t *ns);

#endif
