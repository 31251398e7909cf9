#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The command line as scripts and people meet it: exit statuses, help, units, what is printed.
# shellcheck source-path=SCRIPTDIR source=../lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

COMMANDS="attach detach status sources get reset doctor"
SMALL=(--sources 1024)

clean() {
	limit detach rv0 >/dev/null 2>&1 || true
}

# ---- exit statuses -------------------------------------------------------------------------------
# STATUS COMMAND LINE, once with a limiter on rv0, once without
statuses() {
	local status line

	while read -r status line; do
		[ "$status" ] || continue
		# shellcheck disable=SC2086 # words
		expect_status "$status" limit $line
		[ "$status" -eq 0 ] || expect_stderr "^xdp-limit: "
	done
}

with_limiter() {
	clean
	expect attach --rate 100/s "${SMALL[@]}"
	statuses <<-END
		0 status
		0 status rv0
		0 status rv0 --check
		0 sources rv0
		0 sources rv0 $CLI4
		0 sources rv0 --top 5 --by rate --limit default
		0 get rv0 $CLI4
		0 get rv0 $CLI6
		0 reset rv0
		0 reset rv0 $CLI4
		0 reset rv0 --counters
		0 attach rv0 --rate 200/s
		2 sources rv0 --by name
		2 sources rv0 --top 0
		2 sources rv0 --limit nosuch
		2 sources rv0 nosuch
		2 get rv0
		2 get rv0 nosuch
		2 get rv0 192.0.2.300
		2 reset rv0 nosuch
		2 reset rv0 $CLI4 $CLI6
		2 attach rv0 --rate nosuch
		0 ban rv0 add $(seq -s ' ' -f '198.18.0.%g' 1 200)
		0 ban rv0 list
		2 ban rv0 list 198.18.0.1
		2 ban rv0 list --for 1h
		2 deny rv0 list --file /dev/null
		0 detach rv0
	END
}

without_limiter() {
	clean
	statuses <<-END
		0 status
		0 status --json
		2 attach $(seq -s ' ' -f 'rv%g' 1 17) --rate 5/s
		3 status rv0
		3 status nosuch
		3 sources rv0
		3 sources nosuch
		3 get rv0 $CLI4
		3 get nosuch $CLI4
		3 reset rv0
		3 reset nosuch
		3 detach rv0
		3 detach nosuch
		0 detach rv0 --if-attached
		0 detach nosuch --if-attached
		0 detach --all
		1 attach nosuch --rate 100/s
		4 attach lo --rate 100/s
		2 attach
		2 attach rv0
		2 attach rv0 --rate
		2 attach rv0 --rate 100/s --rate 200/s
		2 attach rv0 --rate 100/s --nosuch
		2 attach rv0 --rate 100/s --mode nosuch
		2 attach rv0 --rate 100/s --json
		2 attach rv0 --burst 100
		2 detach
		2 detach rv0 --all
		2 detach rv0 --wait nosuch
		2 nosuch
		2 status rv0 rv1
		2 help nosuch
	END
	expect_status 2 "$XDP_LIMIT"
	expect_status 1 "$XDP_LIMIT" --netns nosuch status
	expect_stderr "cannot open network namespace 'nosuch'"
}

check_finds() {
	clean
	expect attach --rate 100/s "${SMALL[@]}"
	rm "$PINS/counters"
	expect_status 1 limit status rv0 --check
	expect_stdout "pins are missing"
	expect attach --rate 100/s "${SMALL[@]}"
	expect_status 0 limit status rv0 --check
}

# ---- help ----------------------------------------------------------------------------------------
help_everywhere() {
	local command line

	for command in $COMMANDS; do
		for line in "$command --help" "--help $command" "help $command" "$command -h" \
			"$command rv0 --help" "-v --json $command --help"; do
			# shellcheck disable=SC2086 # words
			expect_status 0 "$XDP_LIMIT" $line
			expect_stdout "^usage: xdp-limit $command "
			expect_no_stderr .
		done
	done
	for line in --help -h help; do
		expect_status 0 "$XDP_LIMIT" "$line"
		expect_no_stderr .
		for command in $COMMANDS; do
			expect_stdout "^  $command "
		done
	done
}

