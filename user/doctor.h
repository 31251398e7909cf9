/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `doctor` looks at, and what it makes of it: facts are gathered apart from being judged. */
#ifndef XDP_LIMIT_DOCTOR_H
#define XDP_LIMIT_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>
#include "kernel.h"
#include "netdev.h"
#include "summary.h"

struct machine {
	char release[65];
	char hardware[65];
	const char *libbpf;   /* its version */
	unsigned int version; /* as kernel_release() */
	unsigned int cpus;
	int there[ABILITY_COUNT]; /* as kernel_abilities() */
	uint64_t capabilities;
	uint64_t memlock; /* bytes; UINT64_MAX: unlimited */
	bool initial_users; /* in the first user namespace: only there do capabilities count for bpf() */
	bool bpffs;
	bool pins_read_only;
	struct complaint pins_why; /* why pins can't be trusted; empty: they can */
	struct complaint lock_why; /* why no lock can be taken; empty: it can */
	bool own_mounts;   /* not those of the machine: pins made here would die with them */
	char lockdown[32]; /* empty: can't be read */
	int unprivileged_disabled; /* kernel.unprivileged_bpf_disabled; -1: can't be read */
};

struct interface {
	struct netdev netdev;
	struct netdev_hardware hardware;
	struct attachment attachment;
	int attachment_err; /* -errno: what is attached can't be told */
	bool pins_exist;
	bool pins_complete;
	unsigned int other_abi; /* ours, of another version that can't be read here; 0: none */
	bool limited;		/* by ours, and @summary says what it has seen */
	struct summary summary;
};

struct facts {
	struct machine machine;
	struct interface interface;
};

enum finding_state {
	FINDING_OK,
	FINDING_INFO, /* worth knowing, nothing to do */
	FINDING_FIX,  /* keeps a limiter from working here */
};

struct finding {
	enum finding_state state;
	char value[256];  /* empty: not worth a line */
	char advice[256]; /* empty: none */
};

struct check {
	const char *name;
	void (*judge)(const struct check *check, const struct facts *facts,
		      struct finding *finding);
	const enum ability_id *abilities; /* for those that judge some; ends with ABILITY_COUNT */
	bool detail; /* a line of the screen only when something is to be said; always in JSON */
};

/* Rows in the order of printing; the last has no name. Pure: no kernel calls. */
extern const struct check machine_checks[];
extern const struct check interface_checks[];

void finding_value(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/** Raises the state to @state, never lowers it, and adds a sentence of advice. */
void finding_advise(struct finding *finding, enum finding_state state, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** Ask the kernel everything about the machine. */
void gather_machine(struct machine *machine);
/** And about the interface @name: 0, or -errno with a sentence in @why. */
int gather_interface(const char *name, struct interface *interface, struct complaint *why);

#endif
