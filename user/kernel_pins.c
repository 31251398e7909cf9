// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Pins in bpffs: what makes a limiter outlive the command that attached it. */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "capabilities.h"
#include "kernel_pins.h"
#include "netns.h"
#include "trust.h"

#define BPFFS "/sys/fs/bpf"

bool pins_have_bpffs(void)
{
	struct statfs info;

	return !statfs(BPFFS, &info) && (unsigned long)info.f_type == BPF_FS_MAGIC;
}

bool pins_read_only(void)
{
	struct statvfs info;

	return pins_have_bpffs() && !statvfs(BPFFS, &info) && info.f_flag & ST_RDONLY;
}

bool pins_would_last(void)
{
	struct stat mine, first;

	return !stat("/proc/self/ns/mnt", &mine) && !stat("/proc/1/ns/mnt", &first) &&
	       mine.st_ino == first.st_ino && mine.st_dev == first.st_dev;
}

static int check_directory(unsigned int ifindex, void *why)
{
	char path[PIN_PATH_SIZE];

	return pins_directory(ifindex, path) ?: directory_trusted(path, why);
}

/*
 * Where bpffs is mounted with its default mode anybody may make directories in it, with pins of programs
 * that are none of ours.
 */
static int check_directories(struct complaint *why)
{
	int err;

	why->text[0] = '\0';
	err = directory_trusted(PIN_ROOT, why) ?: pins_visit(check_directory, why);
	/* Who may not look has nothing to fear from them. */
	return why->text[0] ? err : 0;
}

int pins_reachable(struct complaint *why)
{
	if (pins_have_bpffs() || pins_would_last())
		return check_directories(why);
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
		return complain(why, -errno, "cannot mount bpffs at " BPFFS ": %s%s",
				strerror(errno), root_hint(-errno));
	if (mkdir(PIN_ROOT, 0700) && errno != EEXIST)
		return complain(why, -errno, "cannot make " PIN_ROOT ": %s%s", strerror(errno),
				root_hint(-errno));
	return directory_trusted(PIN_ROOT, why);
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

const char *pin_name(enum map_id id)
{
	return id == MAP_CONFIG ? "config" : map_names[id];
}

static bool is_pinned(unsigned int ifindex, const char *name)
{
	char path[PIN_PATH_SIZE];

	return !pins_path(ifindex, name, "", path) && !access(path, F_OK);
}

bool pins_complete(unsigned int ifindex, const struct attachment *attachment)
{
	for (int i = 0; i < MAP_COUNT; i++)
		if (!is_pinned(ifindex, pin_name(i)))
			return false;
	/* libxdp pins the links of members. */
	return (attachment->dispatcher_id || is_pinned(ifindex, PIN_LINK)) &&
	       is_pinned(ifindex, PIN_PROGRAM);
}

int pins_put(unsigned int ifindex, const char *name, const char *suffix, int fd)
{
	char path[PIN_PATH_SIZE];
	int err = pins_path(ifindex, name, suffix, path);

	return err ?: bpf_obj_pin(fd, path) ? -errno : 0;
}

int pins_drop(unsigned int ifindex, const char *name, const char *suffix)
{
	char path[PIN_PATH_SIZE];
	int err = pins_path(ifindex, name, suffix, path);

	return err ?: unlink(path) && errno != ENOENT ? -errno : 0;
}

int pins_put_in_place(unsigned int ifindex, const char *name)
{
	char from[PIN_PATH_SIZE], to[PIN_PATH_SIZE];
	int err = pins_path(ifindex, name, PIN_NEW, from) ?: pins_path(ifindex, name, "", to);

	return err ?: rename(from, to) ? -errno : 0;
}

/* Type and id are the first of what the kernel tells of any object. */
uint32_t object_id(int fd)
{
	struct {
		uint32_t type, id;
	} info = {0};
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &size) ? 0 : info.id;
}

/* What was pinned last is not always in its place yet: a command may have been killed before. */
int pins_find(unsigned int ifindex, const char *name, bool (*is_it)(int fd, const void *context),
	      const void *context)
{
	static const char *const suffixes[] = {"", PIN_NEW, PIN_FORMER};
	char path[PIN_PATH_SIZE];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		int fd = pins_path(ifindex, name, suffixes[i], path) ? -1 : bpf_obj_get(path);

		if (fd >= 0 && is_it(fd, context))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -ENOENT;
}

