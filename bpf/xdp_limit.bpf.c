// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The program that is attached: the pipeline on the boot clock. */
#include "pipeline.h"

INLINE __u64 clock_source(void)
{
	return bpf_ktime_get_boot_ns();
}

SEC("xdp.frags")
int xdp_limit(struct xdp_md *ctx)
{
	return entry(ctx, false);
}

/* The same on a flat table. One of the two is loaded: what neither needs, the verifier need not walk. */
SEC("xdp.frags")
int xdp_limit_flat(struct xdp_md *ctx)
{
	return entry(ctx, true);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
