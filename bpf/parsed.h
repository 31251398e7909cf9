/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For tests only: all that the parser has to say about a frame. */
#ifndef XDP_LIMIT_PARSED_H
#define XDP_LIMIT_PARSED_H

#include "parse.h"

struct parsed {
	struct packet packet;
	__u32 reason; /* REASON_NONE: it goes on to the lists and limits */
	__u32 linear; /* bytes that can be read; the rest of the frame's length is in fragments */
};

#endif
