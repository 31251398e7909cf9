# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# A Debian of its own with systemd as its init, in namespaces: this machine isn't changed. On top of
# tap.sh (read that first).
#
#  machine_start PACKAGE...   boot one that has these packages; a second start gets a fresh one
#  inside COMMAND...          run in it
#  machine_copy FILE...       to its /root
#
# The first start makes build/deb/base.tar by debootstrap, which needs the network (MIRROR, or that of
# Debian). It has namespaces for everything, a bpffs, a /dev and a /run of its own. udev runs, so
# that interfaces have units, but is never told to look at what was there before: it could touch
# devices of this machine. Its processes are in control groups of their own, removed at the end.

_machine_build=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/deb
_machine_base=$_machine_build/base.tar
_machine_root=
_machine_pid=

# shellcheck disable=SC2317 # called by at_exit
_machine_end() {
	local directory tries

	[ -z "$_machine_pid" ] || kill -KILL "$_machine_pid" 2>/dev/null
	wait "$_machine_pid" 2>/dev/null
	for directory in /sys/fs/cgroup/{systemd,unified,.}/"$_machine_name"; do
		[ -d "$directory" ] || continue
		# Init's end is not yet that of its children.
		for ((tries = 0; tries < 500; tries++)); do
			find "$directory" -depth -type d -exec rmdir {} + 2>/dev/null && break
			sleep 0.01
		done
	done
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
		"$codename" "$root" "${MIRROR:-http://deb.debian.org/debian}" >"$_machine_build/base.log" 2>&1 ||
		skip "debootstrap failed (network?): $(tail -n 1 "$_machine_build/base.log")"
	# Never touch what was there before.
	ln -s /dev/null "$root/etc/systemd/system/systemd-udev-trigger.service"
	tar -C "$root" -cf "$_machine_base.tmp" .
	rm -rf "$root"
	echo "$*" >"$_machine_base.packages"
	mv "$_machine_base.tmp" "$_machine_base"
}

# Runs in the new namespaces, as the first process: becomes init.
# shellcheck disable=SC2016 # for the inner shell
_machine_init='
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t bpf -o mode=0700 bpf sys/fs/bpf
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
for node in null:3 zero:5 full:7 random:8 urandom:9; do
	mknod -m 666 "dev/${node%:*}" c 1 "${node#*:}"
done
mknod -m 666 dev/tty c 5 0
mkdir dev/pts dev/shm dev/mqueue dev/hugepages
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
if [ -d /sys/fs/cgroup/systemd ]; then
	mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup
	mkdir sys/fs/cgroup/systemd sys/fs/cgroup/unified
	mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
	mount -t cgroup2 cgroup2 sys/fs/cgroup/unified
else
	mount -t cgroup2 cgroup2 sys/fs/cgroup
fi
mkdir run/old run/udev
touch run/udev/control # else init, which starts before udev, would not listen to it
pivot_root . run/old
umount -l /run/old
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin \
	/lib/systemd/systemd --system --unit=multi-user.target --show-status=no </dev/null'

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
		bash -c "$_machine_init" machine "$_machine_root"
}

_machine_find_init() {
	_machine_init_pid=$(cat "/proc/$_machine_pid/task/$_machine_pid/children" 2>/dev/null)
	_machine_init_pid=${_machine_init_pid// /}
	[ "$_machine_init_pid" ] && [ "$(cat "/proc/$_machine_init_pid/comm")" = systemd ]
}

_machine_running() {
	[[ $(inside systemctl is-system-running 2>/dev/null) == running ]]
}

machine_start() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	[ "$(cat "$_machine_base.packages" 2>/dev/null)" = "$*" ] || _machine_make_base "$@"
	_machine_name=xdpl-machine-$BASHPID
	_machine_root=$_machine_build/machine.$BASHPID
	at_exit _machine_end
	mkdir "$_machine_root"
	tar -C "$_machine_root" -xf "$_machine_base"
	_machine_boot >"$_machine_build/machine.log" 2>&1 &
	_machine_pid=$!
	wait_for 10 _machine_find_init
	_machine_find_init
	wait_for 30 _machine_running
}

inside() {
	nsenter --target "$_machine_init_pid" --all env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		DEBIAN_FRONTEND=noninteractive "$@"
}

machine_copy() {
	cp "$@" "$_machine_root/root/"
}
