#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Puts what the last `make bench` measured into docs/performance.md, between its two marks, and draws
# docs/performance.svg.
#
#	scripts/bench-docs.sh [DIRECTORY]
set -eu -o pipefail
cd "$(dirname "$0")/.."

measured=${1:-${BUILD:-build}}
page=docs/performance.md
begin='<!-- measured: scripts/bench-docs.sh writes from here -->'
end='<!-- measured: to here -->'

news() {
	echo "$begin"
	scripts/bench-table.sh "$measured"
	echo
	echo '```'
	scripts/bench-bars.sh "$measured" | sed '1,/^Targets:/d' | sed 1d
	echo '```'
	echo "$end"
}

if [ "$(grep -cxF -e "$begin" -e "$end" "$page")" != 2 ]; then
	echo "bench-docs: $page has lost its marks" >&2
	exit 1
fi
{
	sed "/^$(sed 's/[.*\/]/\\&/g' <<<"$begin")\$/,\$d" "$page"
	news
	sed "1,/^$(sed 's/[.*\/]/\\&/g' <<<"$end")\$/d" "$page"
} >"$page.new"
mv "$page.new" "$page"
scripts/plot-bench.sh "$measured"
