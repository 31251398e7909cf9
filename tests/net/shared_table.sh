#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# One table over several interfaces: one budget for a source, wherever it comes in.
# shellcheck source-path=SCRIPTDIR source=../lib/policy.sh
. "$(dirname "$0")/../lib/policy.sh"

FAULTY=${FAULTY:-$_net_tests/../build/tests/xdp-limit-faults}
[ -x "$FAULTY" ] || skip "needs $FAULTY"

# Beside rv0, to rv1 of the client, two more: rv2 to cv2, rv3 to cv3, both ends in the server's.
topology_shared() {
	local i

	topology neighbours
	for i in 2 3; do
		ip -n "$SRV" link add "rv$i" type veth peer name "cv$i"
		ip -n "$SRV" link set "rv$i" up
		ip -n "$SRV" link set "cv$i" up
	done
}

policy() {
	echo "{table: {sources: 1024, type: $1}, limits: [{name: default, rate: 1/h, burst: $2}]}"
}

# share TYPE BURST INTERFACE...
share() {
	policy "$1" "$2" >"$SCRATCH/policy.yaml"
	shift 2
	expect limit attach "$@" --config "$SCRATCH/policy.yaml" --share-table wan
}

field() {
	limit status "$1" --json | jq -r "$2"
}

passed() {
	field "$1" '.limits.default.passed_packets'
}

dropped() {
	field "$1" '.limits.default.dropped_packets'
}

seen_by() {
	field "$1" .totals.packets
}

all_seen() {
	[ "$(seen_by "$1")" -ge "$2" ]
}

# flood INTERFACE COUNT: of the same source, by that interface; until its program has seen them
flood() {
	local peer=${1/rv/cv} before

	if [ "$1" = rv0 ]; then
		send --frame udp4 --count "$2"
		return
	fi
	before=$(seen_by "$1")
	in_srv "$XDPL_SEND" -i "$peer" --dst-mac "$SRV_MAC" --src-mac "$CLI_MAC" --frame udp4 \
		--count "$2" >/dev/null
	wait_for 5 all_seen "$1" $((before + $2))
}

pins_of() {
	echo "${PINS%-*}-$(in_srv cat "/sys/class/net/$1/ifindex")"
}

# maps_of INTERFACE: "NAME ID" of each map, as the program that runs there has it.
maps_of() {
	local program

	program=$(ip -n "$SRV" -j link show dev "$1" | jq '.[0].xdp.prog.id')
	bpftool -j map show | jq -r --argjson ids "$(bpftool -j prog show id "$program" | jq .map_ids)" \
		'.[] | select(.id | IN($ids[])) | "\(.name) \(.id)"'
}

map_id() {
	maps_of "$1" | awk -v name="$2" '$1 == name { print $2 }'
}

# SHARED_MAPS or OWN_MAPS of what maps_of printed.
only() {
	local names=$1

	awk -v names=" $names " 'index(names, " " $1 " ")' | sort
}

pinned_id() {
	bpftool -j map show pinned "$(pins_of "$1")/$2" | jq .id
}

SHARED_MAPS='buckets flat limited losses tally_cache table_events gate log_slots switches guards '
SHARED_MAPS+='live_exact live_prefix live_xbits live_pbits penalties penalty_bits table ledger'
OWN_MAPS='counters budgets iface_words previous baseline listening rings event_seen durations'

expect_one_table() {
	local first other maps

	first=$(maps_of "$1")
	expect_equal "shared maps" "$(only "$SHARED_MAPS" <<<"$first" | wc -l)" "$(wc -w <<<"$SHARED_MAPS")"
	for other in "${@:2}"; do
		maps=$(maps_of "$other")
		expect_equal "maps of $1 and $other" "$(only "$SHARED_MAPS" <<<"$maps")" \
			"$(only "$SHARED_MAPS" <<<"$first")"
		expect_equal "maps that are both's own" "$(comm -12 <(only "$OWN_MAPS" <<<"$maps") \
			<(only "$OWN_MAPS" <<<"$first"))" ""
		expect_equal "pinned buckets of $other" "$(pinned_id "$other" buckets)" \
			"$(pinned_id "$1" buckets)"
	done
}

expect_with() {
	expect_equal "$1 shares with" "$(field "$1" '.table.shared_with | sort | join(" ")')" "$2"
	expect limit status "$1" --check
}

