#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# One policy for another while packets flow: none lost, none judged by half a policy, nothing
# forgotten that still means the same.
# shellcheck source-path=SCRIPTDIR source=../lib/policy.sh
. "$(dirname "$0")/../lib/policy.sh"

TABLE='table: {sources: 1024, new-sources: unlimited}'

# Two policies that share a limit, and differ in all else.
write_two() {
	cat >"$SCRATCH/one.yaml" <<-END
		$TABLE
		allow: [203.0.113.1]
		limits:
		  - {name: default, rate: 20000 pps}
		  - {name: first, match: {protocol: udp}, rate: 30000 pps}
	END
	cat >"$SCRATCH/two.yaml" <<-END
		$TABLE
		deny: [203.0.113.2]
		tiers: [{name: pro, sources: [192.0.2.0/24]}]
		limits:
		  - {name: second, per: source/24, rate: 40000 pps, tiers: {pro: {rate: 41000 pps}}}
		  - {name: default, rate: 20000 pps}
		  - {name: third, per: interface, rate: 50000 pps}
	END
	run_policy <"$SCRATCH/two.yaml"
	limit show rv0 >"$SCRATCH/two.shown"
	run_policy <"$SCRATCH/one.yaml"
	limit show rv0 >"$SCRATCH/one.shown"
}

# It is either policy as a whole; says which.
expect_either() {
	local shown name

	shown=$(limit show rv0)
	for name in one two; do
		[ "$shown" = "$(cat "$SCRATCH/$name.shown")" ] && return
	done
	fail "neither policy:"$'\n'"$shown"
}

# flood_start RATE [OPTION...]: its JSON is in $SCRATCH/flood after flood_stop
flood_start() {
	local rate=$1
	shift

	background FLOOD in_cli "$XDPL_SEND" -i rv1 --dst-mac "$SRV_MAC" --frame udp4 \
		--source "$CLI4" --rate "$rate" --duration 60 "$@" >"$SCRATCH/flood"
	wait_for 5 seen_more_than 50
}

flood_stop() {
	stop "$FLOOD"
	settle
}

seen_more_than() {
	[ "$(status_field .totals.packets)" -gt "$1" ]
}

# ---- a hundred times -----------------------------------------------------------------------------
monitoring() {
	ip -n "$SRV" link set dev rv0 alias "$1"
	grep -q "$1" "$SCRATCH/monitor"
}

none_lost() {
	local program link monitor i

	write_two
	program=$(program_id)
	link=$(link_id)
	background monitor ip -n "$SRV" -d monitor link >"$SCRATCH/monitor"
	wait_for 5 monitoring begin
	flood_start 1000
	for ((i = 0; i < 50; i++)); do
		expect limit apply rv0 "$SCRATCH/two.yaml"
		expect limit apply rv0 "$SCRATCH/one.yaml"
	done
	flood_stop
	wait_for 5 monitoring end
	stop "$monitor"
	expect_equal "link" "$(link_id)" "$link"
	[ "$(program_id)" -ne "$program" ] || fail "still program $program"
	expect_ours
	expect_at_least "sent" "$(jq .sent "$SCRATCH/flood")" 5000
	expect_equal "passed" "$(source_field "$CLI4" .passed_packets)" "$(jq .sent "$SCRATCH/flood")"
	expect_equal "dropped" "$(status_field .totals.dropped_packets)" 0
	expect_equal "conforming" "$(reason_field conforming)" "$(jq .sent "$SCRATCH/flood")"
	! grep 'state DOWN\|NO-CARRIER\|Deleted' "$SCRATCH/monitor" || fail "the link changed"
}

# ---- another rate --------------------------------------------------------------------------------
one_limit() {
	echo "$TABLE"
	echo "limits: [{name: default, rate: $1, burst: $2}]"
}

milliseconds() {
	echo $((${EPOCHREALTIME/./} / 1000))
}

# Packets that passed, between two moments: the earliest and the latest that they may stand for.
measure() {
	FROM=$(milliseconds)
	COUNT=$(source_field "$CLI4" .passed_packets)
	TO=$(milliseconds)
}

faster_at_once() {
	local from to count

	run_policy < <(one_limit '10 pps' 10)
	flood_start 5000
	wait_for 5 limited
	apply_policy < <(one_limit '1000 pps' 20)
	sleep 0.1
	measure
	from=$FROM to=$TO count=$COUNT
	sleep 0.7
	measure
	flood_stop
	expect_between "passed in $((FROM - to)) to $((TO - from)) ms" $((COUNT - count)) \
		$(((FROM - to) * 97 / 100)) $(((TO - from) * 103 / 100 + 20))
}

limited() {
	[ "$(reason_field over_limit)" -gt 100 ]
}

