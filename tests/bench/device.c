// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* An interface in another network namespace: what it received, and what is attached to it. */
#include "device.h"

#include <bpf/libbpf.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "netns.h"

/* veth: all frames that came out of the queue, whether a program saw them or not. */
#define STATISTIC "rx_queue_0_xdp_packets"

static int enter(const char *netns)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	struct complaint why;

	if (home < 0)
		err(1, "/proc/self/ns/net");
	if (netns_enter(netns, &why))
		errx(1, "%s", why.text);
	return home;
}

static void leave(int home)
{
	if (setns(home, CLONE_NEWNET))
		err(1, "cannot go back to the first namespace");
	close(home);
}

static void query(const struct device *device, void *command)
{
	struct ifreq request = {.ifr_data = command};

	memcpy(request.ifr_name, device->name, sizeof(request.ifr_name));
	if (ioctl(device->socket, SIOCETHTOOL, &request))
		err(1, "statistics of %s", device->name);
}

static void find_statistic(struct device *device)
{
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
	struct ethtool_gstrings *names;

	query(device, &info);
	device->count = info.n_stats;
	names = calloc(1, sizeof(*names) + (size_t)info.n_stats * ETH_GSTRING_LEN);
	if (!names)
		err(1, "statistics of %s", device->name);
	*names = (struct ethtool_gstrings){
		.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = info.n_stats};
	query(device, names);
	for (device->index = 0; device->index < device->count; device->index++)
		if (!strncmp((char *)names->data + (size_t)device->index * ETH_GSTRING_LEN,
			     STATISTIC, ETH_GSTRING_LEN))
			break;
	free(names);
	if (device->index == device->count)
		errx(1, "%s: no statistic %s; is it a veth?", device->name, STATISTIC);
}

void device_open(struct device *device, const char *netns, const char *name)
{
	int home = enter(netns);

	memset(device, 0, sizeof(*device));
	snprintf(device->name, sizeof(device->name), "%s", name);
	device->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (device->socket < 0)
		err(1, "socket");
	find_statistic(device);
	leave(home);
}

uint64_t device_received(const struct device *device)
{
	struct ethtool_stats *stats = calloc(1, sizeof(*stats) +
							device->count * sizeof(stats->data[0]));
	uint64_t received;

	if (!stats)
		err(1, "statistics of %s", device->name);
	*stats = (struct ethtool_stats){.cmd = ETHTOOL_GSTATS, .n_stats = device->count};
	query(device, stats);
	received = stats->data[device->index];
	free(stats);
	return received;
}

void device_attach(const char *netns, const char *name, int program)
{
	int home = enter(netns);
	int failed = bpf_xdp_attach((int)if_nametoindex(name), program, XDP_FLAGS_DRV_MODE, NULL);

	if (failed)
		errx(1, "cannot attach to %s: %s", name, strerror(-failed));
	leave(home);
}
