#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Breaks every step of attach in turn: each failure leaves all as it was.
# In mounts of its own: what others leave pinned would be looked at, and calls are counted.
# shellcheck source-path=SCRIPTDIR source=../lib/own_mounts.sh
. "$(dirname "$0")/../lib/own_mounts.sh"
# shellcheck source=../lib/faults.sh
. "$(dirname "$0")/../lib/faults.sh"

attach_needed() {
	each_call bare nothing_there new_limiter needed "$ATTACH_NEEDS" "${NEW[@]}"
}

attach_optional() {
	each_call bare nothing_there new_limiter optional "$READS" "${NEW[@]}"
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

topology neighbours
run_case "attach: each call that it needs fails in turn, nothing is left" attach_needed
run_case "attach: each call that it reads with fails in turn, nothing half-attached" attach_optional
run_case "attach over ours: the old program, its pins and its table survive each failure" \
	update_needed
run_case "attach over ours: so they do when reading fails" update_optional
run_case "a failed attach with --no-ssh-guard ends no guard" guard_stays
run_case "attach --recreate over ours: the old table survives each failure" recreate
finish
