// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Gives an opened object its maps and loads it: the same for the program and for its test twin. */
#include "kernel_object.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include "compile_flat.h"
#include "kernel_live_set.h"
#include "memory.h"
#include "xdp_limit.skel.h"
#include "xdp_limit_plain.skel.h"

#ifndef BPF_F_XDP_HAS_FRAGS
#define BPF_F_XDP_HAS_FRAGS (1U << 5)
#endif

struct bpf_object *object_open(bool frame_facts, struct config **config)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "xdp_limit");
	size_t size;
	const void *elf = frame_facts ? xdp_limit__elf_bytes(&size)
				      : xdp_limit_plain__elf_bytes(&size);
	struct bpf_object *object = bpf_object__open_mem(elf, size, &options);
	struct bpf_map *map = object ? bpf_object__find_map_by_name(object, ".rodata.config")
				     : NULL;

	/* Writable, as newer versions of libbpf declare it. */
	if (map)
		*config = (struct config *)bpf_map__initial_value(map, &size);
	return object;
}

/*
 * The object's map has the smallest group as its value. Giving it another size would lose the
 * types, so a map of the right group is made here, with the object's own types.
 */
static int create_buckets(struct bpf_object *object, const struct table_identity *table)
{
	bool used = table->type == TABLE_LRU;
	uint32_t words = used ? table->words : 1;
	const struct btf *types = bpf_object__btf(object);
	LIBBPF_OPTS(bpf_map_create_opts, options);
	char group[16];
	uint32_t size;
	const void *raw = btf__raw_data(types, &size);
	struct btf *copy = raw ? btf__new(raw, size) : NULL;
	int fd;

	if (libbpf_get_error(copy) || !copy)
		return -ENOMEM;
	snprintf(group, sizeof(group), "group_%u", words);
	if (!btf__load_into_kernel(copy)) {
		options.btf_fd = btf__fd(copy);
		options.btf_key_type_id = btf__find_by_name_kind(copy, "bucket_key",
								 BTF_KIND_STRUCT);
		options.btf_value_type_id = btf__find_by_name_kind(copy, group, BTF_KIND_STRUCT);
	}
	fd = bpf_map_create(BPF_MAP_TYPE_LRU_HASH, map_names[MAP_BUCKETS],
			    sizeof(struct bucket_key), GROUP_SIZE(words),
			    used ? table->capacity : 1, &options);
	if (fd < 0)
		fd = -errno;
	btf__free(copy);
	return fd;
}

static struct bpf_map *map_of(struct bpf_object *object, int id)
{
	return bpf_object__find_map_by_name(object, map_names[id]);
}

/*
 * Shared where they are as large as this policy needs. Where they aren't, they are empty: no limit banned
 * so far, or none bans any more and nobody serves a ban. Then they are made anew.
 */
static int share_penalties(struct bpf_object *object, const struct config *config,
			   const int maps[MAP_COUNT])
{
	struct bpf_map_info info = {0};
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(maps[MAP_PENALTIES], &info, &size))
		return -errno;
	if (info.max_entries != penalty_entries(config))
		return 0;
	return bpf_map__reuse_fd(map_of(object, MAP_PENALTIES), maps[MAP_PENALTIES])
		       ?: bpf_map__reuse_fd(map_of(object, MAP_PENALTY_BITS),
					    maps[MAP_PENALTY_BITS]);
}

int object_share_table(struct bpf_object *object, const struct config *config,
		       const int maps[MAP_COUNT])
{
	int err = share_penalties(object, config, maps);

	for (int i = 0; i < MAP_OF_PROGRAM && !err; i++)
		if (!map_is_own(i) && i != MAP_LIVE_SET && i != MAP_PENALTIES &&
		    i != MAP_PENALTY_BITS)
			err = bpf_map__reuse_fd(map_of(object, i), maps[i]);
	return err;
}

int object_share_own(struct bpf_object *object, const int maps[MAP_COUNT])
{
	int err = 0;

	for (int i = 0; i < MAP_OF_PROGRAM && !err; i++)
		if (map_is_own(i))
			err = bpf_map__reuse_fd(map_of(object, i), maps[i]);
	return err;
}

