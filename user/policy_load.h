/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A policy file as commands need it: read, or all its errors told. */
#ifndef XDP_LIMIT_POLICY_LOAD_H
#define XDP_LIMIT_POLICY_LOAD_H

#include "exit_status.h"
#include "policy.h"

/**
 * load_policy - read the policy in @path ("-": standard input). Tells every error as
 * FILE:LINE:COLUMN: text. policy_free() in every case.
 */
enum exit_status load_policy(const char *path, struct policy *policy);

#endif
