#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What the machine may refuse: memory, capabilities, helpers; each with one line that says what to do.
# shellcheck source-path=SCRIPTDIR source=../lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

FAULTY=${FAULTY:-$_net_tests/../build/tests/xdp-limit-faults}
OBJECTS=("$_net_tests/../build/xdp_limit"{,_plain}.bpf.o)
MEMORY_CGROUP=/sys/fs/cgroup/memory
SMALL=(--sources 1024)
ALL_CAPS=

clean() {
	limit detach rv0 >/dev/null 2>&1 || true
}

expect_bare() {
	! attached || fail "something is attached"
	! pinned || fail "pins are left"
}

# ---- memlock: O-115 ------------------------------------------------------------------------------
with_memlock() {
	(ulimit -l 64 && "$XDP_LIMIT" --netns "$SRV" "$@")
}

memlock() {
	clean
	expect_status 0 with_memlock attach rv0 --rate 100/s
	expect with_memlock status rv0 --check
}

# ---- what the kernel answers: O-116 O-121 --------------------------------------------------------
faulty() {
	local fault=$1
	shift

	FAULT=$fault "$FAULTY" --netns "$SRV" "$@"
}

probe_refused() {
	clean
	expect_status 4 faulty bpf_prog_load:1:EINVAL attach rv0 --rate 100/s "${SMALL[@]}"
	expect_stderr "cannot probe the kernel for rv0: .*\(BPF probe: EINVAL\).*xdp-limit doctor rv0"
	expect_no_stderr "[Mm][Ee][Mm][Ll][Oo][Cc][Kk]|ulimit"
	expect_bare
}

too_many_entries() {
	clean
	expect_status 1 faulty bpf_map_create:1:E2BIG attach rv0 --rate 100/s "${SMALL[@]}"
	expect_stderr "cannot create map buckets for rv0: .*E2BIG.*--sources N"
	expect_bare
}

forbidden() {
	clean
	expect_status 1 faulty bpf_object__load:1:EPERM attach rv0 --rate 100/s "${SMALL[@]}"
	expect_stderr "seccomp profile or by kernel lockdown"
	expect_no_stderr "memlock|ulimit"
	expect_bare
}

files_run_out() {
	clean
	# Only what the hard limit refuses is left to say.
	(ulimit -Sn 32 && expect attach --rate 100/s "${SMALL[@]}")
	expect limit detach rv0
	(
		ulimit -n 32
		expect_status 1 attach --rate 100/s "${SMALL[@]}"
		expect_stderr "may not have more files open.*LimitNOFILE="
		expect_no_stderr "driver"
	)
	expect_bare
}

# ---- capabilities: O-117 -------------------------------------------------------------------------
all_capabilities() {
	sed -n 's/^CapBnd:[[:space:]]*//p' /proc/self/status |
		xargs -I{} capsh --decode={} | sed 's/^[^=]*=//' | tr , '\n'
}

# with_only "CAP|CAP|..." COMMAND...: nothing else, in the server's namespace
with_only() {
	local dropped

	dropped=$(grep -vxE "$1" <<<"$ALL_CAPS" | paste -sd,)
	shift
	# shellcheck disable=SC2016 # for the inner shell
	nsenter --net="/run/netns/$SRV" capsh --drop="$dropped" -- -c '"$@"' sh "$@"
}

attach_with_only() {
	with_only "$1" "$XDP_LIMIT" attach rv0 --rate 100/s "${SMALL[@]}"
}

# refused_without CAPS NAMED: attach with CAPS alone fails and names what is missing
refused_without() {
	clean
	expect_status 1 attach_with_only "$1"
	expect_stderr "cannot .*: this process lacks ([A-Z_]+, )*$2[, ].*run it as root, or .*--cap-add"
	expect_no_stderr "memlock"
	expect_bare
}

# CAP_SYS_ADMIN stands in for each: dropping one of the others from a full set changes nothing.
one_dropped() {
	local capability

	for capability in cap_bpf cap_net_admin cap_perfmon; do
		clean
		expect attach_with_only "$(grep -vx "$capability" <<<"$ALL_CAPS" | paste -sd'|')"
		expect limit status rv0 --check
	done
}

# Nothing needs it while the pins are there.
sys_admin_dropped() {
	local others

	clean
	others=$(grep -vx cap_sys_admin <<<"$ALL_CAPS" | paste -sd'|')
	expect attach_with_only "$others"
	expect attach_with_only "$others"
	expect with_only "$others" "$XDP_LIMIT" status rv0 --check
	expect with_only "$others" "$XDP_LIMIT" detach rv0
	expect_bare
}

