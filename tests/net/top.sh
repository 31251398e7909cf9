#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# top as its users see it: what stands on a screen of tmux, and what --batch and --json print.
# shellcheck source-path=SCRIPTDIR source=../lib/net.sh disable=SC2317 # cases are called by name
. "$(dirname "$0")/../lib/net.sh"

command -v tmux >/dev/null || skip "needs tmux"

# Each screen has a server of its own, with no configuration of the user's.
SCREEN=0

tmux_() {
	TMUX_TMPDIR=$SCRATCH tmux -f /dev/null -L "top$SCREEN" "$@"
}

_end_tmux() {
	tmux_ kill-server 2>/dev/null
	SCREEN=$((SCREEN + 1))
}

# start_top [ENVIRONMENT...] -- [OPTION...]: on a screen of 80x24; ends with its status on the screen
start_top() {
	local environment=() options

	while [ "$1" != -- ]; do
		environment+=("$1")
		shift
	done
	shift
	printf -v options ' %q' --netns "$SRV" top rv0 "$@"
	at_exit _end_tmux
	tmux_ new-session -d -x 80 -y 24 \
		"env ${environment[*]} $XDP_LIMIT$options; echo status \$?; stty -a; exec cat"
	wait_for 10 shows "xdp-limit top rv0"
}

screen() {
	tmux_ capture-pane -p
}

shows() {
	screen | grep -qE -- "$1"
}

shows_not() {
	! shows "$1"
}

# Each string is typed as it is; names of keys such as Enter stand alone.
press() {
	tmux_ send-keys "$@"
}

top_pid() {
	pgrep -f -- "^$XDP_LIMIT --netns $SRV top rv0"
}

# A thousand packets per second of each of ten sources, one of which has ten times as much.
steady_traffic() {
	background STEADY in_cli "$XDPL_SEND" -i rv1 --dst-mac "$SRV_MAC" --src-mac "$CLI_MAC" \
		--frame udp4 --source 198.18.0.1..198.18.0.9 --rate 900 --duration 60 >/dev/null
	background LOUD in_cli "$XDPL_SEND" -i rv1 --dst-mac "$SRV_MAC" --src-mac "$CLI_MAC" \
		--frame udp4 --source 198.18.0.77 --rate 1000 --duration 60 >/dev/null
}

# Rates are what is sent: the loud source has 1000 packets per second, of which 50 pass.
# The bounds are wide: the machine may be busy.
rates_and_order() {
	topology neighbours
	attach --rate 50pps --burst 50
	steady_traffic
	start_top -- --interval 500ms
	wait_for 20 shows '^198\.18\.0\.77 +default +5[0-9] +[89][0-9][0-9] .* (9[0-9][0-9]|1[0-9]{3}) '
	wait_for 20 shows '^limit +rate +passed/s dropped/s'
	wait_for 20 shows '^\(all packets\) +[45][0-9][0-9] '
	expect_equal "the worst first" \
		"$(screen | awk '$1 == "source" { getline; print $1 }')" 198.18.0.77
	press End
	wait_for 5 shows 'by dropped; all sources; limit any; 10 of 10'
	press /
	wait_for 5 shows 'only sources in'
	press 198.18.0.8/30 Enter
	wait_for 5 shows '198.18.0.8/30; limit any; 2 of 10'
	wait_for 5 shows_not '^198\.18\.0\.77 '
	press q
	wait_for 10 shows '^status 0'
}

# All of the sources, but not how many there are behind it.
frozen_rows() {
	screen | sed -n '/^source/,/^by /p' | sed 's/ of .*//'
}

# The sources stay; the counters above them go on.
freezes() {
	local before

	topology neighbours
	attach --rate 50pps --burst 50
	start_top -- --interval 200ms
	send --frame udp4 --source 198.18.0.1 --count 60
	wait_for 10 shows '^198\.18\.0\.1 '
	press Space
	wait_for 5 shows 'FROZEN'
	before=$(frozen_rows)
	send --frame udp4 --source 198.18.0.2 --count 60
	wait_for 10 shows '^\(all packets\).* 20$'
	expect_equal "frozen sources" "$(frozen_rows)" "$before"
	press Space
	wait_for 5 shows '^198\.18\.0\.2 '
	wait_for 5 shows_not FROZEN
}

