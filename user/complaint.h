/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One sentence of refusal, written by the leaf that knows and printed by the level that asks. */
#ifndef XDP_LIMIT_COMPLAINT_H
#define XDP_LIMIT_COMPLAINT_H

struct complaint {
	char text[512];
};

/** complain - write the sentence (printf style) and return @err, so that refusals are one line. */
int complain(struct complaint *why, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
