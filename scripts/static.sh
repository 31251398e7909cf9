#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Links build/static/xdp-limit for systems that have none of our libraries; says what it still needs.
#
#	scripts/static.sh OBJECT...
#
# Debian has static libraries of all but libmnl, and its libmicrohttpd.a wants GnuTLS, which has none. These
# two are made of Debian's sources, whose signatures apt checks; libmicrohttpd without TLS. Where these are
# not to be had, the result needs both and the C library at run time.
set -eu -o pipefail
cd "$(dirname "$0")/.."

directory=$PWD/build/static
static_libraries='-lxdp -lbpf -lelf -lz -ljson-c -lyaml -lncurses -ltinfo'
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

# fetch PACKAGE: the source of PACKAGE, as Debian has it of the installed PACKAGE-dev, in PACKAGE/
fetch() {
	local codename version

	command -v apt-get || return
	# shellcheck source=/dev/null
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	version=$(dpkg-query -W -f '${source:Version}' "$1-dev")
	mkdir -p apt/lists/partial apt/cache/archives/partial
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
		"${MIRROR:-$(mirror_of_apt)} $codename main" >apt/sources.list
	set -- "$1" -qq -o Dir::Etc::SourceList="$PWD/apt/sources.list" \
		-o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$PWD/apt/lists" \
		-o Dir::Cache="$PWD/apt/cache" -o APT::Sandbox::User=
	apt-get "${@:2}" update && apt-get "${@:2}" source "$1=$version" &&
		mv "$1-${version%-*}" "$1"
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

compile_libmicrohttpd() {
	(cd libmicrohttpd && ./configure -q --disable-https --disable-shared --disable-doc \
		--disable-examples --disable-curl && make -s -C src/microhttpd) &&
		cp libmicrohttpd/src/microhttpd/.libs/libmicrohttpd.a .
}

# make_static LIBRARY: libLIBRARY.a in $directory
make_static() {
	[ ! -e "$directory/lib$1.a" ] || return 0
	# Not under set -e, since it is asked whether it works.
	(cd "$directory" && rm -rf "lib$1" && fetch "lib$1" && "compile_lib$1") >"$directory/log" 2>&1
}

for library in xdp bpf elf z json-c yaml ncurses tinfo; do
	has_static "$library" || {
		echo "static: lib$library.a is missing: scripts/setup.sh build" >&2
		exit 1
	}
done
# libelf of newer systems compresses with it.
! has_static zstd || static_libraries+=' -lzstd'
# shellcheck disable=SC2086 # words
if { has_static mnl || make_static mnl; } && make_static microhttpd; then
	$compiler -static "$@" -L"$directory" -lmicrohttpd -lmnl $static_libraries -o "$directory/xdp-limit"
	echo "build/static/xdp-limit: needs no library at run time"
else
	echo "static: no libmnl.a or no libmicrohttpd.a here, and no source of it: $(grep -m 1 '^E: ' "$directory/log" ||
		tail -n 1 "$directory/log")" >&2
	$compiler "$@" -Wl,-Bstatic $static_libraries -Wl,-Bdynamic -lmnl -lmicrohttpd -o "$directory/xdp-limit"
	echo "build/static/xdp-limit: not fully static, needs libmnl, libmicrohttpd and the C library at run time"
fi
