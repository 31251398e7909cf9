// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From the policy to the numbers of the program: ranges, identities, order, and the way back. */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <linux/bpf.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "bucket.h"
#include "compile.h"
#include "random.h"

__extension__ typedef unsigned __int128 u128;

#define SECOND NS_PER_SECOND
#define MINUTE (60 * SECOND)
#define DAY    (86400 * SECOND)
#define START  (5 * DAY + 12345)
#define ANY    (-1)

static struct policy_limit packets(uint64_t amount, uint64_t per_ns, uint64_t burst)
{
	return (struct policy_limit){
		.name = "default",
		.rate = {LIMIT_METERED, UNIT_PACKETS, amount, per_ns},
		.burst = burst,
	};
}

static struct policy_limit bytes(uint64_t per_second, uint64_t burst)
{
	return (struct policy_limit){
		.name = "bytes",
		.rate = {LIMIT_METERED, UNIT_BYTES, per_second, SECOND},
		.burst = burst,
	};
}

static struct policy_limit word(enum limit_kind kind)
{
	return (struct policy_limit){.name = "word", .rate = {.kind = kind}};
}

static struct policy_limit named(struct policy_limit limit, const char *name)
{
	memset(limit.name, 0, sizeof(limit.name));
	strncpy(limit.name, name, sizeof(limit.name) - 1);
	return limit;
}

static struct limit compiled_at(struct policy_limit limit, int tick)
{
	struct complaint why = {""};
	struct limit result;

	if (compile_limit(&limit, tick, 2, &result, &why))
		fail_msg("refused: %s", why.text);
	return result;
}

static struct limit compiled(struct policy_limit limit)
{
	return compiled_at(limit, ANY);
}

static void refused(struct policy_limit limit, int tick, int err, const char *part)
{
	struct complaint why = {""};
	struct limit result;

	assert_int_equal(compile_limit(&limit, tick, 2, &result, &why), err);
	if (!strstr(why.text, part))
		fail_msg("\"%s\" does not say \"%s\"", why.text, part);
}

/* ---- scale ---- */

static void test_ticks(void **state)
{
	static const struct {
		enum unit unit;
		uint64_t amount, per_ns;
		unsigned int tick;
		uint64_t multiplier;
		bool whole;
	} rows[] = {
		{UNIT_PACKETS, 1, DAY, 0, DAY, true},
		{UNIT_PACKETS, 7, SECOND, 0, 142857143, true},
		{UNIT_PACKETS, 1000, SECOND, 0, 1000000, true},
		{UNIT_PACKETS, 7629, SECOND, 0, 131079, true},
		{UNIT_PACKETS, 7630, SECOND, 1, 262124, true},
		{UNIT_PACKETS, 1000003, SECOND, 7, 128000, true},
		{UNIT_PACKETS, 10000000, SECOND, 7, 12800, true},
		{UNIT_PACKETS, 1000000000, SECOND, 7, 128, true},
		{UNIT_BYTES, 1000, SECOND, 0, 1000000, true},
		{UNIT_BYTES, 125000, SECOND, 5, 256000, true},
		{UNIT_BYTES, 7812500, SECOND, 7, 16384, true},
		{UNIT_BYTES, 1250000000, SECOND, 7, 0, false},
		{UNIT_BYTES, 50000000000, SECOND, 7, 0, false},
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct policy_limit limit = packets(rows[i].amount, rows[i].per_ns, 65536);
		struct limit result;

		limit.rate.unit = rows[i].unit;
		limit.burst = rows[i].amount == 1 ? 5 : 65536;
		result = compiled(limit);
		assert_int_equal(result.tick, rows[i].tick);
		assert_int_equal(result.shift == 0, rows[i].whole);
		if (rows[i].whole)
			assert_int_equal(result.multiplier, rows[i].multiplier);
	}
}

static struct policy_limit random_limit(uint64_t *seed)
{
	struct policy_limit limit;

	if (random_below(seed, 2)) {
		limit = packets(1 + random_magnitude(seed, 24) % 10000000, SECOND,
				random_magnitude(seed, 26));
		if (random_below(seed, 4) == 0) {
			limit.rate.per_ns *= 1 + random_below(seed, 3600);
			limit.burst = 1 + limit.burst % 100000;
		}
	} else {
		limit = bytes(1000 + random_magnitude(seed, 36) % 50000000000,
			      1514 + random_magnitude(seed, 26));
	}
	return limit;
}

