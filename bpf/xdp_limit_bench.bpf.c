// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* For measuring only: the real pipeline and its yardsticks, behind a generator of sources. */
#include "bench.h"
#include "boot_clock.h"
#include "frame_facts.h"
#include "pipeline.h"

/*
 * Where each CPU's next source comes from, on a cache line of its own, and where `send` sends to. Set by
 * user space between batches. The word is made one packet ahead, so that its arithmetic is not on a
 * packet's way.
 */
struct bench_variables variables __attribute__((aligned(64)));

/* touch: one line of it is read for each packet. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* else its lines would be no cache lines */
	__type(key, __u32);
	__type(value, struct bench_line);
	__uint(max_entries, BENCH_LINES);
} lines SEC(".maps");

/* 16 bits of a one's complement sum. */
INLINE __u32 folded(__u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/*
 * The 8 bytes from 22 on: what stands before IPv4's source, and it; or the first 8 of IPv6's source,
 * of which 4 are the same for all. The same code for both families and all programs.
 */
INLINE bool draw(struct xdp_md *ctx, __u64 *drawn)
{
	struct generator *generator =
		&variables.generators[bpf_get_smp_processor_id() % BENCH_CPUS];
	__u8 *data = (__u8 *)(long)ctx->data, *data_end = (__u8 *)(long)ctx->data_end;
	__u64 state = generator->state * generator->multiplier + generator->increment;

	if (data + BENCH_DRAWN_AT + sizeof(*drawn) > data_end)
		return false;
	*drawn = generator->word;
	/* One store: the parser could not be handed the parts of several. */
	*(__u64 *)(data + BENCH_DRAWN_AT) = *drawn;
	generator->state = state;
	generator->word = bench_word(generator, state);
	return true;
}

/* The first program is the one that the loader takes for the limiter. */
SEC("xdp.frags")
int bench_limiter(struct xdp_md *ctx)
{
	__u64 drawn;

	return draw(ctx, &drawn) ? entry(ctx, config.flat) : XDP_ABORTED;
}

/* Everything of @packet counts as used: the compiler must not leave out what nobody reads here. */
#define USED(packet) asm volatile("" : : "r"(packet) : "memory")

INLINE int parse_and_read_clock(struct xdp_md *ctx, struct packet *packet)
{
	struct clock clock = {};
	enum reason reason = parse(ctx, packet);

	USED(packet);
	return reason == REASON_NONE && clock_ns(&clock) ? XDP_DROP : XDP_PASS;
}

SEC("xdp")
int bench_floor(struct xdp_md *ctx)
{
	struct packet packet = {};
	__u64 drawn;

	return draw(ctx, &drawn) ? parse_and_read_clock(ctx, &packet) : XDP_ABORTED;
}

/* What `floor` costs without the generator: the difference is the generator. */
SEC("xdp")
int bench_still(struct xdp_md *ctx)
{
	struct packet packet = {};

	return parse_and_read_clock(ctx, &packet);
}

/* Any table's bound: the source's hash leads to one line of memory. */
SEC("xdp")
int bench_touch(struct xdp_md *ctx)
{
	struct packet packet = {};
	struct bench_line *line;
	__u64 drawn;
	__u32 index;
	int action;

	if (!draw(ctx, &drawn))
		return XDP_ABORTED;
	action = parse_and_read_clock(ctx, &packet);
	index = mix(mix(config.seed, packet.source[0]), packet.source[1]) % BENCH_LINES;
	line = bpf_map_lookup_elem(&lines, &index);
	/* The lines are all zero, which only the load can tell. */
	return line && !READ_ONCE(line->word) ? action : XDP_ABORTED;
}

/* ---- the limiter cut off early: where its time goes, for a table of type lru ---- */

/* The source's entry, found and read. */
SEC("xdp")
int bench_lookup(struct xdp_md *ctx)
{
	struct bucket_key key __attribute__((aligned(8)));
	struct packet packet = {};
	__u64 drawn, *group;
	int action;

	if (!draw(ctx, &drawn))
		return XDP_ABORTED;
	action = parse_and_read_clock(ctx, &packet);
	kind_key(&packet, &config.kinds[0], &key);
	group = bpf_map_lookup_elem(&buckets, &key);
	return group && READ_ONCE(*group) ? action : XDP_ABORTED;
}

/* Everything but counting. */
SEC("xdp")
int bench_judge(struct xdp_md *ctx)
{
	struct judgement judgement = {};
	struct packet packet = {};
	struct clock clock = {};
	enum reason reason;
	__u64 drawn;

	if (!draw(ctx, &drawn))
		return XDP_ABORTED;
	reason = judge(ctx, &packet, &clock, &judgement, config.flat);
	USED(&judgement);
	return config.actions[reason];
}

/* Everything but counting by source. */
SEC("xdp")
int bench_reasons(struct xdp_md *ctx)
{
	struct judgement judgement = {};
	struct packet packet = {};
	struct clock clock = {};
	enum reason reason;
	__u64 drawn;

	if (!draw(ctx, &drawn))
		return XDP_ABORTED;
	reason = judge(ctx, &packet, &clock, &judgement, config.flat);
	judgement.group = NULL;
	return verdict(ctx, reason, &packet, &judgement, &clock, config.flat);
}

/* The kernel's own stack checks IPv4's checksum: right again for the source that was drawn. */
SEC("xdp")
int bench_send(struct xdp_md *ctx)
{
	__u8 *data, *data_end;
	__u64 drawn;
	__u32 sum;

	if (!draw(ctx, &drawn))
		return XDP_ABORTED;
	data = (__u8 *)(long)ctx->data;
	data_end = (__u8 *)(long)ctx->data_end;
	if (data + BENCH_DRAWN_AT + sizeof(drawn) > data_end)
		return XDP_ABORTED;
	/* The template's checksum is that of the source 0.0.0.0. Of IPv6 these bytes are address. */
	if (data[12] == 0x08) {
		sum = (drawn >> 16 & 0xffff) ^ 0xffff;
		sum += (drawn >> 32 & 0xffff) + (drawn >> 48);
		*(__u16 *)(data + BENCH_DRAWN_AT + 2) = ~folded(sum);
	}
	return bpf_redirect(variables.send_to, 0);
}

/* The other end of `send`: how much of an end-to-end number is not the limiter. */
SEC("xdp")
int bench_discard(struct xdp_md *ctx __attribute__((unused)))
{
	return XDP_DROP;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
