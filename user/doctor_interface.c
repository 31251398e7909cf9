// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What `doctor` makes of an interface: driver, MTU, queues, offloads, what is attached. */
#include <inttypes.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include "compile.h"
#include "compile_flat.h"
#include "doctor.h"
#include "units.h"

#define COUNT(array)   (sizeof(array) / sizeof((array)[0]))
#define ONE_BUFFER_MTU 3400	/* longer frames don't fit one buffer of any driver */
#define SHARED_QUEUES  0x050d00 /* 5.13: virtio_net can do without queues for XDP alone */
#define PAGE_BYTES     4096	/* an XDP driver gives each descriptor a page */
#define MUCH_RING      (256ULL << 20)

static void judge_device(const struct check *check, const struct facts *facts,
			 struct finding *finding)
{
	static const char *const upper[] = {"bridge",  "vlan",	"macvlan", "ipvlan",
					    "macvtap", "vxlan", "geneve"};
	const struct netdev *netdev = &facts->interface.netdev;
	const struct netdev_hardware *hardware = &facts->interface.hardware;
	struct complaint why;

	(void)check;
	finding_value(finding, "index %u", netdev->ifindex);
	if (netdev->kind[0])
		finding_value(finding, ", kind %s", netdev->kind);
	if (hardware->driver[0])
		finding_value(finding, ", driver %s %s", hardware->driver, hardware->version);
	finding_value(finding, ", %s",
		      !netdev->up	? "down"
		      : netdev->carrier ? "up"
					: "up without a carrier");
	if (netdev->master[0])
		finding_value(finding, ", part of %s %s", netdev->master_kind, netdev->master);
	for (size_t i = 0; i < COUNT(upper); i++)
		if (!strcmp(netdev->kind, upper[i]))
			finding_advise(finding, FINDING_INFO,
				       "no native XDP: attach to the interface below it, or use "
				       "--mode generic");
	if (netdev->type == ARPHRD_LOOPBACK || !strcmp(netdev->kind, "dummy"))
		finding_advise(finding, FINDING_INFO, "no native XDP: use --mode generic");
	if (netdev_refuses(netdev, &why))
		finding_advise(finding, FINDING_FIX, "%s", why.text);
	if (netdev_remark(netdev, &why))
		finding_advise(finding, FINDING_INFO, "%s", why.text);
}

static void judge_mtu(const struct check *check, const struct facts *facts, struct finding *finding)
{
	const struct netdev *netdev = &facts->interface.netdev;

	(void)check;
	finding_value(finding, "%u", netdev->mtu);
	if (netdev->mtu <= ONE_BUFFER_MTU || netdev->type == ARPHRD_LOOPBACK)
		return;
	if (facts->machine.there[ABILITY_FRAGS] == 0)
		finding_advise(finding, FINDING_FIX,
			       "ip link set dev %s mtu %u; or --mode generic; or Linux 5.18",
			       netdev->name, ONE_BUFFER_MTU);
	else
		finding_advise(finding, FINDING_INFO,
			       "if the driver refuses: ip link set dev %s mtu %u, or --mode "
			       "generic",
			       netdev->name, ONE_BUFFER_MTU);
}

static unsigned int receive_channels(const struct netdev_hardware *hardware)
{
	return hardware->rx_channels + hardware->combined_channels;
}

/* ena gives half of its queues to XDP; the others do without, or share. */
static void advise_channels(const struct facts *facts, struct finding *finding)
{
	const struct netdev_hardware *hardware = &facts->interface.hardware;
	const char *name = facts->interface.netdev.name;
	unsigned int cpus = facts->machine.cpus;

	if (!strcmp(hardware->driver, "ena") &&
	    hardware->combined_channels * 2 > hardware->combined_channels_max)
		finding_advise(finding, FINDING_FIX, "ethtool -L %s combined %u", name,
			       hardware->combined_channels_max / 2);
	if (!strcmp(hardware->driver, "virtio_net") && facts->machine.version < SHARED_QUEUES &&
	    hardware->combined_channels + cpus > hardware->combined_channels_max)
		finding_advise(finding, FINDING_FIX,
			       "2 queue pairs for each CPU, set in the hypervisor; Linux 5.13 does "
			       "with fewer");
	if (receive_channels(hardware) > cpus)
		finding_advise(finding, FINDING_INFO, "more receive queues than CPUs");
}

static void judge_queues(const struct check *check, const struct facts *facts,
			 struct finding *finding)
{
	const struct netdev *netdev = &facts->interface.netdev;
	const struct netdev_hardware *hardware = &facts->interface.hardware;

