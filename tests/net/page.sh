#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The page of `serve`, in a real browser without a window: what it says is what the commands say.
# Cases are called by name; `serve` needs no words.
# shellcheck source-path=SCRIPTDIR source=../lib/serve.sh disable=SC2317,SC2119
. "$(dirname "$0")/../lib/serve.sh"

[ "$(command -v chromium)" ] || skip "needs chromium"

# browse SECONDS OPTION...: of the page's own time, which runs faster where nothing is waited for
browse() {
	timeout -k 5 60 chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --enable-logging=stderr \
		--user-data-dir="$SCRATCH/browser" --virtual-time-budget=$(($1 * 1000)) \
		"${@:2}" "$BASE/" 2>"$SCRATCH/browser.log"
}

# The page as it stands then: sets PAGE
look() {
	PAGE=$(browse 6 --dump-dom) || fail "chromium: $(cat "$SCRATCH/browser.log")"
	[[ $PAGE =~ data-rounds=\"([0-9]+)\" ]] || fail "its script did not run: $PAGE"
	expect_at_least "rounds" "${BASH_REMATCH[1]}" 2
}

# cells ID: the texts of a table's rows, or of a list, with | between them
cells() {
	tr -d '\n' <<<"$PAGE" | sed "s/.* id=\"$1\"[^>]*>//; s,</\(table\|dl\|ol\)>.*,," |
		sed 's,</\(tr\|dd\|li\)>,\n,g' | sed 's/<[^>]*>/|/g; s/||*/|/g; s/^|//; s/|$//; s/,//g'
}

same_numbers() {
	local status

	topology neighbours
	run_policy <<-'END'
		table: {sources: 1024}
		deny: [198.18.9.0/24]
		limits:
		  - {name: default, rate: 1/h, burst: 50}
		  - {name: dns, match: {protocol: udp, destination-port: 53}, rate: 1/h, burst: 5}
	END
	serve
	send --frame udp4 --source 192.0.2.10 --count 1280
	send --frame udp4 --source 192.0.2.11 --dport 53 --count 80
	send --frame udp4 --source 198.18.9.1 --count 7
	look
	status=$(limit status rv0 --json)
	expect_equal "dropped in all" "$(cells tiles | sed -n 's/^dropped in all|//p')" \
		"$(jq .totals.dropped_packets <<<"$status")"
	expect_equal "default" "$(cells limits | grep '^default|')" "default|0|0|55|1230|0"
	expect_equal "dns" "$(cells limits | grep '^dns|')" "dns|0|0|5|75|0"
	expect_equal "first source" "$(cells sources | sed -n 2p)" "192.0.2.10|default|0|50|1230|0"
	expect_equal "denied" "$(cells reasons | grep '^denied|')" "denied|0|7|$((7 * 42))"
	expect_equal "entries" "$(cells table | sed -n 's/^entries|//p')" "2 of 1024 (0.2 %)"
	[[ $PAGE == *'<p id="trouble" role="alert" hidden="">'* ]] || fail "trouble without any"
}

# What can't be had is said, and the page goes on.
no_limiter() {
	topology neighbours
	serve
	look
	[[ $PAGE == *"No limiter is attached."* ]] || fail "it doesn't say so: $PAGE"
	run_policy <<<'limits: [{name: default, rate: 1/h, burst: 50}]'
	look
	expect_equal "default" "$(cells limits | grep '^default|')" "default|0|0|0|0|0"
}

# Events as they come, each once, also where nobody asked for a while.
events_come() {
	local next

	topology neighbours
	run_policy <<<'limits: [{name: default, rate: 1/h, burst: 2, on-exceed: {ban: 1h}}]'
	serve
	expect_code 200 /v1/events
	expect_equal "before" "$(body_field '.events | length')" 0
	next=$(body_field .next)
	send --frame udp4 --source 198.18.0.1 --count 5
	expect_code 200 "/v1/events?after=$next"
	expect_equal "kinds" "$(body_field '[.events[].kind] | sort | join(" ")')" "ban drop list"
	expect_equal "who" "$(body_field '[.events[].source] | unique | join(" ")')" "198.18.0.1"
	[[ $(body_field '.events[0].line') == *" 198.18.0.1 "* ]] || fail "no line: $BODY"
	expect_equal "lost" "$(body_field '[.lost[]] | add')" 0
	next=$(body_field .next)
	expect_code 200 "/v1/events?after=$next"
	expect_equal "again" "$(body_field '.events | length')" 0
	expect_code 200 /v1/events
	expect_equal "all that are kept" "$(body_field '.events | length')" 3
	expect_code 400 "/v1/events?after=x"
	expect_code 404 "/v1/events?interface=nosuch"
	look
	expect_equal "on the page" "$(cells events | grep -c 198.18.0.1)" 3
	expect limit detach rv0
	expect_code 404 /v1/events
}

# Nothing comes from elsewhere, and nothing that a name says becomes part of the page.
own_resources() {
	topology neighbours
	run_policy <<<'limits: [{name: default, rate: 1/h, burst: 50}]'
	serve
	for path in / /page.css /page.js; do
		expect_code 200 "$path"
		! grep -Eo '(src|href)="?(https?:)?//[^"]*|url\(|@import|innerHTML|eval\(' <<<"$BODY" ||
			fail "$path: from elsewhere, or unsafe"
	done
	expect_code 200 /
	[[ $(header Content-Security-Policy) == "default-src 'none'; "* ]] || fail "no policy: $HEADERS"
	look
	! grep CONSOLE "$SCRATCH/browser.log" || fail "the browser complains"
}

# On a phone nothing but tables is wider than the screen.
on_a_phone() {
	topology neighbours
	run_policy <<<'limits: [{name: default, rate: 1/h, burst: 50}]'
	serve
	send --frame udp4 --count 80
	browse 4 --window-size=390,1800 --screenshot="$SCRATCH/phone.png" >/dev/null ||
		fail "chromium: $(cat "$SCRATCH/browser.log")"
	expect_at_least "bytes of the picture" "$(stat -c %s "$SCRATCH/phone.png")" 20000
}

run_case "K10: the page says what status and sources say" same_numbers
run_case "without a limiter, and when one comes" no_limiter
run_case "events come, each once" events_come
run_case "its own files alone, under a content policy" own_resources
run_case "a picture as on a phone" on_a_phone
finish
