#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Debian's newest cloud kernel of a series, unpacked and not installed: prints its directory.
#
#	tests/kernels/fetch.sh SERIES		6.1, 6.12
#
# It stays in build/kernels; what is there is not asked for again. Status 1, with a line that says why,
# if it can't be had.
set -eu -o pipefail
shopt -s nullglob
cd "$(dirname "$0")/../.."

kernels=build/kernels

die() {
	echo "fetch: $*" >&2
	exit 1
}

# Names like linux-image-6.1.0-57-cloud-amd64 and linux-image-6.12.117+deb12-cloud-amd64.
newest() {
	apt-cache search --names-only "^linux-image-${series//./\\.}\.[0-9][^-]*(-[0-9]+)?-cloud-amd64$" |
		cut -d' ' -f1 | sort -V | tail -n 1
}

fetch() {
	local package

	[ "$(dpkg --print-architecture)" = amd64 ] || die "only amd64 has cloud kernels that we try"
	package=$(newest)
	if [ -z "$package" ] && [ "$(id -u)" -eq 0 ]; then
		apt-get -qq update
		package=$(newest)
	fi
	[ "$package" ] || die "apt knows no linux-image-$series.*-cloud-amd64"
	rm -rf "$scratch"
	mkdir -p "$scratch"
	# As root, apt would complain that its own user can't write here.
	(cd "$scratch" && apt-get -qq -o APT::Sandbox::User=root download "$package" >/dev/null) ||
		die "cannot download $package"
	dpkg-deb -x "$scratch"/*.deb "$scratch/unpacked"
	rm "$scratch"/*.deb
	mv "$scratch/unpacked" "$kernels/$package"
	rmdir "$scratch"
}

[ $# -eq 1 ] || die "usage: $0 SERIES"
series=$1
scratch=$kernels/fetching-$series
found=("$kernels/linux-image-$series".*-cloud-amd64)
if [ "${#found[@]}" -eq 0 ]; then
	fetch
	found=("$kernels/linux-image-$series".*-cloud-amd64)
fi
echo "${found[-1]}"
