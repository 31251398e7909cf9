#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Several interfaces in one command, and the kinds of devices that there are beside cards.
# shellcheck source-path=SCRIPTDIR source=../lib/policy.sh
. "$(dirname "$0")/../lib/policy.sh"

FAULTY=${FAULTY:-$_net_tests/../build/tests/xdp-limit-faults}
HOLD=${HOLD:-$_net_tests/../build/tests/tools/xdpl-hold}
[ -x "$FAULTY" ] || skip "needs $FAULTY"
[ -x "$HOLD" ] || skip "needs $HOLD"

OPTIONS=(--rate 100/day --burst 30 --sources 1024)

# rv2 to rv4, each with a peer of its own, beside rv0.
topology_many() {
	local i

	topology neighbours
	for i in 2 3 4; do
		ip -n "$SRV" link add "rv$i" type veth peer name "pv$i"
		ip -n "$SRV" link set "rv$i" up
		ip -n "$SRV" link set "pv$i" up
	done
}

hooked() {
	ip -n "$SRV" -j link | jq -r 'map(select(has("xdp")).ifname) | sort | join(" ")'
}

pins_of() {
	echo "${PINS%-*}-$(in_srv cat "/sys/class/net/$1/ifindex")"
}

pin_directories() {
	find "$PIN_ROOT" -maxdepth 1 -name "$(basename "${PINS%-*}")-*" | wc -l
}

id_on() {
	ip -n "$SRV" -j link show dev "$1" | jq '.[0].xdp.prog.id // 0'
}

# ---- attach and detach ---------------------------------------------------------------------------
several() {
	topology_many
	expect_status 0 limit attach rv0 rv2 rv3 "${OPTIONS[@]}"
	expect_stdout "^rv0: limiting in native mode"
	expect_stdout "^rv3: limiting in native mode"
	expect_equal "hooks" "$(hooked)" "rv0 rv2 rv3"
	send --frame udp4 --count 50
	expect_equal "passed" "$(source_field "$CLI4" .passed_packets)" 30
	expect_equal "sources of rv2" "$(limit sources rv2 --json | jq length)" 0
	expect limit status rv2 --check
	expect_status 0 limit detach rv0 rv3
	expect_stdout "^rv3: detached"
	expect_equal "hooks" "$(hooked)" rv2
	expect_equal "pins" "$(pin_directories)" 1
	expect_status 3 limit detach rv2 rv4
	expect_stderr "no limiter on rv4"
	expect_equal "hooks" "$(hooked)" ""
	expect limit detach rv0 rv4 --if-attached
}

# The one in the middle is somebody else's.
all_or_nothing() {
	topology_many
	expect limit attach rv2 --rate 7/day --sources 1024
	background HOLDER ip netns exec "$SRV" "$HOLD" rv3 --ready "$SCRATCH/ready"
	wait_for 5 test -e "$SCRATCH/ready"
	expect_status 5 limit attach rv0 rv2 rv3 rv4 "${OPTIONS[@]}"
	expect_stderr "cannot attach to rv3: another XDP program"
	expect_stderr "other interfaces are left as they were"
	expect_equal "hooks" "$(hooked)" "rv2 rv3"
	expect_equal "pins" "$(pin_directories)" 1
	expect_status 0 limit show rv2
	expect_stdout "rate: 7/day"
	expect limit status rv2 --check
}

# Refused when some of them run the new policy already: FAULT counts the calls of this process.
taken_back() {
	local program fault status

	topology_many
	expect limit attach rv2 --rate 7/day --sources 1024
	program=$(id_on rv2)
	while read -r fault status; do
		rm -f "$SCRATCH/fired"
		FAULT=$fault FAULT_FIRED=$SCRATCH/fired expect_status "$status" "$FAULTY" --netns "$SRV" \
			attach rv0 rv2 rv3 rv4 "${OPTIONS[@]}"
		expect test -e "$SCRATCH/fired"
		expect_equal "hooks after $fault" "$(hooked)" rv2
		expect_equal "program after $fault" "$(id_on rv2)" "$program"
		expect_equal "pins after $fault" "$(pin_directories)" 1
		expect_equal "new pins" "$(find "${PINS%-*}"-* -name '*_new')" ""
		expect limit status rv2 --check
	done <<-'END'
		bpf_link_create:2:EINVAL 4
		bpf_link_create:3:EINVAL 4
		rename:30:EPERM 1
	END
	expect limit attach rv0 rv2 rv3 rv4 "${OPTIONS[@]}"
	expect_equal "hooks" "$(hooked)" "rv0 rv2 rv3 rv4"
}