# ---- O-090 ---------------------------------------------------------------------------------------
# Twice by each of the two ways to bring another program in. A burst that is one higher lets one more pass.
one_budget() {
	local type=$1 i

	topology_shared
	share "$type" 30 rv0 rv2
	expect_one_table rv0 rv2
	expect_equal "name" "$(field rv2 .table.shared_name)" wan
	expect_with rv0 rv2
	flood rv0 20
	flood rv2 20
	expect_equal "passed by rv0" "$(passed rv0)" 20
	expect_equal "passed by rv2" "$(passed rv2)" 10
	expect_equal "dropped by rv2" "$(dropped rv2)" 10
	for i in 31 32; do
		policy "$type" $i >"$SCRATCH/policy.yaml"
		expect_status 0 limit apply rv0 "$SCRATCH/policy.yaml"
		expect_stdout "^rv2: limiting"
		expect_one_table rv0 rv2
		flood rv2 20
		expect_equal "passed after burst $i" "$(passed rv2)" $((i - 20))
	done
	for i in 33 34; do
		share "$type" $i rv2 rv0
		expect_one_table rv0 rv2
		flood rv0 20
		expect_equal "passed after burst $i" "$(passed rv0)" $((i - 12))
	done
	expect_with rv0 rv2
	expect_equal "created, as rv0 says it" "$(field rv0 .table.created)" 1
	expect_equal "created, as rv2 says it" "$(field rv2 .table.created)" 1
}

# ---- who comes later -----------------------------------------------------------------------------
joins() {
	topology_shared
	share lru 30 rv0
	flood rv0 20
	share lru 30 rv3
	expect_one_table rv0 rv3
	expect_equal "switches" "$(bpftool -j map dump pinned "$PINS/switches" |
		jq '.[0].formatted.value.generation')" 1
	flood rv3 20
	expect_equal "passed by rv3" "$(passed rv3)" 10
	expect_with rv3 rv0
	expect_equal "evicted" "$(field rv3 .table.evicted)" 0
}

joins_with_another_policy() {
	topology_shared
	share lru 30 rv0 rv2
	policy lru 31 >"$SCRATCH/other.yaml"
	expect_status 1 limit attach rv3 --config "$SCRATCH/other.yaml" --share-table wan
	expect_stderr "the shared table wan has another policy \(xdp-limit show rv0\).*xdp-limit apply rv0"
	expect_equal "program on rv3" "$(ip -n "$SRV" -j link show dev rv3 | jq '.[0] | has("xdp")')" false
	[ ! -e "$(pins_of rv3)" ] || fail "pins are left"
	# Together with one that has the table it is an apply.
	expect limit attach rv3 rv2 --config "$SCRATCH/other.yaml" --share-table wan
	expect_one_table rv0 rv2 rv3
	limit show rv0 | grep -q "^# rv0: .*, shared as wan$" || fail "show doesn't name the table"
	expect_equal "policies" "$(for i in 0 2 3; do limit show rv$i; done | grep -c 'burst: 31')" 3
}

not_another_table() {
	topology_shared
	share lru 30 rv0
	expect limit attach rv2 --config "$SCRATCH/policy.yaml"
	expect_status 5 limit attach rv2 --config "$SCRATCH/policy.yaml" --share-table wan
	expect_stderr "rv2 has a table of its own.*xdp-limit detach rv2"
	expect_status 5 limit attach rv0 --config "$SCRATCH/policy.yaml" --share-table lan
	expect_stderr "rv0 has the shared table wan"
	expect_status 2 limit attach rv0 rv2 --config "$SCRATCH/policy.yaml"
	expect_stderr "rv0 and rv2 don't share one table"
	expect_equal "shared with" "$(field rv0 '.table.shared_with | length')" 0
	expect_equal "name of rv2's" "$(field rv2 .table.shared_name)" null
}

names() {
	local name

	topology_shared
	policy lru 30 >"$SCRATCH/policy.yaml"
	for name in '' a/b 'a b' sixteen-letters- ../x é; do
		expect_status 2 limit attach rv0 --config "$SCRATCH/policy.yaml" --share-table "$name"
		expect_stderr "1 to 15 letters, digits, - and _"
	done
	expect limit attach rv0 --config "$SCRATCH/policy.yaml" --share-table fifteen_letters
	expect_equal "name" "$(field rv0 .table.shared_name)" fifteen_letters
}

