/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A change of the live lists: the same for the commands and over HTTP. */
#ifndef XDP_LIMIT_LIST_CHANGE_H
#define XDP_LIMIT_LIST_CHANGE_H

#include <stdio.h>
#include "policy.h"
#include "special.h"
#include "target.h"

struct list_change {
	enum live_list list;
	const char *verb; /* what the list is called: "allow" */
	struct policy_prefixes prefixes;
	uint64_t for_ns; /* 0: for ever */
};

/** parse_list_time - how long an entry stays, not 0: 0, or -EINVAL or -ERANGE with a sentence. */
int parse_list_time(const char *text, uint64_t *for_ns, struct complaint *why);

/** list_change_add - all or none: 0, or -errno with a sentence. The target's lock is held. */
int list_change_add(const struct target *target, const struct list_change *change,
		    struct complaint *why);

/** list_change_delete - how many were on the list, or -errno with a sentence. */
int64_t list_change_delete(const struct target *target, const struct list_change *change,
			   struct complaint *why);

/** list_change_remark - what is worth saying of what was added: all of a family, the gateway, ... */
void list_change_remark(const struct target *target, const struct list_change *change,
			special_say *warn, special_say *note);

/** live_list_json - what is on @list: 0 or -errno. */
int live_list_json(const struct running *running, enum live_list list, FILE *out);

#endif
