// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit serve: metrics, and what the commands say, over HTTP. */
#include <errno.h>
#include <linux/capability.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "command.h"
#include "http_server.h"
#include "listen.h"
#include "netns.h"
#include "privileges.h"
#include "report.h"
#include "service.h"

/* Nobody's at IANA, outside of the range that Prometheus has given away, and below ephemeral ports. */
#define DEFAULT_LISTEN "127.0.0.1:10277"

/* Each of them costs a series for each limit that it exceeds, and they change all the time. */
#define TOP_MAX 100

enum serve_option {
	OPTION_LISTEN,
	OPTION_SOCKET,
	OPTION_TOKEN_FILE,
	OPTION_TOP,
	OPTION_NO_RUN_TIME,
};

// clang-format off
static const struct option_spec options[] = {
	[OPTION_LISTEN] = {"listen", "ADDR:PORT", "default " DEFAULT_LISTEN "; none: only --socket"},
	[OPTION_SOCKET] = {"socket", "PATH", "a Unix socket too"},
	[OPTION_TOKEN_FILE] = {"token-file", "FILE",
		"let who sends its line as a bearer token change live lists"},
	[OPTION_TOP] = {"top", "N", "name the N worst sources in /metrics (at most 100)"},
	[OPTION_NO_RUN_TIME] = {"no-run-time", NULL, "don't have the kernel measure programs"},
	{NULL, NULL, NULL},
};
// clang-format on

/* What was opened where it was started. */
struct sockets {
	int tcp, local; /* -1: none */
	bool loopback;
	char tcp_text[LISTEN_TEXT_SIZE];
	const char *path;
};

static int open_sockets(const struct invocation *invocation, struct sockets *sockets,
			struct complaint *why)
{
	const char *address = invocation->values[OPTION_LISTEN] ?: DEFAULT_LISTEN;

	*sockets = (struct sockets){
		.tcp = -1,
		.local = -1,
		.path = invocation->values[OPTION_SOCKET],
	};
	if (strcmp(address, "none") != 0) {
		sockets->tcp = listen_address(address, &sockets->loopback, sockets->tcp_text, why);
		if (sockets->tcp < 0)
			return sockets->tcp;
	} else if (!sockets->path) {
		return complain(why, -EINVAL, "--listen none needs a --socket");
	}
	if (!sockets->path)
		return 0;
	sockets->local = listen_path(sockets->path, why);
	return sockets->local < 0 ? sockets->local : 0;
}

static int take_options(const struct invocation *invocation, struct service *service,
			struct complaint *why)
{
	const char *top = invocation->values[OPTION_TOP];
	const char *token = invocation->values[OPTION_TOKEN_FILE];
	int err = 0;

	service->all = !invocation->positional_count;
	for (int i = 0; i < invocation->positional_count; i++) {
		if (strlen(invocation->positionals[i]) >= IF_NAMESIZE)
			return complain(why, -EINVAL, "'%s' is longer than a name can be",
					invocation->positionals[i]);
		if (service_name(service, invocation->positionals[i]))
			return complain(why, -ENOMEM, "out of memory");
	}
	if (top)
		err = parse_count(top, "--top", 1, TOP_MAX, &service->top, why);
	if (!err && token)
		err = token_read(token, &service->token, why);
	return err;
}

/* Held until the end of the process. */
static void measure_programs(const struct invocation *invocation, struct service *service)
{
	int fd;

	if (invocation->values[OPTION_NO_RUN_TIME])
		return;
	fd = statistics_start();
	service->run_statistics = fd >= 0;
	if (fd < 0)
		report_warning("the kernel does not measure programs: %s; "
			       "xdp_limit_program_run_seconds_total is left out",
			       fd == -EPERM ? "this process lacks CAP_SYS_ADMIN" : strerror(-fd));
}

static int block_signals(void)
{
	sigset_t signals;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	return signalfd(-1, &signals, SFD_CLOEXEC);
}

static int attach_sockets(struct http_server *server, const struct sockets *sockets,
			  struct complaint *why)
{
	int err = 0;

	if (sockets->tcp >= 0)
		err = http_server_listen(server, sockets->tcp, sockets->loopback, why);
	if (!err && sockets->local >= 0)
		err = http_server_listen(server, sockets->local, false, why);
	return err;
}

