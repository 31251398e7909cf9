#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `xdp-limit events`: what a reader sees, and that nobody pays for it (O-108, O-127).
# shellcheck source-path=SCRIPTDIR source=../lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

[ "$(command -v bpftool)" ] || skip "needs bpftool"

READER=

# Readers that the program tells.
readers() {
	bpftool -j map lookup pinned "$PINS/listening" key 0 0 0 0 |
		jq '[.formatted.value.readers[] | select(.until_ns > 0 and .kinds > 0)] | length'
}

has_readers() {
	[ "$(readers)" -eq "$1" ]
}

# follow OPTION...: a reader in the background, its output in $SCRATCH/events.
follow() {
	background READER limit events rv0 "$@" >"$SCRATCH/events" 2>"$SCRATCH/said"
	wait_for 5 has_readers 1
}

# Ends the reader as a service manager would; it must have ended well.
unfollow() {
	local status=0

	kill -TERM "$READER"
	wait "$READER" || status=$?
	expect_equal "status of the reader" "$status" 0
}

has_line() {
	grep -Eq "$1" "$SCRATCH/events"
}

# of_kind KIND FILTER: of the JSON lines of this kind.
of_kind() {
	jq -s "[.[] | select(.kind == \"$1\")] | $2" "$SCRATCH/events"
}

# ---- what is seen --------------------------------------------------------------------------------
lines() {
	topology neighbours
	attach --rate 10pps --burst 5
	follow
	send --frame udp4 --source "$CLI4" --count 50
	# In a pipe or a file too, as soon as it happens.
	wait_for 5 has_line "^[0-9:]{8}\.[0-9]{3} drop $CLI4 limit default \(10 pps\) udp [0-9]+ > [0-9.:]+ 42 bytes$"
	unfollow
	expect_equal "drops told of" "$(grep -c " drop $CLI4 " "$SCRATCH/events")" 1
	wait_for 5 has_readers 0
}

bans() {
	topology neighbours
	cat >"$SCRATCH/policy.yaml" <<-EOF
		limits: [{name: strict, rate: 1/h, burst: 1, on-exceed: {ban: 2s}}]
	EOF
	expect attach --config "$SCRATCH/policy.yaml"
	expect limit ban rv0 add 203.0.113.99
	follow --kind ban,unban
	send --frame udp4 --source "$CLI4" --count 3
	wait_for 5 has_line " ban $CLI4 limit strict \(1/h\) until "
	wait_for 10 has_line " unban $CLI4 its time is over"
	expect limit ban rv0 add 198.51.100.0/24
	wait_for 5 has_line " ban 198.51.100.0/24 listed for ever"
	expect limit ban rv0 del 198.51.100.0/24
	wait_for 5 has_line " unban 198.51.100.0/24 taken off the list"
	unfollow
	expect_equal "lines" "$(wc -l <"$SCRATCH/events")" 4
}

lists_and_gate() {
	topology neighbours
	cat >"$SCRATCH/policy.yaml" <<-EOF
		table: {sources: 1024, new-sources: 1/h}
		deny: [198.51.100.0/24]
		limits: [{name: default, rate: 1000 pps}]
	EOF
	expect attach --config "$SCRATCH/policy.yaml"
	follow --kind list,gate --json
	send --frame udp4 --source 198.51.100.7 --count 50
	send --frame udp4 --source 10.0.0.0/16 --count 600
	unfollow
	expect_equal "list hits" "$(of_kind list 'map(.source + " " + .reason) | join(",")')" \
		'"198.51.100.7 denied"'
	# 410 fit in at once; it is said once a second.
	expect_between "gate" "$(of_kind gate length)" 1 2
}

pressure() {
	topology neighbours
	cat >"$SCRATCH/policy.yaml" <<-EOF
		table: {sources: 1024, new-sources: unlimited}
		limits: [{name: default, rate: 1/h, burst: 5}]
	EOF
	expect attach --config "$SCRATCH/policy.yaml"
	send --frame udp4 --source 10.0.0.0/16 --count 5000
	follow --kind pressure
	wait_for 15 has_line " pressure the table is (full|[0-9]+ % full)"
	unfollow
}

