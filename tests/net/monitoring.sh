#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What docs/monitoring ships, with a real Prometheus and a real nginx beside the limiter:
#
#	namespace $CLI                  namespace $SRV
#	+----------------+             +-------------------------------------------+
#	| rv1, a client  |=============| rv0, limited; nginx on port 80            |
#	+----------------+             +---------|---------------------------------+
#	                         a Unix socket   |
#	                               serve, reads in $SRV <--- Prometheus, loopback of this machine
# Cases are called by name; `serve` needs no words.
# shellcheck source-path=SCRIPTDIR source=../lib/serve.sh disable=SC2317,SC2119
. "$(dirname "$0")/../lib/serve.sh"

TESTS=$(cd "$(dirname "$0")/.." && pwd)
SHIPPED=$TESTS/../docs/monitoring
PROMETHEUS_PORT=
ANSWER=
CONNECTION=()

needs() {
	[ "$(command -v "$1")" ] || skip "needs $1 (Debian package $2)"
}

# ---- Prometheus ----------------------------------------------------------------------------------
rules_hold() {
	needs promtool prometheus
	expect promtool check rules "$SHIPPED/alerts.yaml"
	(cd "$TESTS/monitoring" && expect promtool test rules alerts_test.yaml) || fail "see above"
}

# metrics_in FILE: the names that its expressions use
metrics_in() {
	grep -o 'xdp_limit_[a-z_]*' "$1" | sort -u
}

# What alerts and dashboard ask for is there to be scraped, some of it with one type of table alone.
names_exist() {
	local name type

	topology neighbours
	serve
	for type in lru flat; do
		run_policy <<-END
			measure: 1
			table: {sources: 1024, type: $type}
			limits: [{name: default, rate: 1/h, burst: 50}]
		END
		send --frame udp4 --count 80
		ask /metrics
		echo "$BODY" >>"$SCRATCH/metrics"
	done
	for name in $(metrics_in "$SHIPPED/alerts.yaml") $(metrics_in "$SHIPPED/grafana.json"); do
		grep -q "^${name}[{ ]" "$SCRATCH/metrics" || fail "no metric $name"
	done
	expect jq -e '.panels | length > 10 and all(.[]; .targets | length > 0)' "$SHIPPED/grafana.json"
}

# query EXPRESSION: what Prometheus says, as a number; empty for nothing
query() {
	curl -sS --get --data-urlencode "query=$1" "http://127.0.0.1:$PROMETHEUS_PORT/api/v1/query" |
		jq -r '.data.result[0].value[1] // empty'
}

query_is() {
	[ "$(query "$1")" = "$2" ]
}

prometheus_start() {
	mkdir -p "$SCRATCH/prometheus"
	cat >"$SCRATCH/prometheus.yml" <<-END
		global: {scrape_interval: 1s, evaluation_interval: 1s}
		rule_files: [$SHIPPED/alerts.yaml]
		scrape_configs: [{job_name: xdp-limit, static_configs: [{targets: ['127.0.0.1:$PORT']}]}]
	END
	expect promtool check config "$SCRATCH/prometheus.yml"
	background _ prometheus --config.file="$SCRATCH/prometheus.yml" --log.level=warn \
		--storage.tsdb.path="$SCRATCH/prometheus" --web.listen-address=127.0.0.1:0 \
		>"$SCRATCH/prometheus.log" 2>&1
	wait_for 20 prometheus_listens "$!"
}

# Its port is the kernel's choice too; it does not say it, so the kernel is asked.
prometheus_listens() {
	PROMETHEUS_PORT=$(ss -Hltnp | sed -n "s/.*127\.0\.0\.1:\([0-9]*\) .*pid=$1,.*/\1/p" | head -n 1)
	[ "$PROMETHEUS_PORT" ] && curl -sSf "http://127.0.0.1:$PROMETHEUS_PORT/-/ready"
}

scraped() {
	needs prometheus prometheus
	topology neighbours
	run_policy <<<'limits: [{name: default, rate: 1/h, burst: 50}]'
	serve rv0
	send --frame udp4 --count 80
	prometheus_start
	wait_for 20 query_is 'xdp_limit_up{interface="rv0"}' 1
	wait_for 10 query_is 'sum(xdp_limit_packets_total)' "$(status_field .totals.packets)"
	expect_equal "dropped" "$(query 'sum(xdp_limit_packets_total{verdict="dropped"})')" \
		"$(status_field .totals.dropped_packets)"
	expect_equal "rules that failed" "$(curl -sS "http://127.0.0.1:$PROMETHEUS_PORT/api/v1/rules" |
		jq '[.data.groups[].rules[] | select(.health == "err")] | length')" 0
	expect limit detach rv0
	wait_for 20 query_is 'xdp_limit_up{interface="rv0"}' 0
	wait_for 20 query_is 'ALERTS{alertname="XdpLimitDown", alertstate="pending"}' 1
}

