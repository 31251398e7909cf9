// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Every refusal of the kernel in the field cases becomes one line that says what to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include "explain.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BIT(n)	     (1ULL << (n))
#define ALL_CAPS     (~0ULL)
#define WITHOUT(cap) (ALL_CAPS & ~BIT(cap))

static const struct netdev eth0 = {
	.ifindex = 2, .name = "eth0", .type = 1, .mtu = 1500, .rx_queues = 8, .tx_queues = 8};
static const struct netdev jumbo = {
	.ifindex = 2, .name = "eth0", .type = 1, .mtu = 9000, .rx_queues = 8, .tx_queues = 8};
static const struct netdev lo = {
	.ifindex = 1, .name = "lo", .type = 772, .mtu = 65536, .rx_queues = 1, .tx_queues = 1};
static const struct netdev veth = {.ifindex = 3,
				   .name = "rv0",
				   .kind = "veth",
				   .type = 1,
				   .mtu = 1500,
				   .rx_queues = 1,
				   .tx_queues = 1};
static const struct netdev bond = {
	.ifindex = 4, .name = "bond0", .kind = "bond", .type = 1, .mtu = 1500, .rx_queues = 16};
static const struct netdev bond_member = {.ifindex = 5,
					  .name = "eth1",
					  .master = "bond0",
					  .master_kind = "bond",
					  .type = 1,
					  .mtu = 1500,
					  .rx_queues = 8};

static const struct netdev jumbo_bond = {
	.ifindex = 4, .name = "bond0", .kind = "bond", .type = 1, .mtu = 9000, .rx_queues = 16};
static const struct netdev bridge_port = {.ifindex = 6,
					  .name = "eth2",
					  .master = "br0",
					  .master_kind = "bridge",
					  .type = 1,
					  .mtu = 1500,
					  .rx_queues = 8};
static const struct netdev bridge = {
	.ifindex = 7, .name = "br0", .kind = "bridge", .type = 1, .mtu = 1500, .rx_queues = 1};
static const struct netdev vlan = {.ifindex = 8,
				   .name = "eth0.7",
				   .kind = "vlan",
				   .lower = "eth0",
				   .type = 1,
				   .mtu = 1500,
				   .rx_queues = 1};
static const struct netdev mtu_3400 = {
	.ifindex = 2, .name = "eth0", .type = 1, .mtu = 3400, .rx_queues = 8};

#define NO_NATIVE "Underlying driver does not support XDP in native mode"

struct row {
	const char *name;
	struct refusal refusal;
	enum exit_status status;
	bool generic_may_do;
	const char *says[7];
	const char *silent_about[4];
};

/* Absent fields of a refusal: STEP_PROBE, native, eth0, no limit of locked memory. */
#define REFUSAL(...)                                                                    \
	{                                                                               \
		.netdev = &eth0, .effective_caps = ALL_CAPS, .memlock_unlimited = true, \
		__VA_ARGS__                                                             \
	}
