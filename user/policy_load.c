// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A policy file as commands need it: read, or all its errors told. */
#include "policy_load.h"

#include <errno.h>
#include "policy_file.h"
#include "report.h"

enum exit_status load_policy(const char *path, struct policy *policy)
{
	struct findings findings;
	struct complaint why;
	int err = policy_read(path, policy, &findings, &why);

	for (size_t i = 0; i < findings.count; i++)
		report_finding(path, findings.list[i].line, findings.list[i].column,
			       findings.list[i].what.text);
	if (err && !findings.count)
		report_error("%s", why.text);
	findings_free(&findings);
	if (!err)
		return EXIT_DONE;
	return err == -ENOMEM ? EXIT_FAILED : EXIT_USAGE;
}
