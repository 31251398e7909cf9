/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keeps a program attached to something, so that running it costs no more than its packets. */
#ifndef BENCH_HOLD_H
#define BENCH_HOLD_H

/**
 * hold_program - attach @program to a new interface of a network namespace that only this process has;
 * the result is to be closed, which ends both. The kernel has a table of the XDP programs in use, and
 * changes it around each BPF_PROG_TEST_RUN of one that is not there yet: that waits for all CPUs, for
 * tens of milliseconds.
 */
int hold_program(int program);

#endif
