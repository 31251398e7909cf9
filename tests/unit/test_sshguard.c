// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The SSH peer is found in the environment or in an ancestor's, over a procfs made up here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sshguard.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PEER	     "192.0.2.10 40000 198.51.100.1 22"
#define OTHER_PEER   "192.0.2.99 40000 198.51.100.1 22"
#define ENTRY(text)  text, sizeof(text) /* with the final NUL, as procfs has it */

/* ---- the text of SSH_CONNECTION ---- */

struct text_row {
	const char *name;
	const char *text;
	int err;
	const char *peer, *server;
};

static struct text_row texts[] = {
	{"O-020: IPv4", PEER, 0, "192.0.2.10", "198.51.100.1"},
	{"O-020: IPv6", "2001:db8::a 40000 2001:db8::1 22", 0, "2001:db8::a", "2001:db8::1"},
	{"O-020: IPv6 with a zone", "fe80::a%eth0 40000 fe80::1%eth0 22", 0, "fe80::a", "fe80::1"},
	{"O-020: IPv4 written as IPv6", "::ffff:192.0.2.10 40000 ::ffff:198.51.100.1 22", 0,
	 "192.0.2.10", "198.51.100.1"},
	{"O-020: the largest port", "192.0.2.10 65535 198.51.100.1 65535", 0, "192.0.2.10",
	 "198.51.100.1"},
	{"O-020: sshd without a socket", "UNKNOWN 65535 UNKNOWN 65535", -EINVAL, NULL, NULL},
	{"O-020: a name is no address", "client.example 40000 198.51.100.1 22", -EINVAL, NULL,
	 NULL},
	{"O-020: a server that is no address", "192.0.2.10 40000 here 22", -EINVAL, NULL, NULL},
	{"O-020: empty", "", -EINVAL, NULL, NULL},
	{"O-020: SSH_CLIENT has three words", "192.0.2.10 40000 22", -EINVAL, NULL, NULL},
	{"O-020: a fifth word", PEER " 22", -EINVAL, NULL, NULL},
	{"O-020: a peer's port beyond 65535", "192.0.2.10 70000 198.51.100.1 22", -EINVAL, NULL,
	 NULL},
	{"O-020: a server's port beyond 65535", "192.0.2.10 40000 198.51.100.1 70000", -EINVAL,
	 NULL, NULL},
	{"O-020: an address that never ends",
	 "1111111111111111111111111111111111111111111111111111111111111111111111111111111111 1 "
	 "198.51.100.1 22",
	 -EINVAL, NULL, NULL},
};

static void assert_address(const struct address *address, const char *text)
{
	char found[ADDRESS_TEXT_SIZE];

	format_address(address, found);
	assert_string_equal(found, text);
}

static void reads_text(void **state)
{
	const struct text_row *row = *state;
	struct address peer, server;

	assert_int_equal(parse_ssh_connection(row->text, &peer, &server), row->err);
	if (row->err)
		return;
	assert_address(&peer, row->peer);
	assert_address(&server, row->server);
}

/* ---- ancestors ---- */

/* One process of the made-up procfs; a NULL file is not there. */
struct process {
	int pid;
	const char *stat;
	const char *environ;
	size_t environ_size;
};

struct tree_row {
	const char *name;
	const char *environment;
	struct process processes[5];
	int found;
	const char *peer;
};

