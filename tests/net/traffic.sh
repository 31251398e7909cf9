#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a flooding, a slow and a conforming source get of a packet limit over a real link.
#
# Upper bounds hold whatever the machine does meanwhile: they are computed from the time between
# before the first frame and after the last one. Lower bounds are about what was really sent.
# shellcheck source-path=SCRIPTDIR source=../lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

OTHER4=192.0.2.11
THIRD4=192.0.2.12
ELAPSED=

# within RATE BURST SECONDS: the most that a source may get, rounded down
within() {
	awk -v rate="$1" -v burst="$2" -v seconds="$3" 'BEGIN { printf "%d", burst + rate * seconds }'
}

# Quicker than `settle`: what it takes is part of the measured time.
rx_packets() {
	in_srv cat /sys/class/net/rv0/statistics/rx_packets
}

all_taken() {
	[ "$(rx_packets)" -ge "$1" ]
}

# measure TAKEN STARTED...: ELAPSED becomes the longest time between the first frame of any sender
# and the last one that rv0 has taken.
measure() {
	local taken=$1
	shift

	wait_for 5 all_taken "$taken"
	ELAPSED=$(printf '%s\n' "$@" | sort -n | awk -v end="$EPOCHREALTIME" \
		'NR == 1 { printf "%.6f", end - $1 }')
}

# `send`, with the time that it took in ELAPSED.
flood() {
	local before

	before=$(rx_packets)
	SENT=$(in_cli "$XDPL_SEND" -i rv1 --dst-mac "$SRV_MAC" "$@") || fail "xdpl-send failed: $*"
	measure $((before + $(sent sent))) "$(sent started)"
}

# start_sender NAME CPU OPTION...: in the background; its JSON is in $SCRATCH/NAME when it has ended
start_sender() {
	local name=$1 cpu=$(($2 % $(nproc)))
	shift 2

	background "PID_$name" in_cli taskset -c "$cpu" "$XDPL_SEND" -i rv1 --dst-mac "$SRV_MAC" \
		"$@" >"$SCRATCH/$name"
}

end_sender() {
	local pid=PID_$1

	wait "${!pid}" || fail "sender $1: status $?"
}

sent_by() {
	jq ".$2" "$SCRATCH/$1"
}

passed() {
	source_field "$1" .passed_packets
}

dropped() {
	source_field "$1" .dropped_packets
}

# ---- one flooding source -------------------------------------------------------------------------
# 10 times the rate for 5 seconds: a burst and five seconds of the rate, no more. A sender on each
# CPU has a queue of its own.
steady_flood() {
	local frame=$1 before

	topology queues=2 neighbours
	attach --rate 100pps --burst 100
	receive_start --source "$CLI4"
	before=$(rx_packets)
	start_sender first 0 --frame "$frame" --rate 500 --count 2500
	start_sender second 1 --frame "$frame" --rate 500 --count 2500
	end_sender first
	end_sender second
	measure $((before + 5000)) "$(sent_by first started)" "$(sent_by second started)"
	receive_stop
	expect_at_most "passed" "$RECEIVED" "$(within 100 100 "$ELAPSED")"
	expect_at_least "passed" "$RECEIVED" "$(within 100 98 "$(sent_by first seconds)")"
	expect_equal "passed by the counters" "$(passed "$CLI4")" "$RECEIVED"
	expect_equal "dropped" "$(dropped "$CLI4")" $((5000 - RECEIVED))
}

# ---- the rate that was asked for -----------------------------------------------------------------
# tolerance RATE SECONDS: 2 %, or the packet that a slow rate can be off by
tolerance() {
	awk -v rate="$1" -v seconds="$2" \
		'BEGIN { off = rate * seconds * 0.02; print (off > 1 ? off : 1) }'
}