# The kernels send an MLD report now and then: a moment is quiet when status says the same before and after.
top_at_a_quiet_moment() {
	limit status rv0 --json >"$SCRATCH/status"
	limit top rv0 --once --json --interval 100ms >"$SCRATCH/top"
	[ "$(jq .totals "$SCRATCH/status")" = "$(status_field .totals | jq .)" ]
}

# The same numbers as status and sources, to the packet.
agrees_with_status() {
	topology neighbours
	cat >"$SCRATCH/p.yaml" <<-END
		limits:
		  - {name: default, rate: 10/h, burst: 10}
		  - {name: dns, match: {protocol: udp, destination-port: 53}, rate: 5/h, burst: 5, mode: observe}
	END
	attach --config "$SCRATCH/p.yaml"
	send --frame udp4 --source 198.18.0.1..198.18.0.7 --count 140 --dport 53
	wait_for 20 top_at_a_quiet_moment
	expect_status 0 cat "$SCRATCH/top"
	for name in passed_packets dropped_packets would_drop_packets; do
		expect_json ".totals.$name" "$(jq ".totals.$name" "$SCRATCH/status")"
		expect_json ".limits.default.$name" "$(jq ".limits.default.$name" "$SCRATCH/status")"
		expect_json ".limits.dns.$name" "$(jq ".limits.dns.$name" "$SCRATCH/status")"
	done
	expect_json .totals.dropped_packets 70
	expect_json .limits.dns.would_drop_packets 35
	expect_json .buckets 14
	expect_json '.sources | length' 14
	expect_json .limits.default.passed_packets_per_second 0
	limit reset rv0 --counters >/dev/null
	expect_status 0 limit top rv0 --once --json --interval 100ms
	expect_json .totals.dropped_packets 0
}

# O-029: peaks stay when the traffic has stopped; limits that observe say what they would drop.
o029_peaks() {
	topology neighbours
	cat >"$SCRATCH/p.yaml" <<-END
		limits: [{name: watch, rate: 10 pps, burst: 10, mode: observe}]
	END
	attach --config "$SCRATCH/p.yaml"
	start_top -- --interval 500ms --by peak-packets
	send --frame udp4 --source 198.18.0.1 --rate 400 --count 800
	wait_for 10 shows '^watch~ .* 0 +(3|4)[0-9][0-9] +[0-9.]+k? +0$|^198\.18\.0\.1 +watch +0 +0 +0 +[34]'
	wait_for 10 shows '^198\.18\.0\.1 +watch +0 +0 +0 +(3[5-9]|4[0-9]|5[0-4])[0-9] +1[0-9][0-9]k'
	expect_equal "would have been dropped" \
		"$(limit status rv0 --json | jq '.limits.watch.would_drop_packets > 700')" true
}

bans_and_allows() {
	topology neighbours
	attach --rate 10/h --burst 10
	start_top -- --interval 200ms
	send --frame udp4 --source 198.18.0.1..198.18.0.2 --count 40
	send --frame udp4 --source 198.18.0.1 --count 5
	wait_for 10 shows '^198\.18\.0\.2 '
	press b
	wait_for 5 shows 'ban 198\.18\.0\.1 for how long .* 10m_'
	press Enter
	wait_for 5 shows 'ban 198\.18\.0\.1 for 10m\? y/n'
	press n
	wait_for 5 shows 'nothing was changed'
	expect_equal "not banned" "$(limit ban rv0 list)" ""
	press b Enter y
	wait_for 5 shows 'is on the ban list; undo: xdp-limit ban rv0 del 198\.18\.0\.1'
	expect_equal "banned" "$(limit ban rv0 list | cut -d' ' -f1-5)" "198.18.0.1  for another 9m"
	press Down a
	wait_for 5 shows 'exempt 198\.18\.0\.2 from all limits'
	press y
	wait_for 5 shows '198\.18\.0\.2 is on the allow list'
	expect_equal "allowed" "$(limit allow rv0 list)" 198.18.0.2
	send --frame udp4 --source 198.18.0.2 --count 5
	expect_equal "passed" "$(status_field .reasons.allowed.packets)" 5
}

