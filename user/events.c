// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit events: what happens on an interface, as it happens; samples of what is dropped to a file. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "capabilities.h"
#include "command.h"
#include "event_print.h"
#include "pcapng.h"
#include "report.h"
#include "target.h"

enum events_option {
	OPTION_KIND,
	OPTION_COUNT,
	OPTION_FOR,
	OPTION_SAMPLE,
	OPTION_WRITE,
};

static const struct option_spec options[] = {
	[OPTION_KIND] = {"kind", "KIND[,KIND]",
			 "only these: drop, list, gate, ban, unban, pressure, sample"},
	[OPTION_COUNT] = {"count", "N", "end after N events"},
	[OPTION_FOR] = {"for", "TIME", "end after this time"},
	[OPTION_SAMPLE] = {"sample", "N", "of every Nth dropped packet the first 256 bytes"},
	[OPTION_WRITE] = {"write", "FILE",
			  "the samples, as pcapng with the reason as comment; - for stdout"},
	{NULL, NULL, NULL},
};

#define ALL_KINDS    ((1U << EVENT_KINDS) - 1)
#define SAMPLE_KIND  (1U << EVENT_SAMPLE)
#define SAMPLE_MAX   1000000000ULL
#define COMMENT_SIZE 128

/* One call, parsed, and where it has come. */
struct session {
	const char *interface;
	struct event_request request;
	uint32_t printed; /* kinds that go to the terminal */
	bool json;
	uint64_t count;	  /* UINT64_MAX without an end */
	uint64_t ends_ns; /* boot clock */
	const char *path; /* of the capture; NULL for none */
	FILE *capture;
	uint64_t captured;
	uint64_t told;
	struct events_lost lost; /* as it was said last */
};

static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

/* ---- the command line ---- */

static int take_kinds(const struct invocation *invocation, struct session *session,
		      struct complaint *why)
{
	const char *kinds = invocation->values[OPTION_KIND];
	bool samples = invocation->values[OPTION_SAMPLE];
	int err = 0;

	session->request.kinds = samples ? 0 : ALL_KINDS & ~SAMPLE_KIND;
	if (kinds)
		err = event_kinds_parse(kinds, &session->request.kinds, why);
	if (err)
		return err;
	if (session->request.kinds & SAMPLE_KIND && !samples)
		return complain(why, -EINVAL, "--kind sample needs --sample N, and --write FILE");
	session->printed = session->request.kinds & ~SAMPLE_KIND;
	if (samples)
		session->request.kinds |= SAMPLE_KIND;
	return 0;
}

static int take_sample(const struct invocation *invocation, struct session *session,
		       struct complaint *why)
{
	const char *every = invocation->values[OPTION_SAMPLE];
	uint64_t number = 0;
	int err;

	session->path = invocation->values[OPTION_WRITE];
	if (!every && !session->path)
		return 0;
	if (!every)
		return complain(
			why, -EINVAL,
			"--write needs --sample N: which of the dropped packets; --sample 1 "
			"takes all, as long as there are no more than 1000 per second");
	if (!session->path)
		return complain(
			why, -EINVAL,
			"--sample needs --write FILE (or --write - for stdout, to be read by "
			"tcpdump -r -)");
	err = parse_count(every, "--sample", 1, SAMPLE_MAX, &number, why);
	session->request.sample_every = (uint32_t)number;
	if (!err && !strcmp(session->path, "-") && (session->json || session->printed))
		return complain(
			why, -EINVAL,
			"--write - puts the capture on stdout: leave out --json and --kind, or "
			"write to a file");
	return err;
}

static int take_end(const struct invocation *invocation, struct session *session,
		    struct complaint *why)
{
	const char *count = invocation->values[OPTION_COUNT],
		   *time = invocation->values[OPTION_FOR];
	uint64_t for_ns;
	int err;

	session->count = session->ends_ns = UINT64_MAX;
	if (count) {
		err = parse_count(count, "--count", 1, UINT32_MAX, &session->count, why);
		if (err)
			return err;
	}
	if (!time)
		return 0;
	err = parse_time(time, &for_ns, why);
	if (!err)
		session->ends_ns = boot_clock_ns() + for_ns;
	return err;
}