slower_at_once() {
	local count

	run_policy < <(one_limit '1000 pps' 1000)
	send --frame udp4 --count 10
	apply_policy < <(one_limit '10/h' 15)
	send --frame udp4 --count 2000
	count=$(source_field "$CLI4" .passed_packets)
	expect_between "passed" "$count" 10 25
	# From a source that used up what it had.
	run_policy < <(one_limit '1000 pps' 100)
	flood_start 5000
	wait_for 5 limited
	apply_policy < <(one_limit '10/h' 15)
	measure
	count=$COUNT
	wait_for 5 seen_more_than $(($(status_field .totals.packets) + 1000))
	measure
	flood_stop
	expect_at_most "passed of the new burst" $((COUNT - count)) 15
}

# ---- what survives -------------------------------------------------------------------------------
state_survives() {
	run_policy <<-END
		$TABLE
		limits:
		  - {name: default, rate: 1/h, burst: 30}
		  - {name: old, match: {destination-port: 7}, rate: 1/h, burst: 3}
		  - {name: older, match: {destination-port: 8}, rate: 1/h, burst: 3}
	END
	passes 30 --frame udp4 --count 50
	passes 20 --frame udp4 --source 192.0.2.20 --count 20
	apply_policy <<-END
		$TABLE
		limits:
		  - {name: new, match: {protocol: udp}, rate: 1/h, burst: 25}
		  - {name: default, rate: 1/h, burst: 30}
	END
	expect_equal "passed" "$(source_field "$CLI4" .passed_packets)" 30
	expect_equal "dropped" "$(limit_field default .dropped_packets)" 20
	expect_equal "remaining of the new limit" "$(get_limit "$CLI4" new .remaining)" 25
	passes 0 --frame udp4 --count 50
	passes 10 --frame udp4 --source 192.0.2.20 --count 50
	expect_equal "totals" "$(reason_field conforming)" 60
	expect_equal "dropped" "$(limit_field default .dropped_packets)" 110
}

# A limit that left and comes again is a new one; it is given no other limit's bucket.
another_limit() {
	local name

	# Five of a kind make a table with room for three more names.
	run_policy <<-END
		$TABLE
		limits: [{name: a, rate: 1/h}, {name: b, rate: 1/h}, {name: c, rate: 1/h},
		         {name: first, rate: 1/h}, {name: d, rate: 1/h}]
	END
	for name in first second third; do
		apply_policy <<-END
			$TABLE
			limits: [{name: $name, rate: 1/h, burst: 12}]
		END
		passes 12 --frame udp4 --count 20
	done
	# Nor does one of another kind go on with what the old one counted.
	apply_policy <<-END
		$TABLE
		limits: [{name: third, rate: 1 B/s, burst: 600 B}]
	END
	passes 10 --frame udp4 --size 60 --count 20
}

lists_survive() {
	local left

	run_policy <<-END
		$TABLE
		limits:
		  - {name: default, rate: 1/h, burst: 5, on-exceed: {ban: 1h}}
		  - {name: other, match: {protocol: tcp}, rate: 1/h, burst: 6}
	END
	expect limit ban rv0 add 198.18.0.1 --for 2h
	expect limit deny rv0 add 198.18.1.0/24
	expect limit allow rv0 add 198.18.1.7
	passes 5 --frame udp4 --source 198.18.2.1 --count 9
	apply_policy <<-END
		$TABLE
		limits: [{name: other, rate: 1/h, burst: 6}]
	END
	passes 0 --frame udp4 --source 198.18.0.1 --count 9
	passes 0 --frame udp4 --source 198.18.1.1 --count 9
	passes 9 --frame udp4 --source 198.18.1.7 --count 9
	passes 0 --frame udp4 --source 198.18.2.1 --count 9
	left=$(limit ban rv0 list --json | jq '.[] | select(.prefix == "198.18.0.1").seconds_left')
	expect_between "seconds left" "$left" 7100 7200
	expect_equal "bans" "$(limit ban rv0 list --json | jq length)" 2
	expect limit ban rv0 del 198.18.2.1
	passes 6 --frame udp4 --source 198.18.2.1 --count 9
}

# ---- refused -------------------------------------------------------------------------------------
bad_file() {
	local program shown

	write_two
	program=$(program_id)
	shown=$(limit show rv0)
	sed 's/20000 pps/20000 bps/' "$SCRATCH/two.yaml" >"$SCRATCH/bad.yaml"
	expect_status 2 limit apply rv0 "$SCRATCH/bad.yaml"
	expect_stderr "bad\.yaml:6:[0-9]+: .*bps"
	expect_status 2 limit apply rv0 "$SCRATCH/nosuch.yaml"
	expect_status 2 limit apply rv0 - <<<'limits: ['
	expect_equal "program" "$(program_id)" "$program"
	expect_equal "show" "$(limit show rv0)" "$shown"
	expect_ours
}