/* The promise as an inequality, for 200 000 rates: never cheaper than exact, hardly dearer. */
static void test_error(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		struct policy_limit limit = random_limit(&seed);
		struct limit result = compiled(limit);
		uint64_t units = result.unit == UNIT_BYTES ? 1500 : 1;
		u128 exact = ((u128)limit.rate.per_ns << result.tick) * units;
		u128 cost = (u128)cost_ticks(units, result.multiplier, result.shift) *
			    limit.rate.amount;
		uint64_t promise = result.unit == UNIT_BYTES ? 1000 : 10000;

		assert_true(cost >= exact);
		if ((cost - exact) * promise > exact)
			fail_msg("%llu per %llu ns is off by more than 1/%llu",
				 (unsigned long long)limit.rate.amount,
				 (unsigned long long)limit.rate.per_ns,
				 (unsigned long long)promise);
	}
}

static void test_products(void **state)
{
	uint64_t seed = 2;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		struct policy_limit limit = random_limit(&seed);
		struct limit result = compiled(limit);

		assert_true((u128)result.multiplier * result.max_units < (u128)1 << 63);
		assert_in_range(result.shift, 0, 31);
		assert_in_range(result.burst, 1, GCRA_BURST_MAX);
		assert_int_equal(result.max_units,
				 limit.burst < UNITS_MAX ? limit.burst : UNITS_MAX);
		assert_true(cost_ticks(result.max_units, result.multiplier, result.shift) <=
			    result.burst);
		assert_int_equal(result.share, result.burst / 3);
		assert_int_equal(result.slack, SECOND / 20 << result.tick);
	}
}

/* Rounding a burst up must not leave room for one byte more, at once or after a nanosecond. */
static void test_burst_is_exact(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		struct policy_limit limit = bytes(8000000 +
							  random_magnitude(&seed, 36) % 42000000000,
						  60 + random_below(&seed, UNITS_MAX - 59));
		struct limit result = compiled(limit);
		u128 wait = (u128)1 << result.tick, per = (u128)limit.rate.per_ns << result.tick;

		assert_true(((u128)result.burst << result.shift) / result.multiplier ==
			    limit.burst);
		assert_true((((u128)result.burst + wait) << result.shift) * per <=
			    (limit.burst * per + wait * limit.rate.amount) * result.multiplier);
	}
}

static void test_words(void **state)
{
	struct limit unlimited = compiled(word(LIMIT_UNLIMITED));
	struct limit block = compiled(word(LIMIT_BLOCK));
	struct bucket open = bucket_new(&unlimited, START), shut = bucket_new(&block, START);

	(void)state;
	assert_int_equal(bucket_burst(&open, START, 1000000, 1), 1000000);
	assert_true(bucket_charge(&open, START - DAY, UNITS_MAX));
	assert_int_equal(bucket_burst(&shut, START, 1000, 1), 0);
	assert_int_equal(bucket_burst(&shut, START + DAY, 1000, 1), 0);
}

/* ---- ranges ---- */

static void test_o039(void **state)
{
	static const struct {
		uint64_t rate, burst;
		const char *refusal; /* NULL: must behave */
	} rows[] = {
		{1, 1, NULL},
		{1, 1ULL << 31, "lower the burst to at most 1152921504 packets"},
		{1ULL << 31, 1, "the rate is too fast: at most 1000000000 pps"},
		{1000000000, 1000000000, NULL},
		{0, 1, "write `block` or `unlimited`"},
		{1, 0, "burst"},
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct policy_limit limit = packets(rows[i].rate, SECOND, rows[i].burst);
		uint64_t admitted = 0;
		struct bucket bucket;
		struct limit result;

		if (rows[i].refusal) {
			refused(limit, ANY, -ERANGE, rows[i].refusal);
			continue;
		}
		result = compiled(limit);
		/* Drained, then offered twice the rate for the time of 1000 packets. */
		bucket = bucket_new(&result, START);
		bucket.word += result.burst;
		for (unsigned int n = 1; n <= 1000; n++)
			admitted += bucket_burst(&bucket, START + n * SECOND / rows[i].rate, 2, 1);
		assert_in_range(admitted, 980, 1000);
	}
}

