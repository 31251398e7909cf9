// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One changing command at a time for an interface, or for a table that interfaces share. */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include "capabilities.h"
#include "netns.h"
#include "trust.h"
#include "units.h"

#define LOCK_PARENT    "/run"
#define LOCK_DIRECTORY LOCK_PARENT "/xdp-limit"

/* Whoever could make the directory first could make links of the locks. A descriptor, or -errno. */
static int open_directory(struct complaint *why)
{
	struct stat info;
	int fd, err;

	if (mkdir(LOCK_DIRECTORY, 0700) && errno != EEXIST)
		return complain(why, -errno, "cannot make " LOCK_DIRECTORY ": %s%s",
				strerror(errno), root_hint(-errno));
	err = directory_trusted(LOCK_DIRECTORY, why);
	if (err)
		return err;
	fd = open(LOCK_DIRECTORY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &info))
		err = complain(why, -errno, "cannot open " LOCK_DIRECTORY ": %s%s", strerror(errno),
			       root_hint(-errno));
	else
		err = directory_info_trusted(LOCK_DIRECTORY, &info, why);
	if (err && fd >= 0)
		close(fd);
	return err ?: fd;
}

/* access() says EROFS, and to root little else; what has no room left shows only when something is made. */
int lock_possible(struct complaint *why)
{
	const char *path = access(LOCK_DIRECTORY, F_OK) ? LOCK_PARENT : LOCK_DIRECTORY;
	int err = directory_trusted(LOCK_DIRECTORY, why);

	if (err)
		return err;
	return access(path, W_OK) ? complain(why, -errno, "cannot write to %s: %s%s", path,
					     strerror(errno), root_hint(-errno))
				  : 0;
}

static int open_lock(const char *object, struct complaint *why)
{
	int directory = open_directory(why);
	unsigned long long netns;
	char name[64];
	int fd, err;

	if (directory < 0)
		return directory;
	err = netns_inode(&netns);
	if (err) {
		close(directory);
		return complain(why, err, "cannot read the network namespace: %s", strerror(-err));
	}
	snprintf(name, sizeof(name), "%llu-%s.lock", netns, object);
	fd = openat(directory, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		fd = complain(why, -errno, "cannot open the lock " LOCK_DIRECTORY "/%s: %s", name,
			      strerror(errno));
	close(directory);
	return fd;
}

static void wake(int signal)
{
	(void)signal;
}

/* The timer's only work is to end the wait; it repeats in case it fires just before it. */
static int wait_for_lock(int fd, uint64_t wait_ns)
{
	struct sigaction action = {.sa_handler = wake};
	uint64_t wait_us = wait_ns / 1000 ?: 1;
	struct itimerval timer = {
		.it_value = {wait_us / 1000000, wait_us % 1000000},
		.it_interval = {0, 100000},
	};
	const struct itimerval off = {0};
	int err;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	err = flock(fd, LOCK_EX) ? -errno : 0;
	setitimer(ITIMER_REAL, &off, NULL);
	return err;
}

/* The descriptor that holds it, or -errno. */
static int obtain(const char *object, const char *name, uint64_t wait_ns, struct complaint *why)
{
	int fd = open_lock(object, why);
	int err;

	if (fd < 0)
		return fd;
	err = flock(fd, LOCK_EX | LOCK_NB) ? -errno : 0;
	if (err == -EWOULDBLOCK && wait_ns)
		err = wait_for_lock(fd, wait_ns);
	if (!err)
		return fd;
	close(fd);
	if (err == -EWOULDBLOCK || err == -EINTR)
		return complain(
			why, -EBUSY,
			"another xdp-limit command is changing %s; try again, or wait for it with "
			"--wait 10s",
			name);
	return complain(why, err, "cannot lock %s: %s", name, strerror(-err));
}

int lock_take(unsigned int ifindex, const char *name, uint64_t wait_ns, struct complaint *why)
{
	char object[16];

	snprintf(object, sizeof(object), "%u", ifindex);
	return obtain(object, name, wait_ns, why);
}

int lock_take_table(const char *table, uint64_t wait_ns, struct complaint *why)
{
	char object[64], noun[64];

	snprintf(object, sizeof(object), "table-%s", table);
	snprintf(noun, sizeof(noun), "the shared table %s", table);
	return obtain(object, noun, wait_ns, why);
}

/* What this process holds, in the order in which it was taken. */
static int held[LOCKS_MAX];
static int held_count;
static char held_table[64]; /* the name of the table among them */
static int table_at = -1;   /* and its place */

void lock_release(void)
{
	bool table = held_count && held_count - 1 == table_at;

	if (held_count)
		close(held[--held_count]);
	if (!table)
		return;
	held_table[0] = '\0';
	table_at = -1;
	lock_release();
}

static bool all_held(const char *name, struct complaint *why)
{
	if (held_count < LOCKS_MAX)
		return false;
	complain(why, -EMFILE, "cannot lock %s: %s", name, strerror(EMFILE));
	return true;
}

int lock_interface(unsigned int ifindex, const char *name, uint64_t wait_ns, struct complaint *why)
{
	int fd = all_held(name, why) ? -EMFILE : lock_take(ifindex, name, wait_ns, why);

	if (fd < 0)
		return fd;
	held[held_count++] = fd;
	return 0;
}

int lock_table(const char *name, uint64_t wait_ns, struct complaint *why)
{
	int fd;

	if (!strcmp(name, held_table))
		return 0;
	fd = all_held(name, why) ? -EMFILE : lock_take_table(name, wait_ns, why);
	if (fd < 0)
		return fd;
	table_at = held_count;
	held[held_count++] = fd;
	snprintf(held_table, sizeof(held_table), "%s", name);
	return 0;
}

int parse_wait(const char *text, uint64_t *wait_ns, struct complaint *why)
{
	struct complaint detail;
	int err;

	*wait_ns = 0;
	if (!text)
		return 0;
	err = parse_time(text, wait_ns, &detail);
	return err ? complain(why, err, "--wait: %s", detail.text) : 0;
}
