// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Policies written as in a file. */
#include "yaml_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "policy_file.h"
#include "prog.h"

void yaml_policy(struct policy *policy, const char *text)
{
	struct findings findings = {0};

	if (policy_parse(text, strlen(text), policy, &findings))
		fail_msg("%u:%u: %s", findings.list[0].line, findings.list[0].column,
			 findings.list[0].what.text);
	findings_free(&findings);
	if (!policy->sources_given)
		policy->sources = 65536;
	if (!strstr(text, "new-sources"))
		policy->new_sources = NEW_SOURCES_UNLIMITED;
	if (!policy->table_type_given)
		policy->table_type = usual_table();
}
