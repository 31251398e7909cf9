#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a limiter outlives, what replaces it, what removes it, and who else may hold the hook.
# shellcheck source-path=SCRIPTDIR source=../lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

FAULTY=${FAULTY:-$_net_tests/../build/tests/xdp-limit-faults}
[ -x "$HOLD" ] || skip "needs $HOLD"
[ -x "$FAULTY" ] || skip "needs $FAULTY"
[ "$(command -v bpftool)" ] || skip "needs bpftool"

SMALL=(--sources 1024)

# ---- the hook ------------------------------------------------------------------------------------
program_id() {
	ip -n "$SRV" -j link show dev rv0 | jq '.[0].xdp.prog.id // 0'
}

program_name() {
	ip -n "$SRV" -j link show dev rv0 | jq -r '.[0].xdp.prog.name // "none"'
}

link_id() {
	bpftool -j link show pinned "$PINS/link" | jq .id
}

# bpftool asks the kernel; the program stands there once for each way it is attached.
attachments() {
	in_srv bpftool -j net show dev rv0 | jq '.[0].xdp | length'
}

# Exactly one attachment, ours, held by the pinned link, and it does its work.
expect_ours() {
	expect_equal "attachments" "$(attachments)" 1
	expect_equal "status: attached_via" "$(status_field .attached_via)" link
	expect_equal "status: program_id" "$(status_field .program_id)" "$(program_id)"
	expect limit status rv0 --check
	expect test -e "$PINS/link"
	expect_equal "new pins left" "$(find "$PINS" -name '*_new')" ""
}

expect_nothing() {
	expect_equal "attachments" "$(attachments)" 0
	! pinned || fail "pins are left: $(ls "$PINS")"
}

clean() {
	limit detach rv0 >/dev/null 2>&1 || true
	ip -n "$SRV" link set dev rv0 xdpgeneric off 2>/dev/null || true
	ip -n "$SRV" link set dev rv0 xdpdrv off
	expect_nothing
}

# Whether the limiter limits: 30 of 50 packets of a source that nobody used before.
FRESH=20
expect_limits_to() {
	FRESH=$((FRESH + 1))
	send --frame udp4 --source "192.0.2.$FRESH" --count 50
	expect_equal "passed" "$(source_field "192.0.2.$FRESH" .passed_packets)" "$1"
	expect_equal "dropped" "$(source_field "192.0.2.$FRESH" .dropped_packets)" $((50 - $1))
}

# ---- killed --------------------------------------------------------------------------------------
KILLED_AT="bpf_link_create:1 bpf_link_update:1 bpf_map_update_elem:1 bpf_obj_pin:1 bpf_obj_pin:5
	bpf_obj_pin:10 bpf_object__load:1 mkdir:3 rename:1 rename:2 rename:3 rename:10"

kill_attach_at() {
	rm -f "$SCRATCH/fired"
	{
		FAULT=$1:SIGKILL FAULT_FIRED=$SCRATCH/fired "$FAULTY" --netns "$SRV" attach rv0 \
			--rate 200/day --burst 30 "${SMALL[@]}" || true
	} >/dev/null 2>&1
	[ -e "$SCRATCH/fired" ]
}

killed_alone() {
	local where count=0

	for where in $KILLED_AT; do
		clean
		kill_attach_at "$where" || continue
		count=$((count + 1))
		expect attach --rate 100/day --burst 30 "${SMALL[@]}"
		expect_ours
	done
	expect_at_least "places" "$count" 9
	expect_limits_to 30
}

killed_over_ours() {
	local where count=0

	clean
	expect attach --rate 100/day --burst 40 "${SMALL[@]}"
	send --frame udp4 --source "$CLI4" --count 10
	for where in $KILLED_AT; do
		kill_attach_at "$where" || continue
		count=$((count + 1))
		expect_equal "attachments after $where" "$(attachments)" 1
		expect attach --rate 100/day --burst 40 "${SMALL[@]}"
		expect_ours
		expect_equal "passed before $where" "$(source_field "$CLI4" .passed_packets)" 10
	done
	expect_at_least "places" "$count" 9
}

