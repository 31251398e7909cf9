#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Holds the last `make bench` against its targets: one line for each, ok or MISSED.
#
#	scripts/bench-bars.sh [--strict] [DIRECTORY]
#
# --strict: exit status 1 when one is missed. "Never more" is held to 5 %, which is what two
# measurements of the same thing differ by.
set -eu -o pipefail
cd "$(dirname "$0")/.."

strict=
if [ "${1-}" = --strict ]; then
	strict=yes
	shift
fi
build=${BUILD:-build}
bench=${1:-$build}/bench.json
extra=${1:-$build}/bench-extra.json

# One line "TARGET|MEASURED|MOST or -LEAST" for each that could be measured.
measured() {
	jq -r --slurpfile extra "$extra" '
		. as $rows | ($extra[0].rows | map(select(.kind == "extra")) |
			map({(.limiter): .ns_per_packet}) | add // {}) as $beside |
		($extra[0].rows | map(select(.kind == "size") | {(.name): .value}) | add // {}) as $sizes |
		def ns($kind; $limiter; $sources; $cpus; $family):
			[$rows[] | select(.kind == $kind and .limiter == $limiter and
				.sources == $sources and .cpus == $cpus and .family == $family)][0] |
			.ns_per_packet // empty;
		def program($limiter; $sources): ns("program"; $limiter; $sources; 1; 4);
		def path($limiter): ns("path"; $limiter; "1k"; 1; 4) - ns("path"; "floor"; "1k"; 1; 4);
		def bar($limiter; $yardstick; $most): $most | to_entries[] |
			"\($limiter), \(.key) sources, x \($yardstick)|\(program($limiter; .key) /
				program($yardstick; .key))|\(.value)";
		def ratio($text; $a; $b; $most): ($beside[$a] // empty) / ($beside[$b] // empty) |
			"\($text)|\(.)|\($most)";
		(($beside["generator/floor"] // empty) - $beside["generator/still"] |
			"generator, 1 source, ns|\(.)|3"),
		(($beside["generator-1k/floor"] // empty) - $beside["generator-1k/still"] |
			"generator, 1k sources, ns|\(.)|3"),
		bar("lru"; "floor"; {"1": 1.75, "1k": 1.75, "64k": 6.3, "1m": 9.5, "spoofed": 4.8}),
		bar("flat"; "floor"; {"1": 1.3, "1k": 1.4, "64k": 3.6, "1m": 4.6, "spoofed": 5.2}),
		bar("flat"; "touch"; {"64k": 1.35, "1m": 1.5, "spoofed": 1.6}),
		(({"lru": "", "flat": "flat-"} | to_entries[]) as $table |
			("1", "1k", "64k", "1m") as $sources |
			ratio("\($table.key), dropping against passing, \($sources) sources";
				"\($table.value)pass-\($sources)/dropping";
				"\($table.value)pass-\($sources)/passing"; 1.05)),
		(("lru", "flat") as $limiter | ns("program"; $limiter; "1"; 2; 4) /
			program($limiter; "1") |
			"\($limiter), one source on two CPUs, dropping, x one CPU|\(.)|1.25"),
		(("lru", "flat") as $limiter | ns("program"; $limiter; "spoofed"; 2; 4) /
			program($limiter; "spoofed") |
			"\($limiter), spoofed on two CPUs, x one CPU|\(.)|1.25"),
		ratio("lru, one source on two CPUs, passing, x one CPU"; "shared/passing-2";
			"shared/passing"; 1.25),
		ratio("flat, one source on two CPUs, passing, x one CPU"; "flat-shared/passing-2";
			"flat-shared/passing"; 1.25),
		(($beside["flat-apart-1k/1"] // empty) * 2 / ($beside["flat-apart-1k/2"] // empty) |
			"flat, 1k sources on each of two CPUs, x the rate of one|\(.)|-1.8"),
		(("1k", "64k") as $sources | ($beside["apart-\($sources)/1"] // empty) * 2 /
			($beside["apart-\($sources)/2"] // empty) |
			"lru, \($sources) sources on each of two CPUs, x the rate of one|\(.)|-1.8"),
		ratio("4 limits, 3 tiers, 1k allowed, 100k denied, x the single limit"; "large/large";
			"large/single"; 1.8),
		ratio("denied, 1 source, x floor"; "denied-1/denied"; "denied-1/floor"; 1),
		ratio("denied, 1k sources, x floor"; "denied-1k/denied"; "denied-1k/floor"; 1),
		ratio("malformed, x floor"; "malformed/malformed"; "malformed/floor"; 1),
		(({"lru": 0.35, "flat": 0.25} | to_entries[]) as $ours |
			("hashlimit", "nftables") as $theirs |
			"\($ours.key) end to end, 1k sources, x \($theirs) (\(path($ours.key) | round) of \(
				path($theirs) | round) ns)|\(path($ours.key) / path($theirs))|\($ours.value)"),
		({"lru": 144, "flat": 20} | to_entries[] | ($sizes[.key + "-bytes-per-source"] // empty) as
			$bytes | "\(.key), bytes of a source|\($bytes)|\(.value)"),
		(("lru", "flat") as $type | ($sizes[$type + "-dump-seconds"] // empty) |
			"\($type), a million buckets as JSON, seconds|\(.)|3"),
		(("lru", "flat") as $type | ($sizes[$type + "-top-seconds"] // empty) |
			"\($type), the top 20 of a million, seconds|\(.)|1")
		' "$bench"
}

printf '\nTargets:\n\n'
measured | awk -F '|' -v strict="$strict" '
	{
		least = $3 < 0
		bound = least ? -$3 : $3
		ok = least ? $2 >= bound : $2 <= bound
		missed += !ok
		printf "%-6s  %-70s %8.2f  (at %s %s)\n", ok ? "ok" : "MISSED", $1, $2,
			least ? "least" : "most", bound
	}
	END {
		printf "\n%d targets, %d missed\n", NR, missed
		exit strict != "" && missed > 0
	}'
