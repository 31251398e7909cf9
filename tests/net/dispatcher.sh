#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Beside other XDP programs: in a dispatcher of libxdp, with xdp-filter as the other member.
# shellcheck source-path=SCRIPTDIR source=../lib/policy.sh
. "$(dirname "$0")/../lib/policy.sh"

FAULTY=${FAULTY:-$_net_tests/../build/tests/xdp-limit-faults}
LIMIT=(--rate 1/h --burst 50 --sources 1024)
LARGER=(--rate 1/h --burst 80 --sources 1024)

for tool in xdp-filter xdp-loader; do
	[ "$(command -v "$tool")" ] || skip "needs $tool (package xdp-tools)"
done

# Not by ip netns exec, which has a bpffs of its own.
beside() {
	nsenter --net="/run/netns/$SRV" "$@"
}

filter_load() {
	at_exit rm -rf /sys/fs/bpf/xdp-filter
	expect beside xdp-filter load rv0 -p allow
}

# Names and priorities in their order, as libxdp tells them.
members() {
	beside xdp-loader status rv0 | awk '$1 == "=>" { print $2, $3 }' | xargs
}

expect_members() {
	expect_equal "members" "$(members)" "$1"
}

# Also where `status` ends with 1, since something is missing.
conforming() {
	{ limit status rv0 --json || true; } | jq .reasons.conforming.packets
}

# expect_burst PASSED [SENT]: of packets of one source
expect_burst() {
	local before

	before=$(conforming)
	send --frame udp4 --source "$CLI4" --count "${2:-100}"
	expect_equal "passed" "$(($(conforming) - before))" "$1"
}

# ---- where the kernel has no dispatchers -------------------------------------------------------------
refused() {
	topology
	expect_status 4 attach --shared "${LIMIT[@]}"
	expect_stderr "cannot join the dispatcher of rv0 .* without --shared"
	! attached || fail "attached"
	! pinned || fail "pins are left"
	expect attach "${LIMIT[@]}"
	expect_equal "attached via" "$(status_field .attached_via)" link
}

has_dispatchers() {
	topology
	attach --shared "${LIMIT[@]}" 2>"$SCRATCH/why" || {
		grep -q "no XDP program extend another" "$SCRATCH/why" || fail "$(cat "$SCRATCH/why")"
		return 1
	}
}

# ---- alone, unless asked -----------------------------------------------------------------------------
alone() {
	topology neighbours
	expect attach "${LIMIT[@]}"
	expect_equal "attached via" "$(status_field .attached_via)" link
	expect_equal "members" "$(status_field .members)" null
	expect_status 5 attach --shared "${LIMIT[@]}"
	expect_stderr "attached alone.*xdp-limit detach rv0"
	expect_equal "attached via" "$(status_field .attached_via)" link
	expect_burst 50
}

usage() {
	topology
	expect_status 2 attach --shared --force "${LIMIT[@]}"
	expect_stderr "can't stand together"
	expect_status 2 attach --shared --share-table wan "${LIMIT[@]}"
	expect_stderr "no table can be shared: leave out one"
	expect_status 2 attach --priority 7 "${LIMIT[@]}"
	expect_stderr "--shared"
	expect_status 2 attach --shared --priority 0 "${LIMIT[@]}"
	expect_status 2 attach --shared --priority 65536 "${LIMIT[@]}"
	! attached || fail "attached"
}

# ---- coming and going --------------------------------------------------------------------------------
filter_comes_and_goes() {
	topology neighbours
	expect attach --shared "${LIMIT[@]}"
	expect_members "20 xdp_limit_chain"
	expect_burst 50
	filter_load
	expect_members "10 xdpfilt_alw_all 20 xdp_limit_chain"
	expect_burst 0
	expect attach "${LARGER[@]}"
	expect_members "10 xdpfilt_alw_all 20 xdp_limit_chain"
	expect_burst 30
	expect beside xdp-filter unload rv0
	expect_members "20 xdp_limit_chain"
	expect_burst 0
	expect limit status rv0 --check
	expect limit detach rv0
	! attached || fail "the dispatcher is left"
	! pinned || fail "pins are left"
}

