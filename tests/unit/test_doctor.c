// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What `doctor` makes of machines and interfaces that the test invents. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/capability.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include "doctor.h"
#include "units.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void make_healthy(struct facts *facts)
{
	*facts = (struct facts){
		.machine =
			{
				.release = "6.1.0-18-amd64",
				.hardware = "x86_64",
				.libbpf = "1.1",
				.version = 0x060100,
				.cpus = 4,
				.capabilities = UINT64_MAX,
				.memlock = 8 << 20,
				.initial_users = true,
				.bpffs = true,
				.lockdown = "none",
				.unprivileged_disabled = 2,
			},
		.interface =
			{
				.netdev =
					{
						.ifindex = 2,
						.name = "eth0",
						.type = ARPHRD_ETHER,
						.mtu = 1500,
						.rx_queues = 4,
						.tx_queues = 4,
						.up = true,
						.carrier = true,
					},
				.hardware =
					{
						.driver = "ice",
						.version = "6.1",
						.combined_channels = 4,
						.combined_channels_max = 8,
						.rx_ring = 512,
						.rx_ring_max = 4096,
						.gro = true,
					},
			},
	};
	for (int i = 0; i < ABILITY_COUNT; i++)
		facts->machine.there[i] = 1;
}

/* ---- what differs from a healthy machine ----------------------------------------------------- */
static void nothing(struct facts *facts)
{
	(void)facts;
}

#define CHANGE(name, statements)                                         \
	static void name(struct facts *facts)                            \
	{                                                                \
		struct machine *machine = &facts->machine;               \
		struct interface *interface = &facts->interface;         \
		struct netdev *netdev = &interface->netdev;              \
		struct netdev_hardware *hardware = &interface->hardware; \
                                                                         \
		(void)machine;                                           \
		(void)netdev;                                            \
		(void)hardware;                                          \
		statements;                                              \
	}

CHANGE(linux_5_10, machine->version = 0x050a00; machine->there[ABILITY_ATOMICS] = 0)
CHANGE(linux_5_4, machine->version = 0x050400; machine->there[ABILITY_BOOT_CLOCK] = 0)
CHANGE(linux_5_15, machine->version = 0x050f00; machine->there[ABILITY_FRAGS] = 0;
       machine->there[ABILITY_SKB_FACTS] = 0)
CHANGE(no_link, machine->there[ABILITY_LINK] = 0)
CHANGE(no_lru, machine->there[ABILITY_LRU] = 0)
CHANGE(not_asked, for (int i = 0; i < ABILITY_COUNT; i++) machine->there[i] = -EPERM)
CHANGE(no_rights, machine->capabilities = 0)
CHANGE(only_sys_admin, machine->capabilities = 1ULL << CAP_SYS_ADMIN)
CHANGE(no_net_admin, machine->capabilities &= ~(1ULL << CAP_NET_ADMIN))
CHANGE(no_jit, machine->there[ABILITY_JIT] = 0)
CHANGE(no_types, machine->there[ABILITY_TYPES] = 0)
CHANGE(memlock_5_10, machine->version = 0x050a00)
CHANGE(unlimited_5_10, machine->version = 0x050a00; machine->memlock = UINT64_MAX)
CHANGE(in_user_namespace, not_asked(facts); machine->initial_users = false)
CHANGE(no_rights_not_asked, not_asked(facts); machine->capabilities = 0)
CHANGE(read_only, machine->pins_read_only = true)
CHANGE(untrusted_pins, complain(&machine->pins_why, -EACCES, "others may write to PINS"))
CHANGE(no_locks, complain(&machine->lock_why, -EROFS, "cannot write to LOCKS"))
CHANGE(no_bpffs, machine->bpffs = false)
CHANGE(in_netns_exec, machine->bpffs = false; machine->own_mounts = true)
CHANGE(unprivileged, machine->unprivileged_disabled = 0)
CHANGE(lockdown, snprintf(machine->lockdown, sizeof(machine->lockdown), "integrity"))
CHANGE(jumbo, netdev->mtu = 9000)
CHANGE(jumbo_5_15, netdev->mtu = 9000; linux_5_15(facts))
CHANGE(loopback, netdev->mtu = 65536; netdev->type = ARPHRD_LOOPBACK)
CHANGE(no_carrier, netdev->carrier = false)
CHANGE(bridge, snprintf(netdev->kind, sizeof(netdev->kind), "bridge"))
CHANGE(dummy, snprintf(netdev->kind, sizeof(netdev->kind), "dummy"))
CHANGE(tun, netdev->type = ARPHRD_NONE; snprintf(netdev->kind, sizeof(netdev->kind), "tun"))
CHANGE(bond_port, snprintf(netdev->master_kind, sizeof(netdev->master_kind), "bond");
       snprintf(netdev->master, sizeof(netdev->master), "bond0"))
