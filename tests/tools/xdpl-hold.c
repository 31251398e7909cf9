// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Stands for another owner of an interface's XDP hook: attaches a program and sleeps until killed. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <getopt.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct wish {
	unsigned int ifindex;
	bool netlink;
	bool generic;
	const char *program; /* pinned; NULL for one that passes everything */
	const char *pin;     /* where to pin the link */
	const char *instead; /* a pin to remove once the program is open: the link in its place */
	const char *ready;
};

static const struct option options[] = {
	{"link", no_argument, NULL, 'k'},	 {"netlink", no_argument, NULL, 'n'},
	{"generic", no_argument, NULL, 'g'},	 {"program", required_argument, NULL, 'p'},
	{"pin", required_argument, NULL, 'l'},	 {"instead", required_argument, NULL, 'i'},
	{"ready", required_argument, NULL, 'r'}, {NULL, 0, NULL, 0},
};

static int fail(const char *what)
{
	fprintf(stderr, "xdpl-hold: %s: %s\n", what, strerror(errno));
	return -1;
}

static int load_foreign(void)
{
	const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_XDP, "foreign", "GPL", code,
			     sizeof(code) / sizeof(code[0]), NULL);
}

/* A link whose pin was removed leaves the hook only after a grace period of the kernel. */
static int await_free_hook(const struct wish *wish)
{
	const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
	LIBBPF_OPTS(bpf_xdp_query_opts, query);

	for (int i = 0; i < 1000; i++) {
		if (bpf_xdp_query(wish->ifindex, 0, &query))
			return fail("bpf_xdp_query");
		if (!query.prog_id && !query.drv_prog_id && !query.skb_prog_id)
			return 0;
		nanosleep(&pause, NULL);
	}
	errno = ETIMEDOUT;
	return fail("hook");
}

static int attach_link(const struct wish *wish, int program, __u32 flags)
{
	LIBBPF_OPTS(bpf_link_create_opts, link_options, .flags = flags);
	int link = bpf_link_create(program, wish->ifindex, BPF_XDP, &link_options);

	if (link < 0)
		return fail("bpf_link_create");
	if (wish->pin && bpf_obj_pin(link, wish->pin))
		return fail(wish->pin);
	return 0;
}

static int attach(const struct wish *wish)
{
	__u32 flags = wish->generic ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE;
	int program = wish->program ? bpf_obj_get(wish->program) : load_foreign();

	if (program < 0)
		return fail("no program");
	if (wish->instead && unlink(wish->instead))
		return fail(wish->instead);
	if (wish->instead && await_free_hook(wish))
		return -1;
	if (!wish->netlink)
		return attach_link(wish, program, flags);
	return bpf_xdp_attach(wish->ifindex, program, flags, NULL) ? fail("bpf_xdp_attach") : 0;
}

static int read_options(int argc, char **argv, struct wish *wish)
{
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'k':
			wish->netlink = false;
			break;
		case 'n':
			wish->netlink = true;
			break;
		case 'g':
			wish->generic = true;
			break;
		case 'p':
			wish->program = optarg;
			break;
		case 'l':
			wish->pin = optarg;
			break;
		case 'i':
			wish->instead = optarg;
			break;
		case 'r':
			wish->ready = optarg;
			break;
		default:
			return -1;
		}
	}
	wish->ifindex = optind + 1 == argc ? if_nametoindex(argv[optind]) : 0;
	return wish->ifindex ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct wish wish = {0};
	FILE *ready;

	if (read_options(argc, argv, &wish)) {
		fputs("usage: xdpl-hold [--link | --netlink] [--generic] [--program PIN] [--pin PATH] "
		      "[--instead PIN] [--ready FILE] IFACE\n",
		      stderr);
		return 2;
	}
	if (attach(&wish))
		return 1;
	ready = wish.ready ? fopen(wish.ready, "we") : NULL;
	if (ready)
		fclose(ready);
	for (;;)
		pause();
}
