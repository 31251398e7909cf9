#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The C library as an application meets it: installed, found by pkg-config, built against as .so and .a, and its
# numbers are those of the commands.
# shellcheck source-path=SCRIPTDIR source=../lib/net.sh disable=SC2317 # cases are called by name
. "$(dirname "$0")/../lib/net.sh"

ROOT=$(cd "$(dirname "$0")/../.." && pwd)
SYSTEM=$SCRATCH/system
export PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR

install_it() {
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C "$ROOT" DESTDIR="$SYSTEM" install \
		>"$SCRATCH/log" 2>&1 || skip "cannot install: $(tail -n 1 "$SCRATCH/log")"
	PKG_CONFIG_LIBDIR=$SYSTEM/usr/local/lib/pkgconfig:$(pkg-config --variable pc_path pkg-config)
}

# flags [--static]: those of pkg-config; the installation lies below another root
flags() {
	pkg-config "$@" --cflags --libs xdplimit | sed "s,/usr/local,$SYSTEM/usr/local,g"
}

# build SOURCE: $SCRATCH/NAME-shared and NAME-static
build() {
	local name warnings='-std=c99 -Wall -Wextra -Werror -pedantic -D_POSIX_C_SOURCE=200809L'

	name=$(basename "$1" .c)
	# shellcheck disable=SC2046,SC2086 # words
	expect cc $warnings "$1" $(flags) -o "$SCRATCH/$name-shared"
	# shellcheck disable=SC2046,SC2086 # words
	expect cc $warnings "$1" $(flags --static | sed 's/-lxdplimit/-l:libxdplimit.a/') \
		-o "$SCRATCH/$name-static"
}

# in_application PROGRAM ARGUMENT...: in the namespace of the limiter, with the installed library
in_application() {
	nsenter --net="/run/netns/$SRV" env LD_LIBRARY_PATH="$SYSTEM/usr/local/lib" "$@"
}

# limited [OPTION...]: of attach
limited() {
	topology neighbours
	attach --rate 10/h --burst 10 "$@"
	send --frame udp4 --source 192.0.2.77 --count 30
	send --frame udp4 --source 192.0.2.78 --count 3
}

builds() {
	install_it
	build "$ROOT/docs/examples/library.c"
	build "$ROOT/tests/package/library_calls.c"
	expect_equal "shared needs it" \
		"$(readelf -d "$SCRATCH/library-shared" | grep -c 'libxdplimit\.so\.0')" 1
	expect_equal "static doesn't" "$(readelf -d "$SCRATCH/library-static" | grep -c xdplimit || true)" 0
	expect c++ -x c++ -fsyntax-only -Wall -Werror "$SYSTEM/usr/local/include/xdplimit.h"
	cp "$SCRATCH"/library*-* "$SYSTEM"
}

# Nothing else can clash with what an application has, and nothing can print or end it.
symbols() {
	local library=$SYSTEM/usr/local/lib

	expect_equal "exported" "$(nm -D --defined-only "$library/libxdplimit.so.0" |
		awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }')" \
		"$(sed -n 's/^[a-z].*[ *]\(xdplimit_[a-z_]*\)(.*/\1/p' "$ROOT/include/xdplimit.h" | sort)"
	expect_equal "of the archive" "$(nm --defined-only --extern-only "$library/libxdplimit.a" |
		awk 'NF == 3 && $3 !~ /^xdplimit_/ { print $3 }')" ""
	expect_equal "that print, or end the process" "$(nm -D "$library/libxdplimit.so.0" |
		grep -E ' (stderr|stdout|printf|fprintf|vfprintf|puts|exit|abort|libbpf_set_print)\b' ||
		true)" ""
	expect_equal "that load programs into a dispatcher, and print" "$(nm -D "$library/libxdplimit.so.0" |
		grep -oE ' (xdp_program__(attach|detach|create|load).*|libxdp_set_print)$' || true)" ""
	expect_equal "soname" "$(readelf -d "$library/libxdplimit.so.0" |
		sed -n 's/.*soname: \[\(.*\)\]/\1/p')" libxdplimit.so.0
}

# numbers ADDRESS: of `get --json`, as the example prints them
numbers() {
	limit get rv0 "$1" --json | jq -r '.limits[0] | "limit \(.name) of \(.burst), remaining \(.remaining)"'
}

# The kernels send an MLD report now and then: a moment is quiet when status says the same before and after.
example_at_a_quiet_moment() {
	PASSED=$(status_field .totals.passed_packets)
	in_application "$SYSTEM/library-$1" rv0 "$2" >"$SCRATCH/said" 2>&1 &&
		[ "$(status_field .totals.passed_packets)" = "$PASSED" ]
}

