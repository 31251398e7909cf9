# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# Two namespaces and a veth for tests of the whole program, on top of tap.sh (read that first).
#
#	   namespace $SRV                           namespace $CLI
#	+--------------------+                   +--------------------+
#	| rv0                |       veth        |                rv1 |
#	| 192.0.2.1/24       |===================|      192.0.2.10/24 |
#	| 2001:db8:0:1::1/64 |                   | 2001:db8:0:1::a/64 |
#	| 00:00:5e:00:53:01  |                   |  00:00:5e:00:53:02 |
#	+--------------------+                   +--------------------+
#	  the limiter is here                      frames are sent here
#
#	. "$(dirname "$0")/../lib/net.sh"
#
#	burst_only() {
#		topology
#		expect attach --rate 1/s --burst 50
#		send --frame udp4 --source "$CLI4" --count 80
#		expect_equal "passed" "$(status_field .totals.passed_packets)" 50
#	}
#	run_case "a burst of 50 lets 50 of 80 pass" burst_only
#	finish
#
# `topology` may be called in a case (fresh namespaces, removed with the case) or once before all
# cases of a file. Everything is removed by its own name or id: processes in the namespaces, pins,
# namespaces. Not a root user: the whole file is skipped.
#
#  topology [queues=N] [neighbours]   make it; sets SRV, CLI, SRV4, SRV6, CLI4, CLI6, SRV_MAC,
#                                     CLI_MAC, PINS. queues: of each end. neighbours: static ARP
#                                     and ND entries, so that nothing but the test is sent
#  veth [QUEUES]                      make rv0 and rv1 again, after they were removed; sets PINS
#  namespace NAME                     one more namespace; sets NAME to what it is really called
#  in_srv COMMAND..., in_cli COMMAND...
#                                     run inside
#  background VARIABLE COMMAND...     start it, its id in VARIABLE; killed at the end. COMMAND: a
#                                     program, or in_srv, in_cli, limit; not another function
#  stop PID                           SIGTERM and wait (SIGKILL after 5 s)
#
#  holder_start OPTION...             xdpl-hold holds rv0, with a foreign program or with ours
#  holder_kill                        SIGKILL
#
#  limit COMMAND...                   xdp-limit with --netns $SRV
#  attach [OPTION...]                 limit attach rv0
#  status_field FILTER                of `status rv0 --json`, through jq -r
#  source_field ADDRESS FILTER        of that source's first row of `sources rv0 --json`
#  get_field ADDRESS FILTER           of `get rv0 ADDRESS --json`
#  attached                           whether rv0 has an XDP program
#  pinned                             whether there are pins for rv0
#
#  send OPTION...                     xdpl-send on rv1 to $SRV_MAC; its JSON in SENT
#  sent FIELD                         of the last send
#  receive_start [OPTION...]          count at rv0 behind XDP (xdpl-send --receive; options
#                                     filter)
#  receive_stop                       sets RECEIVED to the number of frames, fails if any was
#                                     missed
#  settle [N]                         wait until rv0 has taken all frames (N since it was made)
#
# The kernels of both ends send a few MLD reports of their own (reason `control`), and ARP and ND
# without `neighbours`: count by source or by reason, not all frames.
# XDP_LIMIT and XDPL_SEND name other binaries.

_net_tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$_net_tests/lib/tap.sh"

XDP_LIMIT=${XDP_LIMIT:-$_net_tests/../build/xdp-limit}
XDPL_SEND=${XDPL_SEND:-$_net_tests/../build/tests/tools/xdpl-send}
HOLD=${HOLD:-$_net_tests/../build/tests/tools/xdpl-hold}
PIN_ROOT=/sys/fs/bpf/xdp-limit

SRV4=192.0.2.1
CLI4=192.0.2.10
SRV6=2001:db8:0:1::1
CLI6=2001:db8:0:1::a
SRV_MAC=00:00:5e:00:53:01
CLI_MAC=00:00:5e:00:53:02
SRV=
CLI=
PINS=
SENT=
RECEIVED=
_net_count=0
_net_receiver=

