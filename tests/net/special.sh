#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A default gateway that is dropped or limited, and an own address that is let through, are told.
#
#	namespace $SRV: rv0                       namespace $CLI: rv1
#	default via 192.0.2.10 and 2001:db8:0:1::a, which are the client's
#
# shellcheck source-path=SCRIPTDIR source=../lib/policy.sh
. "$(dirname "$0")/../lib/policy.sh"

unset SSH_CONNECTION

# Fresh, lists included.
clean() {
	limit detach rv0 >/dev/null 2>&1 || true
}

# Of attach_it and apply_it each argument is a line of the policy.
write_policy() {
	printf '%s\n' 'table: {sources: 1024}' "$@" >"$SCRATCH/policy.yaml"
}

attach_it() {
	clean
	write_policy "$@"
	expect_status 0 attach --config "$SCRATCH/policy.yaml"
}

apply_it() {
	write_policy "$@"
	expect_status 0 limit apply rv0 "$SCRATCH/policy.yaml"
}

# said N REGEX: so many lines of stderr match
said() {
	local lines

	lines=$(grep -Ec -- "$2" <<<"$ERR") || true
	[ "$lines" -eq "$1" ] || fail "$lines lines of stderr match, not $1: $2"$'\n'"$ERR"
}

GATEWAY='the default gateway'
LIMITED='limits: [{name: a, rate: 100 pps}]'

# ---- attach and apply ----------------------------------------------------------------------------
limited_gateway() {
	attach_it 'limits: [{name: a, rate: 100 pps}, {name: b, rate: 1 MB/s}]'
	said 1 "^xdp-limit: $GATEWAY $CLI4 is limited .*\`xdp-limit allow rv0 add $CLI4\`"
	said 1 "^xdp-limit: $GATEWAY $CLI6 is limited "
	said 2 "$GATEWAY"
}

limited_by_options() {
	clean
	expect_status 0 attach --rate 100pps --sources 1024
	said 2 "$GATEWAY .* is limited like any other source"
}

# Not again with every change of the policy.
no_note_at_apply() {
	attach_it "$LIMITED"
	apply_it 'limits: [{name: a, rate: 200 pps}]'
	said 0 "$GATEWAY"
}

# What the note advises ends it.
advice_is_taken() {
	attach_it "allow: [$CLI4, '$CLI6']" "$LIMITED"
	said 0 "$GATEWAY"
	attach_it "$LIMITED"
	expect limit allow rv0 add "$CLI4"
	expect_status 0 attach --config "$SCRATCH/policy.yaml"
	said 0 "$CLI4"
	said 1 "$GATEWAY $CLI6 is limited"
}

no_limit_meets_it() {
	attach_it 'limits: [{name: a, match: {family: ipv6}, rate: 100 pps}]'
	said 0 "$GATEWAY $CLI4"
	said 1 "$GATEWAY $CLI6"
}

no_route_no_word() {
	topology neighbours
	attach_it "deny: [$CLI4]" "$LIMITED"
	said 0 "$GATEWAY"
}

# Through another interface it is not this limiter's.
route_elsewhere() {
	topology neighbours
	ip -n "$SRV" link add rv2 type veth peer name rv3
	ip -n "$SRV" address add 198.51.100.1/24 dev rv2
	ip -n "$SRV" link set rv2 up
	ip -n "$SRV" route add default via 198.51.100.2
	attach_it 'deny: [198.51.100.2]' 'allow: [198.51.100.1]' 'limits: [{name: a, rate: 1 pps}]'
	said 0 "$GATEWAY|own address"
}

multipath() {
	topology neighbours
	ip -n "$SRV" link add rv2 type veth peer name rv3
	ip -n "$SRV" address add 198.51.100.1/24 dev rv2
	ip -n "$SRV" link set rv2 up
	ip -n "$SRV" route add default nexthop via "$CLI4" nexthop via 198.51.100.2
	attach_it "$LIMITED"
	said 1 "$GATEWAY $CLI4 "
	said 1 "$GATEWAY"
}

# The bridge has the address and the route, its port the limiter.
bridge_port() {
	topology neighbours
	ip -n "$SRV" link add br0 type bridge
	ip -n "$SRV" address flush dev rv0
	ip -n "$SRV" link set rv0 master br0
	ip -n "$SRV" address add "$SRV4/24" dev br0
	ip -n "$SRV" link set br0 up
	ip -n "$SRV" route add default via "$CLI4"
	attach_it "allow: [$SRV4]" "$LIMITED"
	said 1 "$GATEWAY $CLI4 is limited"
	said 1 "warning: $SRV4 is this host's own address"
}

# Told, and done all the same; the advice then works.
denied_gateway() {
	attach_it 'deny: [192.0.2.0/24]' "$LIMITED"
	said 1 "warning: $GATEWAY $CLI4 is on the deny list \(192\.0\.2\.0/24\): .*allow: \[$CLI4\]"
	said 0 "$CLI4 is limited"
	passes 0 --frame udp4 --source "$CLI4" --count 3
	apply_it 'deny: [192.0.2.0/24]' "allow: [$CLI4]" "$LIMITED"
	said 0 "$CLI4"
	passes 3 --frame udp4 --source "$CLI4" --count 3
}