/* Looked at from process 50, the nearest ancestor. */
static struct tree_row trees[] = {
	{
		.name = "O-020: the own environment is nearest",
		.environment = PEER,
		.processes = {{50, "50 (bash) S 1 50", ENTRY("SSH_CONNECTION=" OTHER_PEER)}},
		.found = 1,
		.peer = "192.0.2.10",
	},
	{
		.name = "O-020: sudo dropped it, the shell has it",
		.processes = {{50, "50 (sudo) S 40 50", ENTRY("HOME=/root\0TERM=xterm")},
			      {40, "40 (sudo) S 30 50", ENTRY("HOME=/root")},
			      {30, "30 (bash) S 20 30",
			       ENTRY("HOME=/home/op\0SSH_CONNECTION=" PEER "\0TERM=xterm")},
			      {20, "20 (sshd) S 1 20", ENTRY("SSH_CONNECTION=" OTHER_PEER)}},
		.found = 1,
		.peer = "192.0.2.10",
	},
	{
		.name = "O-020: names with blanks, parentheses and numbers",
		.processes = {{50, "50 (a) S 7 (b c) S 40 50", ENTRY("A=b")},
			      {40, "40 (:-) R 9)) S 30 50", ENTRY("A=b")},
			      {30, "30 (bash) S 1 30", ENTRY("SSH_CONNECTION=" PEER)},
			      {7, "7 (x) S 0 7", ENTRY("SSH_CONNECTION=" OTHER_PEER)},
			      {9, "9 (x) S 0 9", ENTRY("SSH_CONNECTION=" OTHER_PEER)}},
		.found = 1,
		.peer = "192.0.2.10",
	},
	{
		.name = "O-020: an environment that may not be read is passed over",
		.processes = {{50, "50 (sudo) S 40 50", NULL, 0},
			      {40, "40 (bash) S 1 40", ENTRY("SSH_CONNECTION=" PEER)}},
		.found = 1,
		.peer = "192.0.2.10",
	},
	{
		.name = "O-020: an environment without its last NUL",
		.processes = {{50, "50 (bash) S 1 50", "A=b\0SSH_CONNECTION=" PEER,
			       sizeof("A=b\0SSH_CONNECTION=" PEER) - 1}},
		.found = 1,
		.peer = "192.0.2.10",
	},
	{
		.name = "O-020: a variable whose name or value only looks like it",
		.processes = {{50, "50 (bash) S 1 50",
			       ENTRY("OLD_SSH_CONNECTION=" PEER "\0A=SSH_CONNECTION=" PEER
				     "\0SSH_CONNECTIONS=" PEER)}},
		.found = 0,
	},
	{
		.name = "O-020: what can't be understood is passed over for what can",
		.environment = "UNKNOWN 65535 UNKNOWN 65535",
		.processes = {{50, "50 (bash) S 40 50", ENTRY("SSH_CONNECTION=nonsense")},
			      {40, "40 (bash) S 1 40", ENTRY("SSH_CONNECTION=" PEER)}},
		.found = 1,
		.peer = "192.0.2.10",
	},
	{
		.name = "O-020: only what can't be understood is an error",
		.processes = {{50, "50 (bash) S 1 50",
			       ENTRY("SSH_CONNECTION=UNKNOWN 65535 UNKNOWN 65535")}},
		.found = -EINVAL,
	},
	{
		.name = "O-020: from a console there is none",
		.processes = {{50, "50 (bash) S 40 50", ENTRY("TERM=linux")},
			      {40, "40 (login) S 1 40", ENTRY("TERM=linux")},
			      {1, "1 (systemd) S 0 1", ENTRY("TERM=linux")}},
		.found = 0,
	},
	{
		.name = "O-020: an ancestor that has gone ends the search",
		.processes = {{50, "50 (bash) S 40 50", ENTRY("A=b")}},
		.found = 0,
	},
	{
		.name = "O-020: a file cut short ends the search",
		.processes = {{50, "50 (ba", ENTRY("A=b")}},
		.found = 0,
	},
	{
		.name = "O-020: processes in a circle end the search",
		.processes = {{50, "50 (a) S 40 50", ENTRY("A=b")},
			      {40, "40 (b) S 50 50", ENTRY("A=b")}},
		.found = 0,
	},
};

static void write_file(const char *root, int pid, const char *name, const char *text, size_t size)
{
	char path[128];
	FILE *file;

	if (!text)
		return;
	snprintf(path, sizeof(path), "%s/%d/%s", root, pid, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void make_process(const char *root, const struct process *process)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%d", root, process->pid);
	assert_int_equal(mkdir(path, 0700), 0);
	write_file(root, process->pid, "stat", process->stat, strlen(process->stat));
	write_file(root, process->pid, "environ", process->environ, process->environ_size);
}

static void remove_process(const char *root, const struct process *process)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%d/stat", root, process->pid);
	unlink(path);
	snprintf(path, sizeof(path), "%s/%d/environ", root, process->pid);
	unlink(path);
	snprintf(path, sizeof(path), "%s/%d", root, process->pid);
	rmdir(path);
}

static void finds_peer(void **state)
{
	const struct tree_row *row = *state;
	char root[] = "/tmp/xdp-limit-proc-XXXXXX";
	struct address peer, server;
	size_t i;
	int found;

	assert_non_null(mkdtemp(root));
	for (i = 0; i < COUNT(row->processes) && row->processes[i].pid; i++)
		make_process(root, &row->processes[i]);
	found = ssh_peer_find_in(row->environment, root, 50, &peer, &server);
	for (i = 0; i < COUNT(row->processes) && row->processes[i].pid; i++)
		remove_process(root, &row->processes[i]);
	rmdir(root);
	assert_int_equal(found, row->found);
	if (found != 1)
		return;
	assert_address(&peer, row->peer);
	assert_address(&server, "198.51.100.1");
}

/* ---- this process ---- */

static void own_environment_is_read(void **state)
{
	struct address peer, server;

	(void)state;
	assert_int_equal(setenv("SSH_CONNECTION", PEER, 1), 0);
	assert_int_equal(ssh_peer_find(&peer, &server), 1);
	assert_address(&peer, "192.0.2.10");
	assert_address(&server, "198.51.100.1");
	unsetenv("SSH_CONNECTION");
}

int main(void)
{
	struct CMUnitTest tests[COUNT(texts) + COUNT(trees) + 1];
	size_t n = 0, i;

	for (i = 0; i < COUNT(texts); i++)
		tests[n++] = (struct CMUnitTest){
			.name = texts[i].name, .test_func = reads_text, .initial_state = &texts[i]};
	for (i = 0; i < COUNT(trees); i++)
		tests[n++] = (struct CMUnitTest){
			.name = trees[i].name, .test_func = finds_peer, .initial_state = &trees[i]};
	tests[n] = (struct CMUnitTest){.name = "O-020: the environment of this process",
				       .test_func = own_environment_is_read};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
