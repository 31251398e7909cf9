/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The only exit: a reason becomes an action, and everything is counted. */
#ifndef XDP_LIMIT_VERDICT_H
#define XDP_LIMIT_VERDICT_H

#include "limits.h"
#include "records.h"
#include "tally.h"
#include "tell.h"

INLINE void add_count(struct count *count, const struct increment *by)
{
	count->packets += by->packets;
	count->bytes += by->bytes;
}

INLINE void count_reason(struct reason_count *count, const struct increment *by, bool would_drop)
{
	if (by->dropped)
		add_count(&count->dropped, by);
	else if (would_drop)
		add_count(&count->would_drop, by);
	else
		add_count(&count->passed, by);
}

/* A limit that is alone; chosen.h counts for several. */
INLINE void count_alone(struct cpu_counters *mine, const struct judgement *judgement, __u64 now_ns,
			const struct increment *by, bool would_drop, bool flat)
{
	const volatile struct limit *limit = &config.limits[0];
	struct limit_count *count = &mine->limits[limit->id % MAX_LIMITS];

	add_local(&count->tally, by);
	if (would_drop)
		count->would_drop_packets += by->packets;
	if (!flat)
		count_tally(&judgement->key, group_born(judgement->group),
			    group_tally(judgement->group, limit->slot), limit->slot, by);
	else if (by->dropped || would_drop)
		record_loss(mine, &judgement->key, limit->id, now_ns, by);
}

INLINE int verdict(struct xdp_md *ctx, enum reason reason, struct packet *packet,
		   const struct judgement *judgement, const struct clock *clock, bool flat)
{
	bool drop = config.actions[reason] == XDP_DROP;
	struct increment by = {
		.packets = packet->segments,
		.bytes = packet->length,
		.dropped = drop && !config.dry_run,
	};
	bool would_drop = drop && config.dry_run;
	__u32 index = 0;
	struct cpu_counters *mine = bpf_map_lookup_elem(&counters, &index);

	if (mine) {
		count_reason(&mine->reasons[reason], &by, would_drop || judgement->observed);
		if (config.alone && judgement->group)
			count_alone(mine, judgement, clock->ns, &by, would_drop, flat);
	}
	if (is_worth_telling(reason, drop))
		tell(ctx, packet, reason, clock->ns);
	return by.dropped ? XDP_DROP : XDP_PASS;
}

#endif
