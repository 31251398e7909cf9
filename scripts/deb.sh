#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Builds DIRECTORY/xdp-limit_VERSION_ARCH.deb and the two of the C library out of a copy of the sources below build/deb.
#
#	scripts/deb.sh VERSION [DIRECTORY]	DIRECTORY: build
#
# Another version than that of debian/changelog gets an entry of its own in the copy.
set -eu -o pipefail
cd "$(dirname "$0")/.."

version=$1
directory=${2:-build}
tree=build/deb/xdp-limit-$version
maintainer=$(sed -n 's/^Maintainer: //p' debian/control)

copy_sources() {
	rm -rf "$tree"
	mkdir -p "$tree"
	tar -c --exclude=./build --exclude=./.git --exclude=./compile_commands.json . | tar -x -C "$tree"
}

set_version() {
	local changelog=$tree/debian/changelog

	sed -i "s/^VERSION := .*/VERSION := $version/" "$tree/Makefile"
	[ "$(sed -n '1s/.*(\(.*\)).*/\1/p' "$changelog")" != "$version" ] || return 0
	{
		printf 'xdp-limit (%s) unstable; urgency=medium\n\n' "$version"
		printf '  * What is new stands in CHANGELOG.md.\n\n'
		printf ' -- %s  %s\n\n' "$maintainer" "$(date -R)"
		cat debian/changelog
	} >"$changelog"
}

build() {
	# Nothing of an outer make belongs to the package.
	(cd "$tree" && env -u MAKEFLAGS -u MAKELEVEL -u BUILD -u CFLAGS DEB_BUILD_OPTIONS=noautodbgsym \
		dpkg-buildpackage --build=binary --no-sign -j"$(nproc)") >build/deb/log 2>&1 || {
		tail -n 30 build/deb/log >&2
		exit 1
	}
}

for package in dpkg-dev:dpkg-buildpackage debhelper:dh; do
	command -v "${package#*:}" >/dev/null || {
		echo "${package#*:} is missing: apt-get install ${package%:*}" >&2
		exit 1
	}
done
copy_sources
set_version
build
mkdir -p "$directory"
rm -rf "$tree"
for package in xdp-limit libxdplimit0 libxdplimit-dev; do
	package=${package}_${version}_$(dpkg --print-architecture).deb
	[ "$directory" -ef build/deb ] || mv "build/deb/$package" "$directory"
	echo "$directory/$package"
done
