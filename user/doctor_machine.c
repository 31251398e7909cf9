// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What `doctor` makes of the machine: kernel, rights, file systems. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include "doctor.h"
#include "units.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define OLDEST	     0x050f00 /* 5.15: the oldest that is tested */
#define NO_MEMLOCK   0x050b00 /* 5.11 counts memory of maps by cgroup */

static void judge_kernel(const struct check *check, const struct facts *facts,
			 struct finding *finding)
{
	const struct machine *machine = &facts->machine;

	(void)check;
	finding_value(finding, "Linux %s %s, %u CPU%s", machine->release, machine->hardware,
		      machine->cpus, machine->cpus == 1 ? "" : "s");
	if (machine->version < OLDEST)
		finding_advise(finding, FINDING_FIX, "xdp-limit needs Linux 5.15 or newer");
}

static void judge_versions(const struct check *check, const struct facts *facts,
			   struct finding *finding)
{
	(void)check;
	finding_value(finding, "xdp-limit " XDP_LIMIT_VERSION ", libbpf %s", facts->machine.libbpf);
}

/* What attach needs; other commands need less: docs/privileges.md. */
static const struct {
	unsigned int number;
	const char *name;
} needed[] = {
	{CAP_BPF, "CAP_BPF"},
	{CAP_NET_ADMIN, "CAP_NET_ADMIN"},
	{CAP_PERFMON, "CAP_PERFMON"},
};

/* CAP_SYS_ADMIN stands in for the others but CAP_NET_ADMIN. A bit for each row of the table. */
static unsigned int lacking_rights(const struct machine *machine)
{
	uint64_t held = machine->capabilities;
	unsigned int lacking = 0;

	if (held >> CAP_SYS_ADMIN & 1)
		held |= 1ULL << CAP_BPF | 1ULL << CAP_PERFMON;
	for (size_t i = 0; i < COUNT(needed); i++)
		if (!(held >> needed[i].number & 1))
			lacking |= 1U << i;
	return lacking;
}

static void judge_rights(const struct check *check, const struct facts *facts,
			 struct finding *finding)
{
	unsigned int lacking = lacking_rights(&facts->machine);
	const char *before = lacking ? "lacks " : "";

	(void)check;
	for (size_t i = 0; i < COUNT(needed); i++) {
		if (lacking && !(lacking >> i & 1))
			continue;
		finding_value(finding, "%s%s", before, needed[i].name);
		before = ", ";
	}
	if (lacking)
		finding_advise(finding, FINDING_FIX,
			       "run as root: sudo xdp-limit ...; a container needs them given");
	if (!facts->machine.initial_users)
		finding_advise(
			finding, FINDING_FIX,
			"in a user namespace they don't count for bpf(): run it outside, as the "
			"host's root");
}

/* Names of @check's abilities whose state is @wanted, with the kernel that brought them. */
static unsigned int name_abilities(const struct check *check, const struct machine *machine,
				   bool wanted, struct finding *finding)
{
	unsigned int count = 0;

	for (const enum ability_id *id = check->abilities; *id != ABILITY_COUNT; id++) {
		const struct kernel_ability *ability = kernel_ability(*id);

		if ((machine->there[*id] > 0) != wanted)
			continue;
		finding_value(finding, "%s%s",
			      count++  ? ", "
			      : wanted ? ""
				       : "lacks ",
			      ability->name);
		if (!wanted && ability->since)
			finding_value(finding, " (Linux %s)", ability->since);
	}
	return count;
}

static bool could_ask(const struct check *check, const struct machine *machine,
		      struct finding *finding)
{
	int there = machine->there[check->abilities[0]];

	if (there >= 0)
		return true;
	finding_value(finding, "not asked: %s", strerror(-there));
	finding->state = FINDING_INFO;
	return false;
}

static void judge_needed(const struct check *check, const struct facts *facts,
			 struct finding *finding)
{
	if (!could_ask(check, &facts->machine, finding))
		return;
	if (name_abilities(check, &facts->machine, false, finding))
		finding_advise(finding, FINDING_FIX,
			       "a newer kernel: Linux 5.15 has all that is needed");
	else
		name_abilities(check, &facts->machine, true, finding);
}