# Every option that help names is one that the command knows; a value is written in capitals, or as
# its words.
help_is_true() {
	local command option argument text

	for command in $COMMANDS; do
		expect_status 0 "$XDP_LIMIT" "$command" --help
		text=$(sed -nE 's/^  --([a-z0-9-]+ +[^ ]+) .*/\1/p' <<<"$OUT")
		expect_at_least "options of $command" "$(wc -l <<<"$text")" 4
		while read -r option argument; do
			if [[ $argument =~ ^[A-Z]+$|[|] ]]; then
				expect_status 0 "$XDP_LIMIT" "$command" "--$option" 1 --help
				expect_status 2 "$XDP_LIMIT" "$command" rv0 "--$option"
			else
				expect_status 0 "$XDP_LIMIT" "$command" "--$option" --help
			fi
		done <<<"$text"
	done
}

# ---- options of all commands, in both places -----------------------------------------------------
both_places() {
	local line

	clean
	expect attach --rate 100/s "${SMALL[@]}"
	for line in "--netns $SRV --json -v status rv0" "status --json rv0 -v --netns $SRV" \
		"--netns=$SRV status rv0 --json" "status rv0 --netns=$SRV --json --verbose" \
		"--json --netns /run/netns/$SRV status rv0"; do
		# shellcheck disable=SC2086 # words
		expect_status 0 "$XDP_LIMIT" $line
		expect_json .interface rv0
	done
	expect_status 0 "$XDP_LIMIT" get --json "$SRV" --netns "$SRV" --help
	for line in "status --json" "sources rv0 --json" "get rv0 $CLI4 --json"; do
		# shellcheck disable=SC2086 # words
		expect_status 0 limit $line
		jq . <<<"$OUT" >/dev/null || fail "not JSON: $OUT"
	done
	expect_status 0 limit status --json
	expect_json '.[0].interface' rv0
	clean
	expect_status 0 "$XDP_LIMIT" attach --rate 100/s rv0 --netns "$SRV" "${SMALL[@]}" --burst 5
	expect_equal "burst" "$(get_field "$CLI4" '.limits[0].burst')" 5
}

verbose_says_more() {
	local plain

	clean
	expect_status 4 limit attach lo --rate 100/s "${SMALL[@]}"
	plain=$(wc -l <<<"$ERR")
	expect_status 4 limit -v attach lo --rate 100/s "${SMALL[@]}"
	expect_at_least "lines with -v" "$(wc -l <<<"$ERR")" $((plain + 1))
}

# ---- output that can't be written ----------------------------------------------------------------
full() {
	"$@" >/dev/full
}

closed() {
	"$@" >&-
}

unwritable() {
	local how line

	clean
	expect attach --rate 100/s "${SMALL[@]}"
	send --frame udp4 --source "$CLI4" --count 10
	for how in full closed; do
		for line in "status" "status rv0" "status rv0 --json" "sources rv0" "sources rv0 --json" \
			"get rv0 $CLI4" "get rv0 $CLI4 --json" "--help" "--version" "get --help"; do
			# shellcheck disable=SC2086 # words
			expect_status 1 "$how" limit $line
			expect_stderr "cannot write the output"
		done
	done
}

# ---- inside ip netns exec ------------------------------------------------------------------------
# The namespace's mounts hide the bpffs: what would be pinned, or removed, is not seen from there.
netns_exec() {
	local line

	clean
	for line in "attach rv0 --rate 100/s" "detach rv0" "detach --all" "status" "status rv0" \
		"sources rv0" "get rv0 $CLI4" "reset rv0"; do
		# shellcheck disable=SC2086 # words
		expect_status 4 in_srv "$XDP_LIMIT" $line
		expect_stderr "xdp-limit --netns NAME"
	done
	! attached || fail "attached"
	expect attach --rate 100/s "${SMALL[@]}"
	expect_status 4 in_srv "$XDP_LIMIT" detach rv0
	expect limit status rv0 --check
	expect_status 0 in_srv "$XDP_LIMIT" status --help
}

