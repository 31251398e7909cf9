#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# This version and the next one, which can't read its state, take over from each other while packets flow
# (tests/upgrade/next.sh makes it): limiting never stops, and what is lost is said.
# shellcheck source-path=SCRIPTDIR source=../lib/policy.sh disable=SC2317 # cases are called by name
. "$(dirname "$0")/../lib/policy.sh"

NEXT=${NEXT:-$_net_tests/../build/tests/next/build/xdp-limit}
FAULTY=${FAULTY:-$_net_tests/../build/tests/xdp-limit-faults}
RATE=100
BURST=50

[ -x "$NEXT" ] || skip "needs $NEXT: make tests"

next() {
	"$NEXT" --netns "$SRV" "$@"
}

write_policy() {
	echo "{table: {sources: 1024}, limits: [{name: default, rate: $RATE/s, burst: $BURST}]}" \
		>"$SCRATCH/rv0.yaml"
}

clean() {
	limit detach rv0 >/dev/null 2>&1 || true
	write_policy
}

# Whether there is a program, looked at without a pause: the ids that were seen, 0 for none.
watch_start() {
	# shellcheck disable=SC2016 # for the inner shell
	background WATCH nsenter --net="/run/netns/$SRV" bash -c '
		while [ ! -e "$1/stop" ]; do
			ip -o link show dev rv0 | grep -oE "prog/xdp id [0-9]+" || echo 0
		done >"$1/seen"' sh "$SCRATCH"
	wait_for 5 test -s "$SCRATCH/seen"
}

watch_stop() {
	touch "$SCRATCH/stop"
	wait "$WATCH" || true
	! grep -qx 0 "$SCRATCH/seen" || fail "for a moment there was no program"
}

milliseconds() {
	echo $((${EPOCHREALTIME/./} / 1000))
}

# What is lost, in numbers; of the version that takes over, from the one before.
expect_loss() {
	expect_stderr "the limiter on rv0 is of ABI $1, this is $2, which can't read its state: limiting goes on, but \
its buckets start afresh, its totals at 0, and $3 entries of live lists, $4 bans by limits and the SSH guards are lost"
}

# 1 -> 2 -> 1 -> 2 at ten times the limit: each takes the link over, and gives away one burst.
to_and_fro() {
	local flood from link most i

	clean
	expect limit attach rv0 --config "$SCRATCH/rv0.yaml"
	link=$(link_id)
	receive_start --source "$CLI4"
	from=$(milliseconds)
	watch_start
	background flood in_cli "$XDPL_SEND" -i rv1 --dst-mac "$SRV_MAC" --frame udp4 --source "$CLI4" \
		--rate $((RATE * 10)) --duration 60 >"$SCRATCH/flood"
	wait_for 5 dropped_some limit
	for i in 2 1 2; do
		if [ "$i" = 2 ]; then
			expect_status 0 next attach rv0 --config "$SCRATCH/rv0.yaml"
			expect_loss "$THIS" "$OTHER" 0 0
			wait_for 5 dropped_some next
		else
			expect_status 0 limit attach rv0 --config "$SCRATCH/rv0.yaml"
			expect_loss "$OTHER" "$THIS" 0 0
			wait_for 5 dropped_some limit
		fi
	done
	stop "$flood"
	watch_stop
	receive_stop
	most=$((4 * BURST + RATE * ($(milliseconds) - from) / 1000 + 4))
	expect_between "passed" "$RECEIVED" $((4 * BURST)) "$most"
	expect_equal "link" "$(link_id)" "$link"
	expect_at_least "programs seen" "$(sort -u "$SCRATCH/seen" | wc -l)" 2
	expect next status rv0 --check
	expect next detach rv0
}

dropped_some() {
	[ "$("$1" status rv0 --json | jq .totals.dropped_packets)" -gt 100 ]
}

# What the other version made: looked at, changed, removed.
says_what_to_do() {
	local command

	clean
	expect limit attach rv0 --config "$SCRATCH/rv0.yaml"
	expect_status 3 next status rv0
	expect_no_stderr "left over"
	expect_status 1 next doctor rv0
	expect_stdout "fix: of ABI $THIS, which this xdp-limit of ABI $OTHER can't"
	expect_equal "missing pins" "$(grep -c 'pins are gone' <<<"$OUT" || true)" 0
	for command in "status rv0" "show rv0" "sources rv0" "get rv0 $CLI4" "ban rv0 list" "reset rv0" "confirm rv0"; do
		# shellcheck disable=SC2086 # words
		expect_status 3 next $command
		expect_stderr "is of ABI $THIS, this xdp-limit of $OTHER, which can't read it; replace it, without a gap, \
by .xdp-limit apply rv0 FILE. or .xdp-limit attach rv0 \.\.\.., or remove it by .xdp-limit detach rv0."
	done
	expect limit status rv0 --check
}

# A reload of the service after the upgrade.
reload() {
	local link

	clean
	expect limit attach rv0 --config "$SCRATCH/rv0.yaml"
	link=$(link_id)
	expect limit ban rv0 add 198.18.0.1
	expect limit deny rv0 add 198.18.1.0/24 198.18.0.2
	watch_start
	expect_status 0 next apply rv0 "$SCRATCH/rv0.yaml"
	watch_stop
	expect_loss "$THIS" "$OTHER" 3 0
	expect_equal "link" "$(link_id)" "$link"
	expect next status rv0 --check
	expect_equal "bans" "$(next ban rv0 list)" ""
	[ ! -e "$PINS/ledger" ] || fail "a pin of the old version is left"
	expect next apply rv0 "$SCRATCH/rv0.yaml"
	expect next detach rv0
}