killed_then_detach() {
	local where

	for where in bpf_obj_pin:5 rename:1 rename:3; do
		clean
		expect attach --rate 100/day --burst 40 "${SMALL[@]}"
		kill_attach_at "$where"
		expect limit detach rv0
		expect_nothing
	done
}

# ---- other holders: O-078 O-079 O-083 O-084 O-086 --------------------------------------------------
foreign_link_is_named() {
	local id link

	clean
	holder_start
	id=$(program_id)
	link=$(in_srv bpftool -j link show | jq ".[] | select(.prog_id == $id) | .id")
	expect_status 5 attach --rate 100/s "${SMALL[@]}"
	expect_stderr "'foreign' \(id $id, native mode\)"
	expect_stderr "bpftool link detach id $link"
	expect_equal "program" "$(program_id)" "$id"
	! pinned || fail "pins are left"
	holder_kill
	expect attach --rate 100/s "${SMALL[@]}"
	expect_ours
}

foreign_stays() {
	local option=$1 id

	clean
	holder_start "$option"
	id=$(program_id)
	expect_status 5 attach --rate 100/s "${SMALL[@]}"
	expect_stderr "'foreign' \(id $id.*--force"
	expect_equal "program" "$(program_id)" "$id"
	expect_status 3 limit detach rv0
	expect_stderr "'foreign' \(id $id\) is not ours"
	expect_equal "program after detach" "$(program_id)" "$id"
	expect_status 3 limit status rv0
	expect_stderr "'foreign' \(id $id"
	! pinned || fail "pins are left"
	holder_kill
}

foreign_command_works() {
	local option=$1 command

	clean
	holder_start --netlink ${option:+"$option"}
	expect_status 5 attach --rate 100/s "${SMALL[@]}"
	command=$(grep -o 'ip link set dev rv0 [a-z]* off' <<<"$ERR")
	# shellcheck disable=SC2086 # words
	expect in_srv $command
	expect_equal "program" "$(program_id)" 0
	expect attach --rate 100/s "${SMALL[@]}"
	expect_ours
	holder_kill
}

forced() {
	local option

	for option in --link --netlink --generic; do
		clean
		holder_start "$option"
		expect attach --rate 100/day --burst 30 "${SMALL[@]}" --force
		expect_ours
		holder_kill
		expect_ours
		expect_limits_to 30
	done
}

# Our own program held in a way that no attach of today makes: what an older version, or one that
# was killed, may have left. The holder takes the program and drops the pinned link.
ours_held() {
	clean
	expect attach --rate 100/day --burst 30 "${SMALL[@]}"
	send --frame udp4 --source "$CLI4" --count 20
	holder_start --program "$PINS/program" --instead "$PINS/link" "$@"
	expect_equal "attachments" "$(attachments)" 1
}

# held_and WAY KILLED|alive KEPT: whether the table goes on depends on whether it still ran.
converges() {
	local killed=$1 kept=$2
	shift 2

	ours_held "$@"
	[ "$killed" = alive ] || holder_kill
	expect attach --rate 100/day --burst 30 "${SMALL[@]}"
	expect_ours
	expect_equal "client's packets" "$(source_field "$CLI4" '.passed_packets // 0')" "$kept"
	[ "$killed" = SIGKILL ] || holder_kill
	expect_ours
	expect_limits_to 30
}

pinned_link() {
	local pin=/sys/fs/bpf/xdp-limit/held-$BASHPID

	at_exit rm -f "$pin"
	converges "$1" "$2" --pin "$pin"
}

detaches_netlink() {
	ours_held --netlink ${1:+"$1"}
	expect_equal "status: attached_via" "$(status_field .attached_via)" netlink
	expect limit detach rv0
	expect_nothing
	holder_kill
}

# ---- detach --------------------------------------------------------------------------------------
generic_detach_is_quick() {
	local start elapsed

	clean
	expect attach --rate 1/day --burst 1 --mode generic "${SMALL[@]}"
	start=${EPOCHREALTIME/./}
	expect timeout 5 "$XDP_LIMIT" --netns "$SRV" detach rv0
	elapsed=$((${EPOCHREALTIME/./} - start))
	expect_nothing
	expect_at_most "microseconds" "$elapsed" 1000000
}