# ---- units: O-095 O-097 O-100 O-101 --------------------------------------------------------------
eight_kilobits() {
	clean
	expect attach --bytes '8 kbit/s' --bytes-burst 1000B "${SMALL[@]}"
	expect_equal "rate" "$(get_field "$CLI4" '.limits[0] | "\(.rate) \(.unit)"')" "1000 bytes"
	send --frame udp4 --source "$CLI4" --size 1000 --count 31 --rate 10
	expect_between "passed" "$(source_field "$CLI4" .passed_packets)" 3 5
}

# refused OPTION VALUE HINT...: the option is named, and the right spelling
bandwidth_needs_unit() {
	local value

	clean
	for value in 1000 8k 8kbps 8bps '8 kbit' '8 kB' 1000pps; do
		expect_status 2 attach --bytes "$value"
		expect_stderr "^xdp-limit: --bytes: "
	done
	expect_status 2 attach --bytes '1 MB/s' --bytes-burst 1000
	expect_stderr "--bytes-burst: .*\"1000 B\""
	expect_status 2 attach --rate 10Mbit/s
	expect_stderr "^xdp-limit: --rate: "
	! attached || fail "attached"
}

# Bytes are those of the frame: 46 of a UDP packet whose IP length is 32; padding and tags count.
frame_bytes() {
	local frame bytes

	while read -r frame bytes; do
		clean
		expect attach --bytes '1 MB/s' "${SMALL[@]}"
		send --frame "$frame" --count 1
		expect_equal "bytes of $frame" "$(source_field "$CLI4" .passed_bytes)" "$bytes"
	done <<-'END'
		P4U 46
		PV8100 50
	END
	clean
	expect attach --bytes '1 MB/s' "${SMALL[@]}"
	send --frame udp4 --source "$CLI4" --size 60 --count 1
	expect_equal "bytes of a padded frame" "$(source_field "$CLI4" .passed_bytes)" 60
}

nothing_optional() {
	clean
	expect limit attach rv0 --rate 100pps
	expect_equal "burst" "$(get_field "$CLI4" '.limits[0].burst')" 100
	expect_equal "capacity" "$(status_field .table.capacity)" 1048576
	expect_equal "prefixes" "$(status_field '.table | "\(.ipv4_prefix) \(.ipv6_prefix)"')" "32 64"
	clean
	expect limit attach rv0 --bytes '8 Mbit/s'
	expect_equal "byte burst" "$(get_field "$CLI4" '.limits[0].burst')" 250000
	clean
}

explicit_zero() {
	local option

	clean
	for option in rate burst bytes bytes-burst ipv4-prefix ipv6-prefix sources wait; do
		case $option in
		rate) expect_status 2 attach --rate 0 ;;
		bytes) expect_status 2 attach --bytes 0 ;;
		*) expect_status 2 attach --rate 1/s --bytes '1 MB/s' "--$option" 0 ;;
		esac
		expect_stderr "^xdp-limit: --$option"
	done
	! attached || fail "attached"
	expect attach --rate 1/s "${SMALL[@]}" --wait 0s
}

zero_rates() {
	local rate

	clean
	for rate in 0 0/s 0pps 0.0/min; do
		expect_status 2 attach --rate "$rate"
		expect_stderr "--rate: .*block"
	done
	expect attach --rate unlimited "${SMALL[@]}"
	send --frame udp4 --source "$CLI4" --count 1000
	expect_equal "unlimited: passed" "$(status_field .limits.default.passed_packets)" 1000
	expect_equal "unlimited: dropped" "$(status_field .totals.dropped_packets)" 0
	clean
	expect attach --rate block "${SMALL[@]}"
	send --frame udp4 --source "$CLI4" --count 1000
	expect_equal "block: dropped" "$(status_field .limits.default.dropped_packets)" 1000
	expect_equal "block: passed" "$(status_field .limits.default.passed_packets)" 0
}

