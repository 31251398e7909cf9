#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Becomes init of the machine whose root is $1: for machine.sh, in namespaces of its own.
set -eu

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
	/lib/systemd/systemd --system --unit=multi-user.target --show-status=no </dev/null
