#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Allow, deny and ban while packets flow: who is let through, in which order, and until when.
# shellcheck source-path=SCRIPTDIR source=../lib/policy.sh
. "$(dirname "$0")/../lib/policy.sh"

FAULTY=${FAULTY:-$_net_tests/../build/tests/xdp-limit-faults}
LIMITED='{table: {sources: 1024}, limits: [{name: default, rate: 1/h, burst: 3}]}'

frame_of() {
	[[ $1 == *:* ]] && echo udp6 || echo udp4
}

# meets ADDRESS REASON: four packets of it, counted under that reason
meets() {
	local before

	before=$(reason_field "$2")
	send --frame "$(frame_of "$1")" --source "$1" --count 4
	expect_equal "$1: $2" $(($(reason_field "$2") - before)) 4
}

# limited ADDRESS: it meets the limit, with a fresh bucket
limited() {
	passes 3 --frame "$(frame_of "$1")" --source "$1" --count 4
}

list_json() {
	limit "$1" rv0 list --json | jq -c "$2"
}

expect_list() {
	expect_equal "$1 list" "$(list_json "$1" '[.[].prefix] | sort')" "$2"
}

# ---- add, del, list ------------------------------------------------------------------------------
add_list_del() {
	local list reason

	run_policy <<<"$LIMITED"
	while read -r list reason; do
		expect_list "$list" '[]'
		expect limit "$list" rv0 add 198.18.0.1 198.18.4.0/22 2001:db8:5::/48 2001:db8:6::7
		expect_list "$list" \
			'["198.18.0.1","198.18.4.0/22","2001:db8:5::/48","2001:db8:6::7"]'
		expect_equal "ends" "$(list_json "$list" '[.[].seconds_left] | unique')" '[null]'
		expect_status 0 limit "$list" rv0 list
		expect_equal "lines" "$(wc -l <<<"$OUT")" 4
		meets 198.18.0.1 "$reason"
		meets 198.18.7.255 "$reason"
		meets 2001:db8:5:9::1 "$reason"
		meets 2001:db8:6::7 "$reason"
		expect limit "$list" rv0 del 198.18.4.0/22 2001:db8:6::7
		expect_list "$list" '["198.18.0.1","2001:db8:5::/48"]'
		expect limit "$list" rv0 del 198.18.0.1 2001:db8:5::/48
		expect_list "$list" '[]'
	done <<-'END'
		allow allowed
		deny denied
		ban banned
	END
	limited 198.18.7.255
	limited 2001:db8:5:9::1
	limited 2001:db8:6::7
	limited 198.18.8.1
}

# Again is no error, and what was not there is told.
twice() {
	run_policy <<<"$LIMITED"
	expect limit deny rv0 add 198.18.0.1
	expect limit deny rv0 add 198.18.0.1 198.18.0.1
	expect_list deny '["198.18.0.1"]'
	expect_status 0 limit deny rv0 del 198.18.0.1 198.18.0.2
	expect_stderr '1 of them were not on it'
	expect_list deny '[]'
}

usage_errors() {
	local status words

	run_policy <<<"$LIMITED"
	while read -r status words; do
		# shellcheck disable=SC2086 # words
		expect_status "$status" limit $words
		expect_stderr '^xdp-limit: '
	done <<-'END'
		2 deny rv0
		2 deny rv0 add
		2 deny rv0 put 192.0.2.1
		2 deny rv0 add 192.0.2.300
		2 deny rv0 add 192.0.2.1/33
		2 deny rv0 add nosuch
		2 deny rv0 add 192.0.2.1 --for 0s
		2 deny rv0 add 192.0.2.1 --for soon
		2 deny rv0 del 192.0.2.1 --for 1m
		2 deny rv0 add --file nosuch.txt
		3 deny rv1 add 192.0.2.1
	END
	expect_list deny '[]'
	limit detach rv0 >/dev/null
	expect_status 3 limit ban rv0 list
}