# The same maps after apply, others after --recreate; then none.
as_policies_come_and_go() {
	local status=0

	topology neighbours
	attach --rate 1/h --burst 1
	follow --kind drop
	expect attach --rate 1/h --burst 2
	send --frame udp4 --source 10.0.0.1 --count 9
	wait_for 5 has_line " drop 10.0.0.1 "
	printf 'limits: [{name: other, rate: 1/h, burst: 1}]\n' >"$SCRATCH/other.yaml"
	expect limit apply rv0 "$SCRATCH/other.yaml" --recreate
	wait_for 5 has_readers 1
	send --frame udp4 --source 10.0.0.2 --count 9
	wait_for 5 has_line " drop 10.0.0.2 limit other "
	expect limit detach rv0
	wait "$READER" || status=$?
	expect_equal "status of the reader" "$status" 3
	expect_equal "what it said" "$(cat "$SCRATCH/said")" "xdp-limit: the limiter on rv0 is gone"
}

count_and_time() {
	topology neighbours
	attach --rate block
	follow --count 2
	send --frame udp4 --source 10.0.0.0/24 --count 20
	expect wait "$READER"
	expect_equal "lines" "$(grep -vc " lost " "$SCRATCH/events")" 2
	expect limit events rv0 --for 10ms
}

killed() {
	local readers=()

	topology neighbours
	attach --rate block
	for _ in 1 2 3 4 5 6 7 8; do
		background READER limit events rv0 >"$SCRATCH/events"
		readers+=("$READER")
	done
	wait_for 10 has_readers 8
	expect_status 5 limit events rv0
	expect_stderr "8 readers follow the events of rv0 already"
	kill -KILL "${readers[@]}"
	# Their leases end, and their places are free.
	wait_for 10 limit events rv0 --for 1ms
}

refusals() {
	topology
	attach --rate 10pps
	expect_status 2 limit events rv0 --kind drops
	expect_stderr "'drops' is not known; write one or more of drop, list"
	expect_status 2 limit events rv0 --sample 10
	expect_stderr "--sample needs --write FILE"
	expect_status 2 limit events rv0 --write x.pcapng
	expect_stderr "--write needs --sample N"
	expect_status 2 limit events rv0 --sample 0 --write x.pcapng
	expect_status 2 limit events rv0 --sample 1 --write - --json
	expect_stderr "leave out --json"
	expect_status 2 limit events rv0 --kind sample
	expect_status 2 limit events rv0 --count 0
	expect_status 2 limit events rv0 --for soon
	expect_status 2 limit events
	echo mine >"$SCRATCH/there"
	expect_status 1 limit events rv0 --sample 1 --write "$SCRATCH/there"
	expect_stderr "is there already"
	expect_equal "what was there" "$(cat "$SCRATCH/there")" mine
	expect_status 1 limit events rv0 --sample 1 --write "$SCRATCH/no/such"
	expect_status 3 limit events rv9
	expect limit detach rv0
	expect_status 3 limit events rv0
}

# ---- what it costs -------------------------------------------------------------------------------
# O-108: each packet of a source of its own, so each would be told of.
flood() {
	local told lost dropped most

	topology neighbours
	attach --rate block --sources 1024
	follow --kind drop --json
	send --frame udp4 --source 10.0.0.0/8 --count 300000 --rate 100000
	dropped=$(status_field .totals.dropped_packets)
	unfollow
	told=$(of_kind drop length)
	lost=$(of_kind lost 'map(.lost.drop) | add')
	note "$dropped dropped in $(sent seconds) s: $told told, $lost counted"
	expect_at_least "dropped" "$dropped" 100000
	expect_equal "told and counted" $((told + lost)) "$dropped"
	expect_equal "counted by status" "$(status_field .events_lost.drop)" "$lost"
	# The most in any second that begins with an event. $t and $i are jq's.
	# shellcheck disable=SC2016
	most=$(of_kind drop '[.[].time] as $t | [range($t | length) as $i |
		[$t[] | select(. >= $t[$i] and . < $t[$i] + 1)] | length] | max')
	expect_between "told in any second" "$most" 50 100
}

no_traces() {
	topology
	attach --rate 10pps --bytes 1Mbit/s
	bpftool prog dump xlated pinned "$PINS/program" >"$SCRATCH/program"
	expect grep -q bpf_ringbuf_output "$SCRATCH/program"
	if grep trace_ "$SCRATCH/program"; then
		fail "the program writes traces"
	fi
	if grep -rn 'bpf_printk\|trace_printk\|trace_vprintk' "$_net_tests/../bpf"; then
		fail "the sources write traces"
	fi
}

