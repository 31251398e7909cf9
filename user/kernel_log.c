// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Catches what libbpf passes on of the kernel's words, so that one message can quote them. */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>
#include "kernel.h"
#include "kernel_dispatcher.h"
#include "kernel_log.h"
#include "report.h"

#define EXTACK "Kernel error message: "

static char sentence[256];

static void keep(const char *text)
{
	snprintf(sentence, sizeof(sentence), "%s", text);
	sentence[strcspn(sentence, "\n")] = '\0';
}

/* The verifier's verdict is the last line before the statistics. */
static void keep_verifier_line(const char *log)
{
	const char *statistics = strstr(log, "\nprocessed ");
	const char *start = statistics;
	char line[sizeof(sentence)];

	if (!statistics)
		return;
	while (start > log && start[-1] != '\n')
		start--;
	snprintf(line, sizeof(line), "%.*s", (int)(statistics - start), start);
	keep(line);
}

static int catch (enum libbpf_print_level level, const char *format, va_list arguments)
{
	static char message[65536];
	const char *extack;

	vsnprintf(message, sizeof(message), format, arguments);
	extack = strstr(message, EXTACK);
	if (extack)
		keep(extack + strlen(EXTACK));
	else if (level == LIBBPF_WARN)
		keep_verifier_line(message);
	if (level != LIBBPF_DEBUG)
		report_detail("%.*s", (int)strcspn(message, "\n"), message);
	return 0;
}

void kernel_log_keep(const char *format, va_list arguments)
{
	char text[sizeof(sentence)];

	vsnprintf(text, sizeof(text), format, arguments);
	report_detail("%.*s", (int)strcspn(text, "\n"), text);
	if (!sentence[0])
		keep(text);
}

void kernel_log_start(void)
{
	dispatcher_log_start();
	libbpf_set_print(catch);
}

void kernel_log_clear(void)
{
	sentence[0] = '\0';
}

const char *kernel_log_text(void)
{
	return sentence[0] ? sentence : NULL;
}
