/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Why a packet passed or was dropped: the one list that both sides share. */
#ifndef XDP_LIMIT_REASONS_H
#define XDP_LIMIT_REASONS_H

/*
 * X(NAME, name, action, text)
 *
 * NAME    the enumerator, REASON_NAME
 * name    how JSON and text outputs call it; never renamed
 * action  what happens unless the policy says otherwise: PASS or DROP
 * text    one line for people
 *
 * New reasons go at the end: counters are indexed by position and outlive a program.
 */
#define XDP_LIMIT_REASONS(X)                                                                    \
	X(CONFORMING, conforming, PASS, "within every limit it met")                            \
	X(OVER_LIMIT, over_limit, DROP, "a limit of its source was exceeded")                   \
	X(CONTENDED, contended, DROP, "lost a race for the last room of its bucket")            \
	X(TABLE_FULL, table_full, PASS, "no bucket could be made for its source")               \
	X(CONTROL, control, PASS, "keeps the network working: ARP, ND, PMTU, MLD, IGMP, DHCP")  \
	X(NON_IP, non_ip, PASS, "not IP")                                                       \
	X(MALFORMED, malformed, DROP, "could not be parsed, or its source cannot be real")      \
	X(FRAGMENT, fragment, DROP, "a fragment, and the policy does not count them")           \
	X(SSH_GUARD, ssh_guard, PASS, "from the SSH peer that attached, while the guard lasts") \
	X(UNLIMITED, unlimited, PASS, "met no limit")                                           \
	X(ALLOWED, allowed, PASS, "on the allow list")                                          \
	X(DENIED, denied, DROP, "on the deny list")                                             \
	X(BANNED, banned, DROP, "its source is banned for a while")                             \
	X(GATE_CLOSED, gate_closed, DROP, "a new source, while too many new ones come")

enum reason {
#define XDP_LIMIT_ENUM(NAME, name, action, text) REASON_##NAME,
	XDP_LIMIT_REASONS(XDP_LIMIT_ENUM)
#undef XDP_LIMIT_ENUM
		REASON_COUNT,
	/* Not a verdict: the stage has nothing to say, the next one decides. */
	REASON_NONE = REASON_COUNT,
};

#endif
