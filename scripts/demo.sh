#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Shows what xdp-limit is for: a flood and an honest client, first without a limit, then with one.
#
#	namespace $CLI                 namespace $NET (a switch)            namespace $SRV
#	+-----------------+            +----------------------+            +------------------+
#	| cv0 192.0.2.10  |===========[cli                    |            | rv0 192.0.2.1    |
#	+-----------------+            |          br0      srv]============| 2001:db8:0:1::1  |
#	namespace $ATT                 |                      |            |                  |
#	+-----------------+            |                      |            | iperf3, port 5201|
#	| av0, raw frames |===========[att                    |            | the limiter: rv0 |
#	+-----------------+            +----------------------+            +------------------+
#
# The attacker sends TCP ACKs that belong to no connection to the client's port, from one IPv4 and
# one IPv6 address, as fast as one core can. The server receives on one core through one queue of
# 256 frames, as a small server with one receive queue does. Everything is counted by parties that
# are not xdp-limit: frames sent by the sender or at the switch, frames passed by nftables, which
# sees what XDP has let through; the limiter's own numbers must agree.
#
# Exit status 1 if the limiter dropped anything of the client's, or if the attacker did not get
# burst + rate * time. XDP_LIMIT, XDPL_SEND: other binaries. For root.
set -eu -o pipefail
cd "$(dirname "$0")/.."

xdp_limit=${XDP_LIMIT:-build/xdp-limit}
xdpl_send=${XDPL_SEND:-build/tests/tools/xdpl-send}
pin_root=/sys/fs/bpf/xdp-limit

RATE=20000 # packets per second and source; the burst is the default, one second of it
CLIENT_MBIT=100
CALM=2  # seconds of each half before the flood
FLOOD=5 # of flood
REST=2  # after it
IN_FLIGHT=0.02 # seconds that a frame may have waited in the queue
ASLEEP=0.15    # seconds that the attacker may have slept at the end, with tokens left

SRV4=192.0.2.1
SRV6=2001:db8:0:1::1
CLI4=192.0.2.10
ATT4=192.0.2.66
ATT6=2001:db8:0:66::66 # not the server's /64
SRV_MAC=00:00:5e:00:53:01
CLI_MAC=00:00:5e:00:53:02
ATT_MAC=00:00:5e:00:53:03

SRV=demo-srv-$$
CLI=demo-cli-$$
ATT=demo-att-$$
NET=demo-net-$$

cores=$(nproc)
attacker_core=0
server_core=$((1 % cores))
client_core=$((cores > 2 ? 2 : attacker_core))

# ---- start and end -------------------------------------------------------------------------------
declare -A inode_of=()
processes=()
scratch=

die() {
	echo "demo: $*" >&2
	exit 1
}

require() {
	command -v "$1" >/dev/null || die "needs $1: apt-get install $2"
}

# shellcheck disable=SC2317 # called by trap
clean_up() {
	local status=$? name pid pids

	trap '' INT TERM
	set +e
	for name in "${!inode_of[@]}"; do
		mapfile -t pids < <(ip netns pids "$name" 2>/dev/null)
		processes+=("${pids[@]}")
	done
	for pid in "${processes[@]}"; do
		kill -KILL "$pid"
	done 2>/dev/null
	wait 2>/dev/null
	for name in "${!inode_of[@]}"; do
		rm -rf "${pin_root:?}/${inode_of[$name]}-"*
		ip netns del "$name" 2>/dev/null
	done
	[ -z "$scratch" ] || rm -rf "$scratch"
	exit "$status"
}

start() {
	local program

	[ "$(id -u)" -eq 0 ] || die "needs root"
	require ip iproute2
	require nft nftables
	require iperf3 iperf3
	require jq jq
	require ethtool ethtool
	require bpftool bpftool
	require taskset util-linux
	require pgrep procps
	for program in "$xdp_limit" "$xdpl_send"; do
		[ -x "$program" ] || die "build first: make tests"
	done
	trap clean_up EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	scratch=$(mktemp -d)
	# The flood's sender stands for another machine: it must not keep this one from looking.
	renice -n -5 -p $$ >/dev/null
}

title() {
	printf '\n\033[1m== %s\033[0m\n\n' "$*"
}

# Shows a command as a user would type it, and runs it.
show() {
	printf '$ %s\n' "$*"
	"$@"
	echo
}