named_wrongly() {
	topology_many
	ip -n "$SRV" link property add dev rv2 altname second
	expect_status 2 limit attach rv0 rv2 rv0 "${OPTIONS[@]}"
	expect_stderr "rv0 is named twice"
	expect_status 2 limit attach rv2 second "${OPTIONS[@]}"
	expect_stderr "rv2 is named twice: 'rv2' and 'second'"
	expect_status 1 limit attach rv0 rv9 "${OPTIONS[@]}"
	expect_stderr "cannot find interface 'rv9'"
	expect_status 2 limit attach
	expect_equal "hooks" "$(hooked)" ""
	expect_equal "pins" "$(pin_directories)" 0
}

both_modes() {
	topology_many
	ip -n "$SRV" link add br0 type bridge
	ip -n "$SRV" link set br0 up
	expect_status 4 limit attach rv0 br0 "${OPTIONS[@]}"
	expect_stderr "br0.*a bridge has no native XDP.*attach to its ports"
	expect_equal "hooks" "$(hooked)" ""
	expect_status 0 limit attach rv0 br0 "${OPTIONS[@]}" --mode auto
	expect_stdout "^rv0: limiting in native mode"
	expect_stdout "^br0: limiting in generic mode"
	expect_stderr "br0 sees only what is meant for this host"
	expect_equal "hooks" "$(hooked)" "br0 rv0"
}

# ---- locks ---------------------------------------------------------------------------------------
held() {
	! flock -n "$1" true
}

# Two that wait for each other's interfaces would never end.
opposite_orders() {
	local first second i

	topology_many
	for ((i = 0; i < 5; i++)); do
		background first limit attach rv0 rv2 "${OPTIONS[@]}" --wait 20s
		background second limit attach rv2 rv0 "${OPTIONS[@]}" --wait 20s
		wait "$first" || fail "status $?"
		wait "$second" || fail "status $?"
	done >/dev/null 2>&1
	expect_equal "hooks" "$(hooked)" "rv0 rv2"
}

busy() {
	local holder lock

	topology_many
	lock=/run/xdp-limit/$(basename "$(pins_of rv2)").lock
	expect limit attach rv2 "${OPTIONS[@]}"
	background holder flock --no-fork "$lock" sleep 60
	wait_for 5 held "$lock"
	expect_status 5 limit attach rv0 rv2 "${OPTIONS[@]}"
	expect_stderr "another xdp-limit command is changing rv2"
	expect_equal "hooks" "$(hooked)" rv2
	# Of several the first failure is told, and that one is not there is none beside it.
	expect_status 5 limit detach rv2 nosuch
	expect_status 5 limit detach nosuch rv2
	stop "$holder"
	expect_status 3 limit detach nosuch rv2
	expect_equal "hooks" "$(hooked)" ""
}

# Killed before there was a link, and then the interface went: its table goes with the next command.
gone_with_pins() {
	local left

	topology_many
	FAULT=bpf_link_create:1:SIGKILL "$FAULTY" --netns "$SRV" attach rv2 "${OPTIONS[@]}" 2>/dev/null &&
		fail "it was not killed"
	left=$(pins_of rv2)
	[ -e "$left" ] || fail "nothing was pinned"
	expect limit attach rv0 "${OPTIONS[@]}"
	[ -e "$left" ] || fail "the pins of an interface that is there are gone"
	ip -n "$SRV" link del rv2
	expect_status 1 limit status
	expect_stderr "interface ${left##*-}, which was limited, is gone; its pins are left over"
	expect limit attach rv0 "${OPTIONS[@]}"
	expect limit status
	[ ! -e "$left" ] || fail "pins are left: $(ls "$left")"
}

# outlived LINK: its interface is gone
outlived() {
	[ "$(bpftool -j link show pinned "$1" | jq '.ifindex // 0')" = 0 ]
}

