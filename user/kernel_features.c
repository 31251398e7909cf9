// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the running kernel can do, asked one by one. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "kernel.h"

#ifndef BPF_F_XDP_HAS_FRAGS
#define BPF_F_XDP_HAS_FRAGS (1U << 5)
#endif

/* XDP_PASS and nothing else. */
static int load_trivial(uint32_t flags)
{
	const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .prog_flags = flags);
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "probe", "GPL", code,
			       sizeof(code) / sizeof(code[0]), &options);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static bool has_kernel_function(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

int kernel_features(struct kernel_features *features)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int err = load_trivial(0);

	*features = (struct kernel_features){0};
	if (!err) {
		features->btf = btf != NULL;
		features->xdp_frags = !load_trivial(BPF_F_XDP_HAS_FRAGS);
		features->skb_facts = btf && has_kernel_function(btf, "bpf_cast_to_kern_ctx") &&
				      has_kernel_function(btf, "bpf_rdonly_cast");
		features->possible_cpus = libbpf_num_possible_cpus();
	}
	btf__free(btf);
	return err;
}

const char *kernel_libbpf_version(void)
{
	return libbpf_version_string();
}

unsigned int kernel_release(void)
{
	unsigned int major = 0, minor = 0, patch = 0;
	struct utsname name;

	if (uname(&name) || sscanf(name.release, "%u.%u.%u", &major, &minor, &patch) < 2)
		return 0;
	return major << 16 | minor << 8 | (patch > 255 ? 255 : patch);
}
