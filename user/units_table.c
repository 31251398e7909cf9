// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The words of rates, bursts and times, with what they are worth. */
#include "units_table.h"

const struct scope scopes[] = {
	[UNIT_PACKETS] =
		{
			.counts = "packets",
			.rate_examples = "\"1000 pps\", \"10/s\", \"5/min\" or \"8000 per 30s\"",
			.rate_range = "1/day to 1000000000 pps",
			.burst_examples = "\"2000 packets\" or \"250ms\"",
			.burst_range = "1 packet to 2147483648 packets",
			.slowest_ns = NS_PER_DAY,
			.fastest = 1000000000,
			.burst_min = 1,
			.burst_max = 1ULL << 31,
		},
	[UNIT_BYTES] =
		{
			.counts = "bytes",
			.rate_examples = "\"10 Mbit/s\", \"1.5 MB/s\" or \"64 KiB/s\"",
			.rate_range = "1 B/s to 1000 Gbit/s",
			.burst_examples = "\"256 KiB\", \"64 kB\", \"1500 B\" or \"250ms\"",
			.burst_range = "60 B (the smallest frame) to 1024 GiB",
			.slowest_ns = NS_PER_SECOND,
			.fastest = 125000000000, /* beyond, a tick is too coarse for one frame */
			.burst_min = 60,
			.burst_max = 1ULL << 40,
		},
};

const struct prefix prefixes[] = {
	{"", 1, PREFIX_NONE},
	{"k", 1000, PREFIX_DECIMAL},
	{"M", 1000000, PREFIX_DECIMAL},
	{"G", 1000000000, PREFIX_DECIMAL},
	{"Ki", 1ULL << 10, PREFIX_BINARY},
	{"Mi", 1ULL << 20, PREFIX_BINARY},
	{"Gi", 1ULL << 30, PREFIX_BINARY},
	{NULL, 0, 0},
};

const struct measure measures[] = {
	{"pps", UNIT_PACKETS, 1, PREFIX_NONE | PREFIX_DECIMAL, IS_RATE},
	{"packets", UNIT_PACKETS, 1, PREFIX_NONE, IN_RATES | IN_BURSTS},
	{"packet", UNIT_PACKETS, 1, PREFIX_NONE, IN_RATES | IN_BURSTS},
	{"bit", UNIT_BYTES, 8, PREFIX_NONE | PREFIX_DECIMAL, IN_RATES},
	{"B", UNIT_BYTES, 1, PREFIX_NONE | PREFIX_DECIMAL | PREFIX_BINARY, IN_RATES | IN_BURSTS},
	{"", UNIT_PACKETS, 1, PREFIX_NONE, IN_RATES},
	{NULL, 0, 0, 0, 0},
};

const struct time_unit time_units[] = {
	{"d", NS_PER_DAY},
	{"day", NS_PER_DAY},
	{"h", NS_PER_HOUR},
	{"m", NS_PER_MINUTE},
	{"min", NS_PER_MINUTE},
	{"s", NS_PER_SECOND},
	{"ms", 1000000},
	{"us", 1000},
	{"ns", 1},
	{NULL, 0},
};

const struct rate_word rate_words[] = {
	{"unlimited", LIMIT_UNLIMITED},
	{"block", LIMIT_BLOCK},
	{NULL, 0},
};