# Nobody runs a command in a namespace that has ended.
gone_with_its_namespace() {
	local ENDS="" left

	topology
	namespace ENDS
	ip -n "$ENDS" link add e0 type veth peer name e1
	expect "$XDP_LIMIT" --netns "$ENDS" attach e0 "${OPTIONS[@]}"
	left=$PIN_ROOT/$(stat -Lc %i "/run/netns/$ENDS")-$(ip netns exec "$ENDS" cat /sys/class/net/e0/ifindex)
	expect limit attach rv0 "${OPTIONS[@]}"
	[ -e "$left/link" ] || fail "the pins of an interface that is there are gone"
	hold_lock "$left"
	ip netns del "$ENDS"
	wait_for 5 outlived "$left/link"
	release_lock
	expect limit attach rv0 "${OPTIONS[@]}"
	[ ! -e "$left" ] || fail "pins are left: $(ls "$left")"
}

# ---- kinds of devices ----------------------------------------------------------------------------
# A port of a bridge sees what the bridge forwards.
bridge_port() {
	topology_many
	ip -n "$SRV" link add br0 type bridge
	ip -n "$SRV" link set br0 up
	ip -n "$SRV" link set rv0 master br0
	ip -n "$SRV" link set rv2 master br0
	expect attach "${OPTIONS[@]}"
	send --frame udp4 --count 50
	expect_equal "passed" "$(source_field "$CLI4" .passed_packets)" 30
}

macvlan() {
	topology_many
	ip -n "$SRV" link add mv0 link rv2 type macvlan mode bridge
	expect_status 4 limit attach mv0 "${OPTIONS[@]}"
	expect_stderr "attach to rv2 below it"
	expect_status 0 limit attach mv0 "${OPTIONS[@]}" --mode generic
	expect_stderr "mv0 sees only what is addressed to it; all of it comes by rv2"
	expect_equal "hooks" "$(hooked)" mv0
}

tun() {
	topology
	ip -n "$SRV" tuntap add dev tun0 mode tun
	expect_status 4 limit attach tun0 "${OPTIONS[@]}"
	expect_stderr "tun0 has no Ethernet header.*mode tap"
	ip -n "$SRV" tuntap add dev tap0 mode tap
	ip -n "$SRV" link set tap0 up
	expect limit attach tap0 "${OPTIONS[@]}"
	expect_equal "hooks" "$(hooked)" tap0
}

# The limiter goes along, with its state. Its pins stay behind, so the new namespace says that they are missing.
moved() {
	local OTHER="" program

	topology neighbours
	expect attach --rate 100/day --burst 30 --sources 1024
	send --frame udp4 --source 192.0.2.10 --count 40
	program=$(program_id)
	namespace OTHER
	ip -n "$SRV" link set rv0 netns "$OTHER"
	ip -n "$OTHER" link set rv0 up
	expect_status 1 "$XDP_LIMIT" --netns "$OTHER" status rv0
	expect_stdout "program $program"
	expect_stdout "pins are missing"
	expect_status 3 limit status rv0
	# A command that removes the pins of interfaces that are gone: this one is not.
	expect_status 0 limit detach rv0 --if-attached
	expect_no_stderr .
	expect_status 0 limit status
	expect_stderr "interface [0-9]+ has moved to another network namespace; .* pinned here"
	expect "$XDP_LIMIT" --netns "$OTHER" attach rv0 --rate 100/day --burst 30 --sources 1024
	expect "$XDP_LIMIT" --netns "$OTHER" status rv0
	expect_equal "dropped, as before" "$("$XDP_LIMIT" --netns "$OTHER" sources rv0 192.0.2.10 --json |
		jq '.[0].dropped_packets')" 10
	expect_status 0 limit detach --all
	expect_stderr "interface [0-9]+ has moved to another network namespace; its pins here are removed"
	expect_equal "pins of the old place" "$(find "$PIN_ROOT" -maxdepth 1 -name "$(basename "$PINS")")" ""
	expect "$XDP_LIMIT" --netns "$OTHER" status rv0
	expect "$XDP_LIMIT" --netns "$OTHER" detach rv0
	expect_equal "hook" "$(ip -n "$OTHER" -j link show dev rv0 | jq 'any(.[]; has("xdp"))')" false
}

