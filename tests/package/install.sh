#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `make install` puts everything where systemd, man and the shells look; `make uninstall` takes it away.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2317 # cases are called by name
. "$(dirname "$0")/../lib/tap.sh"

ROOT=$(cd "$(dirname "$0")/../.." && pwd)

# Nothing of an outer make; as long as it isn't told otherwise it builds nothing either.
make_() {
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C "$ROOT" DESTDIR="$SCRATCH/system" "$@"
}

installed() {
	(cd "$SCRATCH/system" && find . -type f -printf '%m %P\n' | grep -v 'share/doc/' | sort -k 2)
}

all_places() {
	expect make_ install
	expect_equal "files" "$(installed)" "$(
		cat <<-END
			644 usr/local/include/xdplimit.h
			644 usr/local/lib/libxdplimit.a
			644 usr/local/lib/libxdplimit.so.0
			644 usr/local/lib/pkgconfig/xdplimit.pc
			644 usr/local/lib/systemd/system/xdp-limit-serve.service
			644 usr/local/lib/systemd/system/xdp-limit@.service
			755 usr/local/sbin/xdp-limit
			644 usr/local/share/bash-completion/completions/xdp-limit
			644 usr/local/share/fish/vendor_completions.d/xdp-limit.fish
			644 usr/local/share/man/man5/xdp-limit.yaml.5
			644 usr/local/share/man/man8/xdp-limit.8
			644 usr/local/share/zsh/site-functions/_xdp-limit
		END
	)"
	expect test -d "$SCRATCH/system/etc/xdp-limit"
	expect test -e "$SCRATCH/system/usr/local/share/doc/xdp-limit/examples/web-syn-flood.yaml"
	expect grep -q '^ExecStart=/usr/local/sbin/xdp-limit ' \
		"$SCRATCH/system/usr/local/lib/systemd/system/xdp-limit@.service"
	expect_equal "link" "$(readlink "$SCRATCH/system/usr/local/lib/libxdplimit.so")" libxdplimit.so.0
	touch "$SCRATCH/system/etc/xdp-limit/eth0.yaml"
	expect make_ uninstall
	expect_equal "left" "$(cd "$SCRATCH/system" && find . ! -type d)" ./etc/xdp-limit/eth0.yaml
}

run_case "install and uninstall" all_places
finish
