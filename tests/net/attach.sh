#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Attaching: modes and what drivers refuse, dry run, waiting, names.
# shellcheck source-path=SCRIPTDIR source=../lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

SMALL=(--sources 1024)

clean() {
	limit detach --all >/dev/null 2>&1 || true
}

expect_bare() {
	expect_equal "XDP programs" "$(ip -n "$SRV" -j link | jq 'map(select(has("xdp"))) | length')" 0
	expect_equal "pins" "$(find "$PIN_ROOT" -maxdepth 1 -name "$(basename "${PINS%-*}")-*")" ""
}

warnings() {
	grep -c '^xdp-limit: warning: ' <<<"$ERR" || true
}

lo_has_seen_something() {
	[ "$(limit status lo --json | jq .totals.packets)" -gt 0 ]
}

# ---- native mode refused -------------------------------------------------------------------------
no_native() {
	clean
	expect_status 4 limit attach lo --mode native --rate 100/s "${SMALL[@]}"
	expect_stderr "cannot attach to lo in native mode: .*--mode generic"
	expect_bare
	expect_status 4 limit attach lo --rate 100/s "${SMALL[@]}"
	expect_bare
}

no_native_auto() {
	clean
	expect_status 0 limit attach lo --mode auto --rate 100/s --no-ssh-guard "${SMALL[@]}"
	expect_equal "warnings" "$(warnings)" 1
	expect_stderr "warning: lo refused native mode \(.+\): generic"
	expect_equal "mode" "$(limit status lo --json | jq -r .mode)" generic
	expect in_srv ping -c 1 -W 5 127.0.0.1
	wait_for 5 lo_has_seen_something
	expect_status 0 limit status lo --check
}

# The same try, three reasons: unsupported 4, busy 5, permission 1.
statuses_differ() {
	clean
	expect_status 4 limit attach lo --rate 100/s "${SMALL[@]}"
	expect limit attach lo --mode generic --rate 100/s "${SMALL[@]}"
	expect_status 4 limit attach lo --mode native --rate 100/s "${SMALL[@]}"
	expect_equal "mode" "$(limit status lo --json | jq -r .mode)" generic
	expect limit status lo --check
	clean
	expect_status 1 nsenter --net="/run/netns/$SRV" setpriv --bounding-set -all \
		--inh-caps -all "$XDP_LIMIT" attach lo --rate 100/s "${SMALL[@]}"
	expect_stderr "lacks CAP_BPF"
	expect_bare
}

# few0 has one receive queue, its peer four transmit queues: what a driver without spare queues says.
few_queues() {
	ip -n "$SRV" link add few0 mtu "$1" numrxqueues 1 numtxqueues 1 type veth \
		peer name few1 mtu "$1" numrxqueues 4 numtxqueues 4
	ip -n "$SRV" link set few0 up
	ip -n "$SRV" link set few1 up
	at_exit ip -n "$SRV" link del few0
}

too_many_channels() {
	clean
	few_queues 1500
	expect_status 4 limit attach few0 --rate 100/s "${SMALL[@]}"
	expect_stderr "number of rx queues"
	expect_stderr "reduce .*channels: ethtool -L"
	expect_bare
	expect_status 0 limit attach few0 --mode auto --rate 100/s --no-ssh-guard "${SMALL[@]}"
	expect_equal "warnings" "$(warnings)" 1
	expect_stderr "refused native mode \(.*number of rx queues"
	expect_equal "mode" "$(limit status few0 --json | jq -r .mode)" generic
	clean
	expect in_srv ethtool -L few1 tx 1
	expect limit attach few0 --rate 100/s "${SMALL[@]}"
	clean
}

jumbo_refused() {
	clean
	few_queues 9000
	expect_status 4 limit attach few0 --rate 100/s "${SMALL[@]}"
	expect_stderr "MTU of 9000 .*(lower|multi-buffer)"
	expect_stderr "--mode generic"
	expect_bare
}

jumbo_taken() {
	clean
	ip -n "$CLI" link set rv1 mtu 9000
	ip -n "$SRV" link set rv0 mtu 9000
	expect attach --rate 100/s --burst 20 "${SMALL[@]}"
	expect_equal "mode" "$(status_field .mode)" native
	send --frame udp4 --source "$CLI4" --size 9000 --count 10
	expect_equal "bytes" "$(source_field "$CLI4" .passed_bytes)" 90000
	clean
	ip -n "$SRV" link set rv0 mtu 1500
	ip -n "$CLI" link set rv1 mtu 1500
}

# ---- what attach says and means ------------------------------------------------------------------
dry_run() {
	clean
	expect_status 0 attach --rate 1/h --burst 10 --dry-run "${SMALL[@]}"
	expect_stdout "dry run"
	receive_start --source "$CLI4"
	send --frame udp4 --source "$CLI4" --count 50
	receive_stop
	expect_equal "arrived" "$RECEIVED" 50
	expect_status 0 limit status rv0 --json
	expect_json .dry_run true
	expect_json .totals.dropped_packets 0
	expect_json .totals.would_drop_packets 40
	expect_json .limits.default.would_drop_packets 40
	expect_json .reasons.over_limit.packets 40
	expect_equal "remaining: charged as enforcing would" \
		"$(get_field "$CLI4" '.limits[0].remaining')" 0
	expect_status 0 limit status rv0
	expect_stdout "DRY RUN"
	expect_status 0 attach --rate 1/h --burst 10 --dry-run "${SMALL[@]}"
	expect_no_stderr "dry run is over"
	expect_status 0 attach --rate 1/h --burst 10 "${SMALL[@]}"
	expect_stderr "rv0: its dry run is over"
	expect attach --rate 1/h --burst 10 "${SMALL[@]}"
	send --frame udp4 --source "$CLI4" --count 5
	expect_equal "dropped once it enforces" "$(status_field .totals.dropped_packets)" 5
}

