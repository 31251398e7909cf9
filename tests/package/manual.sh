#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The manual pages: formatters have nothing to say, nothing is left out, and every example works.
# shellcheck source-path=SCRIPTDIR source=../lib/net.sh disable=SC2317 # cases are called by name
. "$(dirname "$0")/../lib/net.sh"

ROOT=$(cd "$(dirname "$0")/../.." && pwd)
MAN=$ROOT/${BUILD:-build}/man
COMMANDS=$ROOT/${BUILD:-build}/commands.tsv

# examples FILE SECTION...: what stands between .EX and .EE in these sections; a blank line ends each
examples() {
	local file=$1
	shift

	awk -v wanted="|$(printf '%s|' "$@")" '
	/^\.SH/ { section = substr($0, 5); gsub(/"/, "", section) }
	/^\.EE/ { inside = 0; print "" }
	inside { gsub(/\\-/, "-"); gsub(/\\e/, "\\"); print }
	/^\.EX/ && index(wanted, "|" section "|") { inside = 1 }' "$MAN/$file"
}

rendered() {
	MANWIDTH=100 LC_ALL=C.UTF-8 man -l "$MAN/$1" | col -bx
}

clean_pages() {
	local page

	for page in "$MAN"/*.[58]; do
		expect_status 0 mandoc -Tlint "$page"
		expect_equal "mandoc on $page" "$OUT$ERR" ""
		expect_equal "man on $page" \
			"$(LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l "$page" 2>&1 >/dev/null)" ""
	done
}

# The section of a command, from its title to the next.
section() {
	awk -v title="   $1" '/^ ? ? ?[^ ]/ { inside = $0 == title } inside' "$SCRATCH/page"
}

all_commands() {
	local kind command name rest

	rendered xdp-limit.8 >"$SCRATCH/page"
	# shellcheck disable=SC2034 # rest: what is not asked for
	while IFS=$'\t' read -r kind command name rest; do
		case $kind in
		command) expect section "$command" ;;
		option)
			[ "$command" != - ] || command='Options of all commands'
			section "$command" | grep -q -- "^ *--$name\b" || fail "$command: no --$name"
			;;
		esac
	done <"$COMMANDS"
	expect_at_least "sections" "$(section attach | wc -l)" 20
}

exit_statuses() {
	expect_equal "statuses" \
		"$(rendered xdp-limit.8 | sed -n '/^EXIT STATUS/,/^AT BOOT/s/^ *\([0-9]\) .*/\1/p' | xargs)" \
		"$(sed -n 's/.*EXIT_[A-Z_]* = \([0-9]\),.*/\1/p' "$ROOT/user/exit_status.h" | xargs)"
}

# Keys of the tables by which the file is read.
all_keys() {
	local key count=0

	rendered xdp-limit.yaml.5 >"$SCRATCH/page"
	while read -r key; do
		count=$((count + 1))
		grep -Eq "(^ *|, *|with |\{)$key\b" "$SCRATCH/page" || fail "no word about $key"
	done < <(grep -ohE '\{"[a-z0-9-]+", +read_' "$ROOT"/user/policy_file*.c | cut -d'"' -f2 | sort -u)
	expect_at_least "keys" "$count" 30
}

# ---- examples ------------------------------------------------------------------------------------
prepare() {
	cd "$SCRATCH" || exit
	echo 'limits: [{name: default, rate: 1000 pps, burst: 2000 packets}]' >rv0.yaml
	echo 198.51.100.0/24 >blocklist.txt
}

# One line of an example, on rv0, with files of this directory.
run_line() {
	local line=$1

	line=${line//eth0/rv0}
	line=${line//\/etc\/xdp-limit\//$SCRATCH/}
	# What goes on until somebody ends it.
	[[ $line != 'xdp-limit events '* ]] || line="timeout --preserve-status -s INT 1 $line"
	expect bash -c "${line//xdp-limit /"$XDP_LIMIT" --netns "$SRV" }"
}

# Each begins on its own: with a limiter, unless it attaches.
command_examples() {
	local line count=0

	prepare
	while read -r line; do
		[ "$line" ] || continue
		count=$((count + 1))
		limit detach rv0 --if-attached >/dev/null 2>&1
		[[ $line == *' attach '* ]] || expect attach --config rv0.yaml
		run_line "$line"
	done < <(examples xdp-limit.8 COMMANDS)
	expect_at_least "examples" "$count" 9
}

# One after another, as they stand.
session() {
	local line count=0

	prepare
	limit detach rv0 --if-attached >/dev/null 2>&1
	while read -r line; do
		[ "$line" ] || continue
		count=$((count + 1))
		run_line "$line"
	done < <(examples xdp-limit.8 EXAMPLES)
	expect_at_least "examples" "$count" 14
	! attached || fail "the last one detaches"
}

policies() {
	local policy count=0

	examples xdp-limit.yaml.5 DESCRIPTION EXAMPLES |
		awk -v RS= -v directory="$SCRATCH" '{ print >(directory "/" NR ".yaml") }'
	for policy in "$SCRATCH"/*.yaml; do
		count=$((count + 1))
		expect_status 0 "$XDP_LIMIT" check "$policy"
		expect_no_stderr .
	done
	expect_equal "policies" "$count" 4
}

[ -e "$MAN/xdp-limit.8" ] || skip "needs the pages: make manuals"
[ "$(command -v mandoc)" ] || skip "needs mandoc"
topology
run_case "formatters have nothing to complain about" clean_pages
run_case "xdp-limit(8): every command with every option" all_commands
run_case "xdp-limit(8): every exit status" exit_statuses
run_case "xdp-limit.yaml(5): every key" all_keys
run_case "xdp-limit(8): examples of commands work" command_examples
run_case "xdp-limit(8): the examples work one after another" session
run_case "xdp-limit.yaml(5): the examples are policies" policies
finish
