/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Policies written as in a file, for tests of the program. */
#ifndef TESTS_YAML_POLICY_H
#define TESTS_YAML_POLICY_H

#include "policy.h"

/** The policy of @text, with a small table and no gate unless @text says otherwise. */
void yaml_policy(struct policy *policy, const char *text);

#endif
