#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Breaks every step of what replaces another program, and of detach: each failure leaves all as it was.
# In mounts of its own: what others leave pinned would be looked at, and calls are counted.
# shellcheck source-path=SCRIPTDIR source=../lib/own_mounts.sh
. "$(dirname "$0")/../lib/own_mounts.sh"
# shellcheck source=../lib/faults.sh
. "$(dirname "$0")/../lib/faults.sh"

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
run_case "attach in the other mode over ours: the old program is put back" change_of_mode
run_case "attach --force: a foreign program attached over netlink is put back" \
	force_over --netlink
run_case "attach --force: a foreign program attached by a link is put back" \
	force_over --link
run_case "detach: after each failure it is attached in full, or detach removes the rest" detach
finish
