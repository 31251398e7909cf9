// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prints the command table for what is made of it at build time: the manual page and completion.
 * One line for each thing, in columns that tabs separate:
 *
 *	command NAME USAGE SUMMARY JSON		JSON: 1 when it takes --json
 *	positional COMMAND WORD			in order; "a|b" are words, "..." may be repeated
 *	option COMMAND NAME ARGUMENT HELP	COMMAND is - for options of all commands
 *	note COMMAND LINE			of the paragraphs behind the options
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "command.h"

#define WORD_SIZE 64

static bool is_positional(const char *word)
{
	return word[0] != '|' && strcmp(word, "OPTION...") &&
	       (isupper((unsigned char)word[0]) || strchr(word, '|'));
}

static void describe_positional(const char *command, const char *text, size_t length)
{
	char word[WORD_SIZE];

	if (length && text[0] == '[') {
		text++;
		length -= 2;
	}
	snprintf(word, sizeof(word), "%.*s", (int)length, text);
	if (is_positional(word))
		printf("positional\t%s\t%s\n", command, word);
}

/* Of the usage line: what stands neither in parentheses nor in brackets with an option. */
static void describe_positionals(const struct command *command)
{
	const char *at = command->arguments;

	while (*at) {
		if (*at == '(') {
			at += strcspn(at, ")");
		} else if (!strncmp(at, "[-", 2)) {
			at += strcspn(at, "]");
		} else {
			size_t length = strcspn(at, " ");

			describe_positional(command->name, at, length);
			at += length;
		}
		at += strspn(at, " )]");
	}
}

static void describe_options(const char *command, const struct option_spec *options)
{
	for (; options && options->name; options++)
		printf("option\t%s\t%s\t%s\t%s\n", command, options->name, options->argument ?: "",
		       options->help);
}

static void describe_notes(const struct command *command)
{
	const char *at = command->notes;

	while (at && *at) {
		size_t length = strcspn(at, "\n");

		printf("note\t%s\t%.*s\n", command->name, (int)length, at);
		at += length + (at[length] == '\n');
	}
}

int main(void)
{
	for (int i = 0; command_table[i]; i++) {
		const struct command *command = command_table[i];

		printf("command\t%s\t%s\t%s\t%d\n", command->name, command->arguments,
		       command->summary, command->reads);
		describe_positionals(command);
		describe_options(command->name, command->options);
		describe_notes(command);
	}
	describe_options("-", common_options);
	return fflush(stdout) || ferror(stdout);
}
