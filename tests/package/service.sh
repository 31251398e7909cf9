#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The unit's own commands, run as systemd would run them on this machine without it: one after
# another, as root with the unit's capabilities and no others. tests/deb/package.sh has systemd.
# shellcheck source-path=SCRIPTDIR source=../lib/policy.sh disable=SC2317 # cases are called by name
. "$(dirname "$0")/../lib/policy.sh"

UNIT=$_policy_tests/../${BUILD:-build}/service/xdp-limit@.service
SBIN=$(sed -n 's,^ExecStart=\(.*\)/xdp-limit attach .*,\1,p' "$UNIT")
FAULTY=${FAULTY:-$_policy_tests/../build/tests/xdp-limit-faults}
CAPABILITIES=

unit_capabilities() {
	setting CapabilityBoundingSet | tr '[:upper:]' '[:lower:]'
}

# setting NAME: its value in the unit
setting() {
	sed -n "s/^$1=//p" "$UNIT"
}

# "cap_x cap_y" to setpriv's "-all,+x,+y"
bounds() {
	local capability all=-all

	for capability; do
		all+=,+${capability#cap_}
	done
	echo "$all"
}

# run_unit ExecStart|ExecReload|ExecStop|ExecStopPost; UNDER is put before it
run_unit() {
	local line

	line=$(setting "$1")
	line=${line//%I/rv0}
	line=${line//\/etc\/xdp-limit/$SCRATCH}
	line=${line//\$ATTACH_OPTIONS/${ATTACH_OPTIONS-}}
	line=${line//"$SBIN"\/xdp-limit/"$XDP_LIMIT"}
	line=${line//\$\$/\$}
	eval "set -- $line"
	# shellcheck disable=SC2086 # words
	${UNDER-} nsenter --net="/run/netns/$SRV" setpriv --no-new-privs --inh-caps=-all \
		--bounding-set="$(bounds $CAPABILITIES)" env -i PATH="$PATH" \
		SERVICE_RESULT="${SERVICE_RESULT-}" FAULT="${FAULT-}" "$@"
}

# As systemd: a failed start is followed by ExecStopPost alone, a stop by both.
unit_start() {
	local status=0

	{
		run_unit ExecStart || status=$?
	} >/dev/null 2>&1
	case $status in
	0) return 0 ;;
	1??) SERVICE_RESULT=signal UNDER='' FAULT='' expect run_unit ExecStopPost ;;
	*) SERVICE_RESULT=exit-code UNDER='' expect run_unit ExecStopPost ;;
	esac
	return 1
}

unit_stop() {
	expect run_unit ExecStop
	SERVICE_RESULT=success expect run_unit ExecStopPost
}

# O-077's letter: nothing is there, and 1000 packets at ten times the rate (100/s below) all pass.
passes_everything() {
	expect_gone
	receive_start --source "$CLI4"
	send --frame udp4 --source "$CLI4" --count 1000 --rate 1000
	receive_stop
	expect_equal "passed after stop" "$RECEIVED" 1000
}

policy() {
	echo "limits: [{name: default, rate: $1, burst: 50 packets}]" >"$SCRATCH/rv0.yaml"
}

start_over() {
	topology neighbours
	policy 1/h
}

expect_gone() {
	! attached || fail "something is attached"
	! pinned || fail "pins are left"
}

start_reload_stop() {
	local first

	start_over
	expect run_unit ExecStart
	expect_ours
	passes 50 --frame udp4 --count 80
	first=$(program_id)
	policy 2/h
	expect run_unit ExecReload
	expect_ours
	[ "$(program_id)" != "$first" ] || fail "the program is the old one"
	passes 0 --frame udp4 --count 10
	expect run_unit ExecStop
	expect_gone
	expect run_unit ExecStart
	expect_ours
	passes 50 --frame udp4 --count 80
	expect run_unit ExecStop
	expect_gone
}

bad_policy() {
	local first

	start_over
	expect run_unit ExecStart
	first=$(program_id)
	policy '1 bps'
	expect_status 2 run_unit ExecReload
	expect_stderr 'rv0\.yaml:1:[0-9]+: "1 bps"'
	expect_equal "program" "$(program_id)" "$first"
	expect run_unit ExecStop
	expect_status 2 run_unit ExecStart
	expect_gone
}

nothing_to_stop() {
	start_over
	expect_status 0 run_unit ExecStop
	expect run_unit ExecStart
	expect limit detach rv0
	expect_status 0 run_unit ExecStop
	expect run_unit ExecStart
	ip -n "$SRV" link del rv0
	expect_status 0 run_unit ExecStop
}

# A manager that was killed knows of nothing and starts again.
start_over_running() {
	start_over
	expect run_unit ExecStart
	passes 50 --frame udp4 --count 80
	expect run_unit ExecStart
	expect_ours
	passes 0 --frame udp4 --count 10
}

pins_lost() {
	start_over
	expect run_unit ExecStart
	rm -r "$PINS"
	expect run_unit ExecStart
	expect_ours
	expect run_unit ExecStop
	expect_gone
}

stopped_for_good() {
	start_over
	policy 100/s
	expect unit_start
	receive_start --source "$CLI4"
	send --frame udp4 --source "$CLI4" --count 1000 --rate 1000
	receive_stop
	expect_at_most "passed while it ran" "$RECEIVED" 400
	unit_stop
	passes_everything
}

# After each killed start: nothing, at once. Whatever the step, and without a stop.
killed_starts() {
	local signal step delay killed=0

	start_over
	policy 100/s
	for signal in TERM KILL; do
		for step in 1 2 3 4 5 6; do
			delay=$(printf '0.%03d' $((step * 10 + RANDOM % 10)))
			if UNDER="timeout --signal=$signal $delay" unit_start; then
				unit_stop
			else
				killed=$((killed + 1))
			fi
			expect_gone
		done
	done
	note "killed: $killed of 12"
	for step in bpf_link_create:1 rename:1 rename:2 rename:5; do
		! XDP_LIMIT=$FAULTY FAULT=$step:SIGKILL unit_start || fail "not killed at $step"
		expect_gone
	done
	passes_everything
	expect unit_start
	expect_ours
	unit_stop
	passes_everything
}

# A killed reload is no stop: one program goes on, the old one or the new one.
killed_reloads() {
	local step first

	start_over
	policy 100/s
	expect unit_start
	for step in 1 2 3 4 5 6; do
		policy "$((100 + step))/s"
		{
			UNDER="timeout --signal=KILL $(printf '0.%03d' $((step * 10 + RANDOM % 10)))" \
				run_unit ExecReload || true
		} >/dev/null 2>&1
		expect_equal "attachments" "$(attachments)" 1
	done
	first=$(program_id)
	expect run_unit ExecReload
	expect_ours
	[ "$(program_id)" != "$first" ] || fail "the program is the old one"
	unit_stop
	passes_everything
}

# The exit status of a start that failed by itself: what ran before it goes on.
failed_start_spares() {
	start_over
	expect limit attach rv0 --rate 1/h --burst 50 --sources 1024
	policy '1 bps'
	! unit_start || fail "started"
	expect_ours
	passes 50 --frame udp4 --count 80
}

# The unit ends with its device, and starts when it is there again.
device_gone_and_back() {
	local pins starter

	start_over
	expect unit_start
	pins=$PINS
	ip -n "$SRV" link del rv0
	unit_stop
	[ ! -e "$pins" ] || fail "the pins of the removed device are left"
	start_in_background
	veth
	_net_neighbours
	wait_for 10 attached
	wait "$starter" || fail "$(cat "$SCRATCH/started")"
	expect_ours
	passes 50 --frame udp4 --count 80
	unit_stop
	expect_gone
}

stopped_in_generic_mode() {
	local start

	start_over
	policy 100/s
	ATTACH_OPTIONS="--mode generic" expect unit_start
	expect_equal "mode" "$(status_field .mode)" generic
	start=${EPOCHREALTIME/./}
	unit_stop
	expect_at_most "microseconds" $((${EPOCHREALTIME/./} - start)) 1000000
	passes_everything
}

# As an older version may have left it. Without its link's pin it is found by its id.
stopped_over_netlink() {
	start_over
	policy 100/s
	expect unit_start
	CAPABILITIES+=" cap_sys_admin" # from a drop-in
	holder_start --program "$PINS/program" --instead "$PINS/link" --netlink
	ip -n "$SRV" link set dev rv0 xdpgeneric off 2>/dev/null || true
	unit_stop
	passes_everything
	holder_kill
}

# A foreign program: the start fails, so that it is seen, and nobody touches the program.
foreign_is_spared() {
	local id

	start_over
	holder_start --netlink
	id=$(program_id)
	! unit_start || fail "started"
	CAPABILITIES+=" cap_sys_admin" # names it
	expect_status 5 run_unit ExecStart
	expect_stderr "foreign"
	! unit_start || fail "started"
	SERVICE_RESULT=signal expect run_unit ExecStopPost
	unit_stop
	expect_equal "program" "$(program_id)" "$id"
	holder_kill
	ip -n "$SRV" link set dev rv0 xdpdrv off
	expect unit_start
	expect_ours
}

start_in_background() {
	run_unit ExecStart >"$SCRATCH/started" 2>&1 &
	starter=$!
	at_exit _net_kill "$starter"
}

more_options() {
	start_over
	ATTACH_OPTIONS="--mode generic --sources 1024" expect_status 2 run_unit ExecStart
	ATTACH_OPTIONS="--mode generic --dry-run" expect run_unit ExecStart
	expect_equal "mode" "$(status_field .mode)" generic
	expect_equal "dry run" "$(status_field .dry_run)" true
}

attach_lo() {
	nsenter --net="/run/netns/$SRV" setpriv --bounding-set="$(bounds "$@")" \
		"$XDP_LIMIT" attach lo --rate 1/s --sources 1024
}

# all_but CAPABILITY: the unit's others
all_but() {
	local capability rest=

	for capability in $(unit_capabilities); do
		[ "$capability" = "$1" ] || rest+=" $capability"
	done
	echo "$rest"
}

# One less, and it doesn't start, nor reload; to stop takes none.
each_capability() {
	local capability

	start_over
	for capability in $(unit_capabilities); do
		CAPABILITIES=$(all_but "$capability") expect_status 1 run_unit ExecStart
		expect_stderr "lacks ${capability^^} "
		expect_gone
	done
	expect run_unit ExecStart
	for capability in $(unit_capabilities); do
		CAPABILITIES=$(all_but "$capability") expect_status 1 run_unit ExecReload
		expect_stderr "lacks ${capability^^} "
	done
	expect_ours
	CAPABILITIES='' expect run_unit ExecStop
	expect_gone
}

# A limiter that only another process, or another pin, keeps alive.
held_by_another_pin() {
	local pin=/sys/fs/bpf/xdp-limit/held-$BASHPID

	start_over
	at_exit rm -f "$pin"
	expect run_unit ExecStart
	bpftool link pin pinned "$PINS/link" "$pin"
	rm -r "$PINS"
	for line in ExecReload ExecStart ExecStop; do
		expect_status 1 run_unit "$line"
		expect_stderr "lacks CAP_SYS_ADMIN"
	done
	CAPABILITIES="$CAPABILITIES cap_sys_admin" expect run_unit ExecReload
	expect_ours
	expect run_unit ExecStop
	expect_gone
}

verified() {
	[ "$(command -v systemd-analyze)" ] || skip "needs systemd-analyze"
	sed "s,^\(Exec[A-Za-z]*=\)[^ ]*,\1$(realpath "$XDP_LIMIT")," "$UNIT" \
		>"$SCRATCH/xdp-limit@.service"
	expect_status 0 systemd-analyze verify --man=no "$SCRATCH/xdp-limit@.service"
	expect_equal "systemd-analyze verify" "$OUT$ERR" ""
	expect systemd-analyze security --offline=yes --threshold=22 "$SCRATCH/xdp-limit@.service"
}

[ -e "$UNIT" ] || skip "needs the unit: make check-package"
[ -x "$FAULTY" ] || skip "needs $FAULTY: make tests"
[ "$(command -v setpriv)" ] || skip "needs setpriv"
CAPABILITIES=$(unit_capabilities)
run_case "O-077: start, reload, stop, and start again" start_reload_stop
run_case "O-077: after a stop 1000 packets at ten times the rate all pass" stopped_for_good
run_case "O-077, O-079: a start killed at any moment leaves nothing, a stop neither" killed_starts
run_case "O-076: a reload killed at any moment leaves one program, a stop nothing" killed_reloads
run_case "O-080, O-081: a stop in generic mode, within a second" stopped_in_generic_mode
run_case "O-082, O-086: a stop of our program attached over netlink, after an xdp off" stopped_over_netlink
run_case "O-083, O-084: a foreign program: the start fails, the stop leaves it alone" foreign_is_spared
run_case "a start that fails by itself leaves what ran before" failed_start_spares
run_case "O-087: the device gone and back: stopped in full, started again" device_gone_and_back
run_case "a policy with an error changes nothing, and doesn't start" bad_policy
run_case "stop with nothing to stop is no failure, also without the interface" nothing_to_stop
run_case "O-078: start over a running limiter keeps its buckets" start_over_running
run_case "O-078: start after the pins were lost recovers to one program" pins_lost
run_case "more options from a drop-in" more_options
run_case "O-117: each capability of the unit is needed, and named; none is to stop" each_capability
run_case "O-117: what is held by another pin takes CAP_SYS_ADMIN, which is named" held_by_another_pin
run_case "systemd-analyze verify, and security of 2.2 at most" verified
finish
