#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Completion in the real shells, as typed: bash and zsh on a terminal of their own, fish by its
# `complete -C`. The command table decides what there is to complete.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2317 # cases are called by name
. "$(dirname "$0")/../lib/tap.sh"

BUILD=$(cd "$(dirname "$0")/../.." && pwd)/${BUILD:-build}
TAB=$'\t'

# WHAT IS TYPED, with ^ for the tabulator; what the program is called with. The rest of a word is
# typed behind where the completion of its beginning has to stop.
lines() {
	cat <<-END
		att^lo|attach lo
		attach l^--rate 5/s|attach lo --rate 5/s
		attach lo --mode au^|attach lo --mode auto
		attach lo --conf^g pol^|attach lo --config policy.yaml
		attach lo --rate 5/s --fragments c^--dry^|attach lo --rate 5/s --fragments count --dry-run
		app^l^pol^--rec^|apply lo policy.yaml --recreate
		chec^p^|check policy.yaml
		--netns x ban l^a^192.0.2.1 --for 5m|--netns x ban lo add 192.0.2.1 --for 5m
		deny lo add --file bl^|deny lo add --file blocklist.txt
		sources lo --by r^--to^ 5|sources lo --by rate --top 5
		statu^--ch^|status --check
		detach --al^|detach --all
		help con^|help confirm
	END
}

start() {
	cd "$SCRATCH" || exit
	mkdir directory functions
	touch policy.yaml blocklist.txt
	# shellcheck disable=SC2016 # for the shell that is tried
	calls='xdp-limit() { printf "%s " "$@" >>calls; echo >>calls; }'
}

# Runs what stands on standard input in a shell on a terminal of its own.
on_terminal() {
	expect script -qec "$*" /dev/null
}

expect_calls() {
	expect_equal "calls" "$(sed 's/ $//' calls)" "$(lines | sed 's/.*|//')"
}

type_lines() {
	lines | sed -e 's/|.*//' -e "s/\^/$TAB/g" -e 's/^/xdp-limit /'
	echo exit
}

in_bash() {
	start
	{
		echo "$calls; source $BUILD/completion/bash"
		type_lines
	} >typed
	on_terminal bash --norc --noprofile -i <typed
	expect_calls
}

in_zsh() {
	[ "$(command -v zsh)" ] || skip "needs zsh"
	start
	cp "$BUILD/completion/zsh" functions/_xdp-limit
	{
		# shellcheck disable=SC2016 # for zsh
		echo 'fpath=($PWD/functions $fpath); autoload -U compinit; compinit -u -d dump; '"$calls"
		type_lines
	} >typed
	on_terminal zsh -f -i <typed
	expect_calls
}

# bash_offers WORD...: what completion of the last one offers
bash_offers() {
	bash --norc --noprofile -c '
		source "$1"
		shift
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_xdp_limit
		printf "%s\n" "${COMPREPLY[@]}"' bash "$BUILD/completion/bash" xdp-limit "$@"
}

fish_offers() {
	# shellcheck disable=SC2016 # for fish
	fish --no-config -c 'source $argv[1]; complete -C "$argv[2]"' "$BUILD/completion/fish" \
		"xdp-limit $*" | cut -f1
}

# Up to the tabulator: what is offered holds the rest.
in_fish() {
	local typed want

	[ "$(command -v fish)" ] || skip "needs fish"
	start
	while IFS='|' read -r typed want; do
		typed=${typed%%^*}
		want=${want#"${typed% *} "}
		want=${want%% *}
		[[ $typed == *' '* ]] || want=${want:-$typed}
		expect_equal "fish: $typed" "$(fish_offers "$typed" | grep -cx -- "$want")" 1
	done < <(lines | grep -v '^help')
	expect_equal "errors" "$(fish_offers attach 2>&1 >/dev/null)" ""
}

options_of() {
	awk -F '\t' -v command="$1" '
	$1 == "command" && $2 == command { reads = $5 }
	$1 == "option" && ($2 == command || $2 == "-" && ($3 != "json" || reads)) { print "--" $3 }' \
		"$BUILD/commands.tsv" | sort
}

# Nothing of the table is left out, and --json stands only where it means something.
all_options() {
	local command count=0

	start
	while read -r command; do
		count=$((count + 1))
		expect_equal "bash: $command" "$(bash_offers "$command" -- | sort)" \
			"$(options_of "$command")"
		expect_equal "zsh: $command" "$(zsh_specs "$command")" "$(options_of "$command")"
		[ "$(command -v fish)" ] || continue
		expect_equal "fish: $command" "$(fish_offers "$command" -- | sort)" \
			"$(options_of "$command")"
	done < <(awk -F '\t' '$1 == "command" { print $2 }' "$BUILD/commands.tsv")
	expect_at_least "commands" "$count" 14
}

zsh_specs() {
	awk -v command="$1" '
	$1 == command ")" { inside = 1 }
	inside && match($0, /--[a-z0-9-]+/) { print substr($0, RSTART, RLENGTH) }
	/;;/ { inside = 0 }' "$BUILD/completion/zsh" | sort
}

# The table is what the program's own help says.
help_agrees() {
	local command

	start
	while read -r command; do
		expect_equal "options of $command" \
			"$("$BUILD/xdp-limit" "$command" --help | grep -oE '^  --[a-z0-9-]+' |
				tr -d ' ' | grep -vx -- "$(has_json "$command")" | sort)" \
			"$(options_of "$command")"
	done < <("$BUILD/xdp-limit" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
}

has_json() {
	options_of "$1" | grep -qx -- --json && echo nothing || echo --json
}

interfaces() {
	start
	expect_equal "bash" "$(bash_offers status '' | sort)" "$(basename -a /sys/class/net/* | sort)"
	expect_equal "bash, --mode=" "$(bash_offers attach lo --mode = '' | paste -sd' ')" \
		"native generic auto"
	expect_equal "bash, a file" "$(bash_offers apply lo '' | sort | paste -sd' ')" \
		"directory functions policy.yaml"
}

[ -e "$BUILD/completion/fish" ] || skip "needs completion: make completion"
run_case "bash completes what is typed" in_bash
run_case "zsh completes what is typed" in_zsh
run_case "fish completes what is typed" in_fish
run_case "every option of every command is offered" all_options
run_case "--help names the same options" help_agrees
run_case "interfaces, words and policy files are offered" interfaces
finish
