/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How an application asks xdp-limit about a client, and bans it for a while, if told to:
 *
 *	cc library.c $(pkg-config --cflags --libs xdplimit) -o library
 *	./library eth0 192.0.2.10 [SECONDS-OF-A-BAN]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xdplimit.h>

static int fail(struct xdplimit *limiter)
{
	fprintf(stderr, "%s\n", xdplimit_message(limiter));
	xdplimit_close(limiter);
	return 1;
}

static void tell(const struct xdplimit_answer *answer)
{
	printf("%s: limit %s of %" PRIu64 ", remaining %" PRIu64 ", reset in %.3f s\n",
	       answer->source, *answer->limit_name ? answer->limit_name : "none", answer->limit,
	       answer->remaining, answer->reset_seconds);
	if (answer->banned_until > 0)
		printf("banned until %.0f\n", answer->banned_until);
	/* "inf" where nothing passes, however long one waits. */
	if (!answer->allowed)
		printf("refused; retry after %.3f s\n", answer->retry_after_seconds);
}

int main(int argc, char **argv)
{
	struct xdplimit_answer answer = XDPLIMIT_ANSWER;
	struct xdplimit_status status = XDPLIMIT_STATUS;
	struct xdplimit *limiter;
	char message[256];

	if (argc < 3) {
		fprintf(stderr, "usage: %s INTERFACE ADDRESS [SECONDS]\n", argv[0]);
		return 2;
	}
	if (xdplimit_open(argv[1], &limiter, message, sizeof(message))) {
		fprintf(stderr, "%s\n", message);
		return 1;
	}
	if (argc > 3 && xdplimit_ban(limiter, argv[2], strtod(argv[3], NULL)))
		return fail(limiter);
	if (xdplimit_get(limiter, argv[2], &answer) || xdplimit_status(limiter, &status))
		return fail(limiter);
	tell(&answer);
	printf("%s: passed %" PRIu64 ", dropped %" PRIu64 " packets\n", status.interface,
	       status.passed_packets, status.dropped_packets);
	xdplimit_close(limiter);
	return 0;
}