generic_detach_is_true() {
	clean
	expect attach --rate 1/day --burst 1 --mode generic "${SMALL[@]}"
	expect_status 0 limit detach rv0
	expect_equal "program" "$(program_id)" 0
	receive_start --source "$CLI4"
	send --frame udp4 --source "$CLI4" --count 100
	receive_stop
	expect_equal "passed after detach" "$RECEIVED" 100
}

# A wrong mode flag is what `ip` answers with 0 and nothing done.
off_from_outside() {
	local word

	clean
	expect attach --rate 100/day --burst 30 "${SMALL[@]}"
	for word in xdp xdpdrv xdpgeneric; do
		ip -n "$SRV" link set dev rv0 "$word" off 2>/dev/null || true
		expect_ours
	done
	expect_limits_to 30
}

program_is_gone() {
	! bpftool prog show id "$1"
}

map_is_gone() {
	! bpftool map show id "$1"
}

nothing_is_left() {
	local id map maps

	clean
	expect attach --rate 100/day --burst 30 "${SMALL[@]}"
	id=$(program_id)
	maps=$(bpftool -j prog show id "$id" | jq '.map_ids[]')
	expect_at_least "maps" "$(wc -w <<<"$maps")" 8
	expect limit detach rv0
	wait_for 5 program_is_gone "$id"
	for map in $maps; do
		wait_for 5 map_is_gone "$map"
	done
	expect_status 3 limit status rv0
	expect_stderr "no limiter on rv0"
	expect_no_stderr "left over"
}

not_attached() {
	! attached
}

leftovers_are_said() {
	clean
	expect attach --rate 100/day "${SMALL[@]}"
	rm "$PINS/link"
	wait_for 5 not_attached # after a grace period of the kernel
	expect_status 3 limit status rv0
	expect_stderr "no limiter on rv0"
	expect_stderr "pins are left over in $PINS"
	expect_status 3 limit detach rv0
	expect_nothing
	expect attach --rate 100/day "${SMALL[@]}"
	rm "$PINS/link"
	wait_for 5 not_attached
	expect_status 0 limit detach --all
	expect_stderr "pins left over of interface [0-9]+ removed"
	expect_nothing
}

detach_all() {
	clean
	ip -n "$SRV" link add rv2 type veth peer name rv3
	expect attach --rate 100/day "${SMALL[@]}"
	expect limit attach rv2 --rate 100/day --mode generic "${SMALL[@]}"
	expect limit attach rv3 --rate 100/day "${SMALL[@]}"
	ip -n "$SRV" link set dev rv3 xdpdrv off 2>/dev/null || true
	expect_status 0 limit detach --all
	expect_equal "detached" "$(LC_ALL=C sort <<<"$OUT" | paste -sd' ')" \
		"rv0: detached rv2: detached rv3: detached"
	expect_equal "XDP programs" "$(ip -n "$SRV" -j link | jq 'map(select(has("xdp"))) | length')" 0
	expect_equal "pins" "$(find "$PIN_ROOT" -maxdepth 1 -name "${PINS##*/}" \
		-o -maxdepth 1 -name "$(basename "${PINS%-*}")-*")" ""
	expect_status 0 limit detach --all
	ip -n "$SRV" link del rv2
}

detach_all_spares_foreign() {
	clean
	holder_start
	expect_status 0 limit detach --all
	expect_equal "program" "$(program_name)" foreign
	holder_kill
}

interface_is_gone() {
	local pins

	clean
	ip -n "$SRV" link add rv2 type veth peer name rv3
	expect limit attach rv2 --rate 100/day "${SMALL[@]}"
	pins=${PINS%-*}-$(in_srv cat /sys/class/net/rv2/ifindex)
	expect test -e "$pins/link"
	ip -n "$SRV" link del rv2
	expect_status 3 limit detach rv2
	expect_stderr "cannot find interface 'rv2'"
	[ ! -e "$pins" ] || fail "pins are left: $pins"
}