doctor_says() {
	limit doctor rv0 --json >"$SCRATCH/doctor" || true
	jq -r '.checks[] | select(.check == "attached").value' "$SCRATCH/doctor" | grep -q "^$1$" ||
		fail "doctor: $(cat "$SCRATCH/doctor")"
}

filter_was_first() {
	topology neighbours
	filter_load
	expect_status 3 limit status rv0
	expect_stderr "dispatcher.*xdpfilt_alw_all"
	doctor_says "a dispatcher of libxdp, .* members 10 xdpfilt_alw_all"
	expect_status 5 attach --share-table wan "${LIMIT[@]}"
	expect_stderr "has a dispatcher.*attach it without --share-table"
	expect_members "10 xdpfilt_alw_all"
	expect attach "${LIMIT[@]}"
	expect_members "10 xdpfilt_alw_all 20 xdp_limit_chain"
	expect_status 0 limit status rv0 --json
	expect_json .attached_via dispatcher
	expect_json '[.members[] | "\(.name) \(.priority) \(.ours)"] | join(", ")' \
		"xdpfilt_alw_all 10 false, xdp_limit_chain 20 true"
	expect_burst 50
	expect limit detach rv0
	expect_members "10 xdpfilt_alw_all"
	! pinned || fail "pins are left"
	expect beside xdp-filter unload rv0
	! attached || fail "the dispatcher is left"
}

priority() {
	topology
	filter_load
	expect attach --priority 5 "${LIMIT[@]}"
	expect_members "5 xdp_limit_chain 10 xdpfilt_alw_all"
	expect attach "${LARGER[@]}"
	expect_members "5 xdp_limit_chain 10 xdpfilt_alw_all"
	expect attach --priority 30 "${LARGER[@]}"
	expect_members "10 xdpfilt_alw_all 30 xdp_limit_chain"
}

generic_mode() {
	topology neighbours
	expect attach --shared --mode generic "${LIMIT[@]}"
	expect_status 4 attach "${LIMIT[@]}"
	expect_stderr "generic mode.*--mode generic"
	expect_members "20 xdp_limit_chain"
	expect attach --mode auto "${LARGER[@]}"
	expect_equal "mode" "$(status_field .mode)" generic
	expect_burst 80
}

flat_table() {
	topology neighbours
	expect attach --shared --table flat "${LIMIT[@]}"
	expect_burst 50
	# Not LARGER: a slot of so slow a limit has no room for it.
	expect attach --table flat "${LIMIT[@]}" --malformed pass
	expect_burst 0
	expect attach --recreate "${LIMIT[@]}"
	expect_equal "members" "$(status_field '.members | length')" 1
	expect_burst 50
}

# ---- replaced under traffic --------------------------------------------------------------------------
# Far under the limit: all arrive, and each is judged, by one policy, but for those in between.
apply_under_traffic() {
	local i seen sent sender=

	topology neighbours
	filter_load
	printf 'table: {sources: 1024}\nlimits: [{name: default, rate: %s}]\n' 1000000pps \
		>"$SCRATCH/one.yaml"
	sed 's/1000000/1100000/' "$SCRATCH/one.yaml" >"$SCRATCH/two.yaml"
	expect attach --config "$SCRATCH/one.yaml"
	receive_start --source "$CLI4"
	background sender in_cli "$XDPL_SEND" -i rv1 --dst-mac "$SRV_MAC" --src-mac "$CLI_MAC" \
		--frame udp4 --source "$CLI4" --count 6000 --rate 100 >"$SCRATCH/sent"
	for ((i = 0; i < 3; i++)); do
		expect limit apply rv0 "$SCRATCH/two.yaml"
		expect limit apply rv0 "$SCRATCH/one.yaml"
	done
	kill -0 "$sender" || fail "the traffic ended too early"
	stop "$sender"
	receive_stop
	sent=$(jq .sent "$SCRATCH/sent")
	expect_equal "received" "$RECEIVED" "$sent"
	expect_equal "dropped" "$(status_field .totals.dropped_packets)" 0
	seen=$(status_field '.reasons.conforming.packets')
	expect_between "judged" "$seen" "$sent" $((sent + 6 * $(nproc)))
	expect_members "10 xdpfilt_alw_all 20 xdp_limit_chain"
}

