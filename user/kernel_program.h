/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From a loaded program to its maps and read-only data; for kernel_*.c only. */
#ifndef XDP_LIMIT_KERNEL_PROGRAM_H
#define XDP_LIMIT_KERNEL_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include "abi.h"

/* The running policy's text, with a final NUL. */
#define TEXT_MAP "policy_text"

/**
 * program_config - the compiled policy in the program's read-only data.
 * Returns 0; -ENOENT when the program is not one of ours; -errno. Only magic and abi can be
 * trusted when the abi is another one.
 */
int program_config(int program, struct config *config);

/** program_map - a file descriptor of the program's map called @name (close it), or -errno. */
int program_map(int program, const char *name);

#endif
