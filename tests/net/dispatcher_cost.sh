#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What libxdp's dispatcher adds to a packet (O-128), by the same program attached alone and in a dispatcher.
#
# Where instructions are counted (XDPL_COUNTED: a guest whose clock is its instructions) the numbers are
# exact and have bounds. Elsewhere they are nanoseconds of this machine, which are told and not judged.
# shellcheck source-path=SCRIPTDIR source=../lib/policy.sh
. "$(dirname "$0")/../lib/policy.sh"

[ "$(command -v xdp-filter)" ] || skip "needs xdp-filter (package xdp-tools)"

# What runs in front of the program and behind it: 22 instructions on 6.1, 15 on 6.12.
DISPATCHER_AT_MOST=30

# An Ethernet frame with UDP over IPv4 from 198.51.100.1, 64 bytes long; no checksums, which nobody asks for.
write_frame() {
	printf '\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x08\0\x45\0\0\x32\0\0\x40\0\x40\x11\0\0\xc6\x33\x64\x01' >"$1"
	printf '\xc0\0\x02\x01\x10\0\x20\0\0\x1e\0\0' >>"$1"
	truncate -s 64 "$1"
}

# cost RETURN_VALUE: of the program at rv0, which ends each packet so. The least of five: the others were disturbed.
cost() {
	local i run

	for ((i = 0; i < 5; i++)); do
		run=$(bpftool -j prog run id "$(program_id)" data_in "$SCRATCH/frame" repeat 20000)
		expect_equal "return value" "$(jq .retval <<<"$run")" "$1" >&2
		jq .duration <<<"$run"
	done | sort -n | head -n 1
}

unit() {
	[ "${XDPL_COUNTED-}" ] && echo instructions || echo ns
}

# compare VERDICT RETURN_VALUE RATE BURST
compare() {
	local limit=(--rate "$3" --burst "$4" --sources 1024) alone joined both

	topology neighbours
	write_frame "$SCRATCH/frame"
	expect attach "${limit[@]}"
	alone=$(cost "$2")
	expect limit detach rv0
	expect attach --shared "${limit[@]}"
	joined=$(cost "$2")
	at_exit rm -rf /sys/fs/bpf/xdp-filter
	expect nsenter --net="/run/netns/$SRV" xdp-filter load rv0 -p allow -f ethernet
	both=$(cost "$2")
	note "a packet $1, $(unit): $alone alone, $joined in a dispatcher (+ $((joined - alone)))," \
		"$both behind xdp-filter"
	[ "${XDPL_COUNTED-}" ] || return 0
	expect_between "what the dispatcher adds" $((joined - alone)) 1 "$DISPATCHER_AT_MOST"
	expect_at_least "what xdp-filter adds" $((both - joined)) 1
}

has_dispatchers() {
	topology
	attach --shared --rate 1/s 2>"$SCRATCH/why" || {
		grep -q "no XDP program extend another" "$SCRATCH/why" || fail "$(cat "$SCRATCH/why")"
		return 1
	}
}

[ "${XDPL_COUNTED-}" ] || [ -z "${XDPL_EMULATED-}" ] || skip "a time under emulation says nothing"
(_tap_case has_dispatchers) || skip "needs a kernel that lets programs extend others"
run_case "O-128: the dispatcher's cost for a packet that is dropped" compare dropped 1 1/h 1
run_case "O-128: the dispatcher's cost for a packet that passes" compare passed 2 1000000000pps 1000000
finish
