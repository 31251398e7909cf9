/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An opened object and its maps; for kernel_*.c and for tests of the program. */
#ifndef XDP_LIMIT_KERNEL_OBJECT_H
#define XDP_LIMIT_KERNEL_OBJECT_H

#include <bpf/libbpf.h>
#include "compile_match.h"
#include "kernel.h"

/**
 * object_open - the object to attach: with @frame_facts (see struct kernel_features) the one that asks for them,
 * else its plain twin. @config: its compiled policy, to be written before it is loaded. NULL and errno.
 */
struct bpf_object *object_open(bool frame_facts, struct config **config);

/** object_share_table - load @object on the table of another program, with its lists: 0 or -errno. */
int object_share_table(struct bpf_object *object, const struct config *config,
		       const int maps[MAP_COUNT]);

/** object_share_own - and on what another program counted and kept for the same interface alone. */
int object_share_own(struct bpf_object *object, const int maps[MAP_COUNT]);

/** object_share_lists - live lists, penalties and guards alone: they outlive their table. */
int object_share_lists(struct bpf_object *object, const struct config *config,
		       const int maps[MAP_COUNT]);

/** object_fresh_maps - a bucket table for @table, typed for bpftool; the rest as declared. */
int object_fresh_maps(struct bpf_object *object, const struct table_identity *table);

/**
 * object_size - before loading: maps of matches, lists and tiers take the size that the policy needs,
 * next to nothing where it has none. 0 or -errno.
 */
int object_size(struct bpf_object *object, const struct policy *policy,
		const struct config *config);

/** object_fill - after loading, before any packet: what these maps hold. 0 or -errno. */
int object_fill(struct bpf_object *object, const struct policy *policy,
		const struct config *config);

/* The parts of both, each in its file. */
int object_size_match(struct bpf_object *object, const struct policy *policy,
		      const struct config *config);
int object_fill_match(struct bpf_object *object, const struct policy *policy,
		      const struct config *config);
int object_size_lists(struct bpf_object *object, const struct policy *policy,
		      const struct config *config);
int object_fill_lists(struct bpf_object *object, const struct policy *policy,
		      const struct config *config);

/**
 * object_ready - the second half of object_load(), for what libxdp has loaded: a member of a dispatcher,
 * which knows by itself whether the kernel has xdp.frags.
 */
int object_ready(struct bpf_object *object, const struct bpf_program *program, int maps[MAP_COUNT]);

/** write_words - @count words of a filter from @first on: 0 or -errno. */
int write_words(int map, const uint64_t *words, uint32_t first, uint32_t count);

/** object_choose - the one program to load: for a table, alone or as @member of a dispatcher. */
struct bpf_program *object_choose(struct bpf_object *object, enum table_type type, bool member);

/**
 * object_load - verify and load what was chosen; @maps gets the file descriptors, which the object owns. Not those of
 * MAP_LIVE_SET, which is the caller's to close, or -EEXIST when the object shares one, and of MAP_TEXT, which
 * it hasn't got. Returns the program's file descriptor, or -errno.
 */
int object_load(struct bpf_object *object, struct bpf_program *program, bool xdp_frags,
		int maps[MAP_COUNT]);

#endif