minimal() {
	on_the_way "cap_bpf|cap_net_admin|cap_perfmon"
}

sys_admin() {
	on_the_way "cap_sys_admin|cap_net_admin"
}

# on_the_way CAPS: from a first attach to detach
on_the_way() {
	local command

	clean
	for command in "attach rv0 --rate 100/s" "attach rv0 --rate 200/s" "status rv0 --check" \
		"sources rv0" "get rv0 $CLI4" "reset rv0" "attach rv0 --rate 200/s --mode generic" \
		"detach rv0"; do
		# shellcheck disable=SC2086 # words
		expect with_only "$1" "$XDP_LIMIT" $command
	done
	expect_bare
}

no_root() {
	clean
	expect_status 1 attach_with_only "none"
	expect_stderr "lacks CAP_BPF, CAP_NET_ADMIN \("
	expect_bare
}

# ---- lockdown: O-118 -----------------------------------------------------------------------------
# Numbers of helpers that read any memory or print to the trace: in <linux/bpf.h>.
FORBIDDEN="4 6 45 112 113 114 115 177"

helpers_of() {
	# Opcode 85 with source register 0; 1 would be a call within the program. Then the number.
	llvm-objdump -d "${OBJECTS[@]}" | sed -nE 's/.*\s85 00 00 00 (..) (..) 00 00\s.*/0x\2\1/p' |
		while read -r number; do echo $((number)); done | sort -nu
}

no_forbidden_helpers() {
	local helpers number

	[ "$(command -v llvm-objdump)" ] || skip "needs llvm-objdump"
	helpers=$(helpers_of)
	grep -qx 1 <<<"$helpers" || fail "map_lookup_elem not found: this test sees nothing"
	for number in $FORBIDDEN; do
		! grep -qx "$number" <<<"$helpers" || fail "uses helper $number"
	done
}

# ---- helpers: O-111 ------------------------------------------------------------------------------
# Linux 5.15's newest is 175. Newer ones that are called only where the loader found them: the length of a
# frame with fragments (188) and its bytes (189), both of 5.18.
NEWEST=175
PROBED="188 189"

no_newer_helpers() {
	local number

	[ "$(command -v llvm-objdump)" ] || skip "needs llvm-objdump"
	for number in $(helpers_of); do
		[ "$number" -le "$NEWEST" ] || [[ " $PROBED " == *" $number "* ]] ||
			fail "calls helper $number, which Linux 5.15 doesn't have, without a probe"
	done
}

# Else libbpf looks through all modules where the kernel lacks it, for which it takes CAP_SYS_ADMIN.
plain_names_no_function() {
	[ "$(command -v readelf)" ] || skip "needs readelf"
	readelf --syms --wide "${OBJECTS[0]}" | grep -q ' UND bpf_' || fail "this test sees nothing"
	expect_equal "functions of the kernel" \
		"$(readelf --syms --wide "${OBJECTS[1]}" | sed -n 's/.* UND \(..*\)/\1/p')" ""
}

# What the kernel made of it: map look-ups are inlined, names of helpers stand in the listing.
no_forbidden_calls_loaded() {
	local listing

	clean
	expect attach --rate 100/s "${SMALL[@]}"
	listing=$(bpftool prog dump xlated pinned "$PINS/program")
	grep -q 'call .*bpf_ktime_get' <<<"$listing" || fail "no clock: this test sees nothing"
	! grep -Eq 'call .*(probe_read|trace_printk|trace_vprintk)' <<<"$listing" ||
		fail "$(grep -E 'probe_read|trace_' <<<"$listing")"
}

# ---- memory: O-119 -------------------------------------------------------------------------------
in_small_group() {
	# shellcheck disable=SC2016 # for the inner shell
	bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$GROUP" "$@"
}

remove_group() {
	rmdir "$1"
}

small_group() {
	GROUP=$MEMORY_CGROUP/xdpl-$$-$BASHPID
	if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
		GROUP=/sys/fs/cgroup/xdpl-$$-$BASHPID
	fi
	mkdir "$GROUP" 2>/dev/null || skip "no memory cgroup can be made here"
	at_exit remove_group "$GROUP"
	echo 64M 2>/dev/null >"$GROUP/memory.limit_in_bytes" ||
		echo 64M 2>/dev/null >"$GROUP/memory.max" || skip "no memory limit can be set here"
}

