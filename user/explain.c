// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The error mapper: one table from what the kernel said to what the operator can do. */
#include "explain.h"

#include <ctype.h>
#include <errno.h>
#include <linux/capability.h>
#include <net/if_arp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "units.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A page less the headroom and tail that drivers keep: frames above need several buffers. */
#define ONE_BUFFER_MTU	3400
#define QUOTE_MAX	120 /* of the kernel's sentence, so that the advice always fits */
#define KERNEL_ENOTSUPP 524 /* kernel-internal, but some drivers let it out */

/* ---- conditions ---- */

static const struct netdev *device(const struct refusal *refusal)
{
	static const struct netdev unnamed = {.name = "IFACE"};

	return refusal->netdev ? refusal->netdev : &unnamed;
}

static bool holds(const struct refusal *refusal, unsigned int capability)
{
	return refusal->effective_caps >> capability & 1;
}

static const struct {
	unsigned int capability;
	const char *name;
	bool within_sys_admin; /* CAP_SYS_ADMIN stands in for it */
} capabilities[] = {
	{CAP_BPF, "CAP_BPF", true},
	{CAP_NET_ADMIN, "CAP_NET_ADMIN", false},
	{CAP_PERFMON, "CAP_PERFMON", true},
	{CAP_SYS_ADMIN, "CAP_SYS_ADMIN", false},
};

#define NEEDS(capability) (1ULL << (capability))
#define NEEDS_ALL \
	(NEEDS(CAP_BPF) | NEEDS(CAP_NET_ADMIN) | NEEDS(CAP_PERFMON) | NEEDS(CAP_SYS_ADMIN))

static const struct {
	const char *attempt;
	const char *call;
	uint64_t needs;
} steps[] = {
	[STEP_PROBE] = {"probe the kernel for {iface}", "BPF probe",
			NEEDS(CAP_BPF) | NEEDS(CAP_NET_ADMIN)},
	[STEP_FIND] = {"find what is attached to {iface}", "BPF_PROG_GET_FD_BY_ID",
		       NEEDS(CAP_SYS_ADMIN)},
	[STEP_CREATE_MAP] = {"create map {map} for {iface}", "BPF_MAP_CREATE", NEEDS(CAP_BPF)},
	[STEP_LOAD] = {"load the program for {iface}", "BPF_PROG_LOAD",
		       NEEDS(CAP_BPF) | NEEDS(CAP_NET_ADMIN) | NEEDS(CAP_PERFMON)},
	[STEP_LINK] = {"attach to {iface} in {mode} mode", "BPF_LINK_CREATE", NEEDS(CAP_NET_ADMIN)},
	[STEP_JOIN] = {"join the dispatcher of {iface} in {mode} mode", "libxdp",
		       NEEDS(CAP_BPF) | NEEDS(CAP_NET_ADMIN) | NEEDS(CAP_PERFMON) |
			       NEEDS(CAP_SYS_ADMIN)},
	[STEP_FILL] = {"fill the maps of {iface}", "BPF_MAP_UPDATE_ELEM", NEEDS(CAP_BPF)},
	[STEP_PIN] = {"pin the state of {iface}", "BPF_OBJ_PIN", 0},
};

/* Of @needs, what this process hasn't. */
static uint64_t lacking(const struct refusal *refusal, uint64_t needs)
{
	uint64_t lacks = 0;
	size_t i;

	for (i = 0; i < COUNT(capabilities); i++) {
		if (!(needs & NEEDS(capabilities[i].capability)) ||
		    holds(refusal, capabilities[i].capability))
			continue;
		if (!(capabilities[i].within_sys_admin && holds(refusal, CAP_SYS_ADMIN)))
			lacks |= NEEDS(capabilities[i].capability);
	}
	return lacks;
}

/* What the step is known to need and lacks; failing that, any that a container takes away. */
static uint64_t missing(const struct refusal *refusal)
{
	uint64_t certain = lacking(refusal, steps[refusal->step].needs);

	return certain ? certain : lacking(refusal, NEEDS_ALL);
}

static bool lacks_capability(const struct refusal *refusal)
{
	return missing(refusal) != 0;
}

static bool memlock_counts(const struct refusal *refusal)
{
	return refusal->kernel_pre_5_11 && !refusal->memlock_unlimited;
}

static bool is_bond_member(const struct refusal *refusal)
{
	return !strcmp(device(refusal)->master_kind, "bond");
}

