// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Removes the pins of interfaces that are gone, which nobody can name any more. */
#include "sweep.h"

#include "kernel.h"
#include "lock.h"

/* Looked at again under the lock: the index may be somebody else's by now. */
static int sweep(unsigned int ifindex, void *context)
{
	struct complaint why;

	(void)context;
	if (!pins_outlived(ifindex) || lock_interface(ifindex, "", 0, &why))
		return 0;
	if (pins_outlived(ifindex))
		pins_remove(ifindex);
	lock_release();
	return 0;
}

void sweep_gone(void)
{
	pins_visit(sweep, NULL);
}
