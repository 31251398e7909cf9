#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Neighbours find each other while one of them floods, and what the host itself sends is not seen.
# shellcheck source-path=SCRIPTDIR source=../lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

RATE=20
FLOOD= # the process

flood_start() {
	background FLOOD in_cli "$XDPL_SEND" -i rv1 --dst-mac "$SRV_MAC" --frame "$1" \
		--source "$2" --rate $((RATE * 50)) >"$SCRATCH/flood"
	wait_for 5 over_limit
}

over_limit() {
	[ "$(status_field .reasons.over_limit.dropped_packets)" -gt "$RATE" ]
}

# resolved NAMESPACE DEVICE ADDRESS: it has an entry with a hardware address
resolved() {
	ip -n "$1" -j neighbour show dev "$2" | jq -e --arg address "$3" \
		'any(.[]; .dst == $address and has("lladdr"))'
}

forget_neighbours() {
	ip -n "$SRV" neighbour flush dev rv0
	ip -n "$CLI" neighbour flush dev rv1
}

expect_control_only_passed() {
	expect_at_least "control packets" "$(status_field .reasons.control.packets)" $(($1 + 1))
	expect_equal "control dropped" "$(status_field .reasons.control.dropped_packets)" 0
}

# The flood uses the very address that is asked for: its answer to the ping is over the limit like
# the rest, but both sides learn each other's hardware address.
resolves_under_flood() {
	local frame=$1 source=$2 server=$3 control ping

	topology
	attach --rate "${RATE}pps" --burst "$RATE"
	flood_start "$frame" "$source"
	control=$(status_field .reasons.control.packets)
	forget_neighbours
	background ping in_srv ping -n -i 0.3 -w 3 "$source" >/dev/null
	wait_for 3 resolved "$SRV" rv0 "$source"
	wait_for 3 resolved "$CLI" rv1 "$server"
	expect kill -0 "$FLOOD"
	expect_control_only_passed "$control"
	stop "$ping"
	stop "$FLOOD"
	[ "$(jq .sent "$SCRATCH/flood")" -gt "$RATE" ] || fail "no flood"
}

# The flood comes from somebody else behind the same link: pings are answered as well.
answers_under_flood() {
	local frame=$1 flooder=$2 client=$3 control

	topology
	attach --rate "${RATE}pps" --burst "$RATE" --ipv6-prefix 128
	flood_start "$frame" "$flooder"
	control=$(status_field .reasons.control.packets)
	forget_neighbours
	expect in_srv ping -n -c 3 -i 0.2 -w 3 "$client"
	expect kill -0 "$FLOOD"
	expect_control_only_passed "$control"
	expect_equal "dropped of the client" "$(source_field "$client" .dropped_packets)" 0
	stop "$FLOOD"
}

# ARP and ND of a source whose bucket is empty, to the packet. Nothing else may be sent meanwhile.
exhausted_source() {
	local control source

	topology neighbours
	attach --rate 1/h --burst 1
	send --frame P4U --count 5
	send --frame P6U --count 5
	control=$(status_field .reasons.control.packets)
	send --frame PARP --count 100
	send --frame PNS --count 100
	expect_at_least "control" "$(status_field .reasons.control.packets)" $((control + 200))
	expect_equal "control dropped" "$(status_field .reasons.control.dropped_packets)" 0
	for source in "$CLI4" "$CLI6"; do
		expect_equal "$source passed" "$(source_field "$source" .passed_packets)" 1
		expect_equal "$source dropped" "$(source_field "$source" .dropped_packets)" 4
	done
}

# Packets that were judged; control packets come from the kernel of the other side as well.
judged() {
	status_field '.totals.packets - .reasons.control.packets'
}

# To a hardware address that nobody has: the client's kernel has nothing to answer.
send_from_server() {
	expect in_srv "$XDPL_SEND" -i rv0 --src-mac "$SRV_MAC" --dst-mac 00:00:5e:00:53:77 \
		--count 500 "$@"
}

egress_is_not_seen() {
	topology neighbours
	attach --rate 10pps
	send --frame udp4 --count 3
	expect_equal "seen before" "$(judged)" 3
	send_from_server --frame udp4 --source "$SRV4" --dest "$CLI4"
	send_from_server --frame udp6 --source "$SRV6" --dest "$CLI6"
	settle
	expect_equal "seen after the server sent 1000" "$(judged)" 3
	expect_equal "sources" "$(limit sources rv0 --json | jq -r '.[].source')" "$CLI4"
	expect_status 0 limit status rv0
	expect_stdout 'ingress only'
}

run_case "O-024: ARP resolves in both directions under a flood of 50 times the rate" \
	resolves_under_flood udp4 "$CLI4" "$SRV4"
run_case "O-025: ND resolves in both directions under a flood of 50 times the rate" \
	resolves_under_flood udp6 "$CLI6" "$SRV6"
run_case "O-024: ping is answered while another source floods" \
	answers_under_flood udp4 192.0.2.66 "$CLI4"
run_case "O-025: ping6 is answered while another source floods" \
	answers_under_flood udp6 2001:db8:0:1::66 "$CLI6"
run_case "O-024: ARP and ND of an exhausted source pass and are not charged" exhausted_source
run_case "O-075: what the server itself sends is not seen" egress_is_not_seen
finish
