// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keeps a program attached to something, so that running it costs no more than its packets. */
#include "hold.h"

#include <bpf/libbpf.h>
#include <err.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int open_namespace(void)
{
	int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		err(1, "/proc/thread-self/ns/net");
	return fd;
}

static void enter(int namespace)
{
	if (setns(namespace, CLONE_NEWNET))
		err(1, "cannot change the network namespace");
}

/* It is there while the file is open. */
static int private_namespace(int home)
{
	static int namespace = -1;

	if (namespace >= 0)
		return namespace;
	if (unshare(CLONE_NEWNET))
		err(1, "cannot make a network namespace");
	namespace = open_namespace();
	enter(home);
	return namespace;
}

static int make_interface(unsigned int *ifindex)
{
	struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	int tap = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	memcpy(request.ifr_name, "bench%d", sizeof("bench%d"));
	if (tap < 0 || ioctl(tap, TUNSETIFF, &request))
		err(1, "cannot make an interface");
	*ifindex = if_nametoindex(request.ifr_name);
	return tap;
}

int hold_program(int program)
{
	int home = open_namespace(), interface, failed;
	unsigned int ifindex;

	enter(private_namespace(home));
	interface = make_interface(&ifindex);
	failed = bpf_xdp_attach((int)ifindex, program, XDP_FLAGS_SKB_MODE, NULL);
	if (failed)
		errx(1, "cannot attach: %s", strerror(-failed));
	enter(home);
	close(home);
	return interface;
}
