# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2034 # used by those who source this
# Breaks the calls of a command in turn: what failures.sh and failures_replace.sh share.
# shellcheck source-path=SCRIPTDIR source=net.sh
. "$(dirname "${BASH_SOURCE[0]}")/net.sh"

FAULTY=${FAULTY:-$_net_tests/../build/tests/xdp-limit-faults}
HOLD=${HOLD:-$_net_tests/../build/tests/tools/xdpl-hold}
[ -x "$FAULTY" ] || skip "needs $FAULTY"
[ "$(command -v bpftool)" ] || skip "needs bpftool"

# Calls whose failure has to end the command, and those that it may be able to do without.
ATTACH_NEEDS="bpf_link_create bpf_map__reuse_fd bpf_map_create bpf_map_update_elem bpf_obj_pin
	bpf_object__load bpf_object__open_mem bpf_prog_bind_map flock mkdir rename"
UPDATE_NEEDS="bpf_link_update bpf_map__reuse_fd bpf_map_update_elem bpf_obj_pin bpf_object__load
	bpf_object__open_mem bpf_prog_bind_map flock rename"
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