memory_limited() {
	case $XDP_LIMIT in *asan*) skip "the sanitizers alone need more than 64 MiB" ;; esac
	small_group
	clean
	expect_status 1 in_small_group "$XDP_LIMIT" --netns "$SRV" attach rv0 --rate 100/s
	expect_stderr "table for 1048576 sources: about [0-9.]+ MiB of kernel memory"
	expect_stderr "cannot create map buckets for rv0: it takes about [0-9.]+ MiB.*--sources N"
	expect_bare
	expect in_small_group "$XDP_LIMIT" --netns "$SRV" attach rv0 --rate 100/s "${SMALL[@]}"
	clean
}

huge_table() {
	clean
	expect_status 1 attach --rate 100/s --sources 200000000
	expect_stderr "cannot create map buckets for rv0: .*about [0-9.]+ GiB.*--sources N"
	expect_bare
	expect_status 2 attach --rate 100/s --sources 4294967296
	expect_stderr "--sources.*maximum"
	expect_bare
}

# The estimate against what the kernel says it took, for the default table.
estimate_is_true() {
	local said took

	[ "$(printf '%s\n' 6.4 "$(uname -r)" | sort -V | head -n 1)" = 6.4 ] ||
		skip "kernels before 6.4 (90a5527d7686) don't count what a map takes"
	clean
	expect_status 0 attach --rate 100/s --sources 262144
	said=$(sed -nE 's/.*about ([0-9.]+) MiB of kernel memory/\1/p' <<<"$ERR")
	took=$(bpftool -j map show pinned "$PINS/buckets" | jq '.bytes_memlock / 1048576')
	expect_between "MiB said, of $took" "$said" "$(jq -n "$took * 0.8")" "$(jq -n "$took * 1.25")"
}

# ---- the binary alone: O-114 O-120 ---------------------------------------------------------------
alone() {
	clean
	mkdir "$SCRATCH/empty"
	cp "$XDP_LIMIT" "$SCRATCH/empty/limiter"
	expect env -i -C / "$SCRATCH/empty/limiter" --netns "$SRV" attach rv0 --rate 100/s "${SMALL[@]}"
	expect env -i -C / "$SCRATCH/empty/limiter" --netns "$SRV" status rv0 --check
	expect env -i -C / "$SCRATCH/empty/limiter" --netns "$SRV" detach rv0
	expect_bare
}

version() {
	expect_status 0 "$XDP_LIMIT" --version
	expect_stdout "^xdp-limit [0-9]+\.[0-9]+\.[0-9]+, libbpf [0-9]+\.[0-9]+"
}

[ "$(command -v capsh)" ] || skip "needs capsh"
ALL_CAPS=$(all_capabilities)
topology neighbours
run_case "O-114: --version names the version of libbpf" version
run_case "O-115: a memlock limit of 64 KiB is no obstacle" memlock
run_case "O-116: a probe that is refused: the step, the errno, doctor, nothing about memlock" \
	probe_refused
run_case "O-116: EPERM with all capabilities: seccomp or lockdown, nothing about memlock" forbidden
run_case "more files than may be open: no driver is blamed" files_run_out
run_case "O-117: CAP_BPF is named" refused_without "cap_net_admin|cap_perfmon" CAP_BPF
run_case "O-117: CAP_NET_ADMIN is named" refused_without "cap_bpf|cap_perfmon" CAP_NET_ADMIN
run_case "O-117: CAP_PERFMON is named" refused_without "cap_bpf|cap_net_admin" CAP_PERFMON
run_case "O-117: CAP_SYS_ADMIN is needed by nothing" sys_admin_dropped
run_case "O-117: without any capability they are named" no_root
run_case "O-117: CAP_SYS_ADMIN stands in for each of the others" one_dropped
run_case "O-117: CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON are enough for every command" minimal
run_case "O-117: so are CAP_SYS_ADMIN and CAP_NET_ADMIN" sys_admin
run_case "O-111: the objects call no helper that Linux 5.15 lacks, bpf_loop among them, but those probed for" \
	no_newer_helpers
run_case "O-117: the object for kernels before 6.2 names no function of theirs" plain_names_no_function
run_case "O-118 O-108: the objects call no helper that lockdown forbids or that prints to the trace" \
	no_forbidden_helpers
run_case "O-118: nor does the loaded program" no_forbidden_calls_loaded
run_case "O-119: a memory limit of 64 MiB: refused with the estimate, a small table starts" \
	memory_limited
run_case "O-119: a huge table: refused with the estimate, nothing left" huge_table
run_case "O-119: the estimate is what the kernel takes" estimate_is_true
run_case "O-120: the binary alone, from /, with an empty environment" alone
run_case "O-121: E2BIG says which map and what to do" too_many_entries
finish