/* Rights that are lacking, or don't count, are a matter of another row. */
static void judge_forbidden(const struct machine *machine, struct finding *finding)
{
	if (lacking_rights(machine) || !machine->initial_users)
		return;
	finding_value(finding, "not asked: %s", strerror(-machine->there[0]));
	finding_advise(finding, FINDING_FIX,
		       "bpf() is forbidden by a seccomp profile or by lockdown: allow it in the "
		       "container's profile; see /sys/kernel/security/lockdown");
}

/* One line for what the details below judge; sharing has its own. */
static void judge_features(const struct check *check, const struct facts *facts,
			   struct finding *finding)
{
	unsigned int there = 0;

	(void)check;
	if (facts->machine.there[0] < 0) {
		judge_forbidden(&facts->machine, finding);
		return;
	}
	for (int id = 0; id < ABILITY_EXTEND; id++)
		there += facts->machine.there[id] > 0;
	finding_value(finding, "%u of %u that are used: programs, maps, helpers, frames", there,
		      ABILITY_EXTEND);
}

/* A limiter that stands alone needs none of it. */
static void judge_sharing(const struct check *check, const struct facts *facts,
			  struct finding *finding)
{
	if (!could_ask(check, &facts->machine, finding))
		return;
	if (facts->machine.there[ABILITY_EXTEND] > 0) {
		finding_value(finding,
			      "with other XDP programs in a dispatcher of libxdp: --shared");
		return;
	}
	finding_value(finding, "one XDP program an interface: this kernel refuses --shared");
	finding->state = FINDING_INFO;
}

/* Used where they are there; without them frames are measured more coarsely. */
static void judge_frames(const struct check *check, const struct facts *facts,
			 struct finding *finding)
{
	const int *there = facts->machine.there;

	if (!could_ask(check, &facts->machine, finding))
		return;
	if (!name_abilities(check, &facts->machine, false, finding))
		name_abilities(check, &facts->machine, true, finding);
	if (there[ABILITY_FRAGS] <= 0)
		finding_advise(finding, FINDING_INFO,
			       "an MTU above 3400 needs --mode generic on this kernel");
	if (there[ABILITY_LOAD_BYTES] <= 0)
		finding_advise(
			finding, FINDING_INFO,
			"events --sample needs bytes of packets, which this kernel hands to no "
			"program");
	if (there[ABILITY_SKB_FACTS] <= 0)
		finding_advise(finding, FINDING_INFO,
			       "in generic mode packets in merged frames are estimated");
}

static void judge_jit(const struct check *check, const struct facts *facts, struct finding *finding)
{
	if (!could_ask(check, &facts->machine, finding))
		return;
	if (facts->machine.there[ABILITY_JIT] > 0) {
		finding_value(finding, "on");
		return;
	}
	finding_value(finding, "off: programs are interpreted, several times slower");
	finding_advise(finding, FINDING_FIX, "sysctl net.core.bpf_jit_enable=1");
}

static void judge_types(const struct check *check, const struct facts *facts,
			struct finding *finding)
{
	if (!could_ask(check, &facts->machine, finding))
		return;
	if (facts->machine.there[ABILITY_TYPES] > 0) {
		finding_value(finding, "the kernel tells its types");
		return;
	}
	finding_value(finding, "no /sys/kernel/btf/vmlinux");
	finding_advise(finding, FINDING_FIX,
		       "a kernel with CONFIG_DEBUG_INFO_BTF=y, as distributions build it");
}

static void judge_memlock(const struct check *check, const struct facts *facts,
			  struct finding *finding)
{
	char limit[UNITS_TEXT_SIZE];

	(void)check;
	if (facts->machine.memlock == UINT64_MAX) {
		finding_value(finding, "unlimited");
		return;
	}
	format_bytes(facts->machine.memlock, limit, sizeof(limit));
	if (facts->machine.version >= NO_MEMLOCK) {
		finding_value(finding, "%s; maps don't count since Linux 5.11", limit);
		return;
	}
	finding_value(finding, "%s, and this kernel counts maps against it", limit);
	finding_advise(finding, FINDING_FIX,
		       "ulimit -l unlimited; in a systemd unit: LimitMEMLOCK=infinity");
}

