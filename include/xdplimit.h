/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libxdplimit: what xdp-limit would do to an address, for applications. See docs/library.md.
 *
 *	struct xdplimit *limiter;
 *	struct xdplimit_answer answer = XDPLIMIT_ANSWER;
 *
 *	if (!xdplimit_open("eth0", &limiter, NULL, 0)) {
 *		if (!xdplimit_get(limiter, "192.0.2.10", &answer) && !answer.allowed)
 *			printf("wait %.1f s\n", answer.retry_after_seconds);
 *		xdplimit_close(limiter);
 *	}
 *
 * Functions that can fail return 0 or a negative errno; xdplimit_message() has the sentence. Nothing is ever
 * written to stdout or stderr (but by libxdp: docs/library.md), no signal is touched, and the process is never
 * ended. Reading changes nothing of what is limited.
 *
 * Needs to be root, without any capability: docs/privileges.md. All calls on a handle are to be made in the network
 * namespace in which it was opened. Handles are independent: any number of threads may each have their
 * own. One handle is for one thread at a time.
 */
#ifndef XDPLIMIT_H
#define XDPLIMIT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A limiter on one interface. */
struct xdplimit;

/* A struct with its size, and zeros. */
#ifdef __cplusplus
#define XDPLIMIT_SIZED(type) \
	{                    \
		sizeof(type) \
	}
#else
#define XDPLIMIT_SIZED(type)         \
	{                            \
		.size = sizeof(type) \
	}
#endif

#define XDPLIMIT_NAME_SIZE   32 /* of a limit or an interface, with the final NUL */
#define XDPLIMIT_SOURCE_SIZE 64

enum xdplimit_unit {
	XDPLIMIT_PACKETS = 0,
	XDPLIMIT_BYTES = 1,
};

/*
 * What would happen to an address now. Where several limits apply, the tightest speaks: the one that refuses
 * longest, else the one with the least share of its burst left. Limits that only observe don't speak.
 *
 * Structs may grow at their end: `size` says how much of it the caller knows. Begin with XDPLIMIT_ANSWER.
 */
struct xdplimit_answer {
	size_t size;			   /* in: sizeof(struct xdplimit_answer) */
	int32_t allowed;		   /* 1: the smallest packet passes now; 0: it is dropped */
	int32_t unit;			   /* of limit and remaining: enum xdplimit_unit */
	char source[XDPLIMIT_SOURCE_SIZE]; /* that the address belongs to: "2001:db8:0:1::/64" */
	char limit_name[XDPLIMIT_NAME_SIZE]; /* of the limit that speaks; "": none does */
	uint64_t limit; /* its burst, in units: what passes at once when nothing came before */
	uint64_t
		remaining; /* units that pass now, rounded down; UINT64_MAX where no limit speaks */
	double reset_seconds; /* from now until all of the limit remains again */
	double retry_after_seconds; /* from now until the smallest packet passes; 0: now, INFINITY: never */
	double banned_until; /* Unix time; 0: not banned, INFINITY: for ever */
};

#define XDPLIMIT_ANSWER XDPLIMIT_SIZED(struct xdplimit_answer)

/* What runs, and what it did since the last `xdp-limit reset --counters`. Begin with XDPLIMIT_STATUS. */
struct xdplimit_status {
	size_t size; /* in: sizeof(struct xdplimit_status) */
	char interface[XDPLIMIT_NAME_SIZE];
	uint32_t ifindex;
	uint32_t program_id;
	int32_t generic;     /* 1: generic mode; 0: native */
	int32_t dry_run;     /* 1: nothing is dropped */
	int32_t gate_closed; /* 1: packets of new sources are refused at this moment */
	int32_t limits;	     /* how many the policy has */
	double attached_at;  /* Unix time: since when it limits this interface */
	uint64_t passed_packets, passed_bytes; /* frames with their Ethernet header */
	uint64_t dropped_packets, dropped_bytes;
	uint64_t would_drop_packets; /* of the passed ones: by a dry run or a limit that observes */
};

#define XDPLIMIT_STATUS XDPLIMIT_SIZED(struct xdplimit_status)

/*
 * xdplimit_open - the limiter that runs on @interface, in *@limiter. xdplimit_close() it.
 * @message: where to put a sentence of at most @message_size bytes after a failure; may be NULL.
 * -ENODEV: no such interface; -ENOENT: no limiter of xdp-limit on it; -EPROTO: one of another version;
 * -EPERM: not root.
 */
int xdplimit_open(const char *interface, struct xdplimit **limiter, char *message,
		  size_t message_size);

/* xdplimit_close - NULL is fine. The limiter goes on. */
void xdplimit_close(struct xdplimit *limiter);

/*
 * xdplimit_get - what would happen to @address ("192.0.2.1", "2001:db8::1") now. A policy that was applied
 * meanwhile is noticed.
 * -EINVAL: not an address, or @answer->size is none; -ENOENT: no limiter any more.
 */
int xdplimit_get(struct xdplimit *limiter, const char *address, struct xdplimit_answer *answer);

/* xdplimit_get_sockaddr - the same of the peer of a socket; -EAFNOSUPPORT: neither IPv4 nor IPv6. */
int xdplimit_get_sockaddr(struct xdplimit *limiter, const struct sockaddr *address,
			  struct xdplimit_answer *answer);

/*
 * xdplimit_ban - drop all packets from @prefix ("192.0.2.1", "2001:db8::/64") for @seconds, INFINITY for ever,
 * before any other list is asked. It ends by itself, in the kernel. A second ban replaces the first one's end.
 * -EINVAL: not a prefix, or no time; -EBUSY: a command is changing this limiter, try again; -ENOSPC: lists
 * are full; -ENOENT: no limiter any more.
 */
int xdplimit_ban(struct xdplimit *limiter, const char *prefix, double seconds);

/* xdplimit_unban - end it; those that a limit imposed too. -ENXIO: it was not banned; else as above. */
int xdplimit_unban(struct xdplimit *limiter, const char *prefix);

/* xdplimit_status - what runs. The numbers are those of `xdp-limit status`. -ENOENT: no limiter any more. */
int xdplimit_status(struct xdplimit *limiter, struct xdplimit_status *status);

/* xdplimit_message - the sentence about the last failure on this handle; "" if there was none. */
const char *xdplimit_message(const struct xdplimit *limiter);

/* xdplimit_strerror - in general, what an error of these functions means; for any thread, for ever. */
const char *xdplimit_strerror(int err);

#ifdef __cplusplus
}
#endif

#endif
