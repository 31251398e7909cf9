/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rare happenings, counted where they happen: cold, so a look-up each is fine. */
#ifndef XDP_LIMIT_EVENTS_H
#define XDP_LIMIT_EVENTS_H

#include "maps.h"

enum happening {
	EVENT_CREATED,
	EVENT_CREATE_RACED,
	EVENT_INSERT_FAILURE,
	EVENT_UNDO_LOST,
	EVENT_REPAIRED,
};

INLINE void count_event(enum happening event)
{
	__u32 index = 0;
	struct event_count *mine = bpf_map_lookup_elem(&table_events, &index);

	if (!mine)
		return;
	switch (event) {
	case EVENT_CREATED:
		mine->created++;
		break;
	case EVENT_CREATE_RACED:
		mine->create_raced++;
		break;
	case EVENT_INSERT_FAILURE:
		mine->insert_failures++;
		break;
	case EVENT_UNDO_LOST:
		mine->undo_lost++;
		break;
	case EVENT_REPAIRED:
		mine->repaired++;
		break;
	}
}

/* A slot of the flat table got a new owner. */
INLINE void count_claim(bool had_owner, bool in_debt)
{
	__u32 index = 0;
	struct event_count *mine = bpf_map_lookup_elem(&table_events, &index);

	if (!mine)
		return;
	mine->created++;
	mine->evicted += had_owner;
	mine->evicted_live += had_owner && in_debt;
}

/* Dropped packets that no record counts. */
INLINE void count_unrecorded(__u64 packets)
{
	__u32 index = 0;
	struct event_count *mine = bpf_map_lookup_elem(&table_events, &index);

	if (mine)
		mine->unrecorded += packets;
}

#endif