# KEY VALUE: what the table is made with
not_without_recreate() {
	local key value program

	while read -r key value; do
		run_policy <<-END
			table: {sources: 1024}
			limits: [{name: default, rate: 1/h, burst: 5}]
		END
		passes 5 --frame udp4 --count 9
		program=$(program_id)
		echo "{table: {$key: $value}, limits: [{name: default, rate: 1/h, burst: 6}]}" \
			>"$SCRATCH/other.yaml"
		expect_status 1 limit apply rv0 "$SCRATCH/other.yaml"
		expect_stderr '--recreate'
		expect_equal "program" "$(program_id)" "$program"
		passes 0 --frame udp4 --count 9
		expect limit apply rv0 "$SCRATCH/other.yaml" --recreate
		expect_ours
		passes 6 --frame udp4 --count 9
	done <<-'END'
		sources 2048
		ipv4-prefix 24
		ipv6-prefix 56
	END
}

nothing_runs() {
	limit detach rv0 >/dev/null 2>&1 || true
	one_limit 1/h 5 >"$SCRATCH/it.yaml"
	expect_status 3 limit apply rv0 "$SCRATCH/it.yaml"
	! attached || fail "attached"
	! pinned || fail "pins are left"
}

dry_run() {
	run_policy < <(one_limit 1/h 5)
	passes 5 --frame udp4 --count 9
	apply_policy < <(one_limit 1/h 5 && echo 'dry-run: true')
	passes 20 --frame udp4 --count 20
	expect_equal "would drop" "$(status_field .totals.would_drop_packets)" 20
	expect_equal "dry run" "$(status_field .dry_run)" true
	apply_policy < <(one_limit 1/h 5)
	passes 0 --frame udp4 --count 9
	passes 5 --frame udp4 --source 192.0.2.30 --count 9
}

# ---- several commands ----------------------------------------------------------------------------
lock_file() {
	echo "/run/xdp-limit/${PINS##*/}.lock"
}

held() {
	! flock -n "$(lock_file)" true
}

busy() {
	local holder waiter

	write_two
	background holder flock --no-fork "$(lock_file)" sleep 60
	wait_for 5 held
	expect_status 5 limit apply rv0 "$SCRATCH/two.yaml"
	expect_stderr 'another xdp-limit command.*--wait'
	expect_status 5 limit apply rv0 "$SCRATCH/two.yaml" --wait 100ms
	expect_equal "show" "$(limit show rv0)" "$(cat "$SCRATCH/one.shown")"
	background waiter limit apply rv0 "$SCRATCH/two.yaml" --wait 20s >"$SCRATCH/log" 2>&1
	stop "$holder"
	wait "$waiter" || fail "status $?: $(cat "$SCRATCH/log")"
	expect_equal "show" "$(limit show rv0)" "$(cat "$SCRATCH/two.shown")"
}

at_once() {
	local first second status i

	write_two
	for ((i = 0; i < 5; i++)); do
		background first limit apply rv0 "$SCRATCH/one.yaml" >/dev/null 2>&1
		background second limit apply rv0 "$SCRATCH/two.yaml" >/dev/null 2>&1
		status=0
		wait "$first" || status=$?
		wait "$second" || status+=" $?"
		[[ "$status" =~ ^(0|5|0\ 5)$ ]] || fail "statuses: $status"
		expect_either
		expect_ours
	done
}

# ---- killed --------------------------------------------------------------------------------------
killed_anywhere() {
	local victim start took i name=one

	write_two
	start=$(milliseconds)
	expect limit apply rv0 "$SCRATCH/one.yaml"
	took=$(($(milliseconds) - start))
	flood_start 1000
	for ((i = 0; i < 20; i++)); do
		[ $name = one ] && name=two || name=one
		background victim limit apply rv0 "$SCRATCH/$name.yaml" >/dev/null 2>&1
		sleep "$(printf '0.%03d' $((RANDOM % took)))"
		kill -KILL "$victim" 2>/dev/null || true
		wait "$victim" 2>/dev/null || true
		expect_equal "attachments" "$(attachments)" 1
		expect_either
		expect limit apply rv0 "$SCRATCH/$name.yaml"
		expect_equal "new pins left" "$(find "$PINS" -name '*_new')" ""
	done
	flood_stop
	expect_ours
	expect_equal "show" "$(limit show rv0)" "$(cat "$SCRATCH/$name.shown")"
	expect_equal "dropped" "$(status_field .totals.dropped_packets)" 0
	expect_equal "passed" "$(reason_field conforming)" "$(jq .sent "$SCRATCH/flood")"
}

topology neighbours
run_case "1000 pps through 100 applies: none lost, the link stays as it is" none_lost
run_case "O-088: a higher rate holds within 100 ms" faster_at_once
run_case "O-088: a lower rate hands out no more than the new burst" slower_at_once
run_case "buckets and counters of a limit that stays go on" state_survives
run_case "a limit that comes anew starts with full buckets" another_limit
run_case "bans and live lists survive" lists_survive
run_case "a bad file changes nothing" bad_file
run_case "what needs another table says so, and changes nothing without --recreate" \
	not_without_recreate
run_case "apply where nothing runs changes nothing" nothing_runs
run_case "a dry run and back" dry_run
run_case "while another command works: status 5, or --wait" busy
run_case "two applies at once: one policy or the other" at_once
run_case "kill -9 at 20 moments: one program, one policy, and the next apply mends the rest" \
	killed_anywhere
finish
