// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Gathers a summary of a limiter that runs. */
#include "summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "compile_gate.h"
#include "shared_table.h"

static uint64_t packets_seen(const struct counters *counters)
{
	uint64_t sum = 0;

	for (int i = 0; i < REASON_SLOTS; i++)
		sum += counters->reasons[i].passed.packets + counters->reasons[i].dropped.packets +
		       counters->reasons[i].would_drop.packets;
	return sum;
}

/* The longest refill ago; the beginning of the clock where it has not run for so long. */
static uint64_t refill_ago(const struct summary *summary)
{
	uint64_t now = boot_clock_ns();

	return now > summary->refill_ns ? now - summary->refill_ns : 0;
}

static int read_shared(const struct running *running, struct summary *summary)
{
	struct members members = {0};
	int err = 0;

	if (running->table.shared_name[0])
		err = members_find(running->table.shared_name, &members);
	for (size_t i = 0; i < members.count && !err; i++) {
		char *name = summary->shared_with[summary->shared_count];

		if (members.list[i].netdev.ifindex == summary->netdev.ifindex)
			continue;
		memcpy(name, members.list[i].netdev.name, IF_NAMESIZE);
		if (members.generation[i] != running->config.generation ||
		    members.made_ns[i] != running->table.made_ns)
			memcpy(summary->apart, name, IF_NAMESIZE);
		summary->shared_count++;
	}
	return err;
}

int summary_read(const struct netdev *netdev, const struct running *running,
		 struct summary *summary)
{
	struct occupancy occupancy;
	struct counters raw;
	uint64_t now = time(NULL);
	int err;

	*summary = (struct summary){
		.netdev = *netdev,
		.attachment = running->attachment,
		.config = running->config,
		.table = running->table,
		.refill_ns = longest_refill_ns(&running->config),
		.device_packets = netdev->rx_packets - running->config.device_packets,
		.attached_seconds = now - running->config.attached_ns / NS_PER_SECOND,
		.trial = trial_state(running),
		.table_seconds = now - running->table.made_ns / NS_PER_SECOND,
		.trial_left_ns = trial_left_ns(running),
		.gate_closed = gate_is_closed(running),
		.pins_complete = pins_complete(netdev->ifindex, &running->attachment),
	};
	/* In this order, so that what is made or deleted meanwhile is never taken for evicted. */
	err = read_counters(running, &summary->counters);
	err = err ?: read_raw_counters(running, &raw);
	err = err ?: read_occupancy(running, refill_ago(summary), &occupancy);
	err = err ?: read_deleted(running, &summary->deleted);
	err = err ?: read_shared(running, summary);
	if (err)
		return err;
	summary->used = occupancy.used;
	summary->young = occupancy.young;
	summary->seen_since_attach = packets_seen(&raw);
	return 0;
}

int summary_read_queues(const struct running *running, struct summary *summary)
{
	int cpus = read_cpu_packets(running, &summary->cpu_packets);

	if (cpus < 0) {
		summary_free(summary);
		return cpus;
	}
	summary->cpus = (unsigned int)cpus;
	summary->cpus_online = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	return 0;
}

void summary_free(struct summary *summary)
{
	free(summary->cpu_packets);
	summary->cpu_packets = NULL;
}
