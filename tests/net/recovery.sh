#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# State that is lost under a running limiter: pins, the bpffs, /run/xdp-limit, the program of a trial.
# Each time: does it still limit, what status says and with which status, attach recovers to one
# program, detach leaves nothing. In mounts of its own.
# shellcheck source-path=SCRIPTDIR source=../lib/own_mounts.sh
. "$(dirname "$0")/../lib/own_mounts.sh"
# shellcheck source=../lib/policy.sh
. "$(dirname "$0")/../lib/policy.sh"

SMALL=(--rate 100/day --burst 30 --sources 1024)
BESIDE_LINK=program # and all maps: the program or the link holds these itself

not_attached() {
	! attached
}

# Whether the limiter limits: 30 of 50 packets of a source that nobody used before, or all of them.
FRESH=20
lets_through() {
	FRESH=$((FRESH + 1))
	receive_start --source "192.0.2.$FRESH"
	send --frame udp4 --source "192.0.2.$FRESH" --count 50
	receive_stop
	expect_equal "packets that got through" "$RECEIVED" "$1"
}

start() {
	limit detach rv0 >/dev/null 2>&1 || true
	expect attach "${SMALL[@]}"
	expect_ours
}

# recovers KEPT: by attach, to one program, with or without the buckets of before.
recovers() {
	expect attach "${SMALL[@]}"
	expect_ours
	expect_equal "packets of before" "$(source_field "$CLI4" '.passed_packets // 0')" "$1"
	lets_through 30
}

detaches_in_full() {
	expect limit detach rv0
	expect_equal "attachments" "$(attachments)" 0
	! pinned || fail "pins are left: $(ls "$PINS")"
}

# It goes on: what is missing is said by each status, whatever it is asked for.
says_missing() {
	expect_status 1 limit status rv0
	expect_stdout "pins are missing: .*xdp-limit attach rv0"
	expect_status 1 limit status
	expect_stdout "pins are missing"
	expect_status 1 limit status rv0 --json
	expect_json '.problems[0] | startswith("pins are missing")' true
	expect_status 1 limit doctor rv0
	expect_stdout "fix: .*xdp-limit attach rv0"
}

# It has ended: nothing is there, and what is left over is said.
says_none() {
	wait_for 5 not_attached # after a grace period of the kernel
	expect_status 3 limit status rv0
	expect_stderr "no limiter on rv0; start one with"
}

says_leftovers() {
	says_none
	expect_stderr "pins are left over in $PINS; .xdp-limit detach rv0"
	expect_status 1 limit status
	expect_stderr "rv0: .*pins are left over in $PINS"
	expect_status 1 limit doctor rv0
	expect_stdout "fix: pins are left over of a limiter that has ended"
}

# ---- pins ----------------------------------------------------------------------------------------
one_pin() {
	start
	send --frame udp4 --source "$CLI4" --count 10
	rm "$PINS/$1"
	expect_equal "attachments" "$(attachments)" 1
	lets_through 30
	says_missing
	recovers 10
	rm "$PINS/$1"
	detaches_in_full
}

each_pin_beside_the_link() {
	local pin count=0

	start
	for pin in "$PINS"/*; do
		pin=${pin##*/}
		case $pin in link | "$BESIDE_LINK") continue ;; esac
		count=$((count + 1))
		rm "$PINS/$pin"
		expect_equal "attachments without $pin" "$(attachments)" 1
		expect_status 1 limit status rv0
		expect_stdout "pins are missing"
	done
	expect_at_least "maps" "$count" 18
	lets_through 30
	recovers 0
	detaches_in_full
}

the_link() {
	start
	rm "$PINS/link"
	says_leftovers
	lets_through 50
	recovers 0
	rm "$PINS/link"
	wait_for 5 not_attached
	expect_status 3 limit detach rv0
	expect_stderr "pins left over in $PINS removed"
	! pinned || fail "pins are left: $(ls "$PINS")"
}

lists_go_with_it() {
	start
	expect limit ban rv0 add 198.18.0.1 198.18.1.0/24
	rm "$PINS/link"
	wait_for 5 not_attached
	expect_status 0 attach "${SMALL[@]}"
	expect_stderr "had ended, and what its pins still hold goes: 2 entries of live lists, 0 bans"
	expect_equal "bans" "$(limit ban rv0 list)" ""
	detaches_in_full
}

removed() {
	start
	send --frame udp4 --source "$CLI4" --count 10
	rm -r "$1"
	says_none
	expect_no_stderr "left over"
	expect_status 3 limit status --check
	expect_stdout "no limiter on any interface"
	lets_through 50
	recovers 0
	detaches_in_full
}

# Pins of a limiter that has ended, as they lie there when the interface is limited again.
stale_pins() {
	start
	rm "$PINS/link" "$PINS/counters"
	wait_for 5 not_attached
	recovers 0
	expect_equal "program pinned" \
		"$(bpftool -j prog show pinned "$PINS/program" | jq .id)" "$(program_id)"
	detaches_in_full
}

# ---- the file system -----------------------------------------------------------------------------
unmounted() {
	start
	bpffs_unmount
	says_none
	expect_status 1 limit status
	expect_stderr "no bpffs is mounted on /sys/fs/bpf"
	expect_status 3 limit status --check --json
	expect_equal "limiters" "$(jq length <<<"$OUT")" 0
	lets_through 50
	expect_status 3 limit detach rv0
	expect limit detach rv0 --if-attached
	recovers 0
	expect_equal "mounted by attach" "$(stat -f -c %T /sys/fs/bpf)" bpf_fs
	detaches_in_full
}

