// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One sentence of refusal. */
#include "complaint.h"

#include <stdarg.h>
#include <stdio.h>

int complain(struct complaint *why, int err, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why->text, sizeof(why->text), format, arguments);
	va_end(arguments);
	return err;
}