[ "$(id -u)" -eq 0 ] || skip "needs root"
for _net_tool in ip jq "$XDP_LIMIT" "$XDPL_SEND"; do
	[ "$(command -v "$_net_tool")" ] || skip "needs $_net_tool"
done

# ---- namespaces ----------------------------------------------------------------------------------
declare -A _net_inodes=()

_net_remove() {
	local name=$1 pid

	for pid in $(ip netns pids "$name" 2>/dev/null); do
		kill -KILL "$pid" 2>/dev/null
	done
	rm -rf "${PIN_ROOT:?}/${_net_inodes[$name]:-none}-"*
	ip netns del "$name" 2>/dev/null
}

# The runner finds what was left by the number of its run in the name.
namespace() {
	local name

	_net_count=$((_net_count + 1))
	name=${1,,}-${XDPL_RUN:-$$}-$BASHPID-$_net_count
	at_exit _net_remove "$name"
	ip netns add "$name" || fail "cannot make namespace $name"
	_net_inodes[$name]=$(stat -Lc %i "/run/netns/$name")
	ip -n "$name" link set lo up
	printf -v "$1" %s "$name"
}

_net_end() {
	local ns=$1 device=$2 mac=$3 v4=$4 v6=$5

	# Nothing but the test's own frames: no router solicitations, no address detection.
	ip netns exec "$ns" sysctl -qw "net.ipv6.conf.$device.accept_dad=0" \
		"net.ipv6.conf.$device.router_solicitations=0" \
		"net.ipv6.conf.$device.addr_gen_mode=1"
	ip -n "$ns" link set "$device" address "$mac" up
	ip -n "$ns" address add "$v4/24" dev "$device"
	ip -n "$ns" address add "$v6/64" dev "$device" nodad
}

_net_neighbours() {
	ip -n "$SRV" neighbour replace "$CLI4" lladdr "$CLI_MAC" dev rv0 nud permanent
	ip -n "$SRV" neighbour replace "$CLI6" lladdr "$CLI_MAC" dev rv0 nud permanent
	ip -n "$CLI" neighbour replace "$SRV4" lladdr "$SRV_MAC" dev rv1 nud permanent
	ip -n "$CLI" neighbour replace "$SRV6" lladdr "$SRV_MAC" dev rv1 nud permanent
}

topology() {
	local queues=1 neighbours='' option

	for option; do
		case $option in
		queues=*) queues=${option#queues=} ;;
		neighbours) neighbours=yes ;;
		*) fail "topology: what is '$option'?" ;;
		esac
	done
	namespace SRV
	namespace CLI
	veth "$queues"
	[ -z "$neighbours" ] || _net_neighbours
}

veth() {
	local queues=${1:-1}

	ip -n "$SRV" link add rv0 numrxqueues "$queues" numtxqueues "$queues" type veth \
		peer name rv1 numrxqueues "$queues" numtxqueues "$queues" netns "$CLI"
	_net_end "$SRV" rv0 "$SRV_MAC" "$SRV4" "$SRV6"
	_net_end "$CLI" rv1 "$CLI_MAC" "$CLI4" "$CLI6"
	wait_for 5 _net_carrier
	PINS=$PIN_ROOT/$(stat -Lc %i "/run/netns/$SRV")-$(in_srv cat /sys/class/net/rv0/ifindex)
}

_net_carrier() {
	in_srv grep -q 1 /sys/class/net/rv0/carrier && in_cli grep -q 1 /sys/class/net/rv1/carrier
}

in_srv() {
	ip netns exec "$SRV" "$@"
}

in_cli() {
	ip netns exec "$CLI" "$@"
}