# By the next command that changes something, whatever interface it is for.
removed_interface_is_swept() {
	local pins

	clean
	ip -n "$SRV" link add rv2 type veth peer name rv3
	expect limit attach rv2 --rate 100/day "${SMALL[@]}"
	pins=${PINS%-*}-$(in_srv cat /sys/class/net/rv2/ifindex)
	hold_lock "$pins"
	ip -n "$SRV" link del rv2
	expect test -e "$pins/link"
	release_lock
	expect attach --rate 100/day "${SMALL[@]}"
	[ ! -e "$pins" ] || fail "pins are left: $pins"
	expect_ours
}

# ---- what it outlives ----------------------------------------------------------------------------
outlives() {
	clean
	expect attach --rate 100/day --burst 30 "${SMALL[@]}"
	ip -n "$SRV" link set rv0 down
	ip -n "$SRV" link set rv0 name before up
	ip -n "$SRV" link set before down
	expect limit status before --check
	ip -n "$SRV" link set before name rv0 up
	_net_neighbours
	wait_for 5 _net_carrier
	expect_ours
	expect_limits_to 30
}

# ---- again ---------------------------------------------------------------------------------------
in_place() {
	local program link

	clean
	expect attach --rate 100/day --burst 30 "${SMALL[@]}"
	send --frame udp4 --source "$CLI4" --count 20
	program=$(program_id)
	link=$(link_id)
	expect attach --rate 100/day --burst 40 "${SMALL[@]}"
	expect_ours
	expect_equal "link" "$(link_id)" "$link"
	[ "$(program_id)" -ne "$program" ] || fail "still program $program"
	wait_for 5 program_is_gone "$program"
	expect_equal "client's packets" "$(source_field "$CLI4" .passed_packets)" 20
	expect_equal "remaining of a burst 10 higher" "$(get_field "$CLI4" '.limits[0].remaining')" 20
	expect_equal "totals" "$(status_field .reasons.conforming.packets)" 20
}

# Everything is blocked before and after, so one packet that gets through shows a gap.
no_gap() {
	local sender i

	clean
	expect attach --rate block "${SMALL[@]}"
	receive_start --source "$CLI4"
	background sender in_cli "$XDPL_SEND" -i rv1 --dst-mac "$SRV_MAC" --frame udp4 \
		--source "$CLI4" --rate 20000 --duration 20 >/dev/null
	wait_for 5 blocked_more_than 100
	for ((i = 0; i < 10; i++)); do
		expect attach --rate block "${SMALL[@]}"
	done
	stop "$sender"
	receive_stop
	expect_at_least "blocked" "$(status_field .reasons.over_limit.packets)" 1000
	expect_equal "passed" "$RECEIVED" 0
}

blocked_more_than() {
	[ "$(status_field .reasons.over_limit.packets)" -gt "$1" ]
}

recreate() {
	clean
	expect attach --rate 100/day --burst 30 "${SMALL[@]}"
	send --frame udp4 --source "$CLI4" --count 20
	expect_status 1 attach --rate 100/day --burst 30 --sources 2048
	expect_stderr "--recreate"
	expect_equal "capacity" "$(status_field .table.capacity)" 1024
	expect_equal "client's packets" "$(source_field "$CLI4" .passed_packets)" 20
	expect attach --rate 100/day --burst 30 --sources 2048 --recreate
	expect_ours
	expect_equal "capacity" "$(status_field .table.capacity)" 2048
	expect_equal "client's rows" "$(limit sources rv0 --json | jq length)" 0
	expect_limits_to 30
}

change_of_mode() {
	clean
	expect attach --rate 100/day --burst 30 "${SMALL[@]}"
	send --frame udp4 --source "$CLI4" --count 20
	expect attach --rate 100/day --burst 30 "${SMALL[@]}" --mode generic
	expect_ours
	expect_equal "mode" "$(status_field .mode)" generic
	expect_equal "client's packets" "$(source_field "$CLI4" .passed_packets)" 20
	expect attach --rate 100/day --burst 30 "${SMALL[@]}"
	expect_ours
	expect_equal "mode" "$(status_field .mode)" native
	expect_equal "client's packets" "$(source_field "$CLI4" .passed_packets)" 20
}

