// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a frame costs from its sender to a limiter at the other end of a veth, on one CPU.
 *
 *	bench-path [--quick] FAMILY SOURCES LIMITER=INTERFACE,NETNS...
 *		frames into INTERFACE of this network namespace; the other end is rx0 in NETNS
 *	bench-path --discard NETNS
 *		a program that drops all, to rx0 in NETNS
 */
#include <err.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "columns.h"
#include "cpus.h"
#include "device.h"
#include "rows.h"

#define RECEIVER  "rx0"
#define PATHS_MAX 8
#define NEWCOMERS 2000000
#define ROUNDED	  0.5 /* of ns per packet, which the kernel rounds down */
#define ARRIVED	  0.98
/* Warming up is slow enough for the receiver's queue to overflow; twice misses nobody. */
#define WALKS 2

/* The sender alone is wanted; its policy does not matter. */
#define NO_POLICY "table: {sources: 1024}\nlimits: [{name: default, rate: 1/s}]\n"

static struct bench bench;
static struct frame frame;

struct path {
	char limiter[16];
	char interface[16];
	unsigned int ifindex;
	struct device receiver;
};

static double batch_on_path(void *context, uint32_t packets, bool *disturbed)
{
	struct path *path = context;
	double ns, received;

	bench_send_to(&bench, path->ifindex);
	received = (double)device_received(&path->receiver);
	ns = bench_run(&bench, BENCH_SEND, &frame, packets) + ROUNDED;
	received = (double)device_received(&path->receiver) - received;
	*disturbed = received < packets * ARRIVED;
	return received ? ns * packets / received : 1e9;
}

static void warm_up(struct path *paths, size_t count, const struct column *column)
{
	bool disturbed;

	for (size_t i = 0; i < count; i++) {
		for (int walk = 0; column->count && walk < WALKS; walk++) {
			draw_each(&bench, &frame, 0);
			batch_on_path(&paths[i], column->count, &disturbed);
		}
		if (column->count)
			continue;
		draw_new(&bench, &frame);
		batch_on_path(&paths[i], NEWCOMERS, &disturbed);
	}
	if (column->count)
		draw_column(&bench, &frame, column);
}

static void open_path(struct path *path, const char *text)
{
	char netns[64];

	if (sscanf(text, "%15[^=]=%15[^,],%63s", path->limiter, path->interface, netns) != 3)
		errx(2, "what is '%s'?", text);
	path->ifindex = if_nametoindex(path->interface);
	if (!path->ifindex)
		err(1, "%s", path->interface);
	device_open(&path->receiver, netns, RECEIVER);
}

static void measure_paths(unsigned int family, const struct column *column, int count,
			  char *const texts[], const struct effort *effort)
{
	static struct path paths[PATHS_MAX];
	static struct subject subjects[PATHS_MAX];

	say("path: %s, IPv%u\n", column->name, family);
	bench_frame(&frame, family);
	for (int i = 0; i < count; i++) {
		open_path(&paths[i], texts[i]);
		subjects[i] = (struct subject){
			.name = paths[i].limiter,
			.batch = batch_on_path,
			.context = &paths[i],
			.run_in = column_run_in(column),
		};
	}
	stay_on(0);
	bench_hold(&bench, BENCH_SEND);
	warm_up(paths, count, column);
	measure(subjects, count, effort);
	for (int i = 0; i < count; i++)
		write_row(&(struct row){"path", paths[i].limiter, column->name, 1, family},
			  &subjects[i]);
}

static int usage(void)
{
	errx(2, "usage: bench-path [--quick] FAMILY SOURCES LIMITER=INTERFACE,NETNS...\n"
		"       bench-path --discard NETNS");
}

int main(int argc, char **argv)
{
	const struct effort *effort = &thorough;
	const struct column *column;

	if (argc > 1 && !strcmp(argv[1], "--quick")) {
		effort = &quick;
		argv++;
		argc--;
	}
	if (argc < 3)
		return usage();
	if (!bench_open(&bench, NO_POLICY))
		errx(1, "the sender's policy is not understood");
	if (!strcmp(argv[1], "--discard")) {
		device_attach(argv[2], RECEIVER, bench.programs[BENCH_DISCARD]);
		return 0;
	}
	column = column_named(argv[2]);
	if (!column || argc < 4 || argc - 3 > PATHS_MAX)
		return usage();
	measure_paths(strtoul(argv[1], NULL, 10), column, argc - 3, argv + 3, effort);
	return 0;
}