agrees() {
	local kind address reset

	limited
	for kind in shared static; do
		for address in 192.0.2.77 192.0.2.78 192.0.2.79; do
			wait_for 20 example_at_a_quiet_moment "$kind" "$address"
			expect_status 0 cat "$SCRATCH/said"
			expect_equal "numbers of $address" \
				"$(sed -n 's/.*: \(limit .*\), reset.*/\1/p' <<<"$OUT")" "$(numbers "$address")"
			expect_stdout "^rv0: passed $PASSED, dropped 20 packets"
			reset=$(sed -n 's/.*reset in \(.*\) s/\1/p' <<<"$OUT")
			expect_between "seconds to reset" \
				"$(get_field "$address" ".limits[0].reset_seconds - $reset")" -5 1
		done
	done
	expect_status 0 in_application "$SYSTEM/library-shared" rv0 192.0.2.77
	expect_stdout '^refused; retry after 3[0-9][0-9]\.'
}

bans() {
	limited
	expect_status 0 in_application "$SYSTEM/library-shared" rv0 192.0.2.78 60
	expect_stdout '^banned until 1[0-9]{9}$'
	expect_stdout '^refused; retry after (59|60)\.'
	expect_equal "on the list" "$(limit ban rv0 list | cut -d' ' -f1)" 192.0.2.78
	expect_equal "as get says" "$(get_field 192.0.2.78 '.banned_until - now | . > 50 and . < 61')" true
	exec 9>"/run/xdp-limit/${PINS##*/}.lock"
	flock 9
	expect_status 1 in_application "$SYSTEM/library-shared" rv0 192.0.2.79 60
	expect_stderr 'another xdp-limit command is changing rv0'
	exec 9>&-
}

# What a shared table's commands hold is held from the library, too, and no longer than a call takes.
shared_ban() {
	limited --share-table wan
	expect_status 0 in_application "$SYSTEM/library_calls-shared" rv0
	expect_status 0 in_application "$SYSTEM/library-shared" rv0 192.0.2.78 60
	exec 9>"/run/xdp-limit/$(basename "$PINS" | cut -d- -f1)-table-wan.lock"
	flock 9
	expect_status 1 in_application "$SYSTEM/library-shared" rv0 192.0.2.79 60
	expect_stderr 'another xdp-limit command is changing the shared table wan'
	exec 9>&-
	expect_status 0 in_application "$SYSTEM/library-shared" rv0 192.0.2.79 60
}

all_calls() {
	limited
	expect_status 0 in_application "$SYSTEM/library_calls-shared" rv0
	expect_equal "output" "$OUT$ERR" ""
	expect_status 0 in_application "$SYSTEM/library_calls-static" rv0
	expect_equal "output" "$OUT$ERR" ""
}

# O-117: as root without any capability.
without_capabilities() {
	[ "$(command -v setpriv)" ] || skip "needs setpriv"
	limited
	expect_status 0 in_application setpriv --bounding-set=-all --inh-caps=-all \
		"$SYSTEM/library_calls-shared" rv0
	expect_equal "output" "$OUT$ERR" ""
}

# asks: the answer of the handle that stays open
asks() {
	echo >&"${APPLICATION[1]}"
	read -r -t 10 ANSWER <&"${APPLICATION[0]}" || fail "no answer"
}

# What a handle answers is what runs now.
follows() {
	limited
	coproc APPLICATION { in_application "$SYSTEM/library_calls-shared" rv0 lives; }
	asks
	expect_equal "at first" "$ANSWER" "0 default 10"
	printf 'limits: [{name: default, rate: 20/h, burst: 50}]\n' >"$SCRATCH/p.yaml"
	limit apply rv0 "$SCRATCH/p.yaml" 2>"$SCRATCH/log"
	asks
	expect_equal "another policy" "$ANSWER" "0 default 50"
	printf 'limits: [{name: other, rate: 20/h, burst: 5}]\n' >"$SCRATCH/p.yaml"
	limit apply rv0 "$SCRATCH/p.yaml" --recreate 2>"$SCRATCH/log"
	asks
	expect_equal "another table" "$ANSWER" "0 other 5"
	limit detach rv0
	expect_equal "detached, in spite of the handle" "$(attached && echo yes || echo no)" no
	asks
	expect_equal "gone" "$ANSWER" "-2 - 0"
	attach --rate 10/h --burst 7 2>"$SCRATCH/log"
	asks
	expect_equal "there again" "$ANSWER" "0 default 7"
	# shellcheck disable=SC2153 # set by coproc
	stop "$APPLICATION_PID"
}

run_case "builds as C99 and C++, shared and static" builds
run_case "only xdplimit_* is seen; nothing prints or exits" symbols
run_case "K10: its numbers are those of get and status" agrees
run_case "ban, and the lock" bans
run_case "O-090: a ban in a shared table, and its lock" shared_ban
run_case "every function, every refusal, four threads" all_calls
run_case "O-117: needs no capability" without_capabilities
run_case "a handle follows what runs" follows
finish
