/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The programs of an object. One of them is loaded: what it doesn't need, the verifier need not walk. */
#ifndef XDP_LIMIT_PROGRAMS_H
#define XDP_LIMIT_PROGRAMS_H

#include "pipeline.h"

SEC("xdp.frags")
int xdp_limit(struct xdp_md *ctx)
{
	return entry(ctx, false);
}

/* The same on a flat table. */
SEC("xdp.frags")
int xdp_limit_flat(struct xdp_md *ctx)
{
	return entry(ctx, true);
}

/* And both as members of a dispatcher of libxdp. */
SEC("xdp.frags")
int xdp_limit_chain(struct xdp_md *ctx)
{
	return member_entry(ctx, false);
}

SEC("xdp.frags")
int xdp_limit_chain_flat(struct xdp_md *ctx)
{
	return member_entry(ctx, true);
}

#endif