#define LINK_REFUSAL(...) REFUSAL(.step = STEP_LINK, __VA_ARGS__)
#define DRIVER_REFUSAL(...) \
	.refusal = LINK_REFUSAL(__VA_ARGS__), .status = EXIT_UNSUPPORTED, .generic_may_do = true

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static struct row rows[] = {
	{
		.name = "a bridge: its ports see more",
		DRIVER_REFUSAL(.err = -EOPNOTSUPP, .netdev = &bridge, .kernel_text = NO_NATIVE),
		.says = {"br0", "attach to its ports", "--mode generic"},
	},
	{
		.name = "a VLAN device: the one below it sees more",
		DRIVER_REFUSAL(.err = -EOPNOTSUPP, .netdev = &vlan, .kernel_text = NO_NATIVE),
		.says = {"attach to eth0 below it", "--mode generic for that of eth0.7 alone"},
	},
	{
		.name = "O-053: a driver without native XDP, with the kernel's sentence",
		DRIVER_REFUSAL(.err = -EOPNOTSUPP, .kernel_text = NO_NATIVE),
		.says = {"cannot attach to eth0 in native mode", "no native XDP", "EOPNOTSUPP",
			 "\"" NO_NATIVE "\"", "--mode generic"},
		.silent_about = {"MTU"},
	},
	{
		.name = "O-053: a driver without native XDP that only gives an errno",
		DRIVER_REFUSAL(.err = -EOPNOTSUPP),
		.says = {"no native XDP", "BPF_LINK_CREATE: EOPNOTSUPP", "--mode generic"},
		.silent_about = {"kernel says"},
	},
	{
		.name = "O-053: lo has no native XDP, whatever its MTU",
		DRIVER_REFUSAL(.err = -EOPNOTSUPP, .netdev = &lo),
		.says = {"attach to lo", "no native XDP", "--mode generic"},
		.silent_about = {"MTU"},
	},
	{
		.name = "O-054: what native mode can't, is not blamed on generic mode",
		.refusal = LINK_REFUSAL(.err = -EOPNOTSUPP, .generic = true),
		.status = EXIT_UNSUPPORTED,
		.says = {"in generic mode", "EOPNOTSUPP", "xdp-limit doctor eth0"},
		.silent_about = {"--mode generic"},
	},
	{
		.name = "O-054: a foreign program is busy, not unsupported",
		.refusal = LINK_REFUSAL(.err = -EBUSY,
					.kernel_text = "Can't replace active BPF XDP link"),
		.status = EXIT_BUSY,
		.says = {"another XDP program", "bpftool net show dev eth0", "--force",
			 "\"Can't replace active BPF XDP link\""},
		.silent_about = {"--mode generic"},
	},
	{
		.name = "O-054: a foreign program attached over netlink is busy",
		.refusal = LINK_REFUSAL(.err = -EBUSY,
					.kernel_text = "XDP program already attached"),
		.status = EXIT_BUSY,
		.says = {"another XDP program", "EBUSY", "XDP program already attached"},
	},
	{
		.name = "O-054: a program in the other mode is busy",
		.refusal = LINK_REFUSAL(.err = -EEXIST, .generic = true,
					.kernel_text = "Native and generic XDP can't be active at "
						       "the same time"),
		.status = EXIT_BUSY,
		.says = {"in the other mode", "bpftool net show dev eth0"},
	},
	{
		.name = "O-054: a program that came between is busy",
		.refusal = LINK_REFUSAL(.err = -EEXIST),
		.status = EXIT_BUSY,
		.says = {"another XDP program", "EEXIST", "try again"},
	},
	{
		.name = "O-054: a busy interface with jumbo frames is busy",
		.refusal = LINK_REFUSAL(.err = -EBUSY, .netdev = &jumbo),
		.status = EXIT_BUSY,
		.says = {"another XDP program"},
		.silent_about = {"MTU"},
	},
	{
		.name = "O-054: missing permission is neither busy nor unsupported",
		.refusal = LINK_REFUSAL(.err = -EPERM, .effective_caps = 0),
		.status = EXIT_FAILED,
		.says = {"CAP_NET_ADMIN", "root"},
		.silent_about = {"--mode generic"},
	},
	{
		.name = "O-055: virtio while the host merges packets (GRO_HW/CSUM)",
		DRIVER_REFUSAL(.err = -EOPNOTSUPP,
			       .kernel_text =
				       "virtio_net: Can't set XDP while host is implementing "
				       "GRO_HW/CSUM, disable GRO_HW/CSUM first"),
		.says = {"GRO_HW", "CSUM", "ethtool -K eth0 rx-gro-hw off", "[fixed]",
			 "hypervisor's settings", "--mode generic", "disable GRO_HW/CSUM first\""},
	},
	{
		.name = "O-055: virtio while the host merges packets (GRO_HW alone, newer kernels)",
		DRIVER_REFUSAL(.err = -EOPNOTSUPP,
			       .kernel_text =
				       "virtio_net: Can't set XDP while host is implementing "
				       "GRO_HW, disable GRO_HW first"),
		.says = {"ethtool -K eth0 rx-gro-hw off", "[fixed]", "--mode generic"},
	},
	{
		.name = "O-055: a card that merges packets (LRO)",
		DRIVER_REFUSAL(.err = -EOPNOTSUPP, .kernel_text = "XDP: not support LRO"),
		.says = {"LRO", "ethtool -K eth0 lro off", "--mode generic"},
	},
	{
		.name = "O-055: a card that splits headers from data",
		DRIVER_REFUSAL(.err = -EOPNOTSUPP,
			       .kernel_text =
				       "unable to install XDP to device using tcp-data-split"),
		.says = {"ethtool -G eth0 tcp-data-split off"},
	},
	{
		.name = "O-056: veth with fewer receive queues than its peer transmits on",
		DRIVER_REFUSAL(.err = -ENOSPC, .netdev = &veth,
			       .kernel_text = "veth: XDP expects number of rx queues not less than "
					      "peer tx queues"),
		.says = {"reduce", "ethtool -L", "tx 1", "ethtool -L rv0 rx", "ENOSPC",
			 "peer tx queues\"", "--mode generic"},
	},
	{
		.name = "O-056: ena with more than half of its channels in use",
		DRIVER_REFUSAL(.err = -EINVAL,
			       .kernel_text =
				       "ena: Failed to set xdp program, there is no enough "
				       "space for allocating XDP queues, Check the dmesg for "
				       "more info"),
		.says = {"too many channels", "ethtool -L eth0 combined 4", "EINVAL",
			 "allocating XDP queues", "--mode generic"},
	},
	{
		.name = "O-056: ena of Linux 5.6 and its channel count",
		DRIVER_REFUSAL(.err = -EINVAL,
			       .kernel_text = "Failed to set xdp program, the Rx/Tx channel count "
					      "should be at most half of the maximum allowed"),
		.says = {"ethtool -L eth0 combined 4", "--mode generic"},
	},
	{
		.name = "O-056: not enough rings",
		DRIVER_REFUSAL(.err = -ENOMEM, .kernel_text = "Not enough rings available"),
		.says = {"ethtool -L eth0 combined 4", "--mode generic"},
	},
	{
		.name = "O-056: too few TX rings beside XDP",
		DRIVER_REFUSAL(.err = -EINVAL,
			       .kernel_text = "Insufficient number of TX rings w/ XDP enabled"),
		.says = {"ethtool -L eth0 combined 4"},
	},
	{
		.name = "O-056: the receive queues of something else than a veth",
		DRIVER_REFUSAL(.err = -ENODATA, .kernel_text = "number of rx queues"),
		.says = {"ethtool -L eth0 combined 4"},
		.silent_about = {"PEER"},
	},
	{
		.name = "O-056: a card with one queue",
		DRIVER_REFUSAL(.err = -ENOSPC, .netdev = &lo),
		.says = {"ethtool -L lo combined 1"},
	},
	{
		.name = "O-056: ENOSPC without a sentence",
		DRIVER_REFUSAL(.err = -ENOSPC),
		.says = {"too many channels", "ethtool -L eth0 combined 4"},
	},
	{
		.name = "O-056: bnxt wants combined channels",
		DRIVER_REFUSAL(.err = -EOPNOTSUPP,
			       .kernel_text = "ethtool rx/tx channels must be combined to support "
					      "XDP."),
		.says = {"ethtool -L eth0 rx 0 tx 0 combined 4"},
	},
	{
		.name = "O-057: virtio with too few TX rings",
		DRIVER_REFUSAL(.err = -ENOMEM,
			       .kernel_text = "virtio_net: Too few free TX rings available"),
		.says = {"for every CPU", "ethtool -L eth0 combined 4", "2 queues per CPU",
			 "--mode generic", "Too few free TX rings available"},
	},
	{
		.name = "O-057: virtio of the old kind (single page header)",
		DRIVER_REFUSAL(.err = -EINVAL,
			       .kernel_text = "virtio_net: XDP expects header/data in single page, "
					      "any_header_sg required"),
		.says = {"virtio 1.0", "machine type", "--mode generic", "any_header_sg"},
	},
	{
		.name = "O-058: EINVAL on a jumbo MTU",
		DRIVER_REFUSAL(.err = -EINVAL, .netdev = &jumbo),
		.says = {"MTU of 9000", "ip link set dev eth0 mtu", "multi-buffer",
			 "--mode generic", "EINVAL"},
	},
	{
		.name = "O-058: EOPNOTSUPP on a jumbo MTU",
		DRIVER_REFUSAL(.err = -EOPNOTSUPP, .netdev = &jumbo),
		.says = {"MTU of 9000", "lower", "multi-buffer", "--mode generic"},
	},
	{
		.name = "O-058: ENOMEM on a jumbo MTU",
		DRIVER_REFUSAL(.err = -ENOMEM, .netdev = &jumbo),
		.says = {"MTU of 9000", "lower", "multi-buffer", "--mode generic"},
	},
	{
		.name = "O-058: an errno without a name on a jumbo MTU",
		DRIVER_REFUSAL(.err = -9999, .netdev = &jumbo),
		.says = {"MTU of 9000", "lower", "multi-buffer", "--mode generic", "9999"},
	},
	{
		.name = "O-058: a jumbo MTU is named beside another reason",
		DRIVER_REFUSAL(.err = -EOPNOTSUPP, .netdev = &jumbo, .kernel_text = NO_NATIVE),
		.says = {"no native XDP", "MTU of 9000", "lower", "multi-buffer", "--mode generic"},
	},
	{
		.name = "O-058: a jumbo MTU and too many channels",
		DRIVER_REFUSAL(.err = -ENOSPC, .netdev = &jumbo),
		.says = {"ethtool -L eth0 combined 4", "MTU of 9000", "multi-buffer"},
	},
	{
		.name = "O-058: MTU 1500 is no suspect",
		DRIVER_REFUSAL(.err = -EINVAL),
		.says = {"dmesg", "xdp-limit doctor eth0", "--mode generic"},
		.silent_about = {"MTU"},
	},
	{
		.name = "O-058: a jumbo MTU below a page less headroom is no suspect",
		DRIVER_REFUSAL(.err = -EINVAL, .netdev = &mtu_3400),
		.silent_about = {"MTU"},
	},
	{
		.name = "O-059: a driver that names the MTU, even a small one",
		DRIVER_REFUSAL(.err = -EINVAL,
			       .kernel_text = "MTU too large to enable XDP without frags"),
		.says = {"MTU of 1500", "multi-buffer XDP (Linux 5.18", "--mode generic"},
	},
	{
		.name = "O-059: jumbo frames not supported",
		DRIVER_REFUSAL(.err = -EOPNOTSUPP, .netdev = &mtu_3400,
			       .kernel_text = "Jumbo frames not supported"),
		.says = {"MTU of 3400", "multi-buffer", "--mode generic"},
	},
	{
		.name = "O-059: the peer's MTU on a veth",
		DRIVER_REFUSAL(.err = -ERANGE, .netdev = &veth,
			       .kernel_text = "veth: Peer MTU is too large to set XDP"),
		.says = {"MTU of its peer", "ip link set dev PEER mtu"},
		.silent_about = {"MTU of 1500"},
	},
	{
		.name = "O-060: a member of a bond",
		.refusal = LINK_REFUSAL(.err = -EINVAL, .netdev = &bond_member),
		.status = EXIT_UNSUPPORTED,
		.says = {"cannot attach to eth1", "member of bond0", "attach to the master",
			 "xdp-limit attach bond0"},
		.silent_about = {"--mode generic"},
	},
	{
		.name = "O-060: a member of a bond, refused before the kernel is asked",
		.refusal = LINK_REFUSAL(.netdev = &bond_member),
		.status = EXIT_UNSUPPORTED,
		.says = {"member of bond0; attach to the master"},
		.silent_about = {"(", "Success"},
	},
	{
		.name = "O-060: a member of a bond with a program",
		.refusal = LINK_REFUSAL(.err = -EEXIST, .netdev = &bond_member,
					.kernel_text = "Cannot attach when an upper device already "
						       "has a program"),
		.status = EXIT_UNSUPPORTED,
		.says = {"attach to the master", "xdp-limit attach bond0"},
	},
	{
		.name = "O-060: a bond in a mode without native XDP",
		DRIVER_REFUSAL(.err = -EOPNOTSUPP, .netdev = &bond,
			       .kernel_text = "No native XDP support for the current bonding mode"),
		.says = {"mode", "vlan+srcmac", "802.3ad", "--mode generic", "bonding mode\""},
	},
	{
		.name = "O-060: a bond that gives only EINVAL",
		DRIVER_REFUSAL(.err = -EINVAL, .netdev = &bond),
		.says = {"mode", "transmit policy", "member", "802.3ad", "--mode generic"},
	},
	{
		.name = "O-060: a bond with jumbo frames",
		DRIVER_REFUSAL(.err = -EINVAL, .netdev = &jumbo_bond),
		.says = {"802.3ad", "MTU of 9000", "multi-buffer"},
	},
	{
		.name = "O-060: a program on the bridge above",
		.refusal = LINK_REFUSAL(.err = -EEXIST, .netdev = &bridge_port,
					.kernel_text = "Cannot attach when an upper device already "
						       "has a program"),
		.status = EXIT_BUSY,
		.says = {"br0 above it", "xdp-limit attach br0"},
	},
	{
		.name = "O-060: a program on a VLAN device above",
		.refusal = LINK_REFUSAL(.err = -EEXIST,
					.kernel_text = "Cannot attach when an upper device already "
						       "has a program"),
		.status = EXIT_BUSY,
		.says = {"a device above it", "bpftool net show"},
		.silent_about = {"MASTER"},
	},
	{
		.name = "O-060: a bridge port is no bond member",
		.refusal = LINK_REFUSAL(.err = -EEXIST, .netdev = &bridge_port),
		.status = EXIT_BUSY,
		.says = {"another XDP program"},
		.silent_about = {"br0"},
	},
	{
		.name = "O-060: a bond over a driver without native XDP",
		DRIVER_REFUSAL(.err = -EOPNOTSUPP, .netdev = &bond,
			       .kernel_text = "Slave device does not support XDP"),
		.says = {"driver of a member", "--mode generic"},
	},
	{
		.name = "O-060: a bond whose member has a program",
		.refusal =
			LINK_REFUSAL(.err = -EOPNOTSUPP, .netdev = &bond,
				     .kernel_text = "Slave has XDP program loaded, please unload "
						    "before enslaving"),
		.status = EXIT_BUSY,
		.says = {"member of the bond", "bpftool net show"},
	},
	{
		.name = "O-113: atomics that the kernel has not (5.10)",
		.refusal = REFUSAL(.step = STEP_LOAD, .err = -EINVAL,
				   .kernel_text = "BPF_STX uses reserved fields"),
		.status = EXIT_UNSUPPORTED,
		.says = {"cannot load the program for eth0", "too old", "atomic", "5.12",
			 "\"BPF_STX uses reserved fields\""},
	},
	{
		.name = "O-113: a helper that the kernel has not, by number",
		.refusal = REFUSAL(.step = STEP_LOAD, .err = -EINVAL,
				   .kernel_text = "invalid func unknown#181"),
		.status = EXIT_UNSUPPORTED,
		.says = {"too old", "helper", "unknown#181", "xdp-limit doctor eth0"},
	},
	{
		.name = "O-113: a helper that the kernel has not, by name",
		.refusal = REFUSAL(.step = STEP_LOAD, .err = -EINVAL,
				   .kernel_text = "unknown func bpf_xdp_get_buff_len#188"),
		.status = EXIT_UNSUPPORTED,
		.says = {"too old", "helper", "bpf_xdp_get_buff_len"},
	},
	{
		.name = "O-113: a helper that this kernel keeps from XDP programs",
		.refusal = REFUSAL(.step = STEP_LOAD, .err = -EINVAL,
				   .kernel_text = "program of this type cannot use helper "
						  "bpf_ktime_get_boot_ns#125"),
		.status = EXIT_UNSUPPORTED,
		.says = {"too old", "helper"},
	},
	{
		.name = "O-113: a program too large for the verifier",
		.refusal =
			REFUSAL(.step = STEP_LOAD, .err = -E2BIG,
				.kernel_text = "BPF program is too large. Processed 1000001 insn"),
		.status = EXIT_UNSUPPORTED,
		.says = {"too large", "xdp-limit doctor eth0"},
		.silent_about = {"--sources"},
	},
	{
		.name = "O-113: any other verdict of the verifier",
		.refusal = REFUSAL(.step = STEP_LOAD, .err = -EACCES,
				   .kernel_text = "R1 invalid mem access 'scalar'"),
		.status = EXIT_FAILED,
		.says = {"verifier refuses", "R1 invalid mem access 'scalar'",
			 "xdp-limit doctor eth0"},
		.silent_about = {"CAP_"},
	},
	{
		.name = "O-115: locked memory on a kernel before 5.11",
		.refusal = REFUSAL(.step = STEP_CREATE_MAP, .err = -EPERM, .map_name = "buckets",
				   .memlock_unlimited = false, .kernel_pre_5_11 = true),
		.status = EXIT_FAILED,
		.says = {"create map buckets for eth0", "locked memory", "ulimit -l unlimited",
			 "LimitMEMLOCK", "EPERM"},
	},
	{
		.name = "O-116: EINVAL of a probe is not blamed on memlock",
		.refusal = REFUSAL(.err = -EINVAL),
		.status = EXIT_UNSUPPORTED,
		.says = {"cannot probe the kernel", "BPF probe: EINVAL", "xdp-limit doctor eth0"},
		.silent_about = {"memory", "MEMLOCK", "ulimit"},
	},
	{
		.name = "O-116: EINVAL of a probe on an old kernel is not blamed on memlock",
		.refusal = REFUSAL(.err = -EINVAL, .memlock_unlimited = false,
				   .kernel_pre_5_11 = true),
		.status = EXIT_UNSUPPORTED,
		.says = {"EINVAL", "xdp-limit doctor eth0"},
		.silent_about = {"memory", "MEMLOCK", "ulimit"},
	},
	{
		.name = "O-116: no memlock hint when it is unlimited already",
		.refusal = REFUSAL(.step = STEP_CREATE_MAP, .err = -EPERM, .kernel_pre_5_11 = true),
		.status = EXIT_FAILED,
		.says = {"EPERM", "seccomp"},
		.silent_about = {"locked memory", "MEMLOCK", "ulimit"},
	},
	{
		.name = "O-116: no memlock hint on a kernel that doesn't count it",
		.refusal = REFUSAL(.step = STEP_CREATE_MAP, .err = -EPERM,
				   .memlock_unlimited = false),
		.status = EXIT_FAILED,
		.says = {"EPERM", "seccomp"},
		.silent_about = {"locked memory", "MEMLOCK", "ulimit"},
	},
	{
		.name = "O-116: an unknown kind of map",
		.refusal = REFUSAL(.step = STEP_CREATE_MAP, .err = -EINVAL, .map_name = "cache"),
		.status = EXIT_UNSUPPORTED,
		.says = {"create map cache", "BPF_MAP_CREATE: EINVAL", "5.15",
			 "xdp-limit doctor eth0"},
		.silent_about = {"memory"},
	},
	{
		.name = "O-116: an errno that no row knows gives name, step, text and doctor",
		.refusal = REFUSAL(.step = STEP_LOAD, .err = -EDOM, .kernel_text = "something new"),
		.status = EXIT_FAILED,
		.says = {"cannot load the program for eth0", "BPF_PROG_LOAD: EDOM",
			 "\"something new\"", "xdp-limit doctor eth0"},
	},
	{
		.name = "O-117: CAP_BPF and its stand-in are missing",
		.refusal = REFUSAL(.step = STEP_CREATE_MAP, .err = -EPERM,
				   .effective_caps = WITHOUT(CAP_BPF) & ~BIT(CAP_SYS_ADMIN)),
		.status = EXIT_FAILED,
		.says = {"lacks CAP_BPF (", "BPF_MAP_CREATE: EPERM"},
		.silent_about = {"CAP_NET_ADMIN", "CAP_PERFMON", "seccomp"},
	},
	{
		.name = "O-117: CAP_NET_ADMIN is missing at load",
		.refusal = REFUSAL(.step = STEP_LOAD, .err = -EPERM,
				   .effective_caps = WITHOUT(CAP_NET_ADMIN)),
		.status = EXIT_FAILED,
		.says = {"lacks CAP_NET_ADMIN ("},
		.silent_about = {"CAP_BPF", "CAP_PERFMON", "seccomp"},
	},
	{
		.name = "O-117: CAP_PERFMON is missing (pointer comparison prohibited)",
		.refusal = REFUSAL(.step = STEP_LOAD, .err = -EACCES,
				   .effective_caps = BIT(CAP_BPF) | BIT(CAP_NET_ADMIN),
				   .kernel_text = "R3 pointer comparison prohibited"),
		.status = EXIT_FAILED,
		.says = {"lacks CAP_PERFMON (", "EACCES", "pointer comparison prohibited"},
		.silent_about = {"CAP_BPF", "CAP_NET_ADMIN"},
	},
	{
		.name = "O-117: a helper kept from those who lack CAP_PERFMON",
		.refusal = REFUSAL(.step = STEP_LOAD, .err = -EINVAL,
				   .effective_caps = BIT(CAP_BPF) | BIT(CAP_NET_ADMIN),
				   .kernel_text = "unknown func bpf_ktime_get_boot_ns#125"),
		.status = EXIT_FAILED,
		.says = {"CAP_PERFMON"},
		.silent_about = {"too old"},
	},
	{
		.name = "O-117: a helper kept from programs of those who lack CAP_PERFMON",
		.refusal = REFUSAL(.step = STEP_LOAD, .err = -EINVAL,
				   .effective_caps = BIT(CAP_BPF) | BIT(CAP_NET_ADMIN),
				   .kernel_text = "program of this type cannot use helper "
						  "bpf_ktime_get_boot_ns#125"),
		.status = EXIT_FAILED,
		.says = {"CAP_PERFMON"},
		.silent_about = {"too old"},
	},
	{
		.name = "O-117: CAP_SYS_ADMIN is missing",
		.refusal = REFUSAL(.step = STEP_FIND, .err = -EPERM,
				   .effective_caps = WITHOUT(CAP_SYS_ADMIN)),
		.status = EXIT_FAILED,
		.says = {"cannot find what is attached to", "no pin in /sys/fs/bpf/xdp-limit",
			 "lacks CAP_SYS_ADMIN to open", "BPF_PROG_GET_FD_BY_ID: EPERM"},
		.silent_about = {"CAP_BPF", "CAP_NET_ADMIN", "CAP_PERFMON"},
	},
	{
		.name = "O-117: CAP_SYS_ADMIN stands in for CAP_BPF and CAP_PERFMON",
		.refusal = REFUSAL(.step = STEP_LOAD, .err = -EPERM,
				   .effective_caps = BIT(CAP_SYS_ADMIN)),
		.status = EXIT_FAILED,
		.says = {"lacks CAP_NET_ADMIN ("},
		.silent_about = {"CAP_BPF", "CAP_PERFMON"},
	},
	{
		.name = "O-117: all that are missing are named",
		.refusal = REFUSAL(.step = STEP_LOAD, .err = -EPERM, .effective_caps = 0),
		.status = EXIT_FAILED,
		.says = {"CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON", "root"},
	},
	{
		.name = "O-117: a missing capability comes before memlock",
		.refusal = REFUSAL(.step = STEP_CREATE_MAP, .err = -EPERM, .effective_caps = 0,
				   .memlock_unlimited = false, .kernel_pre_5_11 = true),
		.status = EXIT_FAILED,
		.says = {"lacks CAP_BPF"},
		.silent_about = {"locked memory"},
	},
	{
		.name = "O-117: a seccomp profile forbids bpf()",
		.refusal = REFUSAL(.err = -EPERM),
		.status = EXIT_FAILED,
		.says = {"no capability is missing", "seccomp", "EPERM", "xdp-limit doctor eth0"},
		.silent_about = {"CAP_", "MEMLOCK"},
	},
	{
		.name = "O-117: a seccomp profile hides bpf()",
		.refusal = REFUSAL(.err = -ENOSYS),
		.status = EXIT_UNSUPPORTED,
		.says = {"ENOSYS", "CONFIG_BPF_SYSCALL", "seccomp"},
	},
	{
		.name = "O-118: kernel lockdown",
		.refusal = REFUSAL(.step = STEP_LOAD, .err = -EPERM),
		.status = EXIT_FAILED,
		.says = {"lockdown", "/sys/kernel/security/lockdown"},
	},
	{
		.name = "O-119: a table larger than the memory",
		.refusal = REFUSAL(.step = STEP_CREATE_MAP, .err = -ENOMEM, .map_name = "buckets",
				   .memory_estimate = 138ULL << 20),
		.status = EXIT_FAILED,
		.says = {"create map buckets for eth0", "138 MiB", "--sources N", "ENOMEM"},
	},
	{
		.name = "O-119: no memory for a map that is not the table",
		.refusal = REFUSAL(.step = STEP_CREATE_MAP, .err = -ENOMEM, .map_name = "cache"),
		.status = EXIT_FAILED,
		.says = {"create map cache", "--sources N", "ENOMEM"},
		.silent_about = {"about"},
	},
	{
		.name = "O-120: ENOENT at load sends nobody looking for a file",
		.refusal = REFUSAL(.step = STEP_LOAD, .err = -ENOENT),
		.status = EXIT_FAILED,
		.says = {"BPF_PROG_LOAD: ENOENT", "xdp-limit doctor eth0"},
		.silent_about = {".o", "/usr", "LIBXDP"},
	},
	{
		.name = "O-120: state can't be pinned where no bpffs is",
		.refusal = REFUSAL(.step = STEP_PIN, .err = -ENOENT),
		.status = EXIT_FAILED,
		.says = {"cannot pin the state of eth0", "mount -t bpf bpf /sys/fs/bpf", "--netns"},
	},
	{
		.name = "state can't be pinned where bpffs is read-only",
		.refusal = REFUSAL(.step = STEP_PIN, .err = -EROFS),
		.status = EXIT_FAILED,
		.says = {"cannot pin the state of eth0", "remount,rw /sys/fs/bpf"},
		.silent_about = {"mount -t", "--netns"},
	},
	{
		.name = "O-121: E2BIG of a map sized by CPUs",
		.refusal = REFUSAL(.step = STEP_CREATE_MAP, .err = -E2BIG, .map_name = "cpus"),
		.status = EXIT_FAILED,
		.says = {"create map cpus", "E2BIG", "more entries", "possible CPUs"},
	},
	{
		.name = "O-121: E2BIG of the table",
		.refusal = REFUSAL(.step = STEP_CREATE_MAP, .err = -E2BIG, .map_name = "buckets",
				   .memory_estimate = 1ULL << 33),
		.status = EXIT_FAILED,
		.says = {"E2BIG", "more entries", "8 GiB", "--sources N"},
		.silent_about = {"CPUs"},
	},
	{
		.name = "a full map is no map that can't be made",
		.refusal = REFUSAL(.step = STEP_FILL, .err = -E2BIG, .map_name = "buckets"),
		.status = EXIT_FAILED,
		.says = {"cannot fill the maps of eth0", "BPF_MAP_UPDATE_ELEM: E2BIG"},
		.silent_about = {"create", "buckets", "--sources"},
	},
	{
		.name = "no memory for an entry",
		.refusal = REFUSAL(.step = STEP_FILL, .err = -ENOMEM),
		.status = EXIT_FAILED,
		.says = {"cannot fill the maps of eth0", "no memory left",
			 "raise the memory limit"},
	},
	{
		.name = "files that may be open, at any step: no driver is blamed",
		.refusal = LINK_REFUSAL(.err = -EMFILE),
		.status = EXIT_FAILED,
		.says = {"EMFILE", "files open", "ulimit -n", "LimitNOFILE="},
		.silent_about = {"driver"},
	},
	{
		.name = "an interface that has gone",
		.refusal = LINK_REFUSAL(.err = -ENODEV),
		.status = EXIT_FAILED,
		.says = {"is gone", "--wait"},
	},
	{
		.name = "state of an earlier attach is busy",
		.refusal = REFUSAL(.step = STEP_PIN, .err = -EEXIST),
		.status = EXIT_BUSY,
		.says = {"xdp-limit status eth0", "xdp-limit detach eth0"},
	},
	{
		.name = "no interface yet: the line still stands",
		.refusal = REFUSAL(.err = -EINVAL, .netdev = NULL),
		.status = EXIT_UNSUPPORTED,
		.says = {"for IFACE", "EINVAL"},
	},
	{
		.name = "the kernel's own ENOTSUPP is EOPNOTSUPP",
		DRIVER_REFUSAL(.err = -524),
		.says = {"no native XDP", "EOPNOTSUPP"},
	},
};
#pragma GCC diagnostic pop