# ---- the network ---------------------------------------------------------------------------------
add_namespace() {
	inode_of[$1]=none # known to clean_up before it exists
	ip netns add "$1"
	inode_of[$1]=$(stat -Lc %i "/run/netns/$1")
	ip -n "$1" link set lo up
}

# add_host NAMESPACE DEVICE PORT MAC: plugs it into the switch
add_host() {
	ip -n "$1" link add "$2" type veth peer name "$3" netns "$NET"
	ip -n "$1" link set "$2" address "$4" up
	ip -n "$NET" link set "$3" master br0 up
}

queue_threads() {
	pgrep -x 'napi/rv0-.*' | sort || true
}

# On a veth the sender's core does the receiver's work. Here rv0 gets a queue and a thread of its
# own on the server's core, with XDP or without: then a flood meets the limits of a real receiver.
one_receive_queue() {
	local others thread

	others=$(queue_threads)
	# Without XDP a veth takes the way through the queue only for frames that are not merged.
	ip netns exec "$NET" ethtool -K srv tso off gso off
	ip netns exec "$CLI" ethtool -K cv0 tso off gso off
	ip netns exec "$SRV" ethtool -K rv0 gro on
	# And rv0 merges nothing, so that packets can be counted behind XDP.
	ip -n "$SRV" link set rv0 gro_max_size 1500
	ip netns exec "$SRV" sh -c 'echo 1 >/sys/class/net/rv0/threaded'
	for thread in $(comm -13 <(echo "$others") <(queue_threads)); do
		chrt -f -p 1 "$thread" # like a real one: above all programs
		taskset -pc "$server_core" "$thread" >/dev/null
	done
}

count_frames() {
	ip netns exec "$SRV" nft -f - <<-END
		table netdev demo {
			counter client { }
			counter attacker4 { }
			counter attacker6 { }
			chain passed {
				type filter hook ingress device rv0 priority 0
				ip saddr $CLI4 counter name client
				ip saddr $ATT4 counter name attacker4
				ip6 saddr $ATT6 counter name attacker6
			}
		}
	END
	ip netns exec "$NET" nft -f - <<-END
		table netdev demo {
			counter client { }
			chain sent {
				type filter hook ingress device cli priority 0
				ip saddr $CLI4 counter name client
			}
		}
	END
}

build_network() {
	local name

	for name in "$NET" "$SRV" "$CLI" "$ATT"; do
		add_namespace "$name"
	done
	ip -n "$NET" link add br0 up type bridge
	add_host "$SRV" rv0 srv "$SRV_MAC"
	add_host "$CLI" cv0 cli "$CLI_MAC"
	add_host "$ATT" av0 att "$ATT_MAC"
	ip -n "$SRV" address add "$SRV4/24" dev rv0
	ip -n "$SRV" address add "$SRV6/64" dev rv0 nodad
	ip -n "$SRV" route add 2001:db8::/32 dev rv0
	ip -n "$CLI" address add "$CLI4/24" dev cv0
	# The attacker answers nobody: its addresses exist in its frames only.
	ip -n "$SRV" neighbour add "$ATT4" lladdr "$ATT_MAC" dev rv0 nud permanent
	ip -n "$SRV" neighbour add "$ATT6" lladdr "$ATT_MAC" dev rv0 nud permanent
	one_receive_queue
	count_frames
	until ip netns exec "$CLI" ping -qc 1 -W 1 "$SRV4" >/dev/null; do :; done
}

# ---- one half ------------------------------------------------------------------------------------
# One line: frames passed of attacker4, attacker6, client; bytes passed of the client; frames sent
# by the client, lost in the queue, sent by the attacker; microseconds.
snapshot() {
	{
		ip netns exec "$SRV" nft -j list counters table netdev demo
		ip netns exec "$NET" nft -j list counters table netdev demo
		ip -n "$NET" -s -j link show
	} | jq -rs --arg now "${EPOCHREALTIME/./}" '
		def counter($name): .nftables[] | .counter // empty | select(.name == $name);
		def port($name): .[2][] | select(.ifname == $name) | .stats64;
		[(.[0] | counter("attacker4").packets, counter("attacker6").packets,
		  counter("client").packets, counter("client").bytes),
		 (.[1] | counter("client").packets),
		 port("srv").tx.dropped, port("att").rx.packets, $now] | @tsv'
}