# ---- order ---------------------------------------------------------------------------------------
order() {
	run_policy <<-'END'
		table: {sources: 1024}
		allow: [198.18.1.0/24, 198.18.2.7]
		deny: [198.18.2.0/24, 198.18.3.0/24]
		limits: [{name: default, rate: 1/h, burst: 3}]
	END
	meets 198.18.1.1 allowed
	meets 198.18.2.7 allowed
	meets 198.18.2.8 denied
	# The same prefix on both: denied, whichever is the file's.
	expect limit deny rv0 add 198.18.1.0/24
	expect limit allow rv0 add 198.18.3.0/24
	meets 198.18.1.1 denied
	meets 198.18.3.1 denied
	# A longer one wins, and a ban before both.
	expect limit allow rv0 add 198.18.3.64/26
	meets 198.18.3.65 allowed
	meets 198.18.3.1 denied
	expect limit ban rv0 add 198.18.0.0/16
	meets 198.18.3.65 banned
	meets 198.18.2.7 banned
	meets 198.18.9.9 banned
	expect limit ban rv0 del 198.18.0.0/16
	meets 198.18.3.65 allowed
	limited 198.18.9.9
}

nested() {
	run_policy <<<"$LIMITED"
	expect limit deny rv0 add 10.0.0.0/8 10.1.2.0/24 2001:db8::/32
	expect limit allow rv0 add 10.1.0.0/16 10.1.2.3 2001:db8:1::/48
	meets 10.2.0.1 denied
	meets 10.1.9.1 allowed
	meets 10.1.2.4 denied
	meets 10.1.2.3 allowed
	meets 2001:db8:2::1 denied
	meets 2001:db8:1::1 allowed
	expect limit deny rv0 del 10.1.2.0/24
	meets 10.1.2.4 allowed
	expect limit allow rv0 del 10.1.0.0/16
	meets 10.1.9.1 denied
	meets 10.1.2.3 allowed
}

# O-023: who is allowed loses nothing, and nothing is kept for it.
relays() {
	run_policy <<-'END'
		table: {sources: 1024}
		allow: [203.0.113.0/24]
		limits: [{name: default, rate: 100 pps, burst: 100}]
	END
	passes 10000 --frame udp4 --source 203.0.113.7 --count 10000
	expect_equal "buckets" "$(status_field .table.used)" 0
	send --frame udp4 --source 198.51.100.7 --count 1000
	expect_at_least "dropped of another" "$(reason_field over_limit)" 700
	expect limit deny rv0 add 203.0.113.9
	meets 203.0.113.9 denied
	meets 203.0.113.8 allowed
}

# ---- until then ----------------------------------------------------------------------------------
# One packet; remembers when it was on its way, first of all and at last.
let_in() {
	SENT_AT=${EPOCHREALTIME/./}
	send --frame udp4 --source "$1" --count 1
	[ "$(source_field "$1" '.passed_packets // 0')" -gt 0 ] && return
	REFUSED_AT=$SENT_AT
	return 1
}

# O-093: nothing of ours runs when the time comes.
ends_by_itself() {
	local list before after

	run_policy <<<"$LIMITED"
	before=${EPOCHREALTIME/./}
	expect limit ban rv0 add 198.18.0.1 --for 2s
	after=${EPOCHREALTIME/./}
	meets 198.18.0.1 banned
	expect_between "seconds left" "$(list_json ban '.[0].seconds_left')" 0 2
	expect limit deny rv0 add 198.18.1.0/24 --for 2s
	expect limit allow rv0 add 198.18.2.1 --for 2s
	wait_for 4 let_in 198.18.0.1
	expect_at_least "microseconds until one passed" $((${EPOCHREALTIME/./} - before)) 2000000
	expect_at_most "microseconds until the last one refused" $((REFUSED_AT - after)) 2000000
	wait_for 4 let_in 198.18.1.1
	# Allowed, it has no bucket; then the limit lets the first through.
	wait_for 4 let_in 198.18.2.1
	for list in ban deny allow; do
		expect_list $list '[]'
	done
}

# O-094
long_times() {
	run_policy <<<"$LIMITED"
	expect limit ban rv0 add 198.18.0.30 --for 30d
	expect limit ban rv0 add 198.18.0.40 --for 400d
	expect_between "30 days" "$(list_json ban \
		'.[] | select(.prefix == "198.18.0.30").seconds_left')" $((30 * 86400 - 5)) $((30 * 86400))
	expect_between "400 days" "$(list_json ban \
		'.[] | select(.prefix == "198.18.0.40").seconds_left')" $((400 * 86400 - 5)) $((400 * 86400))
	expect_status 0 limit ban rv0 list
	expect_stdout '^198\.18\.0\.30 +for another 29d 23h 59m [0-9]+s$'
	meets 198.18.0.40 banned
}

