/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether two policies are the same. */
#ifndef TESTS_SAME_POLICY_H
#define TESTS_SAME_POLICY_H

#include <stdbool.h>
#include "policy.h"

/** same_policy - all bytes but pointers, and what these point to: also what no field has. */
bool same_policy(const struct policy *left, const struct policy *right);

#endif
