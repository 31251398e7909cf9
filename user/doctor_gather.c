// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Asks the machine and one interface everything that `doctor` judges. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "capabilities.h"
#include "doctor.h"
#include "lock.h"

/* The first line of @path, or an empty one. */
static void read_line(const char *path, char *line, int size)
{
	FILE *file = fopen(path, "r");

	line[0] = '\0';
	if (!file)
		return;
	if (!fgets(line, size, file))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	fclose(file);
}

/* "none [integrity] confidentiality": the one in brackets. */
static void read_lockdown(char *mode, size_t size)
{
	char line[128], *start, *end;

	mode[0] = '\0';
	read_line("/sys/kernel/security/lockdown", line, sizeof(line));
	start = strchr(line, '[');
	end = start ? strchr(start, ']') : NULL;
	if (end)
		snprintf(mode, size, "%.*s", (int)(end - start - 1), start + 1);
}

static int read_unprivileged(void)
{
	char line[16];
	int value;

	read_line("/proc/sys/kernel/unprivileged_bpf_disabled", line, sizeof(line));
	return sscanf(line, "%d", &value) == 1 ? value : -1;
}

static uint64_t read_memlock(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

/* Only the first namespace maps all ids to themselves. */
static bool are_users_initial(void)
{
	unsigned long inside, outside, count;
	char line[64];

	read_line("/proc/self/uid_map", line, sizeof(line));
	return sscanf(line, "%lu %lu %lu", &inside, &outside, &count) != 3 ||
	       (!inside && !outside && count == UINT32_MAX);
}

void gather_machine(struct machine *machine)
{
	struct utsname name;

	*machine = (struct machine){
		.libbpf = kernel_libbpf_version() + 1, /* without the v */
		.version = kernel_release(),
		.cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN),
		.capabilities = effective_capabilities(),
		.memlock = read_memlock(),
		.initial_users = are_users_initial(),
		.bpffs = pins_have_bpffs(),
		.pins_read_only = pins_read_only(),
		.own_mounts = !pins_would_last(),
		.unprivileged_disabled = read_unprivileged(),
	};
	if (machine->bpffs)
		pins_reachable(&machine->pins_why);
	lock_possible(&machine->lock_why);
	if (!uname(&name)) {
		snprintf(machine->release, sizeof(machine->release), "%s", name.release);
		snprintf(machine->hardware, sizeof(machine->hardware), "%s", name.machine);
	}
	read_lockdown(machine->lockdown, sizeof(machine->lockdown));
	kernel_abilities(machine->there);
}

/* What can't be read is told by other rows: who holds the hook, missing rights. */
static void gather_summary(struct interface *interface)
{
	struct running running;
	int err = running_open(interface->netdev.ifindex, &running);

	if (err == -EPROTO)
		interface->other_abi = running.config.abi;
	interface->limited = !err &&
			     !summary_read(&interface->netdev, &running, &interface->summary);
	running_close(&running);
}

int gather_interface(const char *name, struct interface *interface, struct complaint *why)
{
	int err;

	memset(interface, 0, sizeof(*interface));
	err = netdev_find(name, &interface->netdev, why);
	if (err)
		return err;
	netdev_hardware(name, &interface->hardware); /* what it doesn't answer stays unknown */
	interface->attachment_err = attachment_find(interface->netdev.ifindex,
						    &interface->attachment);
	interface->pins_exist = pins_exist(interface->netdev.ifindex);
	interface->pins_complete = pins_complete(interface->netdev.ifindex, &interface->attachment);
	gather_summary(interface);
	return 0;
}
