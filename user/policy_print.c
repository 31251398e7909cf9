// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The policy as a YAML file: from the policy to a text that reads back to the same one. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "compile.h"
#include "match_words.h"
#include "policy_file.h"
#include "prefix.h"
#include "words.h"

/* ---- values ---- */

/* A name that begins with "-" would look like an item of a list. */
static void print_name(const char *name, FILE *out)
{
	const char *quote = name[0] == '-' ? "\"" : "";

	fprintf(out, "%s%s%s", quote, name, quote);
}

/* IPv6 in quotes: its colons mean something to YAML. */
static void print_prefix(const struct policy_prefix *prefix, FILE *out)
{
	const char *quote = address_is_ipv4(&prefix->address) ? "" : "\"";
	char text[ADDRESS_TEXT_SIZE];

	format_prefix(prefix, text);
	fprintf(out, "%s%s%s", quote, text, quote);
}

static void print_rate(const struct rate *rate, FILE *out)
{
	char text[UNITS_TEXT_SIZE];

	format_rate(rate, text, sizeof(text));
	fputs(text, out);
}

static void print_burst(uint64_t burst, enum unit unit, FILE *out)
{
	char text[UNITS_TEXT_SIZE];

	format_burst(burst, unit, text, sizeof(text));
	fputs(text, out);
}

/* ---- match ---- */

static void print_range(const struct range *range, const struct match_word *words, FILE *out)
{
	for (int i = 0; words && words[i].text; i++)
		if (range->first == range->last && words[i].value == range->first) {
			fputs(words[i].text, out);
			return;
		}
	fprintf(out, "%" PRIu32, range->first);
	if (range->last != range->first)
		fprintf(out, "-%" PRIu32, range->last);
}

/* What stands before the next field; empty before the first. */
static const char *next_field(const char **separator)
{
	const char *now = *separator;

	*separator = ", ";
	return now;
}

static void print_ranges(const char *key, const struct range_list *list,
			 const struct match_word *words, const char **separator, FILE *out)
{
	if (!list->count)
		return;
	fprintf(out, "%s%s: [", next_field(separator), key);
	for (unsigned int i = 0; i < list->count; i++) {
		fputs(i ? ", " : "", out);
		print_range(&list->ranges[i], words, out);
	}
	fputc(']', out);
}

static void print_flags(const struct policy_match *match, const char **separator, FILE *out)
{
	const char *comma = "";

	if (!match->flags_mask)
		return;
	fprintf(out, "%stcp-flags: \"", next_field(separator));
	for (int i = 0; flag_words[i].text; i++) {
		if (!(match->flags_mask & flag_words[i].value))
			continue;
		fprintf(out, "%s%s%s", comma, match->flags_value & flag_words[i].value ? "" : "!",
			flag_words[i].text);
		comma = ",";
	}
	fputc('"', out);
}

static void print_destinations(const struct prefix_list *list, const char **separator, FILE *out)
{
	if (!list->count)
		return;
	fprintf(out, "%sdestination: [", next_field(separator));
	for (unsigned int i = 0; i < list->count; i++) {
		fputs(i ? ", " : "", out);
		print_prefix(&list->prefixes[i], out);
	}
	fputc(']', out);
}

static void print_match(const struct policy_match *match, FILE *out)
{
	const char *separator = "";

	fputs("    match: {", out);
	print_ranges("protocol", &match->protocols, protocol_words, &separator, out);
	print_ranges("source-port", &match->source_ports, NULL, &separator, out);
	print_ranges("destination-port", &match->destination_ports, NULL, &separator, out);
	print_flags(match, &separator, out);
	print_destinations(&match->destinations, &separator, out);
	if (match->family)
		fprintf(out, "%sfamily: ipv%u", next_field(&separator), match->family);
	print_ranges("vlan", &match->vlans, NULL, &separator, out);
	print_ranges("length", &match->lengths, NULL, &separator, out);
	fputs("}\n", out);
}

/* ---- limits ---- */

static void print_per(const struct policy_per *per, FILE *out)
{
	if (per->ipv4_prefix && per->ipv6_prefix)
		fprintf(out, "    per: [source/%u, source/%u]\n", per->ipv4_prefix,
			per->ipv6_prefix);
	else if (per->ipv4_prefix || per->ipv6_prefix)
		fprintf(out, "    per: source/%u\n", per->ipv4_prefix ?: per->ipv6_prefix);
	else
		fprintf(out, "    per: %s\n", per_words[per->per]);
}

