#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Which frames share a bucket: all of a source, whatever they are wrapped in, and no others.
# shellcheck source-path=SCRIPTDIR source=../lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

passed() {
	source_field "$1" .passed_packets
}

dropped() {
	source_field "$1" .dropped_packets
}

# ---- sources -------------------------------------------------------------------------------------
# Rates per hour: nothing is refilled during the test, so that counts are exact.
shared_subnet() {
	topology neighbours
	attach --rate 10/h --burst 10
	receive_start --source 2001:db8:0:1::/64
	send --frame udp6 --source 2001:db8:0:1::1..2001:db8:0:1::ff --count 255
	receive_stop
	expect_equal "passed" "$RECEIVED" 10
	expect_equal "sources" "$(limit sources rv0 --json | jq length)" 1
	expect_equal "dropped of the /64" "$(dropped 2001:db8:0:1::77)" 245
}

single_addresses() {
	topology neighbours
	attach --rate 10/h --burst 10 --ipv6-prefix 128
	receive_start --source 2001:db8:0:1::/64
	send --frame udp6 --source 2001:db8:0:1::1..2001:db8:0:1::ff --count 255
	receive_stop
	expect_equal "passed" "$RECEIVED" 255
}

both_families() {
	topology neighbours
	attach --rate 10/h --burst 10
	send --frame P6U --count 20
	send --frame P4U --count 20
	expect_equal "IPv6 dropped" "$(dropped "$CLI6")" 10
	expect_equal "IPv4 dropped" "$(dropped "$CLI4")" 10
	expect_status 0 limit sources rv0
	expect_stdout '^2001:db8:0:1::/64 '
	expect_stdout '^192\.0\.2\.10 '
	expect_equal "buckets in status" "$(status_field .table.used)" 2
}

# ---- no way around -------------------------------------------------------------------------------
# one_bucket MODE SOURCE FRAME...: five of each pass and fill the bucket; then none of any does.
one_bucket() {
	local mode=$1 source=$2 frame total
	shift 2

	topology neighbours
	total=$(($# * 5))
	attach --mode "$mode" --rate 1/h --burst "$total"
	for frame; do
		send --frame "$frame" --count 5
	done
	expect_equal "passed" "$(passed "$source")" "$total"
	expect_equal "dropped while there was room" "$(dropped "$source")" 0
	for frame; do
		send --frame "$frame" --count 5
	done
	expect_equal "passed when exhausted" "$(passed "$source")" "$total"
	expect_equal "dropped when exhausted" "$(dropped "$source")" "$total"
	expect_equal "buckets" "$(status_field .table.used)" 1
}

run_case "O-018: all addresses of an IPv6 /64 share a bucket" shared_subnet
run_case "O-018: --ipv6-prefix 128 tells them apart" single_addresses
run_case "O-073: one command limits both families" both_families
for mode in native generic; do
	run_case "O-013: IPv4 options, PPPoE and fragments charge one bucket ($mode)" \
		one_bucket $mode "$CLI4" P4U P4S PFRAG1 PFRAGN P4OPT PPPPOE
	run_case "O-013: IPv6 extension headers and fragments charge one bucket ($mode)" \
		one_bucket $mode "$CLI6" P6U P6HBH P6CHAIN P6FRAGN
	run_case "O-064: tagged frames charge the bucket of untagged ones ($mode)" \
		one_bucket $mode "$CLI4" P4U PV8100
done
finish
