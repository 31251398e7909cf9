/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The object for measuring, loaded as the real one is, and its generators of sources. */
#ifndef BENCH_OBJECT_H
#define BENCH_OBJECT_H

#include <stdbool.h>
#include <stdint.h>
#include "bench.h"
#include "frames.h"
#include "kernel.h"
#include "policy.h"

struct xdp_limit_bench;

enum bench_program {
	BENCH_LIMITER, /* the pipeline */
	BENCH_FLOOR,   /* parse, read the clock, drop */
	BENCH_STILL,   /* the same without the generator */
	BENCH_TOUCH,   /* floor, hash, one random line of 16 MB */
	BENCH_LOOKUP,  /* floor and the look-up of the source */
	BENCH_JUDGE,   /* the pipeline without counting */
	BENCH_REASONS, /* the pipeline without counting by source */
	BENCH_SEND,    /* redirect to an interface */
	BENCH_DISCARD, /* drop */
	BENCH_PROGRAMS,
};

struct bench {
	struct xdp_limit_bench *skeleton;
	struct running running;
	struct bench_variables *variables; /* of the program itself */
	int programs[BENCH_PROGRAMS];
	int holds[BENCH_PROGRAMS]; /* or -1 */
};

/**
 * bench_open - load @text, a policy as in a file. False when it asks for a table that is not built into
 * this version; whatever else is refused ends the program with a message.
 */
bool bench_open(struct bench *bench, const char *text);
void bench_close(struct bench *bench);

/** bench_hold - @program will be run: bench_close() lets go of it. */
void bench_hold(struct bench *bench, enum bench_program program);

/** bench_frame - a UDP frame of 64 bytes whose source a generator replaces. */
void bench_frame(struct frame *frame, unsigned int family);

/* From now on packets of @frame come from ... */
/** ... @count sources at random; with @apart each CPU has as many of its own. */
void draw_random(struct bench *bench, const struct frame *frame, uint32_t count, bool apart);
/** ... sources in turn, from the @first on. */
void draw_each(struct bench *bench, const struct frame *frame, uint32_t first);
/** ... sources that were not there before, nor on another CPU. */
void draw_new(struct bench *bench, const struct frame *frame);

/** bench_address_text - the IPv4 source with this index, as text. */
void bench_address_text(uint32_t index, char text[16]);

/** bench_send_to - where BENCH_SEND sends to. */
void bench_send_to(struct bench *bench, unsigned int ifindex);

/**
 * bench_run - @packets packets through one program, on this thread. Returns nanoseconds of a packet as
 * the kernel has them: wall time without what it waits for before and after, rounded down.
 */
uint32_t bench_run(const struct bench *bench, enum bench_program program, const struct frame *frame,
		   uint32_t packets);

#endif