# Somebody else changes the limiter: no list is touched, and top says so.
busy_is_said() {
	topology neighbours
	attach --rate 10/h --burst 10
	send --frame udp4 --source 198.18.0.1 --count 20
	start_top -- --interval 200ms
	wait_for 10 shows '^198\.18\.0\.1 '
	exec 9>"/run/xdp-limit/${PINS##*/}.lock"
	flock 9
	press b Enter y
	wait_for 5 shows 'another xdp-limit command is changing rv0'
	exec 9>&-
	expect_equal "not banned" "$(limit ban rv0 list)" ""
}

flat_says_so() {
	topology neighbours
	attach --rate 10/h --burst 10 --table flat
	send --frame udp4 --source 198.18.0.1 --count 30
	send --frame udp4 --source 198.18.0.2 --count 3
	start_top -- --interval 200ms
	wait_for 10 shows 'flat table: only losing sources'
	wait_for 10 shows '^198\.18\.0\.1 '
	shows_not '^198\.18\.0\.2 '
	shows 'would/s dropped/s'
	expect_status 0 limit top rv0 --once --json --interval 100ms
	expect_json '.sources[0].passed_packets_per_second' null
	expect_json '.sources | length' 1
}

# Without what modern terminals have; the same words.
plain_terminals() {
	local terminal

	topology neighbours
	attach --rate 10/h --burst 10
	send --frame udp4 --source 198.18.0.1 --count 20
	for terminal in TERM=vt100 TERM=screen 'TERM=screen NO_COLOR=1' TERM=linux; do
		# shellcheck disable=SC2086 # words
		start_top $terminal -- --interval 200ms
		wait_for 10 shows '^198\.18\.0\.1 '
		if [ "$terminal" != TERM=screen ] && [ "$terminal" != TERM=linux ]; then
			tmux_ capture-pane -pe >"$SCRATCH/escapes"
			! grep -qP '\x1b\[[0-9;]*3[0-7]m' "$SCRATCH/escapes" || fail "colours with $terminal"
		fi
		press q
		wait_for 5 shows '^status 0'
		_end_tmux
	done
	expect_status 4 in_terminal TERM=no-such-terminal
	expect_stdout 'TERM=no-such-terminal is not known here'
	expect_status 4 in_terminal TERM=dumb
	expect_stdout "TERM=dumb can't be drawn on"
}

# in_terminal ENVIRONMENT: top on a pseudo-terminal, where stderr is stdout
in_terminal() {
	env "$1" script -qec "$XDP_LIMIT --netns $SRV top rv0" /dev/null </dev/null
}

resizes() {
	topology neighbours
	attach --rate 10/h --burst 10
	send --frame udp4 --source 198.18.0.1..198.18.0.40 --count 800
	start_top -- --interval 200ms
	wait_for 10 shows '^198\.18\.0\.12 '
	wait_for 10 shows_not '^198\.18\.0\.30 '
	tmux_ resize-window -x 132 -y 50
	wait_for 10 shows '^198\.18\.0\.30 '
	wait_for 5 shows '^q quit'
	tmux_ resize-window -x 60 -y 15
	wait_for 10 shows_not '^198\.18\.0\.30 '
	wait_for 5 shows '^q quit'
	tmux_ resize-window -x 30 -y 5
	wait_for 10 shows 'too small: 40x10'
	tmux_ resize-window -x 80 -y 24
	wait_for 10 shows '^198\.18\.0\.12 '
}

# Whatever ends it, the terminal echoes and has its lines again.
restores() {
	local signal

	topology neighbours
	for signal in INT TERM HUP QUIT; do
		attach --rate 10/h --burst 10
		start_top -- --interval 200ms
		expect_equal "echo of $signal" "$(stty_says -echo)" yes
		kill "-$signal" "$(top_pid)"
		wait_for 5 shows '^status 0'
		wait_for 5 shows '[^-]icanon'
		wait_for 5 shows ' echo '
		_end_tmux
	done
	start_top -- --interval 200ms
	press C-c
	wait_for 5 shows '^status 0'
	wait_for 5 shows ' echo '
	_end_tmux
	start_top -- --interval 200ms
	limit detach rv0
	wait_for 5 shows '^status 3'
	wait_for 5 shows 'the limiter on rv0 is gone'
	wait_for 5 shows ' echo '
}

stty_says() {
	if stty -a -F "$(tmux_ display-message -p '#{pane_tty}')" | grep -q -- "$1"; then
		echo yes
	else
		echo no
	fi
}

