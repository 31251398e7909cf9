/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frame as the driver hands it over: its full length and the segments that it was merged of. */
#ifndef XDP_LIMIT_FRAME_H
#define XDP_LIMIT_FRAME_H

#include "packet.h"

/* What only the kernel's own frame tells: frame_facts.h, or frame_no_facts.h where it is silent. */
INLINE bool frame_has_frags(struct xdp_md *ctx);
INLINE __u32 frame_segments(struct xdp_md *ctx, const struct packet *packet);

/*
 * Bytes of the whole frame. The helper costs a call, so it is asked only where there are frags.
 * The pointers are loaded apart from the cursor's: 32-bit arithmetic on those would make them
 * plain numbers to the verifier.
 */
INLINE __u32 frame_length(struct xdp_md *ctx)
{
	if (frame_has_frags(ctx))
		return bpf_xdp_get_buff_len(ctx);
	return READ_ONCE(ctx->data_end) - READ_ONCE(ctx->data);
}

/* Where nobody tells: a frame longer than Ethernet carries was merged of full-sized segments. */
INLINE __u32 guess_segments(const struct packet *packet)
{
	const __u32 full = 1514;

	return packet->length <= full + 4 ? 1 : (packet->length + full - 1) / full;
}

/** A merged frame carries its headers once, the wire carried them once a segment. */
INLINE void count_segments(struct xdp_md *ctx, struct packet *packet)
{
	packet->segments = frame_segments(ctx, packet);
	if (packet->segments > 1)
		packet->length += (packet->segments - 1) * packet->headers;
}

#endif
