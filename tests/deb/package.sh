#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The Debian package in the life of a machine: installed, used through systemd, upgraded under
# traffic, removed, purged. The machine is one of its own; rv0 is limited, frames come from rv1, its
# peer. One case builds on the other.
# shellcheck source-path=SCRIPTDIR source=../lib/machine.sh disable=SC2317 # cases are called by name
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/machine.sh"

BUILD=$(cd "$(dirname "$0")/../.." && pwd)/build
FIRST=
SECOND=
NEXT=$BUILD/tests/next/build/xdp-limit # of another ABI

# newest DIRECTORY: the package that was built there last
newest() {
	find "$1" -maxdepth 1 -name 'xdp-limit_*.deb' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2
}

version_of() {
	dpkg-deb -f "$1" Version
}

# depends_of PACKAGE: names without versions, the first of alternatives
depends_of() {
	dpkg-deb -f "$1" Depends | tr , '\n' | sed -E 's/^ *([^ |]+).*/\1/'
}

limit() {
	inside xdp-limit "$@"
}

status_field() {
	limit status rv0 --json | jq -r "$1"
}

# The program that the kernel names, whatever ours says.
program_id() {
	inside ip -j link show dev rv0 | jq '.[0].xdp.prog.id // 0'
}

active() {
	[ "$(inside systemctl is-active "xdp-limit@rv0")" = "$1" ]
}

policy() {
	inside sh -c "echo 'limits: [{name: default, rate: $1, burst: 50 packets}]' >/etc/xdp-limit/rv0.yaml"
}

plug() {
	inside ip link add rv0 type veth peer name rv1
	inside ip link set rv0 up
	inside ip link set rv1 up
}

send() {
	inside /root/xdpl-send -i rv1 --dst-mac "$(inside cat /sys/class/net/rv0/address)" \
		--frame udp4 "$@" >"$SCRATCH/sent"
}

# Of one source; what is on its way is waited for.
judged() {
	[ "$(limit get rv0 192.0.2.10 --json |
		jq '.limits[0] | .passed_packets + .dropped_packets')" -ge "$1" ]
}

passed() {
	limit get rv0 192.0.2.10 --json | jq '.limits[0].passed_packets'
}

# ---- cases ---------------------------------------------------------------------------------------
lintian_is_silent() {
	local package

	[ "$(command -v lintian)" ] || skip "needs lintian"
	for package in "$FIRST" "$SECOND"; do
		expect_status 0 lintian --allow-root "$package"
		expect_equal "lintian on $package" "$OUT$ERR" ""
	done
}

contents() {
	local file

	expect_status 0 dpkg-deb -c "$FIRST"
	for file in sbin/xdp-limit share/man/man8/xdp-limit.8.gz share/man/man5/xdp-limit.yaml.5.gz \
		share/bash-completion/completions/xdp-limit share/fish/vendor_completions.d/xdp-limit.fish \
		share/zsh/vendor-completions/_xdp-limit share/doc/xdp-limit/examples/web-syn-flood.yaml \
		share/doc/xdp-limit/policy.md; do
		expect_stdout " \./usr/$file\$"
	done
	expect_stdout ' \./lib/systemd/system/xdp-limit@\.service$'
	expect_stdout ' \./lib/systemd/system/xdp-limit-serve\.service$'
	expect_stdout ' \./etc/xdp-limit/$'
}

installed() {
	machine_copy "$FIRST" "$SECOND" "$BUILD/tests/tools/xdpl-send"
	expect inside dpkg -i "/root/$(basename "$FIRST")"
	expect_status 0 limit --version
	expect_stdout "^xdp-limit $(version_of "$FIRST"),"
	expect_status 1 inside systemctl is-enabled xdp-limit@rv0
	expect inside systemd-analyze verify --man=no xdp-limit@rv0.service
}

at_boot() {
	policy 1/h
	expect inside systemctl enable xdp-limit@rv0
	plug
	wait_for 20 active active
	expect limit status rv0 --check
	send --count 80
	wait_for 5 judged 80
	expect_equal "passed of 80" "$(passed)" 50
	expect_equal "ordered before" "$(inside systemctl show -p Before xdp-limit@rv0 |
		grep -oE '\bnetwork(-online)?\.target' | sort | xargs)" "network-online.target network.target"
}

reload() {
	local first

	first=$(program_id)
	policy 2/h
	expect inside systemctl reload xdp-limit@rv0
	[ "$(program_id)" != "$first" ] || fail "the program is the old one"
	expect_status 0 limit show rv0
	expect_stdout "rate: 2/h"
	first=$(program_id)
	policy '1 bps'
	expect_status 1 inside systemctl reload xdp-limit@rv0
	expect_equal "program" "$(program_id)" "$first"
	expect active active
	policy 2/h
}

# The kernel lets a program go a moment after its last user.
no_program() {
	! bpftool prog show id "$1"
}

stop_and_start() {
	local program

	program=$(program_id)
	expect inside systemctl stop xdp-limit@rv0
	expect active inactive
	expect_equal "program" "$(program_id)" 0
	expect_equal "pins" "$(inside ls /sys/fs/bpf/xdp-limit)" ""
	wait_for 5 no_program "$program"
	expect inside systemctl start xdp-limit@rv0
	expect limit status rv0 --check
	expect inside systemctl restart xdp-limit@rv0
	expect limit status rv0 --check
}

interface_comes_back() {
	inside ip link del rv0
	wait_for 20 active inactive
	plug
	wait_for 20 active active
	expect limit status rv0 --check
	expect_equal "failed units" "$(inside systemctl --failed --no-legend)" ""
}

