/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prometheus' text format and OpenMetrics: families, samples, escapes; pure. */
#ifndef XDP_LIMIT_METRICS_TEXT_H
#define XDP_LIMIT_METRICS_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum metrics_format {
	METRICS_PROMETHEUS,
	METRICS_OPENMETRICS,
};

/** The format that an Accept header (or NULL) prefers. */
enum metrics_format metrics_format_of(const char *accept);
const char *metrics_type(enum metrics_format format);

enum metric_kind {
	METRIC_COUNTER, /* its samples' names end in _total */
	METRIC_GAUGE,
	METRIC_HISTOGRAM,
};

struct metrics_writer {
	FILE *out;
	enum metrics_format format;
	const char *family; /* without _total */
	enum metric_kind kind;
};

/** metrics_family - what follows belongs to it: @name without _total, @help in one sentence. */
void metrics_family(struct metrics_writer *writer, const char *name, enum metric_kind kind,
		    const char *help);

#define LABELS_MAX 4

struct metric_label {
	const char *name;
	const char *value; /* NULL: leave it out */
};

/** metrics_number, metrics_decimal - one sample of the family; labels end with the first nameless one. */
void metrics_number(struct metrics_writer *writer, const struct metric_label labels[LABELS_MAX],
		    uint64_t value);
void metrics_decimal(struct metrics_writer *writer, const struct metric_label labels[LABELS_MAX],
		     double value);

/* What a histogram's samples are made of. */
struct metric_histogram {
	const uint64_t *counts; /* above the bound before, up to their own; the last: above all */
	const double *bounds;	/* rising; one less than counts */
	size_t count;		/* of counts */
	double sum;
};

/** metrics_histogram - the samples of one series of the family. */
void metrics_histogram(struct metrics_writer *writer, const struct metric_label labels[LABELS_MAX],
		       const struct metric_histogram *histogram);

/** metrics_end - what the format has at its end. */
void metrics_end(struct metrics_writer *writer);

#endif
