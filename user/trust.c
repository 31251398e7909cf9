// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whether only we and root can change what a command is about to rely on. */
#include "trust.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int directory_info_trusted(const char *path, const struct stat *info, struct complaint *why)
{
	if (!S_ISDIR(info->st_mode))
		return complain(
			why, -EACCES,
			"%s is not a directory, and a link to one is not followed: somebody "
			"else may have made it; remove it",
			path);
	if (info->st_uid && info->st_uid != geteuid())
		return complain(
			why, -EACCES,
			"%s belongs to user %u, who could put anything into it; see what it "
			"is and remove it",
			path, info->st_uid);
	if (info->st_mode & (S_IWGRP | S_IWOTH))
		return complain(why, -EACCES,
				"others may write to %s (mode %04o); look at what is in it, then: "
				"chmod 0700 %s",
				path, info->st_mode & 07777, path);
	return 0;
}

/* Not opened: once it belongs to us or root, nobody else can put another in its place. */
int directory_trusted(const char *path, struct complaint *why)
{
	struct stat info;

	return lstat(path, &info) ? 0 : directory_info_trusted(path, &info, why);
}

/* The directory that the file really stands in, for whoever may write there can replace it. */
static int check_parent(const char *path, struct complaint *why)
{
	char real[PATH_MAX];
	const char *parent;
	struct stat info;

	if (!realpath(path, real))
		return 0;
	parent = dirname(real);
	if (stat(parent, &info) || !(info.st_mode & S_IWOTH) || info.st_mode & S_ISVTX)
		return 0;
	return complain(
		why, -EINVAL,
		"anybody may replace %s, since anybody may write to %s; keep it elsewhere, or: "
		"chmod o-w %s",
		path, parent, parent);
}

int file_trusted(int fd, const char *path, struct complaint *why)
{
	struct stat info;

	/* What has no name can't be opened by anybody else. */
	if (geteuid() || fstat(fd, &info) || !S_ISREG(info.st_mode) || !info.st_nlink)
		return 0;
	if (info.st_mode & S_IWOTH)
		return complain(
			why, -EINVAL,
			"anybody may write to %s, and root would do what it says: chmod o-w %s",
			path, path);
	return check_parent(path, why);
}
