// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Network namespaces: by name or path, and which one this is. */
#include "netns.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int netns_enter(const char *name, struct complaint *why)
{
	char path[PATH_MAX];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s%s", strchr(name, '/') ? "" : "/run/netns/", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return complain(why, -errno, "cannot open network namespace '%s': %s%s", name,
				strerror(errno),
				errno == ENOENT ? "; `ip netns list` shows the names" : "");
	if (setns(fd, CLONE_NEWNET))
		err = complain(why, -errno, "cannot enter network namespace '%s': %s", name,
			       strerror(errno));
	close(fd);
	return err;
}

static unsigned long long assumed;

void netns_assume(unsigned long long inode)
{
	assumed = inode;
}

int netns_inode(unsigned long long *inode)
{
	struct stat info;

	*inode = assumed;
	if (assumed)
		return 0;
	if (stat("/proc/thread-self/ns/net", &info))
		return -errno;
	*inode = info.st_ino;
	return 0;
}
