#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Each command with exactly the capabilities that docs/privileges.md gives it and with one less; and what
# others could put in its way: directories of pins and locks, files that anybody may write to.
# shellcheck source-path=SCRIPTDIR source=../lib/net.sh disable=SC2317 # cases are called by name
. "$(dirname "$0")/../lib/net.sh"

HOLD=${HOLD:-$_net_tests/../build/tests/tools/xdpl-hold}
DOCS=$_net_tests/../docs/privileges.md
LOADING="bpf net_admin perfmon"
SMALL=(--sources 1024)

[ "$(command -v setpriv)" ] || skip "needs setpriv"

clean() {
	limit detach rv0 >/dev/null 2>&1 || true
	! pinned || fail "pins are left"
}

# with "CAP CAP..." COMMAND...: as root with these alone, in the server's namespace
with() {
	local capability set=-all

	for capability in $1; do
		set+=,+$capability
	done
	shift
	nsenter --net="/run/netns/$SRV" setpriv --bounding-set="$set" --inh-caps=-all "$@"
}

limit_with() {
	local capabilities=$1
	shift

	with "$capabilities" "$XDP_LIMIT" "$@"
}

# all_but CAPABILITY CAPABILITIES
all_but() {
	local capability rest=

	for capability in $2; do
		[ "$capability" = "$1" ] || rest+=" $capability"
	done
	echo "$rest"
}

# ---- commands ------------------------------------------------------------------------------------
policy() {
	echo "{table: {sources: 1024}, limits: [{name: default, rate: $1, burst: 5}]}" >"$SCRATCH/rv0.yaml"
}

# loads COMMAND...: with all three it works, with one less it names that one and changes nothing
loads() {
	local capability before program

	for capability in $LOADING; do
		before=$(program_id)
		expect_status 1 limit_with "$(all_but "$capability" "$LOADING")" "$@"
		expect_stderr "lacks ([A-Z_]+, )*CAP_${capability^^}[ ,]"
		expect_equal "program" "$(program_id)" "$before"
	done
	program=$(program_id)
	expect limit_with "$LOADING" "$@"
	[ "$(program_id)" != "$program" ] || fail "the program is the same: $*"
	expect limit_with "" status rv0 --check
}

program_id() {
	ip -n "$SRV" -j link show dev rv0 | jq '.[0].xdp.prog.id // 0'
}

first_attach() {
	clean
	loads attach rv0 --rate 100/s "${SMALL[@]}"
}

attach_over_ours() {
	clean
	expect attach --rate 100/s "${SMALL[@]}"
	loads attach rv0 --rate 200/s
	loads attach rv0 --rate 200/s --mode generic
	loads attach rv0 --rate 200/s --recreate
}

# Whose a foreign program is only CAP_SYS_ADMIN may see.
attach_over_foreign() {
	local holder

	[ -x "$HOLD" ] || skip "needs $HOLD"
	clean
	background holder nsenter --net="/run/netns/$SRV" "$HOLD" --netlink --ready "$SCRATCH/ready" rv0
	wait_for 5 test -e "$SCRATCH/ready"
	expect_status 1 limit_with "$LOADING" attach rv0 --rate 100/s "${SMALL[@]}" --force
	expect_stderr "find what is attached to rv0: .* lacks CAP_SYS_ADMIN"
	expect_status 5 limit_with "$LOADING sys_admin" attach rv0 --rate 100/s "${SMALL[@]}"
	expect limit_with "$LOADING sys_admin" attach rv0 --rate 100/s "${SMALL[@]}" --force
	stop "$holder"
	expect limit_with "" status rv0 --check
}

applies() {
	clean
	policy 1/h
	expect attach --config "$SCRATCH/rv0.yaml"
	policy 2/h
	loads apply rv0 "$SCRATCH/rv0.yaml"
	loads apply rv0 "$SCRATCH/rv0.yaml" --recreate
}

