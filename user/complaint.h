/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One sentence of refusal, written by the leaf that knows and printed by the level that asks. */
#ifndef XDP_LIMIT_COMPLAINT_H
#define XDP_LIMIT_COMPLAINT_H

#include <stdarg.h>

struct complaint {
	char text[512];
};

/**
 * complain - write the sentence (printf style) and return @err, so that refusals are one line. Control
 * characters of what it quotes become question marks.
 */
int complain(struct complaint *why, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int complain_list(struct complaint *why, int err, const char *format, va_list arguments)
	__attribute__((format(printf, 3, 0)));

#endif
