// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Captures, byte for byte as draft-ietf-opsawg-pcapng has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "pcapng.h"

static char *file;
static size_t size;

static uint32_t word(size_t at)
{
	uint32_t value;

	assert_true(at + 4 <= size);
	memcpy(&value, file + at, sizeof(value));
	return value;
}

static uint32_t half(size_t at)
{
	return word(at) & 0xffff;
}

/* Where block @index begins; each says its length twice. */
static size_t block(unsigned int index)
{
	size_t at = 0;

	while (index--)
		at += word(at + 4);
	assert_int_equal(word(at + 4) % 4, 0);
	assert_int_equal(word(at + word(at + 4) - 4), word(at + 4));
	return at;
}

static FILE *start(void)
{
	FILE *out = open_memstream(&file, &size);

	assert_non_null(out);
	assert_int_equal(pcapng_start(out, "eth0", 256), 0);
	return out;
}

static void headers(void **state)
{
	FILE *out = start();
	size_t at;

	(void)state;
	fclose(out);
	assert_int_equal(word(0), 0x0a0d0d0a);
	assert_int_equal(word(8), 0x1a2b3c4d);
	assert_int_equal(word(12), 1); /* version 1.0 */
	assert_int_equal(word(16), 0xffffffff);
	assert_int_equal(word(20), 0xffffffff);
	at = block(1);
	assert_int_equal(word(at), 1);
	assert_int_equal(word(at + 8), 1); /* Ethernet */
	assert_int_equal(word(at + 12), 256);
	assert_int_equal(half(at + 16), 2);
	assert_int_equal(half(at + 18), 4);
	assert_memory_equal(file + at + 20, "eth0", 4);
	assert_int_equal(half(at + 24), 9);
	assert_int_equal(half(at + 26), 1);
	assert_int_equal(file[at + 28], 9); /* 10^-9 s */
	assert_int_equal(word(at + 32), 0);
	assert_int_equal(at + word(at + 4), size);
	free(file);
}

/* Each length of padding. */
static void packets(void **state)
{
	static const uint8_t bytes[] = "0123456789abcdef";
	FILE *out = start();

	(void)state;
	for (uint32_t length = 0; length < 8; length++) {
		const struct pcapng_packet packet = {0x123456789abcdef0, bytes, length, 1500,
						     "over_limit"};

		assert_int_equal(pcapng_add(out, &packet), 0);
	}
	fclose(out);
	for (uint32_t length = 0; length < 8; length++) {
		size_t at = block(2 + length), options = at + 28 + (length + 3) / 4 * 4;

		assert_int_equal(word(at), 6);
		assert_int_equal(word(at + 8), 0);
		assert_int_equal(word(at + 12), 0x12345678);
		assert_int_equal(word(at + 16), 0x9abcdef0);
		assert_int_equal(word(at + 20), length);
		assert_int_equal(word(at + 24), 1500);
		assert_memory_equal(file + at + 28, bytes, length);
		assert_int_equal(half(options), 1);
		assert_int_equal(half(options + 2), 10);
		assert_memory_equal(file + options + 4, "over_limit\0\0", 12);
		assert_int_equal(word(options + 16), 0);
	}
	free(file);
}

static void without_comment(void **state)
{
	const struct pcapng_packet packet = {1, (const uint8_t *)"abc", 3, 3, NULL};
	FILE *out = start();
	size_t at;

	(void)state;
	assert_int_equal(pcapng_add(out, &packet), 0);
	fclose(out);
	at = block(2);
	assert_int_equal(word(at + 4), 28 + 4 + 4);
	free(file);
}

static void full_disk(void **state)
{
	const struct pcapng_packet packet = {1, (const uint8_t *)"abc", 3, 3, NULL};
	FILE *out = fopen("/dev/full", "w");
	int err = 0;

	(void)state;
	assert_non_null(out);
	/* The buffer takes some. */
	for (int i = 0; i < 10000 && !err; i++)
		err = pcapng_add(out, &packet);
	assert_int_equal(err, -28); /* ENOSPC */
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers),
		cmocka_unit_test(packets),
		cmocka_unit_test(without_comment),
		cmocka_unit_test(full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
