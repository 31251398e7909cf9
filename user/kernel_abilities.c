// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Everything that the program and its loader ask of a kernel, probed one by one. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <unistd.h>
#include "kernel.h"

#ifndef BPF_F_XDP_HAS_FRAGS
#define BPF_F_XDP_HAS_FRAGS (1U << 5)
#endif

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LINK_TYPE    "bpf_xdp_link" /* the kernel's structure */

/* All probes: 1 there, 0 not there, -errno when the kernel did not let us ask. */
typedef int (*probe)(int id);

static int probe_program(int type)
{
	return libbpf_probe_bpf_prog_type(type, NULL);
}

static int probe_map(int type)
{
	return libbpf_probe_bpf_map_type(type, NULL);
}

static int probe_helper(int helper)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_XDP, helper, NULL);
}

/* A file descriptor or -errno. */
static int load(const struct bpf_insn *code, size_t count, uint32_t flags)
{
	LIBBPF_OPTS(bpf_prog_load_opts, options, .prog_flags = flags);
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "probe", "GPL", code, count, &options);

	return fd < 0 ? -errno : fd;
}

static int loads(const struct bpf_insn *code, size_t count, uint32_t flags)
{
	int fd = load(code, count, flags);

	if (fd < 0)
		return fd == -EPERM ? fd : 0;
	close(fd);
	return 1;
}

static const struct bpf_insn pass[] = {
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
	{.code = BPF_JMP | BPF_EXIT},
};

/* *(u64 *)(r10 - 8) = 0; r0 = 0; compare it with r0 and exchange for r0; return XDP_PASS */
static const struct bpf_insn compare_and_swap[] = {
	{.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .off = -8},
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
	{.code = BPF_STX | BPF_ATOMIC | BPF_DW,
	 .dst_reg = BPF_REG_10,
	 .src_reg = BPF_REG_0,
	 .off = -8,
	 .imm = BPF_CMPXCHG},
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
	{.code = BPF_JMP | BPF_EXIT},
};

static int probe_atomics(int id)
{
	(void)id;
	return loads(compare_and_swap, COUNT(compare_and_swap), 0);
}

static int probe_flag(int flag)
{
	return loads(pass, COUNT(pass), flag);
}

/* Not the sysctl: another network namespace hides it. */
static int probe_jit(int id)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	int fd = load(pass, COUNT(pass), 0);
	int err;

	(void)id;
	if (fd < 0)
		return fd;
	err = bpf_obj_get_info_by_fd(fd, &info, &size) ? -errno : 0;
	close(fd);
	return err ?: info.jited_prog_len > 0;
}

/* Commands that know nothing of file descriptor -1 say so; those that don't exist, EINVAL. */
static int probe_bind(int id)
{
	(void)id;
	return bpf_prog_bind_map(-1, -1, NULL) && errno == EBADF;
}

static int probe_freeze(int id)
{
	(void)id;
	return bpf_map_freeze(-1) && errno == EBADF;
}

static int probe_batch(int id)
{
	int map = bpf_map_create(BPF_MAP_TYPE_LRU_HASH, "probe", 4, 4, 1, NULL);
	uint32_t keys[1], values[1], position, count = 1;
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	int err;

	(void)id;
	if (map < 0)
		return errno == EPERM ? -EPERM : 0;
	err = bpf_map_lookup_batch(map, NULL, &position, keys, values, &count, &options) ? errno
											 : 0;
	close(map);
	return !err || err == ENOENT; /* it is empty */
}

static int probe_types(int id)
{
	struct btf *btf = btf__load_vmlinux_btf();

	(void)id;
	btf__free(btf);
	return btf != NULL;
}

/* Attaching for a trial would touch an interface: the kernel's types know it too. */
static int probe_link(int id)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int found = btf ? btf__find_by_name_kind(btf, LINK_TYPE, BTF_KIND_STRUCT) > 0
			: kernel_release() >= 0x050900;

	(void)id;
	btf__free(btf);
	return found;
}

static int probe_skb_facts(int id)
{
	struct kernel_features features;
	int err = kernel_features(&features);

	(void)id;
	return err ?: features.skb_facts;
}

/*
 * Behind each row the commit of Linux that brought it. What is not asked for apart came no later than
 * something that is: pointers as arguments of global functions, as atomics, with 5.12; updating an
 * XDP link with links.
 */
