/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel's own frame tells, where config.skb_facts says that it can be asked: since Linux 6.2. */
#ifndef XDP_LIMIT_FRAME_FACTS_H
#define XDP_LIMIT_FRAME_FACTS_H

#include "frame.h"

/*
 * The kernel's own structures, as far as they are read; offsets come from the running kernel.
 * Both functions are there since Linux 6.2 (fd264ca02094, a35b9af4ec2c).
 */
struct xdp_buff___kernel {
	void *data_hard_start;
	__u32 frame_sz;
	__u32 flags;
} __attribute__((preserve_access_index));

struct skb_shared_info___kernel {
	unsigned short gso_size;
	unsigned short gso_segs;
} __attribute__((preserve_access_index));

extern void *bpf_cast_to_kern_ctx(void *ctx) __ksym __weak;
extern void *bpf_rdonly_cast(const void *object, __u32 btf_id) __ksym __weak;

#define XDP_BUFF_HAS_FRAGS (1U << 0)
/* skb_shared_info stands at the end of the buffer, aligned to a cache line. */
#define ALIGNED_SIZE(type) ((bpf_core_type_size(type) + 63U) & ~63U)

INLINE bool frame_has_frags(struct xdp_md *ctx)
{
	if (config.skb_facts) {
		struct xdp_buff___kernel *buff = bpf_cast_to_kern_ctx(ctx);

		return buff->flags & XDP_BUFF_HAS_FRAGS;
	}
	return config.may_have_frags;
}

/*
 * Generic mode sees frames after GRO, and before TSO on a veth: one frame may stand for dozens of
 * packets of the wire. Native mode never does, and does not initialise skb_shared_info.
 */
INLINE __u32 frame_segments(struct xdp_md *ctx, const struct packet *packet)
{
	struct skb_shared_info___kernel *shared;
	struct xdp_buff___kernel *buff;
	__u32 segments;

	if (!config.generic)
		return 1;
	if (!config.skb_facts)
		return guess_segments(packet);
	buff = bpf_cast_to_kern_ctx(ctx);
	shared = bpf_rdonly_cast(buff->data_hard_start + buff->frame_sz -
					 ALIGNED_SIZE(struct skb_shared_info___kernel),
				 bpf_core_type_id_kernel(struct skb_shared_info___kernel));
	segments = shared->gso_segs;
	/* An untrusted guest leaves the count to the kernel: made of the segment size then. */
	if (!segments && shared->gso_size && packet->length > packet->headers)
		segments = (packet->length - packet->headers + shared->gso_size - 1) /
			   shared->gso_size;
	return segments ?: 1;
}

#endif
