# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# A Debian of its own with systemd as its init, in namespaces: this machine isn't changed. On top of
# tap.sh (read that first).
#
#  machine_start PACKAGE...   boot one that has these packages; fresh, and removed at the end
#  machine_reboot             with the same disk, as after a power cut; between cases, not in one
#  inside COMMAND...          run in it
#  machine_copy FILE...       to its /root
#
# The first start makes build/deb/base.tar by debootstrap, which needs the network (MIRROR, or that of
# Debian). It has namespaces for everything, a bpffs, a /dev and a /run of its own. udev runs, so
# that interfaces have units, but is never told to look at what was there before: it could touch
# devices of this machine. Its processes are in control groups of their own, removed at the end.

_machine_tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
_machine_build=$(dirname "$_machine_tests")/build/deb
_machine_base=$_machine_build/base.tar
_machine_root=
_machine_pid=

_machine_power_off() {
	local directory tries

	[ -z "$_machine_pid" ] || kill -KILL "$_machine_pid" 2>/dev/null
	wait "$_machine_pid" 2>/dev/null || true
	for directory in /sys/fs/cgroup/{systemd,unified,.}/"$_machine_name"; do
		[ -d "$directory" ] || continue
		# Init's end is not yet that of its children.
		for ((tries = 0; tries < 500; tries++)); do
			find "$directory" -depth -type d -exec rmdir {} + 2>/dev/null && break
			sleep 0.01
		done
	done
}

# shellcheck disable=SC2317 # called by at_exit
_machine_end() {
	_machine_power_off
	[ -z "$_machine_root" ] || rm -rf --one-file-system "$_machine_root"
}

_machine_make_base() {
	local packages codename root=$_machine_build/base.tmp
	packages=$(printf '%s,' "$@")

	[ "$(command -v debootstrap)" ] || skip "needs debootstrap"
	# shellcheck source=/dev/null
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	mkdir -p "$_machine_build"
	rm -rf "$root"
	debootstrap --variant=minbase --include="systemd,systemd-sysv,udev,iproute2,${packages%,}" \
		"$codename" "$root" ${MIRROR:+"$MIRROR"} >"$_machine_build/base.log" 2>&1 ||
		skip "debootstrap failed (network?): $(tail -n 1 "$_machine_build/base.log")"
	# Never touch what was there before.
	ln -s /dev/null "$root/etc/systemd/system/systemd-udev-trigger.service"
	tar -C "$root" -cf "$_machine_base.tmp" .
	rm -rf "$root"
	echo "$*" >"$_machine_base.packages"
	mv "$_machine_base.tmp" "$_machine_base"
}

_machine_enter_cgroups() {
	local hierarchy

	for hierarchy in /sys/fs/cgroup/{systemd,unified}; do
		[ -d "$hierarchy" ] || hierarchy=/sys/fs/cgroup
		mkdir -p "$hierarchy/$_machine_name"
		echo "$BASHPID" >"$hierarchy/$_machine_name/cgroup.procs"
	done
}

_machine_boot() {
	_machine_enter_cgroups
	exec unshare --mount --pid --fork --net --uts --ipc --cgroup --kill-child \
		"$_machine_tests/lib/machine_init.sh" "$_machine_root"
}

_machine_find_init() {
	_machine_init_pid=$(cat "/proc/$_machine_pid/task/$_machine_pid/children" 2>/dev/null)
	_machine_init_pid=${_machine_init_pid// /}
	[ "$_machine_init_pid" ] && [ "$(cat "/proc/$_machine_init_pid/comm")" = systemd ]
}

# Units that wait for an interface keep it "starting".
_machine_ready() {
	[[ $(inside systemctl is-system-running 2>/dev/null) =~ ^(running|starting)$ ]] &&
		inside systemctl is-active --quiet basic.target systemd-udevd.service
}

_machine_power_on() {
	_machine_boot >>"$_machine_build/machine.log" 2>&1 &
	_machine_pid=$!
	wait_for 10 _machine_find_init
	_machine_find_init
	wait_for 30 _machine_ready
}

machine_start() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	[ "$(cat "$_machine_base.packages" 2>/dev/null)" = "$*" ] || _machine_make_base "$@"
	_machine_name=xdpl-machine-$BASHPID
	_machine_root=$_machine_build/machine.$BASHPID
	at_exit _machine_end
	mkdir "$_machine_root"
	tar -C "$_machine_root" -xf "$_machine_base"
	: >"$_machine_build/machine.log"
	_machine_power_on
}

machine_reboot() {
	_machine_power_off
	_machine_power_on
}

inside() {
	nsenter --target "$_machine_init_pid" --all env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		DEBIAN_FRONTEND=noninteractive "$@"
}

machine_copy() {
	cp "$@" "$_machine_root/root/"
}