# The later word holds: shorter, longer, for ever.
time_changed() {
	run_policy <<<"$LIMITED"
	expect limit ban rv0 add 198.18.0.1 --for 1ms
	expect limit ban rv0 add 198.18.0.1
	expect_equal "left" "$(list_json ban '.[0].seconds_left')" null
	meets 198.18.0.1 banned
	expect limit ban rv0 add 198.18.0.1 --for 1ms
	wait_for 2 let_in 198.18.0.1
}

# ---- files ---------------------------------------------------------------------------------------
# addresses FIRST COUNT: so many, from 10.0.0.0 on
addresses() {
	awk -v first="$1" -v count="$2" 'BEGIN {
		for (i = first; i < first + count; i++)
			printf "10.%d.%d.%d\n", i / 65536, i / 256 % 256, i % 256
	}'
}

million() {
	local start took

	run_policy <<<"$LIMITED"
	addresses 0 1000000 >"$SCRATCH/list"
	start=${EPOCHREALTIME/./}
	expect limit deny rv0 add --file "$SCRATCH/list"
	took=$((${EPOCHREALTIME/./} - start))
	note "1 million addresses in $((took / 1000)) ms"
	expect_at_most "microseconds" "$took" 20000000
	meets 10.0.0.0 denied
	meets 10.15.66.63 denied
	limited 10.15.66.64
	# One more than fits: nothing of it is there, and what was there stays.
	addresses 1000000 48577 >"$SCRATCH/more"
	expect_status 1 limit deny rv0 add --file "$SCRATCH/more"
	expect_stderr '1048576 addresses.*10\.16\.0\.0 is the first'
	limited 10.15.66.65
	meets 10.3.3.3 denied
	expect_equal "entries" "$(limit deny rv0 list | wc -l)" 1000000
}

with_comments() {
	run_policy <<<"$LIMITED"
	printf '# who\n\n198.18.0.1  # one\n\t198.18.1.0/24\r\n2001:db8:7::/48\n' >"$SCRATCH/list"
	expect limit ban rv0 add --file "$SCRATCH/list" --for 1h
	expect_list ban '["198.18.0.1","198.18.1.0/24","2001:db8:7::/48"]'
	expect limit ban rv0 del --file - <"$SCRATCH/list"
	expect_list ban '[]'
}

bad_line() {
	run_policy <<<"$LIMITED"
	printf '198.18.0.1\n198.18.1.0/24\n\n198.18.0.256\n198.18.0.3\n' >"$SCRATCH/list"
	expect_status 2 limit deny rv0 add --file "$SCRATCH/list"
	expect_stderr 'list:4: .*198\.18\.0\.256'
	expect_list deny '[]'
	limited 198.18.0.1
	limited 198.18.1.1
}

full_of_prefixes() {
	run_policy <<<"$LIMITED"
	expect limit deny rv0 add 198.18.0.0/16
	awk 'BEGIN { for (i = 0; i < 65536; i++) printf "10.%d.%d.0/24\n", i / 256, i % 256 }' \
		>"$SCRATCH/list"
	expect_status 1 timeout 20 "$XDP_LIMIT" --netns "$SRV" deny rv0 add --file "$SCRATCH/list"
	expect_stderr '65536 prefixes'
	expect_list deny '["198.18.0.0/16"]'
	limited 10.0.0.1
	meets 198.18.0.1 denied
}

# ---- banned by a limit ---------------------------------------------------------------------------
penalty_box() {
	run_policy <<-'END'
		table: {sources: 1024}
		limits:
		  - {name: dns, match: {protocol: udp, destination-port: 53}, rate: 1/h, burst: 3,
		     on-exceed: {ban: 1h}}
	END
	passes 3 --frame udp4 --source 198.18.0.1 --dport 53 --count 4
	expect_equal "over the limit" "$(reason_field over_limit)" 1
	# All that it sends, not only what the limit meets.
	passes 0 --frame tcp-syn4 --source 198.18.0.1 --dport 80 --count 5
	expect_equal "banned" "$(reason_field banned)" 5
	expect_list ban '["198.18.0.1"]'
	expect_between "seconds left" "$(list_json ban '.[0].seconds_left')" 3590 3600
	expect_equal "listed" "$(get_field 198.18.0.1 .listed)" banned
	expect limit ban rv0 del 198.18.0.1
	expect_list ban '[]'
	passes 5 --frame tcp-syn4 --source 198.18.0.1 --dport 80 --count 5
	expect_equal "listed" "$(get_field 198.18.0.1 .listed)" null
}