static void print_tier_rates(const struct policy *policy, const struct policy_limit *limit,
			     FILE *out)
{
	const char *heading = "    tiers:\n";

	for (unsigned int i = 0; i < policy->tier_count; i++) {
		const struct policy_tier_rate *tier = &limit->tiers[i];

		if (!tier->given)
			continue;
		fprintf(out, "%s      ", heading);
		heading = "";
		print_name(policy->tiers[i].name, out);
		fputs(": {rate: ", out);
		print_rate(&tier->rate, out);
		if (tier->rate.kind == LIMIT_METERED && !has_window(limit->algorithm)) {
			fputs(", burst: ", out);
			print_burst(tier->burst, tier->rate.unit, out);
		}
		fputs("}\n", out);
	}
}

static void print_on_exceed(const struct policy_limit *limit, FILE *out)
{
	char text[UNITS_TEXT_SIZE];

	if (!limit->ban_ns) {
		fputs("    on-exceed: drop\n", out);
		return;
	}
	format_time(limit->ban_ns, text, sizeof(text));
	fprintf(out, "    on-exceed: {ban: %s, extend: %s}\n", text,
		boolean_words[limit->ban_extends]);
}

static void print_limit(const struct policy *policy, const struct policy_limit *limit, FILE *out)
{
	fputs("  - name: ", out);
	print_name(limit->name, out);
	fputs("\n    rate: ", out);
	print_rate(&limit->rate, out);
	fputc('\n', out);
	if (limit->rate.kind == LIMIT_METERED && !has_window(limit->algorithm)) {
		fputs("    burst: ", out);
		print_burst(limit->burst, limit->rate.unit, out);
		fputc('\n', out);
	}
	print_tier_rates(policy, limit, out);
	if (!policy_matches_all(&limit->match))
		print_match(&limit->match, out);
	print_per(&limit->per, out);
	fprintf(out, "    algorithm: %s\n", algorithm_words[limit->algorithm]);
	print_on_exceed(limit, out);
	fprintf(out, "    mode: %s\n", observe_words[limit->observe]);
}

/* ---- the rest ---- */

/* What was not given is left out: it takes what the running table has. */
static void print_table(const struct policy *policy, FILE *out)
{
	fputs("table:\n", out);
	if (policy->table_type_given)
		fprintf(out, "  type: %s\n", table_words[policy->table_type]);
	if (policy->sources_given)
		fprintf(out, "  sources: %" PRIu64 "\n", policy->sources);
	if (policy->ipv4_prefix_given)
		fprintf(out, "  ipv4-prefix: %u\n", policy->ipv4_prefix);
	if (policy->ipv6_prefix_given)
		fprintf(out, "  ipv6-prefix: %u\n", policy->ipv6_prefix);
	fputs("  new-sources: ", out);
	if (policy->new_sources == NEW_SOURCES_RATE)
		print_rate(&policy->new_sources_rate, out);
	else
		fputs(policy->new_sources == NEW_SOURCES_AUTO ? "auto" : "unlimited", out);
	fprintf(out, "\n  new-sources-beyond: %s\n", beyond_words[policy->new_sources_beyond_pass]);
	if (policy->when_full_given)
		fprintf(out, "  when-full: %s\n", when_full_words[policy->when_full]);
}

static void print_prefixes(const char *key, const char *indent, const struct policy_prefixes *list,
			   FILE *out)
{
	fprintf(out, "%s%s:%s\n", indent, key, list->count ? "" : " []");
	for (size_t i = 0; i < list->count; i++) {
		fprintf(out, "%s  - ", indent);
		print_prefix(&list->prefixes[i], out);
		fputc('\n', out);
	}
}

static void print_tiers(const struct policy *policy, FILE *out)
{
	if (policy->tier_count)
		fputs("tiers:\n", out);
	for (unsigned int i = 0; i < policy->tier_count; i++) {
		fputs("  - name: ", out);
		print_name(policy->tiers[i].name, out);
		fputc('\n', out);
		print_prefixes("sources", "    ", &policy->tiers[i].sources, out);
	}
}

int policy_print(const struct policy *policy, FILE *out)
{
	errno = 0;
	print_table(policy, out);
	fprintf(out, "fragments: %s\n", fragments_words[policy->fragments]);
	fprintf(out, "malformed: %s\n", malformed_words[policy->malformed]);
	fprintf(out, "dry-run: %s\n", boolean_words[policy->dry_run]);
	fprintf(out, "measure: %u\n", policy->measure);
	print_prefixes("allow", "", &policy->allow, out);
	print_prefixes("deny", "", &policy->deny, out);
	print_tiers(policy, out);
	fputs("limits:\n", out);
	for (unsigned int i = 0; i < policy->limit_count; i++)
		print_limit(policy, &policy->limits[i], out);
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

int policy_to_text(const struct policy *policy, char **text, size_t *size)
{
	FILE *out;
	int err;

	*text = NULL;
	out = open_memstream(text, size);
	err = out ? policy_print(policy, out) : -errno;
	if (out && fclose(out) && !err)
		err = -errno;
	return err;
}