# ---- nginx ---------------------------------------------------------------------------------------
nginx_start() {
	mkdir -p "$SCRATCH/www" "$SCRATCH/nginx"
	chmod 755 "$SCRATCH"
	echo hello >"$SCRATCH/www/index.html"
	{
		echo "user root; pid $SCRATCH/nginx/pid; error_log $SCRATCH/nginx/error.log;"
		echo 'events {} http { access_log off;'
		for path in client_body proxy fastcgi uwsgi scgi; do
			echo "${path}_temp_path $SCRATCH/nginx/$path;"
		done
		sed -e "s,server 127.0.0.1:10277;,server unix:$SCRATCH/serve.sock;," \
			-e "s,root /var/www/html;,root $SCRATCH/www;," "$SHIPPED/nginx.conf"
		echo '}'
	} >"$SCRATCH/nginx.conf"
	background _ in_srv nginx -c "$SCRATCH/nginx.conf" -g 'daemon off;' 2>"$SCRATCH/nginx.log"
	wait_for 10 in_srv curl -sSf -o /dev/null "http://192.0.2.1/"
}

# A connection from the client's namespace to nginx, until the test ends
connect() {
	coproc CONNECTION { _net_exec in_cli bash -c \
		'exec 3<>/dev/tcp/192.0.2.1/80; cat <&3 & cat >&3'; }
	at_exit _net_kill "$CONNECTION_PID"
}

# Over that connection: sets ANSWER, the head of what comes back
request() {
	local line _body

	printf 'GET / HTTP/1.1\r\nHost: 192.0.2.1\r\n\r\n' >&"${CONNECTION[1]}"
	ANSWER=
	while IFS= read -r -t 5 -u "${CONNECTION[0]}" line && [ "${line%$'\r'}" ]; do
		ANSWER+=${line%$'\r'}$'\n'
	done
	[ "$ANSWER" ] || fail "nginx does not answer"
	read -r -t 5 -N "$(field Content-Length)" -u "${CONNECTION[0]}" _body || true
}

field() {
	sed -n "s/^$1: //Ip" <<<"$ANSWER"
}

# The next connection costs one of them, and is told 429 with the last.
two_left() {
	request
	[[ $ANSWER == "HTTP/1.1 200 "* ]] && [ "$(field X-RateLimit-Remaining)" = 2 ]
}

# Told on a connection that is open, since nobody answers a packet that is dropped; and let in again.
nginx_tells() {
	needs nginx nginx-light
	topology neighbours
	background _ limit serve --listen none --socket "$SCRATCH/serve.sock" 2>"$SCRATCH/serve.log"
	wait_for 5 test -S "$SCRATCH/serve.sock"
	nginx_start
	run_policy <<<'limits: [{name: connections, match: {tcp-flags: syn}, rate: 10/min, burst: 3}]'
	connect
	request
	expect_equal "status" "$(head -n 1 <<<"$ANSWER")" "HTTP/1.1 200 OK"
	expect_equal "limit" "$(field X-RateLimit-Limit)" 3
	expect_equal "remaining" "$(field X-RateLimit-Remaining)" 2
	expect_equal "policy" "$(field RateLimit-Policy)" '"connections";q=3;w=18'
	expect_equal "retry" "$(field Retry-After)" ""
	send --frame tcp-syn4 --source "$CLI4" --dport 80 --count 5
	request
	expect_equal "status" "$(head -n 1 <<<"$ANSWER")" "HTTP/1.1 429 Too Many Requests"
	expect_equal "remaining" "$(field X-RateLimit-Remaining)" 0
	expect_between "retry" "$(field Retry-After)" 1 6
	wait_for 20 two_left
	expect_equal "a new connection" "$(in_cli curl -sS --max-time 5 "http://192.0.2.1/")" hello
}

# When serve is not there, nginx lets all in; the kernel limits all the same.
nginx_alone() {
	needs nginx nginx-light
	topology neighbours
	background SERVE limit serve --listen none --socket "$SCRATCH/serve.sock" 2>"$SCRATCH/serve.log"
	wait_for 5 test -S "$SCRATCH/serve.sock"
	nginx_start
	connect
	request
	expect_equal "without a limiter" "$(head -n 1 <<<"$ANSWER")" "HTTP/1.1 200 OK"
	expect_equal "limit" "$(field X-RateLimit-Limit)" ""
	stop "$SERVE"
	request
	expect_equal "without serve" "$(head -n 1 <<<"$ANSWER")" "HTTP/1.1 200 OK"
}

run_case "the alerts fire when they should, and only then" rules_hold
run_case "alerts and dashboard use metrics that there are" names_exist
run_case "a Prometheus scrapes the numbers of status" scraped
run_case "nginx tells a limited client 429, and lets it in again" nginx_tells
run_case "nginx without limiter or serve lets all in" nginx_alone
finish
