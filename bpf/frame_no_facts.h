/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the kernel's own frame can't be asked: before Linux 6.2. An object that only names the functions for it
 * makes libbpf look for them in all modules, which takes CAP_SYS_ADMIN.
 */
#ifndef XDP_LIMIT_FRAME_NO_FACTS_H
#define XDP_LIMIT_FRAME_NO_FACTS_H

#include "frame.h"

INLINE bool frame_has_frags(struct xdp_md *ctx)
{
	(void)ctx;
	return config.may_have_frags;
}

INLINE __u32 frame_segments(struct xdp_md *ctx, const struct packet *packet)
{
	(void)ctx;
	return config.generic ? guess_segments(packet) : 1;
}

#endif