static bool is_bond(const struct refusal *refusal)
{
	return !strcmp(device(refusal)->kind, "bond");
}

static bool is_veth(const struct refusal *refusal)
{
	return !strcmp(device(refusal)->kind, "veth");
}

static bool is_bridge(const struct refusal *refusal)
{
	return !strcmp(device(refusal)->kind, "bridge");
}

static bool has_lower(const struct refusal *refusal)
{
	return device(refusal)->lower[0] != '\0';
}

static bool has_master(const struct refusal *refusal)
{
	return device(refusal)->master[0] != '\0';
}

static bool has_estimate(const struct refusal *refusal)
{
	return refusal->memory_estimate != 0;
}

/* The loopback's 65536 never reach a card: there the MTU explains nothing. */
static bool is_jumbo(const struct refusal *refusal)
{
	return device(refusal)->mtu > ONE_BUFFER_MTU && device(refusal)->type != ARPHRD_LOOPBACK;
}

/* ---- the table ---- */

#define ON(step) (1U << (step))
#define ON_ANY	 (~0U)

/*
 * The first row whose conditions all hold explains the refusal; an absent condition always holds.
 * From the certain to the vague: permissions, other programs, sentences of drivers, bare errnos.
 */
struct explanation {
	unsigned int steps;
	int errs[6];	      /* any of these */
	const char *texts[5]; /* any of these in the kernel's text, in any case */
	bool (*applies)(const struct refusal *refusal);
	bool native; /* only when native mode was tried; generic mode may do */
	const char *reason;
	const char *advice;
	enum exit_status status;
};

/* Native mode was tried and the driver has no objection to generic mode. */
#define DRIVER_REFUSES .steps = ON(STEP_LINK), .native = true, .status = EXIT_UNSUPPORTED

