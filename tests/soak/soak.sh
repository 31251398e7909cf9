#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Random commands, kills and faults while traffic flows, and what must hold all the time.
#
#	SOAK_SECONDS=600 SOAK_SEED=1 tests/soak/soak.sh
#
# In mounts of its own, in rounds. A round begins with an attach that must succeed, whatever the round
# before left behind. Then traffic flows: a steady source that stays within every policy, a greedy one
# far above all of them, and in some rounds a flood of forged ones. Meanwhile steps: one command, or
# one thing taken away. What must hold:
#
#	a command ends within 10 s with a documented status, says why when it fails, and writes valid JSON
#	the sanitizers have nothing to say (half of the commands), nor has the kernel's log
#	counters add up; what is pinned is what runs; no *_new pins after a change that succeeded
#	the steady source loses nothing, but to a flood, a removed interface, or a frame in the ring of a
#	veth whose hook is emptied
#	the greedy source gets at most rate * time + a burst for each change, but where limiting ended
#	after detach --all no program and no map that ran is left
#
# The same seed makes the same steps; when a kill strikes, the machine decides.
# shellcheck source-path=SCRIPTDIR source=../lib/own_mounts.sh
. "$(dirname "$0")/../lib/own_mounts.sh"
# shellcheck source=../lib/policy.sh
. "$(dirname "$0")/../lib/policy.sh"

SOAK_SECONDS=${SOAK_SECONDS:-600}
SOAK_SEED=${SOAK_SEED:-$((${EPOCHREALTIME/./} % 1000000))}
SANITIZED=${SANITIZED:-$_net_tests/../build/asan/xdp-limit}
FAULTY=${FAULTY:-$_net_tests/../build/tests/xdp-limit-faults}
XDPL_IDS=${XDPL_IDS:-$_net_tests/../build/tests/tools/xdpl-ids}
for tool in "$SANITIZED" "$FAULTY" "$XDPL_IDS"; do
	[ -x "$tool" ] || skip "needs $tool: make soak"
done
export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99
unset SSH_CONNECTION
RANDOM=$SOAK_SEED

STEADY=192.0.2.10
STEADY_PPS=50
GREEDY=203.0.113.7
GREEDY_PPS=2000
# Every policy lets each source have 200 to 300 pps, and 100 to 200 at once.
MOST_PPS=300
MOST_AT_ONCE=600 # two of the largest windows
STEPS=20         # in a round
HANG=10

ROUND=0
STEP=0
KILLED=0
FAULTS=0
CHANGED=0     # changes that succeeded
RUNNING=lru   # the table that was seen last
declare -A PROGRAMS=() MAPS=()
# Maps `previous`. Of an array of programs without a pin the kernel loses count when it is opened and
# closed twice in a moment (prog_array_map_clear()): those are counted, and no violation.
declare -A ARRAYS=()
LOST=0

# ---- what this round may excuse ------------------------------------------------------------------
CHANGES=0   # that may have given the greedy source a fresh bucket
EMPTIED=0   # times that the hook may have been emptied
ENDED=      # limiting may have: what the greedy source gets says nothing
FLOOD=      # forged sources come
TORN=       # the interface went

violation() {
	note "seed $SOAK_SEED, round $ROUND, step $STEP: $*"
	note "the last steps:"
	note "$(tail -n 25 "$SCRATCH/steps")"
	note "stdout: $(head -c 2000 "$SCRATCH/out")"
	note "stderr: $(head -c 4000 "$SCRATCH/err")"
	fail "again: SOAK_SEED=$SOAK_SEED SOAK_SECONDS=$SOAK_SECONDS make soak"
}

step() {
	STEP=$((STEP + 1))
	echo "$ROUND.$STEP $*" >>"$SCRATCH/steps"
}

# Not in a subshell, which would draw the same numbers again.
draw() {
	DRAWN=$((RANDOM % $1))
}

# one_of WORD...: in ONE
one_of() {
	draw $#
	shift $DRAWN
	ONE=$1
}

