// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Removes the pins of interfaces that are gone, which nobody can name any more. */
#include "sweep.h"

#include "kernel.h"
#include "lock.h"

struct sweeping {
	bool (*outlived)(unsigned int ifindex);
};

/* Looked at again under the lock: the index may be somebody else's by now. */
static int sweep(unsigned int ifindex, void *context)
{
	const struct sweeping *sweeping = context;
	struct complaint why;

	if (!sweeping->outlived(ifindex) || lock_interface(ifindex, "", 0, &why))
		return 0;
	if (sweeping->outlived(ifindex))
		pins_remove(ifindex);
	lock_release();
	return 0;
}

void sweep_gone(void)
{
	struct sweeping here = {pins_outlived}, elsewhere = {pins_link_outlived};

	pins_visit(sweep, &here);
	pins_visit_others(sweep, &elsewhere);
}
