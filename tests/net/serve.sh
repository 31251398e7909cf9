#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `serve`: that its numbers are those of the commands, and that reading them changes nothing.
# shellcheck source-path=SCRIPTDIR source=../lib/serve.sh disable=SC2317 # cases are called by name
. "$(dirname "$0")/../lib/serve.sh"

# Frames are made; reports of multicast groups would come when the client's kernel likes.
quiet_client() {
	in_cli sysctl -qw net.ipv6.conf.rv1.disable_ipv6=1
}

# ---- numbers -------------------------------------------------------------------------------------
# At a quiet moment command, JSON and metrics say the same, to the packet.
numbers_agree() {
	local reason status limit

	topology neighbours
	quiet_client
	run_policy <<-'END'
		table: {sources: 1024}
		deny: [198.18.9.0/24]
		limits:
		  - {name: default, rate: 1/h, burst: 50}
		  - {name: bulk, rate: 1 B/s, burst: 2 KiB, mode: observe}
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
	quiet_client
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
missing_interface() {
	topology neighbours
	expect attach --rate 1/h --burst 50 --sources 1024
	serve rv9
	grep -q "cannot find interface 'rv9'; .*; it will be seen when it appears" "$SCRATCH/serve.log" ||
		fail "$(cat "$SCRATCH/serve.log")"
	grep -q "no limiter is attached to what is served so far" "$SCRATCH/serve.log" ||
		fail "$(cat "$SCRATCH/serve.log")"
}

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

# What is none of ours can't be looked at without CAP_SYS_ADMIN, and is nobody's business here.
beside_a_foreign_program() {
	topology neighbours
	ip -n "$SRV" link add rv2 type veth peer name rv3
	ip -n "$SRV" link set rv2 up
	ip -n "$SRV" link set rv3 up
	expect limit attach rv2 --rate 1/h --burst 50 --sources 1024
	serve
	holder_start --link
	expect_code 200 /v1/status
	expect_equal "interface" "$(body_field .interface)" rv2
	ask /metrics
	expect_equal "rv2 is up" "$(metric_of xdp_limit_up 'interface="rv2"')" 1
	expect_equal "rv0 is up" "$(metric_of xdp_limit_up 'interface="rv0"')" none
	ask "/v1/status?interface=rv0"
	expect_between "code: $BODY" "$CODE" 404 503
	holder_kill
	expect limit attach rv0 --rate 1/h --burst 50 --sources 1024
	expect_code 200 "/v1/status?interface=rv0"
}

# ---- readers change nothing ----------------------------------------------------------------------
# O-127: at the limit the same packets pass, whoever reads.
readers_cost_nothing() {
	local i

	topology neighbours
	run_policy <<-'END'
		table: {sources: 1048576, new-sources: unlimited}
		limits: [{name: default, rate: 1/h, burst: 100000}]
	END
	send --frame udp4 --source 10.0.0.0/12 --sources 1000000 --count 1000000
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
run_case "a name that isn't there is said, and waited for" missing_interface
run_case "beside a foreign program" beside_a_foreign_program
run_case "O-127: readers cost no packet" readers_cost_nothing
finish
