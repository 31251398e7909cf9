// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The command table, and help made of it. */
#include <stdio.h>
#include <string.h>
#include "command.h"

const struct command *const command_table[] = {
	&command_attach, &command_detach,  &command_apply, &command_check,   &command_show,
	&command_status, &command_sources, &command_top,   &command_events,  &command_get,
	&command_allow,	 &command_deny,	   &command_ban,   &command_confirm, &command_reset,
	&command_serve,	 &command_doctor,  NULL,
};

const struct option_spec common_options[] = {
	{"netns", "NAME", "work in this network namespace (a name of `ip netns`, or a path)"},
	{"json", NULL, "for scripts (commands that read)"},
	{"verbose", NULL, "also -v: say more on stderr"},
	{"help", NULL, "also -h: this text"},
	{NULL, NULL, NULL},
};

const struct command *command_find(const char *name)
{
	for (int i = 0; command_table[i]; i++)
		if (!strcmp(command_table[i]->name, name))
			return command_table[i];
	return NULL;
}

static void print_options(const struct option_spec *options)
{
	char text[64];

	for (; options && options->name; options++) {
		snprintf(text, sizeof(text), "--%s%s%s", options->name,
			 options->argument ? " " : "", options->argument ?: "");
		printf("  %-28s %s\n", text, options->help);
	}
}

void help_overview(void)
{
	puts("xdp-limit: per-source rate limits in the kernel, before the network stack\n\n"
	     "usage: xdp-limit COMMAND [IFACE] [OPTION...]\n\n"
	     "commands:");
	for (int i = 0; command_table[i]; i++)
		printf("  %-10s %s\n", command_table[i]->name, command_table[i]->summary);
	puts("\noptions of all commands:");
	print_options(common_options);
	puts("  --version                    the versions of xdp-limit and libbpf\n\n"
	     "exit status: 0 done, 1 failed, 2 bad usage or configuration, 3 not attached or not "
	     "ours,\n4 not supported here, 5 busy\n\n"
	     "first minute: xdp-limit attach eth0 --rate 1000pps --burst 2000");
}

void help_command(const struct command *command)
{
	printf("xdp-limit %s: %s\n\nusage: xdp-limit %s %s\n\n", command->name, command->summary,
	       command->name, command->arguments);
	if (command->options && command->options[0].name) {
		puts("options:");
		print_options(command->options);
		putchar('\n');
	}
	puts("options of all commands:");
	print_options(common_options);
	if (command->notes)
		printf("\n%s\n", command->notes);
}