# As it is listed, so it can be ended.
penalty_of_a_prefix() {
	local listed

	run_policy <<-'END'
		table: {sources: 1024}
		limits: [{name: default, rate: 1/h, burst: 3, on-exceed: {ban: 1h}}]
	END
	passes 3 --frame udp6 --source 2001:db8:9:1::1 --count 4
	passes 0 --frame udp6 --source 2001:db8:9:1::2 --count 4
	listed=$(list_json ban '.[0].prefix' | tr -d '"')
	expect_equal "listed" "$listed" 2001:db8:9:1::/64
	expect limit ban rv0 del "$listed"
	expect_list ban '[]'
	expect limit reset rv0 2001:db8:9:1::1
	passes 3 --frame udp6 --source 2001:db8:9:1::2 --count 4
}

# O-027: what would be dropped is counted, and nobody is banned for it.
observed() {
	run_policy <<-'END'
		table: {sources: 1024}
		limits: [{name: dns, match: {protocol: udp}, rate: 1/h, burst: 20, mode: observe,
		          on-exceed: {ban: 1h}}]
	END
	passes 1000 --frame udp4 --source 192.0.2.53 --count 1000
	expect_equal "would drop" "$(limit_field dns .would_drop_packets)" 980
	expect_equal "dropped" "$(status_field .totals.dropped_packets)" 0
	expect_list ban '[]'
	apply_policy <<-'END'
		allow: [192.0.2.99]
		limits: [{name: dns, match: {protocol: udp}, rate: 1/h, burst: 20}]
	END
	passes 0 --frame udp4 --source 192.0.2.53 --count 10
	passes 50 --frame udp4 --source 192.0.2.99 --count 50
}

# ---- what get says -------------------------------------------------------------------------------
told_by_get() {
	local now until address listed tier remaining retry

	run_policy <<-'END'
		table: {sources: 1024}
		tiers: [{name: pro, sources: [198.18.3.0/24]}]
		limits: [{name: default, rate: 1/h, burst: 3, tiers: {pro: {rate: 1/h, burst: 5}}}]
	END
	expect limit allow rv0 add 198.18.1.0/24
	expect limit deny rv0 add 198.18.2.0/24
	expect limit ban rv0 add 198.18.3.0/28 --for 1h
	expect limit ban rv0 add 198.18.4.1
	now=$(date +%s)
	while read -r address listed tier; do
		expect_equal "$address" "$(get_field "$address" '"\(.listed) \(.tier)"')" "$listed $tier"
	done <<-'END'
		198.18.0.1 null null
		198.18.1.1 allowed null
		198.18.2.1 denied null
		198.18.3.1 banned pro
		198.18.3.99 null pro
		198.18.4.1 banned null
	END
	while read -r address remaining retry; do
		expect_equal "$address, remaining and retry after" \
			"$(get_field "$address" '.limits[0] | "\(.remaining) \(.retry_after_seconds |
				if . then floor / 100 | floor else . end)"')" "$remaining $retry"
	done <<-'END'
		198.18.0.1 3 0
		198.18.2.1 0 null
		198.18.3.1 0 35
		198.18.3.99 5 0
		198.18.4.1 0 null
	END
	until=$(get_field 198.18.3.1 .banned_until)
	expect_between "banned until" "$until" $((now + 3590)) $((now + 3605))
	expect_equal "banned until" "$(get_field 198.18.4.1 .banned_until)" forever
	expect_equal "banned until" "$(get_field 198.18.1.1 .banned_until)" null
	expect_status 0 limit get rv0 198.18.3.1
	expect_stdout 'banned for [0-9]+ s'
	meets 198.18.3.1 banned
}

survive_attach() {
	local more

	run_policy <<<"$LIMITED"
	expect limit ban rv0 add 198.18.0.1 --for 1h
	expect limit deny rv0 add 198.18.1.0/24
	expect limit allow rv0 add 198.18.1.7
	for more in "" "--sources 2048 --recreate"; do
		# shellcheck disable=SC2086 # options or none
		expect attach --rate 1/h --burst 4 $more
		meets 198.18.0.1 banned
		meets 198.18.1.1 denied
		meets 198.18.1.7 allowed
	done
	expect_list ban '["198.18.0.1"]'
	# A fresh attachment knows nothing of them.
	expect limit detach rv0
	expect attach --rate 1/h --burst 4 --sources 1024
	expect_list ban '[]'
	expect_list deny '[]'
	passes 4 --frame udp4 --source 198.18.0.1 --count 4
}

