/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The one way to speak to the operator on stderr. Each failure is said once. */
#ifndef XDP_LIMIT_REPORT_H
#define XDP_LIMIT_REPORT_H

/** report_error - "xdp-limit: ...", what was attempted, on what, why, what to try. */
void report_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** report_warning - "xdp-limit: warning: ..." */
void report_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** report_note - "xdp-limit: ...": not an error, worth a line on stderr. */
void report_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** report_detail - only with -v. */
void report_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** report_finding - "FILE:LINE:COLUMN: ...", as editors and compilers understand each other. */
void report_finding(const char *file, unsigned int line, unsigned int column, const char *text);
void report_set_verbose(int level);

#endif