static const struct explanation explanations[] = {
	/* this process, before anybody else is blamed */
	{
		.steps = ON_ANY,
		.errs = {EMFILE},
		.reason =
			"this process may not have more files open, and each map of each interface "
			"is one",
		.advice = "raise the limit: ulimit -n 4096, or LimitNOFILE=4096 in a systemd unit",
		.status = EXIT_FAILED,
	},

	/* permissions: O-115 O-116 O-117 O-118 */
	{
		.steps = ON(STEP_FIND),
		.errs = {EPERM},
		.applies = lacks_capability,
		.reason = "a program runs there that no pin in /sys/fs/bpf/xdp-limit names, and "
			  "this process lacks {missing} to open it by its id",
		.advice = "run it as root, or give it that: --cap-add in a container, "
			  "AmbientCapabilities= in a systemd unit",
		.status = EXIT_FAILED,
	},
	{
		.steps = ON_ANY,
		.errs = {EPERM, EACCES},
		.applies = lacks_capability,
		.reason = "this process lacks {missing}",
		.advice = "run it as root, or give it these: --cap-add in a container, "
			  "AmbientCapabilities= in a systemd unit",
		.status = EXIT_FAILED,
	},
	{
		.steps = ON(STEP_LOAD),
		.texts = {"unknown func", "cannot use helper"},
		.applies = lacks_capability,
		.reason = "the verifier allows less to a process that lacks {missing}",
		.advice = "run it as root, or give it these: --cap-add in a container, "
			  "AmbientCapabilities= in a systemd unit",
		.status = EXIT_FAILED,
	},
	{
		.steps = ON(STEP_PROBE) | ON(STEP_CREATE_MAP) | ON(STEP_LOAD),
		.errs = {EPERM},
		.applies = memlock_counts,
		.reason = "the limit of locked memory is too low, and kernels before 5.11 count "
			  "BPF maps against it",
		.advice = "raise it: ulimit -l unlimited, or LimitMEMLOCK=infinity in a systemd "
			  "unit",
		.status = EXIT_FAILED,
	},
	{
		.steps = ON_ANY & ~ON(STEP_PIN),
		.errs = {EPERM},
		.reason = "it is forbidden although no capability is missing: in a user namespace, "
			  "by a seccomp profile or by kernel lockdown",
		.advice = "allow bpf() in the container's seccomp profile; see "
			  "/sys/kernel/security/lockdown and: xdp-limit doctor {iface}",
		.status = EXIT_FAILED,
	},
	{
		.steps = ON_ANY,
		.errs = {ENOSYS},
		.reason = "there is no bpf() here: the kernel is built without "
			  "CONFIG_BPF_SYSCALL, or a seccomp profile hides it",
		.advice = "allow it or use another kernel; see: xdp-limit doctor {iface}",
		.status = EXIT_UNSUPPORTED,
	},

	/* attaching: other programs, bonds */
	{
		.steps = ON(STEP_LINK),
		.texts = {"slave has XDP program"},
		.reason = "a member of the bond has an XDP program of its own",
		.advice = "find it with: bpftool net show; detach it there first",
		.status = EXIT_BUSY,
	},
	{
		.steps = ON(STEP_LINK),
		.errs = {EBUSY},
		.reason = "another XDP program is attached to it",
		.advice = "see whose: bpftool net show dev {iface}; detach it there, or replace "
			  "it with --force",
		.status = EXIT_BUSY,
	},
	{
		.steps = ON(STEP_LINK),
		.applies = is_bond_member, /* O-060: it would see a share of the traffic only */
		.reason = "it is a member of {master}",
		.advice = "attach to the master: xdp-limit attach {master}",
		.status = EXIT_UNSUPPORTED,
	},
	{
		.steps = ON(STEP_LINK),
		.errs = {EEXIST},
		.texts = {"upper device"},
		.applies = has_master,
		.reason = "{master} above it has an XDP program already",
		.advice = "attach to the master: xdp-limit attach {master}; see: bpftool net show",
		.status = EXIT_BUSY,
	},
	{
		.steps = ON(STEP_LINK),
		.errs = {EEXIST},
		.texts = {"upper device"},
		.reason = "a device above it has an XDP program already",
		.advice = "find it with: bpftool net show; detach it there, or attach to that "
			  "device",
		.status = EXIT_BUSY,
	},
	{
		.steps = ON(STEP_LINK),
		.errs = {EEXIST},
		.texts = {"native and generic"},
		.reason = "another XDP program is attached to it, in the other mode",
		.advice = "see whose: bpftool net show dev {iface}; detach it there, or replace "
			  "it with --force",
		.status = EXIT_BUSY,
	},
	{
		.steps = ON(STEP_LINK),
		.errs = {EEXIST},
		.reason = "another XDP program was attached to it meanwhile",
		.advice = "see whose: bpftool net show dev {iface}; then try again",
		.status = EXIT_BUSY,
	},
	{
		.steps = ON(STEP_LINK),
		.errs = {ENODEV},
		.reason = "the interface is gone",
		.advice = "see: ip -brief link; wait for it with --wait TIME",
		.status = EXIT_FAILED,
	},

	/* attaching natively: sentences of drivers, O-053 O-055 O-056 O-057 O-058 O-059 O-060 */
	{
		DRIVER_REFUSES,
		.errs = {EOPNOTSUPP},
		.applies = is_bridge,
		.reason = "a bridge has no native XDP",
		.advice = "attach to its ports, which see all traffic; or use --mode generic for "
			  "what is meant for this host alone",
	},
	{
		DRIVER_REFUSES,
		.errs = {EOPNOTSUPP},
		.applies = has_lower,
		.reason = "its kind has no native XDP",
		.advice =
			"attach to {lower} below it, which sees the traffic of all devices on it; "
			"or use --mode generic for that of {iface} alone",
	},
	{
		DRIVER_REFUSES,
		.texts = {"does not support XDP in native mode"},
		.reason = "its driver has no native XDP",
		.advice = "use --mode generic",
	},
	{
		DRIVER_REFUSES,
		.texts = {"host is implementing"},
		.reason = "the hypervisor merges packets (GRO_HW) or skips their checksums (CSUM)",
		.advice = "ethtool -K {iface} rx-gro-hw off; if that is [fixed]: change the "
			  "hypervisor's settings (guest_tso4/6, guest_csum) or use "
			  "--mode generic",
	},
	{
		DRIVER_REFUSES,
		.texts = {"LRO"},
		.reason = "its card merges packets (LRO)",
		.advice = "ethtool -K {iface} lro off rx-gro-hw off; if that is [fixed]: use "
			  "--mode generic",
	},
	{
		DRIVER_REFUSES,
		.texts = {"any_header_sg"},
		.reason = "the hypervisor offers a virtio card of the old kind",
		.advice = "give the machine a modern one (virtio 1.0: a newer machine type, "
			  "disable-legacy=on), or use --mode generic",
	},
	{
		DRIVER_REFUSES,
		.texts = {"free TX rings"},
		.reason = "XDP needs a spare transmit queue for every CPU",
		.advice = "ethtool -L {iface} combined {half}; or give the machine 2 queues per "
			  "CPU in the hypervisor's settings, or use --mode generic",
	},
	{
		DRIVER_REFUSES,
		.texts = {"tcp-data-split"},
		.reason = "its card splits headers from data",
		.advice = "ethtool -G {iface} tcp-data-split off; or use --mode generic",
	},
	{
		DRIVER_REFUSES,
		.texts = {"must be combined"},
		.reason = "its driver wants combined channels for XDP",
		.advice = "combine them: ethtool -L {iface} rx 0 tx 0 combined {half}; or use "
			  "--mode generic",
	},
	{
		DRIVER_REFUSES,
		.texts = {"number of rx queues"},
		.applies = is_veth,
		.reason = "it has fewer receive queues than its peer has transmit queues",
		.advice = "reduce the peer's channels: ethtool -L PEER tx 1; or raise these, up to "
			  "{rx}: ethtool -L {iface} rx N; or use --mode generic",
	},
	{
		DRIVER_REFUSES,
		.texts = {"number of rx queues", "channel count", "XDP queues", "enough rings",
			  "TX rings"},
		.reason = "it uses too many channels to leave XDP queues of its own",
		.advice = "reduce them: ethtool -L {iface} combined {half}; or use --mode generic",
	},
	{
		DRIVER_REFUSES,
		.errs = {ENOSPC},
		.reason = "it uses too many channels to leave XDP queues of its own",
		.advice = "reduce them: ethtool -L {iface} combined {half}; or use --mode generic",
	},
	{
		DRIVER_REFUSES,
		.texts = {"peer MTU"},
		.reason = "the MTU of its peer is too large for native XDP",
		.advice = "lower it: ip link set dev PEER mtu 1500; or use --mode generic",
	},
	{
		DRIVER_REFUSES,
		.texts = {"MTU", "jumbo"},
		.reason = "its MTU of {mtu} is too large for its driver's native XDP",
		.advice = "lower the MTU: ip link set dev {iface} mtu N; or use a driver with "
			  "multi-buffer XDP (Linux 5.18 or newer), or --mode generic",
	},

	/* attaching natively: drivers that say nothing */
	{
		DRIVER_REFUSES,
		.applies = is_bond,
		.reason = "this bond refuses native XDP: because of its mode, its transmit policy "
			  "or the driver of a member",
		.advice = "use active-backup, balance-rr, balance-xor or 802.3ad (without "
			  "vlan+srcmac) over members that have native XDP, or --mode generic",
	},
	{
		DRIVER_REFUSES,
		.applies = is_jumbo,
		.reason = "its driver refuses, most likely because of its MTU of {mtu}",
		.advice = "lower the MTU: ip link set dev {iface} mtu 1500; or use a driver with "
			  "multi-buffer XDP (Linux 5.18 or newer), or --mode generic",
	},
	{
		DRIVER_REFUSES,
		.errs = {EOPNOTSUPP},
		.reason = "its driver has no native XDP, or none in its present setup",
		.advice = "use --mode generic; see: xdp-limit doctor {iface}",
	},
	{
		DRIVER_REFUSES,
		.reason = "its driver refuses native XDP in its present setup",
		.advice = "look for its reason in dmesg and: xdp-limit doctor {iface}; or use "
			  "--mode generic",
	},
	{
		.steps = ON(STEP_LINK),
		.errs = {EOPNOTSUPP},
		.reason = "this kind of interface takes no XDP program",
		.advice = "attach to the interface below it; see: xdp-limit doctor {iface}",
		.status = EXIT_UNSUPPORTED,
	},

	/* a dispatcher: O-083 O-084 O-120 */
	{
		.steps = ON(STEP_JOIN),
		.errs = {EOPNOTSUPP},
		.reason =
			"this kernel lets no XDP program extend another, of which dispatchers are made",
		.advice = "it needs Linux 5.10 with BTF and without restrictions on BPF; attach "
			  "without --shared, or see: xdp-limit doctor {iface}",
		.status = EXIT_UNSUPPORTED,
	},
	{
		.steps = ON(STEP_JOIN),
		.errs = {ENOENT},
		.reason = "libxdp does not find its xdp-dispatcher.o",
		.advice = "install it (Debian: libxdp1), or say where it is: "
			  "LIBXDP_OBJECT_PATH=DIRECTORY",
		.status = EXIT_UNSUPPORTED,
	},
	{
		.steps = ON(STEP_JOIN),
		.errs = {EEXIST},
		.native = true,
		.reason = "the programs in it run in generic mode",
		.advice = "use --mode generic",
		.status = EXIT_UNSUPPORTED,
	},
	{
		.steps = ON(STEP_JOIN),
		.errs = {EEXIST},
		.reason = "the programs in it run in native mode",
		.advice = "use --mode native",
		.status = EXIT_UNSUPPORTED,
	},
	{
		.steps = ON(STEP_JOIN),
		.errs = {E2BIG},
		.reason =
			"it has no room: ten programs, and one more for a moment while a policy is "
			"replaced",
		.advice = "see which: xdp-loader status {iface}; unload one",
		.status = EXIT_BUSY,
	},
	{
		.steps = ON(STEP_JOIN),
		.errs = {EBUSY},
		.reason = "it is in use by another command, or of another version of libxdp",
		.advice =
			"see: xdp-loader status {iface}; then try again, or unload what is there and "
			"load it anew",
		.status = EXIT_BUSY,
	},
	{
		.steps = ON(STEP_JOIN),
		.native = true,
		.reason = "the kernel, the driver or libxdp refuses",
		.advice = "see whether it works without --shared; else use --mode generic; see: "
			  "xdp-limit doctor {iface}",
		.status = EXIT_FAILED,
	},

	/* maps: O-119 O-121 */
	{
		.steps = ON(STEP_CREATE_MAP),
		.errs = {ENOMEM},
		.applies = has_estimate,
		.reason = "it takes about {memory} of kernel memory, more than this machine or "
			  "its cgroup gives",
		.advice = "make the table smaller: --sources N; or raise the memory limit",
		.status = EXIT_FAILED,
	},
	{
		.steps = ON(STEP_CREATE_MAP) | ON(STEP_LOAD) | ON(STEP_FILL),
		.errs = {ENOMEM},
		.reason = "this machine or its cgroup has no memory left for it",
		.advice = "make the table smaller: --sources N; or raise the memory limit",
		.status = EXIT_FAILED,
	},
	{
		.steps = ON(STEP_CREATE_MAP),
		.errs = {E2BIG},
		.applies = has_estimate,
		.reason = "it has more entries (about {memory}) than the kernel allows in one map",
		.advice = "make the table smaller: --sources N",
		.status = EXIT_FAILED,
	},
	{
		.steps = ON(STEP_CREATE_MAP),
		.errs = {E2BIG},
		.reason = "it has more entries than the kernel allows in such a map, or than this "
			  "machine has possible CPUs",
		.advice = "make the table smaller: --sources N; see: xdp-limit doctor {iface}",
		.status = EXIT_FAILED,
	},
	{
		.steps = ON(STEP_CREATE_MAP),
		.errs = {EINVAL, EOPNOTSUPP},
		.reason = "the kernel does not know this kind of map or one of its flags",
		.advice = "use Linux 5.15 or newer; see: xdp-limit doctor {iface}",
		.status = EXIT_UNSUPPORTED,
	},

	/* the verifier: O-113, and helpers that the kernel has not yet */
	{
		.steps = ON(STEP_LOAD),
		.texts = {"reserved fields"},
		.reason = "the kernel is too old: it has no atomic instructions that return a "
			  "value",
		.advice = "they need Linux 5.12, xdp-limit needs 5.15 or newer; see: xdp-limit "
			  "doctor {iface}",
		.status = EXIT_UNSUPPORTED,
	},
	{
		.steps = ON(STEP_LOAD),
		.texts = {"invalid func", "unknown func", "cannot use helper"},
		.reason = "the kernel is too old: it lacks a helper function",
		.advice = "use Linux 5.15 or newer; see which helper: xdp-limit doctor {iface}",
		.status = EXIT_UNSUPPORTED,
	},
	{
		.steps = ON(STEP_LOAD),
		.errs = {E2BIG},
		.reason = "the program is too large for this kernel's verifier",
		.advice = "use a newer kernel, and report it with the output of: xdp-limit doctor "
			  "{iface}",
		.status = EXIT_UNSUPPORTED,
	},
	{
		.steps = ON(STEP_LOAD),
		.errs = {EINVAL, EACCES},
		.reason = "the kernel's verifier refuses the program",
		.advice = "report it with the output of: xdp-limit doctor {iface}",
		.status = EXIT_FAILED,
	},

	/* the file system that keeps the state */
	{
		.steps = ON(STEP_PIN),
		.errs = {EEXIST},
		.reason = "there is state of an earlier attach, or of another command",
		.advice = "see: xdp-limit status {iface}; remove it with: xdp-limit detach {iface}",
		.status = EXIT_BUSY,
	},
	{
		.steps = ON(STEP_PIN),
		.errs = {EROFS},
		.reason = "/sys/fs/bpf is mounted read-only",
		.advice = "mount -o remount,rw /sys/fs/bpf",
		.status = EXIT_FAILED,
	},
	{
		.steps = ON(STEP_PIN),
		.errs = {EPERM, EACCES, EINVAL, ENOENT, ENOTDIR},
		.reason = "/sys/fs/bpf is no BPF file system that can be written",
		.advice = "mount it: mount -t bpf bpf /sys/fs/bpf; instead of ip netns exec use "
			  "--netns NAME",
		.status = EXIT_FAILED,
	},

	/* O-116: a probe that says only no */
	{
		.steps = ON(STEP_PROBE),
		.errs = {EINVAL, EOPNOTSUPP},
		.reason = "the kernel does not know what was asked for: it is older than 5.15 or "
			  "built without a part of BPF",
		.advice = "see which: xdp-limit doctor {iface}",
		.status = EXIT_UNSUPPORTED,
	},
};

