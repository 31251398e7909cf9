#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The unit of `serve`: its command with the unit's capabilities and no others, and what systemd says of it.
# shellcheck source-path=SCRIPTDIR source=../lib/policy.sh disable=SC2317 # cases are called by name
. "$(dirname "$0")/../lib/policy.sh"

UNIT=$_policy_tests/../${BUILD:-build}/service/xdp-limit-serve.service

# setting NAME: its value in the unit
setting() {
	sed -n "s/^$1=//p" "$UNIT"
}

answers() {
	curl -sf "http://$(sed -n 's/.*serving on http:\/\/\(.*\)\/$/\1/p' "$SCRATCH/log")$1"
}

# Reading, measuring and writing; the lock is a file of root.
with_its_capabilities() {
	local serve bounds=-all capability line

	topology neighbours
	run_policy <<<'limits: [{name: default, rate: 1/h, burst: 10}]'
	echo 0123456789abcdef >"$SCRATCH/token"
	chmod 600 "$SCRATCH/token"
	for capability in $(setting CapabilityBoundingSet); do
		capability=${capability,,}
		bounds+=,+${capability#cap_}
	done
	line=$(setting ExecStart)
	line=${line/#*\/xdp-limit /"$XDP_LIMIT" --netns "$SRV" }
	line=${line/\$SERVE_OPTIONS/--listen 127.0.0.1:0 --token-file "$SCRATCH/token"}
	# shellcheck disable=SC2086 # words
	background serve setpriv --no-new-privs --inh-caps=-all --bounding-set="$bounds" \
		env -i PATH="$PATH" $line 2>"$SCRATCH/log"
	wait_for 5 answers /v1/status
	answers /metrics >"$SCRATCH/metrics"
	expect grep -q '^xdp_limit_up{interface="rv0"} 1$' "$SCRATCH/metrics"
	expect grep -q '^xdp_limit_program_runs_total{' "$SCRATCH/metrics"
	expect curl -sf -H 'Authorization: Bearer 0123456789abcdef' -d '{"prefixes": ["198.18.0.1"]}' \
		"http://$(sed -n 's/.*serving on http:\/\/\(.*\)\/$/\1/p' "$SCRATCH/log")/v1/ban"
	expect_equal "bans" "$(limit ban rv0 list)" 198.18.0.1
	stop "$serve"
}

verified() {
	[ "$(command -v systemd-analyze)" ] || skip "needs systemd-analyze"
	sed "s,^\(Exec[A-Za-z]*=\)[^ ]*,\1$(realpath "$XDP_LIMIT")," "$UNIT" \
		>"$SCRATCH/xdp-limit-serve.service"
	expect_status 0 systemd-analyze verify --man=no "$SCRATCH/xdp-limit-serve.service"
	expect_equal "systemd-analyze verify" "$OUT$ERR" ""
	expect systemd-analyze security --offline=yes --threshold=25 "$SCRATCH/xdp-limit-serve.service"
}

[ -e "$UNIT" ] || skip "needs the unit: make check-package"
for tool in setpriv curl; do
	[ "$(command -v "$tool")" ] || skip "needs $tool"
done
run_case "it serves with the unit's capabilities" with_its_capabilities
run_case "systemd understands the unit, and finds little exposed" verified
finish