# All that is done to a limiter after it was attached, and all that is read of it.
without_any() {
	local command

	clean
	policy 1/h
	expect attach --config "$SCRATCH/rv0.yaml"
	send --frame udp4 --source "$CLI4" --count 9
	seq -f '10.%g.0.1' 0 255 >"$SCRATCH/list"
	for command in "status" "status rv0 --check" "status rv0 --queues" "show rv0" "sources rv0" \
		"get rv0 $CLI4" "top rv0 --once" "ban rv0 add 198.18.0.1 --for 1h" "ban rv0 list" "ban rv0 del 198.18.0.1" \
		"allow rv0 add 198.18.1.0/24" "allow rv0 list" "allow rv0 del 198.18.1.0/24" \
		"deny rv0 add --file $SCRATCH/list" "deny rv0 list" "reset rv0 $CLI4" "reset rv0 --counters" "top rv0 --once" \
		"check $SCRATCH/rv0.yaml" "detach rv0" "detach --all"; do
		# shellcheck disable=SC2086 # words
		expect_status 0 limit_with "" $command
	done
	! attached || fail "attached"
	! pinned || fail "pins are left"
}

# addresses A: 1280 of them, 10.A.*
addresses() {
	seq -f "10.$1.%g.1" 0 255 | sed 'p; s/1$/2/; p; s/2$/3/; p; s/3$/4/; p; s/4$/5/' >"$SCRATCH/list"
}

following() {
	clean
	expect attach --rate 1/h --burst 5 "${SMALL[@]}"
	expect_status 1 limit_with "" events rv0 --for 1s
	expect_stderr "cannot follow the events of rv0: this process lacks CAP_BPF"
	expect_status 0 limit_with bpf events rv0 --for 100ms
}

# served PATH: its status; the answer in $SCRATCH/body
served() {
	nsenter --net="/run/netns/$SRV" curl -sS --max-time 10 -o "$SCRATCH/body" -w '%{http_code}' "$BASE$1"
}

# serving CAPABILITIES: sets BASE and SERVER
serving() {
	background SERVER nsenter --net="/run/netns/$SRV" setpriv --bounding-set="-all$1" --inh-caps=-all \
		"$XDP_LIMIT" serve --listen 127.0.0.1:0 2>"$SCRATCH/serve.log"
	wait_for 5 grep -q 'serving on http' "$SCRATCH/serve.log"
	BASE=$(sed -n 's/.*serving on \(http:.*\)\/$/\1/p' "$SCRATCH/serve.log")
}

serves() {
	[ "$(command -v curl)" ] || skip "needs curl"
	clean
	expect attach --rate 1/h --burst 5 "${SMALL[@]}"
	serving ""
	expect_equal "/metrics" "$(served /metrics)" 200
	expect_equal "/v1/get" "$(served "/v1/get?address=$CLI4")" 200
	expect_equal "/v1/sources" "$(served /v1/sources)" 200
	expect_equal "/v1/events" "$(served /v1/events)" 503
	grep -q CAP_BPF "$SCRATCH/body" || fail "the answer does not name it: $(cat "$SCRATCH/body")"
	stop "$SERVER"
	serving ,+bpf
	expect_equal "/v1/events" "$(served /v1/events)" 200
}

# The set of live addresses grows by being replaced, for which one makes a map; its pin follows.
grown_lists() {
	local i

	clean
	expect attach --rate 1/h --burst 5 "${SMALL[@]}"
	addresses 1
	expect_status 1 limit_with "" deny rv0 add --file "$SCRATCH/list"
	expect_stderr "cannot list 10\.1\..*: it takes a larger map, and this process lacks CAP_BPF"
	expect_equal "on the list" "$(limit_with "" deny rv0 list)" ""
	for i in 1 2 3 4; do
		addresses "$i"
		expect limit_with bpf deny rv0 add --file "$SCRATCH/list"
		expect_equal "pins under way" "$(find "$PINS" -name '*_new')" ""
	done
	expect_equal "on the list" "$(limit_with "" deny rv0 list --json | jq length)" 5120
	send --frame udp4 --source 10.2.255.5 --count 9
	expect_equal "denied" "$(status_field .reasons.denied.packets)" 9
	for i in 1 2 3 4; do
		addresses "$i"
		expect limit_with "" deny rv0 del --file "$SCRATCH/list"
	done
	expect_equal "on the list" "$(limit_with "" deny rv0 list)" ""
	expect limit_with "" deny rv0 add 10.2.255.5
	expect limit_with "" status rv0 --check
}

