// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whether a Host header can be meant for a loopback listener. */
#include "http_host.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool host_is_local(const char *host)
{
	char name[INET6_ADDRSTRLEN + 2];
	struct in6_addr address;
	size_t length;

	if (*host == '[') {
		length = strcspn(++host, "]");
		if (host[length] != ']' || (host[length + 1] && host[length + 1] != ':'))
			return false;
	} else {
		length = strcspn(host, ":");
	}
	if (length >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)length, host);
	return !strcasecmp(name, "localhost") || inet_pton(AF_INET, name, &address) == 1 ||
	       inet_pton(AF_INET6, name, &address) == 1;
}
