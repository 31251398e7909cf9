// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One sentence of refusal. */
#include "complaint.h"

#include <stdbool.h>
#include <stdio.h>

/* Control characters of ASCII, and the second set of them, which UTF-8 writes as c2 80 to c2 9f. */
static bool is_control(const unsigned char *at)
{
	return at[0] < 0x20 || at[0] == 0x7f || (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0);
}

/* Refusals quote what others wrote; it must not steer the terminal that it is shown on. */
static void defuse(char *text)
{
	for (char *at = text; *at; at++) {
		if (!is_control((const unsigned char *)at))
			continue;
		if (*at == '\xc2')
			*at++ = '?';
		*at = '?';
	}
}

int complain_list(struct complaint *why, int err, const char *format, va_list arguments)
{
	vsnprintf(why->text, sizeof(why->text), format, arguments);
	defuse(why->text);
	return err;
}

int complain(struct complaint *why, int err, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	complain_list(why, err, format, arguments);
	va_end(arguments);
	return err;
}
