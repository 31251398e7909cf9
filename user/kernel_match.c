// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Puts compiled matches into the maps of a program that no packet meets yet. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include "kernel_object.h"

/* The arrays, and where their contents stand in struct match_tables. */
static const struct {
	const char *map;
	enum match_field field;
	size_t offset;
	uint32_t values;
} arrays[] = {
#define ARRAY(map, field, member, values)                                 \
	{                                                                 \
		map, field, offsetof(struct match_tables, member), values \
	}
	ARRAY("match_protocol", MATCH_PROTOCOL, protocol, PROTOCOL_VALUES),
	ARRAY("match_flags", MATCH_TCP_FLAGS, flags, FLAGS_VALUES),
	ARRAY("match_vlan", MATCH_VLAN, vlan, VLAN_VALUES),
	ARRAY("match_sport", MATCH_SOURCE_PORT, source_port, PORT_VALUES),
	ARRAY("match_dport", MATCH_DESTINATION_PORT, destination_port, PORT_VALUES),
	ARRAY("match_length", MATCH_LENGTH, length, LENGTH_VALUES),
#undef ARRAY
};

#define ARRAY_COUNT (sizeof(arrays) / sizeof(arrays[0]))
#define PREFIX_MAP  "match_dest"

static unsigned int count_prefixes(const struct policy *policy)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < policy->limit_count; i++)
		count += policy->limits[i].match.destinations.count;
	return count;
}

int object_size_match(struct bpf_object *object, const struct policy *policy,
		      const struct config *config)
{
	unsigned int prefixes = count_prefixes(policy);
	int err = 0;

	for (size_t i = 0; i < ARRAY_COUNT && !err; i++)
		if (!(config->match_fields & arrays[i].field))
			err = bpf_map__set_max_entries(
				bpf_object__find_map_by_name(object, arrays[i].map), 1);
	if (!err && prefixes)
		err = bpf_map__set_max_entries(bpf_object__find_map_by_name(object, PREFIX_MAP),
					       prefixes);
	return err;
}

static int fill_array(int map, const uint32_t *values, uint32_t count)
{
	uint32_t *keys = malloc(count * sizeof(*keys));
	int err = 0;

	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		keys[i] = i;
	if (bpf_map_update_batch(map, keys, values, &count, NULL))
		err = -errno;
	free(keys);
	return err;
}

static int fill_prefixes(int map, const struct match_tables *tables)
{
	for (unsigned int i = 0; i < tables->prefix_count; i++)
		if (bpf_map_update_elem(map, &tables->prefixes[i].key, &tables->prefixes[i].limits,
					BPF_ANY))
			return -errno;
	return 0;
}

int object_fill_match(struct bpf_object *object, const struct policy *policy,
		      const struct config *config)
{
	struct match_tables *tables;
	int err = 0;

	if (!config->match_fields)
		return 0;
	tables = malloc(sizeof(*tables));
	if (!tables)
		return -ENOMEM;
	compile_match(policy, config, tables);
	for (size_t i = 0; i < ARRAY_COUNT && !err; i++)
		if (config->match_fields & arrays[i].field)
			err = fill_array(
				bpf_object__find_map_fd_by_name(object, arrays[i].map),
				(const uint32_t *)((const char *)tables + arrays[i].offset),
				arrays[i].values);
	if (!err)
		err = fill_prefixes(bpf_object__find_map_fd_by_name(object, PREFIX_MAP), tables);
	free(tables);
	return err;
}