static void test_o042(void **state)
{
	static const uint64_t bursts[] = {1, 5, 100, 10000, 13343};

	(void)state;
	for (unsigned int i = 0; i < sizeof(bursts) / sizeof(bursts[0]); i++) {
		struct limit result = compiled(packets(1, DAY, bursts[i]));
		struct bucket bucket = bucket_new(&result, START);

		assert_int_equal(result.burst, bursts[i] * DAY);
		assert_int_equal(bucket_burst(&bucket, START, bursts[i] + 10, 1), bursts[i]);
	}
	refused(packets(1, DAY, 13344), ANY, -ERANGE, "lower the burst to at most 13343 packets");
	refused(packets(1, DAY, 1ULL << 31), ANY, -ERANGE,
		"lower the burst to at most 13343 packets, or raise the rate");
	compiled(packets(1, MINUTE, 19000000));
	compiled(packets(2, SECOND, 1ULL << 31));
	refused(packets(1, 14000 * DAY, 1), ANY, -ERANGE, "the rate is too slow: at least");
}

static void test_o044(void **state)
{
	(void)state;
	compiled(bytes(25000000000, 6250000000));
	compiled(bytes(125000000000, 65536));
	refused(bytes(INT64_MAX, 65536), ANY, -ERANGE, "the rate is too fast: at most 1000 Gbit/s");
	refused(bytes(UINT64_MAX, 65536), ANY, -ERANGE, "too fast");
	refused(packets(UINT64_MAX, SECOND, 1), ANY, -ERANGE, "too fast");
	refused(packets(1, UINT64_MAX, 1), ANY, -ERANGE, "too slow");
}

static void test_burst_below_a_packet(void **state)
{
	(void)state;
	refused(bytes(1000, 59), ANY, -ERANGE, "60");
	compiled(bytes(1000, 60));
}

static void test_refusal_names_limit(void **state)
{
	(void)state;
	refused(named(packets(1, DAY, 20000), "dns"), ANY, -ERANGE, "limit dns: ");
	refused(named(packets(1, SECOND, 0), "dns"), ANY, -ERANGE, "limit dns: ");
	refused(named(packets(0, SECOND, 1), "dns"), ANY, -ERANGE, "limit dns: ");
}

static void test_kept_tick(void **state)
{
	static const struct {
		struct policy_limit limit;
		int tick, err;
	} rows[] = {
		{{.name = "a", .rate = {LIMIT_METERED, UNIT_PACKETS, 100000, SECOND}, .burst = 100},
		 0,
		 0},
		{{.name = "b", .rate = {LIMIT_METERED, UNIT_PACKETS, 100001, SECOND}, .burst = 100},
		 0,
		 0},
		{{.name = "c", .rate = {LIMIT_METERED, UNIT_PACKETS, 100011, SECOND}, .burst = 100},
		 0,
		 -EDOM},
		{{.name = "d",
		  .rate = {LIMIT_METERED, UNIT_PACKETS, 1000000, SECOND},
		  .burst = 100},
		 0,
		 -EDOM},
		{{.name = "e", .rate = {LIMIT_METERED, UNIT_PACKETS, 1, DAY}, .burst = 100}, 7, 0},
		{{.name = "f", .rate = {LIMIT_METERED, UNIT_PACKETS, 1, DAY}, .burst = 104}, 7, 0},
		{{.name = "g", .rate = {LIMIT_METERED, UNIT_PACKETS, 1, DAY}, .burst = 105},
		 7,
		 -EDOM},
		{{.name = "h",
		  .rate = {LIMIT_METERED, UNIT_PACKETS, 30000000, SECOND},
		  .burst = 100},
		 7,
		 0},
		{{.name = "i",
		  .rate = {LIMIT_METERED, UNIT_BYTES, 50000000000, SECOND},
		  .burst = 65536},
		 7,
		 0},
		{{.name = "j",
		  .rate = {LIMIT_METERED, UNIT_BYTES, 150000000, SECOND},
		  .burst = 65536},
		 0,
		 0},
		{{.name = "k",
		  .rate = {LIMIT_METERED, UNIT_BYTES, 160000000, SECOND},
		  .burst = 65536},
		 0,
		 -EDOM},
		{{.name = "l", .rate = {.kind = LIMIT_UNLIMITED}, .burst = 0}, 3, 0},
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].err)
			refused(rows[i].limit, rows[i].tick, rows[i].err, rows[i].limit.name);
		else
			assert_int_equal(compiled_at(rows[i].limit, rows[i].tick).tick,
					 rows[i].tick);
	}
	/* What no tick can hold is refused for what it is, also under a kept one. */
	refused(packets(1, DAY, 20000), 7, -ERANGE, "at most 13343 packets");
}

