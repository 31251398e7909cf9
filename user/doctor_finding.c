// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes one line of `doctor`: what was found, and advice. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "doctor.h"

void finding_value(struct finding *finding, const char *format, ...)
{
	size_t length = strlen(finding->value);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(finding->value + length, sizeof(finding->value) - length, format, arguments);
	va_end(arguments);
}

void finding_advise(struct finding *finding, enum finding_state state, const char *format, ...)
{
	size_t length = strlen(finding->advice);
	va_list arguments;

	if (finding->state < state)
		finding->state = state;
	if (length)
		length += snprintf(finding->advice + length, sizeof(finding->advice) - length,
				   "; ");
	if (length >= sizeof(finding->advice))
		return;
	va_start(arguments, format);
	vsnprintf(finding->advice + length, sizeof(finding->advice) - length, format, arguments);
	va_end(arguments);
}