int object_share_lists(struct bpf_object *object, const struct config *config,
		       const int maps[MAP_COUNT])
{
	static const int lists[] = {
		MAP_GUARDS,	     MAP_LIVE_EXACT,	   MAP_LIVE_PREFIX,
		MAP_LIVE_EXACT_BITS, MAP_LIVE_PREFIX_BITS,
	};
	int err = share_penalties(object, config, maps);

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) && !err; i++)
		err = bpf_map__reuse_fd(map_of(object, lists[i]), maps[lists[i]]);
	return err;
}

/* A CPU's id may be as high as the last possible one's. */
static uint32_t loss_lines(void)
{
	int cpus = libbpf_num_possible_cpus();

	return (uint32_t)(cpus > 0 ? cpus : 1) << LOSS_BITS;
}

/* Sizes of what stands beside a flat table; what an LRU table has no use for keeps its single entry. */
static int size_flat(struct bpf_object *object, const struct table_identity *table)
{
	if (table->type != TABLE_FLAT)
		return 0;
	return bpf_map__set_max_entries(map_of(object, MAP_FLAT), table->words * table->blocks)
		       ?: bpf_map__set_max_entries(map_of(object, MAP_LIMITED),
						   limited_entries(table))
		       ?: bpf_map__set_max_entries(map_of(object, MAP_LOSSES), loss_lines());
}

int object_fresh_maps(struct bpf_object *object, const struct table_identity *table)
{
	int fd = create_buckets(object, table);
	int err;

	if (fd < 0)
		return fd;
	err = bpf_map__reuse_fd(map_of(object, MAP_BUCKETS), fd);
	close(fd);
	if (!err && table->logs)
		err = bpf_map__set_max_entries(map_of(object, MAP_LOG_SLOTS), log_entries(table));
	return err ?: size_flat(object, table);
}

/* Maps that some of the programs never touch: they live and are found with each of them all the same. */
static int bind_maps(int program, const int maps[MAP_COUNT])
{
	static const int untouched[] = {MAP_TABLE,     MAP_LEDGER,  MAP_BASELINE,  MAP_PREVIOUS,
					MAP_DURATIONS, MAP_BUCKETS, MAP_LOG_SLOTS, MAP_TALLY_CACHE,
					MAP_FLAT,      MAP_LIMITED, MAP_LOSSES};

	for (size_t i = 0; i < sizeof(untouched) / sizeof(untouched[0]); i++)
		if (bpf_prog_bind_map(program, maps[untouched[i]], NULL))
			return -errno;
	return 0;
}

/* The object for measuring has one for all. */
struct bpf_program *object_choose(struct bpf_object *object, enum table_type type, bool member)
{
	static const char *const names[2][2] = {
		{"xdp_limit", "xdp_limit_flat"},
		{"xdp_limit_chain", "xdp_limit_chain_flat"},
	};
	struct bpf_program *program = bpf_object__find_program_by_name(
		object, names[member][type == TABLE_FLAT]);
	struct bpf_program *other = NULL;

	if (!program)
		return bpf_object__next_program(object, NULL);
	while ((other = bpf_object__next_program(object, other)))
		bpf_program__set_autoload(other, other == program);
	return program;
}

int object_load(struct bpf_object *object, struct bpf_program *program, bool xdp_frags,
		int maps[MAP_COUNT])
{
	int err;

	if (!xdp_frags)
		bpf_program__set_flags(program, bpf_program__flags(program) & ~BPF_F_XDP_HAS_FRAGS);
	err = bpf_object__load(object);
	return err ?: object_ready(object, program, maps);
}

int object_ready(struct bpf_object *object, const struct bpf_program *program, int maps[MAP_COUNT])
{
	int err;

	for (int i = 0; i < MAP_COUNT; i++)
		maps[i] = bpf_map__fd(map_of(object, i));
	maps[MAP_LIVE_SET] = live_set_prepare(maps[MAP_LIVE_EXACT]);
	if (maps[MAP_LIVE_SET] < 0 && maps[MAP_LIVE_SET] != -EEXIST)
		return maps[MAP_LIVE_SET];
	err = bind_maps(bpf_program__fd(program), maps);
	return err ?: bpf_program__fd(program);
}

int object_size(struct bpf_object *object, const struct policy *policy, const struct config *config)
{
	return object_size_match(object, policy, config)
		       ?: object_size_lists(object, policy, config);
}

int object_fill(struct bpf_object *object, const struct policy *policy, const struct config *config)
{
	return object_fill_match(object, policy, config)
		       ?: object_fill_lists(object, policy, config);
}
