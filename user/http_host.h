/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether a Host header can be meant for a loopback listener. */
#ifndef XDP_LIMIT_HTTP_HOST_H
#define XDP_LIMIT_HTTP_HOST_H

#include <stdbool.h>

/**
 * host_is_local - an address, or localhost; any port. Another name was made to point here by its owner
 * (DNS rebinding), so that a page of his could read what is answered.
 */
bool host_is_local(const char *host);

#endif