CHANGE(team_port, snprintf(netdev->master_kind, sizeof(netdev->master_kind), "team");
       snprintf(netdev->master, sizeof(netdev->master), "team0"))
CHANGE(ena_full, snprintf(hardware->driver, sizeof(hardware->driver), "ena");
       hardware->combined_channels = 8)
CHANGE(ena_half, snprintf(hardware->driver, sizeof(hardware->driver), "ena"))
CHANGE(virtio_few, snprintf(hardware->driver, sizeof(hardware->driver), "virtio_net");
       hardware->combined_channels_max = 4)
CHANGE(virtio_few_5_4, virtio_few(facts); machine->version = 0x050400)
CHANGE(many_queues, hardware->combined_channels = 8)
CHANGE(large_rings, hardware->rx_ring = 4096; hardware->combined_channels = 32; machine->cpus = 32)
CHANGE(no_rings, hardware->rx_ring_max = 0)
CHANGE(lro, hardware->lro = true)
CHANGE(lro_fixed, hardware->lro = true; hardware->lro_fixed = true)
CHANGE(gro_hw, hardware->gro_hw = true)
CHANGE(virtio_gro_hw, virtio_few(facts); hardware->gro_hw = true)
CHANGE(virtio_gro_hw_fixed, virtio_gro_hw(facts); hardware->gro_hw_fixed = true)
CHANGE(rx_vlan, hardware->rx_vlan = true)
CHANGE(ours, interface->attachment.mode = MODE_NATIVE; interface->attachment.ours = true;
       interface->attachment.link_id = 3; interface->pins_complete = true)
CHANGE(ours_unpinned, ours(facts); interface->pins_complete = false)
CHANGE(ours_of_other_abi, ours_unpinned(facts); interface->other_abi = 77)
CHANGE(ours_generic, ours(facts); interface->attachment.mode = MODE_GENERIC)
CHANGE(foreign, interface->attachment.mode = MODE_NATIVE; interface->attachment.program_id = 77;
       snprintf(interface->attachment.program_name, 16, "their_prog"))
CHANGE(leftover, interface->pins_exist = true)
CHANGE(foreign_leftover, foreign(facts); interface->pins_exist = true)
CHANGE(foreign_dispatcher, foreign(facts); interface->attachment.dispatcher_id = 77;
       interface->attachment.member_count = 2; interface->attachment.members[0].priority = 10;
       snprintf(interface->attachment.members[0].name, 16, "xdpfilt_alw_all");
       interface->attachment.members[1].priority = 50;
       snprintf(interface->attachment.members[1].name, 16, "xdp_lb"))
CHANGE(bereft, foreign(facts); interface->attachment.bereft = true)
CHANGE(no_extending, machine->there[ABILITY_EXTEND] = 0)
CHANGE(attached_unknown, interface->attachment_err = -EPERM)

CHANGE(limited, ours(facts); interface->limited = true; interface->summary.table.capacity = 65536;
       interface->summary.table.words = 1; interface->summary.used = 60000;
       interface->summary.young = 40000; interface->summary.refill_ns = 2 * NS_PER_SECOND;
       interface->summary.table_seconds = 100; interface->summary.counters.events.created = 70000)
CHANGE(limited_shared, limited(facts); snprintf(interface->summary.table.shared_name, 16, "wan"))
CHANGE(limited_gate, limited(facts);
       interface->summary.counters.reasons[REASON_GATE_CLOSED].dropped.packets = 77)
CHANGE(limited_failures, limited(facts); interface->summary.counters.events.insert_failures = 5)

/* ---- cases ----------------------------------------------------------------------------------- */
struct row {
	const char *name;
	void (*change)(struct facts *facts);
	const char *check;
	enum finding_state state;
	const char *value;  /* contained in the line; "" for no line at all */
	const char *advice; /* contained; NULL: there is none */
};