# The set grows for all that share it, and nothing else on the machine matters to them.
shared_members() {
	local holder

	[ -x "$HOLD" ] || skip "needs $HOLD"
	clean
	policy 1/h
	addresses 1
	ip -n "$SRV" link add rv2 type veth peer name cv2
	expect limit_with "$LOADING" attach rv0 rv2 --config "$SCRATCH/rv0.yaml" --share-table wan
	expect limit_with bpf deny rv0 add --file "$SCRATCH/list"
	expect limit_with "" status rv2 --check
	expect limit_with "$LOADING" apply rv2 "$SCRATCH/rv0.yaml"
	expect limit_with bpf deny rv2 del --file "$SCRATCH/list"
	expect_equal "pins under way" "$(find "$PIN_ROOT" -path "${PINS%-*}-*_new")" ""
	background holder nsenter --net="/run/netns/$SRV" "$HOLD" --netlink --ready "$SCRATCH/held" cv2
	wait_for 5 test -e "$SCRATCH/held"
	expect limit_with "" status rv0 --check
	expect limit_with "$LOADING" apply rv0 "$SCRATCH/rv0.yaml"
	stop "$holder"
	expect limit_with "" detach rv2
	ip -n "$SRV" link del rv2
}

# What is on trial is kept, and gone back from, without a capability.
trials() {
	clean
	expect limit_with "$LOADING" attach rv0 --rate 100/day --burst 50 "${SMALL[@]}"
	expect limit_with "$LOADING" attach rv0 --rate 200/day --confirm 60s
	expect limit_with "" confirm rv0
	expect_equal "former pins" "$(find "$PINS" -name '*_former')" ""
	expect limit_with "$LOADING" attach rv0 --rate 300/day --confirm 1s
	wait_for 5 rate_is 200
	expect limit_with "" status rv0 --check
	expect_equal "former pins" "$(find "$PINS" -name '*_former')" ""
	expect limit_with "$LOADING" attach rv0 --rate 300/day
	# With a table of its own.
	expect limit_with "$LOADING" attach rv0 --rate 400/day --ipv4-prefix 24 --recreate --confirm 1s
	wait_for 5 rate_is 300
	expect limit_with "" status rv0 --check
	expect limit_with "" detach rv0
}

# As the command says that ends what nobody confirmed.
rate_is() {
	[ "$(limit_with "" get rv0 "$CLI4" --json | jq '.limits[0].rate')" -eq "$1" ]
}

doctor_says() {
	clean
	expect attach --rate 100/s "${SMALL[@]}"
	expect_status 1 limit_with "" doctor rv0
	expect_stdout "rights +lacks CAP_BPF, CAP_NET_ADMIN,"
	expect_stdout "attached +our "
	expect_status 0 limit_with "$LOADING sys_admin" doctor rv0
}

as_nobody() {
	nsenter --net="/run/netns/$SRV" setpriv --reuid 65534 --clear-groups --bounding-set=-all \
		--inh-caps=-all "$XDP_LIMIT" "$@"
}

# serve_as_nobody [IFACE]
serve_as_nobody() {
	background SERVER nsenter --net="/run/netns/$SRV" setpriv --reuid 65534 --clear-groups \
		"$XDP_LIMIT" serve "$@" --listen 127.0.0.1:0 2>"$SCRATCH/serve.log"
	wait_for 5 grep -q 'serving on http' "$SCRATCH/serve.log"
}