static void announce(const struct service *service, const struct sockets *sockets)
{
	if (sockets->tcp >= 0)
		report_note("serving on http://%s/", sockets->tcp_text);
	if (sockets->local >= 0)
		report_note("serving on the socket %s", sockets->path);
	if (sockets->tcp >= 0 && !sockets->loopback)
		report_warning("other machines may reach %s, without a password or encryption%s",
			       sockets->tcp_text,
			       service->token.text[0] ? "; the token goes over the network too"
						      : "");
}

/* What reading and changing live lists needs, of what this process has. */
static int drop_privileges(struct complaint *why)
{
	/* Pins are opened as root; it takes this to make a larger live list, and a ring for events. */
	return privileges_keep(1ULL << CAP_BPF, why);
}

static int serve_requests(struct service *service, const struct sockets *sockets,
			  struct complaint *why)
{
	struct http_server *server = http_server_new(service);
	int signals = block_signals(), err;

	if (!server || signals < 0)
		return complain(why, -ENOMEM, "cannot start to serve: %s", strerror(errno));
	err = attach_sockets(server, sockets, why) ?: drop_privileges(why);
	if (!err) {
		announce(service, sockets);
		err = http_server_run(server, signals);
		if (err)
			complain(why, err, "cannot wait for clients: %s", strerror(-err));
	}
	http_server_free(server);
	close(signals);
	return err;
}

/* Not being allowed to look would only show in a scrape. */
static int try_reading(struct service *service, struct complaint *why)
{
	int err = service_refresh(service);
	struct complaint missing;
	struct netdev netdev;
	bool any = false;

	if (err)
		return complain(why, err, "cannot read what is attached: %s%s", strerror(-err),
				permission_hint(err));
	for (size_t i = 0; i < service->known_count; i++) {
		any |= service->known[i].attached;
		if (netdev_find(service->known[i].name, &netdev, &missing))
			report_warning("%s; it will be seen when it appears", missing.text);
	}
	if (!any && service->unreadable.ifindex)
		report_warning("cannot read what is attached to %s: %s%s", service->unreadable.name,
			       strerror(EPERM), permission_hint(-EPERM));
	else if (!any)
		report_note("no limiter is attached %sso far; it will be seen when one is",
			    service->all ? "" : "to what is served ");
	return 0;
}

static enum exit_status run(const struct invocation *invocation)
{
	struct service service = {0};
	struct sockets sockets = {.tcp = -1, .local = -1};
	struct complaint why = {""};
	int err = take_options(invocation, &service, &why);

	err = err ?: open_sockets(invocation, &sockets, &why);
	/* Only now: it listens where it was started. */
	if (!err && invocation->netns)
		err = netns_enter(invocation->netns, &why);
	if (!err) {
		measure_programs(invocation, &service);
		err = try_reading(&service, &why);
	}
	err = err ?: serve_requests(&service, &sockets, &why);
	if (sockets.local >= 0)
		unlink(sockets.path);
	service_free(&service);
	if (!err)
		return EXIT_DONE;
	report_error("%s", why.text);
	return err == -EADDRINUSE ? EXIT_BUSY : status_of_error(err);
}

const struct command command_serve = {
	.name = "serve",
	.arguments = "[IFACE...] [--listen ADDR:PORT] [--socket PATH] [OPTION...]",
	.summary = "metrics, status and limits over HTTP",
	.notes =
		"Serves IFACE..., or whatever interfaces of the network namespace have a limiter, until SIGTERM\n"
		"or SIGINT. It listens in the network namespace where it was started; --netns only says where it\n"
		"reads. Limiting does not depend on it.\n\n"
		"/metrics is for Prometheus. /v1/status, /v1/sources and /v1/get?address=192.0.2.1 say what the\n"
		"commands do with --json; /v1/auth?address=192.0.2.1 is 403 for who is limited now. GET lists\n"
		"/v1/ban, /v1/allow and /v1/deny; POST and DELETE change them, with the token of --token-file.\n"
		"All of it: docs/monitoring/http.md.",
	.positionals_min = 0,
	.positionals_max = INT_MAX,
	.enters = true,
	.options = options,
	.run = run,
};
