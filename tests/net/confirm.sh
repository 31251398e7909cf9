#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Policies on trial: they go back by themselves, in the kernel, unless somebody confirms.
# shellcheck source-path=SCRIPTDIR source=../lib/policy.sh
. "$(dirname "$0")/../lib/policy.sh"

FAULTY=${FAULTY:-$_net_tests/../build/tests/xdp-limit-faults}
[ -x "$FAULTY" ] || skip "needs $FAULTY"

OPEN='limits: [{name: default, rate: 1/h, burst: 100000}]'
CLOSED='limits: [{name: default, rate: block}]'

# A trial of so long; what follows has to be done in less.
TRIAL=2s

write_policies() {
	echo "table: {sources: 1024}"$'\n'"$OPEN" >"$SCRATCH/open.yaml"
	echo "table: {sources: 1024}"$'\n'"$CLOSED" >"$SCRATCH/closed.yaml"
}

# one_passes: sends one packet and looks whether it arrived
one_passes() {
	receive_start --source "$CLI4"
	send --frame udp4 --source "$CLI4" --count 1
	settle
	receive_stop
	[ "$RECEIVED" -eq 1 ]
}

none_passes() { ! one_passes; }

trial_seconds() { status_field .trial_seconds; }

first_attach() {
	topology neighbours
	write_policies
	expect attach --config "$SCRATCH/closed.yaml" --confirm "$TRIAL"
	! one_passes || fail "a packet passes during the trial"
	wait_for 10 one_passes
	expect_status 3 limit status rv0
	expect_stderr "was not confirmed"
	! attached || fail "still attached"
	! pinned || fail "pins are left"
}

# Nobody looks: no command of ours runs between the apply and the packet that passes.
apply_goes_back() {
	topology neighbours
	write_policies
	expect attach --config "$SCRATCH/open.yaml"
	expect limit apply rv0 "$SCRATCH/closed.yaml" --confirm "$TRIAL"
	! one_passes || fail "a packet passes during the trial"
	wait_for 10 one_passes
	expect_status 0 limit show rv0
	expect_stdout "rate: 1/h"
	expect_ours
	expect limit status rv0 --check
	expect limit apply rv0 "$SCRATCH/closed.yaml"
	! one_passes || fail "a packet passes after another apply"
}

confirmed_stays() {
	topology neighbours
	write_policies
	expect attach --config "$SCRATCH/open.yaml"
	expect limit apply rv0 "$SCRATCH/closed.yaml" --confirm 30s
	expect_between "seconds left" "$(trial_seconds | cut -d. -f1)" 1 30
	expect limit confirm rv0
	expect_equal "seconds left" "$(trial_seconds)" null
	! one_passes || fail "a packet passes after confirm"
	expect_status 1 limit confirm rv0
	expect_stderr "nothing is on trial"
	expect_ours
}

# What a trial falls back to was on trial itself once, and confirmed: it judges again, whole.
falls_back_to_a_confirmed_trial() {
	topology neighbours
	write_policies
	expect attach --config "$SCRATCH/closed.yaml" --confirm 30s
	expect limit confirm rv0
	expect limit apply rv0 "$SCRATCH/open.yaml" --confirm "$TRIAL"
	one_passes || fail "no packet passes during the trial"
	wait_for 10 none_passes
	expect_ours
}

# killed FAULT COMMAND...
killed() {
	FAULT=$1 expect_status 137 "$FAULTY" --netns "$SRV" "${@:2}"
}

confirmed_closed() {
	topology neighbours
	write_policies
	expect attach --config "$SCRATCH/closed.yaml" --confirm 30s
	expect limit confirm rv0
}

# Its deadline is in the map, and the program that runs was on trial once: it is not its deadline.
killed_before_the_switch() {
	confirmed_closed
	killed bpf_link_update:1:SIGKILL apply rv0 "$SCRATCH/open.yaml" --confirm 1s
	wait_for 5 trial_over
	expect limit status rv0 --check
	none_passes || fail "a packet passes"
	expect limit apply rv0 "$SCRATCH/open.yaml" --confirm 30s
	expect limit confirm rv0
	one_passes || fail "no packet passes"
	expect_ours
}

killed_on_the_way_back() {
	confirmed_closed
	expect limit apply rv0 "$SCRATCH/open.yaml" --confirm 1s
	wait_for 5 trial_over
	killed bpf_map_update_elem:1:SIGKILL status rv0
	expect_equal "trial, for status" "$(trial_seconds)" null
	none_passes || fail "a packet passes"
	expect limit apply rv0 "$SCRATCH/open.yaml"
	one_passes || fail "no packet passes"
	expect_ours
}

# Two that see the end at once: what the second had read is no longer so when it gets the lock.
two_settle() {
	topology neighbours
	write_policies
	expect attach --config "$SCRATCH/open.yaml"
	expect limit apply rv0 "$SCRATCH/closed.yaml" --confirm 1s
	wait_for 5 trial_over
	FAULT=flock:1:SIGSTOP background SECOND "$FAULTY" --netns "$SRV" status rv0 --check >"$SCRATCH/second" 2>&1
	wait_for 5 stopped "$SECOND"
	expect_status 0 limit status rv0 --check
	expect_stderr "was not confirmed; the former state is back"
	kill -CONT "$SECOND"
	wait "$SECOND" || fail "the second: status $?: $(cat "$SCRATCH/second")"
	! grep "not confirmed" "$SCRATCH/second" || fail "settled twice"
	expect_ours
}

