# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# The rest of the test runs in mount and process namespaces of its own, so that it may lose a bpffs
# and a /run as a machine may. Read this first, before net.sh:
#
#	. "$(dirname "$0")/../lib/own_mounts.sh"
#
# It has a fresh bpffs on /sys/fs/bpf, a fresh /run, and a first process, the test: to xdp-limit it is a
# machine that has just started. What it leaves goes with the last of its processes. Not in a
# namespace: the network namespaces' names, programs, maps and links, which belong to the kernel.
#
#  bpffs_mount, bpffs_unmount         of this test, never of the machine

if [ "${XDPL_OWN_MOUNTS-}" != yes ]; then
	if [ "$(id -u)" -ne 0 ]; then
		echo "1..0 # SKIP needs root"
		exit 0
	fi
	if ! unshare --mount --pid --fork true; then
		echo "1..0 # SKIP needs namespaces of its own: unshare --mount --pid"
		exit 0
	fi
	XDPL_OWN_MOUNTS=yes exec unshare --mount --propagation private --pid --fork --kill-child \
		--mount-proc "$0" "$@"
fi
unset XDPL_OWN_MOUNTS

bpffs_mounted() {
	[ "$(stat -f -c %T /sys/fs/bpf)" = bpf_fs ]
}

bpffs_mount() {
	mount -t bpf -o mode=700 bpf /sys/fs/bpf
}

bpffs_unmount() {
	umount /sys/fs/bpf
}

# The machine's, as this mount namespace has a copy of them.
while bpffs_mounted; do
	bpffs_unmount || exit 1
done
mount -t tmpfs tmpfs /run || exit 1
bpffs_mount || exit 1
