// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Reads one TCP connection to its end and says how much came, in what time and how many segments.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CHUNK 65536

__attribute__((noreturn)) static void failed(const char *what)
{
	fprintf(stderr, "xdpl-listen: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int listen_on(const char *port)
{
	struct sockaddr_in6 any = {
		.sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)strtoul(port, NULL, 10)),
	};
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, off = 0;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) ||
	    bind(fd, (struct sockaddr *)&any, sizeof(any)) || listen(fd, 1))
		failed("listen");
	return fd;
}

static void tell_ready(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0)
		failed(path);
	close(fd);
}

static uint64_t read_all(int fd)
{
	static char buffer[CHUNK];
	uint64_t bytes = 0;
	ssize_t n;

	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		bytes += n;
	if (n < 0)
		failed("read");
	return bytes;
}

/* All that came, the handshake included, as the sender cut it: merged frames count as many. */
static unsigned int segments(int fd)
{
	struct tcp_info info = {0};
	socklen_t size = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size))
		failed("TCP_INFO");
	return info.tcpi_segs_in;
}

int main(int argc, char **argv)
{
	uint64_t bytes;
	double start;
	int fd, connection;

	if (argc != 3) {
		fprintf(stderr, "usage: xdpl-listen PORT READY_FILE\n");
		return 2;
	}
	fd = listen_on(argv[1]);
	tell_ready(argv[2]);
	connection = accept(fd, NULL, NULL);
	if (connection < 0)
		failed("accept");
	start = now();
	bytes = read_all(connection);
	printf("{\"bytes\":%llu,\"seconds\":%.6f,\"segments\":%u}\n", (unsigned long long)bytes,
	       now() - start, segments(connection));
	close(connection);
	close(fd);
	return 0;
}
