# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# From the command table (tools/describe.c): what man/xdp-limit.8.in says of each command.

# Backslashes and minus signs are roff's; so are a dot and a quote at the beginning of a line.
function plain(text) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	sub(/^[.']/, "\\\\\\&&", text)
	return text
}

# Running text, in lines of up to 78 characters; a sentence ends its line.
function print_text(text,    words, count, i, line) {
	count = split(text, words, " ")
	for (i = 1; i <= count; i++) {
		if (line != "" && (length(line " " words[i]) > 74 || line ~ /[.;]$/)) {
			print plain(line)
			line = ""
		}
		line = line (line == "" ? "" : " ") words[i]
	}
	print plain(line)
}

# Arguments in capitals are set in italics, the rest of a usage line in bold.
function usage(text,    parts, count, i, out) {
	count = split(text, parts, " ")
	for (i = 1; i <= count; i++)
		out = out (i > 1 ? " " : "") (parts[i] ~ /^[\[(]?[A-Z]+(\.\.\.)?[\])]*$/ ? \
			"\\fI" plain(parts[i]) "\\fR" : \
			parts[i] ~ /^[|]$/ ? parts[i] : "\\fB" plain(parts[i]) "\\fR")
	return out
}

function print_option(name, argument, help) {
	print ".TP"
	print "\\fB\\-\\-" plain(name) "\\fR" (argument ? " " usage(argument) : "")
	print_text(help)
}

function print_notes(text,    lines, count, i, example, running) {
	count = split(text, lines, "\n")
	lines[count + 1] = "" # ends what runs
	for (i = 1; i <= count + 1; i++) {
		if (lines[i] ~ /^[^ ]/) {
			running = running (running == "" ? "" : " ") lines[i]
			continue
		}
		if (running != "") {
			print ".PP"
			print_text(running)
			running = ""
		}
		if (lines[i] ~ /^  / && !example) {
			print ".PP\n.RS 4\n.EX"
			example = 1
		} else if (lines[i] !~ /^  / && example) {
			print ".EE\n.RE"
			example = 0
		}
		if (example)
			print plain(substr(lines[i], 3))
	}
}

function print_command(name) {
	print ".SS " name
	print "\\fBxdp\\-limit " name "\\fR " usage(arguments[name])
	print ".PP"
	print_text(toupper(substr(summary[name], 1, 1)) substr(summary[name], 2) ".")
	for (i = 1; i <= options[name]; i++)
		print_option(option[name, i], argument[name, i], help[name, i])
	if (!notes[name])
		return
	if (notes[name] in said)
		print ".PP\nMore is said at \\fB" said[notes[name]] "\\fR."
	else
		print_notes(notes[name])
	if (!(notes[name] in said))
		said[notes[name]] = name
}

BEGIN { FS = "\t" }

$1 == "command" {
	order[++commands] = $2
	arguments[$2] = $3
	summary[$2] = $4
}

$1 == "option" {
	i = ++options[$2]
	option[$2, i] = $3
	argument[$2, i] = $4
	help[$2, i] = $5
}

$1 == "note" { notes[$2] = notes[$2] (($2 in notes) && notes[$2] != "" ? "\n" : "") $3 }

END {
	for (c = 1; c <= commands; c++)
		print_command(order[c])
	print ".SS \"Options of all commands\""
	for (i = 1; i <= options["-"]; i++)
		print_option(option["-", i], argument["-", i], help["-", i])
	print_option("version", "", "the versions of xdp-limit and libbpf")
}