# ---- lists, resets -------------------------------------------------------------------------------
lists_hold_on_all() {
	topology_shared
	share lru 30 rv0 rv2
	expect limit ban rv0 add "$CLI4" --for 1h
	flood rv2 10
	expect_equal "banned by rv2" "$(field rv2 .reasons.banned.packets)" 10
	expect limit ban rv2 del "$CLI4"
	flood rv0 30
	expect_equal "passed by rv0" "$(passed rv0)" 30
	expect_status 0 limit reset rv2 "$CLI4"
	flood rv0 10
	expect_equal "passed after the reset" "$(passed rv0)" 40
	expect limit reset rv0 --counters
	expect_equal "rv0 from zero" "$(seen_by rv0)" 0
	expect_at_least "rv2 goes on" "$(seen_by rv2)" 10
	expect_equal "evicted" "$(field rv2 .table.evicted)" 0
}

# ---- an end --------------------------------------------------------------------------------------
detach_one() {
	local table

	topology_shared
	share lru 30 rv0 rv2
	table=$(map_id rv2 buckets)
	flood rv0 20
	expect limit detach rv0
	[ ! -e "$PINS" ] || fail "pins of rv0 are left"
	expect_with rv2 ""
	expect_equal "created by both" "$(field rv2 .table.created)" 1
	flood rv2 20
	expect_equal "passed by rv2" "$(passed rv2)" 10
	share lru 30 rv0
	expect_with rv2 rv0
	flood rv0 20
	expect_equal "passed by rv0" "$(passed rv0)" 0
	expect limit detach rv0 rv2
	wait_for 5 map_is_gone "$table"
}

map_is_gone() {
	! bpftool map show id "$1"
}

interface_goes() {
	topology_shared
	share lru 30 rv0 rv3
	flood rv3 20
	ip -n "$SRV" link del rv3
	expect_with rv0 ""
	flood rv0 20
	expect_equal "passed by rv0" "$(passed rv0)" 10
}

recreate() {
	local old

	topology_shared
	share lru 30 rv0 rv2
	expect limit ban rv0 add 198.51.100.9
	flood rv0 30
	old=$(map_id rv0 buckets)
	expect limit apply rv2 "$SCRATCH/policy.yaml" --recreate
	expect_one_table rv0 rv2
	[ "$(map_id rv0 buckets)" != "$old" ] || fail "the same table"
	expect_equal "bans" "$(limit ban rv0 list --json | jq length)" 1
	flood rv0 20
	flood rv2 20
	expect_equal "passed by both" $(($(passed rv0) + $(passed rv2))) 30
}

# One that comes with it has nothing of the table, and the members' lists are its too.
joins_and_recreates() {
	topology_shared
	share lru 30 rv0
	expect limit ban rv0 add "$CLI4" --for 1h
	expect limit deny rv0 add 198.51.100.0/24
	share lru 30 rv2 --recreate
	expect_one_table rv0 rv2
	expect_equal "bans" "$(limit ban rv0 list --json | jq length)" 1
	expect_equal "denied" "$(limit deny rv2 list --json | jq -c '[.[].prefix]')" '["198.51.100.0/24"]'
	flood rv2 10
	expect_equal "banned by rv2" "$(field rv2 .reasons.banned.packets)" 10
}

# As many as one command can change, and not one more.
too_many() {
	local i

	topology neighbours
	for i in $(seq 1 2 17); do
		ip -n "$SRV" link add "vm$i" type veth peer name "vm$((i + 1))"
	done
	policy lru 30 >"$SCRATCH/policy.yaml"
	# shellcheck disable=SC2046 # names
	expect limit attach $(seq -f 'vm%g' 1 15) --mode generic --config "$SCRATCH/policy.yaml" \
		--share-table wan
	expect_status 1 limit attach vm16 vm17 --mode generic --config "$SCRATCH/policy.yaml" --share-table wan
	expect_stderr "15 interfaces share the table wan, and with 2 more they would be more than 16"
	expect limit attach vm16 --mode generic --config "$SCRATCH/policy.yaml" --share-table wan
	expect_equal "shared with" "$(field vm16 '.table.shared_with | length')" 15
}

