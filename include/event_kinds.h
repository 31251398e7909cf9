/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is told to whoever listens, as it happens: the one list that both sides share. */
#ifndef XDP_LIMIT_EVENT_KINDS_H
#define XDP_LIMIT_EVENT_KINDS_H

/*
 * X(NAME, name, per_second, text)
 *
 * NAME        the enumerator, EVENT_NAME
 * name        how --kind, JSON and text call it; never renamed
 * per_second  the most that the kernel tells in any second, an even number: half of it at once, and
 *             half of it per second. 0: user space sees it, see watch.h
 * text        one line for people
 */
#define XDP_LIMIT_EVENT_KINDS(X)                                                              \
	X(DROP, drop, 100, "the first packet of a source that a limit dropped, in 10 s")      \
	X(LIST, list, 100, "the first packet of a source that a list decided about, in 10 s") \
	X(GATE, gate, 2, "the gate refused a new source; once in a second")                   \
	X(BAN, ban, 100, "a source was banned, by a limit or a command")                      \
	X(SAMPLE, sample, 1000, "one of N dropped packets, with its first bytes (--sample)")  \
	X(UNBAN, unban, 0, "a ban ended, by its time or by a command")                        \
	X(PRESSURE, pressure, 0, "the table came under pressure: what `status` would warn of")

enum event_kind {
#define XDP_LIMIT_ENUM(NAME, name, per_second, text) EVENT_##NAME,
	XDP_LIMIT_EVENT_KINDS(XDP_LIMIT_ENUM)
#undef XDP_LIMIT_ENUM
		EVENT_KINDS,
	EVENT_KERNEL_KINDS = EVENT_UNBAN,
};

#endif