// clang-format off
static const struct {
	struct kernel_ability ability;
	probe probe;
	int id;
} rows[ABILITY_COUNT] = {
	/* 6a773a15a1e8 */
	[ABILITY_XDP]         = {{"xdp programs", "4.8"}, probe_program, BPF_PROG_TYPE_XDP},
	/* net.core.bpf_jit_enable */
	[ABILITY_JIT]         = {{"jit", NULL}, probe_jit, 0},
	/* 341dfcf8d78e; CONFIG_DEBUG_INFO_BTF */
	[ABILITY_TYPES]       = {{"btf", "5.4"}, probe_types, 0},
	/* 0f8e4bd8a1fc */
	[ABILITY_HASH]        = {{"hash", "3.19"}, probe_map, BPF_MAP_TYPE_HASH},
	/* 29ba732acbee */
	[ABILITY_LRU]         = {{"lru_hash", "4.10"}, probe_map, BPF_MAP_TYPE_LRU_HASH},
	/* 28fbcfa08d8e */
	[ABILITY_ARRAY]       = {{"array", "3.19"}, probe_map, BPF_MAP_TYPE_ARRAY},
	/* a10423b87a7e */
	[ABILITY_PERCPU]      = {{"percpu_array", "4.6"}, probe_map, BPF_MAP_TYPE_PERCPU_ARRAY},
	/* b95a5c4db09b: prefixes of lists and tiers */
	[ABILITY_TRIE]        = {{"lpm_trie", "4.11"}, probe_map, BPF_MAP_TYPE_LPM_TRIE},
	/* 04fd61ab36ec: trials */
	[ABILITY_PROGRAMS]    = {{"prog_array", "4.2"}, probe_map, BPF_MAP_TYPE_PROG_ARRAY},
	/* 56f668dfe00d: live lists, rings of readers */
	[ABILITY_MAPS]        = {{"array_of_maps", "4.12"}, probe_map, BPF_MAP_TYPE_ARRAY_OF_MAPS},
	/* 457f44363a88: events */
	[ABILITY_RING]        = {{"ringbuf", "5.8"}, probe_map, BPF_MAP_TYPE_RINGBUF},
	/* 87df15de441b: the policy as read-only data */
	[ABILITY_FREEZE]      = {{"frozen maps", "5.2"}, probe_freeze, 0},
	/* 6a773a15a1e8: for XDP */
	[ABILITY_LOOKUP]      = {{"map_lookup_elem", "4.8"}, probe_helper, BPF_FUNC_map_lookup_elem},
	/* 6a773a15a1e8: for XDP */
	[ABILITY_UPDATE]      = {{"map_update_elem", "4.8"}, probe_helper, BPF_FUNC_map_update_elem},
	/* 71d19214776e */
	[ABILITY_BOOT_CLOCK]  = {{"ktime_get_boot_ns", "5.8"}, probe_helper, BPF_FUNC_ktime_get_boot_ns},
	/* 6a773a15a1e8: for XDP */
	[ABILITY_TAIL_CALL]   = {{"tail_call", "4.8"}, probe_helper, BPF_FUNC_tail_call},
	/* 457f44363a88 */
	[ABILITY_TELL]        = {{"ringbuf_output", "5.8"}, probe_helper, BPF_FUNC_ringbuf_output},
	/* 5ffa25502b5a */
	[ABILITY_ATOMICS]     = {{"atomic exchange", "5.12"}, probe_atomics, 0},
	/* cb4d03ab499d */
	[ABILITY_BATCH]       = {{"batch reads", "5.6"}, probe_batch, 0},
	/* ef15314aa5de */
	[ABILITY_BIND]        = {{"bind map", "5.10"}, probe_bind, 0},
	/* aa8d3a716b59 */
	[ABILITY_LINK]        = {{"xdp link", "5.9"}, probe_link, 0},
	/* c2f2cdbeffda */
	[ABILITY_FRAGS]       = {{"xdp.frags", "5.18"}, probe_flag, BPF_F_XDP_HAS_FRAGS},
	/* 0165cc817075 */
	[ABILITY_BUFF_LENGTH] = {{"xdp_get_buff_len", "5.18"}, probe_helper, BPF_FUNC_xdp_get_buff_len},
	/* 3f364222d032: samples of what is dropped */
	[ABILITY_LOAD_BYTES]  = {{"xdp_load_bytes", "5.18"}, probe_helper, BPF_FUNC_xdp_load_bytes},
	/* fd264ca02094 and a35b9af4ec2c */
	[ABILITY_SKB_FACTS]   = {{"frame facts", "6.2"}, probe_skb_facts, 0},
	/* 4a1e7c0c63e0 */
	[ABILITY_EXTEND]      = {{"extending programs", "5.10"}, probe_program, BPF_PROG_TYPE_EXT},
};
// clang-format on

const struct kernel_ability *kernel_ability(enum ability_id id)
{
	return &rows[id].ability;
}

void kernel_abilities(int there[ABILITY_COUNT])
{
	/* libbpf's probes take a refusal for an absence, so rights are asked for first. */
	int err = loads(pass, COUNT(pass), 0);

	for (int i = 0; i < ABILITY_COUNT; i++)
		there[i] = err < 0 ? err : rows[i].probe(rows[i].id);
}
