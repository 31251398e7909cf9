#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The program for other systems: what it needs at run time, that it limits, and that all else works too.
# shellcheck source-path=SCRIPTDIR source=../lib/serve.sh disable=SC2317,SC2119 # cases are called by name
. "$(dirname "$0")/../lib/serve.sh"

STATIC=$(cd "$(dirname "$0")/../.." && pwd)/build/static/xdp-limit
DYNAMIC=$XDP_LIMIT

no_library() {
	expect_equal "needed" "$(readelf -d "$STATIC" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')" ""
	expect_status 1 ldd "$STATIC"
	expect_stderr "not a dynamic executable"
}

same_program() {
	expect_status 0 "$STATIC" --version
	expect_equal "version" "$OUT" "$("$DYNAMIC" --version)"
	expect_status 0 "$STATIC" attach --help
	expect_equal "help" "$OUT" "$("$DYNAMIC" attach --help)"
}

attached_by_it() {
	XDP_LIMIT=$STATIC
	topology neighbours
	run_policy <<-END
		table: {sources: 1024}
		limits: [{name: default, rate: 1/h, burst: 50}]
	END
}

limits() {
	attached_by_it
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

limited() {
	attached_by_it
	send --frame udp4 --source "$CLI4" --count 80
}

tells_status() {
	limited
	expect_status 0 limit status rv0 --json
	expect_equal "dropped" "$(jq .totals.dropped_packets <<<"$OUT")" 30
	expect_status 0 limit sources rv0
	expect_stdout "^$CLI4 "
	expect_status 0 limit doctor rv0
	expect_status 1 limit attach rv9 --rate 1/s
	expect_stderr "cannot find interface 'rv9'; did you mean 'rv0'"
}

# libmicrohttpd without the GnuTLS that it was built with
serves() {
	limited
	serve
	expect_equal "dropped" "$(metric xdp_limit_packets_total 'verdict="dropped"')" 30
	expect_code 200 "/v1/get?address=$CLI4"
	expect_equal "remaining" "$(body_field '.limits[0].remaining')" 0
	expect_code 404 /nothing
	expect stop "$SERVE"
}

# on_terminal TERM [COMMAND...]: top on a pseudo-terminal, whose q ends it; where stderr is stdout
on_terminal() {
	TERM=$1 "${@:2}" script -qec "$STATIC --netns $SRV top rv0" /dev/null <<<q
}

# shellcheck disable=SC2016 # for the inner shell
without_terminfo() {
	unshare -m sh -c 'for directory in /etc/terminfo /lib/terminfo /usr/share/terminfo; do
		[ ! -d $directory ] || mount -t tmpfs none $directory
	done; exec "$@"' sh "$@"
}

shows_rates() {
	[ "$(command -v script)" ] || skip "needs script"
	limited
	expect_status 0 limit top rv0 --once --interval 200ms
	expect_stdout "^$CLI4 "
	expect_status 0 on_terminal vt100
	expect_stdout "xdp-limit top rv0"
	# Where nothing is known of terminals, plain text is left.
	expect_status 4 on_terminal vt100 without_terminfo
	expect_stdout 'TERM=vt100 is not known here; .*--batch'
	expect_status 0 without_terminfo "$STATIC" --netns "$SRV" top rv0 --once --interval 200ms
	expect_stdout "^$CLI4 "
}

[ -x "$STATIC" ] || skip "needs it: make static"
run_case "no library at run time" no_library
run_case "it is the same program" same_program
run_case "it limits, beside the other one" limits
run_case "it tells what is limited" tells_status
run_case "it serves" serves
run_case "it shows rates, on a terminal where one is known" shows_rates
finish