# ---- trials ------------------------------------------------------------------------------------------
trial_goes_back() {
	topology neighbours
	expect attach --shared "${LIMIT[@]}"
	expect attach "${LARGER[@]}" --confirm 15s
	expect_members "20 xdp_limit_chain 20 xdp_limit_chain"
	expect_burst 80
	expect_status 5 attach "${LIMIT[@]}"
	wait_for 40 grep_former
	expect_members "20 xdp_limit_chain"
	expect limit status rv0 --check
	expect_burst 0
	expect attach "${LARGER[@]}" --confirm 60s
	expect limit confirm rv0
	expect_members "20 xdp_limit_chain"
	expect_equal "on trial" "$(status_field .trial_seconds)" null
	expect limit status rv0 --check
}

grep_former() {
	limit show rv0 | grep -q "burst: 50"
}

first_trial_ends() {
	topology neighbours
	filter_load
	expect attach "${LIMIT[@]}" --confirm 12s
	expect_burst 50
	wait_for 40 is_gone
	expect_members "10 xdpfilt_alw_all"
	! pinned || fail "pins are left"
}

is_gone() {
	[ "$(limit status rv0 2>&1 >/dev/null | grep -c 'no limiter')" -eq 1 ]
}

# ---- taken away, killed, half there ------------------------------------------------------------------
unloaded_by_others() {
	topology neighbours
	expect attach --shared "${LIMIT[@]}"
	expect beside xdp-loader unload rv0 --all
	expect_status 3 limit status rv0
	expect_stderr "pins are left over"
	expect attach --shared "${LIMIT[@]}"
	expect_members "20 xdp_limit_chain"
	expect_burst 50
	expect limit status rv0 --check
}

pins_removed() {
	topology neighbours
	expect attach --shared "${LIMIT[@]}"
	rm -r "$PINS"
	expect_status 1 limit status rv0
	expect_burst 50
	expect attach "${LARGER[@]}"
	expect limit status rv0 --check
	expect_members "20 xdp_limit_chain"
	expect_burst 30
}

# Without its pins a dispatcher has no members, and whoever wants to join is told.
libxdp_pins_removed() {
	local id

	topology neighbours
	expect attach --shared "${LIMIT[@]}"
	id=$(ip -n "$SRV" -j link show dev rv0 | jq '.[0].xdp.prog.id')
	rm -r /sys/fs/bpf/xdp/dispatch-*-"$id"
	expect_status 3 limit status rv0
	expect_stderr "xdp_dispatcher"
	expect_status 5 attach --shared "${LIMIT[@]}"
	expect_stderr "lost.*xdp-loader unload rv0 --all"
	expect beside xdp-loader unload rv0 --all
	expect attach --shared "${LIMIT[@]}"
	expect_burst 50
}

# killed_at CALL: at some of its uses; then attach makes one member of what is there
killed_at() {
	local call=$1 number status step=5

	[ -z "${XDPL_EMULATED-}" ] || step=26
	for ((number = 1; number < 60; number += step)); do
		rm -f "$SCRATCH/fired"
		status=0
		FAULT=$call:$number:SIGKILL FAULT_FIRED=$SCRATCH/fired \
			"$FAULTY" --netns "$SRV" attach rv0 --shared "${LARGER[@]}" \
			>"$SCRATCH/out" 2>&1 || status=$?
		[ -e "$SCRATCH/fired" ] || break
		expect_equal "$call, use $number: status" "$status" 137
		expect attach --shared "${LARGER[@]}"
		expect_members "10 xdpfilt_alw_all 20 xdp_limit_chain"
		expect limit status rv0 --check
	done
	expect_at_least "$call: uses" "$number" 2
}

killed() {
	[ -x "$FAULTY" ] || skip "needs $FAULTY"
	topology neighbours
	filter_load
	killed_at "$1"
	expect_burst 80
}

# attach_killed_at CALL:NUMBER: when it stands in the dispatcher already
attach_killed_at() {
	FAULT=$1:SIGKILL "$FAULTY" --netns "$SRV" attach rv0 --shared "${LIMIT[@]}" 2>/dev/null || true
	expect_members "20 xdp_limit_chain"
}