# ---- commands ------------------------------------------------------------------------------------
FAULT_CALLS="bpf_link_create bpf_link_update bpf_map_create bpf_map_update_elem bpf_obj_pin
	bpf_object__load bpf_prog_bind_map flock mkdir rename unlinkat rmdir bpf_link_detach
	bpf_link_get_fd_by_id bpf_map_lookup_elem bpf_obj_get_info_by_fd bpf_prog_get_fd_by_id
	bpf_xdp_query"

# What else happens to a command: nothing mostly, or a kill, or a call that fails. In HOW and WITH.
draw_fate() {
	HOW=plain
	WITH=(timeout --kill-after=2 "$HANG" "$XDP_LIMIT")
	draw 10
	case $DRAWN in
	0 | 1)
		HOW=killed
		draw 30
		WITH=(timeout --signal=KILL "$(printf '0.%03d' $((DRAWN + 1)))" "$XDP_LIMIT")
		;;
	2)
		HOW=faulty
		# shellcheck disable=SC2086 # words
		one_of $FAULT_CALLS
		draw 12
		WITH=(env "FAULT=$ONE:$((DRAWN + 1)):ENOSPC" "${WITH[@]:0:3}" "$FAULTY")
		;;
	3)
		HOW=faulty
		# shellcheck disable=SC2086 # words
		one_of $FAULT_CALLS
		draw 12
		WITH=(env "FAULT=$ONE:$((DRAWN + 1)):SIGKILL" "${WITH[@]:0:3}" "$FAULTY")
		;;
	4 | 5 | 6) WITH=(timeout --kill-after=2 "$HANG" "$SANITIZED") ;;
	esac
}

run() {
	STATUS=0
	# The group's: what bash has to say of a kill.
	{
		"${WITH[@]}" --netns "$SRV" "$@" >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null || STATUS=$?
	} 2>/dev/null
	echo "    $HOW ${WITH[*]:0:3}: $STATUS" >>"$SCRATCH/steps"
	judge_run "$*"
}

judge_run() {
	if grep -Eq 'Sanitizer|runtime error' "$SCRATCH/err"; then
		violation "a sanitizer complains about: $1"
	fi
	case $STATUS in
	0 | 1 | 2 | 3 | 4 | 5) ;;
	137)
		[ "$HOW" != plain ] || violation "no end within $HANG s, or killed: $1"
		KILLED=$((KILLED + 1))
		return
		;;
	124) violation "no end within $HANG s: $1" ;;
	*) violation "status $STATUS: $1" ;;
	esac
	[ "$HOW" != faulty ] || FAULTS=$((FAULTS + 1))
	[ "$STATUS" -eq 0 ] || [ -s "$SCRATCH/out" ] || [ -s "$SCRATCH/err" ] ||
		violation "status $STATUS, and nothing said: $1"
	case $1 in
	*--json*)
		[ ! -s "$SCRATCH/out" ] || jq . "$SCRATCH/out" >/dev/null 2>&1 ||
			violation "no JSON: $1"
		;;
	esac
}

# try COMMAND...: whatever happens to it
try() {
	step "$*"
	draw_fate
	run "$@"
}

# must STATUSES COMMAND...: nothing happens to it, and it ends with one of these
must() {
	local wanted=$1
	shift

	step "$*"
	draw 2
	HOW=plain
	one_of "$XDP_LIMIT" "$SANITIZED"
	WITH=(timeout --kill-after=2 "$HANG" "$ONE")
	run "$@"
	case " $wanted " in
	*" $STATUS "*) ;;
	*) violation "status $STATUS, not one of $wanted: $*" ;;
	esac
}

# ---- policies ------------------------------------------------------------------------------------
draw_numbers() {
	draw 101
	RATE=$((200 + DRAWN))
	draw 101
	BURST=$((100 + DRAWN))
}

