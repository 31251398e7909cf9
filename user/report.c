// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The one way to speak to the operator on stderr. */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>

static int verbose;

static void say(const char *kind, const char *format, va_list arguments)
{
	fprintf(stderr, "xdp-limit: %s", kind);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
}

#define REPORTER(name, kind, condition)       \
	void name(const char *format, ...)    \
	{                                     \
		va_list arguments;            \
                                              \
		if (!(condition))             \
			return;               \
		va_start(arguments, format);  \
		say(kind, format, arguments); \
		va_end(arguments);            \
	}

REPORTER(report_error, "", 1)
REPORTER(report_warning, "warning: ", 1)
REPORTER(report_note, "", 1)
REPORTER(report_detail, "", verbose)

void report_finding(const char *file, unsigned int line, unsigned int column, const char *text)
{
	fprintf(stderr, "%s:%u:%u: %s\n", file, line, column, text);
}

void report_set_verbose(int level)
{
	verbose = level;
}
