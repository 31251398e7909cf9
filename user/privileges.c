// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Gives up what a process that goes on for long has no use for. */
#include "privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "capabilities.h"

/* Only as far as it is allowed: without CAP_SETPCAP the set stays, and no_new_privs makes it useless. */
static void shrink_bounds(uint64_t kept)
{
	for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
		if (!(kept >> capability & 1))
			prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

int privileges_keep(uint64_t kept, struct complaint *why)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	kept &= effective_capabilities();
	shrink_bounds(kept);
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		data[i].effective = data[i].permitted = (uint32_t)(kept >> (32 * i));
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) ||
	    syscall(SYS_capset, &header, data))
		return complain(why, -errno, "cannot give up privileges: %s", strerror(errno));
	return 0;
}
