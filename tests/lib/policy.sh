# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# What tests of policy files have in common, on top of net.sh (read that first).
#
#	. "$(dirname "$0")/../lib/policy.sh"
#
#	two_of_five() {
#		topology neighbours
#		run_policy <<-END
#			table: {sources: 1024}
#			limits: [{name: default, rate: 1/h, burst: 2}]
#		END
#		passes 2 --frame udp4 --count 5
#	}
#
# Rates per hour or day refill nothing during a test, so that counts are exact.
#
#  run_policy                         attach what stands on standard input, with a fresh table
#  apply_policy                       apply what stands on standard input
#  passes N OPTION...                 send: N of them pass
#  limit_field NAME FILTER            of that limit in `status rv0 --json`
#  get_limit ADDRESS NAME FILTER      of that limit in `get rv0 ADDRESS --json`
#  reason_field NAME                  packets with that reason
#  program_id, link_id, attachments   what the kernel says of rv0's hook
#  expect_ours                        exactly one attachment: ours, pinned, complete
#  trial_over                         whether the deadline in the map has passed, which no command has settled yet
#  stopped PID                        whether that process has been stopped (FAULT=CALL:N:SIGSTOP)

_policy_tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source-path=SCRIPTDIR source=net.sh
. "$_policy_tests/lib/net.sh"

[ "$(command -v bpftool)" ] || skip "needs bpftool"

run_policy() {
	cat >"$SCRATCH/policy.yaml"
	limit detach rv0 >/dev/null 2>&1 || true
	expect limit attach rv0 --config "$SCRATCH/policy.yaml"
}

apply_policy() {
	cat >"$SCRATCH/policy.yaml"
	expect limit apply rv0 "$SCRATCH/policy.yaml"
}

# Control packets are the kernels' own.
_policy_passed() {
	status_field '.totals.passed_packets - .reasons.control.packets'
}

passes() {
	local want=$1 before
	shift

	before=$(_policy_passed)
	send "$@"
	expect_equal "passed: $*" $(($(_policy_passed) - before)) "$want"
}

limit_field() {
	status_field ".limits[\"$1\"] | $2"
}

get_limit() {
	get_field "$1" ".limits[] | select(.name == \"$2\") | $3"
}

reason_field() {
	status_field ".reasons[\"$1\"].packets // 0"
}

program_id() {
	ip -n "$SRV" -j link show dev rv0 | jq '.[0].xdp.prog.id // 0'
}

link_id() {
	bpftool -j link show pinned "$PINS/link" | jq .id
}

attachments() {
	in_srv bpftool -j net show dev rv0 | jq '.[0].xdp | length'
}

expect_ours() {
	expect_equal "attachments" "$(attachments)" 1
	expect_equal "status: program_id" "$(status_field .program_id)" "$(program_id)"
	expect limit status rv0 --check
	expect_equal "new pins left" "$(find "$PINS" -name '*_new')" ""
}

# Any command of ours would settle it.
trial_over() {
	local deadline now

	deadline=$(bpftool -j map lookup pinned "$PINS/switches" key 0 0 0 0 | jq .formatted.value.deadline_ns)
	now=$(awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime)
	[ "$now" -gt "$deadline" ]
}

stopped() {
	grep -q '^State:.T' "/proc/$1/status"
}
