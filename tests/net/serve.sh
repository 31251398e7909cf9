#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `serve`: that its numbers are those of the commands, what it refuses, and that nobody can stop it.
# shellcheck source-path=SCRIPTDIR source=../lib/serve.sh disable=SC2317 # cases are called by name
. "$(dirname "$0")/../lib/serve.sh"

TOKEN=0123456789abcdef0123456789abcdef
SLOW=$(dirname "$XDPL_SEND")/xdpl-slow

# refuses CODE REGEX [CURL-OPTION...] PATH: with a reason in JSON
refuses() {
	expect_code "$1" "${@:3}"
	jq -re .error <<<"$BODY" 2>/dev/null | grep -Eq -- "$2" ||
		fail "the reason of ${*:3} does not match '$2': $BODY"
}

with_token() {
	echo "$TOKEN" >"$SCRATCH/token"
	chmod 600 "$SCRATCH/token"
}

# change METHOD LIST BODY: with the token
change() {
	ask -X "$1" -H "Authorization: Bearer $TOKEN" -d "$3" "/v1/$2"
}

# ---- numbers -------------------------------------------------------------------------------------
# At a quiet moment command, JSON and metrics say the same, to the packet.
numbers_agree() {
	local reason status limit

	topology neighbours
	run_policy <<-'END'
		table: {sources: 1024}
		deny: [198.18.9.0/24]
		limits:
		  - {name: default, rate: 1/h, burst: 50}
		  - {name: bulk, rate: 8 kbit/s, burst: 2 KiB, mode: observe}
		  - {name: dns, match: {protocol: udp, destination-port: 53}, rate: 1/h, burst: 5}
	END
	serve --top 2
	send --frame udp4 --source 192.0.2.10 --count 80
	send --frame udp4 --source 192.0.2.11 --dport 53 --count 80
	send --frame udp4 --source 198.18.9.1 --count 7
	send --frame udp6 --count 61
	status=$(limit status rv0 --json)
	expect_code 200 /v1/status
	expect_equal "/v1/status" "$(jq -S 'del(.attached_seconds)' <<<"$BODY")" \
		"$(jq -S 'del(.attached_seconds)' <<<"$status")"
	expect_code 200 /v1/sources
	expect_equal "/v1/sources" "$(jq -S 'map(del(.remaining))' <<<"$BODY")" \
		"$(limit sources rv0 --json | jq -S 'map(del(.remaining))')"
	expect_code 200 "/v1/get?address=192.0.2.10"
	expect_equal "/v1/get" "$(jq -S 'del(.limits[] | .reset_seconds, .retry_after_seconds)' <<<"$BODY")" \
		"$(limit get rv0 192.0.2.10 --json | jq -S 'del(.limits[] | .reset_seconds, .retry_after_seconds)')"
	ask /metrics
	for reason in $(jq -r '.reasons | keys[]' <<<"$status"); do
		expect_equal "packets, $reason" "$(metric_of xdp_limit_packets_total "reason=\"$reason\"")" \
			"$(jq ".reasons.$reason.packets" <<<"$status")"
		expect_equal "bytes, $reason" "$(metric_of xdp_limit_bytes_total "reason=\"$reason\"")" \
			"$(jq ".reasons.$reason.bytes" <<<"$status")"
		expect_equal "dropped, $reason" \
			"$(metric_of xdp_limit_packets_total "reason=\"$reason\",verdict=\"dropped\"")" \
			"$(jq ".reasons.$reason.dropped_packets" <<<"$status")"
	done
	expect_equal "all packets" "$(metric_of xdp_limit_packets_total)" \
		"$(jq .totals.packets <<<"$status")"
	for limit in default bulk dns; do
		expect_equal "$limit dropped" \
			"$(metric_of xdp_limit_limit_packets_total "limit=\"$limit\",verdict=\"dropped\"")" \
			"$(jq ".limits.$limit.dropped_packets" <<<"$status")"
		expect_equal "$limit passed, bytes" \
			"$(metric_of xdp_limit_limit_bytes_total "limit=\"$limit\",verdict=\"passed\"")" \
			"$(jq ".limits.$limit.passed_bytes" <<<"$status")"
		expect_equal "$limit would drop" \
			"$(metric_of xdp_limit_limit_would_drop_packets_total "limit=\"$limit\"")" \
			"$(jq ".limits.$limit.would_drop_packets" <<<"$status")"
	done
	expect_equal "denied" "$(metric_of xdp_limit_packets_total 'reason="denied"')" 7
	expect_equal "entries" "$(metric_of xdp_limit_table_entries)" "$(jq .table.used <<<"$status")"
	expect_equal "up" "$(metric_of xdp_limit_up)" 1
	expect_equal "sources named" "$(grep -c '^xdp_limit_source_dropped' <<<"$BODY")" 2
	expect_equal "the worst" "$(metric_of xdp_limit_source_dropped_packets_total 'source="192.0.2.11"')" 75
}