no_trial() {
	topology_shared
	share lru 30 rv0 rv2
	expect_status 4 limit apply rv0 "$SCRATCH/policy.yaml" --confirm 30s
	expect_stderr "--confirm can't put a shared table on trial"
	expect_one_table rv0 rv2
}

# Members of a dispatcher go by the table's generation.
no_dispatcher() {
	topology_shared
	share lru 30 rv0 rv2
	expect_status 5 limit attach rv0 --shared --config "$SCRATCH/policy.yaml"
	expect_stderr "rv0 shares the table wan.*xdp-limit detach rv0, then attach it --shared"
	expect_equal "attached via" "$(field rv0 .attached_via)" link
	expect_with rv0 rv2
}

# ---- failures ------------------------------------------------------------------------------------
# The second interface refuses, or the command dies between the two.
refused_between() {
	local program

	topology_shared
	share lru 30 rv0 rv2
	flood rv0 20
	program=$(program_id)
	policy lru 50 >"$SCRATCH/other.yaml"
	FAULT=bpf_link_update:2:EINVAL FAULT_FIRED=$SCRATCH/fired expect_status 4 "$FAULTY" \
		--netns "$SRV" apply rv0 "$SCRATCH/other.yaml"
	expect test -e "$SCRATCH/fired"
	expect_equal "program" "$(program_id)" "$program"
	expect_one_table rv0 rv2
	expect_with rv0 rv2
	flood rv2 20
	expect_equal "passed by rv2" "$(passed rv2)" 10
}

# Each of them says it, and what to do.
expect_apart() {
	expect_status 1 limit status "$1" --check
	expect_stdout "another policy or table than on $2.*xdp-limit apply $1 FILE"
	expect_status 1 limit status "$2" --check
	expect_stdout "another policy or table than on $1.*xdp-limit apply $2 FILE"
}

# kill_apply WHERE OPTION...: of rv2
kill_apply() {
	local where=$1
	shift

	rm -f "$SCRATCH/fired"
	{
		FAULT=$where:SIGKILL FAULT_FIRED=$SCRATCH/fired "$FAULTY" --netns "$SRV" \
			apply rv2 "$SCRATCH/other.yaml" "$@" || true
	} >/dev/null 2>&1
	expect test -e "$SCRATCH/fired"
}

killed_between() {
	local where

	topology_shared
	share lru 30 rv0 rv2
	flood rv0 20
	policy lru 50 >"$SCRATCH/other.yaml"
	for where in bpf_link_update:2 bpf_link_update:1 rename:30; do
		kill_apply "$where"
		expect_equal "buckets after $where" "$(map_id rv2 buckets)" "$(map_id rv0 buckets)"
		[ "$where" != bpf_link_update:2 ] || expect_apart rv0 rv2
		expect limit apply rv0 "$SCRATCH/other.yaml"
		expect_one_table rv0 rv2
		expect_with rv2 rv0
	done
	flood rv2 40
	expect_equal "passed by rv2" "$(passed rv2)" 30
	kill_apply bpf_link_update:2 --recreate
	expect_apart rv0 rv2
	expect limit apply rv0 "$SCRATCH/other.yaml"
	expect_one_table rv0 rv2
	expect_with rv2 rv0
}

run_case "O-090: one budget over two, through two applies and two attaches: lru" one_budget lru
run_case "one that comes later joins the table and its generation" joins
# The rest is user space's, the same on every kernel.
[ -z "${XDPL_EMULATED-}" ] || finish
run_case "O-090: one budget over two, through two applies and two attaches: flat" one_budget flat
run_case "one with another policy is told what to do; with a member it is an apply" \
	joins_with_another_policy
run_case "an interface with another table is not moved" not_another_table
run_case "names of tables" names
run_case "a ban and a reset on one hold on all; totals are each one's own" lists_hold_on_all
run_case "one is detached, the table lives on; with the last it goes" detach_one
run_case "one is deleted, the table lives on" interface_goes
run_case "--recreate: a fresh table for all, their live lists go on" recreate
run_case "--recreate by one that joins: the members' lists go on" joins_and_recreates
run_case "one more than one command can change is refused" too_many
run_case "--confirm is refused on a shared table" no_trial
run_case "not in a dispatcher of libxdp" no_dispatcher
run_case "the kernel refuses the second: both as before" refused_between
run_case "kill -9 between the two: one table, and the next apply makes them one" killed_between
finish
