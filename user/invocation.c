// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads a command line by the command table. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "command.h"
#include "report.h"

enum global_option {
	GLOBAL_NETNS,
	GLOBAL_JSON,
	GLOBAL_HELP,
	GLOBAL_VERSION,
	GLOBAL_VERBOSE,
	GLOBAL_COUNT,
};

static const struct option globals[GLOBAL_COUNT] = {
	[GLOBAL_NETNS] = {"netns", required_argument, NULL, GLOBAL_NETNS},
	[GLOBAL_JSON] = {"json", no_argument, NULL, GLOBAL_JSON},
	[GLOBAL_HELP] = {"help", no_argument, NULL, GLOBAL_HELP},
	[GLOBAL_VERSION] = {"version", no_argument, NULL, GLOBAL_VERSION},
	[GLOBAL_VERBOSE] = {"verbose", no_argument, NULL, GLOBAL_VERBOSE},
};

/* The first word from @from on that is neither an option nor the value of --netns; @argc for none. */
static int find_word(int argc, char **argv, int from)
{
	for (int i = from; i < argc; i++) {
		if (!strcmp(argv[i], "--netns"))
			i++;
		else if (argv[i][0] != '-')
			return i;
	}
	return argc;
}

static void fill_options(const struct command *command, struct option *options)
{
	int count = GLOBAL_COUNT;

	memcpy(options, globals, sizeof(globals));
	for (int i = 0; command && command->options && command->options[i].name; i++) {
		const struct option_spec *spec = &command->options[i];

		options[count].name = spec->name;
		options[count].has_arg = spec->argument ? required_argument : no_argument;
		options[count].flag = NULL;
		options[count].val = count;
		count++;
	}
	memset(&options[count], 0, sizeof(options[count]));
}

static int take_global(struct invocation *invocation, int option)
{
	switch (option) {
	case GLOBAL_NETNS:
		invocation->netns = optarg;
		break;
	case GLOBAL_JSON:
		invocation->json = true;
		break;
	case GLOBAL_HELP:
		invocation->help = true;
		break;
	case GLOBAL_VERSION:
		invocation->version = true;
		break;
	default:
		invocation->verbose++;
		break;
	}
	return 0;
}

static int take_option(struct invocation *invocation, int option)
{
	int index = option - GLOBAL_COUNT;

	if (option < GLOBAL_COUNT || !invocation->command)
		return take_global(invocation, option);
	if (invocation->values[index]) {
		report_error("--%s is given twice", invocation->command->options[index].name);
		return -EINVAL;
	}
	invocation->values[index] = optarg ?: "";
	return 0;
}

static int refuse_option(const struct invocation *invocation, int option, const char *word)
{
	const char *name = invocation->command ? invocation->command->name : NULL;

	if (option == ':')
		report_error("%s needs a value; see: xdp-limit %s%s--help", word, name ?: "",
			     name ? " " : "");
	else
		report_error("unknown option '%s'; see: xdp-limit %s%s--help", word, name ?: "",
			     name ? " " : "");
	return -EINVAL;
}

static int parse_options(int argc, char **argv, struct invocation *invocation)
{
	struct option options[GLOBAL_COUNT + OPTIONS_MAX + 1];
	int option, err = 0;

	fill_options(invocation->command, options);
	opterr = 0;
	optind = 1;
	while (!err && (option = getopt_long(argc, argv, ":vh", options, NULL)) != -1) {
		if (option == '?' || option == ':')
			return refuse_option(invocation, option, argv[optind - 1]);
		if (option == 'v')
			invocation->verbose++;
		else if (option == 'h')
			invocation->help = true;
		else
			err = take_option(invocation, option);
	}
	return err;
}

/* "IFACE..." doesn't say how many. */
static void refuse_count(const struct command *command, int count)
{
	char many[64] = "";

	if (count > command->positionals_max)
		snprintf(many, sizeof(many), "%d arguments, of at most %d; ", count,
			 command->positionals_max);
	report_error("%susage: xdp-limit %s %s; see: xdp-limit %s --help", many, command->name,
		     command->arguments, command->name);
}

static int take_positionals(int argc, char **argv, struct invocation *invocation)
{
	const struct command *command = invocation->command;
	int count = argc - optind - 1; /* without the command's name */

	if (!command || invocation->help || invocation->version)
		return 0;
	if (count < command->positionals_min || count > command->positionals_max) {
		refuse_count(command, count);
		return -EINVAL;
	}
	invocation->positionals = (const char *const *)&argv[optind + 1];
	invocation->positional_count = count;
	if (invocation->json && !command->reads) {
		report_error("%s has no output for --json", command->name);
		return -EINVAL;
	}
	return 0;
}

int invocation_parse(int argc, char **argv, struct invocation *invocation)
{
	int word = find_word(argc, argv, 1);
	const char *name = argv[word]; /* argv ends with NULL */

	memset(invocation, 0, sizeof(*invocation));
	if (name && !strcmp(name, "help")) {
		invocation->help = true;
		name = argv[find_word(argc, argv, word + 1)];
	}
	invocation->command = name ? command_find(name) : NULL;
	if (name && !invocation->command) {
		report_error("unknown command '%s'; see: xdp-limit --help", name);
		return -EINVAL;
	}
	if (invocation->help)
		return 0;
	return parse_options(argc, argv, invocation) ?: take_positionals(argc, argv, invocation);
}