denied_at_apply() {
	attach_it "$LIMITED"
	apply_it "deny: [$CLI4]" "$LIMITED"
	said 1 "warning: $GATEWAY $CLI4 is on the deny list: "
	said 1 "$GATEWAY"
}

blocked_gateway() {
	attach_it 'tiers: [{name: bad, sources: [192.0.2.0/28]}]' \
		'limits: [{name: a, rate: 100 pps, tiers: {bad: block}}]'
	said 1 "warning: $GATEWAY $CLI4 is in the tier 'bad', which the limit 'a' blocks"
	passes 0 --frame udp4 --source "$CLI4" --count 3
	attach_it 'limits: [{name: a, rate: block}]'
	said 2 "warning: $GATEWAY .* is blocked by the limit 'a'"
	said 0 "is limited like"
}

own_address() {
	attach_it "allow: [$SRV4, '$SRV6']" "$LIMITED"
	said 1 "warning: $SRV4 and 1 more are this host's own addresses and on the allow list"
	attach_it "deny: [$SRV4]" "$LIMITED"
	said 0 "own address"
}

# ---- live lists ----------------------------------------------------------------------------------
# live LIST ARGUMENT...: add it
live() {
	expect_status 0 limit "$1" rv0 add "${@:2}"
}

# Runs the command that the warning names.
take_advice() {
	local advice

	# shellcheck disable=SC2016 # the backquotes of the warning
	advice=$(sed -n 's/.*: `xdp-limit \(.*\)`$/\1/p' <<<"$ERR")
	# shellcheck disable=SC2086 # words of a command
	expect limit $advice
}

live_lists() {
	attach_it 'limits: [{name: a, rate: 100 pps, burst: 1000}]'
	for list in deny ban; do
		for prefix in "$CLI4" 192.0.2.0/28; do
			live "$list" "$prefix"
			said 1 "warning: $GATEWAY $CLI4 is on the $list list"
			said 1 "$GATEWAY"
			passes 0 --frame udp4 --source "$CLI4" --count 3
			take_advice
			passes 3 --frame udp4 --source "$CLI4" --count 3
			limit "$list" rv0 del "$prefix" >/dev/null 2>&1
			limit allow rv0 del "$CLI4" >/dev/null 2>&1
		done
	done
}

# It is not dropped then, so there is nothing to say.
live_saved_by_allow() {
	attach_it "allow: [$CLI4]" "$LIMITED"
	live deny 192.0.2.0/28
	said 0 "$GATEWAY $CLI4"
	live ban 192.0.2.0/28
	said 1 "warning: $GATEWAY $CLI4 is on the ban list"
}

live_file() {
	attach_it "$LIMITED"
	printf '%s\n' 203.0.113.0/24 "$CLI4" "$SRV4" >"$SCRATCH/list"
	live deny --file "$SCRATCH/list" --for 1h
	said 1 "warning: $GATEWAY $CLI4 is on the deny list"
	said 1 "^xdp-limit: $SRV4 is this host's own address and on the deny list: harmless"
	said 2 .
	expect_stdout "3 on the deny list for 1h"
}

live_own_allowed() {
	attach_it "$LIMITED"
	live allow "$SRV4"
	said 1 "warning: $SRV4 is this host's own address and on the allow list: whoever forges it"
	live allow "$CLI4"
	said 0 .
}

live_others() {
	attach_it "$LIMITED"
	live deny 203.0.113.0/24
	said 0 .
	live ban 192.0.2.11
	said 0 .
}

topology neighbours
ip -n "$SRV" route add default via "$CLI4"
ip -n "$SRV" route add default via "$CLI6"

run_case "a limited gateway: one note of each family, not one per limit" limited_gateway
run_case "a limited gateway: with options instead of a file" limited_by_options
run_case "a limited gateway: not again at apply" no_note_at_apply
run_case "a limited gateway: both ways that the note names end it" advice_is_taken
run_case "a gateway that no limit can meet" no_limit_meets_it
run_case "no default route: nothing" no_route_no_word
run_case "a default route out of another interface: nothing" route_elsewhere
run_case "a default route of many hops: those of the interface" multipath
run_case "a port of a bridge: its addresses and routes" bridge_port
run_case "a denied gateway: a warning at attach, done; the advice helps" denied_gateway
run_case "a denied gateway: a warning at apply" denied_at_apply
run_case "a blocked gateway: by its tier, by the limit" blocked_gateway
run_case "an own address: a warning if allowed, nothing if denied" own_address
run_case "live deny and ban of the gateway: a warning, done; the advice helps" live_lists
run_case "live deny: an allow of the policy saves it, not from a ban" live_saved_by_allow
run_case "live deny of a file with both" live_file
run_case "live allow of an own address: a warning" live_own_allowed
run_case "live lists of others: nothing" live_others
finish
