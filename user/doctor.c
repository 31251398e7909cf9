// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-limit doctor: one screen about this machine and an interface, and what must be fixed. */
#include "doctor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "command.h"
#include "json.h"
#include "report.h"

#define SCREEN_WIDTH 80
#define INDENT	     18

static const char *const state_words[] = {
	[FINDING_OK] = "ok",
	[FINDING_INFO] = "info",
	[FINDING_FIX] = "fix",
};

/* @text between INDENT and the screen's edge, broken at blanks; @column is where we stand. */
static void print_wrapped(const char *text, int column)
{
	while (*text) {
		int word = (int)strcspn(text, " ");

		if (column > INDENT && column + 1 + word > SCREEN_WIDTH) {
			printf("\n%*s", INDENT, "");
			column = INDENT;
		} else if (column > INDENT) {
			putchar(' ');
			column++;
		}
		printf("%.*s", word, text);
		column += word;
		text += word;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static void print_finding(const char *name, const struct finding *finding)
{
	printf("  %-4s  %-9s ", state_words[finding->state], name);
	print_wrapped(finding->value, INDENT);
	if (!finding->advice[0])
		return;
	printf("%*s%s", INDENT, "", finding->state == FINDING_FIX ? "fix:" : "note:");
	print_wrapped(finding->advice, INDENT + 5);
}

static struct json_object *finding_json(const char *name, const struct finding *finding)
{
	struct json_object *object = json_object_new_object();

	json_put_text(object, "check", name);
	json_put_text(object, "state", state_words[finding->state]);
	json_put_text(object, "value", finding->value);
	json_put_text(object, "advice", finding->advice[0] ? finding->advice : NULL);
	return object;
}

/* Calls @tell for each of @checks that found something; how many must be fixed. */
static int examine(const struct check *checks, const struct facts *facts,
		   void (*tell)(const struct check *check, const struct finding *finding,
				void *context),
		   void *context)
{
	int fixes = 0;

	for (; checks->name; checks++) {
		struct finding finding = {.state = FINDING_OK};

		checks->judge(checks, facts, &finding);
		if (!finding.value[0])
			continue;
		tell(checks, &finding, context);
		fixes += finding.state == FINDING_FIX;
	}
	return fixes;
}

static void print_fix(const struct check *check, const struct finding *finding, void *context)
{
	bool *first = context;

	if (finding->state != FINDING_FIX)
		return;
	if (*first)
		puts("to fix");
	*first = false;
	print_finding(check->name, finding);
}

static void print_other(const struct check *check, const struct finding *finding, void *context)
{
	(void)context;
	if (finding->state != FINDING_FIX && !(check->detail && finding->state == FINDING_OK))
		print_finding(check->name, finding);
}

static void add_json(const struct check *check, const struct finding *finding, void *context)
{
	json_object_array_add(context, finding_json(check->name, finding));
}

static struct json_object *new_array(struct json_object *root, const char *key)
{
	struct json_object *array = json_object_new_array();

	json_object_object_add(root, key, array);
	return array;
}

/* What to fix comes first: the rest is to be pasted. */
static int show_text(const char *name, const struct facts *facts)
{
	bool first = true;
	int fixes = examine(machine_checks, facts, print_fix, &first);

	if (name)
		fixes += examine(interface_checks, facts, print_fix, &first);
	puts("this machine");
	examine(machine_checks, facts, print_other, NULL);
	if (name) {
		puts(name);
		examine(interface_checks, facts, print_other, NULL);
	}
	if (fixes)
		printf("%d to fix\n", fixes);
	else
		puts("nothing to fix");
	return fixes;
}

static int show_json(const char *name, const struct facts *facts)
{
	struct json_object *root = json_object_new_object();
	int fixes;

	json_put_text(root, "interface", name);
	fixes = examine(machine_checks, facts, add_json, new_array(root, "machine"));
	if (name)
		fixes += examine(interface_checks, facts, add_json, new_array(root, "checks"));
	json_put_number(root, "fixes", fixes);
	json_print(root);
	return fixes;
}

static enum exit_status run(const struct invocation *invocation)
{
	const char *name = invocation->positionals[0];
	struct facts facts;
	struct complaint why;
	int err = name ? gather_interface(name, &facts.interface, &why) : 0;
	int fixes;

	if (err) {
		report_error("%s", why.text);
		return err == -ENODEV ? EXIT_NOT_ATTACHED : EXIT_FAILED;
	}
	gather_machine(&facts.machine);
	fixes = invocation->json ? show_json(name, &facts) : show_text(name, &facts);
	return fixes ? EXIT_FAILED : EXIT_DONE;
}

const struct command command_doctor = {
	.name = "doctor",
	.arguments = "[IFACE] [--json]",
	.summary = "one screen: this machine, an interface, what to fix",
	.notes =
		"Changes nothing. Exit status 1 when something must be fixed before a limiter works\n"
		"here: that comes first, each with its \"fix:\". 3 when there is no such interface.\n"
		"The screen is meant to be pasted into an issue; --json has every detail.",
	.positionals_max = 1,
	.reads = true,
	.anywhere = true,
	.run = run,
};