# ---- processes -----------------------------------------------------------------------------------
# Becomes the command, so that its id is the one that `background` gives out.
_net_exec() {
	local word=$1
	shift

	case $word in
	in_srv) exec ip netns exec "$SRV" "$@" ;;
	in_cli) exec ip netns exec "$CLI" "$@" ;;
	limit) exec "$XDP_LIMIT" --netns "$SRV" "$@" ;;
	*) exec "$word" "$@" ;;
	esac
}

background() {
	local variable=$1
	shift

	_net_exec "$@" &
	printf -v "$variable" %s "$!"
	at_exit _net_kill "$!"
}

_net_kill() {
	kill -KILL "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

_net_gone() {
	! kill -0 "$1"
}

holder_start() {
	rm -f "$SCRATCH/ready"
	# Not `ip netns exec`, which hides the bpffs.
	background HOLDER nsenter --net="/run/netns/$SRV" "$HOLD" --ready "$SCRATCH/ready" "$@" rv0
	wait_for 5 test -e "$SCRATCH/ready"
}

holder_kill() {
	kill -KILL "$HOLDER"
	wait "$HOLDER" 2>/dev/null || true
}

stop() {
	kill -TERM "$1" 2>/dev/null || true
	(wait_for 5 _net_gone "$1") || kill -KILL "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}

# ---- the program ---------------------------------------------------------------------------------
limit() {
	"$XDP_LIMIT" --netns "$SRV" "$@"
}

attach() {
	limit attach rv0 "$@"
}

status_field() {
	limit status rv0 --json | jq -r "$1"
}

source_field() {
	limit sources rv0 "$1" --json | jq -r ".[0] | $2"
}

get_field() {
	limit get rv0 "$1" --json | jq -r "$2"
}

attached() {
	[ "$(ip -n "$SRV" -j link show dev rv0 | jq 'any(.[]; has("xdp"))')" = true ]
}

pinned() {
	[ -e "$PINS" ]
}

# hold_lock PINS: other tests' commands remove the pins of what is gone, but not while its lock is held
hold_lock() {
	exec {_net_lock}>>"/run/xdp-limit/${1##*/}.lock"
	flock "$_net_lock"
}

release_lock() {
	exec {_net_lock}>&-
}

# ---- traffic -------------------------------------------------------------------------------------
send() {
	local before

	before=$(_net_arrived)
	SENT=$(in_cli "$XDPL_SEND" -i rv1 --dst-mac "$SRV_MAC" --src-mac "$CLI_MAC" "$@") ||
		fail "xdpl-send failed: $*"
	settle $((before + $(sent sent)))
}

sent() {
	jq -r ".$1" <<<"$SENT"
}

receive_start() {
	rm -f "$SCRATCH/ready"
	background _net_receiver in_srv "$XDPL_SEND" -i rv0 --receive \
		--ready "$SCRATCH/ready" "$@" >"$SCRATCH/received"
	wait_for 5 test -e "$SCRATCH/ready"
}

receive_stop() {
	settle
	stop "$_net_receiver"
	expect_equal "frames that the receiver missed" "$(jq .lost "$SCRATCH/received")" 0
	# shellcheck disable=SC2034 # for the test
	RECEIVED=$(jq .received "$SCRATCH/received")
}

# Frames that rv0 has taken from rv1, and those that did not fit into its ring.
_net_arrived() {
	{
		ip -n "$SRV" -s -j link show dev rv0 | jq '.[0].stats64.rx.packets'
		ip -n "$CLI" -s -j link show dev rv1 | jq '.[0].stats64.tx.dropped'
	} | jq -s add
}

_net_settled() {
	[ "$(_net_arrived)" -ge "$1" ] &&
		# Generic mode runs behind the backlog of a CPU: its length is the 12th number.
		awk '$12 !~ /^0+$/ { busy = 1 } END { exit busy }' /proc/net/softnet_stat
}

# A veth hands frames over in a softirq that may run after the sender's system call.
settle() {
	wait_for 5 _net_settled "${1:-0}"
}