# K10: a reset is seen as one, and goes on exactly.
after_reset() {
	topology neighbours
	run_policy <<<'limits: [{name: default, rate: 1/h, burst: 10}]'
	serve
	send --frame udp4 --count 30
	expect_equal "dropped" "$(metric xdp_limit_packets_total 'reason="over_limit"')" 20
	expect limit reset rv0 --counters
	send --frame udp4 --count 3
	expect_equal "dropped" "$(metric xdp_limit_packets_total 'reason="over_limit"')" 0
	expect_equal "passed" "$(metric xdp_limit_packets_total 'reason="conforming"')" 3
	expect_equal "passed" "$(status_field .reasons.conforming.packets)" 3
}

promtool_likes_it() {
	[ "$(command -v promtool)" ] || skip "needs promtool (Debian package prometheus)"
	topology neighbours
	run_policy <<-'END'
		table: {sources: 1024, type: flat}
		measure: 1
		limits: [{name: default, rate: 1/h, burst: 50}, {name: total, per: interface, rate: 1/h, burst: 60}]
	END
	serve --top 5
	send --frame udp4 --count 80
	ask /metrics
	expect promtool check metrics <"$SCRATCH/body"
	expect_equal "type" "$(header Content-Type)" "text/plain; version=0.0.4; charset=utf-8"
	ask -H 'Accept: application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5' /metrics
	expect_equal "type" "$(header Content-Type)" \
		"application/openmetrics-text; version=1.0.0; charset=utf-8"
	expect_equal "last line" "$(tail -n 1 "$SCRATCH/body")" "# EOF"
	grep -q '^# TYPE xdp_limit_packets counter$' "$SCRATCH/body" || fail "no family xdp_limit_packets"
}

# The kernel measures while it serves, and no longer.
run_time() {
	topology neighbours
	run_policy <<<'limits: [{name: default, rate: 1/h, burst: 10}]'
	serve
	send --frame udp4 --count 100
	ask /metrics
	expect_at_least "runs" "$(metric_of xdp_limit_program_runs_total)" 100
	grep -Eq '^xdp_limit_program_run_seconds_total\{.*\} 0\.0*[1-9]' <<<"$BODY" || fail "no time: $BODY"
	stop "$SERVE"
	serve --no-run-time
	expect_equal "runs" "$(metric xdp_limit_program_runs_total)" none
}

# Cumulative buckets; each packet is measured.
histogram() {
	local counts

	topology neighbours
	run_policy <<<'{measure: 1, limits: [{name: default, rate: 1/h, burst: 10}]}'
	serve
	send --frame udp4 --count 100
	ask /metrics
	expect_equal "count" "$(metric_of xdp_limit_check_duration_seconds_count)" \
		"$(status_field .totals.packets)"
	expect_equal "up to infinity" "$(metric_of xdp_limit_check_duration_seconds_bucket 'le="[+]Inf"')" \
		"$(metric_of xdp_limit_check_duration_seconds_count)"
	counts=$(sed -n 's/^xdp_limit_check_duration_seconds_bucket.* //p' <<<"$BODY")
	expect_equal "buckets" "$(sort -n <<<"$counts")" "$counts"
	grep -q '_bucket{interface="rv0",le="3.2e-08"} ' <<<"$BODY" || fail "no bucket of 32 ns: $BODY"
	apply_policy <<<'limits: [{name: default, rate: 1/h, burst: 10}]'
	expect_equal "count" "$(metric xdp_limit_check_duration_seconds_count)" none
}

