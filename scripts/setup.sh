#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Installs the Debian packages that building, testing and linting need; says nothing if all are there.
#
#	scripts/setup.sh [SET...]		install what is missing (root); build, test, bench
#						and lint without arguments
#	scripts/setup.sh --check [SET...]	only name what is missing; status 1 if anything is
#
# Sets: build, test, bench, fuzz, lint, kernels, monitor, package.
set -eu -o pipefail

# SET KIND NAME PACKAGE. A library is known to pkg-config, a header lies in an include directory, a
# runtime beside clang.
needed='
build command cc            gcc
build command clang         clang
build command bpftool       bpftool
build command pkg-config    pkg-config
build command make          make
build command objcopy       binutils
build header  stdio.h       libc6-dev
build header  linux/bpf.h   linux-libc-dev
build library libbpf        libbpf-dev
build library libxdp        libxdp-dev
build library libnl-3.0     libnl-3-dev
build library json-c        libjson-c-dev
build library yaml-0.1      libyaml-dev
build library ncurses       libncurses-dev
build library libmicrohttpd libmicrohttpd-dev
test  library cmocka        libcmocka-dev
test  command ip            iproute2
test  command ethtool       ethtool
test  command jq            jq
test  command iperf3        iperf3
test  command nft           nftables
test  command ping          iputils-ping
test  command tcpdump       tcpdump
test  command capsh         libcap2-bin
test  command pgrep         procps
test  command tmux          tmux
test  command taskset       util-linux
test  command curl          curl
test  command promtool      prometheus
test  command xdp-filter    xdp-tools
bench command ip            iproute2
bench command ethtool       ethtool
bench command jq            jq
bench command nft           nftables
bench command iptables-legacy iptables
bench command nsenter       util-linux
fuzz  runtime fuzzer        libclang-rt-dev
lint  command clang-format  clang-format
lint  command clang-tidy    clang-tidy
lint  command cppcheck      cppcheck
lint  command shellcheck    shellcheck
kernels command qemu-system-x86_64 qemu-system-x86
kernels command cpio        cpio
kernels command depmod      kmod
kernels command xz          xz-utils
monitor command promtool     prometheus
monitor command nginx        nginx-light
monitor command chromium     chromium
monitor command ss           iproute2
lint  command mandoc        mandoc
lint  command man           man-db
package command zsh         zsh
package command fish        fish
package command script      bsdutils
package command readelf     binutils
package command c++         g++
package command nsenter     util-linux
package command dpkg-buildpackage dpkg-dev
package command dh          debhelper
package command lintian     lintian
package command debootstrap debootstrap
'

PATH=$PATH:/usr/sbin:/sbin

has_command() {
	command -v "$1" >/dev/null
}

has_header() {
	compgen -G "/usr/include/$1" >/dev/null || compgen -G "/usr/include/*-linux-gnu*/$1" >/dev/null ||
		[ -e "/usr/local/include/$1" ]
}

# Without pkg-config only the package can be asked for; pkg-config has a line of its own.
has_library() {
	if has_command pkg-config; then
		pkg-config --exists "$1"
	else
		dpkg-query -W -f '${Status}' "$2" 2>/dev/null | grep -q ' installed$'
	fi
}

has_runtime() {
	compgen -G "$(clang -print-runtime-dir 2>/dev/null)/libclang_rt.$1*.a" >/dev/null
}

# missing SET...: one line "NAME PACKAGE" for each thing that is not there
missing() {
	local set kind name package

	while read -r set kind name package; do
		[[ " $* " == *" $set "* ]] || continue
		"has_$kind" "$name" "$package" || echo "$name $package"
	done <<<"$needed"
}

name_missing() {
	local name package status=0

	while read -r name package; do
		echo "$name is missing: apt-get install $package" >&2
		status=1
	done < <(missing "$@")
	return "$status"
}

die() {
	echo "setup: $*" >&2
	exit 1
}

install_missing() {
	local packages

	mapfile -t packages < <(missing "$@" | cut -d' ' -f2 | sort -u)
	[ "${#packages[@]}" -gt 0 ] || return 0
	[ "$(id -u)" -eq 0 ] || die "needs root to install: ${packages[*]}"
	has_command apt-get || die "no apt-get here; install what Debian calls: ${packages[*]}"
	echo "setup: installing ${packages[*]}"
	export DEBIAN_FRONTEND=noninteractive
	apt-get -qq update
	apt-get -qq -o Dpkg::Use-Pty=0 install --no-install-recommends "${packages[@]}" >/dev/null
	name_missing "$@"
}

action=install_missing
if [ "${1-}" = --check ]; then
	action=name_missing
	shift
fi
[ $# -gt 0 ] || set -- build test bench fuzz lint package
for set; do
	case $set in
	build | test | bench | fuzz | lint | kernels | monitor | package) ;;
	*) die "no set '$set'; there are: build, test, bench, fuzz, lint, kernels, monitor, package" ;;
	esac
done
"$action" "$@"