# killed WHERE COMMAND...: in place of that call
killed() {
	local where=$1
	shift

	rm -f "$SCRATCH/fired"
	{
		FAULT=$where:SIGKILL FAULT_FIRED=$SCRATCH/fired "$FAULTY" --netns "$SRV" "$@" || true
	} >/dev/null 2>&1
	expect test -e "$SCRATCH/fired"
}

# More than the first set of addresses holds.
grows_after_a_kill() {
	local i

	[ -x "$FAULTY" ] || skip "needs $FAULTY"
	run_policy <<<"$LIMITED"
	for i in 1 2 3 4 5; do
		seq -f "198.18.$i.%g" 0 255
	done >"$SCRATCH/many"
	killed bpf_link_update:1 apply rv0 "$SCRATCH/policy.yaml"
	expect limit deny rv0 add --file "$SCRATCH/many"
	killed rename:1 deny rv0 del --file "$SCRATCH/many"
	expect_list deny '[]'
	expect limit deny rv0 add --file "$SCRATCH/many"
	expect_equal "listed" "$(list_json deny length)" 1280
	expect limit deny rv0 del --file "$SCRATCH/many"
	expect limit status rv0 --check
}

# The first byte of live_lists: whether packets ask the filter of addresses.
addresses_used() {
	bpftool -j map dump pinned "$PINS/switches" | jq -r '.[0].value[16]'
}

# The switch can't be set behind them: they are taken off again.
all_or_none() {
	[ -x "$FAULTY" ] || skip "needs $FAULTY"
	run_policy <<<"$LIMITED"
	expect limit deny rv0 add 198.18.1.0/24
	expect_equal "asked for addresses" "$(addresses_used)" 0x00
	FAULT=bpf_map_update_elem:3:EPERM expect_status 1 "$FAULTY" --netns "$SRV" deny rv0 add 198.18.0.1 198.18.0.2
	expect_stderr "rv0: cannot change the live lists: Operation not permitted"
	expect_list deny '["198.18.1.0/24"]'
	expect limit deny rv0 add 198.18.0.1
	expect_equal "asked for addresses" "$(addresses_used)" 0x01
}

whole_families() {
	run_policy <<<"$LIMITED"
	expect_status 0 limit deny rv0 add 0.0.0.0/0
	expect_stderr "warning: 0.0.0.0/0 on the deny list drops all of IPv4; undo: .*del 0.0.0.0/0"
	expect_status 0 limit allow rv0 add ::/0
	expect_stderr "warning: ::/0 on the allow list exempts all of IPv6; undo:"
	expect_status 0 limit deny rv0 add 0.0.0.0/1
	expect_equal "warnings" "$(grep -c "all of" <<<"$ERR")" 0
}

topology neighbours
run_case "allow, deny, ban: add, list, meet, del" add_list_del
run_case "adding twice, deleting what is not there" twice
run_case "what is refused, and with which status" usage_errors
run_case "a ban, then the longest of allow and deny, a tie denies, then the limits" order
run_case "prefixes inside prefixes, both families" nested
run_case "O-023: an allowed relay loses nothing and gets no bucket" relays
run_case "O-093: --for 2s ends in the kernel" ends_by_itself
run_case "O-094: 30 days and 400 days" long_times
run_case "the last --for holds" time_changed
run_case "O-014: 1 million addresses from a file; one too many changes nothing" million
run_case "O-014: one prefix too many changes nothing" full_of_prefixes
run_case "a file with comments, blank lines and prefixes; standard input" with_comments
run_case "a bad line is told by file and line, and changes nothing" bad_line
run_case "on-exceed: ban refuses the source, shows, and can be ended" penalty_box
run_case "on-exceed: ban of an IPv6 /64 is ended as it is listed" penalty_of_a_prefix
run_case "O-027: an observed limit drops and bans nobody" observed
run_case "get tells list, end of the ban and tier" told_by_get
run_case "a list grows and shrinks after a command was killed under way" grows_after_a_kill
run_case "addresses that can't be made known to the program are taken off again" all_or_none
run_case "all of a family: a warning with the way back" whole_families
run_case "live lists survive another attach, and --recreate, and end with detach" survive_attach
finish
