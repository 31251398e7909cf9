# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# From the command table (tools/describe.c): what completion/bash.in asks.

function quoted(text) {
	gsub(/'/, "'\\''", text)
	return "'" text "'"
}

function print_table(name, of,    key) {
	printf "declare -gA _xdp_limit_%s=(\n", name
	for (key = 1; key <= keys; key++)
		if (order[key] in of)
			printf "\t[%s]=%s\n", quoted(order[key]), quoted(of[order[key]])
	print ")"
}

function remember(key) {
	if (!(key in known))
		order[++keys] = key
	known[key] = 1
}

BEGIN { FS = "\t" }

$1 == "command" {
	remember($2)
	commands = commands " " $2
	reads[$2] = $5
	options[$2] = ""
}

$1 == "positional" { positionals[$2] = positionals[$2] (positionals[$2] ? " " : "") $3 }

$1 == "option" && $2 != "-" {
	remember($2 " --" $3)
	options[$2] = options[$2] " --" $3
	argument[$2 " --" $3] = $4
}

$1 == "option" && $2 == "-" {
	remember("- --" $3)
	argument["- --" $3] = $4
	for (command in options)
		if ($3 != "json" || reads[command])
			options[command] = options[command] " --" $3
	general = general " --" $3
}

END {
	remember("-")
	options["-"] = general " --version"
	printf "_xdp_limit_commands='%s help'\n", substr(commands, 2)
	for (command in options)
		sub(/^ /, "", options[command])
	print_table("options", options)
	print_table("argument", argument)
	print_table("positionals", positionals)
}
