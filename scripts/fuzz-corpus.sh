#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes the committed corpora anew: of all inputs, those that fuzzers found included, few that together
# reach all code that was reached. What was found to fail (crash-* and so on) stays.
#
#	scripts/fuzz-corpus.sh TARGET...
#
# For `make fuzz-corpus`, which builds the fuzzers. Review says whether the difference is worth a commit.
set -eu -o pipefail
cd "$(dirname "$0")/.."

build=build/fuzz
inputs_max=100 # of a target; the largest, since these reach most

for target; do
	committed=tests/fuzz/corpus/$target
	merged=$build/merged/$target
	rm -rf "$merged"
	mkdir -p "$merged" "$build/corpus/$target" "$build/logs"
	"$build/tests/fuzz/fuzzer_$target" -set_cover_merge=1 -use_counters=0 -max_len=2048 "$merged" \
		"$committed" "$build/corpus/$target" 2>"$build/logs/$target.merge.log"
	find "$committed" -type f ! -name '*-*' -delete
	find "$merged" -type f -printf '%s %p\n' | sort -rn | head -n "$inputs_max" | cut -d' ' -f2 |
		xargs -d '\n' cp -t "$committed"
	printf '%-8s %4d inputs\n' "$target" "$(find "$committed" -type f | wc -l)"
done
