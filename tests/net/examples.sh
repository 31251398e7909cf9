#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The policies of docs/examples do what their comments promise, with the traffic they are for.
# shellcheck source-path=SCRIPTDIR source=../lib/policy.sh
. "$(dirname "$0")/../lib/policy.sh"

EXAMPLES=$_policy_tests/../docs/examples

# A smaller table would do as well here; it is part of what is tried.
example() {
	expect_status 0 "$XDP_LIMIT" check "$EXAMPLES/$1.yaml"
	expect_no_stderr .
	run_policy <"$EXAMPLES/$1.yaml"
	expect_ours
	expect limit show rv0
}

# passes_in WANT MORE OPTION...: WANT pass at once, and at most MORE that were refilled meanwhile
passes_in() {
	local want=$1 more=$2 before
	shift 2

	before=$(status_field '.totals.passed_packets - .reasons.control.packets')
	send "$@"
	expect_between "passed: $*" \
		$(($(status_field '.totals.passed_packets - .reasons.control.packets') - before)) \
		"$want" $((want + more))
}

# Every file there has its case below.
all_tried() {
	local file name

	for file in "$EXAMPLES"/*.yaml; do
		name=$(basename "$file" .yaml)
		grep -q "example $name\$" "$0" || fail "no case for $file"
	done
}

connect() {
	local want=$1 more=$2 source=$3 port=$4 count=$5 family=4
	shift 5

	[[ $source == *:* ]] && family=6
	passes_in "$want" "$more" --frame "tcp-syn$family" --source "$source" --dport "$port" \
		--count "$count" "$@"
}

api_tiers() {
	example api-tiers
	connect 20 1 203.0.113.9 443 100
	connect 200 2 198.51.100.1 443 1000
	connect 2000 5 198.51.100.65 80 5000
	connect 20000 80 198.51.100.129 443 30000
	connect 20 1 2001:db8:1::1 443 100
	connect 200 2 2001:db8:100:7::1 443 1000
	# What runs inside a connection, and health checks.
	passes 1000 --frame tcp-ack4 --source 203.0.113.9 --dport 443 --count 1000
	connect 1000 0 192.0.2.10 443 1000
	expect_equal "tier" "$(get_field 198.51.100.65 .tier)" pro
	expect_equal "refused" "$(get_limit 203.0.113.9 requests .remaining)" 0
	expect_between "full again in" "$(get_limit 203.0.113.9 requests .reset_seconds)" 110 120
	passes_in 4000 400 --frame udp4 --source 203.0.113.9 --dport 443 --size 1242 --count 10000
}

dns_authoritative() {
	example dns-authoritative
	# Ten questions a second are a busy resolver.
	passes 20 --frame udp4 --source 203.0.113.1 --dport 53 --count 20 --rate 100
	passes_in 200 50 --frame udp4 --source 203.0.113.2 --dport 53 --count 5000
	passes_in 10000 2500 --frame udp4 --source 192.0.2.53 --dport 53 --count 20000
	# The customer's whole /56, from 100 /64 of it.
	passes_in 2000 500 --frame udp6 --source 2001:db8:77::/56 --sources 100 --step 64 \
		--dport 53 --count 10000
	connect 40 5 203.0.113.3 53 1000
	passes_in 100 20 --frame udp4 --source 203.0.113.4 --sport 53 --dport 4000 --count 1000
	passes 0 --frame PFRAGN --count 10
}

game_server() {
	example game-server
	# Eight players at 60 ticks behind one address, for half a second.
	passes 240 --frame udp4 --source 203.0.113.1 --dport 27001 --size 150 --count 240 --rate 480
	passes_in 1200 400 --frame udp4 --source 203.0.113.2 --dport 27001 --size 100 --count 20000
	passes_in 200 60 --frame udp4 --source 203.0.113.3 --dport 27015 --size 67 --count 1000
	passes_in 416 160 --frame udp4 --source 203.0.113.4 --dport 27001 --size 1200 --count 2000
	expect_at_least "dropped by bandwidth" "$(limit_field bandwidth .dropped_packets)" 1000
	# Throttled, never shut out.
	passes 200 --frame tcp-ack4 --source 203.0.113.2 --dport 22 --count 200
	expect_equal "bans" "$(limit ban rv0 list --json | jq length)" 0
}

mail_server() {
	example mail-server
	connect 60 1 203.0.113.1 25 500
	connect 1200 20 198.51.100.1 25 3000
	connect 500 0 192.0.2.25 25 500
	# A guesser: so many passwords a minute, on all ports together.
	connect 20 0 203.0.113.2 993 25
	connect 0 0 203.0.113.2 587 25
	expect_equal "bans" "$(limit ban rv0 list --json | jq length)" 0
}

web_syn_flood() {
	example web-syn-flood
	connect 100 10 203.0.112.1 443 300
	passes 0 --frame tcp-syn4 --source 203.0.113.1 --dport 443 --count 100
	# A page with all that belongs to it.
	connect 30 0 203.0.112.2 443 30
	passes 2000 --frame tcp-ack4 --source 203.0.112.2 --dport 443 --count 2000 --rate 10000
	# Another port has no limit of connections, but for the flood.
	connect 1000 100 203.0.112.3 8080 3000
	passes 0 --frame tcp-ack4 --source 203.0.112.3 --dport 443 --count 100
	expect_equal "bans" "$(limit ban rv0 list --json | jq -c '[.[].prefix]')" '["203.0.112.3"]'
	# Forged sources, each once: no table is filled by them beyond what the gate lets in.
	send --frame tcp-syn4 --source 10.0.0.0/8 --sources 100000 --dport 443 --count 100000
	expect_at_most "buckets" "$(status_field .table.used)" 420000
	connect 30 0 203.0.112.4 443 30
	passes_in 50 15 --frame icmp4 --source 203.0.112.5 --count 200
}

topology neighbours
run_case "each example has a case here" all_tried
run_case "api-tiers: each plan gets what it pays for, at once" api_tiers
run_case "dns-authoritative: resolvers are answered, reflections are cut" dns_authoritative
run_case "game-server: a household plays, floods are throttled" game_server
run_case "mail-server: senders deliver, guessers don't" mail_server
run_case "web-syn-flood: visitors are served in it" web_syn_flood
finish