static void test_eight_times_faster_keeps(void **state)
{
	(void)state;
	for (uint64_t rate = 1; rate <= 1000000; rate += 1 + rate / 100) {
		struct limit before = compiled(packets(rate, SECOND, 100));

		assert_int_equal(compiled_at(packets(8 * rate, SECOND, 100), before.tick).tick,
				 before.tick);
	}
}

/* ---- tables ---- */

static struct policy policy_of(unsigned int count, const struct policy_limit *limits)
{
	struct policy policy = {
		.sources = 1048576,
		.ipv4_prefix = 32,
		.ipv6_prefix = 64,
		.limit_count = count,
	};

	if (count)
		memcpy(policy.limits, limits, count * sizeof(*limits));
	return policy;
}

static struct table_identity table_of(const struct policy *policy)
{
	struct table_identity table;
	struct complaint why = {""};

	if (table_new(policy, &table, &why))
		fail_msg("%s", why.text);
	return table;
}

static void extended(const struct policy *policy, struct table_identity *table)
{
	struct complaint why = {""};

	if (table_extend(policy, table, &why))
		fail_msg("%s", why.text);
}

static void not_extended(const struct policy *policy, const struct table_identity *table,
			 const char *part)
{
	struct table_identity tried = *table;
	struct complaint why = {""};

	assert_int_equal(table_extend(policy, &tried, &why), -ESTALE);
	assert_memory_equal(&tried, table, sizeof(tried));
	if (!strstr(why.text, part))
		fail_msg("\"%s\" does not say \"%s\"", why.text, part);
}

static void test_table_new(void **state)
{
	static const unsigned int words[] = {1, 1, 2, 4, 4, 8, 8, 8, 8, 16};
	struct policy_limit limits[MAX_LIMITS];
	struct table_identity table;
	struct policy policy;

	(void)state;
	for (unsigned int i = 0; i < MAX_LIMITS; i++) {
		limits[i] = named(packets(1000, SECOND, 100), "l..");
		limits[i].name[1] = (char)('a' + i / 10);
		limits[i].name[2] = (char)('0' + i % 10);
	}
	for (unsigned int count = 0; count <= MAX_LIMITS; count++) {
		policy = policy_of(count, limits);
		table = table_of(&policy);
		assert_int_equal(table.abi, XDP_LIMIT_ABI);
		assert_int_equal(table.capacity, 1048576);
		assert_int_equal(table.ipv4_prefix, 32);
		assert_int_equal(table.ipv6_prefix, 64);
		assert_int_equal(table.words, count < 10 ? words[count] : count > 16 ? 32 : 16);
		for (unsigned int i = 0; i < count; i++) {
			assert_string_equal(table.limits[i].name, limits[i].name);
			assert_int_equal(table.limits[i].slot, i);
			assert_int_equal(table.limits[i].used, 1);
		}
	}
}

static void test_identity_is_kept(void **state)
{
	const struct policy_limit first[] = {packets(1000, SECOND, 100), bytes(125000, 65536)};
	const struct policy_limit second[] = {bytes(250000, 131072), packets(500, SECOND, 50)};
	struct policy before = policy_of(2, first), after = policy_of(2, second);
	struct table_identity table = table_of(&before), same = table;

	(void)state;
	extended(&after, &table);
	assert_memory_equal(&table, &same, sizeof(table));
}

static void test_slot_is_never_given_again(void **state)
{
	const struct policy_limit a = named(packets(1000, SECOND, 100), "a");
	const struct policy_limit b = named(packets(1000, SECOND, 100), "b");
	const struct policy_limit c = named(packets(1000, SECOND, 100), "c");
	const struct policy_limit d = named(packets(1000, SECOND, 100), "d");
	const struct policy_limit abc[] = {a, b, c}, ca[] = {c, a}, cda[] = {c, d, a};
	const struct policy_limit e = named(a, "e"), ade[] = {a, d, e}, de[] = {d, e};
	struct policy policy = policy_of(3, abc);
	struct table_identity table = table_of(&policy);

	(void)state;
	policy = policy_of(2, ca);
	extended(&policy, &table);
	/* There is a word for d but none for e: then d gets none either. */
	policy = policy_of(2, de);
	not_extended(&policy, &table, "limit e");
	policy = policy_of(3, cda);
	extended(&policy, &table);
	assert_string_equal(table.limits[1].name, "b");
	assert_string_equal(table.limits[3].name, "d");
	assert_int_equal(table.limits[3].slot, 3);
	/* b comes back and finds its own; e finds no word left. */
	policy = policy_of(3, abc);
	extended(&policy, &table);
	policy = policy_of(3, ade);
	not_extended(&policy, &table, "limit e");
}

