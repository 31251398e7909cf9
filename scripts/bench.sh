#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Measures the limiter beside its yardsticks and beside the kernel's own limiters, in one run.
#
#	scripts/bench.sh [--quick] [--check] [DIRECTORY]
#
#	--quick   a few seconds, numbers that mean nothing: to see that all of it still works
#	--check   exit status 1 when a target is missed
#
# Program cost: BPF_PROG_TEST_RUN, no network at all. End to end, on one CPU:
#
#	namespace $SENDER                       a namespace for each limiter
#	+------------------------+              +------------------------------------+
#	| BPF_PROG_TEST_RUN with | tx0      rx0 | floor: XDP_DROP                    |
#	| live frames, redirect  |==============| lru, flat: xdp-limit, native       |
#	|                        | tx1 ...  rx0 | hashlimit: iptables, raw PREROUTING |
#	|                        |==============| nftables: dynamic set, ingress     |
#	+------------------------+              +------------------------------------+
#
# Writes bench.json and bench-extra.json to DIRECTORY (build); docs/performance.md says how to read them.
# For root. BUILD: another directory than build.
set -eu -o pipefail
cd "$(dirname "$0")/.."

build=${BUILD:-build}
xdp_limit=$build/xdp-limit
bench_program=$build/tests/bench/bench-program
bench_path=$build/tests/bench/bench-path

ENTRIES=1048576 # of each limiter's table
LEAST=98        # percent of the frames that each limiter must have limited
SENDER=bench-tx-$$
MAC=00:00:5e:00:53:01 # where the frames go

effort=()
check=()
output=$build
for option; do
	case $option in
	--quick) effort=(--quick) ;;
	--check) check=(--strict) ;;
	-*)
		echo "bench: what is '$option'? Options: --quick, --check" >&2
		exit 2
		;;
	*) output=$option ;;
	esac
done

die() {
	echo "bench: $*" >&2
	exit 1
}

# ---- start and end -------------------------------------------------------------------------------
namespaces=()
scratch=

# shellcheck disable=SC2317 # called by trap
clean_up() {
	local status=$?

	trap '' INT TERM
	set +e
	remove_namespaces
	[ -z "$scratch" ] || rm -rf "$scratch"
	exit "$status"
}

remove_namespaces() {
	local name

	for name in "${namespaces[@]}"; do
		# Whatever it says: with the namespace all goes but pins.
		"$xdp_limit" detach --all --wait 30s --netns "$name" >/dev/null 2>&1 || :
		ip netns del "$name" || :
	done
	namespaces=()
}

# ---- end to end ----------------------------------------------------------------------------------
add_namespace() {
	ip netns add "$1"
	namespaces+=("$1")
	ip -n "$1" link set lo up
	# Nothing but the frames that are measured.
	ip netns exec "$1" sysctl -qw net.ipv6.conf.default.accept_dad=0 \
		net.ipv6.conf.default.router_solicitations=0 net.ipv6.conf.default.addr_gen_mode=1
}

# add_receiver NAMESPACE TX: GRO, without which a veth takes no redirected frames to its stack
add_receiver() {
	add_namespace "$1"
	ip -n "$1" link add rx0 address "$MAC" type veth peer name "$2" netns "$SENDER"
	ip netns exec "$1" ethtool -K rx0 gro on
	ip -n "$1" link set rx0 up
	ip -n "$SENDER" link set "$2" up
}

inside() {
	nsenter --net="/run/netns/$1" "${@:2}"
}

policy() {
	local type=$1 known=', new-sources: unlimited'

	# Invented sources meet the gate; and whoever comes again must have found a place before.
	if [ "$type" = flat ] || [ "$2" = spoofed ]; then known=; fi
	echo "table: {type: $type, sources: $ENTRIES$known}"
	echo 'limits: [{name: default, rate: 1/h, burst: 1}]'
}

limit_by_xdp_limit() {
	policy "$2" "$4" >"$scratch/policy.yaml"
	"$xdp_limit" attach rx0 --wait 30s --netns "$1" --config "$scratch/policy.yaml" >"$scratch/log" 2>&1 ||
		die "cannot attach: $(cat "$scratch/log")"
}

