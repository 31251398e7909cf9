# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# TAP for bash: cases in subshells of their own, expectations that show both values, clean-up.
#
#	. "$(dirname "$0")/../lib/tap.sh"
#
#	adds_up() {			# a case is a function
#		expect_equal "sum" "$((1 + 1))" 2
#	}
#	run_case "O-042: one and one are two" adds_up
#	finish				# prints the plan; exit status 1 if a case failed
#
# A case runs in a subshell with `set -eu -o pipefail`: the first expectation that fails, or command
# that fails unexpectedly, ends it. What it registers with at_exit is undone when it ends, however
# that is; what the file itself registers is undone when the file ends.
#
#  skip WHY                           end the case (or, outside of one, the whole file) as skipped
#  fail WHAT...                       end the case as failed
#  note WHAT...                       a diagnostic line
#  at_exit COMMAND [ARG...]           clean-up, last registered first
#  wait_for SECONDS COMMAND [ARG...]  until it succeeds (whole seconds), else the case fails
#  expect COMMAND [ARG...]            must succeed; its output is shown if it does not
#  expect_status N COMMAND [ARG...]   must end with N; keeps $OUT and $ERR (stdout and stderr)
#  expect_stdout REGEX                about the last expect_status (extended regular expression)
#  expect_stderr REGEX
#  expect_no_stderr REGEX             no line of it matches; '.' means that there is none
#  expect_json FILTER WANT            $OUT of the last expect_status through `jq -r FILTER`
#  expect_equal WHAT GOT WANT
#  expect_at_most WHAT GOT MOST       numbers, decimals are fine
#  expect_at_least WHAT GOT LEAST
#  expect_between WHAT GOT LEAST MOST
#  $SCRATCH                           a directory of this case, removed with it

_tap_number=0
_tap_failed=0
_tap_in_case=
_tap_cleanup=()
OUT=
ERR=

note() {
	# Not stdout, which may belong to a $(...).
	printf '%s\n' "$*" | sed 's/^/# /' >&"$_tap_out"
}

fail() {
	note "$@"
	exit 1
}

skip() {
	if [ "$_tap_in_case" ]; then
		printf '%s\n' "$*" >"$_tap_skip_file"
		exit 0
	fi
	echo "1..0 # SKIP $*"
	exit 0
}

# ---- clean-up ------------------------------------------------------------------------------------
at_exit() {
	_tap_cleanup+=("$(printf '%q ' "$@")")
}

_tap_clean() {
	local status=$? i

	trap '' INT TERM
	trap - ERR
	set +e
	for ((i = ${#_tap_cleanup[@]} - 1; i >= 0; i--)); do
		eval "${_tap_cleanup[i]}"
	done
	_tap_cleanup=()
	exit "$status"
}

# EXIT does the work; INT and TERM only have to get there.
_tap_traps() {
	_tap_cleanup=()
	trap _tap_clean EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

_tap_scratch() {
	SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/xdpl-test.XXXXXXXX")
	at_exit rm -rf "$SCRATCH"
}

# ---- cases ---------------------------------------------------------------------------------------
_tap_case() {
	_tap_in_case=yes
	_tap_traps
	_tap_scratch
	set -eEu -o pipefail
	trap 'note "status $? in line $LINENO: $BASH_COMMAND"' ERR
	"$@"
}

# run_case NAME FUNCTION [ARG...]
run_case() {
	local name=$1 status why=
	shift

	_tap_number=$((_tap_number + 1))
	_tap_skip_file=$_tap_directory/skip
	rm -f "$_tap_skip_file"
	# Not in a condition: `set -e` would be off all the way down.
	(_tap_case "$@")
	status=$?
	[ -e "$_tap_skip_file" ] && why=" # SKIP $(cat "$_tap_skip_file")"
	if [ "$status" -eq 0 ]; then
		echo "ok $_tap_number - $name$why"
		return
	fi
	_tap_failed=$((_tap_failed + 1))
	echo "not ok $_tap_number - $name"
	if [ "$status" -ge 128 ]; then
		exit "$status"
	fi
}

finish() {
	echo "1..$_tap_number"
	[ "$_tap_failed" -eq 0 ]
	exit
}

# ---- waiting -------------------------------------------------------------------------------------
wait_for() {
	local deadline=$1 end
	shift

	end=$((${EPOCHREALTIME/./} + deadline * 1000000))
	until "$@" >/dev/null 2>&1; do
		if [ "${EPOCHREALTIME/./}" -ge "$end" ]; then
			fail "not within $deadline s: $*"
		fi
		sleep 0.01
	done
}

# ---- expectations --------------------------------------------------------------------------------
_tap_show_output() {
	note "stdout: ${OUT:-(none)}"
	note "stderr: ${ERR:-(none)}"
}

expect() {
	local status=0 output

	output=$("$@" 2>&1) || status=$?
	[ "$status" -eq 0 ] || fail "status $status: $*"$'\n'"$output"
}

expect_status() {
	local want=$1 status=0
	shift

	"$@" >"$SCRATCH/stdout" 2>"$SCRATCH/stderr" || status=$?
	OUT=$(cat "$SCRATCH/stdout")
	ERR=$(cat "$SCRATCH/stderr")
	if [ "$status" -ne "$want" ]; then
		_tap_show_output
		fail "status $status, not $want: $*"
	fi
}

expect_stdout() {
	grep -Eq -- "$1" <<<"$OUT" && return
	_tap_show_output
	fail "stdout does not match: $1"
}

expect_stderr() {
	grep -Eq -- "$1" <<<"$ERR" && return
	_tap_show_output
	fail "stderr does not match: $1"
}

expect_no_stderr() {
	if [ "$ERR" ] && grep -Eq -- "$1" <<<"$ERR"; then
		_tap_show_output
		fail "stderr should not match: $1"
	fi
}

expect_json() {
	local got

	got=$(jq -r "$1" <<<"$OUT") || fail "not JSON: $OUT"
	expect_equal "$1" "$got" "$2"
}

expect_equal() {
	[ "$2" = "$3" ] || fail "$1: got '$2', not '$3'"
}

_tap_compare() {
	if ! [[ $2 =~ ^-?[0-9] ]] ||
		! awk -v got="$2" -v bound="$4" "BEGIN { exit !(got + 0 $3 bound + 0) }"; then
		fail "$1: got '$2', wanted $3 $4"
	fi
}

expect_at_most() {
	_tap_compare "$1" "$2" '<=' "$3"
}

expect_at_least() {
	_tap_compare "$1" "$2" '>=' "$3"
}

expect_between() {
	expect_at_least "$1" "$2" "$3"
	expect_at_most "$1" "$2" "$4"
}

# ---- start of the file ---------------------------------------------------------------------------
exec {_tap_out}>&1
_tap_traps
_tap_scratch
_tap_directory=$SCRATCH