static bool has_id(int fd, const void *id)
{
	return object_id(fd) == *(const uint32_t *)id;
}

int pins_open(unsigned int ifindex, const char *name, uint32_t id)
{
	return pins_find(ifindex, name, has_id, &id);
}

bool pins_have(unsigned int ifindex, const char *name, uint32_t id)
{
	int fd = pins_open(ifindex, name, id);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool pins_exist(unsigned int ifindex)
{
	char path[PIN_PATH_SIZE];

	return !pins_directory(ifindex, path) && !access(path, F_OK);
}

static bool interface_is_there(unsigned int ifindex)
{
	char name[IF_NAMESIZE];

	return if_indextoname(ifindex, name) || errno != ENXIO;
}

/* Whether the interface of the pinned link is anywhere: 1, 0, or -errno when there is no link to ask. */
static int link_lives(unsigned int ifindex)
{
	struct bpf_link_info info = {0};
	uint32_t size = sizeof(info);
	char path[PIN_PATH_SIZE];
	int err = pins_path(ifindex, PIN_LINK, "", path);
	int link = err ? -1 : bpf_obj_get(path);

	if (link < 0)
		return err ?: -errno;
	err = bpf_obj_get_info_by_fd(link, &info, &size);
	close(link);
	if (!err && info.type != BPF_LINK_TYPE_XDP)
		err = -EINVAL;
	return err ?: info.xdp.ifindex != 0;
}

bool pins_link_outlived(unsigned int ifindex)
{
	return !link_lives(ifindex);
}

/* Members of a dispatcher, and what was killed early, have no link. */
bool pins_outlived(unsigned int ifindex)
{
	int lives = link_lives(ifindex);

	return lives == -ENOENT ? !interface_is_there(ifindex) : !lives;
}

bool pins_moved(unsigned int ifindex)
{
	return link_lives(ifindex) > 0 && !interface_is_there(ifindex);
}

int pins_clean_those(unsigned int ifindex, bool (*goes)(const char *name, const void *context),
		     const void *context)
{
	char path[PIN_PATH_SIZE];
	struct dirent *entry;
	int err = pins_directory(ifindex, path);
	int fd = err ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory;

	if (fd < 0)
		return err ?: errno == ENOENT ? 0 : -errno;
	directory = fdopendir(fd);
	if (!directory) {
		err = -errno;
		close(fd);
		return err;
	}
	while ((entry = readdir(directory))) {
		if (entry->d_name[0] == '.' || !goes(entry->d_name, context))
			continue;
		if (unlinkat(dirfd(directory), entry->d_name, 0) && errno != ENOENT)
			err = -errno;
	}
	closedir(directory);
	return err;
}

static bool ends_in(const char *name, const void *suffix)
{
	size_t length = strlen(name), tail = strlen(suffix);

	return length >= tail && !strcmp(name + length - tail, suffix);
}

int pins_clean(unsigned int ifindex, const char *suffix)
{
	return pins_clean_those(ifindex, ends_in, suffix);
}

int pins_remove(unsigned int ifindex)
{
	char path[PIN_PATH_SIZE];
	int err = pins_clean(ifindex, "") ?: pins_directory(ifindex, path);

	if (err)
		return err;
	return rmdir(path) && errno != ENOENT ? -errno : 0;
}

/* Where @others is false, those of this namespace; else of the others, each in its name. */
static int visit_pins(int (*visit)(unsigned int ifindex, void *context), void *context, bool others)
{
	DIR *root = opendir(PIN_ROOT);
	unsigned long long mine = 0, inode;
	struct dirent *entry;
	unsigned int ifindex;
	int err = netns_inode(&mine);

	if (!root)
		return err ?: errno == ENOENT ? 0 : -errno;
	while (!err && (entry = readdir(root))) {
		if (sscanf(entry->d_name, "%llu-%u", &inode, &ifindex) != 2 ||
		    (inode != mine) != others)
			continue;
		netns_assume(others ? inode : 0);
		err = visit(ifindex, context);
		netns_assume(0);
	}
	closedir(root);
	return err;
}

int pins_visit(int (*visit)(unsigned int ifindex, void *context), void *context)
{
	return visit_pins(visit, context, false);
}

int pins_visit_others(int (*visit)(unsigned int ifindex, void *context), void *context)
{
	return visit_pins(visit, context, true);
}
