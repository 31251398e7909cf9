// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the kernel's own statistics say of a running program. */
#include <bpf/bpf.h>
#include <errno.h>
#include "kernel.h"

int statistics_start(void)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

	return fd < 0 ? -errno : fd;
}

int program_run_stats(const struct running *running, uint64_t *run_ns, uint64_t *run_count)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(running->program, &info, &size))
		return -errno;
	*run_ns = info.run_time_ns;
	*run_count = info.run_cnt;
	return 0;
}