says_what_it_means() {
	clean
	expect_status 0 attach --rate 100/s --bytes '1 MB/s' --bytes-burst 1000B --sources 4096
	expect_stderr "table for 4096 sources: about [0-9.]+ [KM]iB of kernel memory"
	expect_stderr "meets the replies to this host's own downloads"
	expect_stderr "warning: limit 'bytes': .*full frame.*--bytes-burst 1518"
	expect_stdout "rv0: limiting in native mode"
	clean
	expect_status 0 attach --rate 100/s --mode generic "${SMALL[@]}"
	expect_stderr "generic mode: merged frames count as the packets they were made of"
}

# ---- waiting -------------------------------------------------------------------------------------
waits_for_interface() {
	local waiter

	clean
	expect_status 1 limit attach late0 --rate 100/s "${SMALL[@]}"
	expect_status 1 limit attach late0 --wait 50ms --rate 100/s "${SMALL[@]}"
	expect_stderr "waited"
	background waiter limit attach late0 --wait 20s --rate 100/s "${SMALL[@]}" \
		>"$SCRATCH/out" 2>&1
	wait_for 5 waits_in_poll "$waiter"
	ip -n "$SRV" link add late0 type veth peer name late1
	at_exit ip -n "$SRV" link del late0
	wait "$waiter" || fail "$(cat "$SCRATCH/out")"
	expect limit status late0
	clean
}

# The numbers of ppoll and flock on x86-64 and on arm64.
waits_in_poll() {
	grep -Eq '^(271|73) ' "/proc/$1/syscall"
}

lock_file() {
	echo "/run/xdp-limit/${PINS##*/}.lock"
}

lock_is_held() {
	! flock -n "$(lock_file)" true
}

waits_for_lock() {
	local holder waiter command

	clean
	expect attach --rate 100/s "${SMALL[@]}"
	background holder flock --no-fork "$(lock_file)" sleep 60
	wait_for 5 lock_is_held
	for command in "attach rv0 --rate 200/s" "detach rv0" "reset rv0" "detach --all"; do
		# shellcheck disable=SC2086 # words
		expect_status 5 limit $command
		expect_stderr "another xdp-limit command is changing rv0.*--wait"
	done
	expect_status 5 limit attach rv0 --rate 200/s --wait 100ms "${SMALL[@]}"
	expect_status 0 limit status rv0
	background waiter limit attach rv0 --rate 200/s --wait 20s "${SMALL[@]}" >"$SCRATCH/out" 2>&1
	wait_for 5 waits_in_flock "$waiter"
	stop "$holder"
	wait "$waiter" || fail "$(cat "$SCRATCH/out")"
	expect_equal "rate" "$(get_field "$CLI4" '.limits[0].rate')" 200
}

waits_in_flock() {
	grep -Eq '^(73|32) ' "/proc/$1/syscall"
}

# ---- names ---------------------------------------------------------------------------------------
# Everything but blanks, '/', ':' and '%' may stand in the name of an interface.
odd_names() {
	local name

	# shellcheck disable=SC2016 # not to be expanded
	for name in 'x;y|z' '"q"' "it's" '$(id)' '*' 'back\slash' 'grün' '<&>' fifteen-letters; do
		ip -n "$SRV" link add "$name" type veth peer name odd1
		expect limit attach "$name" --rate 100/s "${SMALL[@]}"
		expect_status 0 limit status "$name" --json
		expect_equal "name in JSON" "$(jq -r .interface <<<"$OUT")" "$name"
		expect_status 0 limit detach "$name"
		expect_equal "said" "$OUT" "$name: detached"
		ip -n "$SRV" link del odd1
	done
}

dashed_name() {
	ip -n "$SRV" link add name -dash type veth peer name odd1
	expect limit attach --rate 100/s "${SMALL[@]}" -- -dash
	expect limit status --check -- -dash
	expect limit detach -- -dash
	ip -n "$SRV" link del odd1
}

alternative_name() {
	clean
	ip -n "$SRV" link property add dev rv0 altname a-name-longer-than-fifteen-letters
	expect_status 0 limit attach a-name-longer-than-fifteen-letters --rate 100/s "${SMALL[@]}"
	expect_stdout "rv0: limiting"
	expect limit status rv0 --check
	ip -n "$SRV" link property add dev rv0 altname '%s%n%d'
	expect_status 0 limit status '%s%n%d'
	expect_status 1 limit attach '%s%n' --rate 100/s
	expect_stderr "cannot find interface '%s%n'"
	clean
}

topology neighbours
run_case "O-053: native mode refused: exit 4, nothing attached" no_native
run_case "O-053: --mode auto: generic, one warning with the reason, and it sees packets" \
	no_native_auto
run_case "O-054: unsupported and permission have exit statuses of their own" statuses_differ
run_case "O-056: too many channels: the kernel's words and a hint, nothing attached; auto is generic" \
	too_many_channels
run_case "O-058: a refusal at MTU 9000 names it, a lower one, multi-buffer and generic mode" \
	jumbo_refused
run_case "O-058: MTU 9000 where the driver has multi-buffer: native, full length counted" jumbo_taken
run_case "--dry-run: nothing is dropped, what would have been is counted" dry_run
run_case "attach says what it takes and means" says_what_it_means
run_case "--wait waits for an interface made later" waits_for_interface
run_case "a held lock: exit 5, or --wait" waits_for_lock
run_case "interface names with odd characters" odd_names
run_case "an interface name that starts with a dash, behind --" dashed_name
run_case "an alternative name of the interface" alternative_name
finish
