// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The program that is attached: the pipeline on the boot clock. */
#include "boot_clock.h"
#include "frame_facts.h"
#include "programs.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
