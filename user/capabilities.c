// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which capabilities this process has. */
#include "capabilities.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t effective_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (syscall(SYS_capget, &header, data))
		return 0;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

bool may_make_maps(void)
{
	return effective_capabilities() & (1ULL << CAP_BPF | 1ULL << CAP_SYS_ADMIN);
}

const char *root_hint(int err)
{
	return (err == -EPERM || err == -EACCES) && geteuid() ? "; run it as root" : "";
}
