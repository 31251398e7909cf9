/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where a library leaves its sentence, beside the kernel's; for kernel_*.c only. */
#ifndef XDP_LIMIT_KERNEL_LOG_H
#define XDP_LIMIT_KERNEL_LOG_H

#include <stdarg.h>

/** kernel_log_keep - a library's reason, unless there is one already. */
void kernel_log_keep(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

#endif
