# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# From the command table (tools/describe.c): the specifications that completion/zsh.in gives to
# _arguments.

function quoted(text) {
	gsub(/'/, "'\\''", text)
	return "'" text "'"
}

# For the inside of a specification.
function plain(text) {
	gsub(/[\\:\[\]]/, "\\\\&", text)
	return text
}

# What completes the value that the usage line calls @word, of @option.
function action(word, option) {
	if (word ~ /\|/) {
		gsub(/\|/, " ", word)
		return "(" word ")"
	}
	if (option == "netns")
		return "_xdp_limit_names /run/netns"
	if (word ~ /^IFACE/)
		return "_xdp_limit_names /sys/class/net"
	if (word ~ /^FILE/)
		return option == "file" ? "_files" : "_files -g \"*.(yaml|yml)\""
	return " "
}

function option_spec(name, word, help) {
	return quoted("--" name (word ? "=" : "") "[" plain(help) "]" \
		(word ? ":" (word ~ /\|/ ? name : tolower(word)) ":" action(word, name) : ""))
}

# One that nothing completes would only keep options from being completed at its place.
function positional_spec(word,    repeated) {
	repeated = sub(/\.\.\.$/, "", word) ? "*" : ""
	return action(word) == " " ? "" : \
		"\n\t\t" quoted(repeated ":" (word ~ /\|/ ? "action" : tolower(word)) ":" action(word))
}

BEGIN { FS = "\t" }

$1 == "command" {
	order[++commands] = $2
	summary[$2] = $4
	reads[$2] = $5
}

$1 == "positional" { specs[$2] = specs[$2] positional_spec($3) }

$1 == "option" && $2 != "-" { specs[$2] = specs[$2] "\n\t\t" option_spec($3, $4, $5) }

$1 == "option" && $2 == "-" {
	for (i = 1; i <= commands; i++)
		if ($3 != "json" || reads[order[i]])
			specs[order[i]] = specs[order[i]] "\n\t\t" option_spec($3, $4, $5)
	general = general "\n\t" option_spec($3, $4, $5)
}

END {
	print "_xdp_limit_commands=("
	for (i = 1; i <= commands; i++)
		print "\t" quoted(plain(order[i]) ":" summary[order[i]])
	print ")\n"
	print "_xdp_limit_general=(" general "\n\t'--version[the versions of xdp-limit and libbpf]'\n)\n"
	print "_xdp_limit_specs() {\n\tcase $1 in"
	for (i = 1; i <= commands; i++)
		print "\t" order[i] ")\n\t\treply=(" specs[order[i]] ") ;;"
	print "\tesac\n}"
}
