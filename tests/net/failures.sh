#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Breaks every step of attach and detach in turn: each failure leaves all as it was.
# shellcheck source-path=SCRIPTDIR source=../lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

FAULTY=${FAULTY:-$_net_tests/../build/tests/xdp-limit-faults}
HOLD=${HOLD:-$_net_tests/../build/tests/tools/xdpl-hold}
[ -x "$FAULTY" ] || skip "needs $FAULTY"
[ "$(command -v bpftool)" ] || skip "needs bpftool"

# Calls whose failure has to end the command, and those that it may be able to do without.
ATTACH_NEEDS="bpf_link_create bpf_map__reuse_fd bpf_map_create bpf_map_update_elem bpf_obj_pin
	bpf_object__load bpf_object__open_skeleton bpf_prog_bind_map flock mkdir rename"
UPDATE_NEEDS="bpf_link_update bpf_map__reuse_fd bpf_map_update_elem bpf_obj_pin bpf_object__load
	bpf_object__open_skeleton bpf_prog_bind_map flock rename"
REPLACE_NEEDS="bpf_link_create bpf_map__reuse_fd bpf_map_create bpf_obj_pin bpf_object__load rename"
READS="bpf_link_get_fd_by_id bpf_map_lookup_elem bpf_obj_get_info_by_fd bpf_prog_get_fd_by_id
	bpf_prog_load bpf_xdp_query unlinkat"
# In loops over all maps, so that their uses are alike: only some of them fail.
EACH_MAP="bpf_map__reuse_fd bpf_map_create bpf_obj_pin bpf_prog_bind_map rename"
FIRED=0
SPARSE=0 # only some of the uses of a call: where the code is known from another case
READY= # what the next try needs is there: the last one left it intact

# Ends with the status of the command; FIRED tells whether it got to that call at all.
run_faulty() {
	local call=$1 number=$2 error=$3 status=0
	shift 3

	rm -f "$SCRATCH/fired"
	FAULT=$call:$number:$error FAULT_FIRED=$SCRATCH/fired \
		"$FAULTY" --netns "$SRV" "$@" >"$SCRATCH/stdout" 2>"$SCRATCH/stderr" || status=$?
	FIRED=0
	[ ! -e "$SCRATCH/fired" ] || FIRED=1
	return "$status"
}

# The line about the table's memory comes before anything is tried, warnings beside the error.
one_line_of_error() {
	local lines

	lines=$(grep -vc -e '^xdp-limit: table for ' -e '^xdp-limit: warning: ' "$SCRATCH/stderr") || true
	[ "$lines" -eq 1 ] || fail "$1: $lines lines of error: $(cat "$SCRATCH/stderr")"
}

# From one use of a call to the next that fails.
step() {
	local call=$1 number=$2

	if [ "$number" -ge 3 ] && { [ "$SPARSE" -eq 1 ] || [[ " $EACH_MAP " == *" $call "* ]]; }; then
		echo "$number"
	else
		echo 1
	fi
}

# each_call PREPARE INTACT COMPLETE needed|optional CALLS COMMAND...: for each call, its first,
# second, ... use fails until there is no such use.
each_call() {
	local prepare=$1 intact=$2 complete=$3 kind=$4 calls=$5 call number status where
	shift 5

	for call in $calls; do
		for ((number = 1; ; number += $(step "$call" "$number"))); do
			[ "$READY" ] || "$prepare"
			READY=
			status=0
			run_faulty "$call" "$number" ENOSPC "$@" || status=$?
			where="$call, use $number"
			if [ "$FIRED" -eq 0 ]; then
				expect_equal "$where: status without a fault" "$status" 0
				[ "$kind" = optional ] || expect_at_least "$call: uses" "$number" 2
				break
			fi
			if [ "$status" -eq 0 ]; then
				[ "$kind" = optional ] || fail "$where: status 0 in spite of it"
				"$complete" "$where"
			else
				one_line_of_error "$where"
				"$intact" "$where"
			fi
		done
	done
}

# In order of names.
ALL_PINS='baseline buckets budgets config counters durations event_seen file_exact file_prefix flat'\
' gate guards iface_words ledger limited link listening live_exact live_pbits live_prefix'\
' live_set live_xbits log_slots losses penalties penalty_bits policy_text previous program'\
' rings switches table table_events tally_cache tier_prefix'

expect_pins() {
	expect_equal "$1: pins" "$(in_order_of_names "$PINS")" \
		"$ALL_PINS"
	expect_equal "$1: what is pinned belongs together" "$(pinned_together)" true
}

# The pins of link, program and tables are those of the program that runs.
pinned_together() {
	{
		ip -n "$SRV" -j link show dev rv0 | jq '.[0].xdp.prog.id'
		bpftool -j link show pinned "$PINS/link"
		bpftool -j prog show pinned "$PINS/program"
		bpftool -j map show pinned "$PINS/buckets"
		bpftool -j map show pinned "$PINS/tally_cache"
	} | jq -s '. as [$runs, $link, $program, $buckets, $cache] |
		$link.prog_id == $runs and $program.id == $runs and
		([$buckets.id, $cache.id] - $program.map_ids) == []'
}

in_order_of_names() {
	find "$1" -mindepth 1 -printf '%f\n' 2>/dev/null | LC_ALL=C sort | paste -sd' '
}

# "MODE PROGRAM" with mode 1 for native, 2 for generic; or "none"
hook() {
	ip -n "$SRV" -j link show dev rv0 |
		jq -r '.[0].xdp // empty | "\(.mode) \(.prog.id)"' | grep . || echo none
}

