#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The flat table as its users meet it: the same commands, and what it says of itself.
# shellcheck source-path=SCRIPTDIR source=../lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

attach_flat() {
	topology neighbours
	attach --rate 10/h --burst 10 --table flat "$@"
}

flood_one() {
	send --frame udp4 --source 192.0.2.77 --count 30
}

same_commands() {
	attach_flat
	flood_one
	expect_equal "table" "$(status_field .table.type)" flat
	expect_equal "dropped" "$(status_field .totals.dropped_packets)" 20
	expect_equal "of the source" "$(source_field 192.0.2.77 .dropped_packets)" 20
	expect_equal "what passed of it" "$(source_field 192.0.2.77 .passed_packets)" null
	expect_equal "remaining" "$(limit get rv0 192.0.2.77 --json | jq '.limits[0].remaining')" 0
	expect_equal "of a stranger" "$(limit get rv0 192.0.2.78 --json | jq '.limits[0].remaining')" 10
	expect_equal "has a bucket" "$(limit get rv0 192.0.2.78 --json | jq .has_bucket)" false
	limit reset rv0 192.0.2.77 >/dev/null
	expect_equal "after a reset" "$(limit get rv0 192.0.2.77 --json | jq '.limits[0].remaining')" 10
	expect_equal "listed after a reset" "$(limit sources rv0 --json | jq length)" 0
	flood_one
	expect_equal "dropped again" "$(source_field 192.0.2.77 .dropped_packets)" 20
}

says_of_itself() {
	attach_flat --sources 1024
	flood_one
	expect_equal "slots" "$(status_field .table.capacity)" 2055
	expect_equal "sources" "$(status_field .table.sources)" 1024
	expect_equal "used" "$(status_field .table.used)" 1
	expect_equal "evicted live" "$(status_field .table.evicted_live)" 0
	expect_equal "gate" "$(status_field .table.gate)" null
	expect_status 0 limit status rv0
	expect_stdout "table: flat, 2055 slots for 1024 sources, 1 used, 1 in debt"
	expect_stdout "bytes a source"
}

# More sources in debt than slots: newcomers inherit, which is counted and said. Nobody gets more.
o005_full() {
	attach_flat --sources 1024
	send --frame udp4 --source 198.18.0.0..198.18.15.255 --count 4096
	expect_between "live evictions" "$(status_field .table.evicted_live)" 1000 4096
	expect_between "fill" "$(status_field '.table.fill * 100 | floor')" 190 200
	expect_status 0 limit status rv0
	expect_stdout "the table is more than full"
	expect_stdout "slots in debt went to newcomers"
	expect_status 0 limit status rv0 --check
}

refuses_and_drops() {
	attach_flat --sources 1024 --when-full drop
	send --frame udp4 --source 198.18.0.0..198.18.15.255 --count 4096
	expect_equal "live evictions" "$(status_field .table.evicted_live)" 0
	expect_between "no place" "$(status_field .reasons.table_full.dropped_packets)" 1000 4096
	expect_equal "failures" "$(status_field .table.insert_failures)" \
		"$(status_field .reasons.table_full.packets)"
}

another_type() {
	attach_flat
	flood_one
	printf 'limits: [{name: default, rate: 20/h, burst: 10}]\n' >"$SCRATCH/same.yaml"
	printf 'table: {type: lru}\nlimits: [{name: default, rate: 20/h}]\n' >"$SCRATCH/lru.yaml"
	expect_status 0 limit apply rv0 "$SCRATCH/same.yaml"
	expect_equal "still flat" "$(status_field .table.type)" flat
	expect_equal "still exhausted" "$(limit get rv0 192.0.2.77 --json | jq '.limits[0].remaining')" 0
	expect_status 1 limit apply rv0 "$SCRATCH/lru.yaml"
	expect_stderr "the table is of type flat, not lru"
	expect_stderr "--recreate"
	expect_status 0 limit apply rv0 "$SCRATCH/lru.yaml" --recreate
	expect_equal "lru now" "$(status_field .table.type)" lru
	expect_equal "a fresh table" "$(limit sources rv0 --json | jq length)" 0
}

shows_itself() {
	attach_flat --when-full drop --sources 4096
	limit show rv0 >"$SCRATCH/shown.yaml"
	expect_status 0 limit show rv0
	expect_stdout "type: flat"
	expect_stdout "when-full: drop"
	expect_status 0 limit apply rv0 "$SCRATCH/shown.yaml"
}

refusals() {
	topology
	expect_status 2 limit attach rv0 --rate 10pps --table bloom
	expect_stderr "--table 'bloom' is not known; write lru or flat"
	expect_status 2 limit attach rv0 --rate 10pps --when-full inherit
	expect_stderr "inherit is for the flat table"
	expect_status 2 limit attach rv0 --rate 100000000pps --table flat
	expect_stderr "type: lru"
}

takes_17_bytes() {
	local id bytes

	topology
	attach --rate 1000pps --table flat --sources 1048576
	id=$(bpftool -j prog show id "$(status_field .program_id)" | jq '.map_ids[]' | while read -r map; do
		bpftool -j map show id "$map" | jq 'select(.name == "flat") | .id'
	done)
	bytes=$(bpftool -j map show id "$id" | jq .bytes_memlock)
	note "$bytes bytes for 1048576 sources"
	expect_between "bytes a source, in tenths" $((bytes * 10 / 1048576)) 1 200
}

run_case "the same commands, on a flat table" same_commands
run_case "status says what a flat table holds" says_of_itself
run_case "O-005: full: newcomers inherit, counted and said" o005_full
run_case "full, and when-full: drop" refuses_and_drops
run_case "another policy keeps it, another type needs --recreate" another_type
run_case "show prints what apply reads" shows_itself
run_case "what it can't hold is refused" refusals
run_case "20 bytes a source at most" takes_17_bytes
finish
