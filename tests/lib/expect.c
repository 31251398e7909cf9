// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Builds the frame of a row and compares all that the limiter says of it. */
#include <string.h>
#include "expect.h"

static const char *const reason_names[] = {
#define REASON_NAME(NAME, name, action, text) [REASON_##NAME] = #name,
	XDP_LIMIT_REASONS(REASON_NAME)
#undef REASON_NAME
};

/* What can be known before and after a frame. */
struct view {
	struct counters counters;
	bool known; /* the source has a bucket */
	struct tally tally;
	uint64_t remaining[MAX_LIMITS];
};

static void cook_link(const struct recipe *recipe, struct frame *frame)
{
	static const struct ethernet_spec plain;

	frame_push_ethernet(frame, recipe->ethernet ?: &plain);
	for (size_t i = 0; i < COUNT(recipe->tags) && recipe->tags[i]; i++)
		frame_vlan(frame, recipe->tags[i], 100 + (int)i);
	if (recipe->pppoe)
		frame_push_pppoe(frame, recipe->pppoe);
	if (recipe->raw)
		frame_bytes(frame, recipe->raw, recipe->raw_size);
}

static void cook_transport(const struct recipe *recipe, struct frame *frame)
{
	if (recipe->udp)
		frame_push_udp(frame, recipe->udp);
	if (recipe->tcp)
		frame_push_tcp(frame, recipe->tcp);
	if (recipe->sctp)
		frame_push_sctp(frame, recipe->sctp);
	if (recipe->icmp)
		frame_push_icmp(frame, recipe->icmp);
	if (recipe->icmpv6)
		frame_push_icmpv6(frame, recipe->icmpv6);
}

static void cook_layers(const struct recipe *recipe, struct frame *frame)
{
	frame_start(frame);
	cook_link(recipe, frame);
	if (recipe->ipv4)
		frame_push_ipv4(frame, recipe->ipv4);
	if (recipe->ipv6)
		frame_push_ipv6(frame, recipe->ipv6);
	cook_transport(recipe, frame);
	if (recipe->body)
		frame_bytes(frame, recipe->body, recipe->body_size);
	frame_payload(frame, recipe->payload);
	frame_finish(frame);
}

void cook(const struct recipe *recipe, struct frame *frame)
{
	if (!recipe->named)
		cook_layers(recipe, frame);
	else if (frame_by_name(frame, recipe->named))
		fail_msg("no frame is called %s", recipe->named);
	frame_pad_to(frame, recipe->pad_to);
	for (size_t i = 0; i < COUNT(recipe->poke); i++)
		if (recipe->poke[i].at)
			frame->bytes[recipe->poke[i].at] = recipe->poke[i].byte;
	if (recipe->cut_to)
		frame_truncate(frame, recipe->cut_to);
}

static void look(const struct limiter *limiter, const char *source, struct view *view)
{
	struct limit_state state;
	struct bucket bucket;

	memset(view, 0, sizeof(*view));
	assert_int_equal(read_counters(&limiter->running, &view->counters), 0);
	if (!source)
		return;
	view->known = has_source(limiter, source);
	if (view->known) {
		source_of(limiter, source, &bucket);
		view->tally = bucket.tally;
	}
	for (unsigned int i = 0; i < limiter->running.config.limit_count; i++) {
		state_of(limiter, source, i, &state);
		view->remaining[i] = state.remaining;
	}
}

static void same(const char *name, const char *what, uint64_t got, uint64_t want)
{
	if (got != want)
		fail_msg("%s: %s: %llu, expected %llu", name, what, (unsigned long long)got,
			 (unsigned long long)want);
}

static uint64_t rise(const struct count *before, const struct count *after, struct count *by)
{
	by->packets = after->packets - before->packets;
	by->bytes = after->bytes - before->bytes;
	return by->packets + by->bytes;
}

/* Sum of all columns; @mine is that of the verdict. */
static uint64_t reason_rise(const struct view *before, const struct view *after, int reason,
			    int verdict, struct count *mine)
{
	const struct reason_count *old = &before->counters.reasons[reason];
	const struct reason_count *new = &after->counters.reasons[reason];
	struct count passed, dropped, would_drop;
	uint64_t any = rise(&old->passed, &new->passed, &passed) +
		       rise(&old->dropped, &new->dropped, &dropped) +
		       rise(&old->would_drop, &new->would_drop, &would_drop);

	*mine = verdict == XDP_PASS ? passed : dropped;
	return any;
}

