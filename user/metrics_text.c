// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Prometheus' text format and OpenMetrics. */
#include "metrics_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "utf8.h"

#define OPENMETRICS "application/openmetrics-text"

/* ---- which format ---- */

/* The parameter @name in `; name=value; ...`, without quotes; false when it is not there. */
static bool parameter(const char *range, size_t length, const char *name, char *value, size_t size)
{
	const char *end = range + length, *at = memchr(range, ';', length);

	while (at && at < end) {
		size_t name_length = strlen(name), used = 0;

		at += 1 + strspn(at + 1, " \t");
		if (!strncasecmp(at, name, name_length) && at[name_length] == '=') {
			at += name_length + 1;
			for (; at < end && *at != ';' && used + 1 < size; at++)
				if (*at != '"' && *at != ' ' && *at != '\t')
					value[used++] = *at;
			value[used] = '\0';
			return true;
		}
		at = at < end ? memchr(at, ';', (size_t)(end - at)) : NULL;
	}
	return false;
}

static double quality_of(const char *range, size_t length)
{
	char text[16];

	return parameter(range, length, "q", text, sizeof(text)) ? strtod(text, NULL) : 1;
}

static bool has_version(const char *range, size_t length)
{
	char text[16];

	return !parameter(range, length, "version", text, sizeof(text)) || !strcmp(text, "1.0.0") ||
	       !strcmp(text, "0.0.1");
}

/* Whether the media type of the range is @type. */
static bool is_type(const char *range, size_t length, const char *type)
{
	size_t own = strcspn(range, ";, \t");

	return own <= length && own == strlen(type) && !strncasecmp(range, type, own);
}

enum metrics_format metrics_format_of(const char *accept)
{
	double open = 0, text = 0;

	while (accept && *accept) {
		size_t length = strcspn(accept, ",");
		double quality = quality_of(accept, length);

		if (is_type(accept, length, OPENMETRICS)) {
			if (has_version(accept, length) && quality > open)
				open = quality;
		} else if (is_type(accept, length, "text/plain") && quality > text) {
			text = quality;
		}
		accept += length + (accept[length] == ',');
		accept += strspn(accept, " \t");
	}
	return open > 0 && open >= text ? METRICS_OPENMETRICS : METRICS_PROMETHEUS;
}

const char *metrics_type(enum metrics_format format)
{
	return format == METRICS_OPENMETRICS ? OPENMETRICS "; version=1.0.0; charset=utf-8"
					     : "text/plain; version=0.0.4; charset=utf-8";
}

/* ---- writing ---- */

static const char *suffix_of(const struct metrics_writer *writer)
{
	return writer->kind == METRIC_COUNTER ? "_total" : "";
}

void metrics_family(struct metrics_writer *writer, const char *name, enum metric_kind kind,
		    const char *help)
{
	static const char *const kinds[] = {
		[METRIC_COUNTER] = "counter",
		[METRIC_GAUGE] = "gauge",
		[METRIC_HISTOGRAM] = "histogram",
	};
	const char *suffix;

	writer->family = name;
	writer->kind = kind;
	/* OpenMetrics names the family, Prometheus the samples. */
	suffix = writer->format == METRICS_OPENMETRICS ? "" : suffix_of(writer);
	fprintf(writer->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, suffix, help, name, suffix,
		kinds[kind]);
}

/* What is no UTF-8 would make the scraper throw all away. */
static void write_value(FILE *out, const char *text)
{
	while (*text) {
		size_t length = utf8_length(text);

		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if (length)
			fwrite(text, 1, length, out);
		else
			fputc('?', out);
		text += length ? length : 1;
	}
}

static const char *write_label(FILE *out, const char *before, const char *name, const char *value)
{
	if (!value)
		return before;
	fprintf(out, "%s%s=\"", before, name);
	write_value(out, value);
	fputc('"', out);
	return ",";
}

/* @bound: of a histogram's bucket; NULL: none. */
static void write_name(struct metrics_writer *writer, const char *suffix,
		       const struct metric_label labels[LABELS_MAX], const char *bound)
{
	const char *before = "{";

	fprintf(writer->out, "%s%s", writer->family, suffix);
	for (int i = 0; i < LABELS_MAX && labels[i].name; i++)
		before = write_label(writer->out, before, labels[i].name, labels[i].value);
	before = write_label(writer->out, before, "le", bound);
	fputs(*before == ',' ? "} " : " ", writer->out);
}

static void write_number(struct metrics_writer *writer, const char *suffix,
			 const struct metric_label labels[LABELS_MAX], const char *bound,
			 uint64_t value)
{
	write_name(writer, suffix, labels, bound);
	fprintf(writer->out, "%" PRIu64 "\n", value);
}

static void write_decimal(struct metrics_writer *writer, const char *suffix,
			  const struct metric_label labels[LABELS_MAX], double value)
{
	write_name(writer, suffix, labels, NULL);
	fprintf(writer->out, "%.9f\n", value);
}

void metrics_number(struct metrics_writer *writer, const struct metric_label labels[LABELS_MAX],
		    uint64_t value)
{
	write_number(writer, suffix_of(writer), labels, NULL, value);
}

void metrics_decimal(struct metrics_writer *writer, const struct metric_label labels[LABELS_MAX],
		     double value)
{
	write_decimal(writer, suffix_of(writer), labels, value);
}

void metrics_histogram(struct metrics_writer *writer, const struct metric_label labels[LABELS_MAX],
		       const struct metric_histogram *histogram)
{
	uint64_t sum = 0;
	char bound[32];

	for (size_t i = 0; i < histogram->count; i++) {
		if (i + 1 < histogram->count)
			snprintf(bound, sizeof(bound), "%.9g", histogram->bounds[i]);
		else
			snprintf(bound, sizeof(bound), "+Inf");
		sum += histogram->counts[i];
		write_number(writer, "_bucket", labels, bound, sum);
	}
	write_decimal(writer, "_sum", labels, histogram->sum);
	write_number(writer, "_count", labels, NULL, sum);
}

void metrics_end(struct metrics_writer *writer)
{
	if (writer->format == METRICS_OPENMETRICS)
		fputs("# EOF\n", writer->out);
}
