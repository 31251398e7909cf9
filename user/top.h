/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The two ways in which top shows what it reads. */
#ifndef XDP_LIMIT_TOP_H
#define XDP_LIMIT_TOP_H

#include "exit_status.h"
#include "top_sample.h"
#include "top_view.h"

struct top_request {
	struct top_question question;
	uint64_t top;	/* sources of each block */
	uint64_t count; /* blocks; 0: until it is ended */
	bool json;
};

/** top_live - on the terminal, until q or a signal. */
enum exit_status top_live(struct top_sampler *sampler, const struct top_question *question);

/** top_batch - blocks of plain text, or a line of JSON each. */
enum exit_status top_batch(struct top_sampler *sampler, const struct top_request *request);

/** top_report - what ended the reading of @interface: -errno of top_sampler_work(). */
enum exit_status top_report(const char *interface, int err);

#endif
