/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an operator should know of a policy on an interface. */
#ifndef XDP_LIMIT_ATTACH_NOTES_H
#define XDP_LIMIT_ATTACH_NOTES_H

#include "netdev.h"
#include "policy.h"

/** warn_meaning - before it is attached: what will not work as it was probably meant. */
void warn_meaning(const struct policy *policy, const struct netdev *netdev);

/** note_meaning - what the operator of a first limiter should know. */
void note_meaning(const struct policy *policy, const struct netdev *netdev, bool generic);

#endif
