#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Boots Debian's cloud kernels in qemu, by plain emulation, and runs tests inside.
#
#	tests/kernels/check.sh [BOOT...]	all boots of the table below without arguments
#
# One line for each boot and test: ok, FAILED or skipped, and why. The last line is
# `N passed, N failed, N skipped`. build/kernels keeps what each guest said: BOOT.log for the tests,
# BOOT.console for the kernel. TESTS="prog/test_abi net/tcp": only these.
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 1

kernels=build/kernels

# BOOT SERIES CPUS SECONDS PARAMETER TESTS. A CPU of this machine has one of them at a time.
boots='
6.1           6.1   2  1500  -                         all
6.12          6.12  2  1500  -                         all
6.1-locked    6.1   1  400   lockdown=confidentiality  few
6.12-locked   6.12  1  400   lockdown=confidentiality  few
6.1-counted   6.1   1  400   XDPL_COUNTED=1            counted
6.12-counted  6.12  1  400   XDPL_COUNTED=1            counted
'

# The table names these.
# shellcheck disable=SC2034
{
# On one CPU (O-121) and in lockdown (O-118).
few='prog/test_abi prog/test_smoke net/errors'

# Where a nanosecond is an instruction: of the boots with XDPL_COUNTED, which init has in its environment.
counted='net/dispatcher_cost'
}

# What no guest runs, and why. It runs everything else in tests/prog and tests/net. Under emulation
# a packet takes microseconds, and a command that loads the program half a second.
left_out='
prog/test_algorithms   arithmetic, the same on every kernel; minutes under emulation
prog/test_cpus         races of millions of packets, and the CPUs emulated take turns
prog/test_flood        races of two CPUs, and the CPUs emulated take turns
prog/test_match        arithmetic, the same on every kernel; a minute under emulation
prog/test_prefixes     arithmetic, the same on every kernel; minutes under emulation
prog/test_rates        arithmetic, the same on every kernel; minutes under emulation
prog/test_swap         what of a table a new policy keeps, the same on every kernel; net/attach replaces programs
net/buckets            sends at full speed, and emulation has none
net/cli                the command line, the same on every kernel
net/confirm            waits for deadlines
net/control            sends at full speed, and emulation has none
net/counters           sends at full speed, and emulation has none
net/dispatcher_cost    a time under emulation says nothing; the boots that count instructions do
net/events             sends at full speed, and emulation has none; prog/test_events asks the kernel
net/examples           policies of docs/, the same on every kernel
net/failures           the command line, the same on every kernel
net/failures_replace   the command line, the same on every kernel
net/flat               the commands, with a flat table; prog/test_flat asks the kernel
net/lifecycle          minutes under emulation; net/attach asks the kernel
net/lists              the command line; prog/test_lists asks the kernel
net/memory             minutes under emulation; what one kernel accounts for tables
net/monitoring         Prometheus and nginx, the same on every kernel
net/page               a browser, the same on every kernel
net/policy             sends at full speed, and emulation has none
net/pressure           sends at full speed, and emulation has none
net/recovery           user space mends what was lost, the same on every kernel
net/serve              HTTP, the same on every kernel
net/serve_requests     HTTP, the same on every kernel
net/special            the command line, the same on every kernel
net/ssh_guard          the command line, the same on every kernel
net/swap               sends at full speed, and emulation has none
net/tcp                sends at full speed, and emulation has none
net/top                a screen, the same on every kernel
net/traffic            sends at full speed, and emulation has none
net/upgrade            sends at full speed, and emulation has none
'

