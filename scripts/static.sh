#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Links build/static/xdp-limit for systems that have none of our libraries; says what it still needs.
#
#	scripts/static.sh OBJECT...
#
# Debian has static libraries of all but libmnl. That one is made of Debian's source, whose signature
# apt checks. Where neither is to be had, the result needs libmnl and the C library at run time.
set -eu -o pipefail
cd "$(dirname "$0")/.."

directory=$PWD/build/static
static_libraries='-lbpf -lelf -lz -ljson-c -lyaml -lncurses -ltinfo'
compiler=${CC:-cc}

mkdir -p "$directory"

# has_static NAME: whether there is a libNAME.a
has_static() {
	local file

	file=$($compiler -print-file-name="lib$1.a")
	[ -e "$file" ]
}

# Where this machine's own packages come from.
mirror_of_apt() {
	# shellcheck disable=SC2016 # apt's own words
	apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | head -n 1
}

fetch_libmnl() {
	local codename version

	command -v apt-get || return
	# shellcheck source=/dev/null
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	version=$(dpkg-query -W -f '${source:Version}' libmnl-dev)
	mkdir -p apt/lists/partial apt/cache/archives/partial
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
		"${MIRROR:-$(mirror_of_apt)} $codename main" >apt/sources.list
	set -- -qq -o Dir::Etc::SourceList="$PWD/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$PWD/apt/lists" -o Dir::Cache="$PWD/apt/cache" -o APT::Sandbox::User=
	apt-get "$@" update && apt-get "$@" source "libmnl=$version" &&
		mv "libmnl-${version%-*}" libmnl
}

# It reads a configuration that has nothing to say here.
compile_libmnl() {
	local file

	: >libmnl/config.h
	for file in libmnl/src/*.c; do
		$compiler -O2 -Ilibmnl -Ilibmnl/include -c "$file" -o "${file%.c}.o" || return
	done
	ar rcs libmnl.a libmnl/src/*.o
}

make_libmnl() {
	[ ! -e "$directory/libmnl.a" ] || return 0
	# Not under set -e, since it is asked whether it works.
	(cd "$directory" && fetch_libmnl && compile_libmnl) >"$directory/log" 2>&1
}

for library in bpf elf z json-c yaml ncurses tinfo; do
	has_static "$library" || {
		echo "static: lib$library.a is missing: scripts/setup.sh build" >&2
		exit 1
	}
done
# libelf of newer systems compresses with it.
! has_static zstd || static_libraries+=' -lzstd'
# shellcheck disable=SC2086 # words
if has_static mnl || make_libmnl; then
	$compiler -static "$@" -L"$directory" -lmnl $static_libraries -o "$directory/xdp-limit"
	echo "build/static/xdp-limit: needs no library at run time"
else
	echo "static: no libmnl.a here, and no source of it: $(grep -m 1 '^E: ' "$directory/log" ||
		tail -n 1 "$directory/log")" >&2
	$compiler "$@" -Wl,-Bstatic $static_libraries -Wl,-Bdynamic -lmnl -o "$directory/xdp-limit"
	echo "build/static/xdp-limit: not fully static, needs libmnl.so.0 and the C library at run time"
fi