# ---- what is shown: O-103 O-106 O-109 ------------------------------------------------------------
each_source_once() {
	local count list

	for count in 1 2 255 256 10000; do
		clean
		expect attach --rate 1/day --burst 5 --sources 65536
		send --frame udp4 --source 198.18.0.0/16 --sources "$count" --count "$count"
		list=$(limit sources rv0 --json | jq -r '.[] | select(.source | startswith("198.18.")) | .source')
		expect_equal "rows" "$(wc -l <<<"$list")" "$count"
		expect_equal "different rows" "$(sort -u <<<"$list" | wc -l)" "$count"
		expect_equal "rows as text" "$(limit sources rv0 | grep -c '^198\.18\.')" "$count"
	done
	send --frame udp4 --source "$CLI4" --count 3
	expect_equal "get" "$(get_field "$CLI4" '.limits[0] | "\(.passed_packets) \(.remaining)"')" "3 2"
	expect_equal "sources" "$(limit sources rv0 --json |
		jq -r ".[] | select(.source == \"$CLI4\") | \"\(.passed_packets) \(.remaining)\"")" "3 2"
	expect_equal "one source" "$(source_field "$CLI4" '"\(.passed_packets) \(.remaining)"')" "3 2"
}

adds_up() {
	clean
	expect attach --rate 1/day --burst 40 "${SMALL[@]}"
	send --frame udp4 --source "$CLI4" --count 100
	send --frame udp6 --source "$CLI6" --count 30
	send --frame PARP --count 7
	expect_status 0 limit status rv0 --json
	expect_json .reasons.over_limit.dropped_packets 60
	expect_json .reasons.conforming.packets 70
	expect_json '.totals.packets == .totals.passed_packets + .totals.dropped_packets' true
	expect_json '.totals.bytes == .totals.passed_bytes + .totals.dropped_bytes' true
	expect_json '.totals.packets == ([.reasons[].packets] | add)' true
	expect_json '.totals.bytes == ([.reasons[].bytes] | add)' true
	expect_json '.totals.dropped_packets == ([.reasons[].dropped_packets] | add)' true
	expect_json '.totals.packets >= 137' true
	expect limit reset rv0 --counters
	expect_status 0 limit status rv0 --json
	expect_json '.totals.dropped_packets' 0
	expect_json '.totals.packets == ([.reasons[].packets] | add)' true
}

mapped_is_the_same() {
	local command mapped=::ffff:$CLI4

	clean
	expect attach --rate 1/day --burst 40 "${SMALL[@]}"
	send --frame udp4 --source "$CLI4" --count 15
	for mapped in "::ffff:$CLI4" ::ffff:c000:20a 0:0:0:0:0:FFFF:C000:020A; do
		for command in get sources; do
			expect_equal "$command $mapped" \
				"$(limit "$command" rv0 "$mapped" --json | jq -c "$STEADY")" \
				"$(limit "$command" rv0 "$CLI4" --json | jq -c "$STEADY")"
		done
	done
	expect_equal "passed" "$(get_field "$mapped" '.limits[0].passed_packets')" 15
	expect_status 0 limit reset rv0 "::ffff:$CLI4"
	expect_stdout "^$CLI4: fresh bucket"
}

# Without what time changes.
STEADY='walk(if type == "object" then del(.reset_seconds, .retry_after_seconds) else . end)'

topology neighbours
run_case "exit statuses with a limiter" with_limiter
run_case "exit statuses without one" without_limiter
run_case "status --check: 1 when a pin is missing, 0 once attach has made it again" check_finds
run_case "--help: stdout, status 0, for every command in every place" help_everywhere
run_case "--help names options that are there" help_is_true
run_case "--netns, --json and -v before and after the command" both_places
run_case "-v says more" verbose_says_more
run_case "an output that can't be written: exit 1" unwritable
run_case "inside ip netns exec every command refuses and names --netns" netns_exec
run_case "O-095: 8 kbit/s is 1000 bytes per second" eight_kilobits
run_case "O-095: a bandwidth without its unit is refused" bandwidth_needs_unit
run_case "O-097: bytes are those of the frame" frame_bytes
run_case "O-100: every optional value can be left out" nothing_optional
run_case "O-100: an explicit 0 is refused, the option named" explicit_zero
run_case "O-101: rate 0 is refused; unlimited and block are words" zero_rates
run_case "O-103: each of 1, 2, 255, 256, 10000 sources is listed once; get agrees" each_source_once
run_case "O-106: packets and bytes add up over passed and dropped and over reasons" adds_up
run_case "O-109: an IPv4-mapped address is the IPv4 address" mapped_is_the_same
finish
