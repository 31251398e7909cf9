#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The program for other systems: what it needs at run time, and that it limits.
# shellcheck source-path=SCRIPTDIR source=../lib/policy.sh disable=SC2317 # cases are called by name
. "$(dirname "$0")/../lib/policy.sh"

STATIC=$_policy_tests/../build/static/xdp-limit
DYNAMIC=$XDP_LIMIT

needed() {
	readelf -d "$STATIC" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

no_library() {
	! needed | grep -qxE 'libmnl\.so\.0|libmicrohttpd\.so\.12' || skip "not all libraries are static: needs $(needed | xargs)"
	expect_equal "needed" "$(needed)" ""
	expect_status 1 ldd "$STATIC"
	expect_stderr "not a dynamic executable"
}

at_most_those() {
	expect_equal "needed" "$(needed | grep -vxE 'libmnl\.so\.0|libmicrohttpd\.so\.[0-9]+|libc\.so\.6|ld-linux.*')" ""
}

same_program() {
	expect_status 0 "$STATIC" --version
	expect_equal "version" "$OUT" "$("$DYNAMIC" --version)"
	expect_status 0 "$STATIC" attach --help
	expect_equal "help" "$OUT" "$("$DYNAMIC" attach --help)"
}

limits() {
	XDP_LIMIT=$STATIC
	topology neighbours
	run_policy <<-END
		table: {sources: 1024}
		limits: [{name: default, rate: 1/h, burst: 50}]
	END
	expect_ours
	passes 50 --frame udp4 --count 80
	# Either takes over from the other.
	XDP_LIMIT=$DYNAMIC
	expect limit show rv0
	apply_policy <<-END
		limits: [{name: default, rate: 2/h, burst: 50}]
	END
	XDP_LIMIT=$STATIC
	passes 0 --frame udp4 --count 10
	expect limit detach rv0
	! attached || fail "still attached"
}

[ -x "$STATIC" ] || skip "needs it: make static"
run_case "no library at run time" no_library
run_case "at most libmnl, libmicrohttpd and the C library are needed at run time" at_most_those
run_case "it is the same program" same_program
run_case "it limits, beside the other one" limits
finish
