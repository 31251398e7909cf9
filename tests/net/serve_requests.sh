#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `serve`: where it listens, what it refuses, and that nobody can stop it.
# shellcheck source-path=SCRIPTDIR source=../lib/serve.sh disable=SC2317 # cases are called by name
. "$(dirname "$0")/../lib/serve.sh"

TOKEN=0123456789abcdef0123456789abcdef
SLOW=$(dirname "$XDPL_SEND")/xdpl-slow

with_token() {
	echo "$TOKEN" >"$SCRATCH/token"
	chmod 600 "$SCRATCH/token"
}

# change METHOD LIST BODY: with the token
change() {
	ask -X "$1" -H "Authorization: Bearer $TOKEN" -d "$3" "/v1/$2"
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
		0000008000000000
	expect_equal "bounds" "$(awk '/^CapBnd/ { print $2 }' "/proc/$SERVE/status")" 0000008000000000
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
finish