# What shares a table goes on to when all are taken over at once, and is refused one by one.
shared() {
	local together name

	clean
	ip -n "$SRV" link add rv2 type veth peer name cv2
	for together in yes no; do
		limit detach --all >/dev/null
		expect limit attach rv0 rv2 --config "$SCRATCH/rv0.yaml" --share-table wan
		if [ "$together" = yes ]; then
			expect_status 0 next attach rv0 rv2 --config "$SCRATCH/rv0.yaml" --share-table wan
			expect_equal "shared with" "$(next status rv0 --json | jq -c .table.shared_with)" '["rv2"]'
			continue
		fi
		for name in rv0 rv2; do
			expect_status 1 next apply "$name" "$SCRATCH/rv0.yaml"
			expect_stderr "shares its table with other interfaces; to go on sharing .* --share-table NAME"
			expect limit status "$name" --check
		done
		# One that is alone on it has nobody to go on with.
		expect limit detach rv2
		expect next apply rv0 "$SCRATCH/rv0.yaml"
		expect_equal "shared name" "$(next status rv0 --json | jq -r .table.shared_name)" null
	done
	expect next detach rv0
	ip -n "$SRV" link del rv2
}

no_trial() {
	local program

	clean
	expect limit attach rv0 --config "$SCRATCH/rv0.yaml"
	program=$(program_id)
	expect_status 2 next apply rv0 "$SCRATCH/rv0.yaml" --confirm 60s
	expect_stderr "can't go back to a limiter of ABI $THIS"
	expect_equal "program" "$(program_id)" "$program"
	expect limit status rv0 --check
}

detached_by_the_other() {
	clean
	expect limit attach rv0 --config "$SCRATCH/rv0.yaml"
	expect next detach rv0
	! attached || fail "attached"
	! pinned || fail "pins are left"
	expect next attach rv0 --config "$SCRATCH/rv0.yaml"
	expect limit detach rv0
	! attached || fail "attached"
	! pinned || fail "pins are left"
}

pins() {
	find "$PINS" -type f -printf '%f\n' | sort
}

# The one that can't load, link, or put its pins in place: the other goes on, its pins and buckets as they were.
load_fails() {
	local program before fault

	[ -x "$FAULTY" ] || skip "needs $FAULTY"
	clean
	expect next attach rv0 --config "$SCRATCH/rv0.yaml"
	send --frame udp4 --source "$CLI4" --count 200
	program=$(program_id)
	before=$(pins)
	for fault in bpf_object__load:1:ENOMEM bpf_map_create:1:ENOMEM bpf_obj_pin:4:ENOSPC bpf_link_update:1:ENOSPC \
		rename:1:EPERM; do
		! FAULT=$fault "$FAULTY" --netns "$SRV" attach rv0 --config "$SCRATCH/rv0.yaml" 2>"$SCRATCH/log" ||
			fail "$fault: attached"
		expect_equal "$fault: program" "$(program_id)" "$program"
		expect_equal "$fault: pins" "$(pins)" "$before"
		expect next status rv0 --check
	done
	expect_at_least "dropped, still counted" "$(next status rv0 --json | jq .totals.dropped_packets)" 100
	expect next detach rv0
}

# In another mode the hook is emptied first: what was there comes back by a link that stays.
link_fails_in_another_mode() {
	local program before

	[ -x "$FAULTY" ] || skip "needs $FAULTY"
	clean
	expect next attach rv0 --config "$SCRATCH/rv0.yaml" --mode generic
	program=$(program_id)
	before=$(pins)
	FAULT=bpf_link_create:1:EOPNOTSUPP expect_status 4 "$FAULTY" --netns "$SRV" \
		attach rv0 --config "$SCRATCH/rv0.yaml" --mode native
	expect_equal "program" "$(program_id)" "$program"
	expect_equal "pins" "$(pins)" "$before"
	expect next status rv0 --check
	expect next detach rv0
}

# Of several interfaces the worst is said, not the last.
worst_status() {
	clean
	ip -n "$SRV" link add rv2 type veth peer name rv3
	expect limit attach rv0 --config "$SCRATCH/rv0.yaml"
	expect next attach rv2 --config "$SCRATCH/rv0.yaml"
	expect_status 3 limit status
	rm "$PINS/counters"
	expect_status 1 limit status
	expect_stdout "pins are missing"
	expect_stderr "limiter on rv2 is of ABI $OTHER"
	expect next detach rv2
	ip -n "$SRV" link del rv2
}

topology neighbours
expect limit attach rv0 --rate 1/h --sources 1024
THIS=$(next status rv0 2>&1 | sed -nE 's/.*is of ABI ([0-9]+), .*/\1/p')
OTHER=$((THIS + 1))
run_case "O-061, O-089: from version to version under a flood: never without a program, one burst each" \
	to_and_fro
run_case "O-089: of the other version commands say what to do, status 3" says_what_to_do
run_case "O-089: apply takes over, as a reload after the upgrade does; what is lost is counted" reload
run_case "a table that was shared: taken over together, or a note that it is not" shared
run_case "a trial can't go back to another version, so there is none" no_trial
run_case "each version detaches the other's" detached_by_the_other
run_case "O-089: a version that can't load leaves the other as it was" load_fails
run_case "O-089: a version that can't link in another mode leaves the other as it was" link_fails_in_another_mode
run_case "status of several interfaces ends with the worst" worst_status
finish