	(void)check;
	finding_value(finding, "%u rx, %u tx", netdev->rx_queues, netdev->tx_queues);
	if (hardware->combined_channels_max)
		finding_value(finding, "; %u combined channels of %u", hardware->combined_channels,
			      hardware->combined_channels_max);
	else if (hardware->rx_channels_max)
		finding_value(finding, "; channels: %u rx of %u, %u tx of %u",
			      hardware->rx_channels, hardware->rx_channels_max,
			      hardware->tx_channels, hardware->tx_channels_max);
	advise_channels(facts, finding);
}

static void judge_ring(const struct check *check, const struct facts *facts,
		       struct finding *finding)
{
	const struct netdev_hardware *hardware = &facts->interface.hardware;
	uint64_t bytes = (uint64_t)hardware->rx_ring * receive_channels(hardware) * PAGE_BYTES;
	char memory[UNITS_TEXT_SIZE];

	(void)check;
	if (!hardware->rx_ring_max)
		return;
	finding_value(finding, "%u of %u frames for each queue", hardware->rx_ring,
		      hardware->rx_ring_max);
	if (bytes <= MUCH_RING)
		return;
	format_bytes(bytes, memory, sizeof(memory));
	finding_advise(finding, FINDING_INFO,
		       "XDP takes a page for each: %s; fewer stay in the cache: ethtool -G %s rx "
		       "512",
		       memory, facts->interface.netdev.name);
}

static const char *on_off(bool on, bool fixed)
{
	return !on ? "off" : fixed ? "on [fixed]" : "on";
}

/* Drivers that refuse XDP while their card merges; the others switch it off themselves. */
static bool refuses_gro_hw(const char *driver)
{
	return !strcmp(driver, "virtio_net") || !strcmp(driver, "mlx5_core");
}

static void advise_gro_hw(const struct facts *facts, struct finding *finding)
{
	const struct netdev_hardware *hardware = &facts->interface.hardware;
	bool refused = refuses_gro_hw(hardware->driver);

	if (hardware->gro_hw_fixed)
		finding_advise(
			finding, refused ? FINDING_FIX : FINDING_INFO,
			"gro-hw can't be switched off here: the hypervisor must not offer it; "
			"or use --mode generic");
	else
		finding_advise(finding, refused ? FINDING_FIX : FINDING_INFO,
			       "%sethtool -K %s rx-gro-hw off",
			       refused ? "" : "if attaching fails: ", facts->interface.netdev.name);
}

static void advise_lro(const struct facts *facts, struct finding *finding)
{
	if (facts->interface.hardware.lro_fixed)
		finding_advise(finding, FINDING_FIX,
			       "lro can't be switched off here: use --mode generic");
	else
		finding_advise(finding, FINDING_FIX, "ethtool -K %s lro off",
			       facts->interface.netdev.name);
}

static void judge_offloads(const struct check *check, const struct facts *facts,
			   struct finding *finding)
{
	const struct netdev_hardware *hardware = &facts->interface.hardware;

	(void)check;
	finding_value(finding, "gro %s, gro-hw %s, lro %s, rx-vlan %s, ntuple %s",
		      on_off(hardware->gro, hardware->gro_fixed),
		      on_off(hardware->gro_hw, hardware->gro_hw_fixed),
		      on_off(hardware->lro, hardware->lro_fixed),
		      on_off(hardware->rx_vlan, hardware->rx_vlan_fixed),
		      on_off(hardware->ntuple, hardware->ntuple_fixed));
	if (hardware->lro)
		advise_lro(facts, finding);
	if (hardware->gro_hw)
		advise_gro_hw(facts, finding);
	if (hardware->rx_vlan)
		finding_advise(finding, FINDING_INFO,
			       "VLAN tags are taken off before: matters to rules by VLAN");
}

/* A dispatcher that others made takes ours in; one that lost its pins takes nobody. */
static void judge_foreign(const struct interface *interface, struct finding *finding)
{
	const struct attachment *there = &interface->attachment;
	const char *name = interface->netdev.name;

	if (there->dispatcher_id)
		finding_advise(finding, FINDING_INFO, "attach joins it");
	else if (there->bereft)
		finding_advise(finding, FINDING_FIX,
			       "its pins in /sys/fs/bpf/xdp are gone: xdp-loader unload %s --all",
			       name);
	else
		finding_advise(finding, FINDING_FIX,
			       "remove it with the tool that attached it, or: xdp-limit attach %s "
			       "--force ...",
			       name);
}