live_line() {
	awk -v second="$1" -v before="$2" -v now="$3" -v note="$4" '
	function rate(i) { return (n[i] - b[i]) / (n[8] - b[8]) * 1e6 }
	BEGIN {
		split(before, b); split(now, n)
		printf "%4d s %12d %12d %12.1f %14d  %s\n", second, rate(7),
			rate(1) + rate(2), rate(4) * 8 / 1e6, rate(6), note
	}'
}

# shellcheck disable=SC2317 # called by spawn
flood() {
	local family=$1 source=$2 destination=$3 result=$4

	exec nice -n 5 ip netns exec "$ATT" taskset -c "$attacker_core" "$xdpl_send" -i av0 \
		--frame "tcp-ack$family" --source "$source" --dest "$destination" --dport 5201 \
		--src-mac "$ATT_MAC" --dst-mac "$SRV_MAC" --duration "$FLOOD" >"$result"
}

# Runs in the background; its id is the last of $processes.
spawn() {
	"$@" &
	processes+=($!)
}

sleep_until() {
	local left=$(($1 - ${EPOCHREALTIME/./}))

	[ "$left" -le 0 ] || sleep "$((left / 1000000)).$(printf %06d $((left % 1000000)))"
}

watch_half() {
	local second before now note start=${EPOCHREALTIME/./}

	printf '%6s %12s %12s %12s %14s\n' '' 'attacker' 'attacker' 'client' 'lost in the'
	printf '%6s %12s %12s %12s %14s\n' time 'sends /s' 'passes /s' 'Mbit/s' 'full queue /s'
	before=$(snapshot)
	for ((second = 1; second <= CALM + FLOOD + REST; second++)); do
		note=
		if [ "$second" -eq $((CALM + 1)) ]; then
			note='<- flood starts'
			spawn flood 4 "$ATT4" "$SRV4" "$1/attacker4"
			spawn flood 6 "$ATT6" "$SRV6" "$1/attacker6"
		elif [ "$second" -eq $((CALM + FLOOD + 1)) ]; then
			note='<- flood ends'
		fi
		if [ "$second" -eq $((CALM + FLOOD)) ] && [ "$1" = "$scratch/with" ]; then
			"$xdp_limit" get rv0 "$ATT4" --netns "$SRV" >"$1/get"
		fi
		sleep_until $((start + second * 1000000))
		now=$(snapshot)
		live_line "$second" "$before" "$now" "$note"
		before=$now
	done
}

