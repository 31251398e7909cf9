// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Metrics as text: both formats, escapes, large numbers, histograms, and which format who asks gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "metrics.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void formats(void **state)
{
	static const struct {
		const char *accept;
		enum metrics_format format;
	} cases[] = {
		{NULL, METRICS_PROMETHEUS},
		{"", METRICS_PROMETHEUS},
		{"*/*", METRICS_PROMETHEUS},
		{"text/plain", METRICS_PROMETHEUS},
		{"application/json", METRICS_PROMETHEUS},
		{"application/openmetrics-text", METRICS_OPENMETRICS},
		{"Application/OpenMetrics-Text; version=1.0.0", METRICS_OPENMETRICS},
		{"application/openmetrics-text; version=\"1.0.0\"; charset=utf-8",
		 METRICS_OPENMETRICS},
		{"application/openmetrics-text;version=2.0.0", METRICS_PROMETHEUS},
		{"application/openmetrics-textual", METRICS_PROMETHEUS},
		{"application/openmetrics-text;q=0", METRICS_PROMETHEUS},
		{"application/openmetrics-text;q=0.3,text/plain;q=0.5", METRICS_PROMETHEUS},
		{"text/plain;q=0.5, application/openmetrics-text;q=0.5", METRICS_OPENMETRICS},
		/* Prometheus 2.42 and 3. */
		{"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
		 "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		 METRICS_OPENMETRICS},
		{"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
		 "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;"
		 "escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
		 METRICS_OPENMETRICS},
		{";;;,,q=", METRICS_PROMETHEUS},
		{"application/openmetrics-text;", METRICS_OPENMETRICS},
		{"application/openmetrics-text;q", METRICS_OPENMETRICS},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		if (metrics_format_of(cases[i].accept) != cases[i].format)
			fail_msg("%s", cases[i].accept);
}

struct output {
	char *text;
	size_t size;
	struct metrics_writer writer;
};

static void start(struct output *output, enum metrics_format format)
{
	*output = (struct output){.writer.format = format};
	output->writer.out = open_memstream(&output->text, &output->size);
	assert_non_null(output->writer.out);
}

static void expect(struct output *output, const char *want)
{
	fclose(output->writer.out);
	assert_string_equal(output->text, want);
	free(output->text);
}

static const struct metric_label none[LABELS_MAX] = {{NULL, NULL}};

static void families(void **state)
{
	struct output output;

	(void)state;
	start(&output, METRICS_PROMETHEUS);
	metrics_family(&output.writer, "x_packets", METRIC_COUNTER, "Packets.");
	metrics_number(&output.writer, none, 1);
	metrics_end(&output.writer);
	expect(&output, "# HELP x_packets_total Packets.\n# TYPE x_packets_total counter\n"
			"x_packets_total 1\n");
	start(&output, METRICS_OPENMETRICS);
	metrics_family(&output.writer, "x_packets", METRIC_COUNTER, "Packets.");
	metrics_number(&output.writer, none, 1);
	metrics_family(&output.writer, "x_ratio", METRIC_GAUGE, "Ratio.");
	metrics_decimal(&output.writer, none, 0.25);
	metrics_end(&output.writer);
	expect(&output,
	       "# HELP x_packets Packets.\n# TYPE x_packets counter\nx_packets_total 1\n"
	       "# HELP x_ratio Ratio.\n# TYPE x_ratio gauge\nx_ratio 0.250000000\n# EOF\n");
}

/* O-107: no number is cut, wherever it is kept in fewer bits. */
static void large_numbers(void **state)
{
	static const uint64_t numbers[] = {UINT32_MAX, 1ULL << 32, (1ULL << 53) + 1, INT64_MAX,
					   UINT64_MAX};

	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		struct output output;
		char want[128];

		start(&output, METRICS_PROMETHEUS);
		output.writer.family = "x";
		output.writer.kind = METRIC_GAUGE;
		metrics_number(&output.writer, none, numbers[i]);
		snprintf(want, sizeof(want), "x %llu\n", (unsigned long long)numbers[i]);
		expect(&output, want);
	}
}

static void labels(void **state)
{
	static const struct {
		const char *value, *written;
	} cases[] = {
		{"plain", "plain"},
		{"", ""},
		{"a\"b", "a\\\"b"},
		{"a\\b", "a\\\\b"},
		{"a\nb", "a\\nb"},
		{"\\n", "\\\\n"},
		{"{},=", "{},="},
		{"\xc3\xbc", "\xc3\xbc"},
		{"a\xff"
		 "b",
		 "a?b"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct metric_label two[LABELS_MAX] = {
			{"one", cases[i].value}, {"left_out", NULL}, {"three", "3"}};
		struct output output;
		char want[128];

		start(&output, METRICS_PROMETHEUS);
		output.writer.family = "x";
		output.writer.kind = METRIC_GAUGE;
		metrics_number(&output.writer, two, 7);
		snprintf(want, sizeof(want), "x{one=\"%s\",three=\"3\"} 7\n", cases[i].written);
		expect(&output, want);
	}
}

static void histograms(void **state)
{
	const uint64_t counts[] = {3, 0, 4};
	const double bounds[] = {0.000000032, 0.001048576};
	const struct metric_histogram histogram = {counts, bounds, 3, 0.5};
	const struct metric_label label[LABELS_MAX] = {{"interface", "eth0"}};
	struct output output;

	(void)state;
	start(&output, METRICS_OPENMETRICS);
	metrics_family(&output.writer, "x_seconds", METRIC_HISTOGRAM, "Seconds.");
	metrics_histogram(&output.writer, label, &histogram);
	expect(&output, "# HELP x_seconds Seconds.\n# TYPE x_seconds histogram\n"
			"x_seconds_bucket{interface=\"eth0\",le=\"3.2e-08\"} 3\n"
			"x_seconds_bucket{interface=\"eth0\",le=\"0.001048576\"} 3\n"
			"x_seconds_bucket{interface=\"eth0\",le=\"+Inf\"} 7\n"
			"x_seconds_sum{interface=\"eth0\"} 0.500000000\n"
			"x_seconds_count{interface=\"eth0\"} 7\n");
}

static char *write_metrics(const struct metrics *metrics)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	metrics_write(metrics, METRICS_PROMETHEUS, out);
	fclose(out);
	return text;
}

static void expect_in(const char *text, const char *want)
{
	if (!strstr(text, want))
		fail_msg("no %s in:\n%s", want, text);
}

/* Without a limiter: what there is to say, and no family without a sample. */
static void down(void **state)
{
	const struct interface_metrics interfaces[] = {{.name = "eth0"}, {.name = "eth1"}};
	const struct metrics metrics = {"0.1.0", "1.1", interfaces, 2};
	char *text = write_metrics(&metrics);

	(void)state;
	expect_in(text, "xdp_limit_build_info{version=\"0.1.0\",libbpf=\"1.1\"} 1\n");
	expect_in(text, "xdp_limit_up{interface=\"eth0\"} 0\nxdp_limit_up{interface=\"eth1\"} 0\n");
	assert_null(strstr(text, "packets"));
	free(text);
}

/* O-106, O-107: the sum over reasons and verdicts is all that was seen, whatever the numbers. */
static void one_up(void **state)
{
	static struct summary summary;
	struct interface_metrics interfaces[] = {{.name = "eth0"},
						 {.name = "eth1", .summary = &summary}};
	const struct metrics metrics = {"0.1.0", "1.1", interfaces, 2};
	struct reason_count *reasons = summary.counters.reasons;
	char *text;

	(void)state;
	summary.config.limit_count = 1;
	strcpy(summary.config.labels[0].name, "default");
	summary.table.capacity = 1024;
	reasons[REASON_CONFORMING].passed = (struct count){(1ULL << 53) + 1, INT64_MAX};
	reasons[REASON_OVER_LIMIT].dropped = (struct count){UINT32_MAX, 60};
	reasons[REASON_OVER_LIMIT].would_drop = (struct count){5, 300};
	summary.counters.limits[0].tally.dropped_packets = 9;
	text = write_metrics(&metrics);
	expect_in(text, "xdp_limit_up{interface=\"eth0\"} 0\nxdp_limit_up{interface=\"eth1\"} 1\n");
	expect_in(text, "xdp_limit_packets_total{interface=\"eth1\",reason=\"conforming\","
			"verdict=\"passed\"} 9007199254740993\n");
	expect_in(text, "xdp_limit_bytes_total{interface=\"eth1\",reason=\"conforming\","
			"verdict=\"passed\"} 9223372036854775807\n");
	expect_in(text, "xdp_limit_packets_total{interface=\"eth1\",reason=\"over_limit\","
			"verdict=\"passed\"} 5\n");
	expect_in(text, "xdp_limit_packets_total{interface=\"eth1\",reason=\"over_limit\","
			"verdict=\"dropped\"} 4294967295\n");
	expect_in(text, "xdp_limit_limit_packets_total{interface=\"eth1\",limit=\"default\","
			"verdict=\"dropped\"} 9\n");
	/* Only what is known: no flat table, no gate, no statistics, no histogram, no sources. */
	assert_null(strstr(text, "xdp_limit_table_evicted_live_total{"));
	assert_null(strstr(text, "xdp_limit_gate_closed{"));
	assert_null(strstr(text, "xdp_limit_program_runs_total{"));
	assert_null(strstr(text, "xdp_limit_check_duration_seconds_count{"));
	assert_null(strstr(text, "xdp_limit_source_dropped_packets_total{"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats),	 cmocka_unit_test(families),
		cmocka_unit_test(large_numbers), cmocka_unit_test(labels),
		cmocka_unit_test(histograms),	 cmocka_unit_test(down),
		cmocka_unit_test(one_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
