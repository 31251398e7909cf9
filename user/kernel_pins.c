// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Pins in bpffs: what makes a limiter outlive the command that attached it. */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "kernel.h"
#include "kernel_pins.h"

#define BPFFS "/sys/fs/bpf"

bool pins_have_bpffs(void)
{
	struct statfs info;

	return !statfs(BPFFS, &info) && (unsigned long)info.f_type == BPF_FS_MAGIC;
}

bool pins_would_last(void)
{
	struct stat mine, first;

	return !stat("/proc/self/ns/mnt", &mine) && !stat("/proc/1/ns/mnt", &first) &&
	       mine.st_ino == first.st_ino && mine.st_dev == first.st_dev;
}

int pins_reachable(struct complaint *why)
{
	if (pins_have_bpffs() || pins_would_last())
		return 0;
	return complain(
		why, -ENOTSUP,
		"no bpffs at " BPFFS " in this mount namespace, and pins made in it would "
		"die with it; inside `ip netns exec NAME` leave that out and run: xdp-limit "
		"--netns NAME ...");
}

int pins_prepare(struct complaint *why)
{
	int err = pins_reachable(why);

	if (err)
		return err;
	if (!pins_have_bpffs() &&
	    mount("bpf", BPFFS, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700"))
		return complain(why, -errno, "cannot mount bpffs at " BPFFS ": %s",
				strerror(errno));
	if (mkdir(PIN_ROOT, 0700) && errno != EEXIST)
		return complain(why, -errno, "cannot make " PIN_ROOT ": %s", strerror(errno));
	return 0;
}

static int netns_inode(unsigned long long *inode)
{
	struct stat info;

	if (stat("/proc/thread-self/ns/net", &info))
		return -errno;
	*inode = info.st_ino;
	return 0;
}

int pins_directory(unsigned int ifindex, char path[PIN_PATH_SIZE])
{
	unsigned long long inode = 0;
	int err = netns_inode(&inode);

	if (!err)
		snprintf(path, PIN_PATH_SIZE, PIN_ROOT "/%llu-%u", inode, ifindex);
	return err;
}

int pins_path(unsigned int ifindex, const char *name, const char *suffix, char path[PIN_PATH_SIZE])
{
	int err = pins_directory(ifindex, path);
	size_t length = strlen(path);

	if (!err)
		snprintf(path + length, PIN_PATH_SIZE - length, "/%s%s", name, suffix);
	return err;
}

bool pins_complete(unsigned int ifindex)
{
	char path[PIN_PATH_SIZE];

	for (int i = 0; i < MAP_COUNT; i++)
		if (pins_path(ifindex, map_names[i], "", path) || access(path, F_OK))
			return false;
	return !pins_path(ifindex, PIN_LINK, "", path) && !access(path, F_OK) &&
	       !pins_path(ifindex, PIN_PROGRAM, "", path) && !access(path, F_OK);
}

bool pins_exist(unsigned int ifindex)
{
	char path[PIN_PATH_SIZE];

	return !pins_directory(ifindex, path) && !access(path, F_OK);
}

bool pins_outlived(unsigned int ifindex)
{
	struct bpf_link_info info = {0};
	uint32_t size = sizeof(info);
	char path[PIN_PATH_SIZE];
	bool gone;
	int fd;

	if (pins_path(ifindex, PIN_LINK, "", path))
		return false;
	fd = bpf_obj_get(path);
	if (fd < 0)
		return false;
	gone = !bpf_obj_get_info_by_fd(fd, &info, &size) && info.type == BPF_LINK_TYPE_XDP &&
	       !info.xdp.ifindex;
	close(fd);
	return gone;
}

int pins_clean(unsigned int ifindex, const char *suffix)
{
	char path[PIN_PATH_SIZE];
	struct dirent *entry;
	int err = pins_directory(ifindex, path);
	DIR *directory = err ? NULL : opendir(path);

	if (!directory)
		return err ?: errno == ENOENT ? 0 : -errno;
	while ((entry = readdir(directory))) {
		size_t length = strlen(entry->d_name), tail = strlen(suffix);

		if (entry->d_name[0] == '.' || length < tail ||
		    strcmp(entry->d_name + length - tail, suffix))
			continue;
		if (unlinkat(dirfd(directory), entry->d_name, 0) && errno != ENOENT)
			err = -errno;
	}
	closedir(directory);
	return err;
}

int pins_remove(unsigned int ifindex)
{
	char path[PIN_PATH_SIZE];
	int err = pins_clean(ifindex, "") ?: pins_directory(ifindex, path);

	if (err)
		return err;
	return rmdir(path) && errno != ENOENT ? -errno : 0;
}

int pins_visit(int (*visit)(unsigned int ifindex, void *context), void *context)
{
	DIR *root = opendir(PIN_ROOT);
	unsigned long long mine = 0, inode;
	struct dirent *entry;
	unsigned int ifindex;
	int err = netns_inode(&mine);

	if (!root)
		return err ?: errno == ENOENT ? 0 : -errno;
	while (!err && (entry = readdir(root)))
		if (sscanf(entry->d_name, "%llu-%u", &inode, &ifindex) == 2 && inode == mine)
			err = visit(ifindex, context);
	closedir(root);
	return err;
}