# Another algorithm is another limit, for which a table soon has no room.
ALGORITHMS="token-bucket token-bucket token-bucket token-bucket leaky-bucket fixed-window sliding-window"
FULL= # all limits, so that the table has room for each

# More limits that neither source comes near.
draw_more_limits() {
	local limit

	MORE=
	for limit in 'name: bulk, rate: 100 MB/s, burst: 10 MB' \
		'name: net, per: [source/24, source/48], rate: 50000 pps' \
		'name: total, per: interface, rate: 500000 pps, mode: observe' \
		'name: dns, match: {protocol: udp, destination-port: 53}, rate: 1 pps, on-exceed: {ban: 1m}' \
		'name: log, match: {protocol: tcp, tcp-flags: syn}, rate: 10/s, algorithm: sliding-log'; do
		draw 3
		[ "$DRAWN" -ne 0 ] && [ -z "$FULL" ] && continue
		case $TABLE-$limit in flat-*sliding-log) continue ;; esac
		MORE+=$'\n'"  - {$limit}"
	done
}

# In $SCRATCH/policy.yaml; TABLE is its type.
draw_policy() {
	local tiers=''

	TABLE=$1
	draw_numbers
	# shellcheck disable=SC2086 # words
	one_of $ALGORITHMS
	[ "$TABLE" != flat ] || ONE=token-bucket
	draw_more_limits
	draw 3
	[ "$DRAWN" -ne 0 ] || tiers="tiers: [{name: pro, sources: [198.51.100.0/25]}]"
	cat >"$SCRATCH/policy.yaml" <<-END
		table: {type: $TABLE, sources: 1024}
		deny: [198.51.100.66, 2001:db8:66::/48]
		allow: [198.51.100.128/25]
		$tiers
		limits:
		  - {name: default, rate: $RATE pps, $([ "${ONE#*-}" = window ] || echo "burst: $BURST packets,") algorithm: $ONE${tiers:+, tiers: {pro: unlimited\}}}$MORE
	END
}

draw_broken_policy() {
	draw_policy lru
	one_of 'surprise: 1' 'limits: []' 'table: {sources: 1}' $'\tx: 1' '"' '- 1' 'fragments: eat' '...' \
		'deny: [300.1.1.1]'
	case $ONE in
	...) head -c 100 /dev/zero >>"$SCRATCH/policy.yaml" ;;
	*) echo "$ONE" >>"$SCRATCH/policy.yaml" ;;
	esac
}

# ---- steps ---------------------------------------------------------------------------------------
changes() {
	CHANGES=$((CHANGES + $1))
}

empties() {
	EMPTIED=$((EMPTIED + 1))
	ENDED=yes
}

draw_options() {
	draw_numbers
	OPTIONS=(--rate "$RATE/s" --burst "$BURST" --sources 1024)
	one_of lru lru flat
	TABLE=$ONE
	draw 8
	[ "$DRAWN" -eq 0 ] || TABLE=$RUNNING
	OPTIONS+=(--table "$TABLE")
	draw 4
	[ "$DRAWN" -ne 0 ] || OPTIONS+=(--bytes 100MB/s)
}

# After a change that succeeded; a command may have met a running trial and changed nothing.
remember() {
	local id

	id=$(program_id)
	[ "$id" -ne 0 ] && [ -z "${PROGRAMS[$id]-}" ] || return 0
	PROGRAMS[$id]=yes
	for id in $(bpftool -j prog show id "$id" | jq '.map_ids[]?'); do
		MAPS[$id]=yes
	done
	if [ -e "$PINS/previous" ]; then
		ARRAYS[$(bpftool -j map show pinned "$PINS/previous" | jq .id)]=yes
	fi
}

changed() {
	[ "$STATUS" -eq 0 ] || return 0
	CHANGED=$((CHANGED + 1))
	remember
	[ -z "$(find "$PINS" -name '*_new' 2>/dev/null)" ] || violation "*_new pins are left"
	[ ! -e "$PINS/link" ] || [ "$(link_program)" = "$(program_id)" ] ||
		violation "the pinned link is not the one that runs"
}