static void test_other_meaning_is_another_limit(void **state)
{
	const struct policy_limit two[] = {packets(1000, SECOND, 100), packets(1, DAY, 5)};
	struct policy policy = policy_of(2, two);
	struct table_identity table;

	(void)state;
	strcpy(policy.limits[1].name, "other");
	table = table_of(&policy);
	table.words = 8;
	policy = policy_of(1, two);
	policy.limits[0].rate.unit = UNIT_BYTES;
	policy.limits[0].burst = 65536;
	extended(&policy, &table);
	assert_int_equal(table.limits[2].used, 1);
	assert_int_equal(table.limits[2].slot, 2);
	policy.limits[0].algorithm = ALGORITHM_LEAKY_BUCKET;
	extended(&policy, &table);
	assert_int_equal(table.limits[3].slot, 3);
}

static void test_other_table(void **state)
{
	const struct policy_limit one[] = {packets(1000, SECOND, 100)};
	struct policy policy = policy_of(1, one), other;
	struct table_identity table = table_of(&policy), old;

	(void)state;
	other = policy, other.sources = 2048, other.sources_given = true;
	not_extended(&other, &table, "size is 1048576, not 2048");
	other = policy, other.ipv4_prefix = 24, other.ipv4_prefix_given = true;
	not_extended(&other, &table, "IPv4 prefix length is 32, not 24");
	other = policy, other.ipv6_prefix = 56, other.ipv6_prefix_given = true;
	not_extended(&other, &table, "IPv6 prefix length is 64, not 56");
	other = policy, other.limits[0].rate.amount = 1000000;
	not_extended(&other, &table, "limit default");
	old = table, old.abi = XDP_LIMIT_ABI + 1;
	not_extended(&policy, &old, "layout version");
}

static void test_table_refuses(void **state)
{
	const struct policy_limit one[] = {packets(1, DAY, 20000)};
	struct policy policy = policy_of(1, one);
	struct table_identity table, before;
	struct complaint why = {""};

	(void)state;
	memset(&table, 0x5a, sizeof(table));
	before = table;
	assert_int_equal(table_new(&policy, &table, &why), -ERANGE);
	assert_memory_equal(&table, &before, sizeof(table));
}