// clang-format off
static struct row rows[] = {
	{"a healthy kernel", nothing, "kernel", FINDING_OK, "Linux 6.1.0-18-amd64 x86_64, 4 CPUs", NULL},
	{"O-113: Linux 5.10 is said to be too old before anything is loaded", linux_5_10, "kernel",
	 FINDING_FIX, "Linux", "5.15 or newer"},
	{"O-113: and what it lacks", linux_5_10, "programs", FINDING_FIX,
	 "lacks atomic exchange (Linux 5.12)", "5.15"},
	{"O-111: a missing helper is named with the kernel that has it", linux_5_4, "helpers",
	 FINDING_FIX, "lacks ktime_get_boot_ns (Linux 5.8)", "5.15"},
	{"O-111: so is a kind of map", no_lru, "maps", FINDING_FIX, "lacks lru_hash (Linux 4.10)",
	 "5.15"},
	{"no XDP links", no_link, "programs", FINDING_FIX, "lacks xdp link (Linux 5.9)", "5.15"},
	{"all helpers there", nothing, "helpers", FINDING_OK, "ktime_get_boot_ns", NULL},
	{"Linux 5.15 is enough", linux_5_15, "kernel", FINDING_OK, "Linux", NULL},
	{"Linux 5.15 measures frames more coarsely", linux_5_15, "frames", FINDING_INFO,
	 "lacks xdp.frags (Linux 5.18), frame facts (Linux 6.2)", "estimated"},
	{"without rights nothing is claimed to be missing", not_asked, "helpers", FINDING_INFO,
	 "not asked: Operation not permitted", NULL},
	{"no rights", no_rights, "rights", FINDING_FIX,
	 "lacks CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON", "sudo"},
	{"CAP_SYS_ADMIN stands in for two", only_sys_admin, "rights", FINDING_FIX,
	 "lacks CAP_NET_ADMIN", "sudo"},
	{"one right missing", no_net_admin, "rights", FINDING_FIX, "lacks CAP_NET_ADMIN", "root"},
	{"all rights", nothing, "rights", FINDING_OK, "CAP_NET_ADMIN", NULL},
	{"JIT off", no_jit, "jit", FINDING_FIX, "off", "sysctl net.core.bpf_jit_enable=1"},
	{"JIT on", nothing, "jit", FINDING_OK, "on", NULL},
	{"no BTF", no_types, "btf", FINDING_FIX, "/sys/kernel/btf/vmlinux", "CONFIG_DEBUG_INFO_BTF"},
	{"O-115: memlock is no matter since 5.11", nothing, "memlock", FINDING_OK,
	 "8 MiB; maps don't count", NULL},
	{"features in one line", nothing, "features", FINDING_OK, "25 of 25", NULL},
	{"features, some missing", linux_5_15, "features", FINDING_OK, "23 of 25", NULL},
	{"features, without rights", no_rights_not_asked, "features", FINDING_OK, "", NULL},
	{"O-117: bpf() forbidden to who has all rights", not_asked, "features", FINDING_FIX,
	 "not asked: Operation not permitted", "seccomp"},
	{"O-117: a user namespace, where rights don't count", in_user_namespace, "rights", FINDING_FIX,
	 "CAP_BPF", "the host's root"},
	{"nobody else is blamed then", in_user_namespace, "features", FINDING_OK, "", NULL},
	{"bpffs that is read-only", read_only, "bpffs", FINDING_FIX, "read-only", "remount,rw"},
	{"pins that others may have made", untrusted_pins, "bpffs", FINDING_FIX, "mounted",
	 "others may write to PINS"},
	{"locks that can't be taken", no_locks, "locks", FINDING_FIX, "can't be taken",
	 "cannot write to LOCKS"},
	{"locks that can", nothing, "locks", FINDING_OK, "in /run/xdp-limit", NULL},
	{"O-115: memlock before 5.11", memlock_5_10, "memlock", FINDING_FIX, "8 MiB",
	 "ulimit -l unlimited"},
	{"O-115: unlimited memlock before 5.11", unlimited_5_10, "memlock", FINDING_OK, "unlimited",
	 NULL},
	{"bpffs that attach will mount", no_bpffs, "bpffs", FINDING_INFO, "not mounted", "attach"},
	{"bpffs missing inside ip netns exec", in_netns_exec, "bpffs", FINDING_FIX, "not mounted",
	 "--netns NAME"},
	{"lockdown", lockdown, "lockdown", FINDING_OK, "lockdown integrity, unprivileged BPF is off",
	 NULL},
	{"unprivileged BPF", unprivileged, "lockdown", FINDING_INFO, "allowed",
	 "unprivileged_bpf_disabled=2"},