static void judge_pins(const struct machine *machine, struct finding *finding)
{
	if (machine->pins_read_only) {
		finding_value(finding, ", read-only");
		finding_advise(finding, FINDING_FIX, "mount -o remount,rw /sys/fs/bpf");
	}
	if (machine->pins_why.text[0])
		finding_advise(finding, FINDING_FIX, "%s", machine->pins_why.text);
}

static void judge_bpffs(const struct check *check, const struct facts *facts,
			struct finding *finding)
{
	(void)check;
	if (facts->machine.bpffs) {
		finding_value(finding, "mounted at /sys/fs/bpf");
		judge_pins(&facts->machine, finding);
		return;
	}
	finding_value(finding, "not mounted at /sys/fs/bpf");
	if (facts->machine.own_mounts)
		finding_advise(finding, FINDING_FIX,
			       "inside `ip netns exec NAME` leave that out and run: xdp-limit "
			       "--netns NAME ...; a container needs the host's mounted");
	else
		finding_advise(finding, FINDING_INFO, "attach mounts it");
}

static void judge_locks(const struct check *check, const struct facts *facts,
			struct finding *finding)
{
	const char *why = facts->machine.lock_why.text;

	(void)check;
	finding_value(finding, "%s", why[0] ? "can't be taken" : "in /run/xdp-limit");
	if (why[0])
		finding_advise(finding, FINDING_FIX, "%s", why);
}

static void judge_lockdown(const struct check *check, const struct facts *facts,
			   struct finding *finding)
{
	const struct machine *machine = &facts->machine;

	(void)check;
	if (machine->lockdown[0])
		finding_value(finding, "lockdown %s, ", machine->lockdown);
	switch (machine->unprivileged_disabled) {
	case -1:
		finding_value(finding, "unprivileged BPF: not known");
		break;
	case 0:
		finding_value(finding, "unprivileged BPF is allowed");
		finding_advise(finding, FINDING_INFO,
			       "safer off: sysctl kernel.unprivileged_bpf_disabled=2");
		break;
	default:
		finding_value(finding, "unprivileged BPF is off");
	}
}

static const enum ability_id programs[] = {ABILITY_XDP, ABILITY_LINK, ABILITY_BIND, ABILITY_ATOMICS,
					   ABILITY_COUNT};
static const enum ability_id maps[] = {
	ABILITY_HASH, ABILITY_LRU,  ABILITY_ARRAY,  ABILITY_PERCPU, ABILITY_TRIE, ABILITY_PROGRAMS,
	ABILITY_MAPS, ABILITY_RING, ABILITY_FREEZE, ABILITY_BATCH,  ABILITY_COUNT};
static const enum ability_id helpers[] = {ABILITY_LOOKUP,    ABILITY_UPDATE, ABILITY_BOOT_CLOCK,
					  ABILITY_TAIL_CALL, ABILITY_TELL,   ABILITY_COUNT};
static const enum ability_id frames[] = {ABILITY_FRAGS, ABILITY_BUFF_LENGTH, ABILITY_LOAD_BYTES,
					 ABILITY_SKB_FACTS, ABILITY_COUNT};
static const enum ability_id sharing[] = {ABILITY_EXTEND, ABILITY_COUNT};
static const enum ability_id jit[] = {ABILITY_JIT, ABILITY_COUNT};
static const enum ability_id types[] = {ABILITY_TYPES, ABILITY_COUNT};

const struct check machine_checks[] = {
	{.name = "kernel", .judge = judge_kernel},
	{.name = "versions", .judge = judge_versions},
	{.name = "rights", .judge = judge_rights},
	{.name = "features", .judge = judge_features},
	{.name = "programs", .judge = judge_needed, .abilities = programs, .detail = true},
	{.name = "maps", .judge = judge_needed, .abilities = maps, .detail = true},
	{.name = "helpers", .judge = judge_needed, .abilities = helpers, .detail = true},
	{.name = "frames", .judge = judge_frames, .abilities = frames, .detail = true},
	{.name = "sharing", .judge = judge_sharing, .abilities = sharing, .detail = true},
	{.name = "btf", .judge = judge_types, .abilities = types},
	{.name = "jit", .judge = judge_jit, .abilities = jit},
	{.name = "memlock", .judge = judge_memlock},
	{.name = "bpffs", .judge = judge_bpffs},
	{.name = "locks", .judge = judge_locks, .detail = true},
	{.name = "lockdown", .judge = judge_lockdown},
	{.name = NULL},
};
