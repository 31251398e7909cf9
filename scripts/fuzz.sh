#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs fuzzers, two at a time, each for so many seconds; for `make fuzz`, which builds them.
#
#	scripts/fuzz.sh SECONDS TARGET...
#
# One line for each target. What is found is put into tests/fuzz/corpus/TARGET, to stay there as a
# regression case once it is fixed; the exit status is 1 then. Inputs that only reach further grow in
# build/fuzz/corpus, for the next run. Full output is in build/fuzz/logs.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1

export build=build/fuzz
# Frames are not longer, policies of this length have everything.
export input_max=2048

number() {
	sed -n "s/^stat::$1: *//p" "$2"
}

# fuzz SECONDS TARGET
fuzz() {
	local seconds=$1 target=$2 log=$build/logs/$2.log grown=$build/corpus/$2
	local committed=tests/fuzz/corpus/$2 status

	mkdir -p "$grown"
	timeout --kill-after=10 $((seconds + 120)) "$build/tests/fuzz/fuzzer_$target" \
		-max_total_time="$seconds" -max_len="$input_max" -timeout=10 -report_slow_units=100 \
		-rss_limit_mb=2048 -dict="tests/fuzz/$target.dict" -artifact_prefix="$committed/" \
		-print_final_stats=1 \
		"$grown" "$committed" >"$log" 2>&1 </dev/null
	status=$?
	if [ "$status" -eq 0 ]; then
		printf '%-8s %4d s %10d inputs, %d of them new: nothing found\n' "$target" "$seconds" \
			"$(number number_of_executed_units "$log")" "$(number new_units_added "$log")"
		return 0
	fi
	printf '%-8s FAILED with status %d: %s\n' "$target" "$status" "$log"
	grep -E '^(tests/fuzz/.*|==[0-9]*==ERROR.*|.*: runtime error.*|artifact_prefix.*)' "$log" |
		sed 's/^/    /'
	return 1
}

# Kept across the subshells of xargs.
export -f fuzz number

seconds=${1:?scripts/fuzz.sh SECONDS TARGET...}
shift
mkdir -p "$build/logs" || exit 1
# shellcheck disable=SC2016 # the arguments are the inner shell's
printf '%s\n' "$@" | xargs -P 2 -n 1 bash -c 'fuzz "$0" "$1"' "$seconds" ||
	exit 1
