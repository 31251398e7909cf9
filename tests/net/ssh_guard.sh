#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# O-020: attaching over SSH does not lock the operator out.
# shellcheck source-path=SCRIPTDIR source=../lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

PEER="$CLI4 40000 $SRV4 22"
PEER6="$CLI6 40000 $SRV6 22"
STRICT=(--rate 1/h --burst 1 --sources 1024)

unset SSH_CONNECTION

# Fresh, guards included.
clean() {
	limit detach rv0 >/dev/null 2>&1 || true
}

# expect_arrive N FRAME SOURCE: of 100 to the SSH port; P4S is such a frame, from the client
expect_arrive() {
	local options=(--source "$3" --dport 22)

	[ "$2" != P4S ] || options=()
	receive_start --source "$3"
	send --frame "$2" --count 100 "${options[@]}"
	receive_stop
	expect_equal "arrived of 100 $2 from $3" "$RECEIVED" "$1"
}

in_environment() {
	clean
	SSH_CONNECTION=$PEER expect_status 0 attach "${STRICT[@]}"
	expect_stderr "warning: .*SSH from $CLI4: that address is exempt on rv0.*--no-ssh-guard"
	expect_arrive 100 P4S "$CLI4"
	expect_arrive 1 tcp-syn4 192.0.2.11
	expect_equal "packets by reason" "$(status_field .reasons.ssh_guard.packets)" 100
}

# sudo drops the variable; the shell above it still has it.
in_ancestor() {
	clean
	# shellcheck disable=SC2016 # for the inner shell, which stays between
	SSH_CONNECTION=$PEER expect_status 0 bash -c '
		env -u SSH_CONNECTION "$@"
		status=$?
		exit $status' shell "$XDP_LIMIT" --netns "$SRV" attach rv0 "${STRICT[@]}"
	expect_stderr "warning: .*SSH from $CLI4"
	expect_arrive 100 P4S "$CLI4"
}

over_ipv6() {
	clean
	SSH_CONNECTION=$PEER6 expect_status 0 attach "${STRICT[@]}"
	expect_stderr "SSH from $CLI6"
	expect_arrive 100 tcp-syn6 "$CLI6"
	# One address is exempt, not its /64.
	expect_arrive 1 tcp-syn6 2001:db8:0:1::b
}

no_guard() {
	clean
	SSH_CONNECTION=$PEER expect_status 0 attach "${STRICT[@]}" --no-ssh-guard
	expect_no_stderr "SSH"
	expect_arrive 1 P4S "$CLI4"
	expect_equal "guard" "$(get_field "$CLI4" .ssh_guard_seconds)" null
}

# Whoever said --no-ssh-guard last is believed: it ends earlier guards too.
no_guard_ends_guards() {
	clean
	SSH_CONNECTION=$PEER expect attach "${STRICT[@]}"
	SSH_CONNECTION=$PEER expect attach "${STRICT[@]}" --no-ssh-guard
	expect_equal "guard" "$(get_field "$CLI4" .ssh_guard_seconds)" null
	expect_arrive 1 P4S "$CLI4"
}

shown_by_get() {
	clean
	SSH_CONNECTION=$PEER expect attach "${STRICT[@]}"
	expect_between "seconds left" "$(get_field "$CLI4" .ssh_guard_seconds)" 1700 1800
	expect_status 0 limit get rv0 "$CLI4"
	expect_stdout "SSH guard: exempt for 1[78][0-9][0-9] s more"
	expect_status 0 limit get rv0 192.0.2.11
	[[ $OUT != *SSH* ]] || fail "a guard for another address: $OUT"
}

survives_attach() {
	clean
	SSH_CONNECTION=$PEER expect attach "${STRICT[@]}"
	SSH_CONNECTION="192.0.2.11 40000 $SRV4 22" expect attach "${STRICT[@]}"
	expect_arrive 100 P4S "$CLI4"
	expect_arrive 100 tcp-syn4 192.0.2.11
}

# guard_entry N SECONDS: for bpftool, of the peer 198.51.100.N
guard_entry() {
	local ends i value=

	ends=$(awk -v seconds="$2" '{ printf "%.0f", ($1 + seconds) * 1000000000 }' /proc/uptime)
	for ((i = 0; i < 8; i++)); do value+=" $((ends >> 8 * i & 255))"; done
	echo "map update pinned $PINS/guards key 0 0 0 0 0 0 0 0 0 0 255 255 198 51 100 $1 value$value"
}

guard_of() {
	get_field "$1" '.ssh_guard_seconds != null'
}

# As many peers as there is room for, and one more: an attach over SSH is never refused for that.
one_too_many() {
	local i

	clean
	expect attach "${STRICT[@]}"
	for i in {1..64}; do guard_entry "$i" $((i == 40 ? 60 : 600 + i)); done >"$SCRATCH/guards"
	expect bpftool batch file "$SCRATCH/guards"
	SSH_CONNECTION=$PEER expect attach "${STRICT[@]}"
	expect_equal "the new one" "$(guard_of "$CLI4")" true
	expect_equal "the one that ended first" "$(guard_of 198.51.100.40)" false
	expect_equal "another" "$(guard_of 198.51.100.1)" true
	SSH_CONNECTION=$PEER expect attach "${STRICT[@]}"
	expect_equal "another, after a repetition" "$(guard_of 198.51.100.1)" true
	expect_arrive 100 P4S "$CLI4"
}

# The guard ends by itself: no command comes back to end it.
ends_by_itself() {
	local now ends key value

	clean
	SSH_CONNECTION=$PEER expect attach "${STRICT[@]}"
	now=$(awk '{ printf "%d", $1 * 1000000000 }' /proc/uptime)
	ends=$((now - 1000000000))
	key="0 0 0 0 0 0 0 0 0 0 255 255 192 0 2 10"
	value=$(for ((i = 0; i < 8; i++)); do printf '%d ' $((ends >> 8 * i & 255)); done)
	# shellcheck disable=SC2086 # bytes
	expect bpftool map update pinned "$PINS/guards" key $key value $value
	expect_equal "guard" "$(get_field "$CLI4" .ssh_guard_seconds)" null
	expect_arrive 1 P4S "$CLI4"
}

not_understood() {
	clean
	SSH_CONNECTION="somewhere 40000 $SRV4 22" expect_status 0 attach "${STRICT[@]}"
	expect_stderr "warning: SSH_CONNECTION can't be understood: no guard"
}

topology neighbours
run_case "O-020: SSH_CONNECTION in the environment: its peer passes, others are limited" in_environment
run_case "O-020: SSH_CONNECTION only in an ancestor's environment" in_ancestor
run_case "O-020: an IPv6 peer, that address alone" over_ipv6
run_case "O-020: --no-ssh-guard limits the peer too" no_guard
run_case "O-020: --no-ssh-guard ends earlier guards" no_guard_ends_guards
run_case "O-020: get shows the guard and how long it lasts" shown_by_get
run_case "O-020: a second attach keeps the first guard" survives_attach
run_case "O-020: the guard ends by itself" ends_by_itself
run_case "O-020: one peer too many takes the place of the guard that ends first" one_too_many
run_case "O-020: a peer that can't be understood is warned about" not_understood
finish