# Who can't settle it says so: what it reads is of a program that nobody asks any more.
over_and_locked() {
	topology neighbours
	write_policies
	expect attach --config "$SCRATCH/closed.yaml" --confirm 1s
	wait_for 5 trial_over
	exec 9>"/run/xdp-limit/${PINS##*/}.lock"
	flock 9
	expect_status 0 limit status rv0
	expect_stdout "! the policy on trial was not confirmed in time: the former state holds"
	expect_status 1 limit status rv0 --check --json
	expect_json .trial_seconds 0
	expect_json '.problems[0] | startswith("the policy on trial was not confirmed")' true
	exec 9>&-
	expect_status 3 limit status rv0
}

another_waits() {
	topology neighbours
	write_policies
	expect attach --config "$SCRATCH/open.yaml"
	expect limit apply rv0 "$SCRATCH/closed.yaml" --confirm 30s
	expect_status 5 limit apply rv0 "$SCRATCH/open.yaml"
	expect_stderr "xdp-limit confirm rv0"
	expect limit confirm rv0
	expect limit apply rv0 "$SCRATCH/open.yaml"
	one_passes || fail "no packet passes"
}

# The table of the trial goes with it; that of the former policy had been kept alive.
fresh_table_goes_back() {
	topology neighbours
	write_policies
	expect attach --config "$SCRATCH/open.yaml"
	send --frame udp4 --source "$CLI4" --count 7
	settle
	expect limit apply rv0 "$SCRATCH/closed.yaml" --recreate --confirm "$TRIAL"
	wait_for 10 one_passes
	expect limit status rv0 --check
	expect_at_least "passed, in the old bucket" "$(source_field "$CLI4" .passed_packets)" 8
	expect_ours
}

# A former native program can't be called from a generic one.
other_mode() {
	topology neighbours
	write_policies
	expect attach --config "$SCRATCH/closed.yaml"
	expect_status 2 attach --config "$SCRATCH/open.yaml" --mode generic --confirm 30s
	expect_stderr "can't go back to another mode"
	! one_passes || fail "a packet passes"
	expect_ours
}

detach_in_a_trial() {
	topology neighbours
	write_policies
	expect attach --config "$SCRATCH/open.yaml"
	expect limit apply rv0 "$SCRATCH/closed.yaml" --confirm 30s
	expect limit detach rv0
	one_passes || fail "no packet passes"
	! pinned || fail "pins are left"
}

# O-022: a rule that would shut out SSH, tried with a way back.
ssh_is_back() {
	topology neighbours
	write_policies
	expect attach --config "$SCRATCH/open.yaml"
	cat >"$SCRATCH/ssh.yaml" <<-END
		table: {sources: 1024}
		limits:
		  - {name: default, rate: 1/h, burst: 100000}
		  - {name: ssh, match: {protocol: tcp, destination-port: 22}, rate: block}
	END
	expect limit apply rv0 "$SCRATCH/ssh.yaml" --recreate --confirm "$TRIAL"
	send --frame P4S --count 5
	settle
	expect_equal "dropped" "$(status_field .limits.ssh.dropped_packets)" 5
	wait_for 10 ssh_passes
}

ssh_passes() {
	receive_start --source "$CLI4"
	send --frame P4S --count 1
	settle
	receive_stop
	[ "$RECEIVED" -eq 1 ]
}

# O-021: over the limit for a while, then at the old pace again: nothing sticks; and byte rates
# beyond 2^32 are exact.
nothing_sticks() {
	topology neighbours
	run_policy <<-END
		table: {sources: 1024}
		limits: [{name: default, rate: 100 pps, burst: 100}, {name: bytes, rate: 40 Gbit/s}]
	END
	expect_equal "rate" "$(get_limit "$CLI4" bytes .rate)" 5000000000
	send --frame udp4 --source "$CLI4" --count 3000 --rate 3000
	settle
	wait_for 2 one_passes
}

short_times() {
	topology neighbours
	write_policies
	expect_status 2 attach --config "$SCRATCH/open.yaml" --confirm 0s
	expect_status 2 attach --config "$SCRATCH/open.yaml" --confirm soon
	! attached || fail "attached all the same"
}

run_case "a first attach that nobody confirms: everything passes, and nothing is left" first_attach
run_case "an apply that nobody confirms: the former policy is back" apply_goes_back
run_case "what was confirmed stays" confirmed_stays
run_case "a trial goes back to what was once on trial and confirmed" falls_back_to_a_confirmed_trial
run_case "an apply on trial, killed before its switch, has no deadline for what was confirmed" \
	killed_before_the_switch
run_case "a trial goes back, and who does it is killed: what was confirmed stays" killed_on_the_way_back
run_case "two see a trial's end at once: it is settled once" two_settle
run_case "a trial's end that can't be settled is a problem for status" over_and_locked
run_case "another apply waits for the trial's end" another_waits
run_case "a trial with a fresh table goes back to the old one" fresh_table_goes_back
run_case "a trial in another mode is refused" other_mode
run_case "detach ends a trial too" detach_in_a_trial
run_case "O-022: a rule that shuts out SSH is taken back" ssh_is_back
run_case "O-021: nothing sticks after an excess" nothing_sticks
run_case "a trial too short to answer is refused" short_times
finish
