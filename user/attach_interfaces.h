/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The interfaces that a policy is to be attached to. */
#ifndef XDP_LIMIT_ATTACH_INTERFACES_H
#define XDP_LIMIT_ATTACH_INTERFACES_H

#include <stddef.h>
#include "exit_status.h"
#include "kernel.h"

/**
 * take_interfaces - find @count interfaces by name, waiting for all of them at most @wait_ns, see whether
 * a limiter makes sense there, and become the only command that changes them. Returns EXIT_DONE, or says
 * what is wrong and returns the exit status to end with.
 */
enum exit_status take_interfaces(const char *const *names, size_t count, uint64_t wait_ns,
				 struct attach_target *targets);

#endif