# O-127: sources at their limit lose nothing, those above it get what they get without readers, to the packet.
verdicts() {
	expect attach --rate 1/h --burst 100 --sources 65536 --recreate
	send --frame udp4 --source 10.0.0.0/24 --count $((256 * 100)) --rate "$1"
	send --frame udp4 --source 10.1.0.0/24 --count $((256 * 150)) --rate "$1"
	status_field '[.totals.passed_packets, .totals.dropped_packets] | join(" ")'
}

reading_changes_nothing() {
	local alone read control

	topology neighbours
	attach --rate 1/h --burst 100 --sources 65536
	alone=$(verdicts 20000)
	for _ in 1 2 3 4; do
		background READER limit events rv0 --json >"$SCRATCH/events"
	done
	background READER limit events rv0 --sample 1 --write "$SCRATCH/capture"
	wait_for 5 has_readers 5
	read=$(verdicts 20000)
	control=$(status_field .reasons.control.packets)
	note "passed and dropped: $alone alone, $read with five readers"
	expect_equal "dropped" "${read#* }" $((256 * 50))
	expect_equal "dropped alone" "${alone#* }" $((256 * 50))
	expect_equal "passed" "${read% *}" $((256 * 200 + control))
}

# ---- samples -------------------------------------------------------------------------------------
# The bytes of the packets in a capture, as hexadecimal, a line each.
packets_of() {
	tcpdump -nr "$1" -xx 2>/dev/null | awk '
		/^[^\t]/ { if (hex) print hex; hex = "" }
		/^\t/ { for (i = 2; i <= NF; i++) hex = hex $i }
		END { if (hex) print hex }'
}

samples() {
	local short long

	# From 10.0.0.1 to 198.51.100.1 by a protocol of nobody; shorter than 256 bytes, and longer.
	short=00005e00530100005e0053020800450000210001000040fd45aa0a000001c6336401$(printf '%026d' 0 | tr 0 a)
	long=00005e00530100005e0053020800450003da0001000040fd42130a000001c6336401$(printf '%01932d' 0 | tr 0 b)
	topology neighbours
	attach --rate block
	follow --sample 1 --write "$SCRATCH/all.pcapng"
	send --frame "$short" --count 40
	send --frame "$long" --count 40
	unfollow
	expect_equal "its mode" "$(stat -c %a "$SCRATCH/all.pcapng")" 600
	packets_of "$SCRATCH/all.pcapng" | uniq -c | tr -s ' ' >"$SCRATCH/packets"
	expect_equal "packets" "$(cat "$SCRATCH/packets")" " 40 $short"$'\n'" 40 ${long:0:512}"
	expect_equal "comments" "$(grep -ao 'over_limit, limit default' "$SCRATCH/all.pcapng" | wc -l)" 80
	expect grep -q "80 packets written to .*all.pcapng; not written: 0 " "$SCRATCH/said"
	if [ "$(command -v tshark)" ]; then
		expect_equal "what tshark reads" "$(tshark -r "$SCRATCH/all.pcapng" -T fields \
			-e frame.interface_name -e frame.len -e frame.cap_len -e frame.comment \
			2>/dev/null | uniq -c | tr -s ' ' | tr '\t\n' ' ;')" \
			" 40 rv0 47 47 over_limit, limit default; 40 rv0 1000 256 over_limit, limit default;"
	else
		note "no tshark here"
	fi
}

every_nth_to_stdout() {
	topology neighbours
	attach --rate block
	limit events rv0 --sample 10 --write - --count 20 2>"$SCRATCH/said" | tcpdump -nr - >"$SCRATCH/read" 2>/dev/null &
	wait_for 5 has_readers 1
	send --frame udp4 --source 10.0.0.0/24 --count 400
	wait $! || fail "the pipe failed"
	expect_equal "packets" "$(wc -l <"$SCRATCH/read")" 20
}

run_case "first drops, as lines" lines
run_case "bans by limits and commands, and their ends" bans
run_case "lists and the gate" lists_and_gate
run_case "a table under pressure" pressure
run_case "apply, --recreate, detach" as_policies_come_and_go
run_case "--count and --for" count_and_time
run_case "eight readers, killed" killed
run_case "refusals" refusals
run_case "O-108: 100 000 drops per second" flood
run_case "O-108: no traces" no_traces
run_case "O-127: readers change no verdict" reading_changes_nothing
run_case "samples are what was sent" samples
run_case "every tenth to stdout" every_nth_to_stdout
finish