# The unit's name has it escaped, the policy's hasn't.
minus_sign() {
	local unit

	unit=xdp-limit@$(inside systemd-escape br-lan)
	inside cp /etc/xdp-limit/rv0.yaml /etc/xdp-limit/br-lan.yaml
	inside ip link add br-lan type veth peer name br-lan1
	expect inside systemctl start "$unit"
	expect limit status br-lan --check
	expect inside systemctl stop "$unit"
	expect_status 3 limit status br-lan
	inside ip link del br-lan
}

# Nothing of bpffs is left then, and one interface never comes.
rebooted() {
	expect active inactive
	plug
	wait_for 20 active active
	expect limit status rv0 --check
	expect inside systemctl disable xdp-limit@never
}

# What the manager says of a limiter that somebody took away by hand.
detached_by_hand() {
	expect limit detach rv0
	expect inside systemctl restart xdp-limit@rv0
	expect limit status rv0 --check
}

upgrade() {
	local program flood

	program=$(program_id)
	limit reset rv0 >/dev/null
	background_flood
	wait_for 10 judged 1000
	expect inside dpkg -i "/root/$(basename "$SECOND")"
	expect_status 0 limit --version
	expect_stdout "^xdp-limit $(version_of "$SECOND"),"
	stop_flood
	expect_equal "program" "$(program_id)" "$program"
	expect_equal "passed during the upgrade" "$(passed)" 50
	expect active active
	expect limit status rv0 --check
	# The new version takes over the running one, buckets and all.
	expect inside systemctl reload xdp-limit@rv0
	[ "$(program_id)" != "$program" ] || fail "the program is the old one"
	send --count 20
	expect_equal "passed after it" "$(passed)" 50
}

# The program alone is exchanged, which is all that matters here of a package.
upgrade_to_another_abi() {
	local program flood

	machine_copy "$NEXT"
	program=$(program_id)
	background_flood
	expect inside mv /root/xdp-limit /usr/sbin/xdp-limit
	expect_status 3 limit status rv0
	expect_stderr "is of ABI [0-9]+, this xdp-limit of [0-9]+, .* replace it, without a gap"
	expect_equal "program" "$(program_id)" "$program"
	expect active active
	expect inside systemctl reload xdp-limit@rv0
	[ "$(program_id)" != "$program" ] || fail "the program is the old one"
	stop_flood
	expect limit status rv0 --check
	expect_status 0 inside journalctl --no-pager -u xdp-limit@rv0
	expect_stdout "limiting goes on, but its buckets start afresh"
}

background_flood() {
	send --rate 2000 --duration 60 &
	flood=$!
	at_exit kill "$flood"
}

# The sender is a child of nsenter's.
stop_flood() {
	# shellcheck disable=SC2016 # for the inner shell
	inside sh -c 'for comm in /proc/[0-9]*/comm; do
		[ "$(cat "$comm")" != xdpl-send ] || kill "$(echo "$comm" | cut -d/ -f3)"; done'
	wait "$flood" || true
}

removed() {
	expect limit attach lo --rate 1/s --sources 1024 --mode generic
	expect inside ip netns add other
	expect limit --netns other attach lo --rate 1/s --sources 1024 --mode generic
	expect inside dpkg -r xdp-limit
	expect_equal "programs" "$(inside ip -j link | jq '[.[] | select(.xdp)] | length')" 0
	expect_equal "programs elsewhere" \
		"$(inside ip -n other -j link | jq '[.[] | select(.xdp)] | length')" 0
	expect_equal "pins" "$(inside find /sys/fs/bpf -name 'xdp-limit*')" ""
	expect_equal "failed units" "$(inside systemctl --failed --no-legend)" ""
	# Policies are the administrator's until the package is purged.
	expect inside test -e /etc/xdp-limit/rv0.yaml
}

purged() {
	expect inside dpkg -P xdp-limit
	expect inside rm "/root/$(basename "$FIRST")" "/root/$(basename "$SECOND")"
	expect_equal "left" "$(inside find / -not -path '/proc/*' -name '*xdp-limit*' -print 2>/dev/null)" ""
	expect_equal "dpkg knows" "$(inside dpkg -l | grep -c xdp-limit || true)" 0
}

FIRST=$(newest "$BUILD")
SECOND=$(newest "$BUILD/deb")
[ "$SECOND" ] || skip "needs two packages: make check-deb"
run_case "lintian has nothing to say" lintian_is_silent
run_case "manual pages, completion, unit and examples are in the package" contents
# shellcheck disable=SC2046 # words
machine_start $(depends_of "$FIRST")
run_case "installing starts nothing" installed
run_case "O-087: an enabled unit limits when the interface appears, before network-online.target" at_boot
run_case "reload is one step; a bad policy changes nothing" reload
run_case "O-077 O-085: stop leaves nothing; start and restart" stop_and_start
run_case "O-087: an interface that comes back is limited again" interface_comes_back
run_case "an interface with a minus sign in its name" minus_sign
expect inside systemctl enable xdp-limit@never
machine_reboot
run_case "O-079: after a reboot it is limited again" rebooted
run_case "restart after somebody detached by hand" detached_by_hand
run_case "O-089: an upgrade under traffic: the same program goes on" upgrade
run_case "O-089: so does one to another ABI, until it is replaced in one step" upgrade_to_another_abi
run_case "removal ends all limiters, in all namespaces" removed
run_case "purge leaves nothing" purged
finish
