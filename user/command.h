/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a subcommand is: a row of the command table, from which help and parsing are made. */
#ifndef XDP_LIMIT_COMMAND_H
#define XDP_LIMIT_COMMAND_H

#include <stdbool.h>
#include "exit_status.h"

#define OPTIONS_MAX 24

struct option_spec {
	const char *name;     /* without the dashes; NULL ends the table */
	const char *argument; /* how help calls its value, or its words: a|b; NULL for a flag */
	const char *help;
};

/* One call of a command, as typed. */
struct invocation {
	const struct command *command;
	const char *netns; /* of --netns; NULL for the current one */
	bool json;
	bool help;
	bool version;
	int verbose;
	const char *values
		[OPTIONS_MAX]; /* by position in command->options; "" for a flag, NULL when absent */
	const char *const *positionals; /* without the command's name */
	int positional_count;
};

struct command {
	const char *name;
	const char *arguments; /* for the usage line */
	const char *summary;   /* one line, for `xdp-limit --help` */
	const char *notes;     /* a paragraph or more, for `xdp-limit COMMAND --help` */
	int positionals_min, positionals_max;
	bool reads;    /* takes --json */
	bool enters;   /* the namespace of --netns by itself, when it is ready for it */
	bool anywhere; /* runs where pins are out of reach: the others refuse there */
	const struct option_spec *options;
	enum exit_status (*run)(const struct invocation *invocation);
};

extern const struct command command_attach, command_detach, command_apply, command_check,
	command_show, command_status, command_sources, command_get, command_reset, command_doctor,
	command_allow, command_deny, command_ban, command_confirm, command_top, command_serve,
	command_events;

/* What help, the manual page and completion are made of; both end with NULL. */
extern const struct command *const command_table[];
extern const struct option_spec common_options[];

const struct command *command_find(const char *name);

/**
 * invocation_parse - read the command line. Options may stand anywhere.
 * Returns 0, or -EINVAL after having said what is wrong.
 */
int invocation_parse(int argc, char **argv, struct invocation *invocation);

void help_overview(void);
void help_command(const struct command *command);

#endif
