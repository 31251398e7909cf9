/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What all requests share: which interfaces are served, and what is remembered of them. */
#ifndef XDP_LIMIT_SERVICE_H
#define XDP_LIMIT_SERVICE_H

#include "feed.h"
#include "http.h"
#include "target.h"
#include "token.h"

/* An interface that has, or had, or was named to have a limiter. */
struct known_interface {
	char name[IF_NAMESIZE];
	bool attached;	  /* when it was last looked at */
	bool named;	  /* by the operator, so it is missed when it is gone */
	uint64_t seed;	  /* of its table */
	uint64_t evicted; /* the most that was seen of that table */
};

struct service {
	struct known_interface *known;
	size_t known_count;
	bool all;		  /* no interface was named: those that have a limiter */
	struct netdev unreadable; /* one that may not be looked at; ifindex 0: none */
	struct token token;
	uint64_t top;	     /* sources to name in /metrics */
	bool run_statistics; /* the kernel measures programs */
	struct feeds feeds;
};

/** service_name - serve this interface: 0 or -ENOMEM. */
int service_name(struct service *service, const char *name);

/** service_refresh - look which interfaces have a limiter now: 0 or -errno. */
int service_refresh(struct service *service);
void service_free(struct service *service);

/**
 * service_open - the limiter on @interface; NULL: on the only one that has one. False: refused, in
 * @answer. target_close() only after true. @locked: as target_look_locked().
 */
bool service_open(struct service *service, const char *interface, bool locked,
		  struct target *target, struct http_answer *answer);

#endif
