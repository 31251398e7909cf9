#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Policy files from `check` to the wire: every error in its place, every key in force, and `get`
# telling what packets then meet.
# shellcheck source-path=SCRIPTDIR source=../lib/policy.sh
. "$(dirname "$0")/../lib/policy.sh"

# ---- check ---------------------------------------------------------------------------------------
all_errors() {
	cat >"$SCRATCH/bad.yaml" <<-'END'
		table: {sources: 10, nosuch: 1}
		allow: [192.0.2.300]
		limits:
		  - name: default
		    rate: 0 pps
		  - {name: x, rate: 10 pps, burst: 0}
		  - {name: x, rate: 10 pps, colour: red}
		  - {name: y, rate: 10 bps}
		  - {name: z, match: {protocol: tpc}, rate: 1/s, on-exceed: {ban: 0s}}
	END
	expect_status 2 "$XDP_LIMIT" check "$SCRATCH/bad.yaml"
	expect_equal "places" "$(sed -E "s,^(xdp-limit: )?$SCRATCH/bad\.yaml:,,; s/: .*//" \
		<<<"$ERR" | paste -sd' ')" \
		"1:18 1:22 2:9 5:11 6:36 7:12 7:29 8:21 9:33 9:67"
	expect_equal "stdout" "$OUT" ""
	expect_stderr '192\.0\.2\.300'
	expect_stderr 'no key "colour"'
	expect_stderr 'did you mean "tcp"'
}

