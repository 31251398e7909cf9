// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Many slow clients of one server: each sends its request byte by byte and never ends it.
 *
 *	xdpl-slow PORT COUNT READY
 *
 * READY is made when all are connected. Each 100 ms each sends a byte; who was hung up connects again. Ends
 * with SIGTERM.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS_MAX 4096

static int dial(const struct sockaddr_in *server)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)server, sizeof(*server)) ||
	    fcntl(fd, F_SETFL, O_NONBLOCK)) {
		perror("xdpl-slow: connect");
		exit(1);
	}
	return fd;
}

int main(int argc, char **argv)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
	struct sockaddr_in server = {.sin_family = AF_INET};
	struct rlimit files;
	int count = argc == 4 ? atoi(argv[2]) : 0;
	static int clients[CLIENTS_MAX];

	if (count < 1 || count > CLIENTS_MAX)
		return 2;
	server.sin_port = htons((uint16_t)atoi(argv[1]));
	server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	for (int i = 0; i < count; i++)
		clients[i] = dial(&server);
	close(open(argv[3], O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	for (size_t step = 0;; step++) {
		char byte = step < strlen(request) ? request[step] : 'x';

		for (int i = 0; i < count; i++) {
			if (send(clients[i], &byte, 1, MSG_NOSIGNAL) == 1 || errno == EAGAIN)
				continue;
			close(clients[i]);
			clients[i] = dial(&server);
		}
		usleep(100000);
	}
}