static const struct explanation unexplained = {
	.reason = "{error}",
	.advice = "see: xdp-limit doctor {iface}",
	.status = EXIT_FAILED,
};

/* ---- finding the row ---- */

static int positive_errno(const struct refusal *refusal)
{
	int err = -refusal->err;

	return err == KERNEL_ENOTSUPP ? EOPNOTSUPP : err;
}

static bool errno_fits(const struct explanation *row, int err)
{
	size_t i;

	for (i = 0; i < COUNT(row->errs) && row->errs[i]; i++) {
		if (row->errs[i] == err)
			return true;
	}
	return !row->errs[0];
}

static bool text_fits(const struct explanation *row, const char *text)
{
	size_t i;

	for (i = 0; text && i < COUNT(row->texts) && row->texts[i]; i++) {
		if (strcasestr(text, row->texts[i]))
			return true;
	}
	return !row->texts[0];
}

static const struct explanation *explanation_of(const struct refusal *refusal)
{
	int err = positive_errno(refusal);
	const struct explanation *row;
	size_t i;

	for (i = 0; i < COUNT(explanations); i++) {
		row = &explanations[i];
		if ((row->steps & ON(refusal->step)) && !(row->native && refusal->generic) &&
		    errno_fits(row, err) && text_fits(row, refusal->kernel_text) &&
		    (!row->applies || row->applies(refusal)))
			return row;
	}
	return &unexplained;
}