label() {
	local name=${1#build/tests/}

	name=${name#tests/}
	echo "${name%.sh}"
}

# say BOOT TEST VERDICT TEXT
say() {
	printf '%-12s %-24s %-8s %s\n' "$@"
}

count() {
	echo "$1" >>"$counts"
}

# ---- which tests ---------------------------------------------------------------------------------
all_tests() {
	printf '%s\n' build/tests/prog/test_* tests/net/*.sh | grep -v '\.[od]$'
}

reason_left_out() {
	awk -v test="$1" '$1 == test { sub(/^[^ ]+ +/, ""); print }' <<<"$left_out"
}

# Prints the programs to run in boot $1; those of TESTS in any case.
choose() {
	local boot=$1 set=$2 names=${TESTS-} program name why

	[ "$names" ] || [ "$set" = all ] || names=${!set}
	for program in $(all_tests); do
		name=$(label "$program")
		if [ "$names" ]; then
			[[ " $names " != *" $name "* ]] || echo "$program"
			continue
		fi
		why=$(reason_left_out "$name")
		if [ "$why" ]; then
			say "$boot" "$name" skipped "$why" >&2
			count skipped
		else
			echo "$program"
		fi
	done
}

# ---- one guest -----------------------------------------------------------------------------------
# Page tables of five levels make emulation a fifth slower.
start_guest() {
	local directory=$1 initramfs=$2 cpus=$3 seconds=$4 parameter=$5 console=$6 clock=()

	# Each instruction takes a nanosecond of the guest's clock, which doesn't wait where nobody does.
	[ "$parameter" != XDPL_COUNTED=1 ] || clock=(-icount "shift=0,sleep=off")
	timeout --kill-after=5 "$seconds" qemu-system-x86_64 -accel tcg,thread=single -cpu max,la57=off \
		"${clock[@]}" -smp "$cpus" -m 1536 -nodefaults -display none -no-reboot \
		-kernel "$directory"/boot/vmlinuz-* -initrd "$initramfs" \
		-append "console=ttyS0 panic=-1 quiet ${parameter#-}" \
		-serial "file:$console" -serial stdio </dev/null
}

# What a test said, when it is over: one line, and after a failure all of it.
conclude() {
	local boot=$1 program=$2 text=$3 passed failed verdict=ok why

	read -r passed _ failed _ < <(tail -n 1 <<<"$text")
	case $failed in
	0) ;;
	'' | *[!0-9]*)
		verdict=FAILED
		failed=1 passed=0
		;;
	*) verdict=FAILED ;;
	esac
	why=$(head -n 1 <<<"$text" | sed -E 's/^[^ ]+ +//')
	[ "$verdict$passed" != ok0 ] || verdict=skipped
	say "$boot" "$(label "$program")" "$verdict" "$why"
	[ "$verdict" != FAILED ] || sed '1d; $d' <<<"$text"
	count "$verdict"
}

# Reads what a guest says; what it was to run and did not is a failure.
follow() {
	local boot=$1 programs=$2 line program='' text='' left

	left=$programs
	while IFS= read -r line; do
		line=${line%$'\r'}
		case $line in
		'@kernel '*) say "$boot" Linux "${line#* }" '' ;;
		'@start '*)
			program=${line#* }
			text=
			;;
		'@end '*)
			conclude "$boot" "$program" "${text%$'\n'}"
			left=$(grep -vxF "$program" <<<"$left")
			program=
			;;
		@done) ;;
		*) [ -z "$program" ] || text+=$line$'\n' ;;
		esac
	done
	[ -z "$program" ] || printf '%s' "$text" | tail -n 20
	for program in $left; do
		say "$boot" "$(label "$program")" FAILED "the guest ended before it did"
		count FAILED
	done
}

run_boot() {
	local boot=$1 directory=$2 cpus=$3 seconds=$4 parameter=$5 set=$6 programs

	programs=$(choose "$boot" "$set" 2>"$scratch/$boot.left")
	cat "$scratch/$boot.left"
	# shellcheck disable=SC2086 # words
	tests/kernels/initramfs.sh "$directory" "$scratch/$boot.cpio" $programs || {
		say "$boot" initramfs FAILED "see above"
		count FAILED
		return
	}
	start_guest "$directory" "$scratch/$boot.cpio" "$cpus" "$seconds" "$parameter" \
		"$kernels/$boot.console" | tee "$kernels/$boot.log" | follow "$boot" "$programs"
}

# start BOOT SERIES ...: in the background, once the kernel is there and a CPU is free
start() {
	local boot=$1 series=$2 directory
	shift 2

	[ "$(jobs -pr | wc -l)" -lt "$(nproc)" ] || wait -n
	if directory=$(tests/kernels/fetch.sh "$series" 2>"$scratch/why"); then
		run_boot "$boot" "$directory" "$@" &
	else
		say "$boot" kernel skipped "$(tail -n 1 "$scratch/why")"
		count skipped
	fi
}

# ---- all of them ---------------------------------------------------------------------------------
chosen() {
	local boot=$1
	shift

	[ $# -eq 0 ] || [[ " $* " == *" $boot "* ]]
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
counts=$scratch/counts
touch "$counts"
mkdir -p "$kernels"
while read -r boot rest; do
	if [ "$boot" ] && chosen "$boot" "$@"; then
		# shellcheck disable=SC2086 # columns
		start "$boot" $rest
	fi
done <<<"$boots"
wait
passed=$(grep -c ok "$counts")
failed=$(grep -c FAILED "$counts")
echo "$passed passed, $failed failed, $(grep -c skipped "$counts") skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