bans_counted() {
	topology neighbours
	run_policy <<<'limits: [{name: default, rate: 1/h, burst: 3, on-exceed: {ban: 1h}}]'
	serve
	send --frame udp4 --source 198.18.0.1 --count 10
	expect limit ban rv0 add 198.18.1.1 198.18.2.0/24 2001:db8::/48
	expect limit deny rv0 add 198.18.3.0/24
	expect limit ban rv0 add 198.18.4.1 --for 1ms
	ask /metrics
	expect_equal "bans" "$(metric_of xdp_limit_list_entries 'list="ban"')" \
		"$(limit ban rv0 list | wc -l)"
	expect_equal "bans" "$(metric_of xdp_limit_list_entries 'list="ban"')" 4
	expect_equal "denied" "$(metric_of xdp_limit_list_entries 'list="deny"')" 1
	expect_equal "banned packets" "$(metric_of xdp_limit_packets_total 'reason="banned"')" 6
	expect_code 200 /v1/ban
	expect_equal "/v1/ban" "$(jq -S 'map(.prefix)' <<<"$BODY")" \
		"$(limit ban rv0 list --json | jq -S 'map(.prefix)')"
}

# ---- what a client is told -----------------------------------------------------------------------
headers_of_get() {
	topology neighbours
	run_policy <<-'END'
		table: {sources: 1024}
		limits:
		  - {name: default, rate: 10/min, burst: 20}
		  - {name: hour, rate: 100/h, burst: 100}
		  - {name: bulk, rate: 1 Mbit/s, burst: 1 MiB}
	END
	serve
	expect_code 200 "/v1/auth?address=198.18.0.1"
	# Nothing is used of any: the slowest speaks.
	expect_equal "limit" "$(header X-RateLimit-Limit)" 100
	expect_equal "remaining" "$(header X-RateLimit-Remaining)" 100
	expect_equal "reset" "$(header X-RateLimit-Reset)" 0
	expect_equal "policy" "$(header RateLimit-Policy)" '"hour";q=100;w=3600'
	expect_equal "draft" "$(header RateLimit)" '"hour";r=100;t=0'
	expect_equal "retry" "$(header Retry-After)" ""
	send --frame udp4 --source 198.18.0.1 --count 15
	expect_code 200 "/v1/auth?address=198.18.0.1"
	expect_equal "limit" "$(header X-RateLimit-Limit)" 20
	expect_equal "remaining" "$(header X-RateLimit-Remaining)" 5
	expect_between "reset" "$(header X-RateLimit-Reset)" 80 90
	send --frame udp4 --source 198.18.0.1 --count 15
	expect_code 403 "/v1/auth?address=198.18.0.1"
	expect_equal "remaining" "$(header X-RateLimit-Remaining)" 0
	expect_between "retry" "$(header Retry-After)" 1 6
	expect_code 200 "/v1/get?address=198.18.0.1"
	expect_between "retry" "$(header Retry-After)" 1 6
	expect_equal "remaining" "$(body_field '.limits[] | select(.name == "default").remaining')" 0
	# One limit alone; of bytes with their unit.
	expect_code 200 "/v1/auth?address=198.18.0.1&limit=hour"
	expect_equal "remaining" "$(header X-RateLimit-Remaining)" 80
	expect_code 200 "/v1/auth?address=198.18.0.1&limit=bulk"
	expect_equal "policy" "$(header RateLimit-Policy)" '"bulk";q=1048576;w=9;qu="content-bytes"'
	# A neighbour is not limited.
	expect_code 200 "/v1/auth?address=198.18.0.2"
	expect_code 200 "/v1/auth?address=::ffff:198.18.0.2"
}

