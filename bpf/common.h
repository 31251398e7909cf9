/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every stage needs: helpers of libbpf, byte order, and how shared words are touched. */
#ifndef XDP_LIMIT_COMMON_H
#define XDP_LIMIT_COMMON_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "abi.h"
#include "algorithm.h"

#define INLINE static __always_inline

/* One load, not repeated by the compiler: another CPU may change the word at any moment. */
#define READ_ONCE(x) (*(const volatile typeof(x) *)&(x))

#define CAS(word, old, new) __sync_val_compare_and_swap(word, old, new)
#define FETCH_ADD(word, n)  __sync_fetch_and_add(word, n)

#define EEXIST 17

/* The compiled policy. The map behind it is frozen: the verifier removes what it switches off. */
const volatile struct config config SEC(".rodata.config") = {};

/* 0, but the verifier doesn't know: what was a constant is any number again. Never written. */
volatile __u32 unknown_zero;

/* The position of the lowest bit of a set that is not empty, without a helper or a loop. */
INLINE __u32 lowest(__u32 set)
{
	static const volatile __u8 positions[32] = {0,	1,  28, 2,  29, 14, 24, 3,  30, 22, 20,
						    15, 25, 17, 4,  8,	31, 27, 13, 23, 21, 19,
						    16, 7,  26, 12, 18, 6,  11, 5,  10, 9};

	return positions[((set & -set) * 0x077cb531U) >> 27];
}

#endif
