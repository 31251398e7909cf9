/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The pins of one limiter, put in place at once; for kernel_*.c only. */
#ifndef XDP_LIMIT_KERNEL_PIN_SET_H
#define XDP_LIMIT_KERNEL_PIN_SET_H

/* What a limiter keeps alive by its pins; the link apart, since it may not be there yet. */
struct pin_set {
	int program;
	const int *maps; /* MAP_COUNT of them */
};

/** pin_set_prepare - all of @set under new names, beside what is pinned: 0 or -errno. */
int pin_set_prepare(unsigned int ifindex, const struct pin_set *set);

/** pin_set_keep_former - what a trial may go back to; NULL: nothing any more. 0 or -errno. */
int pin_set_keep_former(unsigned int ifindex, const struct pin_set *set);

/**
 * pin_set_finish - @link too, and all new names become the real ones: 0 or -errno. -1: of a member of a
 * dispatcher, whose link libxdp pins.
 */
int pin_set_finish(unsigned int ifindex, int link);

/** pin_set_link - @link alone, of a limiter whose maps are not known; new names go: 0 or -errno. */
int pin_set_link(unsigned int ifindex, int link);

/** pin_set_drop_strangers - what another version pinned and this one has no name for: 0 or -errno. */
int pin_set_drop_strangers(unsigned int ifindex);

#endif