listed() {
	topology neighbours
	run_policy <<-'END'
		table: {sources: 1024}
		allow: [198.18.1.0/24]
		deny: [198.18.2.0/24]
		limits: [{name: default, rate: 1/h, burst: 20}]
	END
	serve
	expect limit ban rv0 add 198.18.3.1 --for 100s
	expect_code 200 "/v1/auth?address=198.18.1.1"
	expect_equal "limit" "$(header X-RateLimit-Limit)" ""
	expect_code 403 "/v1/auth?address=198.18.2.1"
	expect_equal "remaining" "$(header X-RateLimit-Remaining)" 0
	expect_equal "retry" "$(header Retry-After)" ""
	expect_code 403 "/v1/auth?address=198.18.3.1"
	expect_between "retry" "$(header Retry-After)" 90 100
}

# O-029: what only observes refuses nobody.
dry_run() {
	topology neighbours
	run_policy <<-'END'
		table: {sources: 1024}
		limits: [{name: soft, rate: 1/h, burst: 5, mode: observe}, {name: hard, rate: 1/h, burst: 100}]
	END
	serve
	send --frame udp4 --source 198.18.0.1 --count 20
	expect_code 200 "/v1/auth?address=198.18.0.1"
	expect_equal "who speaks" "$(header RateLimit | sed 's/;t=.*//')" '"hard";r=80'
	expect_code 200 "/v1/auth?address=198.18.0.1&limit=soft"
	expect_equal "remaining" "$(header X-RateLimit-Remaining)" 0
	apply_policy <<<'{dry-run: true, limits: [{name: hard, rate: 1/h, burst: 5}]}'
	send --frame udp4 --source 198.18.0.2 --count 20
	expect_code 200 "/v1/auth?address=198.18.0.2"
	expect_equal "remaining" "$(header X-RateLimit-Remaining)" 0
}

# ---- which interface -----------------------------------------------------------------------------
interfaces() {
	topology neighbours
	ip -n "$SRV" link add rv2 type veth peer name rv3
	ip -n "$SRV" link set rv2 up
	ip -n "$SRV" link set rv3 up
	serve
	refuses 404 'no limiter on any interface' /v1/status
	expect_equal "up" "$(metric xdp_limit_up)" none
	expect attach --rate 1/h --burst 50 --sources 1024
	expect_code 200 /v1/status
	expect_equal "interface" "$(body_field .interface)" rv0
	expect limit attach rv2 --rate 1/h --burst 50 --sources 1024
	refuses 400 'several interfaces' /v1/status
	expect_equal "interfaces" "$(body_field '.interfaces | sort | join(" ")')" "rv0 rv2"
	expect_code 200 "/v1/status?interface=rv2"
	expect_equal "interface" "$(body_field .interface)" rv2
	expect_equal "up" "$(metric xdp_limit_up)" 2
	# One goes: it is missed as long as its device is there.
	expect limit detach rv2
	refuses 404 'no limiter on rv2' "/v1/status?interface=rv2"
	ask /metrics
	expect_equal "rv2 is up" "$(metric_of xdp_limit_up 'interface="rv2"')" 0
	expect_equal "rv0 is up" "$(metric_of xdp_limit_up 'interface="rv0"')" 1
	ip -n "$SRV" link del rv2
	expect_equal "rv2 is up" "$(metric xdp_limit_up 'interface="rv2"')" none
	# It comes again, and another policy takes its place: still the same numbers.
	expect limit detach rv0
	refuses 404 'no limiter' /v1/status
	expect attach --rate 1/h --burst 50 --sources 1024
	expect_code 200 /v1/status
	stop "$SERVE"
	serve rv0 nosuch
	refuses 404 "not among the interfaces" "/v1/status?interface=rv1"
	refuses 400 'several interfaces' /v1/status
	expect_equal "nosuch is up" "$(metric xdp_limit_up 'interface="nosuch"')" 0
}