/* One reason counts the frame, in the column of its verdict; all others stay. */
static void same_reasons(const char *name, const struct view *before, const struct view *after,
			 const struct outcome *want)
{
	struct count mine;
	uint64_t any;

	for (int i = 0; i < REASON_COUNT; i++)
		if (i != (int)want->reason && reason_rise(before, after, i, want->verdict, &mine))
			fail_msg("%s: counted as %s, expected %s", name, reason_names[i],
				 reason_names[want->reason]);
	any = reason_rise(before, after, want->reason, want->verdict, &mine);
	same(name, "packets of the reason", mine.packets, want->packets);
	same(name, "bytes of the reason", mine.bytes, want->bytes);
	same(name, "in any column of the reason", any, mine.packets + mine.bytes);
}

/* What all limits together did, so that a charge to a wrong source shows too. */
static void same_limits(const char *name, const struct limiter *limiter, const struct view *before,
			const struct view *after, const struct outcome *want)
{
	const struct config *config = &limiter->running.config;
	bool charged = want->charged && want->verdict == XDP_PASS;
	bool refused = want->charged && want->verdict == XDP_DROP;
	uint64_t dropped = 0;

	for (unsigned int i = 0; i < config->limit_count; i++) {
		const struct tally *old = &before->counters.limits[config->limits[i].id].tally;
		const struct tally *new = &after->counters.limits[config->limits[i].id].tally;
		uint64_t units = config->limits[i].unit == UNIT_BYTES ? want->bytes : want->packets;

		same(name, "packets passed by a limit", new->passed_packets - old->passed_packets,
		     charged ? want->packets : 0);
		same(name, "bytes passed by a limit", new->passed_bytes - old->passed_bytes,
		     charged ? want->bytes : 0);
		dropped += new->dropped_packets - old->dropped_packets;
		same(name, "units taken from the word", before->remaining[i] - after->remaining[i],
		     charged ? units : 0);
	}
	same(name, "packets dropped by the limits", dropped, refused ? want->packets : 0);
}

static void same_source(const char *name, const struct view *before, const struct view *after,
			const struct outcome *want)
{
	const struct tally *old = &before->tally, *new = &after->tally;
	bool charged = want->charged && want->verdict == XDP_PASS;
	bool refused = want->charged && want->verdict == XDP_DROP;

	same(name, "buckets made", after->counters.events.created - before->counters.events.created,
	     want->charged && !before->known);
	same(name, "packets passed of the source", new->passed_packets - old->passed_packets,
	     charged ? want->packets : 0);
	same(name, "bytes passed of the source", new->passed_bytes - old->passed_bytes,
	     charged ? want->bytes : 0);
	same(name, "packets dropped of the source", new->dropped_packets - old->dropped_packets,
	     refused ? want->packets : 0);
	same(name, "bytes dropped of the source", new->dropped_bytes - old->dropped_bytes,
	     refused ? want->bytes : 0);
}

void expect(struct limiter *limiter, const char *name, const struct frame *frame,
	    const struct outcome *wanted)
{
	struct outcome want = *wanted;
	struct view before, after;
	int verdict;

	want.packets = want.packets ?: 1;
	want.bytes = want.bytes ?: frame->length;
	look(limiter, want.charged, &before);
	verdict = send_frame(limiter, frame);
	look(limiter, want.charged, &after);
	same_reasons(name, &before, &after, &want);
	same(name, "verdict", (uint64_t)verdict, (uint64_t)want.verdict);
	same_source(name, &before, &after, &want);
	same_limits(name, limiter, &before, &after, &want);
}

struct policy roomy_policy(void)
{
	struct policy policy = packet_policy("1000 pps", "1000000");

	/* One byte is 1000 ns: both words count without a remainder. */
	add_byte_limit(&policy, "1 MB/s", "100 MB");
	policy.sources = SOURCES_MIN;
	return policy;
}

void open_limiter(struct limiter *limiter, const struct policy *policy,
		  const struct limiter_facts *facts)
{
	limiter_open(limiter, policy, facts);
	clock_set(limiter, 1000 * NS_PER_SECOND);
}