# run_half NAME: leaves $scratch/NAME/{before,after,client,attacker4,attacker6}
run_half() {
	local directory=$scratch/$1 first=${#processes[@]} pid

	mkdir "$directory"
	spawn ip netns exec "$SRV" taskset -c "$server_core" iperf3 -s -1 >/dev/null
	until ip netns exec "$SRV" ss -Hltn 'sport = :5201' | grep -q .; do sleep 0.01; done
	snapshot >"$directory/before"
	spawn ip netns exec "$CLI" taskset -c "$client_core" iperf3 -J -c "$SRV4" \
		-t $((CALM + FLOOD + REST)) \
		-b "${CLIENT_MBIT}M" --fq-rate "$((CLIENT_MBIT * 6 / 5))M" \
		>"$directory/client"
	watch_half "$directory"
	for pid in "${processes[@]:first}"; do
		wait "$pid" || die "a part of the demo failed: $(head -c 300 "$directory/client")"
	done
	snapshot >"$directory/after"
	processes=("${processes[@]:0:first}")
}

# ---- tables --------------------------------------------------------------------------------------
# grown HALF COLUMN: of the snapshots
grown() {
	awk -v column="$2" 'NR == 1 { before = $column } NR == 2 { print $column - before }' \
		"$scratch/$1/before" "$scratch/$1/after"
}

flood_sent() {
	jq .sent "$scratch/$1/attacker$2"
}

# dropped HALF ADDRESS: by the limiter
dropped() {
	[ "$1" = with ] || { echo 0; return; }
	get_json "$2" '[.limits[].dropped_packets] | add'
}

get_json() {
	"$xdp_limit" get rv0 "$1" --netns "$SRV" --json | jq "$2"
}

source_row() {
	local half=$1 address=$2 sent=$3 passed=$4 limiter

	limiter=$(dropped "$half" "$address")
	printf '%-20s %12d %12d %12d %16d %14d\n' "$address" "$sent" "$passed" $((sent - passed)) \
		"$limiter" $((sent - passed - limiter))
}

source_table() {
	printf '%-20s %12s %12s %12s %16s %14s\n' source sent passed lost \
		'by the limiter' 'by the queue'
	source_row "$1" "$CLI4" "$(grown "$1" 5)" "$(grown "$1" 3)"
	source_row "$1" "$ATT4" "$(flood_sent "$1" 4)" "$(grown "$1" 1)"
	source_row "$1" "$ATT6" "$(flood_sent "$1" 6)" "$(grown "$1" 2)"
}

# Mbit/s that the server's iperf3 got while flooded and while not, and retransmitted segments
client_numbers() {
	jq -r --argjson from "$CALM" --argjson to $((CALM + FLOOD)) '
		def mbit: (map(.sum.bytes) | add // 0) * 8 / 1e6 /
			(map(.sum.seconds) | add // 1) * 10 | round / 10;
		[(.intervals | map(select(.sum.end <= $from + 0.5)) | mbit),
		(.intervals | map(select(.sum.start >= $from - 0.5 and .sum.end <= $to + 0.5)) |
			mbit),
		.end.sum_sent.retransmits] | @tsv' "$scratch/$1/client"
}

client_table() {
	local half calm flooded retransmitted

	printf '%-20s %16s %18s %16s\n' "the client's TCP" \
		'calm, Mbit/s' 'flooded, Mbit/s' 'retransmitted'
	for half in without with; do
		read -r calm flooded retransmitted < <(client_numbers "$half")
		printf '%-20s %16s %18s %16s\n' "$half the limiter" \
			"$calm" "$flooded" "$retransmitted"
	done
}

# ---- the promises --------------------------------------------------------------------------------
verdict=0

check() {
	if awk "BEGIN { exit !($2) }"; then
		printf '  ok      %s\n' "$1"
	else
		printf '  FAILED  %s (%s)\n' "$1" "$2"
		verdict=1
	fi
}

# Never more than burst + rate * time, and all of it, for one that sends far more.
check_attacker() {
	local family=$1 address=$2 passed=$3 burst seconds allowed counted

	burst=$(get_json "$address" '.limits[0].burst')
	counted=$(get_json "$address" '.limits[0].passed_packets')
	seconds=$(jq .seconds "$scratch/with/attacker$family")
	allowed=$(awk "BEGIN { printf \"%d\", $burst + $RATE * $seconds }")
	echo "$address: burst $burst + $RATE/s * $seconds s = $allowed packets; passed $passed"
	check "never more" "$passed <= $allowed + $RATE * $IN_FLIGHT"
	check "and all of it" "$passed >= $allowed - $RATE * $ASLEEP"
	check "the limiter counted what nftables counted behind it" "$counted == $passed"
}

check_promises() {
	check_attacker 4 "$ATT4" "$(grown with 1)"
	check_attacker 6 "$ATT6" "$(grown with 2)"
	echo "$CLI4, the client: $(grown with 3) packets passed"
	check "the limiter dropped none of them" "$(dropped with "$CLI4") == 0"
}

# ---- the story -----------------------------------------------------------------------------------
tell() {
	title "Without the limiter: $CALM s calm, $FLOOD s of flood, $REST s after it"
	run_half without

	title "With it: every source gets $RATE packets per second"
	show "$xdp_limit" attach rv0 --rate "${RATE}pps" --netns "$SRV"
	run_half with

	title "Without the limiter"
	source_table without
	title "With the limiter"
	source_table with
	title "The client"
	client_table

	title "What xdp-limit says"
	show "$xdp_limit" status rv0 --netns "$SRV"
	show "$xdp_limit" sources rv0 --netns "$SRV"
	echo "\$ $xdp_limit get rv0 $ATT4 --netns $SRV        (in the last second of the flood)"
	cat "$scratch/with/get"
	echo
	echo "\$ bpftool map dump pinned $(pin buckets)    (the newest counts are in tally_cache)"
	bpftool map dump pinned "$(pin buckets)" | sed -n '1,18p;19s/.*/.../p'

	title "Was it exact?"
	check_promises
}

pin() {
	local ifindex

	ifindex=$(ip -n "$SRV" -j link show dev rv0 | jq '.[0].ifindex')
	echo "$pin_root/${inode_of[$SRV]}-$ifindex/$1"
}

start
build_network
tell
exit "$verdict"