# ---- maps ----------------------------------------------------------------------------------------
named_fields() {
	local map field

	clean
	expect attach --rate 100/day --bytes '1 MB/s' "${SMALL[@]}"
	send --frame udp4 --source "$CLI4" --count 20
	SSH_CONNECTION='192.0.2.77 40000 192.0.2.1 22' expect attach --rate 100/day --bytes '1 MB/s' \
		"${SMALL[@]}"
	while read -r map field; do
		expect_status 0 bpftool map dump pinned "$PINS/$map"
		expect_stdout "\"$field\":"
	done <<-'END'
		buckets born_ns
		buckets words
		buckets passed_packets
		tally_cache pending
		counters would_drop
		budgets word
		gate word
		table_events insert_failures
		baseline would_drop
		switches generation
		guards address
		table ipv6_prefix
		ledger deleted
		flat refreshed_ns
		losses pending
		config attached_ns
	END
	expect_equal "maps" "$(find "$PINS" -type f | wc -l)" 35
}

topology neighbours
run_case "O-076: killed at any step of attach, the next attach works" killed_alone
run_case "O-076: killed over a running limiter, the next attach keeps its table" killed_over_ours
run_case "O-076: killed, then detach removes everything" killed_then_detach
run_case "O-078: a link of another process is busy, named, and free once it has gone" \
	foreign_link_is_named
run_case "O-079: unpinned link, holder killed: attach starts afresh" converges SIGKILL 0
run_case "O-079: unpinned link, holder alive: attach takes it over" converges alive 20
run_case "O-079: link pinned elsewhere, holder killed: attach takes it over" pinned_link SIGKILL 20
run_case "O-079: link pinned elsewhere, holder alive: attach takes it over" pinned_link alive 20
run_case "O-079: netlink, holder killed: attach replaces it" converges SIGKILL 20 --netlink
run_case "O-079: netlink, holder alive: attach replaces it" converges alive 20 --netlink
run_case "O-079: netlink in generic mode: attach replaces it" converges alive 20 --netlink --generic
run_case "O-080: detach in generic mode ends within a second" generic_detach_is_quick
run_case "O-081: detach without a mode frees a generic attachment" generic_detach_is_true
run_case "O-082: xdp off from outside changes nothing" off_from_outside
run_case "O-083, O-084: a foreign link is not replaced, exit 5" foreign_stays --link
run_case "O-083, O-084: a foreign netlink program is not replaced, exit 5" foreign_stays --netlink
run_case "O-083: the command that the refusal names removes it" foreign_command_works ""
run_case "O-083: the command that the refusal names removes it in generic mode" \
	foreign_command_works --generic
run_case "--force replaces a foreign program" forced
run_case "O-085: after detach the kernel has none of our programs and maps" nothing_is_left
run_case "O-085: status tells leftover pins from an attachment" leftovers_are_said
run_case "O-086: detach frees our program attached over netlink" detaches_netlink ""
run_case "O-086: detach frees our program attached over netlink in generic mode" \
	detaches_netlink --generic
run_case "detach --all frees all interfaces of the namespace" detach_all
run_case "detach --all leaves foreign programs alone" detach_all_spares_foreign
run_case "O-087: detach of an interface that is gone removes its pins" interface_is_gone
run_case "O-087: attach removes the pins of an interface that is gone" removed_interface_is_swept
run_case "the limiter outlives its loader, down and up, and a new name" outlives
run_case "attach again: same link, new program, same buckets and totals" in_place
run_case "attach again: not one packet meets no program" no_gap
run_case "attach again with another table: refused, --recreate starts afresh" recreate
run_case "attach again in the other mode: one attachment, same buckets" change_of_mode
run_case "bpftool map dump of every pinned map names the fields" named_fields
finish
