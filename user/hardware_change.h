/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a driver did to its own settings while a program was attached; pure. */
#ifndef XDP_LIMIT_HARDWARE_CHANGE_H
#define XDP_LIMIT_HARDWARE_CHANGE_H

#include <stddef.h>
#include "complaint.h"
#include "netdev.h"

#define HARDWARE_CHANGES_MAX 12

/**
 * hardware_changes - a sentence for each setting of @before that is another in @after: channels, ring, ntuple
 * rules, features. Returns how many; 0 where a driver tells nothing of itself.
 */
size_t hardware_changes(const struct netdev_hardware *before, const struct netdev_hardware *after,
			struct complaint changes[HARDWARE_CHANGES_MAX]);

#endif