# Another policy while it looks: names and numbers are the new one's.
follows_the_policy() {
	topology neighbours
	attach --rate 10/h --burst 10
	send --frame udp4 --source 198.18.0.1 --count 20
	start_top -- --interval 200ms
	wait_for 10 shows '^default +10/h'
	printf 'limits: [{name: other, rate: 20/h, burst: 10}]\n' >"$SCRATCH/p.yaml"
	limit apply rv0 "$SCRATCH/p.yaml" --recreate
	wait_for 10 shows 'another policy was applied'
	wait_for 10 shows '^other +20/h'
	send --frame udp4 --source 198.18.0.1 --count 20
	wait_for 10 shows '^198\.18\.0\.1 +other'
}

batch() {
	topology neighbours
	attach --rate 10/h --burst 10
	send --frame udp4 --source 198.18.0.1..198.18.0.30 --count 900
	expect_status 0 limit top rv0 --count 2 --interval 100ms --top 5
	expect_equal "blocks" "$(grep -c '^rv0: 30 buckets' <<<"$OUT")" 2
	expect_equal "sources" "$(grep -c '^198\.18\.' <<<"$OUT")" 10
	expect_stdout '^default .* 300 +600$'
	expect_status 0 limit top rv0 --once --interval 100ms --prefix 198.18.0.8/31 --limit default
	expect_equal "of a prefix" "$(grep -c '^198\.18\.' <<<"$OUT")" 2
	expect_status 0 limit top rv0 --count 3 --json --interval 100ms
	expect_equal "lines of JSON" "$(jq -s length <<<"$OUT")" 3
	expect_equal "lines" "$(wc -l <<<"$OUT")" 3
}

# Ten thousand packets per second at the limit, and top as often as it may: none is lost by reading.
reading_costs_nothing() {
	topology neighbours
	attach --rate 10000pps --burst 10000
	background READER limit top rv0 --batch --json --interval 100ms >/dev/null
	send --frame udp4 --source 198.18.0.0/18 --count 40000 --rate 20000
	expect_equal "passed" "$(status_field .limits.default.passed_packets)" 40000
	expect_equal "dropped" "$(status_field .totals.dropped_packets)" 0
	kill -0 "$READER" || fail "top has ended"
}

wrong_input() {
	topology
	expect_status 3 limit top rv0
	expect_stderr "no limiter on rv0"
	attach --rate 10/h
	expect_status 2 limit top rv0
	expect_stderr "top needs a terminal; --batch writes plain text"
	expect_status 2 limit top rv0 --interval 1ms --once
	expect_stderr "--interval 1ms: write 100ms to 1h"
	expect_status 2 limit top rv0 --interval soon --once
	expect_stderr "--interval: "
	expect_status 2 limit top rv0 --by size --once
	expect_stderr "--by 'size' is not known; write dropped, passed"
	expect_status 2 limit top rv0 --limit nobody --once
	expect_stderr "there is no limit 'nobody'"
	expect_status 2 limit top rv0 --prefix 192.0.2.1/24 --once
	expect_stderr "192.0.2.0/24"
	expect_status 2 limit top rv0 --count 0
	expect_stderr "--count"
	expect_status 2 limit top rv0 --once --count 2
	expect_stderr "give one of them"
	expect_status 2 limit top rv0 --top 5
	expect_stderr "--top goes with --batch"
	expect_status 2 limit top
}

run_case "rates, the worst first, a filter, q" rates_and_order
run_case "space holds the sources, counters go on" freezes
run_case "K10: at a quiet moment the numbers are those of status" agrees_with_status
run_case "O-029: peaks, and what an observing limit would drop" o029_peaks
run_case "ban and allow from the list, after a confirmation" bans_and_allows
run_case "another command holds the lock" busy_is_said
run_case "a flat table: what is not known is not shown" flat_says_so
run_case "vt100, NO_COLOR, an unknown terminal" plain_terminals
run_case "80x24, larger, smaller, too small" resizes
run_case "the terminal is put back, whatever ends it" restores
run_case "another policy while it runs" follows_the_policy
run_case "--batch, --once, --count, --json" batch
run_case "O-127: reading costs no packet" reading_costs_nothing
run_case "what it refuses" wrong_input
finish
