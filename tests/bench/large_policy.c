// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Policies as long as operators have them, around the sources that the generators draw. */
#include "large_policy.h"

#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "bench_object.h"
#include "random.h"

#define DRAWN	      1000
#define TIERS	      3
#define TIER_PREFIXES 10000
#define ALLOWED	      1000
#define DENIED	      100000

#define TABLE "table: {type: lru, sources: 1048576, new-sources: unlimited}\n"

static bool taken_24[1 << 24];

/* As text has them: the first byte is the highest. */
static uint32_t host_order(uint32_t address)
{
	return __builtin_bswap32(address);
}

static void take_drawn(void)
{
	memset(taken_24, 0, sizeof(taken_24));
	for (uint32_t i = 0; i < DRAWN; i++)
		taken_24[host_order(bench_address(i)) >> 8] = true;
}

/* An ordinary host's address, of a /24 that nothing else is in. */
static uint32_t other(uint64_t *seed)
{
	uint32_t address;

	do
		address = (uint32_t)(random_next(seed) >> 32);
	while (taken_24[address >> 8] || address >> 24 == 0 || address >> 24 >= 224);
	taken_24[address >> 8] = true;
	return address;
}

static void print_address(FILE *out, uint32_t address, const char *after)
{
	fprintf(out, "%u.%u.%u.%u%s", address >> 24, address >> 16 & 255, address >> 8 & 255,
		address & 255, after);
}

static void print_others(FILE *out, unsigned int count, uint64_t *seed, bool prefixes)
{
	for (unsigned int i = 0; i < count; i++)
		print_address(out, prefixes ? other(seed) & ~255U : other(seed),
			      prefixes ? "/24, " : ", ");
}

static void print_list(FILE *out, const char *name, unsigned int count, uint64_t *seed)
{
	fprintf(out, "%s: [", name);
	print_others(out, count, seed, false);
	fprintf(out, "]\n");
}

static void print_tiers(FILE *out, uint64_t *seed)
{
	fprintf(out, "tiers:\n");
	for (int tier = 0; tier < TIERS; tier++) {
		fprintf(out, "  - {name: tier-%d, sources: [", tier);
		print_others(out, TIER_PREFIXES / TIERS + (tier == 0), seed, true);
		fprintf(out, "]}\n");
	}
}

/* All of them are met by the frames, and all of them are used up. */
static void print_limits(FILE *out, bool tiers)
{
	const char *rates = tiers ? ", tiers: {tier-0: 10/s, tier-1: 100/s, tier-2: 1000/s}" : "";

	fprintf(out,
		"limits:\n"
		"  - {name: default, rate: 1/h, burst: 1%s}\n"
		"  - {name: bytes, rate: 8 bit/s, burst: 64 B}\n"
		"  - {name: udp, match: {protocol: udp}, rate: 2/h, burst: 1}\n"
		"  - {name: ports, match: {protocol: udp, destination-port: 1024-65535}, rate: 3/h, "
		"burst: 1}\n",
		rates);
}

static FILE *start(char **text, size_t *size)
{
	FILE *out = open_memstream(text, size);

	if (!out)
		err(1, "no memory");
	take_drawn();
	fprintf(out, TABLE);
	return out;
}

static char *finish(FILE *out, char **text)
{
	if (fclose(out))
		err(1, "no memory");
	return *text;
}

char *large_policy(void)
{
	uint64_t seed = 1;
	char *text = NULL;
	size_t size;
	FILE *out = start(&text, &size);

	print_list(out, "allow", ALLOWED, &seed);
	print_list(out, "deny", DENIED, &seed);
	print_tiers(out, &seed);
	print_limits(out, true);
	return finish(out, &text);
}

char *stacked_policy(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = start(&text, &size);

	print_limits(out, false);
	return finish(out, &text);
}

char *denying_policy(void)
{
	uint64_t seed = 1;
	char *text = NULL, address[16];
	size_t size;
	FILE *out = start(&text, &size);

	fprintf(out, "deny: [");
	for (uint32_t i = 0; i < DRAWN; i++) {
		bench_address_text(i, address);
		fprintf(out, "%s, ", address);
	}
	print_others(out, DENIED - DRAWN, &seed, false);
	fprintf(out, "]\nlimits: [{name: default, rate: 1/h, burst: 1}]\n");
	return finish(out, &text);
}
