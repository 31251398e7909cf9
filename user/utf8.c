// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Text that goes into formats which must be UTF-8. */
#include "utf8.h"

#include <stdint.h>

/* What may follow a first byte: the second byte's range excludes what could be written shorter,
 * surrogates, and what lies beyond U+10FFFF. */
static const struct lead {
	uint8_t first, last; /* first byte */
	uint8_t low, high;   /* second byte */
	uint8_t length;
} leads[] = {
	{0x01, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
	{0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
	{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

static const struct lead *lead_of(uint8_t byte)
{
	for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++)
		if (byte >= leads[i].first && byte <= leads[i].last)
			return &leads[i];
	return NULL;
}

size_t utf8_length(const char *text)
{
	const uint8_t *at = (const uint8_t *)text;
	const struct lead *lead = lead_of(at[0]);

	if (!lead)
		return 0;
	if (lead->length > 1 && (at[1] < lead->low || at[1] > lead->high))
		return 0;
	for (size_t i = 2; i < lead->length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return lead->length;
}

void utf8_clean(char *text)
{
	while (*text) {
		size_t length = utf8_length(text);

		if (!length)
			*text = '?';
		text += length ? length : 1;
	}
}
