// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Find the SSH peer that must not be locked out: in the environment, or in an ancestor's. */
#include "sshguard.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE      "SSH_CONNECTION"
#define ANCESTORS_MAX 256
#define STAT_SIZE     1024

static int parse_zoned(char *text, struct address *address)
{
	struct complaint ignored;

	text[strcspn(text, "%")] = '\0';
	return parse_address(text, address, &ignored);
}

int parse_ssh_connection(const char *text, struct address *peer, struct address *server)
{
	char from[ADDRESS_TEXT_SIZE], to[ADDRESS_TEXT_SIZE];
	unsigned int from_port, to_port;
	int end = 0;

	if (sscanf(text, "%63s %5u %63s %5u %n", from, &from_port, to, &to_port, &end) != 4 ||
	    text[end] || from_port > USHRT_MAX || to_port > USHRT_MAX)
		return -EINVAL;
	if (parse_zoned(from, peer) || parse_zoned(to, server))
		return -EINVAL;
	return 0;
}

static FILE *open_process_file(const char *proc, pid_t pid, const char *name)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/%d/%s", proc, (int)pid, name);

	return length < (int)sizeof(path) ? fopen(path, "re") : NULL;
}

/* The value of the variable when @pid was started, for the caller to free; NULL for none. */
static char *started_with(const char *proc, pid_t pid)
{
	static const char wanted[] = VARIABLE "=";
	FILE *file = open_process_file(proc, pid, "environ");
	char *entry = NULL, *value = NULL;
	size_t size = 0;

	if (!file)
		return NULL;
	while (!value && getdelim(&entry, &size, '\0', file) >= 0) {
		if (!strncmp(entry, wanted, sizeof(wanted) - 1))
			value = strdup(entry + sizeof(wanted) - 1);
	}
	free(entry);
	fclose(file);
	return value;
}

/* 0 at the top of what can be seen, or when the process has just gone. */
static pid_t parent_of(const char *proc, pid_t pid)
{
	FILE *file = open_process_file(proc, pid, "stat");
	char text[STAT_SIZE];
	const char *after;
	size_t length;
	int parent;

	if (!file)
		return 0;
	length = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[length] = '\0';
	/* "PID (COMM) STATE PPID ...": COMM may hold blanks and parentheses, what follows can't. */
	after = strrchr(text, ')');
	if (!after || sscanf(after, ") %*c %d", &parent) != 1 || parent < 0)
		return 0;
	return parent;
}

int ssh_peer_find_in(const char *environment, const char *proc, pid_t pid, struct address *peer,
		     struct address *server)
{
	int err = 0;
	int i;

	if (environment) {
		err = parse_ssh_connection(environment, peer, server);
		if (!err)
			return 1;
	}
	for (i = 0; i < ANCESTORS_MAX && pid > 0; i++) {
		char *value = started_with(proc, pid);

		if (value) {
			err = parse_ssh_connection(value, peer, server);
			free(value);
			if (!err)
				return 1;
		}
		pid = parent_of(proc, pid);
	}
	return err;
}

int ssh_peer_find(struct address *peer, struct address *server)
{
	return ssh_peer_find_in(getenv(VARIABLE), "/proc", getppid(), peer, server);
}
