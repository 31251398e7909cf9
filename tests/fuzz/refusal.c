// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What every parser of hostile text owes: a refusal that can be shown on a terminal. */
#include <errno.h>
#include <string.h>
#include "fuzz.h"

/* Control characters of ASCII, and the second set of them, which UTF-8 writes as c2 80 to c2 9f. */
static int is_control(const unsigned char *at)
{
	return at[0] < 0x20 || at[0] == 0x7f || (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0);
}

void must_be_sentence(const char *text)
{
	must(*text, "no sentence");
	for (const char *at = text; *at; at++)
		must(!is_control((const unsigned char *)at), "byte %#x in: %s", (unsigned char)*at,
		     text);
}

void must_be_refusal(int err, const struct complaint *why)
{
	must(err == -EINVAL || err == -ERANGE, "%d", err);
	must(memchr(why->text, '\0', sizeof(why->text)), "it does not end");
	must_be_sentence(why->text);
}

char *text_of(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	must(text, "memory");
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}
