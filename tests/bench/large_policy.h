/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Policies as long as operators have them, around the sources that the generators draw. */
#ifndef BENCH_LARGE_POLICY_H
#define BENCH_LARGE_POLICY_H

#include <stdlib.h>

/* All to be freed by the caller. */

/** large_policy - 4 limits, 3 tiers in 10 k prefixes, 1 k allowed, 100 k denied; none of them drawn. */
char *large_policy(void);
/** stacked_policy - its limits alone. */
char *stacked_policy(void);
/** denying_policy - the first 1 k sources are denied, among 100 k others. */
char *denying_policy(void);

#endif
