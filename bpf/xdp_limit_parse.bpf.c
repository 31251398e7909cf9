// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* For tests only: the parser alone, and what it found where user space can read it. */
#include "frame_facts.h"
#include "parsed.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct parsed);
	__uint(max_entries, 1);
} parsed SEC(".maps");

SEC("xdp.frags")
int xdp_limit_parse(struct xdp_md *ctx)
{
	struct packet packet = {};
	enum reason reason = parse(ctx, &packet);
	__u32 index = 0;
	struct parsed *to = bpf_map_lookup_elem(&parsed, &index);

	if (!to)
		return XDP_ABORTED;
	to->packet = packet;
	to->reason = reason;
	to->linear = READ_ONCE(ctx->data_end) - READ_ONCE(ctx->data);
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
