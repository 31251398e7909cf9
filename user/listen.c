// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sockets that wait for clients. */
#include "listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "units.h"

#define BACKLOG 1024
#define TYPE	(SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK)

struct place {
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} at;
	socklen_t size;
};

static int refuse_address(const char *address, struct complaint *why)
{
	return complain(why, -EINVAL,
			"'%s' is no address with a port; write 127.0.0.1:10277 or [::1]:10277",
			address);
}

/* "ADDRESS:PORT" or "[ADDRESS]:PORT" */
static int parse_place(const char *address, struct place *place, struct complaint *why)
{
	const char *colon = strrchr(address, ':');
	char text[INET6_ADDRSTRLEN + 2];
	struct complaint ignored;
	uint64_t port;
	size_t length = colon ? (size_t)(colon - address) : 0;

	if (!colon || length >= sizeof(text) ||
	    parse_count(colon + 1, "port", 0, 65535, &port, &ignored))
		return refuse_address(address, why);
	snprintf(text, sizeof(text), "%.*s", (int)length, address);
	if (text[0] == '[' && text[length - 1] == ']') {
		text[length - 1] = '\0';
		place->at.in6.sin6_family = AF_INET6;
		place->at.in6.sin6_port = htons((uint16_t)port);
		place->size = sizeof(place->at.in6);
		if (inet_pton(AF_INET6, text + 1, &place->at.in6.sin6_addr) == 1)
			return 0;
	} else {
		place->at.in.sin_family = AF_INET;
		place->at.in.sin_port = htons((uint16_t)port);
		place->size = sizeof(place->at.in);
		if (inet_pton(AF_INET, text, &place->at.in.sin_addr) == 1)
			return 0;
	}
	return refuse_address(address, why);
}

static bool is_loopback(const struct place *place)
{
	if (place->at.any.sa_family == AF_INET)
		return ntohl(place->at.in.sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&place->at.in6.sin6_addr);
}

static void format_place(const struct place *place, char text[LISTEN_TEXT_SIZE])
{
	char address[INET6_ADDRSTRLEN] = "";

	if (place->at.any.sa_family == AF_INET) {
		inet_ntop(AF_INET, &place->at.in.sin_addr, address, sizeof(address));
		snprintf(text, LISTEN_TEXT_SIZE, "%s:%u", address, ntohs(place->at.in.sin_port));
	} else {
		inet_ntop(AF_INET6, &place->at.in6.sin6_addr, address, sizeof(address));
		snprintf(text, LISTEN_TEXT_SIZE, "[%s]:%u", address,
			 ntohs(place->at.in6.sin6_port));
	}
}

static int bind_to(const struct sockaddr *address, socklen_t size)
{
	int fd = socket(address->sa_family, TYPE, 0), on = 1, err = 0;

	if (fd < 0)
		return -errno;
	/* A restart finds connections of the last one still waiting to end. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, address, size) || listen(fd, BACKLOG))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int listen_address(const char *address, bool *local, char text[LISTEN_TEXT_SIZE],
		   struct complaint *why)
{
	struct place place = {0};
	int fd = parse_place(address, &place, why);

	if (fd)
		return fd;
	fd = bind_to(&place.at.any, place.size);
	if (fd < 0)
		return complain(why, fd, "cannot listen on %s: %s", address, strerror(-fd));
	getsockname(fd, &place.at.any, &place.size);
	*local = is_loopback(&place);
	format_place(&place, text);
	return fd;
}

/* Left by one that was killed: connecting is refused then. */
static bool is_abandoned(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, TYPE, 0);
	bool abandoned;

	if (fd < 0)
		return false;
	abandoned = connect(fd, (const struct sockaddr *)address, sizeof(*address)) &&
		    errno == ECONNREFUSED;
	close(fd);
	return abandoned;
}

int listen_path(const char *path, struct complaint *why)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat info;
	int fd;

	if (!*path || strlen(path) >= sizeof(address.sun_path))
		return complain(why, -EINVAL, "'%s': a socket's path has 1 to %zu bytes", path,
				sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, path);
	if (!lstat(path, &info) && S_ISSOCK(info.st_mode) && is_abandoned(&address))
		unlink(path);
	fd = bind_to((const struct sockaddr *)&address, sizeof(address));
	if (fd < 0)
		return complain(why, fd, "cannot listen on %s: %s", path, strerror(-fd));
	if (chmod(path, 0666)) {
		fd = complain(why, -errno, "cannot open %s to all: %s", path, strerror(errno));
		unlink(path);
	}
	return fd;
}
