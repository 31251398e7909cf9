// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Every function of libxdplimit, also with what it refuses; tests/package/library.sh says on what.
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xdplimit.h>

static void check(const char *what, int got, int want)
{
	if (got == want)
		return;
	printf("%s: %d, not %d\n", what, got, want);
	exit(1);
}

/* Structs that are older or newer than the library. */
static void sizes(struct xdplimit *limiter)
{
	struct {
		struct xdplimit_answer answer;
		char later[64];
	} newer;
	struct xdplimit_answer answer = {0};

	check("no size", xdplimit_get(limiter, "192.0.2.77", &answer), -EINVAL);
	memset(&answer, 0x55, sizeof(answer));
	answer.size = offsetof(struct xdplimit_answer, unit);
	check("an older struct", xdplimit_get(limiter, "192.0.2.77", &answer), 0);
	check("what it knows", answer.allowed, 0);
	check("what it doesn't know", answer.unit, 0x55555555);
	memset(&newer, 0x55, sizeof(newer));
	newer.answer.size = sizeof(newer);
	check("a newer struct", xdplimit_get(limiter, "192.0.2.77", &newer.answer), 0);
	check("what the library doesn't know", newer.later[0] | newer.later[63], 0);
}

static void socket_addresses(struct xdplimit *limiter)
{
	struct sockaddr_in ipv4 = {.sin_family = AF_INET};
	struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6};
	struct sockaddr other = {.sa_family = AF_UNIX};
	struct xdplimit_answer by_text = XDPLIMIT_ANSWER, by_peer = XDPLIMIT_ANSWER;

	inet_pton(AF_INET, "192.0.2.77", &ipv4.sin_addr);
	inet_pton(AF_INET6, "::ffff:192.0.2.77", &ipv6.sin6_addr);
	check("text", xdplimit_get(limiter, "192.0.2.77", &by_text), 0);
	check("IPv4", xdplimit_get_sockaddr(limiter, (struct sockaddr *)&ipv4, &by_peer), 0);
	check("the same source", strcmp(by_peer.source, by_text.source), 0);
	check("mapped", xdplimit_get_sockaddr(limiter, (struct sockaddr *)&ipv6, &by_peer), 0);
	check("the same source", strcmp(by_peer.source, by_text.source), 0);
	inet_pton(AF_INET6, "2001:db8:0:1::5", &ipv6.sin6_addr);
	check("IPv6", xdplimit_get_sockaddr(limiter, (struct sockaddr *)&ipv6, &by_peer), 0);
	check("its /64", strcmp(by_peer.source, "2001:db8:0:1::/64"), 0);
	check("another", xdplimit_get_sockaddr(limiter, &other, &by_peer), -EAFNOSUPPORT);
}

static void bans(struct xdplimit *limiter)
{
	struct xdplimit_answer answer = XDPLIMIT_ANSWER;

	check("not banned", xdplimit_unban(limiter, "198.51.100.1"), -ENXIO);
	check("for no time", xdplimit_ban(limiter, "198.51.100.1", 0), -EINVAL);
	check("for less", xdplimit_ban(limiter, "198.51.100.1", -1), -EINVAL);
	check("for nobody knows", xdplimit_ban(limiter, "198.51.100.1", NAN), -EINVAL);
	check("bits beyond", xdplimit_ban(limiter, "198.51.100.1/24", 60), -EINVAL);
	check("no prefix", xdplimit_ban(limiter, "everybody", 60), -EINVAL);
	check("a minute", xdplimit_ban(limiter, "198.51.100.0/24", 60), 0);
	check("get", xdplimit_get(limiter, "198.51.100.9", &answer), 0);
	check("refused", answer.allowed, 0);
	check("how long", answer.retry_after_seconds > 50 && answer.retry_after_seconds <= 60, 1);
	check("unban", xdplimit_unban(limiter, "198.51.100.0/24"), 0);
	check("for ever", xdplimit_ban(limiter, "198.51.100.7", INFINITY), 0);
	check("get", xdplimit_get(limiter, "198.51.100.7", &answer), 0);
	check("until", isinf(answer.banned_until) && isinf(answer.retry_after_seconds), 1);
	check("unban", xdplimit_unban(limiter, "198.51.100.7"), 0);
	check("get", xdplimit_get(limiter, "198.51.100.7", &answer), 0);
	check("allowed", answer.allowed, 1);
}

static void refusals(struct xdplimit *limiter)
{
	struct xdplimit_answer answer = XDPLIMIT_ANSWER;
	struct xdplimit *none;
	char message[32];

	check("no address", xdplimit_get(limiter, "192.0.2.300", &answer), -EINVAL);
	check("its sentence", !strstr(xdplimit_message(limiter), "192.0.2.300"), 0);
	check("no interface", xdplimit_open("nowhere0", &none, message, sizeof(message)), -ENODEV);
	check("no handle", none != NULL, 0);
	check("a sentence", !*message, 0);
	check("no limiter", xdplimit_open("lo", &none, NULL, 0), -ENOENT);
	check("known", !strcmp(xdplimit_strerror(-EBUSY), xdplimit_strerror(-12345)), 0);
	xdplimit_close(NULL);
}

/* A thread, a handle. */
static void *ask(void *interface)
{
	struct xdplimit_answer answer = XDPLIMIT_ANSWER;
	struct xdplimit_status status = XDPLIMIT_STATUS;
	struct xdplimit *limiter;

	for (int i = 0; i < 20; i++) {
		check("open", xdplimit_open(interface, &limiter, NULL, 0), 0);
		for (int j = 0; j < 100; j++) {
			check("get", xdplimit_get(limiter, "192.0.2.77", &answer), 0);
			check("refused", answer.allowed, 0);
			check("status", xdplimit_status(limiter, &status), 0);
		}
		xdplimit_close(limiter);
	}
	return NULL;
}

static void threads(char *interface)
{
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		check("thread", pthread_create(&thread[i], NULL, ask, interface), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

/* What happens to a handle is told by lines of input: another policy, no limiter, a limiter again. */
static void lives(struct xdplimit *limiter)
{
	struct xdplimit_answer answer = XDPLIMIT_ANSWER;
	char line[16];

	while (fgets(line, sizeof(line), stdin)) {
		int err = xdplimit_get(limiter, "192.0.2.78", &answer);

		printf("%d %s %llu\n", err, err ? "-" : answer.limit_name,
		       err ? 0 : (unsigned long long)answer.limit);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	struct xdplimit *limiter;

	if (argc < 2)
		return 2;
	check("open", xdplimit_open(argv[1], &limiter, NULL, 0), 0);
	if (argc > 2) {
		lives(limiter);
	} else {
		sizes(limiter);
		socket_addresses(limiter);
		bans(limiter);
		refusals(limiter);
		threads(argv[1]);
	}
	xdplimit_close(limiter);
	return 0;
}
