/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text that goes into formats which must be UTF-8. */
#ifndef XDP_LIMIT_UTF8_H
#define XDP_LIMIT_UTF8_H

#include <stddef.h>

/** utf8_length - bytes of the well-formed character at @text (RFC 3629), or 0: none begins there. */
size_t utf8_length(const char *text);

/** utf8_clean - what is not UTF-8 becomes question marks. */
void utf8_clean(char *text);

#endif
