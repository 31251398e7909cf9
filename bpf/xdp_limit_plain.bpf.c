// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The same for kernels whose frames can't be asked. */
#include "boot_clock.h"
#include "frame_no_facts.h"
#include "programs.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