/* ---- writing the line ---- */

struct writer {
	struct complaint *line;
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *writer, const char *format,
						      ...)
{
	size_t room = sizeof(writer->line->text) - writer->used;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(writer->line->text + writer->used, room, format, arguments);
	va_end(arguments);
	if (length > 0)
		writer->used += (size_t)length < room ? (size_t)length : room - 1;
}

static void put_iface(struct writer *writer, const struct refusal *refusal)
{
	put(writer, "%s", device(refusal)->name);
}

static void put_mode(struct writer *writer, const struct refusal *refusal)
{
	put(writer, "%s", refusal->generic ? "generic" : "native");
}

static void put_mtu(struct writer *writer, const struct refusal *refusal)
{
	put(writer, "%u", device(refusal)->mtu);
}

static void put_master(struct writer *writer, const struct refusal *refusal)
{
	put(writer, "%s", has_master(refusal) ? device(refusal)->master : "MASTER");
}

static void put_lower(struct writer *writer, const struct refusal *refusal)
{
	put(writer, "%s", device(refusal)->lower);
}

static void put_rx(struct writer *writer, const struct refusal *refusal)
{
	put(writer, "%u", device(refusal)->rx_queues);
}

/* Drivers want one queue for XDP beside each one in use: half of what the card has. */
static void put_half(struct writer *writer, const struct refusal *refusal)
{
	unsigned int queues = device(refusal)->rx_queues;

	put(writer, "%u", queues > 1 ? queues / 2 : 1);
}

