/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The policy as a YAML file: reading it with all errors in their places, and writing it back. */
#ifndef XDP_LIMIT_POLICY_FILE_H
#define XDP_LIMIT_POLICY_FILE_H

#include <stdio.h>
#include "complaint.h"
#include "findings.h"
#include "policy.h"

/**
 * policy_parse - read @text of @size bytes into @policy (which it initialises).
 * Returns 0 when @policy is complete and valid; -EINVAL with every error in @findings (at least one);
 * -ENOMEM. policy_free() and findings_free() in every case.
 */
int policy_parse(const char *text, size_t size, struct policy *policy, struct findings *findings);

/** policy_read - the same of a file ("-": standard input); -errno with @why when it can't be read. */
int policy_read(const char *path, struct policy *policy, struct findings *findings,
		struct complaint *why);

/**
 * policy_print - write @policy in the syntax that policy_parse() reads to the same policy.
 * Returns 0 or -errno of the stream.
 */
int policy_print(const struct policy *policy, FILE *out);

/** policy_to_text - the same to *@text, which free() takes in every case: 0 or -errno. */
int policy_to_text(const struct policy *policy, char **text, size_t *size);

#endif
