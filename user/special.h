/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What to tell an operator whose lists or limits hit the default gateway or the host itself; pure. */
#ifndef XDP_LIMIT_SPECIAL_H
#define XDP_LIMIT_SPECIAL_H

#include "kernel.h"
#include "policy.h"

enum special_kind {
	SPECIAL_GATEWAY, /* of a default route out of the interface */
	SPECIAL_OWN,	 /* the interface's own: who sends from it forges it */
};

struct special {
	struct address address;
	enum special_kind kind;
};

struct specials {
	size_t count, capacity;
	struct special *list; /* freed by specials_free() */
};

/** specials_add - append, unless it is there already; 0 or -ENOMEM. */
int specials_add(struct specials *specials, const struct special *special);
void specials_free(struct specials *specials);

/* How a sentence gets to the operator: report_warning(), report_note(). */
typedef void special_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** warn_specials - gateways that @policy drops, and own addresses that it allows. */
void warn_specials(const struct policy *policy, const struct specials *specials, special_say *warn);

/** note_specials - gateways that @policy limits like everybody; @interface is for the advice. */
void note_specials(const struct policy *policy, const struct specials *specials,
		   const char *interface, special_say *note);

/* What a command put on a live list. */
struct live_change {
	enum live_list list;
	const char *verb; /* what the list is called: "deny" */
	const char *interface;
	const struct policy_prefixes *prefixes;
	bool dry_run;
};

/** remark_specials - those that @change covers and that are not saved by a longer entry. */
void remark_specials(const struct live_change *change, const struct specials *specials,
		     special_say *warn, special_say *note);

#endif