	{"O-057: driver and index", nothing, "device", FINDING_OK, "index 2, driver ice 6.1, up", NULL},
	{"O-057: queues and channels", nothing, "queues", FINDING_OK,
	 "4 rx, 4 tx; 4 combined channels of 8", NULL},
	{"O-057: virtio with few queues before 5.13", virtio_few_5_4, "queues", FINDING_FIX, "of 4",
	 "2 queue pairs for each CPU"},
	{"O-057: virtio with few queues since 5.13", virtio_few, "queues", FINDING_OK, "of 4", NULL},
	{"ena with all its queues", ena_full, "queues", FINDING_FIX, "8 combined",
	 "ethtool -L eth0 combined 4"},
	{"ena with half of its queues", ena_half, "queues", FINDING_OK, "4 combined", NULL},
	{"more queues than CPUs", many_queues, "queues", FINDING_INFO, "8 combined", "CPUs"},
	{"a cable that isn't there", no_carrier, "device", FINDING_OK, "up without a carrier", NULL},
	{"a bridge", bridge, "device", FINDING_INFO, "kind bridge", "--mode generic"},
	{"a dummy, which has nothing below it", dummy, "device", FINDING_INFO, "kind dummy",
	 "no native XDP: use --mode generic"},
	{"O-060: the port of a bond", bond_port, "device", FINDING_FIX, "part of bond bond0",
	 "attach to bond0"},
	{"the port of a team", team_port, "device", FINDING_INFO, "part of team team0",
	 "attach to all ports with --share-table"},
	{"a device without Ethernet header", tun, "device", FINDING_FIX, "kind tun", "no Ethernet header"},
	{"O-058: jumbo MTU without multi-buffer XDP", jumbo_5_15, "mtu", FINDING_FIX, "9000",
	 "ip link set dev eth0 mtu 3400"},
	{"O-058: jumbo MTU with it", jumbo, "mtu", FINDING_INFO, "9000", "if the driver refuses"},
	{"the loopback's MTU", loopback, "mtu", FINDING_OK, "65536", NULL},
	{"an ordinary MTU", nothing, "mtu", FINDING_OK, "1500", NULL},
	{"O-124: large rings on many queues", large_rings, "ring", FINDING_INFO, "4096 of 4096", "512 MiB"},
	{"O-124: an ordinary ring", nothing, "ring", FINDING_OK, "512 of 4096", NULL},
	{"a driver without rings", no_rings, "ring", FINDING_OK, "", NULL},
	{"LRO on", lro, "offloads", FINDING_FIX, "lro on", "ethtool -K eth0 lro off"},
	{"LRO on for ever", lro_fixed, "offloads", FINDING_FIX, "lro on [fixed]", "--mode generic"},
	{"hardware GRO, a driver that sees to it", gro_hw, "offloads", FINDING_INFO, "gro-hw on",
	 "if attaching fails: ethtool"},
	{"hardware GRO on virtio", virtio_gro_hw, "offloads", FINDING_FIX, "gro-hw on",
	 "ethtool -K eth0 rx-gro-hw off"},
	{"hardware GRO on virtio for ever", virtio_gro_hw_fixed, "offloads", FINDING_FIX,
	 "gro-hw on [fixed]", "hypervisor"},
	{"O-065: VLAN tags taken off by the card are a note", rx_vlan, "offloads", FINDING_INFO,
	 "rx-vlan on", "VLAN"},
	{"plain offloads", nothing, "offloads", FINDING_OK,
	 "gro on, gro-hw off, lro off, rx-vlan off, ntuple off", NULL},
	{"O-085: nothing attached, and pins left over", leftover, "attached", FINDING_FIX, "nothing",
	 "xdp-limit detach eth0"},
	{"a foreign program, and pins left over", foreign_leftover, "attached", FINDING_FIX,
	 "the foreign program", "pins are left over of a limiter that has ended"},
	{"nothing attached", nothing, "attached", FINDING_OK, "nothing", NULL},
	{"ours", ours, "attached", FINDING_OK, "our '', id 0, native mode, by link", NULL},
	{"ours without pins", ours_unpinned, "attached", FINDING_FIX, "our", "pins are gone"},
	{"O-089: ours of another ABI, which has other pins", ours_of_other_abi, "attached", FINDING_FIX, "our",
	 "of ABI 77, which this xdp-limit"},
	{"ours in generic mode", ours_generic, "attached", FINDING_INFO, "generic", "slower"},
	{"a foreign program", foreign, "attached", FINDING_FIX,
	 "the foreign program 'their_prog', id 77, native mode, by netlink", "--force"},
	{"O-083: a dispatcher of others", foreign_dispatcher, "attached", FINDING_INFO,
	 "a dispatcher of libxdp, id 77, native mode, members 10 xdpfilt_alw_all, 50 xdp_lb", "attach joins it"},
	{"O-086: a dispatcher without its pins", bereft, "attached", FINDING_FIX, "'their_prog'",
	 "xdp-loader unload eth0 --all"},
	{"O-084: a kernel without dispatchers", no_extending, "sharing", FINDING_INFO,
	 "one XDP program an interface: this kernel refuses --shared", NULL},
	{"a kernel with them", nothing, "sharing", FINDING_OK, "dispatcher of libxdp", NULL},
	{"no table where there is no limiter", nothing, "table", FINDING_OK, "", NULL},
	{"a table's pressure, and the size that would do", limited, "table", FINDING_OK,
	 "65536 sources (8.5 MiB), 60000 used, 10000 evicted, 700 created a second, longest refill 2s",
	 "`sources: 131072` (17 MiB) would do"},
	{"a table that is shared", limited_shared, "table", FINDING_OK, "shared as wan: 65536 sources", "would do"},
	{"a gate that refused", limited_gate, "table", FINDING_INFO, "65536", "the 77 packets"},
	{"O-011: failed inserts", limited_failures, "table", FINDING_INFO, "65536",
	 "5 packets found no place"},
	{"attached, but not for us to see", attached_unknown, "attached", FINDING_INFO,
	 "Operation not permitted", NULL},
};
// clang-format on