# Everything goes by the index; names are only said.
renamed() {
	topology neighbours
	expect attach --rate 100/day --burst 30 --sources 1024
	send --frame udp4 --source 192.0.2.10 --count 40
	# Before Linux 6.2 only what is down is renamed.
	ip -n "$SRV" link set rv0 down
	ip -n "$SRV" link set rv0 name lan0
	ip -n "$SRV" link set lan0 up
	expect_status 0 limit status lan0
	expect_stdout "^lan0 "
	expect_equal "interface" "$(limit status lan0 --json | jq -r .interface)" lan0
	expect_equal "dropped" "$(limit status lan0 --json | jq .totals.dropped_packets)" 10
	expect_status 3 limit status rv0
	expect limit attach lan0 --rate 100/day --burst 30 --sources 1024
	expect_equal "dropped, as before" "$(limit status lan0 --json | jq .totals.dropped_packets)" 10
	expect limit detach lan0
	expect_equal "hooks" "$(hooked)" ""
}

# ---- made anew while a command waits for its lock --------------------------------------------------
# stopped_at_lock COMMAND...: its id in WAITER, its output in $SCRATCH/log
stopped_at_lock() {
	FAULT=flock:1:SIGSTOP background WAITER "$FAULTY" --netns "$SRV" "$@" >"$SCRATCH/log" 2>&1
	wait_for 5 stopped "$WAITER"
}

made_anew() {
	ip -n "$SRV" link del rv0
	veth
}

# woken STATUS: what was stopped goes on, and ends with it
woken() {
	local status=0

	kill -CONT "$WAITER"
	wait "$WAITER" || status=$?
	expect_equal "status: $(cat "$SCRATCH/log")" "$status" "$1"
}

# Under the lock of the one that is gone nothing of the new one may be changed.
made_anew_during_ban() {
	topology
	expect attach "${OPTIONS[@]}"
	stopped_at_lock ban rv0 add 198.51.100.7 --wait 30s
	made_anew
	expect attach "${OPTIONS[@]}"
	woken 5
	grep -q "rv0 was made anew meanwhile" "$SCRATCH/log" || fail "$(cat "$SCRATCH/log")"
	expect_equal "bans" "$(limit ban rv0 list)" ""
}

made_anew_during_attach() {
	topology
	stopped_at_lock attach rv0 "${OPTIONS[@]}"
	made_anew
	woken 0
	expect_ours
	expect limit detach rv0
	stopped_at_lock attach rv0 "${OPTIONS[@]}"
	ip -n "$SRV" link del rv0
	woken 1
	grep -q "rv0" "$SCRATCH/log" || fail "$(cat "$SCRATCH/log")"
}

gone_at_the_hook() {
	topology
	FAULT=bpf_link_create:1:SIGSTOP background WAITER "$FAULTY" --netns "$SRV" attach rv0 \
		"${OPTIONS[@]}" >"$SCRATCH/log" 2>&1
	wait_for 5 stopped "$WAITER"
	ip -n "$SRV" link del rv0
	woken 1
	grep -q "rv0 in native mode: the interface is gone" "$SCRATCH/log" || fail "$(cat "$SCRATCH/log")"
}

run_case "a port of a bridge is limited" bridge_port
run_case "a macvlan is refused natively, with the device below" macvlan
run_case "moved to another namespace: limiting goes on, attach there keeps its state" moved
run_case "renamed" renamed
run_case "a tun device is refused, a tap is not" tun
# The rest is user space's, the same on every kernel.
[ -z "${XDPL_EMULATED-}" ] || finish
run_case "pins of a network namespace that has ended go with the next command" gone_with_its_namespace
run_case "three interfaces, each with a table of its own; detached by name" several
run_case "one is foreign: none is attached" all_or_nothing
run_case "the kernel refuses the second, the third, or to put pins in place: all as before" taken_back
run_case "named twice, also by an alternative name; unknown" named_wrongly
run_case "native where it can be, generic where it must" both_modes
run_case "two commands with the same interfaces in opposite orders" opposite_orders
run_case "another command holds one of them" busy
run_case "an attach was killed, and its interface is gone: so are its pins" gone_with_pins
run_case "a ban that waited doesn't change an interface that was made anew" made_anew_during_ban
run_case "an attach that waited takes the interface that was made anew" made_anew_during_attach
run_case "an attach whose interface goes before the hook says so" gone_at_the_hook
finish