# STATUS TEXT, with \n in it: how files end that are no policy at all.
no_policies() {
	local text

	while IFS= read -r text; do
		printf '%b' "$text" >"$SCRATCH/it.yaml"
		expect_status 2 "$XDP_LIMIT" check "$SCRATCH/it.yaml"
		expect_stderr "^(xdp-limit: )?$SCRATCH/it\.yaml:[0-9]+(:[0-9]+)?: "
	done <<-'END'
		limits: [
		limits: {a\n
		- a\n- b\n
		just words
		limits: [{rate: 1/s}]
		limits: [{name: a}]
		limits: [{name: a, rate: 1/s}]\nlimits: []
		limits: [{name: a, rate: 1/s, rate: 2/s}]
		\tlimits: []
		limits: [{name: a, rate: 1/s}]\n---\nlimits: []
		limits: &a [*a]
	END
	expect_status 2 "$XDP_LIMIT" check "$SCRATCH/nosuch.yaml"
	expect_stderr "nosuch\.yaml"
}

good_file() {
	echo 'limits: [{name: default, rate: 1000 pps}]' >"$SCRATCH/good.yaml"
	expect_status 0 "$XDP_LIMIT" check "$SCRATCH/good.yaml"
	expect_stdout "good\.yaml: ok"
	expect_no_stderr .
	expect "$XDP_LIMIT" check - <"$SCRATCH/good.yaml"
}

# A word that no place of the file knows is an error of its line.
unknown_keys() {
	local line text number=0

	while IFS= read -r text; do
		number=$((number + 1))
		printf '%b' "$text" >"$SCRATCH/it.yaml"
		line=$(grep -n nosuch "$SCRATCH/it.yaml" | cut -d: -f1)
		expect_status 2 "$XDP_LIMIT" check "$SCRATCH/it.yaml"
		expect_stderr "it\.yaml:$line:[0-9]+: .*nosuch"
	done <<-'END'
		limits: [{name: a, rate: 1/s}]\nnosuch: 1\n
		limits: [{name: a, rate: 1/s}]\ntable:\n  nosuch: 1\n
		limits: [{name: a, rate: 1/s}]\ntiers: [{name: p, sources: [192.0.2.1],\n  nosuch: 1}]\n
		limits:\n  - name: a\n    rate: 1/s\n    nosuch: 1\n
		limits: [{name: a, rate: 1/s,\n  match: {nosuch: 1}}]\n
		limits: [{name: a, rate: 1/s,\n  match: {protocol: nosuch}}]\n
		limits: [{name: a, rate: 1/s,\n  match: {tcp-flags: nosuch}}]\n
		limits: [{name: a, rate: 1/s,\n  per: nosuch}]\n
		limits: [{name: a, rate: 1/s,\n  algorithm: nosuch}]\n
		limits: [{name: a, rate: 1/s,\n  mode: nosuch}]\n
		limits: [{name: a, rate: 1/s,\n  on-exceed: nosuch}]\n
		limits: [{name: a, rate: 1/s,\n  on-exceed: {ban: 1m, nosuch: 1}}]\n
		limits: [{name: a, rate: 1/s,\n  tiers: {nosuch: unlimited}}]\n
		limits: [{name: a, rate: 1/s}]\nfragments: nosuch\n
	END
	expect_equal "rows" "$number" 14
}

# O-100: what 0 means is said, or the key is named.
zeros() {
	local key text number=0

	while IFS='|' read -r key text; do
		number=$((number + 1))
		echo "$text" >"$SCRATCH/it.yaml"
		expect_status 2 "$XDP_LIMIT" check "$SCRATCH/it.yaml"
		expect_stderr "it\.yaml:1:[0-9]+: .*$key"
	done <<-'END'
		sources|{table: {sources: 0}, limits: [{name: a, rate: 1/s}]}
		ipv4-prefix|{table: {ipv4-prefix: 0}, limits: [{name: a, rate: 1/s}]}
		ipv6-prefix|{table: {ipv6-prefix: 0}, limits: [{name: a, rate: 1/s}]}
		rate can't be 0|{table: {new-sources: 0/s}, limits: [{name: a, rate: 1/s}]}
		rate can't be 0|{limits: [{name: a, rate: 0/s}]}
		rate can't be 0|{limits: [{name: a, rate: 0 bit/s}]}
		burst|{limits: [{name: a, rate: 1/s, burst: 0}]}
		burst|{limits: [{name: a, rate: 1 MB/s, burst: 0 KiB}]}
		burst|{limits: [{name: a, rate: 1/s, burst: 0s}]}
		ban|{limits: [{name: a, rate: 1/s, on-exceed: {ban: 0s}}]}
		prefix length 0|{limits: [{name: a, rate: 1/s, per: source/0}]}
	END
	expect_equal "rows" "$number" 11
	echo "{tiers: [{name: p, sources: [192.0.2.1]}]," \
		"limits: [{name: a, rate: 1/s, tiers: {p: {rate: 0/s}}}]}" >"$SCRATCH/it.yaml"
	expect_status 2 "$XDP_LIMIT" check "$SCRATCH/it.yaml"
	expect_stderr "it\.yaml:1:[0-9]+: .*rate can't be 0"
}

# ---- show ----------------------------------------------------------------------------------------
# Reading back what `show` printed changes nothing.
expect_show_fixed() {
	expect_status 0 limit show rv0
	echo "$OUT" >"$SCRATCH/shown.yaml"
	expect limit apply rv0 "$SCRATCH/shown.yaml"
	expect_status 0 limit show rv0
	expect_equal "shown again" "$OUT" "$(cat "$SCRATCH/shown.yaml")"
	expect_status 0 "$XDP_LIMIT" check "$SCRATCH/shown.yaml"
}

example_loads() {
	run_policy <<-'END'
		table:   {type: lru, sources: 1048576, ipv4-prefix: 32, ipv6-prefix: 64,
		          new-sources: auto, new-sources-beyond: drop, when-full: pass}   # flat: inherit (default), pass, drop
		fragments: count            # count | drop | pass
		malformed: drop             # drop | pass
		allow:   [192.0.2.0/24, 2001:db8:1::/48]     # a bare address means /32 or /128
		deny:    [203.0.113.66]
		tiers:
		  - {name: pro, sources: [198.51.100.0/24]}
		limits:
		  - name: default
		    rate: 1000 pps
		    burst: 2000 packets
		    tiers: {pro: {rate: 10000 pps, burst: 20000 packets}}
		  - {name: dns,   match: {protocol: udp, destination-port: 53}, rate: 50 pps, on-exceed: {ban: 10m}}
		  - {name: syn,   match: {tcp-flags: syn}, rate: 20 pps}
		  - {name: bulk,  rate: 10 Mbit/s, burst: 256 KiB}
		  - {name: subnet, per: [source/24, source/48], rate: 20000 pps}
		  - {name: total, per: interface, rate: 1000000 pps, algorithm: token-bucket, mode: observe}
	END
	expect_show_fixed
	passes 30 --frame udp4 --source 192.0.2.10 --count 30
	passes 0 --frame udp4 --source 203.0.113.66 --count 30
	passes 20 --frame tcp-syn4 --source 198.18.0.1 --count 20
	passes 50 --frame udp4 --source 198.18.0.2 --dport 53 --count 1000
	expect_at_least "ban" "$(limit ban rv0 list --json | jq '.[0].seconds_left')" 590
}

# O-099: each key, with a value that is not its default.
every_key() {
	local line

	run_policy <<-'END'
		table: {sources: 2048, ipv4-prefix: 30, ipv6-prefix: 56, new-sources: 5000/s,
		        new-sources-beyond: pass, when-full: drop}
		fragments: pass
		malformed: pass
		dry-run: true
		allow: [192.0.2.0/24]
		deny: [203.0.113.66, '2001:db8:bad::/48']
		tiers: [{name: pro, sources: [198.51.100.0/24]}, {name: no, sources: [10.0.0.0/8]}]
		limits:
		  - name: first
		    rate: 90/min
		    burst: 7
		    algorithm: leaky-bucket
		    per: source+destination
		    mode: observe
		    on-exceed: {ban: 90s, extend: true}
		    match: {protocol: [tcp, 99], source-port: 1000-2000, destination-port: [53, 80],
		            tcp-flags: 'syn,!ack', destination: 192.0.2.0/28, family: ipv4, vlan: 12,
		            length: 60-100}
		    tiers: {pro: {rate: 7 pps, burst: 9}, no: block}
		  - {name: second, rate: 3 MB/s, burst: 100 KiB, per: [source/20, source/40]}
		  - {name: third, rate: 100/s, algorithm: fixed-window, per: interface}
		  - {name: fourth, rate: 20/s, algorithm: sliding-log}
		  - {name: fifth, rate: 200/s, algorithm: sliding-window}
	END
	expect_status 0 limit show rv0
	while IFS= read -r line; do
		grep -Fq -- "$line" <<<"$OUT" || fail "not shown: $line"$'\n'"$OUT"
	done <<-'END'
		  sources: 2048
		  ipv4-prefix: 30
		  ipv6-prefix: 56
		  new-sources: 5000 pps
		  new-sources-beyond: pass
		  when-full: drop
		fragments: pass
		malformed: pass
		dry-run: true
		  - 192.0.2.0/24
		  - "2001:db8:bad::/48"
		      - 198.51.100.0/24
		    rate: 90/min
		    burst: 7 packets
		    algorithm: leaky-bucket
		    per: source+destination
		    mode: observe
		    on-exceed: {ban: 90s, extend: true}
		protocol: [tcp, 99]
		source-port: [1000-2000]
		destination-port: [53, 80]
		tcp-flags: "syn,!ack"
		destination: [192.0.2.0/28]
		family: ipv4
		vlan: [12]
		length: [60-100]
		      pro: {rate: 7 pps, burst: 9 packets}
		      no: {rate: block}
		    rate: 3 MB/s
		    burst: 100 KiB
		    per: [source/20, source/40]
		    algorithm: fixed-window
		    per: interface
		    algorithm: sliding-log
		    algorithm: sliding-window
	END
	expect_show_fixed
}

ten_times() {
	local program shown i

	run_policy <<-'END'
		table: {sources: 1024}
		tiers: [{name: pro, sources: [198.51.100.0/24]}]
		limits:
		  - {name: default, rate: 1/h, burst: 20, tiers: {pro: {rate: 1/h, burst: 40}}}
		  - {name: dns, match: {protocol: udp, destination-port: 53}, rate: 1/h, burst: 5}
	END
	shown=$(limit show rv0)
	for ((i = 0; i < 10; i++)); do
		program=$(program_id)
		expect limit apply rv0 "$SCRATCH/policy.yaml"
		expect_equal "show" "$(limit show rv0)" "$shown"
		expect_ours
		[ "$(program_id)" -ne "$program" ] || fail "still program $program"
	done
	expect limit detach rv0
	! pinned || fail "pins are left: $(ls "$PINS")"
	expect_equal "attachments" "$(attachments)" 0
	expect limit attach rv0 --config "$SCRATCH/policy.yaml"
	expect_equal "show" "$(limit show rv0)" "$shown"
	expect_ours
}

# O-100: everything that may be left out is.
least_policy() {
	run_policy <<<'limits: [{name: default, rate: 7/h}]'
	passes 1 --frame udp4 --source 198.18.1.1 --count 20
	expect_show_fixed
}

without_limits() {
	run_policy <<<'{table: {sources: 1024}, limits: [{name: default, rate: unlimited}]}'
	passes 3000 --frame udp4 --source 198.18.1.1 --count 3000
	expect_show_fixed
}

# ---- which packets -------------------------------------------------------------------------------
other_ports_pass() {
	run_policy <<-'END'
		table: {sources: 1024}
		limits: [{name: game, match: {protocol: udp, destination-port: 27015}, rate: 200 pps}]
	END
	passes 1000 --frame tcp-ack4 --dport 25565 --count 1000 --rate 2000
	expect_equal "game's packets" "$(limit_field game '.passed_packets + .dropped_packets')" 0
	send --frame udp4 --dport 27015 --count 1000
	expect_between "game's dropped" "$(limit_field game .dropped_packets)" 600 800
}

scope() {
	run_policy <<-'END'
		table: {sources: 1024}
		limits: [{name: telemetry, match: {protocol: udp, destination-port: 9000}, rate: 10/h,
		          burst: 10}]
	END
	passes 1000 --frame tcp-syn4 --dport 22 --count 1000
	passes 1000 --frame tcp-ack4 --dport 9000 --count 1000
	passes 1000 --frame udp4 --dport 9001 --sport 9000 --count 1000
	expect_equal "remaining" "$(get_limit "$CLI4" telemetry .remaining)" 10
	passes 10 --frame udp4 --dport 9000 --count 1000
}

# One profile drops, the other only says what it would: both ports of one interface.
two_profiles() {
	run_policy <<-'END'
		table: {sources: 1024}
		limits:
		  - {name: voice, match: {protocol: udp, destination-port: 9987}, rate: 1/h, burst: 10}
		  - {name: game, match: {protocol: udp, destination-port: 27015}, rate: 1/h, burst: 20,
		     mode: observe}
	END
	passes 10 --frame udp4 --dport 9987 --count 50
	passes 50 --frame udp4 --dport 27015 --count 50
	expect_equal "voice" "$(limit_field voice '"\(.dropped_packets) \(.would_drop_packets)"')" \
		"40 0"
	expect_equal "game" "$(limit_field game '"\(.dropped_packets) \(.would_drop_packets)"')" \
		"0 30"
}

# A source limited for all its users is lifted by a tier of its own; the others stay as they are.
override() {
	run_policy <<-'END'
		table: {sources: 1024}
		limits: [{name: default, rate: 1/h, burst: 40}]
	END
	passes 40 --frame udp4 --source 192.0.2.10 --count 60
	passes 30 --frame udp4 --source 192.0.2.11 --count 30
	expect_equal "limited" "$(source_field 192.0.2.10 .remaining)" 0
	expect_equal "dropped" "$(source_field 192.0.2.10 .dropped_packets)" 20
	apply_policy <<-'END'
		tiers: [{name: carrier, sources: [192.0.2.10/32]}]
		limits: [{name: default, rate: 1/h, burst: 40, tiers: {carrier: {rate: 100000 pps}}}]
	END
	expect_equal "tier" "$(get_field 192.0.2.10 .tier)" carrier
	# What it owed of the old rate is forgotten by the first packet, which may still be dropped.
	send --frame udp4 --source 192.0.2.10 --count 1
	passes 500 --frame udp4 --source 192.0.2.10 --count 500 --rate 5000
	expect_equal "remaining of the other" "$(get_limit 192.0.2.11 default .remaining)" 10
	passes 10 --frame udp4 --source 192.0.2.11 --count 60
}

# ---- rates ---------------------------------------------------------------------------------------
arrivals() {
	in_srv tcpdump -tt -nr "$SCRATCH/capture" udp 2>/dev/null | cut -d' ' -f1
}

captures() {
	[ -s "$SCRATCH/capture" ]
}

# Throttled, not banned: what is too much goes, and something comes through all the time.
household() {
	local dump senders=() i

	[ "$(command -v tcpdump)" ] || skip "needs tcpdump"
	run_policy <<-'END'
		table: {sources: 1024}
		limits: [{name: default, rate: 100 pps, burst: 100}]
	END
	background dump in_srv tcpdump -U --immediate-mode -i rv0 -w "$SCRATCH/capture" udp 2>/dev/null
	wait_for 5 captures
	for ((i = 0; i < 3; i++)); do
		background "senders[$i]" in_cli "$XDPL_SEND" -i rv1 --dst-mac "$SRV_MAC" --frame udp4 \
			--source "$CLI4" --sport $((40000 + i)) --rate 60 --duration 2.5 >/dev/null
	done
	wait "${senders[@]}"
	settle
	stop "$dump"
	expect_between "passed of 450" "$(arrivals | wc -l)" 340 355
	expect_at_most "seconds of silence" \
		"$(arrivals | awk 'NR > 1 && $1 - last > most { most = $1 - last }
			{ last = $1 } END { print most + 0 }')" 0.2
}

# The exemption is one that status counts.
ping_limit() {
	run_policy <<-'END'
		table: {sources: 1024}
		allow: [192.0.2.99]
		limits: [{name: ping, match: {protocol: icmp}, rate: 5 pps, burst: 5}]
	END
	send --frame icmp4 --count 100 --rate 100
	expect_between "passed" "$(limit_field ping .passed_packets)" 5 11
	passes 50 --frame icmp4 --source 192.0.2.99 --count 50
	expect_equal "allowed" "$(reason_field allowed)" 50
	expect_status 0 limit status rv0
	expect_stdout '^ +allowed +50 '
}

# A piece of the 30 seconds, the same rates.
per_thirty_seconds() {
	run_policy <<-'END'
		table: {sources: 1024}
		limits: [{name: default, rate: 8000 per 30s, burst: 100}]
	END
	expect_equal "rate" "$(get_limit "$CLI4" default '"\(.rate) \(.per_seconds)"')" "8000 30"
	send --frame udp4 --source 198.18.0.1 --count 1000 --rate 500
	expect_between "passed of 1000" "$(source_field 198.18.0.1 .passed_packets)" 530 640
	passes 150 --frame udp4 --source 198.18.0.2 --count 150 --rate 167
	echo 'limits: [{name: a, rate: 1 per 5000d}]' >"$SCRATCH/far.yaml"
	expect_status 2 "$XDP_LIMIT" check "$SCRATCH/far.yaml"
	expect_stderr 'range'
}

# Both hold; what drops is told apart.
packets_and_bytes() {
	run_policy <<-'END'
		table: {sources: 1024}
		limits:
		  - {name: packets, rate: 2500 pps}
		  - {name: bytes, rate: 600 B/s, burst: 600 B}
	END
	send --frame udp4 --size 60 --count 200 --rate 100
	expect_between "passed in 2 s" "$(limit_field bytes .passed_packets)" 29 31
	expect_equal "dropped by packets" "$(limit_field packets .dropped_packets)" 0
	expect_equal "dropped by bytes" "$(limit_field bytes .dropped_packets)" \
		"$(reason_field over_limit)"
}

# ---- get -----------------------------------------------------------------------------------------
tiers_in_get() {
	run_policy <<-'END'
		table: {sources: 1024}
		tiers:
		  - {name: pro, sources: [198.51.100.0/24, '2001:db8:7::/48']}
		  - {name: vip, sources: [198.51.100.7]}
		  - {name: bad, sources: [198.51.100.128/25]}
		limits:
		  - {name: default, rate: 1/h, burst: 2, tiers: {pro: {rate: 2/h, burst: 5},
		     vip: unlimited, bad: block}}
	END
	while read -r address tier burst of_ten; do
		expect_equal "tier of $address" "$(get_field "$address" .tier)" "$tier"
		expect_equal "burst of $address" \
			"$(get_limit "$address" default '.burst // .kind')" "$burst"
		passes "$of_ten" --frame "udp$([[ $address == *:* ]] && echo 6 || echo 4)" \
			--source "$address" --count 10
	done <<-'END'
		192.0.2.10 null 2 2
		198.51.100.3 pro 5 5
		2001:db8:7:1::1 pro 5 5
		2001:db8:8:1::1 null 2 2
		198.51.100.7 vip unlimited 10
		198.51.100.200 bad block 0
	END
	expect_show_fixed
}

# Sources of two tiers under one bucket: it holds what was charged at the larger burst, too.
tiers_share() {
	run_policy <<-END
		table: {sources: 1024}
		tiers: [{name: pro, sources: [198.51.100.0/24]}]
		limits:
		  - {name: total, per: $1, rate: 10/h, burst: 5, tiers: {pro: {rate: 10/h, burst: 20}}}
	END
	passes 20 --frame udp4 --source 198.51.100.1 --count 30
	passes 0 --frame udp4 --source "$2" --count 30
	passes 0 --frame udp4 --source 198.51.100.1 --count 30
}

smallest() {
	get_field "$CLI4" "[.limits[].$1] | $2"
}

# What get says is what then happens, by all limits at once.
get_believed() {
	local remaining retry

	run_policy <<-'END'
		table: {sources: 1024}
		limits:
		  - {name: wide, rate: 1 pps, burst: 50}
		  - {name: udp, match: {protocol: udp}, rate: 30/min, burst: 20}
		  - {name: net, per: source/24, rate: 1/h, burst: 45}
		  - {name: window, rate: 30/h, algorithm: sliding-log}
		  - {name: total, per: interface, rate: 1000 pps}
	END
	expect_equal "has a bucket" "$(get_field "$CLI4" .has_bucket)" false
	expect_equal "remaining" "$(smallest remaining min)" 20
	passes 13 --frame udp4 --count 13
	remaining=$(smallest remaining min)
	expect_between "remaining" "$remaining" 7 8
	passes "$remaining" --frame udp4 --count 40
	retry=$(smallest retry_after_seconds max)
	expect_between "retry after" "$retry" 1 2
	passes 0 --frame udp4 --count 1
	sleep "$(smallest retry_after_seconds max)"
	passes 1 --frame udp4 --count 5
	expect_equal "has a bucket" "$(get_field "$CLI4" .has_bucket)" true
	expect_equal "charged to the others" "$(get_limit "$CLI4" window .remaining)" \
		"$((30 - 14 - remaining))"
}

topology neighbours
run_case "check tells every error by file, line and column" all_errors
run_case "check tells where a file is no policy" no_policies
run_case "check of a right file, and of standard input" good_file
run_case "O-099: an unknown word anywhere is an error of its line" unknown_keys
run_case "O-100: a 0 is refused by the name of its key" zeros
run_case "the design's example loads as it stands and does what it says" example_loads
run_case "O-099: every key shows, and show reads back" every_key
run_case "O-091: apply ten times, detach, attach: one program, the same show, no pins" ten_times
run_case "O-100: a policy of nothing but a rate" least_policy
run_case "O-015: unlimited: everything passes" without_limits
run_case "O-015: a limit of one port leaves the source's other traffic alone" other_ports_pass
run_case "O-030: UDP to 9000 is limited, TCP and other ports are not" scope
run_case "O-029: two ports, two rates, one of them tried without dropping" two_profiles
run_case "O-016: an override for one address lifts it and keeps the others' state" override
run_case "O-017: three senders behind one address are throttled, not silenced" household
run_case "O-026: echo requests are limited; exemptions have a counter" ping_limit
run_case "O-028: 8000 per 30s" per_thirty_seconds
run_case "O-096: packets and bytes: both hold, and the one that drops is told" packets_and_bytes
run_case "tiers: get shows the rate that packets then meet" tiers_in_get
run_case "tiers under one bucket of the interface: no burst is handed out twice" \
	tiers_share interface 192.0.2.7
run_case "tiers under one bucket of a prefix: no burst is handed out twice" \
	tiers_share source/16 198.51.101.7
run_case "get of several limits: so many pass, then one after retry-after" get_believed
finish