static int take_options(const struct invocation *invocation, struct session *session,
			struct complaint *why)
{
	*session = (struct session){
		.interface = invocation->positionals[0],
		.json = invocation->json,
	};
	return take_kinds(invocation, session, why) ?: take_sample(invocation, session, why)
		       ?: take_end(invocation, session, why);
}

/* ---- the capture ---- */

static int open_capture(struct session *session, struct complaint *why)
{
	bool standard = session->path && !strcmp(session->path, "-");
	int fd, err;

	if (!session->path)
		return 0;
	/* A capture of before may be all that is left of an attack. */
	fd = standard ? dup(STDOUT_FILENO)
		      : open(session->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST)
		return complain(why, -EEXIST, "%s is there already; remove it, or write to another",
				session->path);
	session->capture = fd < 0 ? NULL : fdopen(fd, "w");
	if (!session->capture) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return complain(why, err, "cannot write to %s: %s", session->path, strerror(-err));
	}
	err = pcapng_start(session->capture, session->interface, EVENT_SNAP);
	if (!err && fflush(session->capture))
		err = -errno;
	return err ? complain(why, err, "cannot write to %s: %s", session->path, strerror(-err))
		   : 0;
}

static int capture(struct session *session, const struct news *news)
{
	const struct event *event = news->event;
	char comment[COMMENT_SIZE];
	const struct pcapng_packet packet = {
		.time_ns = event->time_ns + event_epoch_ns(),
		.bytes = news->frame,
		.captured = event->captured,
		.length = event->length,
		.comment = comment,
	};

	event_comment(news, comment, sizeof(comment));
	session->captured++;
	return pcapng_add(session->capture, &packet);
}

/* ---- as it happens ---- */

static void print_line(struct json_object *object)
{
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_SPACED |
							    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}

static int take_news(const struct news *news, void *context)
{
	struct session *session = context;
	int err = 0;

	if (session->told == session->count)
		return 0;
	session->told++;
	if (news->event->kind == EVENT_SAMPLE)
		err = capture(session, news);
	else if (session->json)
		print_line(event_json(news, event_epoch_ns()));
	else
		event_print(news, event_epoch_ns(), stdout);
	return err;
}

/* What was lost since it was said last. The terminal is for what was asked for: samples have a line at the end. */
static void print_lost(struct session *session, const struct watch *watch)
{
	uint64_t now = boot_clock_ns() + event_epoch_ns();
	struct events_lost lost, fresh;

	if (!session->printed || watch_lost(watch, &lost))
		return;
	fresh = lost;
	for (int i = 0; i < EVENT_KERNEL_KINDS; i++)
		fresh.capped[i] -= session->lost.capped[i];
	fresh.overflowed -= session->lost.overflowed;
	if (!events_lost_any(&fresh))
		return;
	session->lost = lost;
	if (session->json)
		print_line(events_lost_json(&fresh, now));
	else
		events_lost_print(&fresh, now, stdout);
}

static int time_left_ms(const struct session *session, uint64_t now)
{
	uint64_t left = session->ends_ns > now ? session->ends_ns - now : 0;

	return left > NS_PER_SECOND ? 1000 : (int)((left + 999999) / 1000000);
}

static int follow(struct session *session, struct watch *watch)
{
	uint64_t now = boot_clock_ns(), said = now;
	int err = 0;

	while (!ended && err >= 0 && session->told < session->count && now < session->ends_ns) {
		err = watch_poll(watch, time_left_ms(session, now), take_news, session);
		if (err == -EINTR)
			err = 0;
		if (err >= 0 && session->capture && fflush(session->capture))
			err = -errno;
		now = boot_clock_ns();
		if (now - said >= NS_PER_SECOND) {
			print_lost(session, watch);
			said = now;
		}
	}
	print_lost(session, watch);
	return err < 0 ? err : 0;
}

/* ---- the end ---- */

