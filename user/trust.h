/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether only we and root can change what a command is about to rely on. */
#ifndef XDP_LIMIT_TRUST_H
#define XDP_LIMIT_TRUST_H

#include <sys/stat.h>
#include "complaint.h"

/**
 * directory_trusted - whether @path is a directory (a link to one is none) that belongs to us or root and
 * that nobody else may write to; one that isn't there, or that we can't see, is trusted.
 * 0, or -EACCES with a sentence in @why.
 */
int directory_trusted(const char *path, struct complaint *why);

/** directory_info_trusted - the same of a directory that was opened. */
int directory_info_trusted(const char *path, const struct stat *info, struct complaint *why);

/**
 * file_trusted - whether the file @fd that was opened as @path may decide what root does: not when anybody
 * may write it, or put another in its place. 0, or -EINVAL with a sentence in @why.
 */
int file_trusted(int fd, const char *path, struct complaint *why);

#endif
