// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads a time or a plain count, or says what is wrong with it. */
#include <errno.h>
#include <inttypes.h>
#include "units_scan.h"

int parse_time(const char *text, uint64_t *ns, struct complaint *why)
{
	const struct time_unit *unit;
	struct decimal number;
	const char *at = text;
	int err = scan_decimal(&at, &number);

	if (!err && at_end(at))
		return complain(why, -EINVAL, "\"%.80s\" has no unit; write \"%.80ss\" for seconds",
				text, text);
	unit = err ? NULL : find_time_unit(scan_word(&at));
	if (err != -ERANGE && (!unit || !at_end(at)))
		return complain(why, -EINVAL,
				"\"%.80s\" is not a time; write a number with ns, us, ms, s, "
				"m (minutes), h or d, such as \"30s\"",
				text);
	if (err || time_ns(&number, unit, ns))
		return complain(why, -ERANGE,
				"\"%.80s\" is out of range; a time is a whole number of ns, "
				"at most 213503d",
				text);
	return 0;
}

int parse_count(const char *text, const char *noun, uint64_t min, uint64_t max, uint64_t *count,
		struct complaint *why)
{
	struct decimal number;
	const char *at = text;
	int err = scan_decimal(&at, &number);

	if (err != -ERANGE && (err || !at_end(at) || number.scale != 1))
		return complain(why, -EINVAL,
				"%s \"%.80s\" is not a whole number; write one from %" PRIu64
				" to %" PRIu64,
				noun, text, min, max);
	if (err || number.digits > max)
		return complain(why, -ERANGE, "%s %.80s is too large; the maximum is %" PRIu64,
				noun, text, max);
	if (number.digits < min)
		return complain(why, -ERANGE, "%s %.80s is too small; the minimum is %" PRIu64,
				noun, text, min);
	*count = number.digits;
	return 0;
}
