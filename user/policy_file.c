// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The policy as a YAML file: from its text to the policy, with all errors in their places. */
#include "policy_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "compile.h"
#include "policy_sections.h"
#include "prefix.h"
#include "trust.h"
#include "words.h"

/* ---- lists of prefixes ---- */

int read_prefix(struct reader *reader, const yaml_node_t *node, struct policy_prefix *prefix)
{
	struct complaint why;
	const char *text;

	if (node->type == YAML_MAPPING_NODE) {
		blame(reader, node,
		      "an address must be a single value; put one that ends in a colon in "
		      "quotes: \"2001:db8::\"");
		return -1;
	}
	text = read_text(reader, node, "an address");
	if (!text)
		return -1;
	if (!parse_prefix(text, prefix, &why))
		return 0;
	blame(reader, node, "%s", why.text);
	return -1;
}

static void read_list_prefix(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct policy_prefix prefix;

	if (!read_prefix(reader, node, &prefix) && policy_add_prefix(target, &prefix))
		reader->err = -ENOMEM;
}

void read_prefixes(struct reader *reader, const yaml_node_t *node, void *target)
{
	if (!is_absent(node))
		read_values(reader, node, "a list of addresses", read_list_prefix, target);
}

/* ---- the table ---- */

static void read_type(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct policy *policy = target;
	int word = read_word(reader, node, "type", table_words);

	if (word < 0)
		return;
	policy->table_type = (enum table_type)word;
	policy->table_type_given = true;
}

static void read_sources(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct policy *policy = target;

	policy->sources_given = !read_count(reader, node, "sources", SOURCES_MIN, SOURCES_MAX,
					    &policy->sources);
}

static void read_ipv4_prefix(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct policy *policy = target;
	uint64_t length = policy->ipv4_prefix;

	policy->ipv4_prefix_given = !read_count(reader, node, "ipv4-prefix", 1, 32, &length);
	policy->ipv4_prefix = (unsigned int)length;
}

static void read_ipv6_prefix(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct policy *policy = target;
	uint64_t length = policy->ipv6_prefix;

	policy->ipv6_prefix_given = !read_count(reader, node, "ipv6-prefix", 1, 128, &length);
	policy->ipv6_prefix = (unsigned int)length;
}

static void read_new_sources(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct policy *policy = target;
	const char *text = read_text(reader, node, "new-sources");
	struct rate rate;

	if (!text || !strcmp(text, "auto"))
		return;
	if (read_rate(reader, node, "new-sources", UNIT_PACKETS, &rate))
		return;
	if (rate.kind == LIMIT_BLOCK) {
		blame(reader, node,
		      "new-sources can't be block; write auto, unlimited or a rate such as "
		      "5000/s");
	} else if (rate.kind == LIMIT_UNLIMITED) {
		policy->new_sources = NEW_SOURCES_UNLIMITED;
	} else {
		policy->new_sources = NEW_SOURCES_RATE;
		policy->new_sources_rate = rate;
	}
}

static void read_beyond(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct policy *policy = target;

	policy->new_sources_beyond_pass = read_word(reader, node, "new-sources-beyond",
						    beyond_words) > 0;
}

static void read_when_full(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct policy *policy = target;
	int word = read_word(reader, node, "when-full", when_full_words);

	if (word < 0)
		return;
	policy->when_full = (enum when_full)word;
	policy->when_full_given = true;
}

/* What no key can know alone. */
static void check_table(struct reader *reader, const yaml_node_t *table)
{
	const struct policy *policy = reader->policy;

	if (policy->when_full == WHEN_FULL_INHERIT && policy->table_type != TABLE_FLAT)
		blame(reader, mapping_value(reader, table, "when-full"),
		      "when-full: inherit is for the flat table; write pass or drop, or type: flat");
}

void read_table(struct reader *reader, const yaml_node_t *node, void *target)
{
	static const struct key keys[] = {
		{"type", read_type, false},
		{"sources", read_sources, false},
		{"ipv4-prefix", read_ipv4_prefix, false},
		{"ipv6-prefix", read_ipv6_prefix, false},
		{"new-sources", read_new_sources, false},
		{"new-sources-beyond", read_beyond, false},
		{"when-full", read_when_full, false},
		{NULL, NULL, false},
	};

	read_mapping(reader, node, "table", keys, target);
	check_table(reader, node);
}

/* ---- the top ---- */

static void read_fragments(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct policy *policy = target;
	int word = read_word(reader, node, "fragments", fragments_words);

	if (word >= 0)
		policy->fragments = (enum fragments_policy)word;
}

static void read_malformed(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct policy *policy = target;
	int word = read_word(reader, node, "malformed", malformed_words);

	if (word >= 0)
		policy->malformed = (enum malformed_policy)word;
}

static void read_dry_run(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct policy *policy = target;

	policy->dry_run = read_word(reader, node, "dry-run", boolean_words) > 0;
}

