// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whether a Host header can be meant for a loopback listener. */
#include "http_host.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool host_is_local(const char *host)
{
	char name[INET6_ADDRSTRLEN];
	struct in6_addr address;
	bool brackets = *host == '[';
	size_t length = strcspn(host += brackets, brackets ? "]" : ":");
	const char *behind = host + length;

	if (brackets && (*behind++ != ']' || (*behind && *behind != ':')))
		return false;
	if (length >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)length, host);
	if (brackets)
		return inet_pton(AF_INET6, name, &address) == 1;
	return !strcasecmp(name, "localhost") || inet_pton(AF_INET, name, &address) == 1;
}