static const struct check *find_check(const char *name)
{
	const struct check *const tables[] = {machine_checks, interface_checks};

	for (size_t i = 0; i < COUNT(tables); i++)
		for (const struct check *check = tables[i]; check->name; check++)
			if (!strcmp(check->name, name))
				return check;
	fail_msg("no check '%s'", name);
	return NULL;
}

static void assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("got \"%s\", which does not contain \"%s\"", text, part);
}

static void judge(void **state)
{
	const struct row *row = *state;
	const struct check *check = find_check(row->check);
	struct finding finding = {.state = FINDING_OK};
	struct facts facts;

	make_healthy(&facts);
	row->change(&facts);
	check->judge(check, &facts, &finding);
	assert_contains(finding.value, row->value);
	if (!row->value[0])
		assert_string_equal(finding.value, "");
	if (row->advice)
		assert_contains(finding.advice, row->advice);
	else
		assert_string_equal(finding.advice, "");
	assert_int_equal(finding.state, row->state);
}

/* Nothing of a healthy machine is to be fixed or noted, and no line is cut off. */
static void healthy(void **state)
{
	const struct check *const tables[] = {machine_checks, interface_checks};
	struct facts facts;

	(void)state;
	make_healthy(&facts);
	for (size_t i = 0; i < COUNT(tables); i++)
		for (const struct check *check = tables[i]; check->name; check++) {
			struct finding finding = {.state = FINDING_OK};

			check->judge(check, &facts, &finding);
			assert_int_equal(finding.state, FINDING_OK);
			assert_in_range(strlen(finding.value), 0, sizeof(finding.value) - 2);
		}
}

/* Advice that doesn't fit is cut, never written beyond its end. */
static void long_advice(void **state)
{
	struct finding finding = {.state = FINDING_OK};

	(void)state;
	for (int i = 0; i < 40; i++) {
		finding_value(&finding, "%s", "a long value ");
		finding_advise(&finding, FINDING_INFO, "%s", "a long advice");
	}
	assert_int_equal(strlen(finding.value), sizeof(finding.value) - 1);
	assert_in_range(strlen(finding.advice), 200, sizeof(finding.advice) - 1);
	assert_int_equal(finding.state, FINDING_INFO);
}

int main(void)
{
	struct CMUnitTest tests[COUNT(rows) + 2] = {
		cmocka_unit_test(healthy),
		cmocka_unit_test(long_advice),
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		tests[i + 2] = (struct CMUnitTest){
			.name = rows[i].name,
			.test_func = judge,
			.initial_state = &rows[i],
		};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