static void test_memory(void **state)
{
	/* What the kernel says of such maps, memlock in /proc/PID/fdinfo, 6.18, without 896 bytes.
	 */
	static const struct {
		uint64_t sources;
		unsigned int words;
		uint64_t memlock;
	} rows[] = {
		{1048576, 1, 142607232},
		{1000000, 1, 136778112},
		{65536, 32, 90178432},
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_in_range(table_memory(rows[i].sources, rows[i].words),
				rows[i].memlock - 1024, rows[i].memlock);
}

/* ---- the program's data ---- */

static const struct compile_facts facts = {
	.possible_cpus = 4, .generic = true, .skb_facts = true, .may_have_frags = false};

static struct config config_of(const struct policy *policy)
{
	struct table_identity table = table_of(policy);
	struct complaint why = {""};
	struct config config;

	if (compile_policy(policy, &table, &facts, &config, &why))
		fail_msg("%s", why.text);
	return config;
}

static void test_config(void **state)
{
	const struct policy_limit limits[] = {packets(1000, SECOND, 100)};
	struct policy policy = policy_of(1, limits);
	struct config config;

	(void)state;
	policy.dry_run = true;
	policy.fragments = FRAGMENTS_DROP;
	policy.limits[0].observe = true;
	config = config_of(&policy);
	assert_true(config.magic == XDP_LIMIT_MAGIC);
	assert_int_equal(config.abi, XDP_LIMIT_ABI);
	assert_int_equal(config.limit_count, 1);
	assert_int_equal(config.words, 1);
	assert_int_equal(config.fanout, 5);
	assert_int_equal(config.generic, 1);
	assert_int_equal(config.skb_facts, 1);
	assert_int_equal(config.may_have_frags, 0);
	assert_int_equal(config.dry_run, 1);
	assert_int_equal(config.fragments, FRAGMENTS_DROP);
	assert_int_equal(config.limits[0].observe, 1);
	assert_int_equal(config.limits[0].share, config.limits[0].burst / 5);
	assert_string_equal(config.labels[0].name, "default");
	assert_int_equal(config.labels[0].amount, 1000);
	assert_int_equal(config.labels[0].per_ns, SECOND);
	assert_int_equal(config.labels[0].burst, 100);
	assert_int_equal(config.labels[0].kind, LIMIT_METERED);
}

static void test_charge_order(void **state)
{
	const struct policy_limit limits[] = {
		named(word(LIMIT_UNLIMITED), "unlimited"),
		named(packets(100, SECOND, 200), "100-pps"),
		named(bytes(150150, 65536), "100.1-frames"), /* 100.1 full frames per second */
		named(bytes(149850, 65536), "99.9-frames"),
		named(packets(1, DAY, 5), "daily"),
		named(packets(100, SECOND, 100), "100-pps-tight"),
		named(word(LIMIT_BLOCK), "block"),
		named(packets(10000000, SECOND, 1), "10-Mpps"), /* other ticks, all on one scale */
		named(packets(6000, MINUTE, 100), "100-pps-twin"),
		named(bytes(50000000000, 65536), "400-Gbit"),
	};
	static const char *const order[] = {
		"block",   "daily",	   "99.9-frames", "100-pps-tight", "100-pps-twin",
		"100-pps", "100.1-frames", "10-Mpps",	  "400-Gbit",	   "unlimited",
	};
	const unsigned int count = sizeof(limits) / sizeof(limits[0]);
	struct policy policy = policy_of(count, limits);
	struct config config = config_of(&policy);

	(void)state;
	for (unsigned int i = 0; i < count; i++) {
		assert_string_equal(config.labels[i].name, order[i]);
		/* Moved as a whole: the identity still is that of the place in the policy. */
		assert_string_equal(policy.limits[config.limits[i].id].name, order[i]);
		assert_int_equal(config.limits[i].slot, config.limits[i].id);
	}
}

static void test_actions(void **state)
{
	static const struct {
		enum when_full when_full;
		enum malformed_policy malformed;
		enum fragments_policy fragments;
		unsigned int table_full, bad, fragment;
	} rows[] = {
		{WHEN_FULL_PASS, MALFORMED_DROP, FRAGMENTS_DROP, XDP_PASS, XDP_DROP, XDP_DROP},
		{WHEN_FULL_DROP, MALFORMED_PASS, FRAGMENTS_PASS, XDP_DROP, XDP_PASS, XDP_PASS},
		{WHEN_FULL_PASS, MALFORMED_DROP, FRAGMENTS_COUNT, XDP_PASS, XDP_DROP, XDP_DROP},
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct policy policy = policy_of(0, NULL);
		struct config config;

		policy.when_full = rows[i].when_full;
		policy.when_full_given = true;
		policy.malformed = rows[i].malformed;
		policy.fragments = rows[i].fragments;
		policy.dry_run = i == 0; /* the program's business, not the table's */
		config = config_of(&policy);
		assert_int_equal(config.actions[REASON_TABLE_FULL], rows[i].table_full);
		assert_int_equal(config.actions[REASON_MALFORMED], rows[i].bad);
		assert_int_equal(config.actions[REASON_FRAGMENT], rows[i].fragment);
		assert_int_equal(config.actions[REASON_CONFORMING], XDP_PASS);
		assert_int_equal(config.actions[REASON_OVER_LIMIT], XDP_DROP);
		assert_int_equal(config.actions[REASON_CONTENDED], XDP_DROP);
		assert_int_equal(config.actions[REASON_SSH_GUARD], XDP_PASS);
		for (unsigned int reason = 0; reason < REASON_SLOTS; reason++)
			assert_int_not_equal(config.actions[reason], XDP_ABORTED);
	}
}

static void test_masks(void **state)
{
	static const struct {
		unsigned int ipv4, ipv6;
		uint32_t mask;
		uint64_t high, low;
	} rows[] = {
		{32, 64, 0xffffffff, UINT64_MAX, 0},
		{24, 56, 0xffffff00, 0xffffffffffffff00, 0},
		{1, 1, 0x80000000, 0x8000000000000000, 0},
		{0, 0, 0, 0, 0},
		{8, 65, 0xff000000, UINT64_MAX, 0x8000000000000000},
		{31, 127, 0xfffffffe, UINT64_MAX, 0xfffffffffffffffe},
		{32, 128, 0xffffffff, UINT64_MAX, UINT64_MAX},
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct policy policy = policy_of(0, NULL);
		struct config config;

		policy.ipv4_prefix = rows[i].ipv4;
		policy.ipv6_prefix = rows[i].ipv6;
		config = config_of(&policy);
		assert_int_equal(config.kinds[KIND_OWN].ipv4_mask, htonl(rows[i].mask));
		assert_true(config.kinds[KIND_OWN].ipv6_mask[0] == htobe64(rows[i].high));
		assert_true(config.kinds[KIND_OWN].ipv6_mask[1] == htobe64(rows[i].low));
	}
}

static void test_policy_not_in_table(void **state)
{
	const struct policy_limit limits[] = {packets(1000, SECOND, 100), bytes(125000, 65536)};
	struct policy policy = policy_of(1, limits);
	struct table_identity table = table_of(&policy);
	struct complaint why = {""};
	struct config config;

	(void)state;
	policy = policy_of(2, limits);
	assert_int_equal(compile_policy(&policy, &table, &facts, &config, &why), -ESTALE);
	assert_non_null(strstr(why.text, "limit bytes"));
}

/* ---- the way back ---- */

static struct limit_label label_of(const struct policy_limit *limit)
{
	return (struct limit_label){
		.amount = limit->rate.amount,
		.per_ns = limit->rate.per_ns,
		.burst = limit->burst,
		.kind = (__u8)limit->rate.kind,
	};
}

static void check_remaining(const struct limit *limit, uint64_t word_now, uint64_t remaining)
{
	struct bucket bucket = {.limit = limit, .word = word_now, .fanout = 3}, copy = bucket;

	if (limit->unit == UNIT_PACKETS) {
		assert_true(bucket_burst(&bucket, START, remaining, 1) == remaining);
		assert_false(bucket_charge(&bucket, START, 1));
		return;
	}
	if (remaining && remaining <= UNITS_MAX)
		assert_true(bucket_charge(&bucket, START, remaining));
	if (remaining < UNITS_MAX)
		assert_false(bucket_charge(&copy, START, remaining + 1));
}

/* Seconds to the last nanosecond that is still too early and the first that is not. */
static void check_retry(const struct limit *limit, uint64_t word_now, double retry_seconds)
{
	uint64_t smallest = limit->unit == UNIT_BYTES ? 60 : 1;
	double wait_ns = retry_seconds * (double)SECOND, error_ns = 1 + wait_ns / 1e15;
	struct bucket bucket = {.limit = limit, .word = word_now, .fanout = 3}, copy = bucket;

	if (wait_ns > 3 * error_ns)
		assert_false(
			bucket_charge(&bucket, START + (uint64_t)(wait_ns - error_ns), smallest));
	assert_true(bucket_charge(&copy, START + (uint64_t)(wait_ns + error_ns), smallest));
}

static void test_read_by_simulation(void **state)
{
	uint64_t seed = 4;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct policy_limit written = random_limit(&seed);
		struct limit_label label;
		struct limit_state read;
		struct limit limit;
		uint64_t debt, held;

		written.burst = 60 +
				written.burst % (written.rate.unit == UNIT_BYTES ? 4000000 : 500);
		label = label_of(&written);
		limit = compiled(written);
		debt = random_below(&seed, 4)
			       ? random_below(&seed, limit.burst + 1)
			       : limit.burst - random_below(&seed, limit.burst / 50 + 1);
		held = bucket_ticks(&limit, START) + debt;
		limit_read(&limit, &label, held, START, &read);
		check_remaining(&limit, held, read.remaining);
		check_retry(&limit, held, read.retry_after_seconds);
		assert_true(fabs(read.reset_seconds * (double)SECOND * (1 << limit.tick) -
				 (double)debt) <= 1 + (double)debt / 1e15);
	}
}