static void put_memory(struct writer *writer, const struct refusal *refusal)
{
	char text[UNITS_TEXT_SIZE];

	format_bytes(refusal->memory_estimate, text, sizeof(text));
	put(writer, "%s", text);
}

static void put_map(struct writer *writer, const struct refusal *refusal)
{
	put(writer, "%s", refusal->map_name ? refusal->map_name : "(unnamed)");
}

static void put_missing(struct writer *writer, const struct refusal *refusal)
{
	uint64_t lacks = missing(refusal);
	const char *comma = "";
	size_t i;

	for (i = 0; i < COUNT(capabilities); i++) {
		if (!(lacks & NEEDS(capabilities[i].capability)))
			continue;
		put(writer, "%s%s", comma, capabilities[i].name);
		comma = ", ";
	}
}

static void put_error(struct writer *writer, const struct refusal *refusal)
{
	put(writer, "%s", strerror(positive_errno(refusal)));
}

static const struct {
	const char *name;
	void (*put)(struct writer *writer, const struct refusal *refusal);
} fields[] = {
	{"{iface}", put_iface},	  {"{mode}", put_mode},	  {"{mtu}", put_mtu},
	{"{master}", put_master}, {"{rx}", put_rx},	  {"{half}", put_half},
	{"{memory}", put_memory}, {"{map}", put_map},	  {"{missing}", put_missing},
	{"{error}", put_error},	  {"{lower}", put_lower},
};

