#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The first process of a guest: makes it a machine, runs the tests named in /tests, switches it off.
#
# The second serial port is for the tests alone: `@start TEST`, what tests/run says, `@end TEST`, the
# test's own log; `@done` when all have run. The kernel's messages are on the first one.
export PATH=/usr/sbin:/usr/bin HOME=/root
export XDPL_EMULATED=1 # times say nothing
export TEST_TIMEOUT=600
mount -t devtmpfs devtmpfs /dev
exec </dev/null >/dev/console 2>&1
mount -t proc proc /proc
ln -s /proc/self/fd /dev/fd
mount -t sysfs sysfs /sys
mount -t securityfs securityfs /sys/kernel/security
mount -t bpf bpf /sys/fs/bpf
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs tmpfs /run
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
while read -r module; do
	insmod "$module"
done </modules
ip link set lo up

exec >/dev/ttyS1 2>&1
cd /xdp-limit || exit 1
echo "@kernel $(uname -r), $(nproc) CPU, lockdown $(grep -o '\[.*\]' /sys/kernel/security/lockdown)"
while read -r test; do
	echo "@start $test"
	tests/run "$test"
	echo "@end $test"
	cat build/tests/logs/*.log
	rm build/tests/logs/*.log
done </tests
echo "@done"
echo b >/proc/sysrq-trigger