# enforced_rate RATE SECONDS: one source at three times the rate, one at half of it, one at exactly
# the rate, all at once.
enforced_rate() {
	local rate=$1 seconds=$2 got want

	topology neighbours
	attach --rate "${rate}pps"
	start_sender half 0 --frame udp4 --source "$OTHER4" --rate $(((rate + 1) / 2)) \
		--count $((rate * seconds / 2))
	start_sender exact 1 --frame udp4 --source "$THIRD4" --rate "$rate" \
		--count $((rate * seconds))
	flood --frame udp4 --source "$CLI4" --rate $((rate * 3)) --count $((rate * 3 * seconds))
	end_sender half
	end_sender exact
	settle $((rate * 3 * seconds + rate * seconds + rate * seconds / 2))

	got=$(passed "$CLI4")
	want=$(within "$rate" "$rate" "$(sent seconds)")
	note "passed $got, dropped $(dropped "$CLI4") in $(sent seconds) s"
	expect_at_most "passed" "$got" "$(within "$rate" "$rate" "$ELAPSED")"
	expect_between "passed less what it should" $((got - want)) \
		"-$(tolerance "$rate" "$(sent seconds)")" "$(tolerance "$rate" "$(sent seconds)")"
	expect_equal "dropped at half the rate" "$(dropped "$OTHER4")" 0
	expect_equal "passed at half the rate" "$(passed "$OTHER4")" "$(sent_by half sent)"
	expect_equal "dropped at exactly the rate" "$(dropped "$THIRD4")" 0
	expect_equal "passed at exactly the rate" "$(passed "$THIRD4")" "$(sent_by exact sent)"
}

# ---- two CPUs ------------------------------------------------------------------------------------
refused_by_backlogs() {
	ip -n "$CLI" -s -j link show dev rv1 | jq '.[0].stats64.tx.dropped'
}

# In generic mode a frame is judged on the CPU of its sender. What did not fit into the backlog of
# that CPU was never seen.
two_cpus() {
	local before sent lost

	[ "$(nproc)" -ge 2 ] || skip "needs 2 CPUs"
	topology neighbours
	attach --mode generic "$@"
	lost=$(refused_by_backlogs)
	before=$(rx_packets)
	start_sender first 0 --frame P4U --duration 2
	start_sender second 1 --frame P4U --duration 2
	end_sender first
	end_sender second
	lost=$(($(refused_by_backlogs) - lost))
	sent=$(($(sent_by first sent) + $(sent_by second sent)))
	settle
	measure $((before + sent - lost)) "$(sent_by first started)" "$(sent_by second started)"
	note "sent $sent, of these $lost lost in backlogs, passed $(passed "$CLI4") in $ELAPSED s"
	expect_equal "seen" $(($(passed "$CLI4") + $(dropped "$CLI4"))) $((sent - lost))
}

lossless_counters() {
	two_cpus --rate 1000pps --burst 1000
	expect_between "passed" "$(passed "$CLI4")" \
		"$(within 1000 980 "$(sent_by first seconds)")" "$(within 1000 1000 "$ELAPSED")"
}

# With room for one packet, time that no packet came in is lost: at least is not much.
no_token_twice() {
	two_cpus --rate 100000pps --burst 1
	expect_between "passed" "$(passed "$CLI4")" 10000 "$(within 100000 1 "$ELAPSED")"
}

# ---- many sources --------------------------------------------------------------------------------
each_new_source() {
	local i

	topology neighbours
	attach --rate 50pps --burst 50
	flood --frame udp4 --source 192.0.2.10..192.0.2.19 --count 5000
	for i in {10..19}; do
		expect_between "192.0.2.$i passed" "$(passed "192.0.2.$i")" 50 "$(within 50 50 "$ELAPSED")"
		expect_equal "192.0.2.$i seen" $(($(passed "192.0.2.$i") + $(dropped "192.0.2.$i"))) 500
	done
}

run_case "O-031: 1000 UDP packets per second for 5 s get 100 + 100 per second" steady_flood P4U
run_case "O-031: 1000 TCP SYN per second for 5 s get 100 + 100 per second" steady_flood P4S
run_case "7 pps: enforced within a packet, no loss at the rate or half of it" enforced_rate 7 7
run_case "100 pps: enforced within 2 %, no loss at the rate or half of it" enforced_rate 100 2
run_case "1000 pps: enforced within 2 %, no loss at the rate or half of it" enforced_rate 1000 2
run_case "65535 pps: enforced within 2 %, no loss at the rate or half of it" enforced_rate 65535 2
run_case "O-033: a source on two CPUs is counted to the packet" lossless_counters
run_case "O-041: no token is spent twice by two CPUs" no_token_twice
run_case "O-045: each of ten new sources gets its own burst" each_new_source
finish
