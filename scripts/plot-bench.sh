#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Draws what the last `make bench` measured (IPv4, one CPU) as docs/performance.svg.
#
#	scripts/plot-bench.sh [DIRECTORY [PICTURE.svg]]
set -eu -o pipefail
cd "$(dirname "$0")/.."

bench=${1:-${BUILD:-build}}/bench.json
picture=${2:-docs/performance.svg}

# One line "kind limiter sources ns" for each bar.
bars() {
	jq -r '.[] | select(.cpus == 1 and .family == 4) |
		[.kind, .limiter, .sources, .ns_per_packet] | @tsv' "$bench"
}

draw() {
	awk -F '\t' '
	BEGIN {
		split("1 1k 64k 1m spoofed", columns, " ")
		split("floor touch lru flat hashlimit nftables", limiters, " ")
		split("#9aa5b1 #5f6b7a #1f77b4 #2ca02c #d95f02 #b03060", colors, " ")
		split("1 source|1k sources|64k sources|1m sources|spoofed, all new", labels, "|")
		width = 920; left = 64; panel = 300; top = 64; gap = 104
		low = log(20); high = log(2000)
	}
	{ ns[$1, $2, $3] = $4; has[$1, $2] = 1 }

	function text(x, y, size, anchor, what, more) {
		printf "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" text-anchor=\"%s\"%s>%s</text>\n",
			x, y, size, anchor, more, what
	}
	function name_of(kind, limiter) {
		if (kind == "path" && limiter == "floor")
			return "XDP_DROP"
		return limiter == "lru" || limiter == "flat" ? "xdp-limit, " limiter : limiter
	}
	function height(value,   at) {
		at = (log(value) - low) / (high - low)
		return panel * (at < 0 ? 0 : at > 1 ? 1 : at)
	}
	function grid(base,   i, n, lines) {
		n = split("20 50 100 200 500 1000 2000", lines, " ")
		for (i = 1; i <= n; i++) {
			printf "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", left,
				width - 16, base - height(lines[i]), base - height(lines[i]),
				i == 1 ? "#333333" : "#dddddd"
			text(left - 8, base - height(lines[i]) + 4, 12, "end", lines[i], "")
		}
		printf "<text transform=\"translate(16 %.1f) rotate(-90)\" font-size=\"13\" ", base - panel / 2
		print "text-anchor=\"middle\">ns per packet (log scale)</text>"
	}
	function bar(x, base, wide, value, color) {
		printf "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x,
			base - height(value), wide - 2, height(value), color
		text(x + wide / 2 - 1, base - height(value) - 4, 11, "middle",
			sprintf("%d", value + 0.5), "")
	}
	function legend(kind, y,   i, x) {
		x = left
		for (i = 1; i in limiters; i++) {
			if (!has[kind, limiters[i]])
				continue
			printf "<rect x=\"%d\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>\n", x,
				y - 10, colors[i]
			text(x + 17, y, 13, "start", name_of(kind, limiters[i]), "")
			x += 128
		}
	}
	function group(kind, column, x, wide, base,   i, shown, each) {
		shown = 0
		for (i = 1; i in limiters; i++)
			shown += has[kind, limiters[i]]
		each = wide * 0.84 / shown
		x += wide * 0.08
		for (i = 1; i in limiters; i++) {
			if (!has[kind, limiters[i]])
				continue
			if ((kind, limiters[i], column) in ns)
				bar(x, base, each, ns[kind, limiters[i], column], colors[i])
			x += each
		}
	}
	function draw_panel(kind, title, y,   i, wide, base) {
		base = y + panel
		text(left, y - 40, 15, "start", title, " font-weight=\"bold\"")
		legend(kind, y - 18)
		grid(base)
		wide = (width - 16 - left) / 5
		for (i = 1; i <= 5; i++) {
			group(kind, columns[i], left + (i - 1) * wide, wide, base)
			text(left + (i - 0.5) * wide, base + 20, 13, "middle", labels[i], "")
		}
	}
	END {
		total = 2 * (panel + gap) + top - gap + 36
		printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" ", width, total
		printf "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" fill=\"#222222\">\n", width, total
		print "<title>What a packet costs, by number of sources</title>"
		printf "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", width, total
		draw_panel("program", "The program alone: IPv4, one CPU, nearly all dropped", top)
		draw_panel("path", "End to end over a veth, with what sending costs: IPv4, one CPU, nearly all dropped",
			top + panel + gap)
		print "</svg>"
	}'
}

bars | draw >"$picture"