killed_at_first() {
	[ -x "$FAULTY" ] || skip "needs $FAULTY"
	topology neighbours
	attach_killed_at rename:3
	expect limit detach rv0
	! attached || fail "still attached"
	attach_killed_at bpf_obj_pin:3
	expect attach --shared "${LIMIT[@]}"
	expect_members "20 xdp_limit_chain"
	expect_burst 50
}

# What a killed attach left in a dispatcher, and never switched to, is found.
detach_all() {
	[ -x "$FAULTY" ] || skip "needs $FAULTY"
	topology neighbours
	attach_killed_at bpf_obj_pin:3
	expect limit detach --all
	! attached || fail "still attached"
	! pinned || fail "pins are left"
}

poor() {
	beside setpriv --bounding-set=-all,+bpf,+net_admin,+perfmon --inh-caps=-all "$XDP_LIMIT" "$@"
}

# libxdp finds what is in a dispatcher by ids.
without_sys_admin() {
	topology neighbours
	expect attach --shared "${LIMIT[@]}"
	for command in "status rv0" "detach rv0" "detach --all"; do
		# shellcheck disable=SC2086 # words
		expect_status 1 poor $command
		expect_stderr "cannot read what is attached to rv0: .*CAP_SYS_ADMIN"
	done
	expect_members "20 xdp_limit_chain"
	expect limit status rv0 --check
	expect_burst 50
}

# failing_at CALL: as before, whatever fails
fails() {
	local call

	[ -x "$FAULTY" ] || skip "needs $FAULTY"
	topology neighbours
	filter_load
	expect attach "${LIMIT[@]}"
	for call in rename:3 bpf_obj_pin:2 bpf_prog_bind_map:2 bpf_object__open_mem:1; do
		FAULT=$call:ENOSPC "$FAULTY" --netns "$SRV" attach rv0 "${LARGER[@]}" 2>/dev/null &&
			fail "$call: no failure"
		expect_members "10 xdpfilt_alw_all 20 xdp_limit_chain"
		expect limit status rv0 --check
	done
	expect_burst 50
}

object_missing() {
	topology
	expect_status 4 env LIBXDP_OBJECT_PATH=/nonexistent "$XDP_LIMIT" --netns "$SRV" attach rv0 \
		--shared "${LIMIT[@]}"
	expect_stderr "xdp-dispatcher.o.*libxdp1"
	! attached || fail "attached"
	! pinned || fail "pins are left"
}

run_case "O-128: without --shared, and without a dispatcher, the program is attached alone" alone
run_case "--priority and --shared where they mean nothing: status 2" usage
if ! (_tap_case has_dispatchers); then
	run_case "O-084: a kernel without dispatchers: --shared is refused, status 4, nothing is left" \
		refused
	note "the rest needs a kernel that lets programs extend others"
	finish
fi
run_case "O-083: xdp-filter comes after and goes before" filter_comes_and_goes
run_case "O-083: xdp-filter was there first; detach leaves it" filter_was_first
run_case "--priority is the place, and is kept" priority
run_case "a dispatcher in generic mode" generic_mode
run_case "a flat table, and another one in its place" flat_table
run_case "O-061: apply under traffic loses nothing and judges everything" apply_under_traffic
run_case "a trial goes back, or is confirmed" trial_goes_back
run_case "a first trial ends in passing, and the other member stays" first_trial_ends
run_case "O-086: others unload everything; attach recovers" unloaded_by_others
run_case "our pins are removed: limiting goes on" pins_removed
run_case "libxdp's pins are removed: said, and what to do" libxdp_pins_removed
run_case "killed at a pin: the next attach makes one member of it" killed bpf_obj_pin
run_case "killed at a rename" killed rename
run_case "killed at a write" killed bpf_map_update_elem
run_case "killed in the first attach" killed_at_first
run_case "detach --all finds what a killed attach left" detach_all
run_case "O-117: without CAP_SYS_ADMIN nothing is done, and that is said" without_sys_admin
run_case "a failure leaves all as it was" fails
run_case "O-120: libxdp's object is not installed: status 4 and where it is from" object_missing
finish
