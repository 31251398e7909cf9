/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prefixes as text. */
#ifndef XDP_LIMIT_PREFIX_H
#define XDP_LIMIT_PREFIX_H

#include "complaint.h"
#include "policy.h"

/**
 * parse_prefix - ADDRESS or ADDRESS/LENGTH; a bare address means /32 or /128. Bits set beyond the
 * length are refused with the prefix that is probably meant.
 * Returns 0, or -EINVAL with a sentence in @why.
 */
int parse_prefix(const char *text, struct policy_prefix *prefix, struct complaint *why);

/** format_prefix - shortest text that parse_prefix() reads; at least ADDRESS_TEXT_SIZE bytes. */
void format_prefix(const struct policy_prefix *prefix, char *text);

#endif
