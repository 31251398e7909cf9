#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Packs what a guest needs into a cpio archive: this machine's own programs and libraries, and ours.
#
#	tests/kernels/initramfs.sh KERNEL FILE TEST...
#
# KERNEL: an unpacked kernel package. The guest runs the TESTs in this order.
set -eu -o pipefail
cd "$(dirname "$0")/../.."

# What tests call, besides the commands of coreutils.
commands='awk bash bpftool bridge capsh cmp ethtool find flock grep insmod ip iperf3 jq kill mount nft
	nsenter pgrep ping prlimit sed setpriv setsid sh sysctl taskset tc tcpdump umount unshare xargs
	xdp-filter xdp-loader'
# Built in on none of Debian's cloud kernels.
modules='bonding bridge dummy macvlan nf_tables sch_ingress tun veth'
ours='build/xdp-limit build/tests docs tests'

die() {
	echo "initramfs: $*" >&2
	exit 1
}

# Programs keep their paths, and so do the libraries that they name.
copy_commands() {
	local command path

	for command in $(dpkg -L coreutils | sed -n 's,^\(/usr\)*/bin/,,p') $commands; do
		path=$(type -P "$command") || die "no $command here"
		echo "$path"
	done | while read -r path; do
		cp -L --parents "$path" "$root"
	done
}

copy_libraries() {
	find "$root" -type f -perm /111 -print0 | { xargs -0 ldd 2>/dev/null || true; } |
		grep -oE '/[^ ]+\.so[^ ]*' | sort -u | while read -r path; do
		[ -e "$root$path" ] || cp -L --parents "$path" "$root"
	done
}

# What libxdp loads: its dispatcher, and the programs of xdp-filter.
copy_objects() {
	local path

	dpkg -L libxdp1 | grep '/bpf/.*\.o$' | while read -r path; do
		cp --parents "$path" "$root"
	done
}

copy_ours() {
	mkdir "$root/xdp-limit"
	# shellcheck disable=SC2086 # words
	tar -c --exclude='*.[od]' --exclude=logs $ours | tar -x -C "$root/xdp-limit"
}

# With what each depends on, in the order in which they are loaded.
copy_modules() {
	local release module path

	release=$(basename "$kernel"/lib/modules/*)
	depmod -b "$kernel" "$release"
	for module in $modules; do
		modprobe -d "$kernel" -S "$release" --show-depends "$module"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r path; do
		cp "$path" "$root/lib/modules"
		echo "/lib/modules/${path##*/}"
	done >"$root/modules"
	find "$root/lib/modules" -name '*.xz' -exec xz -d {} +
	sed -i 's/\.xz$//' "$root/modules"
}

make_root() {
	local directory

	for directory in bin sbin lib lib64; do
		mkdir -p "$root/usr/$directory"
		ln -s "usr/$directory" "$root/$directory"
	done
	chmod 0755 "$root"
	mkdir -p "$root"/{dev,etc,lib/modules,proc,root,run,sys,tmp}
	cp /etc/{passwd,group,nsswitch.conf} "$root/etc"
	install -m 0755 tests/kernels/guest.sh "$root/init"
}

[ $# -ge 3 ] || die "usage: $0 KERNEL FILE TEST..."
kernel=$1
file=$2
shift 2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
make_root
copy_commands
copy_ours
copy_libraries
copy_objects
copy_modules
printf '%s\n' "$@" >"$root/tests"
(cd "$root" && find . | cpio --quiet -o -H newc) >"$file"