static void sum_up(const struct session *session, const struct watch *watch)
{
	struct events_lost lost;

	if (!session->capture || watch_lost(watch, &lost))
		return;
	report_note("%" PRIu64 " packets written to %s; not written: %" PRIu64
		    " of more than 1000 per second, %" PRIu64 " that came too fast to be read",
		    session->captured, session->path, lost.capped[EVENT_SAMPLE], lost.overflowed);
}

static enum exit_status explain_open(const struct session *session, int err)
{
	const char *name = session->interface;

	switch (err) {
	case -EBUSY:
		report_error("%u readers follow the events of %s already; end one of them",
			     EVENT_READERS, name);
		return EXIT_BUSY;
	case -EALREADY:
		report_error(
			"another reader takes samples of %s with another --sample; use the same "
			"N, or end that one",
			name);
		return EXIT_BUSY;
	case -ENOTSUP:
		report_error(
			"--sample needs Linux 5.18 or newer, which lets a program copy bytes of a "
			"packet (bpf_xdp_load_bytes)");
		return EXIT_UNSUPPORTED;
	case -EPERM:
		if (!may_make_maps()) {
			report_error(
				"cannot follow the events of %s: this process lacks CAP_BPF to make a "
				"ring for them; run it as root",
				name);
			return EXIT_FAILED;
		}
		/* fallthrough */
	default:
		report_error("cannot follow the events of %s: %s%s", name, strerror(-err),
			     permission_hint(err));
		return EXIT_FAILED;
	}
}

static enum exit_status explain_end(const struct session *session, int err)
{
	if (!err)
		return EXIT_DONE;
	if (err == -ENOENT) {
		report_error("the limiter on %s is gone", session->interface);
		return EXIT_NOT_ATTACHED;
	}
	report_error("cannot go on with the events of %s: %s", session->interface, strerror(-err));
	return EXIT_FAILED;
}

static enum exit_status run_watch(struct session *session, const struct netdev *netdev)
{
	enum exit_status status;
	struct watch *watch;
	int err = watch_open(netdev, &session->request, &watch);

	if (err)
		return err == -ENOENT ? explain_end(session, err) : explain_open(session, err);
	status = explain_end(session, follow(session, watch));
	sum_up(session, watch);
	watch_close(watch);
	return status;
}

static enum exit_status run(const struct invocation *invocation)
{
	const struct sigaction action = {.sa_handler = end};
	enum exit_status status;
	struct session session;
	struct complaint why;
	struct target target;

	if (take_options(invocation, &session, &why)) {
		report_error("%s", why.text);
		return EXIT_USAGE;
	}
	status = target_open(invocation->positionals[0], &target);
	if (status != EXIT_DONE)
		return status;
	target_close(&target);
	if (open_capture(&session, &why)) {
		report_error("%s", why.text);
		status = EXIT_FAILED;
	}
	/* Also into a pipe each line goes out as it comes. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (status == EXIT_DONE)
		status = run_watch(&session, &target.netdev);
	if (session.capture && fclose(session.capture) && status == EXIT_DONE) {
		report_error("cannot write to %s: %s", session.path, strerror(errno));
		status = EXIT_FAILED;
	}
	return status;
}

const struct command command_events = {
	.name = "events",
	.arguments =
		"IFACE [--kind KIND[,KIND]] [--count N] [--for TIME] [--sample N --write FILE] "
		"[--json]",
	.summary = "first drops, bans, the gate, table pressure as they happen",
	.notes =
		"One line for each event, until SIGINT or SIGTERM, or the limiter is gone (status 3). Of drops\n"
		"and list hits the first of a source in 10 s, and at most 100 of a kind in any second; the rest\n"
		"is counted, in lines that say `lost`. With --json one object a line.\n\n"
		"  xdp-limit events eth0 --kind drop,ban\n"
		"  xdp-limit events eth0 --sample 100 --write drops.pcapng --for 1m\n"
		"  xdp-limit events eth0 --sample 1 --write - | tcpdump -nr -",
	.positionals_min = 1,
	.positionals_max = 1,
	.reads = true,
	.options = options,
	.run = run,
};
