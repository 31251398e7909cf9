// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The policy file: any bytes end in a policy or in findings, and what was read prints to itself. */
#include <errno.h>
#include <string.h>
#include "compile.h"
#include "compile_match.h"
#include "fuzz.h"
#include "policy_file.h"
#include "same_policy.h"

static void must_be_places(const struct findings *findings)
{
	must(findings->count, "refused without a finding");
	for (size_t i = 0; i < findings->count; i++) {
		must(findings->list[i].line && findings->list[i].column, "finding %zu", i);
		must_be_sentence(findings->list[i].what.text);
	}
}

/* For free(). */
static char *print(const struct policy *policy, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	must(out, "memory");
	must(!policy_print(policy, out), "cannot print");
	fclose(out);
	return text;
}

static void must_print_to_itself(const struct policy *policy)
{
	static struct policy again;
	struct findings findings;
	size_t size, size_again;
	char *text = print(policy, &size), *text_again;

	must(!policy_parse(text, size, &again, &findings), "%u:%u: %s, of:\n%s",
	     findings.list[0].line, findings.list[0].column, findings.list[0].what.text, text);
	must(same_policy(policy, &again), "another policy, of:\n%s", text);
	text_again = print(&again, &size_again);
	must(!strcmp(text, text_again), "%s\nand then:\n%s", text, text_again);
	findings_free(&findings);
	policy_free(&again);
	free(text_again);
	free(text);
}

/* As attach would, on this many CPUs: what policy_parse() takes fits one, and others say why not. */
static void must_compile(const struct policy *policy, unsigned int cpus)
{
	const struct compile_facts facts = {.possible_cpus = cpus};
	static struct table_identity table;
	static struct match_tables tables;
	static struct config config;
	struct complaint why = {""};

	must(!table_new(policy, &table, &why), "%s", why.text);
	if (!compile_policy(policy, &table, &facts, &config, &why)) {
		compile_match(policy, &config, &tables);
		return;
	}
	must(cpus > 1, "%s", why.text);
	must_be_sentence(why.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct policy policy;
	struct findings findings;
	int err = policy_parse((const char *)data, size, &policy, &findings);

	must(!err || err == -EINVAL, "%d", err);
	if (err) {
		must_be_places(&findings);
	} else {
		must_print_to_itself(&policy);
		must_compile(&policy, 1);
		must_compile(&policy, 256);
	}
	findings_free(&findings);
	policy_free(&policy);
	return 0;
}