no_root() {
	clean
	policy 1/h
	chmod 0755 "$SCRATCH" && chmod 0644 "$SCRATCH/rv0.yaml"
	expect attach --rate 100/s "${SMALL[@]}"
	expect_status 0 with "setuid setgid" setpriv --reuid 65534 --clear-groups "$XDP_LIMIT" \
		check "$SCRATCH/rv0.yaml"
	expect_status 1 as_nobody status rv0
	expect_stderr "cannot read what is attached to rv0: .*run it as root, to whom its pins belong"
	# Which one is first depends on the mode of the machine's bpffs.
	expect_status 1 as_nobody attach rv0 --rate 100/s
	expect_stderr "cannot (make|open) /(sys/fs/bpf|run)/xdp-limit: Permission denied; run it as root"
	expect_status 1 as_nobody detach rv0
	expect_stderr "cannot (make|open) /run/xdp-limit: Permission denied; run it as root"
	serve_as_nobody
	grep -q "cannot read what is attached to rv0: .*run it as root" "$SCRATCH/serve.log" ||
		fail "serve says: $(cat "$SCRATCH/serve.log")"
	stop "$SERVER"
	serve_as_nobody lo
	! grep -q "rv0" "$SCRATCH/serve.log" ||
		fail "serve of lo says: $(cat "$SCRATCH/serve.log")"
}

# ---- without pins --------------------------------------------------------------------------------
hold_link() {
	HELD=$PIN_ROOT/held-$BASHPID
	at_exit rm -f "$HELD"
	bpftool link pin pinned "$PINS/link" "$HELD"
}

pins_lost() {
	local command

	[ "$(command -v bpftool)" ] || skip "needs bpftool"
	clean
	policy 1/h
	expect attach --rate 100/s "${SMALL[@]}"
	hold_link
	rm -r "$PINS"
	for command in "status rv0" "detach rv0" "sources rv0" "ban rv0 list" "apply rv0 $SCRATCH/rv0.yaml"; do
		# shellcheck disable=SC2086 # words
		expect_status 1 limit_with "$LOADING" $command
		expect_stderr "no pins of ours, and to open it by its id this process lacks CAP_SYS_ADMIN"
	done
	expect_status 1 limit_with "$LOADING" attach rv0 --rate 200/s
	expect_stderr "find what is attached to rv0: .*no pin in $PIN_ROOT.* lacks CAP_SYS_ADMIN"
	expect limit_with "$LOADING sys_admin" attach rv0 --rate 200/s
	expect limit_with "" status rv0 --check
}

# Each pin that is missing is found by its id, and status --check tells. Emulated, a sample of them.
one_pin_lost() {
	local pin pins

	[ "$(command -v bpftool)" ] || skip "needs bpftool"
	clean
	expect attach --rate 100/s "${SMALL[@]}"
	hold_link
	pins=("$PINS"/*)
	[ -z "${XDPL_EMULATED-}" ] || pins=("$PINS"/{buckets,config,link,live_set,program,switches})
	for pin in "${pins[@]}"; do
		rm "$pin"
		expect_status 1 limit status rv0 --check
		expect limit show rv0
		expect limit deny rv0 list
		expect_status 1 limit_with "" show rv0
		expect_stderr "lacks CAP_SYS_ADMIN"
		expect attach --rate 100/s
		expect limit_with "" status rv0 --check
	done
}

# Another program's pins under our names: passed over.
stale_pins() {
	[ "$(command -v bpftool)" ] || skip "needs bpftool"
	clean
	expect attach --rate 100/s "${SMALL[@]}"
	hold_link
	rm "$PINS/buckets" "$PINS/config"
	bpftool map pin pinned "$PINS/ledger" "$PINS/buckets"
	bpftool map pin pinned "$PINS/table" "$PINS/config"
	expect limit get rv0 "$CLI4"
	expect limit show rv0
	expect_status 1 limit_with "" show rv0
	expect_stderr "lacks CAP_SYS_ADMIN"
}

# ---- modes ---------------------------------------------------------------------------------------
modes() {
	clean
	(umask 0 && expect attach --rate 100/s "${SMALL[@]}")
	(umask 0 && expect attach --rate 200/s --confirm 60s)
	expect_equal "directories" "$(stat -c '%a %u' "$PINS" /run/xdp-limit | sort -u)" "700 0"
	expect_equal "pins" "$(find "$PINS" -type f -printf '%m %U\n' | sort -u)" "600 0"
	expect_equal "locks" "$(find /run/xdp-limit -name "${PINS##*/}.lock" -printf '%m %U\n')" "600 0"
}