# ---- what is refused -----------------------------------------------------------------------------
wrong_input() {
	local code reason path

	topology neighbours
	run_policy <<<'limits: [{name: default, rate: 1/h, burst: 10}]'
	serve
	while read -r code reason path; do
		refuses "$code" "${reason//_/ }" "$path"
	done <<-'END'
		404 there_is_no /nosuch
		404 there_is_no /v1/status/
		404 there_is_no //metrics
		404 there_is_no /%2e%2e/etc/passwd
		400 takes_no_query /metrics?x=1
		400 unknown_key.*interface /v1/status?iface=rv0
		400 unknown_key /v1/status?top=3
		400 given_twice /v1/status?interface=rv0&interface=rv0
		400 no_value /v1/status?interface=
		400 no_value /v1/status?interface
		404 cannot_find /v1/status?interface=nosuch
		404 cannot_find /v1/status?interface=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
		404 cannot_find /v1/status?interface=%2e%2e
		404 no_limiter_on_lo /v1/status?interface=lo
		400 well-formed /v1/status?interface=%00
		400 well-formed /v1/status?interface=%ff
		400 well-formed /v1/status?interface=%zz
		400 well-formed /v1/status?interface=a%1b%5b2J
		400 no_address /v1/get
		400 no_address /v1/auth
		400 not_an_IPv4 /v1/get?address=300.0.0.1
		400 is_a_prefix /v1/get?address=192.0.2.0/24
		400 no_limit /v1/get?address=192.0.2.1&limit=nosuch
		400 no_limit /v1/sources?limit=nosuch
		400 order /v1/sources?by=size
		400 minimum /v1/sources?top=0
		400 10000 /v1/sources?top=10001
		400 top /v1/sources?top=-1
		400 not_an_IPv4 /v1/sources?address=x
	END
	refuses 414 'longer than 2048' "/v1/get?address=$(printf '%03000d' 0)"
	ask -H "X-Long: $(printf '%020000d' 0)" /metrics
	expect_equal "headers too long" "$CODE" 431
	refuses 405 'GET, HEAD' -X POST /v1/status
	expect_equal "allowed" "$(header Allow)" "GET, HEAD"
	refuses 405 'POST' -X PUT /v1/ban
	refuses 405 'GET' -X OPTIONS /metrics
	refuses 405 'GET' -X BREW /metrics
	refuses 421 'evil.example' -H 'Host: evil.example' /v1/status
	expect_code 200 -H 'Host: localhost:9' /v1/status
	expect_code 200 -H 'Host: [::1]' /v1/status
	expect_code 200 -I /v1/status
	# What is no HTTP at all ends with the connection, nothing else.
	printf 'rubbish\r\n\r\n' >"/dev/tcp/127.0.0.1/$PORT"
	printf '\x16\x03\x01\x02\x00\x01\x00' >"/dev/tcp/127.0.0.1/$PORT"
	expect_code 200 /v1/status
	expect_equal "CORS" "$(header Access-Control-Allow-Origin)" ""
}

# ---- writing -------------------------------------------------------------------------------------
writes() {
	topology neighbours
	run_policy <<<'limits: [{name: default, rate: 1/h, burst: 10}]'
	with_token
	serve --token-file "$SCRATCH/token"
	change POST ban '{"interface": "rv0", "prefixes": ["198.18.0.1", "2001:db8:5::/48"], "for": "10m"}'
	expect_equal "code: $BODY" "$CODE" 200
	expect_equal "added" "$(body_field '"\(.interface) \(.list) \(.added) \(.seconds)"')" "rv0 ban 2 600"
	expect_equal "ban" "$(limit ban rv0 list --json | jq -c '[.[].prefix] | sort')" \
		'["198.18.0.1","2001:db8:5::/48"]'
	send --frame udp4 --source 198.18.0.1 --count 4
	expect_equal "banned" "$(status_field .reasons.banned.packets)" 4
	change POST deny '{"prefixes": ["198.18.1.0/24"]}'
	expect_equal "seconds" "$(body_field .seconds)" null
	change POST allow '{"prefixes": ["198.18.1.7"]}'
	expect_equal "listed" "$(get_field 198.18.1.7 .listed) $(get_field 198.18.1.8 .listed)" \
		"allowed denied"
	change DELETE ban '{"prefixes": ["198.18.0.1", "198.18.0.9"]}'
	expect_equal "deleted" "$(body_field .deleted)" 1
	expect_equal "listed" "$(get_field 198.18.0.1 .listed)" null
	# Each is logged: who, what.
	grep -Eq '^xdp-limit: 127\.0\.0\.1:[0-9]+: rv0: add to ban 198\.18\.0\.1 for 10m$' "$SCRATCH/serve.log" ||
		fail "not logged: $(cat "$SCRATCH/serve.log")"
	grep -Eq 'rv0: add to ban 2001:db8:5::/48 for 10m$' "$SCRATCH/serve.log" || fail "not logged"
	grep -Eq 'rv0: delete from ban 198\.18\.0\.1$' "$SCRATCH/serve.log" || fail "not logged"
	! grep -q "$TOKEN" "$SCRATCH/serve.log" || fail "the token is in the log"
}