static void test_read_full(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct policy_limit written = random_limit(&seed);
		struct limit_label label = label_of(&written);
		struct limit limit = compiled(written);
		struct limit_state read;

		limit_read(&limit, &label, bucket_ticks(&limit, START - random_below(&seed, DAY)),
			   START, &read);
		assert_int_equal(read.remaining, written.burst);
		assert_true(read.reset_seconds == 0);
		assert_true(read.retry_after_seconds == 0);
	}
}

static void test_read_exhausted(void **state)
{
	struct policy_limit written = packets(10, SECOND, 50);
	struct limit_label label = label_of(&written);
	struct limit limit = compiled(written);
	struct limit_state read;

	(void)state;
	limit_read(&limit, &label, START + limit.burst, START, &read);
	assert_int_equal(read.remaining, 0);
	assert_true(fabs(read.retry_after_seconds - 0.1) < 1e-12);
	assert_true(fabs(read.reset_seconds - 5) < 1e-12);
	/* A CPU held up for less than the slack: it is waited out. */
	limit_read(&limit, &label, START + limit.burst + SECOND / 50, START, &read);
	assert_int_equal(read.remaining, 0);
	assert_true(fabs(read.retry_after_seconds - 0.12) < 1e-12);
	/* A foreign word will be put to "just exhausted" by the next packet. */
	limit_read(&limit, &label, START + limit.burst + DAY, START, &read);
	assert_int_equal(read.remaining, 0);
	assert_true(fabs(read.retry_after_seconds - 0.1) < 1e-12);
	assert_true(fabs(read.reset_seconds - 5) < 1e-12);
}