# ---- what others have put there ------------------------------------------------------------------
# In mounts of its own: nobody else's directories are touched.
foreign_directory() {
	local make=$1 says=$2

	# shellcheck disable=SC2016 # for the inner shell
	expect_status 1 unshare --mount --propagation private sh -c '
		mount -t bpf -o mode=1777 bpf /sys/fs/bpf || exit 99
		eval "$1"
		shift
		exec "$@"' sh "$make" nsenter --net="/run/netns/$SRV" "$XDP_LIMIT" attach rv0 --rate 1/s "${SMALL[@]}"
	expect_stderr "$says"
	! attached || fail "attached"
}

directories_of_others() {
	clean
	mkdir "$SCRATCH/theirs"
	foreign_directory "setpriv --reuid 65534 --clear-groups mkdir $PIN_ROOT" \
		"$PIN_ROOT belongs to user 65534"
	foreign_directory "ln -s $SCRATCH/theirs $PIN_ROOT" "$PIN_ROOT is not a directory, and a link"
	foreign_directory "mkdir -m 0777 $PIN_ROOT" "others may write to $PIN_ROOT \(mode 0777\)"
	foreign_directory "mkdir -m 0770 $PIN_ROOT" "others may write to $PIN_ROOT \(mode 0770\)"
	foreign_directory "mkdir -m 0700 $PIN_ROOT; ln -s $SCRATCH/theirs $PINS" "$PINS is not a directory"
	foreign_directory "mkdir -m 0700 $PIN_ROOT; mkdir $PINS; chown 65534 $PINS" \
		"$PINS belongs to user 65534"
	expect_equal "in their directory" "$(ls "$SCRATCH/theirs")" ""
}

# The lock's directory: /run itself is replaced, in mounts of its own.
lock_directory() {
	local make=$1 says=$2

	# shellcheck disable=SC2016 # for the inner shell
	expect_status 1 nsenter --net="/run/netns/$SRV" unshare --mount --propagation private sh -c '
		mount --bind "$2" /run && eval "$1" || exit 99
		shift 2
		exec "$@"' sh "$make" "$SCRATCH/run" "$XDP_LIMIT" attach rv0 --rate 1/s "${SMALL[@]}"
	expect_stderr "$says"
	rm -rf "$SCRATCH/run/xdp-limit"
	! attached || fail "attached"
}

lock_directories_of_others() {
	clean
	mkdir -m 1777 "$SCRATCH/run" "$SCRATCH/theirs"
	lock_directory "setpriv --reuid 65534 --clear-groups mkdir /run/xdp-limit" \
		"/run/xdp-limit belongs to user 65534"
	lock_directory "ln -s $SCRATCH/theirs /run/xdp-limit" "/run/xdp-limit is not a directory, and a link"
	lock_directory "mkdir -m 0777 /run/xdp-limit" "others may write to /run/xdp-limit"
	lock_directory "mkdir -m 0700 /run/xdp-limit; ln -s $SCRATCH/theirs/x /run/xdp-limit/${PINS##*/}.lock" \
		"cannot open the lock"
	expect_equal "in their directory" "$(ls "$SCRATCH/theirs")" ""
}

# ---- files ---------------------------------------------------------------------------------------
# refused FILE SAYS: by all that read it
refused() {
	expect_status 2 limit check "$1"
	expect_stderr "$2"
	expect_status 2 limit attach rv0 --config "$1"
	expect_stderr "$2"
	! attached || fail "attached"
}