wrong_writes() {
	local code reason body list

	topology neighbours
	run_policy <<<'limits: [{name: default, rate: 1/h, burst: 10}]'
	serve
	refuses 403 'without --token-file' -X POST -d '{"prefixes": ["198.18.0.1"]}' /v1/ban
	stop "$SERVE"
	with_token
	serve --token-file "$SCRATCH/token"
	refuses 401 'needs the token' -X POST -d '{"prefixes": ["198.18.0.1"]}' /v1/ban
	expect_equal "challenge" "$(header WWW-Authenticate)" Bearer
	refuses 401 'needs the token' -X DELETE -H 'Authorization: Bearer x' -d '{}' /v1/ban
	refuses 401 'needs the token' -X POST -H "Authorization: Bearer ${TOKEN}x" -d '{}' /v1/ban
	refuses 401 'needs the token' -X POST -H "Authorization: Bearer ${TOKEN%?}" -d '{}' /v1/ban
	refuses 401 'needs the token' -X POST -H "Authorization: Basic $TOKEN" -d '{}' /v1/ban
	while read -r code reason body; do
		refuses "$code" "${reason//_/ }" -X POST -H "Authorization: Bearer $TOKEN" -d "$body" /v1/ban
	done <<-'END'
		400 nothing_to_change {}
		400 nothing_to_change {"prefixes": []}
		400 no_object []
		400 not_JSON {
		400 not_JSON {"prefixes": ["198.18.0.1"]} {}
		400 not_JSON {prefixes: []}
		400 unknown_key {"prefix": ["198.18.0.1"]}
		400 array_of_strings {"prefixes": "198.18.0.1"}
		400 array_of_strings {"prefixes": [1]}
		400 array_of_strings {"prefixes": ["198.18.0.1\u0000"]}
		400 not_an {"prefixes": ["198.18.0.1", "198.18.0.300"]}
		400 198.18.0.0/24 {"prefixes": ["198.18.0.1/24"]}
		400 "for" {"prefixes": ["198.18.0.1"], "for": 10}
		400 "for".*end_at_once {"prefixes": ["198.18.0.1"], "for": "0s"}
		400 "for" {"prefixes": ["198.18.0.1"], "for": "soon"}
		400 name {"interface": 3, "prefixes": ["198.18.0.1"]}
		404 cannot_find {"interface": "nosuch", "prefixes": ["198.18.0.1"]}
		404 no_limiter {"interface": "lo", "prefixes": ["198.18.0.1"]}
	END
	refuses 400 'POST' -X DELETE -H "Authorization: Bearer $TOKEN" \
		-d '{"prefixes": ["198.18.0.1"], "for": "1m"}' /v1/ban
	head -c 1100000 /dev/zero | tr '\0' ' ' >"$SCRATCH/large"
	refuses 413 'longer than 1048576' -X POST -H "Authorization: Bearer $TOKEN" \
		--data-binary "@$SCRATCH/large" /v1/ban
	refuses 413 'longer than 1048576' -X POST -H "Authorization: Bearer $TOKEN" \
		-H 'Transfer-Encoding: chunked' --data-binary "@$SCRATCH/large" /v1/ban
	for list in ban allow deny; do
		expect_equal "$list" "$(limit $list rv0 list --json | jq -c .)" '[]'
	done
}

token_files() {
	local mode

	topology neighbours
	with_token
	for mode in 640 604 660 606; do
		chmod "$mode" "$SCRATCH/token"
		expect_status 1 limit serve --listen 127.0.0.1:0 --token-file "$SCRATCH/token"
		expect_stderr 'others may read or write.*chmod 600'
	done
	chmod 600 "$SCRATCH/token"
	echo short >"$SCRATCH/token"
	expect_status 2 limit serve --listen 127.0.0.1:0 --token-file "$SCRATCH/token"
	expect_stderr '5 characters long'
	printf '%s\nmore\n' "$TOKEN" >"$SCRATCH/token"
	expect_status 2 limit serve --listen 127.0.0.1:0 --token-file "$SCRATCH/token"
	expect_stderr 'one line'
	expect_status 1 limit serve --listen 127.0.0.1:0 --token-file "$SCRATCH/nosuch"
	expect_status 2 limit serve --listen 127.0.0.1:0 --token-file "$SCRATCH"
}

# ---- where it listens ----------------------------------------------------------------------------
listeners() {
	topology neighbours
	run_policy <<<'limits: [{name: default, rate: 1/h, burst: 10}]'
	serve --socket "$SCRATCH/socket"
	expect_code 200 --unix-socket "$SCRATCH/socket" /v1/status
	expect_status 5 limit serve --listen none --socket "$SCRATCH/socket"
	expect_stderr 'Address already in use'
	expect_status 5 limit serve --listen "127.0.0.1:$PORT"
	expect_stderr 'Address already in use'
	kill -KILL "$SERVE"
	wait "$SERVE" || true
	expect test -S "$SCRATCH/socket"
	# What was left is replaced, and taken away at the end.
	background SERVE limit serve --listen none --socket "$SCRATCH/socket" 2>"$SCRATCH/serve.log"
	BASE=http://localhost
	wait_for 5 curl -sf --unix-socket "$SCRATCH/socket" http://localhost/v1/status
	stop "$SERVE"
	expect test ! -e "$SCRATCH/socket"
	echo kept >"$SCRATCH/file"
	expect_status 5 limit serve --listen none --socket "$SCRATCH/file"
	expect_equal "the file" "$(cat "$SCRATCH/file")" kept
	expect_status 2 limit serve --listen none
	for address in 10277 localhost:1 127.0.0.1 127.0.0.1:x 127.0.0.1:65536 ::1:80 ''; do
		expect_status 2 limit serve --listen "$address"
		expect_stderr 'no address with a port'
	done
}

# The listening socket belongs to where it was started, what is read to --netns.
other_namespace() {
	topology neighbours
	run_policy <<<'limits: [{name: default, rate: 1/h, burst: 10}]'
	serve
	expect_code 200 /v1/status
	! in_srv curl -s --max-time 2 "$BASE/v1/status" || fail "it listens in the other namespace"
}

ends() {
	local signal status

	topology neighbours
	run_policy <<<'limits: [{name: default, rate: 1/h, burst: 10}]'
	for signal in TERM INT; do
		serve
		expect_code 200 /v1/status
		kill -"$signal" "$SERVE"
		status=0
		wait "$SERVE" || status=$?
		expect_equal "status after SIG$signal" "$status" 0
		! grep -v 'serving on' "$SCRATCH/serve.log" || fail "something was said"
	done
}

privileges() {
	topology neighbours
	run_policy <<<'limits: [{name: default, rate: 1/h, burst: 10}]'
	serve
	expect_code 200 /v1/status
	expect_equal "capabilities" "$(awk '/^CapEff/ { print $2 }' "/proc/$SERVE/status")" \
		0000000000200000
	expect_equal "bounds" "$(awk '/^CapBnd/ { print $2 }' "/proc/$SERVE/status")" 0000000000200000
	expect_equal "no new privileges" "$(awk '/^NoNewPrivs/ { print $2 }' "/proc/$SERVE/status")" 1
}

# ---- nobody stops it -----------------------------------------------------------------------------
slow_clients() {
	local slow took start i

	topology neighbours
	run_policy <<<'limits: [{name: default, rate: 1/h, burst: 10}]'
	serve
	background slow "$SLOW" "$PORT" 1000 "$SCRATCH/ready"
	wait_for 20 test -e "$SCRATCH/ready"
	start=${EPOCHREALTIME/./}
	for ((i = 0; i < 20; i++)); do
		expect_code 200 /metrics
		expect_code 200 "/v1/get?address=192.0.2.1"
	done
	took=$((${EPOCHREALTIME/./} - start))
	note "40 answers beside 1000 slow clients in $((took / 1000)) ms"
	expect kill -0 "$slow"
	stop "$slow"
	expect_code 200 /metrics
}

few_descriptors() {
	local slow

	topology neighbours
	run_policy <<<'limits: [{name: default, rate: 1/h, burst: 10}]'
	(
		ulimit -n 256
		exec "$XDP_LIMIT" --netns "$SRV" serve --listen 127.0.0.1:0 2>"$SCRATCH/serve.log"
	) &
	SERVE=$!
	at_exit kill -KILL "$SERVE"
	wait_for 5 listening
	BASE=$(sed -n 's/.*serving on \(http:.*\)\/$/\1/p' "$SCRATCH/serve.log")
	background slow "$SLOW" "${BASE##*:}" 1000 "$SCRATCH/ready"
	wait_for 20 test -e "$SCRATCH/ready"
	expect_code 200 /metrics
	expect_code 200 /v1/status
}

# ---- readers change nothing ----------------------------------------------------------------------
# O-127: at the limit the same packets pass, whoever reads.
readers_cost_nothing() {
	local i

	topology neighbours
	run_policy <<-'END'
		table: {sources: 65536, new-sources: unlimited}
		limits: [{name: default, rate: 1/h, burst: 100000}]
	END
	send --frame udp4 --source 10.0.0.0/16 --sources 20000 --count 20000
	serve --top 10
	for i in 1 2 3; do
		# shellcheck disable=SC2016 # the other shell's
		background _ bash -c 'while :; do curl -s -o /dev/null "$0/metrics" "$0/v1/sources" \
			"$0/v1/get?address=192.0.2.10"; done' "$BASE"
	done
	send --frame udp4 --source 192.0.2.10 --count 150000 --rate 50000
	expect_equal "passed" "$(source_field 192.0.2.10 .passed_packets)" 100000
	expect_equal "dropped" "$(source_field 192.0.2.10 .dropped_packets)" 50000
	expect_equal "in the metrics" "$(metric xdp_limit_packets_total 'reason="over_limit"')" 50000
}

run_case "K10: command, JSON and metrics agree to the packet" numbers_agree
run_case "K10: reset --counters" after_reset
run_case "promtool check metrics, and OpenMetrics when asked for" promtool_likes_it
run_case "run time and run count, while it serves" run_time
run_case "the histogram of what a check takes" histogram
run_case "bans: of commands, of limits, ended" bans_counted
run_case "get and auth: the tightest limit speaks in the headers" headers_of_get
run_case "auth: allowed, denied, banned" listed
run_case "O-029: what observes refuses nobody" dry_run
run_case "none, one, several interfaces; they come and go" interfaces
run_case "wrong input gets a 4xx with a reason" wrong_input
run_case "writes with the token, logged" writes
run_case "wrong writes change nothing" wrong_writes
run_case "token files that are refused" token_files
run_case "Unix socket, taken addresses, wrong addresses" listeners
run_case "it listens where it was started" other_namespace
run_case "SIGTERM and SIGINT end it with status 0" ends
run_case "what it may do is dropped" privileges
run_case "1000 slow clients don't stop it" slow_clients
run_case "nor do they with few descriptors" few_descriptors
run_case "O-127: readers cost no packet" readers_cost_nothing
finish