limit_by_floor() {
	"$bench_path" --discard "$1"
}

# The first hook that there is, before the stack's own work. The second rule drops what the set let
# through, so that nothing is paid for behind it, and counts it.
limit_by_nftables() {
	local family=$3 key='ip saddr' type=ipv4_addr

	if [ "$family" = 6 ]; then
		key='ip6 saddr & ffff:ffff:ffff:ffff::'
		type=ipv6_addr
	fi
	inside "$1" nft -f - <<-END
		table netdev bench {
			set sources { type $type; size $ENTRIES; flags dynamic; }
			counter others { }
			chain in {
				type filter hook ingress device rx0 priority 0
				add @sources { $key limit rate over 1/hour burst 1 packets } drop
				counter name others drop
			}
		}
	END
}

# iptables: the old ones, whose rules the kernel runs without a translation.
limit_by_hashlimit() {
	local family=$3 tool=iptables-legacy mask=()

	if [ "$family" = 6 ]; then
		tool=ip6tables-legacy
		mask=(--hashlimit-srcmask 64)
	fi
	inside "$1" "$tool" -t raw -A PREROUTING -m hashlimit --hashlimit-name bench \
		--hashlimit-mode srcip --hashlimit-above 1/hour --hashlimit-burst 1 "${mask[@]}" \
		--hashlimit-htable-size "$ENTRIES" --hashlimit-htable-max "$ENTRIES" \
		--hashlimit-htable-expire 7200000 --hashlimit-htable-gcinterval 600000 -j DROP
	inside "$1" "$tool" -t raw -A PREROUTING -j DROP
}

# Terse: else nft reads a million elements of the set first.
# let_through NAMESPACE LIMITER FAMILY: frames that a limiter did not limit, by its own counters
let_through() {
	local tool=iptables-legacy

	[ "$3" = 4 ] || tool=ip6tables-legacy
	case $2 in
	floor) echo 0 ;;
	lru | flat) "$xdp_limit" status rx0 --netns "$1" --json | jq .totals.passed_packets ;;
	nftables) inside "$1" nft --terse -j list counter netdev bench others |
		jq '.nftables[] | .counter // empty | .packets' ;;
	hashlimit) inside "$1" "$tool" -t raw -nvxL PREROUTING | awk 'NR == 4 { print $1 }' ;;
	esac
}

received() {
	inside "$1" ethtool -S rx0 | awk '$1 == "rx_queue_0_xdp_packets:" { print $2 }'
}

# Frames that the limiter let through at the start, when sources still had something left, are few.
check_mix() {
	local name=$1 limiter=$2 family=$3 sources=$4 all passed

	# An invented source has its first packet's worth: these let in what fits their tables.
	if [ "$sources" = spoofed ]; then
		case $limiter in floor | lru) ;; *) return ;; esac
	fi
	all=$(received "$name")
	passed=$(let_through "$name" "$limiter" "$family")
	awk -v all="$all" -v passed="$passed" -v first="$(first_packets "$sources")" \
		-v least="$LEAST" 'BEGIN { exit !((passed - first) * 100 <= all * (100 - least)) }' ||
		die "$limiter, $sources sources, IPv$family: $passed of $all frames were let through"
}

first_packets() {
	case $1 in
	1) echo 1 ;;
	1k) echo 1000 ;;
	64k) echo 64000 ;;
	1m) echo 1000000 ;;
	spoofed) echo $((ENTRIES / 2)) ;; # the gate's burst
	esac
}

# measure_path FAMILY SOURCES
measure_path() {
	local family=$1 sources=$2 limiter name paths=() number=0

	add_namespace "$SENDER"
	for limiter in "${limiters[@]}"; do
		name=bench-$limiter-$$
		add_receiver "$name" "tx$number"
		case $limiter in
		lru | flat) limit_by_xdp_limit "$name" "$limiter" "$family" "$sources" ;;
		*) "limit_by_$limiter" "$name" "$limiter" "$family" "$sources" ;;
		esac
		paths+=("$limiter=tx$number,$name")
		number=$((number + 1))
	done
	inside "$SENDER" "$bench_path" "${effort[@]}" "$family" "$sources" "${paths[@]}" >>"$scratch/rows"
	for limiter in "${limiters[@]}"; do
		[ "${effort[*]}" ] || check_mix "bench-$limiter-$$" "$limiter" "$family" "$sources"
	done
	for limiter in lru flat; do
		if [ "$sources" = 1m ] && [[ " ${limiters[*]} " == *" $limiter "* ]]; then
			measure_size "$limiter" "bench-$limiter-$$"
		fi
	done
	remove_namespaces
}