policy_files() {
	clean
	policy 1/h
	chmod 0666 "$SCRATCH/rv0.yaml"
	refused "$SCRATCH/rv0.yaml" "anybody may write to $SCRATCH/rv0.yaml.*: chmod o-w $SCRATCH/rv0.yaml"
	ln -s "$SCRATCH/rv0.yaml" "$SCRATCH/link.yaml"
	refused "$SCRATCH/link.yaml" "anybody may write to .*link.yaml"
	chmod 0664 "$SCRATCH/rv0.yaml"
	expect limit check "$SCRATCH/rv0.yaml"
	mkdir -m 0777 "$SCRATCH/open" && mkdir -m 1777 "$SCRATCH/sticky"
	cp "$SCRATCH/rv0.yaml" "$SCRATCH/open" && cp "$SCRATCH/rv0.yaml" "$SCRATCH/sticky"
	refused "$SCRATCH/open/rv0.yaml" "may replace .*, since anybody may write to .*: chmod o-w .*/open"
	ln -sf "$SCRATCH/open/rv0.yaml" "$SCRATCH/link.yaml"
	refused "$SCRATCH/link.yaml" "may replace .*link.yaml, since anybody may write to .*/open"
	expect limit check "$SCRATCH/sticky/rv0.yaml"
	expect limit check - <"$SCRATCH/open/rv0.yaml"
	expect limit check <(cat "$SCRATCH/open/rv0.yaml")
	chown 65534 "$SCRATCH/rv0.yaml"
	expect attach --config "$SCRATCH/rv0.yaml"
	chmod 0666 "$SCRATCH/rv0.yaml"
	expect_status 2 limit apply rv0 "$SCRATCH/rv0.yaml"
	expect_stderr "chmod o-w"
}

list_files() {
	clean
	expect attach --rate 1/h "${SMALL[@]}"
	echo 198.18.0.1 >"$SCRATCH/list"
	chmod 0666 "$SCRATCH/list"
	expect_status 2 limit ban rv0 add --file "$SCRATCH/list"
	expect_stderr "anybody may write to $SCRATCH/list"
	expect_equal "banned" "$(limit ban rv0 list)" ""
	chmod 0644 "$SCRATCH/list"
	expect limit ban rv0 add --file "$SCRATCH/list"
}

# ---- no other programs ---------------------------------------------------------------------------
no_shell() {
	[ "$(command -v readelf)" ] || skip "needs readelf"
	expect_status 0 readelf --dyn-syms --wide "$XDP_LIMIT"
	expect_stdout ' bpf_obj_get'
	! grep -E ' (system|popen|v?fork|clone3?|exec[lv]p?e?|execvpe|fexecve|execveat|posix_spawnp?|wordexp|dlopen)(@|$)' \
		<<<"$OUT" || fail "it can start another program"
	expect_equal "mode of the binary" "$(stat -c %a "$XDP_LIMIT" | grep -c '^[2-7]...')" 0
}

# The table of the documentation names each command once.
documented() {
	local command

	for command in $("$XDP_LIMIT" --help | sed -n '/^[Cc]ommands/,$s/^  \([a-z]\+\) .*/\1/p'); do
		sed -n '/^## Capabilities/,/^CAP_SYS_ADMIN is needed/p' "$DOCS" | grep -q "\`$command\`" ||
			fail "$DOCS does not name $command"
	done
}

topology neighbours
run_case "O-117: attach takes three capabilities; each that is missing is named" first_attach
run_case "O-117: so does attach over ours, in the other mode, with a fresh table" attach_over_ours
run_case "O-117: over a foreign program it takes CAP_SYS_ADMIN" attach_over_foreign
run_case "O-117: so does apply" applies
run_case "O-117: every other command takes none" without_any
run_case "O-117: events take CAP_BPF, which is named" following
run_case "O-117: serve takes none, and CAP_BPF for events" serves
run_case "O-117: lists that grow out of their map go on without" grown_lists
run_case "O-117: members of a shared table need no more than others" shared_members
run_case "O-117: trials are confirmed, and end, without" trials
run_case "O-117: doctor says what attach would lack" doctor_says
run_case "O-117: another user than root is told so; check works" no_root
run_case "O-117: what has no pins takes CAP_SYS_ADMIN, which is named" pins_lost
run_case "O-117: each pin that is missing is made up for by the id, and told" one_pin_lost
run_case "pins that hold something else are passed over" stale_pins
run_case "pins and locks are root's alone, whatever the umask" modes
# The rest is user space's, the same on every kernel.
[ -z "${XDPL_EMULATED-}" ] || finish
run_case "a directory of pins that somebody else made is refused" directories_of_others
run_case "a directory of locks that somebody else made is refused" lock_directories_of_others
run_case "a policy that anybody may write, or replace, is refused to root" policy_files
run_case "so is a list" list_files
run_case "it starts no other program" no_shell
run_case "every command is in docs/privileges.md" documented
finish
