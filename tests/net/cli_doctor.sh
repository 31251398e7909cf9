#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# doctor on a real kernel and a veth: its screen, its JSON, its exit status. Its judgement on machines
# that can't be had here is in tests/unit/test_doctor.c.
# shellcheck source-path=SCRIPTDIR source=../lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

hold=$_net_tests/../build/tests/tools/xdpl-hold

# fits STATUS [IFACE]
fits() {
	expect_status "$1" limit doctor "${@:2}"
	expect_at_most "lines" "$(wc -l <<<"$OUT")" 24
	expect_at_most "columns" "$(awk '{ print length }' <<<"$OUT" | sort -n | tail -n 1)" 80
	expect_no_stderr .
}

one_screen() {
	topology
	fits 0 rv0
	expect_stdout "kernel +Linux $(uname -r | sed 's/[.+]/\\&/g')"
	expect_stdout "versions +xdp-limit [0-9.]+, libbpf [0-9.]+"
	expect_stdout "rights +CAP_"
	expect_stdout "features +[0-9]+ of [0-9]+ that are used"
	expect_stdout "btf +"
	expect_stdout "jit +on"
	expect_stdout "memlock +([0-9]|unlimited)"
	expect_stdout "bpffs +mounted"
	expect_stdout "lockdown +"
	expect_stdout "device +index [0-9]+, kind veth, driver veth"
	expect_stdout "mtu +1500"
	expect_stdout "queues +[0-9]+ rx, [0-9]+ tx"
	expect_stdout "offloads +gro (on|off), gro-hw (on|off), lro (on|off), .*ntuple (on|off)"
	expect_stdout "attached +nothing"
	fits 0
}

one_screen_each() {
	local table

	topology
	ip -n "$SRV" link add br0 type bridge
	fits 0 br0
	fits 0 lo
	for table in lru flat; do
		expect attach --table "$table" --rate 1/day --sources 1048576 --mode generic
		send --frame udp4 --source 10.0.0.0/8 --sources 2000 --count 2000
		fits 0 rv0
		expect_stdout "attached +our .*generic mode"
		expect_stdout "table +1048576 sources"
		expect limit detach rv0
	done
}

# The rest is to be pasted; details that are as they should be are left to JSON.
fixes_come_first() {
	topology
	ip -n "$SRV" tuntap add tun0 mode tun
	fits 1 tun0
	expect_equal "the first line" "${OUT%%$'\n'*}" "to fix"
	expect_equal "the second" "$(sed -n '2s/^ *//p' <<<"$OUT" | cut -d ' ' -f 1)" fix
	expect_stdout "fix: tun0 has no Ethernet header"
	expect_stdout "^1 to fix"
	expect_status 1 limit doctor tun0 --json
	expect_json .fixes 1
	expect_json '[.machine[] | select(.check == "helpers")] | length' 1
}

json() {
	topology
	expect_status 0 limit doctor rv0 --json
	expect_json .interface rv0
	expect_json .fixes 0
	expect_json '[.machine[], .checks[] | .state] | unique - ["ok", "info"] | length' 0
	expect_json '.checks[] | select(.check == "mtu").value' 1500
	expect_status 0 limit doctor --json
	expect_json .interface null
	expect_json .checks null
}

says_ours() {
	topology
	expect attach --rate 10/s
	expect_status 0 limit doctor rv0
	expect_stdout "attached +our 'xdp_limit', id [0-9]+, native mode, by link"
}

foreign_program() {
	# shellcheck disable=SC2034 # set by name, for stop
	local holder

	topology
	background holder in_srv "$hold" --ready "$SCRATCH/ready" rv0
	wait_for 5 test -e "$SCRATCH/ready"
	expect_status 1 limit doctor rv0
	expect_stdout "attached +the foreign program"
	expect_stdout "fix:.*attached it"
	expect_stdout "^1 to fix"
}

without_bpffs() {
	topology
	expect_status 1 in_srv "$XDP_LIMIT" doctor rv0
	expect_stdout "bpffs +not mounted"
	expect_stdout "fix: .*netns exec"
}

without_rights() {
	expect_status 1 setpriv --reuid 65534 --clear-groups --bounding-set=-all --inh-caps=-all \
		"$XDP_LIMIT" doctor lo
	expect_stdout "rights +lacks CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON"
	expect_stdout "helpers +not asked"
}

# What lets no command change anything.
read_only_places() {
	# shellcheck disable=SC2016 # for the inner shell
	expect_status 1 unshare --mount bash -c 'mount -o remount,bind,ro /sys/fs/bpf &&
		mount -t tmpfs -o ro none /run && exec "$1" doctor' _ "$XDP_LIMIT"
	expect_stdout "bpffs +mounted at /sys/fs/bpf, read-only"
	expect_stdout "fix: mount -o remount,rw /sys/fs/bpf"
	expect_stdout "fix: cannot write to /run: Read-only file system"
	expect_stdout "^2 to fix"
}

in_a_user_namespace() {
	unshare --user --map-root-user true || skip "needs user namespaces"
	expect_status 1 unshare --user --map-root-user "$XDP_LIMIT" doctor
	expect_stdout "fix: in a user namespace they don't count"
}

# A user who may not look is told so, not that nothing is there.
status_without_rights() {
	topology
	expect attach --rate 100/s --sources 1024
	expect_status 1 nsenter --net="/run/netns/$SRV" setpriv --reuid 65534 --clear-groups \
		--bounding-set=-all --inh-caps=-all "$XDP_LIMIT" status
	expect_stderr "cannot read what is attached to rv0: .*root"
	expect limit detach rv0
	expect_status 1 nsenter --net="/run/netns/$SRV" setpriv --reuid 65534 --clear-groups \
		--bounding-set=-all --inh-caps=-all "$XDP_LIMIT" status
	expect_stderr "cannot look into /sys/fs/bpf/xdp-limit: Permission denied.*root"
	expect_equal "stdout" "$OUT" ""
}

no_such_interface() {
	topology
	expect_status 3 limit doctor rv9
	expect_stderr "cannot find interface 'rv9'"
	expect_equal "stdout" "$OUT" ""
}

changes_nothing() {
	topology
	expect_status 0 limit doctor rv0
	expect_status 3 limit status rv0
	pinned && fail "doctor made pins"
	true
}

run_case "status without rights" status_without_rights
run_case "O-057: doctor is one screen of 80 columns to paste" one_screen
run_case "doctor is one screen for all kinds of interfaces and tables" one_screen_each
run_case "doctor says first what is to be fixed" fixes_come_first
run_case "doctor --json has the same for scripts" json
run_case "doctor knows ours, and has nothing to fix" says_ours
run_case "doctor names a foreign program, status 1" foreign_program
run_case "inside ip netns exec doctor says what to run instead" without_bpffs
run_case "doctor without rights says which are lacking" without_rights
run_case "doctor where nothing can be written says so" read_only_places
run_case "O-117: doctor in a user namespace says that rights don't count" in_a_user_namespace
run_case "doctor of an interface that isn't there: status 3" no_such_interface
run_case "doctor attaches and pins nothing" changes_nothing
finish