# size NAME NUMBER: for the targets, in bench-extra.json
size() {
	printf '{"kind": "size", "name": "%s", "value": %s}\n' "$1" "$2" >>"$scratch/rows"
}

seconds_of() {
	local start=${EPOCHREALTIME/./}

	"$@" >/dev/null
	awk -v start="$start" -v end="${EPOCHREALTIME/./}" 'BEGIN { print (end - start) / 1e6 }'
}

# A million buckets, now that they are there: what they take, and how soon they can be read.
measure_size() {
	local type=$1 name=$2 program bytes

	size "$type-dump-seconds" \
		"$(seconds_of "$xdp_limit" sources rx0 --netns "$name" --json)"
	size "$type-top-seconds" \
		"$(seconds_of "$xdp_limit" sources rx0 --netns "$name" --top 20)"
	program=$("$xdp_limit" status rx0 --netns "$name" --json | jq .program_id)
	bytes=$(bpftool -j map show | jq --argjson entries "$ENTRIES" \
		--arg table "$([ "$type" = flat ] && echo flat || echo buckets)" \
		--argjson maps "$(bpftool -j prog show id "$program" | jq .map_ids)" '
		[.[] | select(.id | IN($maps[])) | select(.name == $table) |
			.bytes_memlock][0] // empty | . / $entries')
	[ -z "$bytes" ] || size "$type-bytes-per-source" "$bytes"
}

measure_paths() {
	local sources columns=(1 1k 64k 1m spoofed)

	[ -z "${effort[*]}" ] || columns=(1k)
	for sources in "${columns[@]}"; do
		measure_path 4 "$sources"
	done
	measure_path 6 1k
}

# ---- all -----------------------------------------------------------------------------------------
has_flat() {
	"$xdp_limit" check <(policy flat 1) >/dev/null 2>&1
}

machine() {
	jq -n --arg cpu "$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)" \
		--arg kernel "$(uname -r)" --argjson cpus "$(nproc)" \
		--arg mitigations "$(cat /sys/devices/system/cpu/vulnerabilities/spectre_v2)" \
		--arg cache "$(getconf LEVEL2_CACHE_SIZE) $(getconf LEVEL3_CACHE_SIZE)" \
		--arg date "$(date -u +%F)" '$ARGS.named'
}

# The same sources, CPUs, family and kind: what floor costs there.
publish() {
	jq -s '
		map(select(.kind == "program" or .kind == "path")) | . as $rows | map(. as $row |
		($rows[] | select(.limiter == "floor" and .kind == $row.kind and
			.sources == $row.sources and .cpus == $row.cpus and
			.family == $row.family).ns_per_packet) as $floor |
		{kind, limiter, sources, cpus, family, ns_per_packet,
		 ratio_to_floor: (.ns_per_packet / $floor * 1000 | round / 1000)})' \
		"$scratch/rows" >"$output/bench.json"
	jq -s --argjson machine "$(machine)" '{machine: $machine, rows: .}' "$scratch/rows" \
		>"$output/bench-extra.json"
}

[ "$(id -u)" -eq 0 ] || die "needs root"
for program in "$xdp_limit" "$bench_program" "$bench_path"; do
	[ -x "$program" ] || die "build first: make bench"
done
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
scratch=$(mktemp -d)
limiters=(floor lru flat hashlimit nftables)
if ! has_flat; then
	limiters=(floor lru hashlimit nftables)
	echo "bench: this version has no flat table: left out"
fi
"$bench_program" "${effort[@]}" >"$scratch/rows"
measure_paths
publish
scripts/bench-table.sh "$output"
scripts/bench-bars.sh "${check[@]}" "$output"
