/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A position in the frame's bytes: the one way that parsers reach them. */
#ifndef XDP_LIMIT_CURSOR_H
#define XDP_LIMIT_CURSOR_H

#include "common.h"

/*
 * Every parser has the signature
 *	enum reason parse_X(struct cursor *cursor, struct packet *packet)
 * (with more where one needs more)
 * and returns REASON_NONE to go on. @left is what the headers so far claim to be there; the
 * frame's own end is checked apart from it, so neither can reach past the other.
 */
struct cursor {
	void *position;
	void *end;
	void *start;
	__u32 left;
};

/** The next @size bytes (a constant) as a header, or NULL when the frame or its claim ends. */
INLINE void *pull(struct cursor *cursor, __u32 size)
{
	void *header = cursor->position;

	if (header + size > cursor->end || size > cursor->left)
		return NULL;
	cursor->position = header + size;
	cursor->left -= size;
	return header;
}

/** Skip @size bytes of options: false when they reach past the claim. */
INLINE bool skip(struct cursor *cursor, __u32 size)
{
	if (size > cursor->left)
		return false;
	cursor->position += size;
	cursor->left -= size;
	return true;
}

/** A cursor at @offset of the frame; its pointers are fresh loads, of which nothing is known yet. */
INLINE void place(struct cursor *cursor, struct xdp_md *ctx, __u64 offset)
{
	cursor->start = (void *)(long)READ_ONCE(ctx->data);
	cursor->end = (void *)(long)READ_ONCE(ctx->data_end);
	cursor->position = cursor->start + offset;
}

/*
 * Forget how the position was reached: the difference of two packet pointers is an unknown number
 * to the verifier, so the ways that lead here (tags, sessions, options) are walked on once, not
 * each on its own. @mask is a bound, all ones, that no real offset passes.
 */
INLINE void merge_ways(struct cursor *cursor, struct xdp_md *ctx, __u64 mask)
{
	void *position = cursor->position;

	asm volatile("" : "+r"(position));
	place(cursor, ctx, (position - cursor->start) & mask);
}

#endif
