#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# O-126: what the kernel accounts for all maps of a limiter, against what attach says and the formula of
# docs/design.md allows; what a policy doesn't use takes next to nothing.
# shellcheck source-path=SCRIPTDIR source=../lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

[ "$(command -v bpftool)" ] || skip "needs bpftool"

# Before, memlock is entries times sizes, whatever was allocated.
printf '%s\n' 6.4 "$(uname -r)" | sort -CV || skip "memlock is a guess before Linux 6.4"

MIB=1048576

# memlock NAME...: bytes of these maps of the running program, of all without a name. A map in `live_exact`
# is none of the program's: it is found by its id.
memlock() {
	local id ids inner

	ids=$(bpftool -j prog show id "$(status_field .program_id)" | jq '.map_ids[]')
	inner=$(bpftool -j map dump pinned "$PINS/live_exact" |
		jq -r '.[0].value | map(.[2:]) | reverse | join("")')
	for id in $ids $((16#$inner)); do
		bpftool -j map show id "$id"
	done | jq -s '[.[] | select(.name | IN($ARGS.positional[]) or ($ARGS.positional == []))
		| .bytes_memlock] | add' --args "$@"
}

said_bytes() {
	sed -nE 's/.*about ([0-9.]+) ([KMG]iB) of kernel memory/\1 \2/p' <<<"$ERR" |
		awk '{ print $1 * 1024 ^ (index("KMG", substr($2, 1, 1))) }'
}

# What is made anew before --recreate is handed on, so each case has an interface of its own.
expect_within_said() {
	local took said

	expect_status 0 attach "$@"
	took=$(memlock)
	said=$(said_bytes)
	note "$*: $took bytes of $said"
	# What is said is rounded to a tenth.
	expect_between "bytes of all maps" "$took" 1 "$(jq -n "$said * 1.02")"
}

table_of() {
	topology
	expect_within_said --rate 100pps --sources "$1"
	expect_between "bytes beside the table" $(($(memlock) - $(memlock buckets))) 1 $MIB
	expect_between "bytes per source" $(($(memlock buckets) / $1)) 1 144
}

policy_of() {
	topology
	cat >"$SCRATCH/policy.yaml"
	expect_within_said --config "$SCRATCH/policy.yaml"
}

with_lists() {
	policy_of <<-EOF
		deny: [$(seq -s, -f 198.51.100.%.0f 1 200), 203.0.113.0/24]
		tiers:
		  - {name: near, sources: [$(seq -s, -f 10.%.0f.0.0/16 1 200)]}
		limits:
		  - {name: default, rate: 100 pps, tiers: {near: 1000 pps}}
		  - {name: dns, match: {protocol: udp, destination-port: 53}, rate: 50 pps}
		table: {sources: 1024}
	EOF
}

with_bans() {
	policy_of <<-EOF
		limits: [{name: default, rate: 100 pps, on-exceed: {ban: 1m}}]
		table: {sources: 1024}
	EOF
	expect_at_least "bytes of the penalty box" "$(memlock penalties)" $((4 * MIB))
}

# The penalty box comes with the first limit that bans, and goes with the last.
bans_come_later() {
	topology
	cat >"$SCRATCH/bans.yaml" <<-EOF
		limits: [{name: default, rate: 1/h, burst: 2 packets, on-exceed: {ban: 1h}}]
		table: {sources: 1024}
	EOF
	expect attach --rate 1/h --burst 2 --sources 1024
	expect_between "bytes without" "$(memlock penalties)" 1 4096
	expect limit apply rv0 "$SCRATCH/bans.yaml"
	expect_at_least "bytes with" "$(memlock penalties)" $((4 * MIB))
	send --frame udp4 --source 192.0.2.66 --count 5
	expect_equal "on the ban list" "$(limit ban rv0 list --json | jq length)" 1
	# Who serves a ban goes on to serve it.
	expect attach --rate 1/h --burst 2
	expect_equal "still on it" "$(limit ban rv0 list --json | jq length)" 1
	expect limit ban rv0 del 192.0.2.66
	expect attach --rate 1/h --burst 2
	expect_between "bytes without again" "$(memlock penalties)" 1 4096
}

# Memory comes with what is listed, and goes with the last.
live_lists() {
	local before

	topology
	attach --rate 100pps --sources 1024
	before=$(memlock live_set)
	expect_between "bytes before" "$before" 1 32768
	seq -f 198.18.0.%.0f 1 250 >"$SCRATCH/few"
	for i in {0..255}; do seq -f "198.19.$i.%.0f" 0 255; done >"$SCRATCH/many"
	expect limit deny rv0 add --file "$SCRATCH/few"
	expect limit deny rv0 add --file "$SCRATCH/many"
	expect_equal "listed" "$(limit deny rv0 list --json | jq length)" 65786
	expect_between "bytes with 65 786" "$(memlock live_set)" $MIB $((16 * MIB))
	expect limit deny rv0 del --file "$SCRATCH/many"
	expect limit deny rv0 del --file "$SCRATCH/few"
	expect_equal "bytes after" "$(memlock live_set)" "$before"
}

run_case "O-126: 1024 sources" table_of 1024
run_case "O-126: 65 536 sources" table_of 65536
run_case "O-126: 1 048 576 sources" table_of 1048576
run_case "O-126: lists, tiers and matches take what they hold" with_lists
run_case "O-126: bans take the penalty box" with_bans
run_case "O-126: the penalty box comes and goes with the bans" bans_come_later
run_case "O-126: live lists take memory as they grow, and give it back" live_lists
finish