link_program() {
	bpftool -j link show pinned "$PINS/link" | jq .prog_id
}

attach_options() {
	draw_options
	changes 1
	draw 3
	[ "$DRAWN" -ne 0 ] || OPTIONS+=(--recreate)
	draw 12
	case $DRAWN in
	0) OPTIONS+=(--dry-run) && ENDED=yes ;;
	1) OPTIONS+=(--mode generic) && empties ;;
	2) OPTIONS+=(--mode auto) && empties ;;
	esac
	try attach rv0 "${OPTIONS[@]}"
	changed
}

# A policy, and the options to bring it in: mostly for the table that is there, as far as we know.
draw_change() {
	local type

	one_of lru lru flat
	type=$ONE
	one_of --recreate --wait=1s --no-ssh-guard --wait=1s
	OPTION=$ONE
	draw 8
	[ "$OPTION" = --recreate ] || [ "$DRAWN" -eq 0 ] || type=$RUNNING
	draw_policy "$type"
	changes 1
}

attach_file() {
	draw_change
	try attach rv0 --config "$SCRATCH/policy.yaml" "$OPTION"
	changed
}

apply() {
	draw_change
	try apply rv0 "$SCRATCH/policy.yaml" "$OPTION"
	changed
}

apply_broken() {
	draw_broken_policy
	must "1 2 3 5" apply rv0 "$SCRATCH/policy.yaml"
	must 2 check "$SCRATCH/policy.yaml"
}

# Its end is another change; an attach where nothing runs ends in nothing.
trial() {
	draw_policy "$RUNNING"
	changes 2
	one_of attach apply
	if [ "$ONE" = attach ]; then
		try attach rv0 --config "$SCRATCH/policy.yaml" --confirm 1s
	else
		try apply rv0 "$SCRATCH/policy.yaml" --confirm 1s
	fi
	changed
}

confirm() {
	try confirm rv0
}

detach() {
	empties
	one_of rv0 --all rv0\ --if-attached
	# shellcheck disable=SC2086 # words
	try detach $ONE
}

reset() {
	changes 1
	one_of rv0 "rv0 $GREEDY" "rv0 --counters" "rv0 192.0.2.99"
	# shellcheck disable=SC2086 # words
	try reset $ONE
}

look() {
	one_of "status rv0 --json" "status --json" "status rv0 --check" "status rv0 --queues --json" \
		"sources rv0 --json" "sources rv0 --top 3 --by rate" "sources rv0 $GREEDY --json" \
		"get rv0 $GREEDY --json" "get rv0 198.51.100.9" "show rv0" "show rv0 --json" \
		"doctor rv0 --json" "ban rv0 list --json" "deny rv0 list --json" "allow rv0 list"
	# shellcheck disable=SC2086 # words
	try $ONE
}

# Never of the steady source.
list() {
	local list

	one_of ban deny allow
	list=$ONE
	one_of "add 198.51.100.$((RANDOM % 256))" "add 198.51.100.0/26 --for 1s" "add 2001:db8:9::/48 --for 2s" \
		"add --file $SCRATCH/list" "del --file $SCRATCH/list" "del 198.51.100.0/26" "list --json"
	# shellcheck disable=SC2086 # words
	try "$list" rv0 $ONE
}

take_pin() {
	local pin pins

	draw 100
	step "a pin is removed"
	pins=("$PINS"/*)
	pin=${pins[DRAWN % ${#pins[@]}]}
	echo "    $pin" >>"$SCRATCH/steps"
	rm -f "$pin"
	case $pin in */link) empties ;; esac
}

take_directory() {
	one_of "$PINS" "$PIN_ROOT" /run/xdp-limit
	step "$ONE is removed"
	rm -rf "$ONE"
	[ "$ONE" = /run/xdp-limit ] || empties
}

unmount() {
	step "the bpffs is unmounted"
	if bpffs_mounted; then
		bpffs_unmount
	fi
	empties
}

