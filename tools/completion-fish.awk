# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# From the command table (tools/describe.c): the rules for completion/fish.in.

function quoted(text) {
	gsub(/['\\]/, "\\\\&", text)
	return "'" text "'"
}

# How the value is completed that the usage line calls @word, of @option.
function action(word, option) {
	if (word ~ /\|/) {
		gsub(/\|/, " ", word)
		return " -a " quoted(word)
	}
	if (option == "netns")
		return " -a '(__xdp_limit_names /run/netns)'"
	if (word ~ /^IFACE/)
		return " -a '(__xdp_limit_names /sys/class/net)'"
	if (word ~ /^FILE/)
		return option == "file" ? " -F" : " -f -k -a '(__fish_complete_suffix .yaml)'"
	return ""
}

function print_option(condition, name, word, help) {
	rules = rules "complete -c xdp-limit -n " quoted(condition) " -l " name \
		(word ? " -r" (word == "FILE" ? "" : " -f") : "") action(word, name) " -d " quoted(help) "\n"
	if (word && !(name in valued)) {
		valued[name] = 1
		takers = takers " --" name
	}
}

function print_positional(command, place, word) {
	if (action(word))
		rules = rules "complete -c xdp-limit -n " \
			quoted("__xdp_limit_at " command " " place (word ~ /\.\.\.$/ ? " more" : "")) \
			action(word) "\n"
}

BEGIN { FS = "\t" }

$1 == "command" {
	reads[$2] = $5
	all = all " " $2
	if ($5)
		readers = readers " " $2
	rules = rules "complete -c xdp-limit -n '__xdp_limit_at \"\" 0' -a " $2 " -d " quoted($4) "\n"
}

$1 == "positional" { print_positional($2, places[$2]++, $3) }

$1 == "option" && $2 != "-" { print_option("__xdp_limit_command " $2, $3, $4, $5) }

$1 == "option" && $2 == "-" {
	print_option("__xdp_limit_command" ($3 == "json" ? readers : all " \"\""), $3, $4, $5)
}

END {
	print "set -g __xdp_limit_valued" takers "\n"
	printf "%s", rules
	print "complete -c xdp-limit -n '__xdp_limit_command \"\"' -l version" \
		" -d 'the versions of xdp-limit and libbpf'"
}