static void expect_text(const struct row *row, const char *line)
{
	size_t i;

	for (i = 0; i < COUNT(row->says) && row->says[i]; i++) {
		if (!strstr(line, row->says[i]))
			fail_msg("\"%s\" does not say \"%s\"", line, row->says[i]);
	}
	for (i = 0; i < COUNT(row->silent_about) && row->silent_about[i]; i++) {
		if (strstr(line, row->silent_about[i]))
			fail_msg("\"%s\" says \"%s\"", line, row->silent_about[i]);
	}
	if (strpbrk(line, "{}\n"))
		fail_msg("not one finished line: \"%s\"", line);
}

static void explains(void **state)
{
	const struct row *row = *state;
	struct complaint line;
	enum exit_status status = explain_refusal(&row->refusal, &line);

	expect_text(row, line.text);
	assert_int_equal(status, row->status);
	assert_int_equal(refusal_allows_generic(&row->refusal), row->generic_may_do);
	if (row->generic_may_do)
		assert_non_null(strstr(line.text, "--mode generic"));
}

/* What to do stands at the end of the line, so nothing may cut it off. */
static void longest_line_fits(void **state)
{
	struct netdev netdev;
	struct refusal refusal;
	struct complaint line;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		refusal = rows[i].refusal;
		netdev = refusal.netdev ? *refusal.netdev : eth0;
		strcpy(netdev.name, "enp129s0f1np1.7");
		netdev.mtu = 65535;
		refusal.netdev = &netdev;
		refusal.map_name = "fifteen_letters";
		explain_refusal(&refusal, &line);
		if (strlen(line.text) > sizeof(line.text) - 8)
			fail_msg("%zu characters: %s", strlen(line.text), line.text);
	}
}

static void long_kernel_text_is_cut_and_stays_one_line(void **state)
{
	char text[1000];
	struct refusal refusal = LINK_REFUSAL(.err = -EINVAL, .kernel_text = text);
	struct complaint line;

	(void)state;
	memset(text, 'x', sizeof(text));
	strcpy(text + sizeof(text) - 8, "MTU");
	text[3] = '\n';
	explain_refusal(&refusal, &line);
	assert_non_null(strstr(line.text, "\"xxx xxxx"));
	assert_non_null(strstr(line.text, "xxxx...\""));
	assert_non_null(strstr(line.text, "or --mode generic"));
	assert_null(strchr(line.text, '\n'));
	assert_in_range(strlen(line.text), 200, sizeof(line.text) - 8);
}

int main(void)
{
	struct CMUnitTest tests[COUNT(rows) + 2] = {
		cmocka_unit_test(longest_line_fits),
		cmocka_unit_test(long_kernel_text_is_cut_and_stays_one_line),
	};
	size_t i;

	for (i = 0; i < COUNT(rows); i++)
		tests[i + 2] = (struct CMUnitTest){
			.name = rows[i].name, .test_func = explains, .initial_state = &rows[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