mount_over() {
	step "a bpffs is mounted"
	bpffs_mount
}

tear() {
	step "the interface is removed"
	ip -n "$SRV" link del rv0
	TORN=yes
	ENDED=yes
}

wait_a_moment() {
	draw 800
	step "wait $DRAWN ms"
	sleep "$(printf '0.%03d' "$DRAWN")"
}

COMMON="attach_options attach_file apply apply trial confirm look look look look list list list reset
	apply_broken wait_a_moment wait_a_moment take_pin"
RARE="detach take_directory unmount mount_over tear"

one_step() {
	draw 12
	# shellcheck disable=SC2086 # words
	if [ "$DRAWN" -eq 0 ] && [ "$CALM" -eq 0 ]; then
		one_of $RARE
	else
		one_of $COMMON
	fi
	"$ONE"
}

# ---- what must hold ------------------------------------------------------------------------------
adds_up() {
	must "0 1 3" status rv0 --json
	[ "$STATUS" -ne 3 ] || return 0
	jq -e '([.reasons[].packets] | add) == .totals.packets and
		.totals.passed_packets + .totals.dropped_packets == .totals.packets and
		(.interface == "rv0")' "$SCRATCH/out" >/dev/null ||
		violation "counters do not add up"
	RUNNING=$(jq -r .table.type "$SCRATCH/out")
}

fresh_bpffs() {
	while bpffs_mounted; do
		bpffs_unmount
	done
	bpffs_mount
}

ran_out() {
	[ -z "$("$XDPL_IDS" "$@")" ]
}