static size_t put_field(struct writer *writer, const char *name, const struct refusal *refusal)
{
	size_t i;

	for (i = 0; i < COUNT(fields); i++) {
		if (strncmp(name, fields[i].name, strlen(fields[i].name)))
			continue;
		fields[i].put(writer, refusal);
		return strlen(fields[i].name);
	}
	put(writer, "{");
	return 1;
}

static void put_sentence(struct writer *writer, const char *sentence, const struct refusal *refusal)
{
	size_t plain;

	while (*sentence) {
		plain = strcspn(sentence, "{");
		put(writer, "%.*s", (int)plain, sentence);
		sentence += plain;
		if (*sentence)
			sentence += put_field(writer, sentence, refusal);
	}
}

/* One line, whatever a driver wrote. */
static void put_quote(struct writer *writer, const char *text)
{
	char quote[QUOTE_MAX + 1];
	size_t length = strlen(text);
	size_t kept = length < QUOTE_MAX ? length : QUOTE_MAX;
	size_t i;

	for (i = 0; i < kept; i++)
		quote[i] = (char)(iscntrl((unsigned char)text[i]) ? ' ' : text[i]);
	quote[kept] = '\0';
	put(writer, "; the kernel says \"%s%s\"", quote, kept < length ? "..." : "");
}

/* " (BPF_LINK_CREATE: EINVAL; the kernel says "...")": enough for a search or a report. */
static void put_evidence(struct writer *writer, const struct refusal *refusal)
{
	int err = positive_errno(refusal);
	const char *name = strerrorname_np(err);

	if (!err) /* refused by us, before the kernel was asked */
		return;
	put(writer, " (%s: ", steps[refusal->step].call);
	if (name)
		put(writer, "%s", name);
	else
		put(writer, "error %d", err);
	if (refusal->kernel_text && *refusal->kernel_text)
		put_quote(writer, refusal->kernel_text);
	put(writer, ")");
}

static const char mtu_advice[] =
	"; its MTU of {mtu} may be too large too: lower it, or use a driver with multi-buffer XDP";

/* O-058: few drivers say that it was the MTU, so it is named beside any other reason of theirs. */
static bool mtu_is_suspect(const struct explanation *row, const struct refusal *refusal)
{
	return row->native && is_jumbo(refusal) && !strstr(row->reason, "{mtu}");
}

enum exit_status explain_refusal(const struct refusal *refusal, struct complaint *line)
{
	const struct explanation *row = explanation_of(refusal);
	struct writer writer = {.line = line};

	put(&writer, "cannot ");
	put_sentence(&writer, steps[refusal->step].attempt, refusal);
	put(&writer, ": ");
	put_sentence(&writer, row->reason, refusal);
	put_evidence(&writer, refusal);
	put(&writer, "; ");
	put_sentence(&writer, row->advice, refusal);
	if (mtu_is_suspect(row, refusal))
		put_sentence(&writer, mtu_advice, refusal);
	return row->status;
}

bool refusal_allows_generic(const struct refusal *refusal)
{
	return explanation_of(refusal)->native;
}
