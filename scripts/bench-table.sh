#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The tables of the last `make bench`, as Markdown: nanoseconds of a packet and, in brackets, how many
# times the floor that is.
#
#	scripts/bench-table.sh [DIRECTORY]
set -eu -o pipefail
cd "$(dirname "$0")/.."

build=${BUILD:-build}
bench=${1:-$build}/bench.json
extra=${1:-$build}/bench-extra.json

# main_table KIND CPUS FAMILY
main_table() {
	jq -r --arg kind "$1" --argjson cpus "$2" --argjson family "$3" '
		def cell: if . == null then "" else
			"\(.ns_per_packet | . * 10 | round / 10) (\(.ratio_to_floor * 100 | round / 100))"
			end;
		map(select(.kind == $kind and .cpus == $cpus and .family == $family)) |
		["1", "1k", "64k", "1m", "spoofed"] as $all |
		map(.sources) as $there | ($all | map(select(IN($there[])))) as $columns |
		(["floor", "touch", "lru", "flat", "hashlimit", "nftables"] - (["floor", "touch", "lru",
			"flat", "hashlimit", "nftables"] - map(.limiter))) as $limiters |
		if length == 0 then empty else
		"| ns per packet (x floor) | \($columns | join(" | ")) |",
		"| --- |\($columns | map(" --- |") | join(""))",
		(. as $rows | $limiters[] as $limiter |
		"| \($limiter) | \($columns | map(. as $column | [$rows[] |
			select(.limiter == $limiter and .sources == $column)][0] | cell) | join(" | ")) |")
		end' "$bench"
}

titled() {
	local table

	table=$(main_table "${@:2}")
	[ -z "$table" ] || printf '\n%s\n\n%s\n' "$1" "$table"
}

titled 'Program, IPv4, one CPU:' program 1 4
titled 'Program, IPv6 (a /64 each), one CPU:' program 1 6
titled 'Program, IPv4, two CPUs at once (of each CPU):' program 2 4
titled 'Program, IPv6, two CPUs at once (of each CPU):' program 2 6
titled 'End to end over a veth, IPv4, one CPU, with the sender:' path 1 4
titled 'End to end over a veth, IPv6, one CPU, with the sender:' path 1 6

printf '\nBeside the tables:\n\n'
jq -r '.rows | map(select(.kind == "extra")) |
	"| side by side | sources | CPUs | ns per packet | spread |", "| --- | --- | --- | --- | --- |",
	(.[] | "| \(.limiter) | \(.sources) | \(.cpus) | \(.ns_per_packet * 10 | round / 10) | \(.spread *
		100 | round) % |")' "$extra"

jq -r '.rows | map(select(.kind == "program" or .kind == "path")) |
	"\nSpread of the batches that were kept: median \(map(.spread) | sort | .[length / 2 | floor] *
		100 | round) %, largest \(map(.spread) | max * 100 | round) %. A packet in batches of 2N against one in batches of N: \(map(.proportion) | min * 100 | round) to \(map(.proportion) | max * 100 | round) %."
	' "$extra"
jq -r '.rows | map(select(.kind == "size")) | select(length > 0) |
	"\nOf a million buckets: " + (map("\(.name) \(.value * 100 | round / 100)") | join(", ")) + "."' "$extra"
jq -r '.machine | "\n\(.cpus) CPUs \(.cpu), Linux \(.kernel), \(.date). Spectre v2: \(.mitigations)."' \
	"$extra"