# What a machine that has just started lacks is made for root alone, whatever the umask.
made_anew() {
	limit detach rv0 >/dev/null 2>&1 || true
	bpffs_unmount
	rm -rf /run/xdp-limit
	(umask 0 && expect attach "${SMALL[@]}")
	expect_equal "bpffs, which the kernel makes sticky" "$(stat -c '%a %u' /sys/fs/bpf)" "1700 0"
	expect_equal "directories" "$(stat -c '%a %u' "$PIN_ROOT" "$PINS" /run/xdp-limit | sort -u)" "700 0"
	expect_equal "files" "$(find "$PINS" /run/xdp-limit -type f -printf '%m %U\n' | sort -u)" "600 0"
	detaches_in_full
}

unmounted_here() {
	mkdir "$SCRATCH/other"
	mount --bind /sys/fs/bpf "$SCRATCH/other"
	at_exit umount -q "$SCRATCH/other"
	bpffs_unmount
}

# As when a container has the same bpffs: the kernel keeps what is pinned until the last mount goes.
unmounted_with_another_mount() {
	start
	send --frame udp4 --source "$CLI4" --count 10
	unmounted_here
	expect_equal "attachments" "$(attachments)" 1
	lets_through 30
	says_missing
	recovers 10
	umount "$SCRATCH/other"
	expect_ours
	lets_through 30
	detaches_in_full
}

unmounted_then_detach() {
	start
	unmounted_here
	at_exit bpffs_mount
	expect limit detach rv0
	expect_equal "attachments" "$(attachments)" 0
	lets_through 50
}

mounted_over() {
	start
	send --frame udp4 --source "$CLI4" --count 10
	bpffs_mount
	says_missing
	recovers 10
	bpffs_unmount
	# The older pins are of the same link, so they hold it as well.
	expect_equal "attachments" "$(attachments)" 1
	expect attach "${SMALL[@]}"
	expect_ours
	detaches_in_full
}

# ---- /run/xdp-limit: nothing but locks -----------------------------------------------------------
lock_directory_removed() {
	start
	send --frame udp4 --source "$CLI4" --count 10
	rm -r /run/xdp-limit
	expect_status 0 limit status rv0
	lets_through 30
	recovers 10
	rm -r /run/xdp-limit
	detaches_in_full
}

lock_directory_replaced() {
	local command

	start
	rm -r /run/xdp-limit
	: >/run/xdp-limit
	at_exit rm -rf /run/xdp-limit
	expect_status 0 limit status rv0
	lets_through 30
	for command in "attach rv0 --rate 1/s" "detach rv0" "reset rv0"; do
		# shellcheck disable=SC2086 # words
		expect_status 1 limit $command
		expect_stderr "/run/xdp-limit"
	done
	expect_ours
	rm /run/xdp-limit
	detaches_in_full
}

# ---- trials --------------------------------------------------------------------------------------
# The former program hangs on the pin of an array: without it there is nothing to go back to, and what
# was on trial is better than no limit.
former_program_lost() {
	start
	expect attach --rate 100/day --burst 20 --sources 1024 --confirm 1s
	rm "$PINS/previous"
	expect_status 1 limit status rv0
	expect_stdout "pins are missing"
	lets_through 20
	wait_for 5 trial_over
	expect_status 1 limit status rv0
	expect_stderr "not confirmed; the former one has lost its pin, so it stays"
	expect_status 1 limit status rv0 --json
	expect_json .trial_seconds null
	lets_through 20
	recovers 0
	detaches_in_full
}

confirmed_without_it() {
	start
	expect attach --rate 100/day --burst 20 --sources 1024 --confirm 30s
	rm "$PINS/previous"
	expect limit confirm rv0
	lets_through 20
	recovers 0
	detaches_in_full
}

topology neighbours
run_case "the program's pin removed: it goes on" one_pin program
run_case "the buckets' pin removed: it goes on" one_pin buckets
run_case "all maps' pins removed, one by one: it goes on" each_pin_beside_the_link
run_case "O-085: the link's pin removed: it ends, the other pins are left over" the_link
run_case "the link's pin removed: what was on live lists is told when it is replaced" lists_go_with_it
run_case "the directory of its pins removed: it ends" removed "$PINS"
run_case "the directory of all pins removed: it ends" removed "$PIN_ROOT"
run_case "pins left over are replaced by those of the next" stale_pins
run_case "bpffs unmounted: it ends; attach mounts it again" unmounted
run_case "a bpffs and directories that attach makes are root's alone" made_anew
run_case "bpffs unmounted that somebody else has mounted: it goes on" unmounted_with_another_mount
run_case "bpffs unmounted that somebody else has mounted: detach ends it" unmounted_then_detach
run_case "another bpffs mounted over it: it goes on" mounted_over
run_case "/run/xdp-limit removed: nothing is lost with it" lock_directory_removed
run_case "/run/xdp-limit replaced by a file: it goes on, changing commands refuse" \
	lock_directory_replaced
run_case "the former program of a trial lost: it stays, and says so" former_program_lost
run_case "the former program of a trial lost: a confirmed trial is not concerned" confirmed_without_it
finish
