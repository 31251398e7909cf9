#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `make bench` still runs: its numbers are another matter, since it measures for a moment only.
# shellcheck source-path=SCRIPTDIR source=../lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

for tool in bpftool nft iptables-legacy ethtool nsenter; do
	[ "$(command -v "$tool")" ] || skip "needs $tool"
done

# expect_rows FILTER: there are rows that it is true for
expect_rows() {
	expect_equal "rows with $1" \
		"$(jq --arg filter "$1" "[.[] | select($1)] | length > 0" "$SCRATCH/bench.json")" true
}

runs() {
	expect scripts/bench.sh --quick "$SCRATCH"
	expect_equal "keys of all rows" \
		"$(jq -c 'map(keys_unsorted) | unique' "$SCRATCH/bench.json")" \
		'[["kind","limiter","sources","cpus","family","ns_per_packet","ratio_to_floor"]]'
	expect_equal "rows without a time or a ratio" \
		"$(jq 'map(select(.ns_per_packet > 0 and .ratio_to_floor > 0 | not)) | length' \
			"$SCRATCH/bench.json")" 0
	for limiter in floor touch lru flat; do
		expect_rows ".kind == \"program\" and .limiter == \"$limiter\" and .family == 6"
	done
	for limiter in floor lru flat hashlimit nftables; do
		expect_rows ".kind == \"path\" and .limiter == \"$limiter\" and .sources == \"1k\""
	done
	expect_rows '.cpus == 2 or '"$(nproc)"' == 1'
}

# A table of numbers that miss every target, and one that meets them.
judged() {
	local floor=$1 lru=$2

	jq -n --argjson floor "$floor" --argjson lru "$lru" '
		def row($limiter; $ns): {kind: "program", limiter: $limiter, sources: "1k", cpus: 1,
			family: 4, ns_per_packet: $ns, ratio_to_floor: ($ns / $floor)};
		[row("floor"; $floor), row("lru"; $lru)]' >"$SCRATCH/bench.json"
	echo '{"machine": {}, "rows": []}' >"$SCRATCH/bench-extra.json"
	scripts/bench-bars.sh --strict "$SCRATCH"
}

misses() {
	expect_status 0 judged 40 70
	expect_stdout '^ok +lru, 1k sources, x floor +1\.75'
	expect_status 1 judged 40 71
	expect_stdout '^MISSED +lru, 1k sources, x floor +1\.77'
}

cd "$(dirname "$0")/../.." || exit
run_case "all parts of the measurement run, and write what they promise" runs
run_case "a missed target is said, and is a failure when that is asked for" misses
finish