static void read_measure(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct policy *policy = target;
	uint64_t every = 0;

	read_count(reader, node, "measure", 0, MEASURE_MAX, &every);
	policy->measure = (uint32_t)every;
}

static void read_allow(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct policy *policy = target;

	read_prefixes(reader, node, &policy->allow);
}

static void read_deny(struct reader *reader, const yaml_node_t *node, void *target)
{
	struct policy *policy = target;

	read_prefixes(reader, node, &policy->deny);
}

/* Whether the limits fit together: what no single one of them can know. */
static void check_whole(struct reader *reader, const yaml_node_t *root)
{
	const struct policy *policy = reader->policy;
	const struct compile_facts facts = {.possible_cpus = 1};
	struct table_identity table;
	struct complaint why;
	struct config config;

	if (policy_check(policy, &why) || table_new(policy, &table, &why) ||
	    compile_policy(policy, &table, &facts, &config, &why))
		blame(reader, mapping_value(reader, root, "limits"), "%s", why.text);
}

static void read_root(struct reader *reader, const yaml_node_t *root)
{
	/* Tiers before the limits that use them. */
	// clang-format off
	static const struct key keys[] = {
		{"table", read_table, false},
		{"fragments", read_fragments, false},
		{"malformed", read_malformed, false},
		{"dry-run", read_dry_run, false},
		{"allow", read_allow, false},
		{"deny", read_deny, false},
		{"tiers", read_tiers, false},
		{"limits", read_limits, true},
		{"measure", read_measure, false},
		{NULL, NULL, false},
	};
	// clang-format on

	read_mapping(reader, root, "a policy", keys, reader->policy);
	if (!reader->findings->count && !reader->err)
		check_whole(reader, root);
}

/* ---- from text ---- */

/* What has no node to point at. */
static int blame_file(struct findings *findings, const char *sentence)
{
	struct complaint *what = findings_add(findings, 1, 1);

	return what ? complain(what, 0, "%s", sentence) : -ENOMEM;
}

static bool is_empty(const yaml_node_t *root)
{
	return !root || (is_scalar(root) && !root->data.scalar.length);
}

static int read_document(yaml_document_t *document, struct policy *policy,
			 struct findings *findings)
{
	struct reader reader = {.document = document, .policy = policy, .findings = findings};
	const yaml_node_t *root = yaml_document_get_root_node(document);

	if (is_empty(root))
		return blame_file(findings,
				  "the policy is empty; it needs at least one limit, such as "
				  "limits: [{name: default, rate: 1000 pps}]");
	read_root(&reader, root);
	return reader.err;
}

/* The text has been scanned, so only memory can be missing. */
static int load(const char *text, size_t size, struct policy *policy, struct findings *findings)
{
	yaml_document_t document;
	yaml_parser_t parser;
	int err = -ENOMEM;

	if (!yaml_parser_initialize(&parser))
		return err;
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	if (yaml_parser_load(&parser, &document)) {
		err = read_document(&document, policy, findings);
		yaml_document_delete(&document);
	}
	yaml_parser_delete(&parser);
	return err;
}

int policy_parse(const char *text, size_t size, struct policy *policy, struct findings *findings)
{
	int err;

	memset(policy, 0, sizeof(*policy)); /* padding too: policies are compared */
	policy_defaults(policy);
	*findings = (struct findings){0};
	if (size > POLICY_SIZE_MAX)
		err = blame_file(findings,
				 "the file is larger than 4 MiB; keep long lists in files of "
				 "their own (`xdp-limit deny IFACE add --file FILE`)");
	else
		err = scan_yaml(text, size, findings);
	if (!err && !findings->count)
		err = load(text, size, policy, findings);
	findings_sort(findings);
	return err ?: findings->count ? -EINVAL : 0;
}

/* ---- from a file ---- */

/* One byte more than is allowed shows that there is too much. */
static int read_stream(FILE *file, char **text, size_t *size)
{
	*text = malloc(POLICY_SIZE_MAX + 1);
	if (!*text)
		return -ENOMEM;
	errno = 0;
	*size = fread(*text, 1, POLICY_SIZE_MAX + 1, file);
	return ferror(file) ? -errno : 0;
}

int policy_read(const char *path, struct policy *policy, struct findings *findings,
		struct complaint *why)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char *text = NULL;
	size_t size = 0;
	int err = file ? 0 : -errno;

	memset(policy, 0, sizeof(*policy));
	policy_defaults(policy);
	*findings = (struct findings){0};
	why->text[0] = '\0';
	if (!err && file != stdin)
		err = file_trusted(fileno(file), path, why);
	err = err ?: read_stream(file, &text, &size);
	if (err && why->text[0])
		;
	else if (err)
		complain(why, err, "cannot read %.300s: %s", path, strerror(-err));
	else
		err = policy_parse(text, size, policy, findings);
	if (err == -ENOMEM)
		complain(why, err, "cannot read %.300s: %s", path, strerror(-err));
	if (file && file != stdin)
		fclose(file);
	free(text);
	return err;
}