gone() {
	[ $# -eq 1 ] || (wait_for 5 ran_out "$@") || violation "$1 $("$XDPL_IDS" "$@" | paste -sd' ') left"
}

nothing_left() {
	local id

	must 0 detach --all
	[ "$(program_id)" -eq 0 ] || violation "a program is attached after detach --all"
	[ -z "$(find "$PIN_ROOT" -type f 2>/dev/null)" ] || violation "pins are left"
	fresh_bpffs # those below one that was mounted over hold their own pins
	for id in "${!ARRAYS[@]}"; do
		unset "MAPS[$id]"
	done
	gone prog "${!PROGRAMS[@]}"
	gone map "${!MAPS[@]}"
	LOST=$((LOST + $("$XDPL_IDS" map "${!ARRAYS[@]}" | wc -l)))
	PROGRAMS=() MAPS=() ARRAYS=()
}

kernel_warnings() {
	dmesg 2>/dev/null | awk -F '[][]' -v since="$LOG_SINCE" '$2 + 0 > since + 0' |
		grep -E 'WARNING:|BUG:|Oops|general protection' || true
}

# ---- traffic -------------------------------------------------------------------------------------
receiver() {
	rm -f "$SCRATCH/ready-$2"
	background "$1" in_srv "$XDPL_SEND" -i rv0 --receive --source "$3" --ready "$SCRATCH/ready-$2" \
		>"$SCRATCH/received-$2"
	wait_for 5 test -e "$SCRATCH/ready-$2"
}

sender() {
	local variable=$1 name=$2
	shift 2

	background "$variable" in_cli "$XDPL_SEND" -i rv1 --dst-mac "$SRV_MAC" --frame udp4 "$@" \
		>"$SCRATCH/sent-$name" 2>/dev/null
}

traffic_start() {
	receiver RECEIVES_STEADY steady "$STEADY"
	receiver RECEIVES_GREEDY greedy "$GREEDY"
	STARTED=${EPOCHREALTIME/./}
	sender SENDS_STEADY steady --source "$STEADY" --rate "$STEADY_PPS"
	sender SENDS_GREEDY greedy --source "$GREEDY" --rate "$GREEDY_PPS"
	[ -z "$FLOOD" ] || sender SENDS_FLOOD flood --source 10.0.0.0/8 --sources 20000 --rate 4000
}

traffic_stop() {
	local process

	for process in "$SENDS_STEADY" "$SENDS_GREEDY" ${FLOOD:+"$SENDS_FLOOD"}; do
		stop "$process"
	done
	ELAPSED=$((${EPOCHREALTIME/./} - STARTED))
	[ "$TORN" ] || settle
	stop "$RECEIVES_STEADY"
	stop "$RECEIVES_GREEDY"
}

count() {
	jq ".$2" "$SCRATCH/$1"
}

judge_steady() {
	local sent received

	sent=$(count sent-steady sent)
	received=$(count received-steady received)
	[ "$(count received-steady lost)" -eq 0 ] || return 0
	[ "$received" -ge $((sent - EMPTIED)) ] ||
		violation "the steady source lost $((sent - received)) of $sent packets"
}

judge_greedy() {
	local received bound

	received=$(count received-greedy received)
	bound=$((MOST_PPS * ELAPSED / 1000000 + MOST_PPS + (CHANGES + 1) * MOST_AT_ONCE))
	[ "$received" -le "$bound" ] ||
		violation "the greedy source got $received of $(count sent-greedy sent) packets," \
			"at most $bound in $((ELAPSED / 1000)) ms with $CHANGES changes"
}

# ---- rounds --------------------------------------------------------------------------------------
# Whatever the last round left: one program, all pins.
recover() {
	bpffs_mounted || bpffs_mount
	must "0 1 3" confirm rv0
	one_of lru lru flat
	RUNNING=$ONE
	FULL=yes
	draw_policy "$RUNNING"
	FULL=
	must 0 attach rv0 --config "$SCRATCH/policy.yaml" --recreate
	changed
	must 0 status rv0
	[ "$(attachments)" -eq 1 ] || violation "not one attachment"
}

one_round() {
	local i

	ROUND=$((ROUND + 1))
	CHANGES=0 EMPTIED=0 ENDED='' FLOOD='' TORN=''
	draw 4
	[ "$DRAWN" -ne 0 ] || FLOOD=yes
	draw 2
	CALM=$DRAWN # no rare steps: then the sources' packets say most
	recover
	traffic_start
	for ((i = 0; i < STEPS && ! ${#TORN}; i++)); do
		one_step
		[ $((i % 4)) -ne 0 ] || [ "$TORN" ] || adds_up
	done
	traffic_stop
	[ "$TORN" ] || [ "$FLOOD" ] || judge_steady
	[ "$ENDED" ] || judge_greedy
	[ -z "$(kernel_warnings)" ] || violation "the kernel warns: $(kernel_warnings)"
	if [ "$TORN" ]; then
		veth
		_net_neighbours
	fi
	draw 3
	[ "$DRAWN" -ne 0 ] || nothing_left
	: >"$SCRATCH/steps.old"
	tail -n 100 "$SCRATCH/steps" >"$SCRATCH/steps.old"
	mv "$SCRATCH/steps.old" "$SCRATCH/steps"
}

sum_up() {
	note "$1: $ROUND rounds, $STEP steps, $CHANGED changes, $KILLED killed, $FAULTS with a fault;" \
		"arrays that the kernel lost: $LOST"
}

soak() {
	local end said=0

	topology neighbours
	printf '198.51.100.%d\n2001:db8:7::%x/128\n' 1 1 2 2 3 3 >"$SCRATCH/list"
	: >"$SCRATCH/out"
	: >"$SCRATCH/err"
	LOG_SINCE=$(awk '{ print $1 }' /proc/uptime)
	end=$((SECONDS + SOAK_SECONDS))
	while [ "$SECONDS" -lt "$end" ]; do
		one_round
		if [ "$SECONDS" -ge $((said + 30)) ]; then
			said=$SECONDS
			sum_up "$SECONDS s"
		fi
	done
	bpffs_mounted || bpffs_mount
	nothing_left
	sum_up "done"
}

note "SOAK_SEED=$SOAK_SEED SOAK_SECONDS=$SOAK_SECONDS"
run_case "random commands, kills and faults while traffic flows" soak
finish
