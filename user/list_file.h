/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files of addresses and prefixes, a million lines and more. */
#ifndef XDP_LIMIT_LIST_FILE_H
#define XDP_LIMIT_LIST_FILE_H

#include "complaint.h"
#include "policy.h"

/**
 * list_file_read - append the prefixes of the file at @path ("-": standard input): one a line, blanks
 * around it and # comments ignored. Returns 0; -EINVAL with FILE:LINE and a sentence in @why at the
 * first bad line; another -errno with @why.
 */
int list_file_read(const char *path, struct policy_prefixes *list, struct complaint *why);

#endif
