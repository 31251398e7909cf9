#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Byte limits and byte counts, seen by real TCP transfers and by frames of a known size.
# shellcheck source-path=SCRIPTDIR source=../lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

LISTEN=${LISTEN:-$_net_tests/../build/tests/tools/xdpl-listen}
[ -x "$LISTEN" ] || skip "needs $LISTEN"

PORT=5001
PAYLOAD=20000000
LISTENER=
TAKEN=

# transfer COMMAND: its output goes to the server over one TCP connection; TAKEN is how much the
# server got in what time, up to the end of the stream.
transfer() {
	rm -f "$SCRATCH/ready"
	background LISTENER in_srv "$LISTEN" "$PORT" "$SCRATCH/ready" >"$SCRATCH/taken"
	wait_for 5 test -e "$SCRATCH/ready"
	in_cli bash -c "{ $1; } >/dev/tcp/$SRV4/$PORT" || fail "the client failed: $1"
	wait "$LISTENER" || fail "the server failed: $?"
	TAKEN=$(cat "$SCRATCH/taken")
	settle
}

taken() {
	jq ".$1" <<<"$TAKEN"
}

# ---- one stream under a byte limit ---------------------------------------------------------------
# A sender that is killed leaves what is in its socket: the server reads that as well.
stream() {
	local goodput

	topology neighbours
	attach --bytes '100 Mbit/s'
	transfer 'timeout 5 cat /dev/zero || [ $? -eq 124 ]'
	goodput=$(jq '.bytes * 8 / .seconds' <<<"$TAKEN")
	note "goodput $goodput bit/s over $(taken seconds) s," \
		"dropped $(source_field "$CLI4" .dropped_packets) packets"
	expect_at_least "seconds" "$(taken seconds)" 4.9
	expect_between "goodput" "$goodput" 90000000 105000000
}

# ---- a burst after idle --------------------------------------------------------------------------
refilled() {
	[ "$(get_field "$CLI4" '.limits[0].reset_seconds == 0')" = true ]
}

# burst_after_idle BURST OPTION...: 20 frames of 1500 bytes at once get BURST bytes and what is
# refilled meanwhile, in whole frames.
burst_after_idle() {
	local burst=$1 before least most start
	shift

	topology neighbours
	attach --bytes '500 kbit/s' "$@"
	expect_equal "burst" "$(get_field "$CLI4" '.limits[0].burst')" "$burst"
	send --frame udp4 --size 1500 --count 5
	wait_for 10 refilled
	before=$(source_field "$CLI4" .passed_bytes)
	start=${EPOCHREALTIME/./}
	send --frame udp4 --size 1500 --count 20
	least=$((burst < 30000 ? burst : 30000))
	most=$((burst + (${EPOCHREALTIME/./} - start) * 62500 / 1000000))
	least=$((least / 1500 * 1500))
	most=$((most < 30000 ? most / 1500 * 1500 : 30000))
	expect_between "passed bytes" $(($(source_field "$CLI4" .passed_bytes) - before)) \
		"$least" "$most"
}

# 65536 bytes at 62500 in a second.
burst_is_shown() {
	topology neighbours
	expect_status 0 attach --bytes '500 kbit/s'
	expect_stdout 'burst 64 KiB \(1048 ms\)'
	expect_status 0 limit status rv0
	expect_stdout '^  bytes +500 kbit/s +64 KiB \(1048 ms\)'
	expect_status 0 limit get rv0 "$CLI4"
	expect_stdout ' of 65536 bytes'
}

# ---- bytes of a transfer -------------------------------------------------------------------------
skbs() {
	ip -n "$SRV" -s -j link show dev rv0 | jq '.[0].stats64.rx.packets'
}

# Ethernet, IPv4, TCP with time stamps.
HEADERS=66

# counted_transfer MODE: how TCP cuts a stream differs from time to time, so the kernel behind the
# limiter is asked how many segments came. The last acknowledgement may come after that.
counted_transfer() {
	local row bytes packets

	topology neighbours
	attach --mode "$1" --rate 10Mpps --bytes '100 Gbit/s'
	transfer "head -c $PAYLOAD /dev/zero"
	expect_equal "payload bytes at the server" "$(taken bytes)" "$PAYLOAD"
	row=$(limit sources rv0 "$CLI4" --json | jq -c '.[] | select(.limit == "bytes")')
	bytes=$(jq .passed_bytes <<<"$row")
	packets=$(jq .passed_packets <<<"$row")
	note "$packets packets, $bytes bytes; $(taken segments) segments, $(skbs) frames"
	expect_equal "dropped" "$(jq .dropped_packets <<<"$row")" 0
	expect_between "bytes" "$bytes" $((PAYLOAD + HEADERS * packets)) $((PAYLOAD * 108 / 100))
	expect_between "packets" "$packets" "$(taken segments)" $(($(taken segments) + 3))
	expect_at_least "packets of full size" "$packets" $((PAYLOAD / 1460))
	expect_equal "packets in status" "$(status_field .limits.bytes.passed_packets)" "$packets"
	expect_equal "bytes in status" "$(status_field .limits.bytes.passed_bytes)" "$bytes"
	expect_equal "packets of the other limit" \
		"$(status_field .limits.default.passed_packets)" "$packets"
	expect_equal "bytes by reason" "$(status_field .reasons.conforming.bytes)" "$bytes"
}

merged_transfer() {
	counted_transfer generic
	expect_at_most "frames, which were merged" "$(skbs)" $(($(taken segments) / 2))
}

run_case "O-048: one TCP stream gets 90 to 105 % of 100 Mbit/s with the default burst" stream
run_case "O-049: 30 KB after idle pass whole within the default burst" burst_after_idle 65536
run_case "O-049: 30 KB after idle pass up to a burst of 12 kB" \
	burst_after_idle 12000 --bytes-burst 12kB
run_case "O-049: the burst of a byte limit is shown in bytes and as a time" burst_is_shown
run_case "O-129: 20 000 000 bytes by TCP are counted, headers included (native)" \
	counted_transfer native
run_case "O-123, O-129: merged frames count as their segments (generic)" merged_transfer
finish