static void test_read_words(void **state)
{
	struct policy_limit unlimited = word(LIMIT_UNLIMITED), block = word(LIMIT_BLOCK);
	struct limit_label label = label_of(&unlimited);
	struct limit limit = compiled(unlimited);
	struct limit_state read;

	(void)state;
	limit_read(&limit, &label, START, START, &read);
	assert_true(read.remaining == UINT64_MAX);
	assert_true(read.retry_after_seconds == 0);
	label = label_of(&block);
	limit = compiled(block);
	limit_read(&limit, &label, START, START, &read);
	assert_int_equal(read.remaining, 0);
	assert_true(isinf(read.retry_after_seconds));
}

#define CASE(text, function)                     \
	{                                        \
		text, function, NULL, NULL, NULL \
	}

static const struct CMUnitTest tests[] = {
	CASE("each limit has the tick and multiplier of its rate", test_ticks),
	CASE("200 000 rates are within 1e-4 (packets) and 1e-3 (frames), never above", test_error),
	CASE("no product of the kernel overflows", test_products),
	CASE("a rounded burst has no room for a byte more", test_burst_is_exact),
	CASE("`unlimited` admits everything, `block` nothing", test_words),
	CASE("O-039: extreme rates and bursts behave or are refused with the reason", test_o039),
	CASE("O-042: low rate with burst: same everywhere, the refusal names the maximum",
	     test_o042),
	CASE("O-044: 200 Gbit/s is accepted, 2^63-1 refused, nothing wraps", test_o044),
	CASE("a burst below one packet or 60 bytes is refused", test_burst_below_a_packet),
	CASE("a refusal names its limit", test_refusal_names_limit),
	CASE("a kept tick holds from 10 000 ticks up and to a burst of 2^60", test_kept_tick),
	CASE("an eight times faster rate keeps its tick", test_eight_times_faster_keeps),
	CASE("a new table has the smallest group that holds its limits", test_table_new),
	CASE("a limit keeps its id and slot when rate, burst and place change",
	     test_identity_is_kept),
	CASE("ids and slots of limits that left are not given to others",
	     test_slot_is_never_given_again),
	CASE("another unit or algorithm is another limit", test_other_meaning_is_another_limit),
	CASE("a policy that needs another table is told why", test_other_table),
	CASE("a refused policy leaves the table as it was", test_table_refuses),
	CASE("O-119: the memory estimate is what the kernel takes", test_memory),
	CASE("the program's data says what policy and machine say", test_config),
	CASE("limits are charged slowest first, on one scale for packets and bytes",
	     test_charge_order),
	CASE("actions are the reasons' own unless the policy overrides them", test_actions),
	CASE("prefix masks are in network order", test_masks),
	CASE("a limit that the table does not know is refused", test_policy_not_in_table),
	CASE("remaining and retry-after are what a bucket then does", test_read_by_simulation),
	CASE("an idle bucket has its whole burst", test_read_full),
	CASE("an exhausted bucket says when the next packet fits", test_read_exhausted),
	CASE("`unlimited` and `block` are read as such", test_read_words),
};

int main(void)
{
	return cmocka_run_group_tests_name("compile", tests, NULL, NULL);
}