# "RATE PASSED REMAINING" of the client
bucket() {
	limit get rv0 "$CLI4" --json |
		jq -r '.limits[0] | "\(.rate) \(.passed_packets) \(.remaining)"'
}

# ---- on an interface with nothing ----------------------------------------------------------------
bare() {
	limit detach rv0 >/dev/null 2>&1 || true
}

nothing_there() {
	expect_equal "$1: attached" "$(hook)" none
	! pinned || fail "$1: pins are left: $(in_order_of_names "$PINS")"
	READY=yes
}

new_limiter() {
	expect limit status rv0 --check
	expect_pins "$1"
	expect_equal "$1: rate" "$(get_field "$CLI4" '.limits[0].rate')" 200
}

NEW=(attach rv0 --rate 200/day --burst 100 --sources 1024)

attach_needed() {
	each_call bare nothing_there new_limiter needed "$ATTACH_NEEDS" "${NEW[@]}"
}

attach_optional() {
	each_call bare nothing_there new_limiter optional "$READS" "${NEW[@]}"
}

# ---- over a running limiter of ours --------------------------------------------------------------
OLD_HOOK=
running_limiter() {
	expect limit attach rv0 --mode native --rate 100/day --burst 100 --sources 1024
	[ "$(get_field "$CLI4" '.limits[0].passed_packets')" -eq 30 ] ||
		send --frame udp4 --source "$CLI4" --count 30
	OLD_HOOK=$(hook)
}

# Fresh each time: what is tried replaces the table.
fresh_running_limiter() {
	bare
	running_limiter
}

old_limiter() {
	expect_equal "$1: mode and program" "$(hook)" "$OLD_HOOK"
	expect limit status rv0 --check
	expect_pins "$1"
	expect_equal "$1: rate, passed, remaining" "$(bucket)" "100 30 70"
	READY=yes
}

# --no-ssh-guard counts once the attach has: until then the operator's line stays open.
guard_stays() {
	bare
	SSH_CONNECTION="$CLI4 50000 $SRV4 22" expect limit attach rv0 --rate 100/day --sources 1024
	! run_faulty bpf_link_update 1 ENOSPC "${NEW[@]}" --no-ssh-guard || fail "attached"
	expect_equal "the fault happened" "$FIRED" 1
	expect_at_least "seconds of guard" "$(get_field "$CLI4" '.ssh_guard_seconds // 0 | floor')" 1
	bare
}

update_needed() {
	each_call running_limiter old_limiter new_limiter needed "$UPDATE_NEEDS" "${NEW[@]}"
}

update_optional() {
	SPARSE=1
	each_call running_limiter old_limiter new_limiter optional "$READS" "${NEW[@]}"
}

recreate() {
	SPARSE=1
	each_call fresh_running_limiter old_limiter new_limiter needed \
		"bpf_map_create bpf_link_update bpf_obj_pin bpf_map_update_elem rename" \
		"${NEW[@]}" --recreate
}

change_of_mode() {
	SPARSE=1
	each_call fresh_running_limiter old_limiter new_limiter needed \
		"bpf_link_create bpf_link_detach bpf_obj_pin rename" "${NEW[@]}" --mode generic
	each_call fresh_running_limiter old_limiter new_limiter optional \
		"bpf_link_get_fd_by_id bpf_prog_get_fd_by_id bpf_xdp_query" "${NEW[@]}" --mode generic
}

# ---- over a foreign program ----------------------------------------------------------------------
HOLDER=
foreign_program() {
	bare
	[ -z "$HOLDER" ] || stop "$HOLDER"
	ip -n "$SRV" link set dev rv0 xdpdrv off
	rm -f "$SCRATCH/ready"
	background HOLDER nsenter --net="/run/netns/$SRV" "$HOLD" "$FOREIGN_BY" --ready "$SCRATCH/ready" rv0
	wait_for 5 test -e "$SCRATCH/ready"
	OLD_HOOK=$(hook)
}

foreign_there() {
	expect_equal "$1: mode and program" "$(hook)" "$OLD_HOOK"
	! pinned || fail "$1: pins are left: $(in_order_of_names "$PINS")"
}

force_over() {
	SPARSE=1
	FOREIGN_BY=$1
	each_call foreign_program foreign_there new_limiter needed "$REPLACE_NEEDS" \
		"${NEW[@]}" --force
}

# ---- detach --------------------------------------------------------------------------------------
# What could not be removed is said, and the next detach removes it.
intact_or_gone() {
	if attached; then
		old_limiter "$1"
		return
	fi
	limit detach rv0 >/dev/null 2>&1 || true
	nothing_there "$1, then detach again"
	READY=
}

gone() {
	nothing_there "$1"
	READY=
}

detach() {
	SPARSE=1
	each_call fresh_running_limiter intact_or_gone gone needed \
		"bpf_link_detach flock rmdir unlinkat" detach rv0
	each_call fresh_running_limiter intact_or_gone gone optional "${READS% *} bpf_obj_get" \
		detach rv0
}

topology neighbours
run_case "attach: each call that it needs fails in turn, nothing is left" attach_needed
run_case "attach: each call that it reads with fails in turn, nothing half-attached" attach_optional
run_case "attach over ours: the old program, its pins and its table survive each failure" \
	update_needed
run_case "attach over ours: so they do when reading fails" update_optional
run_case "a failed attach with --no-ssh-guard ends no guard" guard_stays
run_case "attach --recreate over ours: the old table survives each failure" recreate
run_case "attach in the other mode over ours: the old program is put back" change_of_mode
run_case "attach --force: a foreign program attached over netlink is put back" \
	force_over --netlink
run_case "attach --force: a foreign program attached by a link is put back" \
	force_over --link
run_case "detach: after each failure it is attached in full, or detach removes the rest" detach
finish