static void describe(const struct attachment *there, struct finding *finding)
{
	char members[MEMBERS_TEXT_SIZE];

	if (there->ours || !there->dispatcher_id)
		finding_value(finding, "%s '%s', id %u, %s mode, by %s",
			      there->ours ? "our" : "the foreign program", there->program_name,
			      there->program_id, mode_name(there->mode), attachment_way(there));
	else
		finding_value(finding, "a dispatcher of libxdp, id %u, %s mode", there->program_id,
			      mode_name(there->mode));
	if (!there->dispatcher_id)
		return;
	describe_members(there, members, sizeof(members));
	finding_value(finding, ", members %s", members);
}

static void judge_pins(const struct interface *interface, struct finding *finding)
{
	const char *name = interface->netdev.name;

	if (interface->other_abi)
		finding_advise(
			finding, FINDING_FIX,
			"of ABI %u, which this xdp-limit of ABI %u can't read: xdp-limit apply "
			"%s FILE, or attach, replaces it without a gap",
			interface->other_abi, XDP_LIMIT_ABI, name);
	else if (interface->attachment.ours && !interface->pins_complete)
		finding_advise(finding, FINDING_FIX,
			       "its pins are gone: xdp-limit attach %s ... makes them again", name);
	if (!interface->attachment.ours && interface->pins_exist)
		finding_advise(finding, FINDING_FIX,
			       "pins are left over of a limiter that has ended: start it again, or "
			       "xdp-limit detach %s",
			       name);
}

static void judge_attached(const struct check *check, const struct facts *facts,
			   struct finding *finding)
{
	const struct interface *interface = &facts->interface;
	const struct attachment *there = &interface->attachment;

	(void)check;
	if (interface->attachment_err) {
		finding_value(finding, "can't be told: %s", strerror(-interface->attachment_err));
		finding->state = FINDING_INFO;
		return;
	}
	judge_pins(interface, finding);
	if (there->mode == MODE_NONE) {
		finding_value(finding, "nothing");
		return;
	}
	describe(there, finding);
	if (!there->ours)
		judge_foreign(interface, finding);
	if (there->mode == MODE_GENERIC)
		finding_advise(finding, FINDING_INFO,
			       "generic mode is slower, and sees frames after merging");
}

/* What the same table would take with @sources entries: what is beside it stays as it is. */
static void memory_of(const struct summary *summary, uint64_t sources, char *text, size_t size)
{
	struct table_identity table = summary->table;

	table.capacity = (uint32_t)sources;
	table.blocks = flat_blocks(sources);
	format_bytes(table_bytes(&table), text, size);
}

static void advise_size(const struct summary *summary, struct finding *finding)
{
	const struct reason_count *gate = &summary->counters.reasons[REASON_GATE_CLOSED];
	uint64_t refused = gate->passed.packets + gate->dropped.packets + gate->would_drop.packets;
	uint64_t failures = summary->counters.events.insert_failures;
	uint64_t sources = summary_sources(summary);
	char memory[UNITS_TEXT_SIZE];

	memory_of(summary, sources, memory, sizeof(memory));
	finding_advise(finding, FINDING_OK, "`sources: %" PRIu64 "` (%s) would do for %s", sources,
		       memory, summary_is_early(summary) ? "what came so far" : "this");
	if (refused)
		finding_advise(finding, FINDING_INFO,
			       "more if the %" PRIu64
			       " packets that the gate refused were of real clients",
			       refused);
	if (failures)
		finding_advise(finding, FINDING_INFO,
			       "%" PRIu64 " packets found no place: a larger table, or more memory",
			       failures);
}

static void judge_table(const struct check *check, const struct facts *facts,
			struct finding *finding)
{
	const struct summary *summary = &facts->interface.summary;
	const struct event_count *events = &summary->counters.events;
	char memory[UNITS_TEXT_SIZE], refill[UNITS_TEXT_SIZE];

	(void)check;
	if (!facts->interface.limited)
		return;
	memory_of(summary, summary->table.capacity, memory, sizeof(memory));
	format_time(summary->refill_ns, refill, sizeof(refill));
	if (summary->table.shared_name[0])
		finding_value(finding, "shared as %s: ", summary->table.shared_name);
	finding_value(finding,
		      "%u sources (%s), %" PRIu64 " used, %" PRIu64
		      " evicted, %.3g created a second, longest refill %s",
		      summary->table.capacity, memory, summary->used, summary_evicted(summary),
		      (double)events->created / (double)(summary->table_seconds ?: 1), refill);
	advise_size(summary, finding);
}

const struct check interface_checks[] = {
	{.name = "device", .judge = judge_device},
	{.name = "mtu", .judge = judge_mtu},
	{.name = "queues", .judge = judge_queues},
	{.name = "ring", .judge = judge_ring},
	{.name = "offloads", .judge = judge_offloads},
	{.name = "attached", .judge = judge_attached},
	{.name = "table", .judge = judge_table},
	{.name = NULL},
};
