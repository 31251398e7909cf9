// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Addresses, prefixes and files of them: each is refused or prints to itself, and no line is lost. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz.h"
#include "list_file.h"
#include "prefix.h"

static void try_address(const char *text)
{
	struct address address, again;
	char printed[ADDRESS_TEXT_SIZE];
	struct complaint why = {""};
	int err = parse_address(text, &address, &why);

	if (err) {
		must_be_refusal(err, &why);
		return;
	}
	format_address(&address, printed);
	must(!parse_address(printed, &again, &why), "%s", why.text);
	must(!memcmp(&address, &again, sizeof(address)), "%s", printed);
}

static void must_print_prefix(const struct policy_prefix *prefix)
{
	struct address cut = prefix->address;
	char printed[ADDRESS_TEXT_SIZE];
	struct policy_prefix again;
	struct complaint why;

	address_cut(&cut, prefix->length);
	must(!memcmp(&cut, &prefix->address, sizeof(cut)), "bits beyond /%u", prefix->length);
	format_prefix(prefix, printed);
	must(!parse_prefix(printed, &again, &why), "%s", why.text);
	must(again.length == prefix->length &&
		     !memcmp(&again.address, &prefix->address, sizeof(again.address)),
	     "%s", printed);
}

static void try_prefix(const char *text)
{
	struct policy_prefix prefix;
	struct complaint why = {""};
	int err = parse_prefix(text, &prefix, &why);

	if (err)
		must_be_refusal(err, &why);
	else
		must_print_prefix(&prefix);
}

/* Lines that hold something, by another reading of the format than the one that is tried. */
static size_t count_words(const uint8_t *data, size_t size)
{
	size_t mark = size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0, words = 0;
	bool word = false, comment = false;

	for (size_t i = mark; i < size; i++) {
		if (data[i] == '\n') {
			word = comment = false;
		} else if (data[i] == '#' || data[i] == '\r') {
			comment = true;
		} else if (!word && !comment && data[i] != ' ' && data[i] != '\t') {
			word = true;
			words++;
		}
	}
	return words;
}

/* A file of these bytes, by a name that list_file_read() can open. */
static const char *make_file(const uint8_t *data, size_t size)
{
	static char path[64];
	static int file = -1;

	if (file < 0) {
		file = memfd_create("list", MFD_CLOEXEC);
		must(file >= 0, "memfd: %s", strerror(errno));
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	}
	must(!ftruncate(file, 0), "%s", strerror(errno));
	must(pwrite(file, data, size, 0) == (ssize_t)size, "%s", strerror(errno));
	return path;
}

static void try_list(const uint8_t *data, size_t size)
{
	struct policy_prefixes list = {0};
	struct complaint why = {""};
	int err = list_file_read(make_file(data, size), &list, &why);
	size_t words = count_words(data, size);

	if (err)
		must_be_refusal(err, &why);
	else
		must(list.count == words, "%zu prefixes of %zu lines", list.count, words);
	for (size_t i = 0; i < list.count; i++)
		must_print_prefix(&list.prefixes[i]);
	free(list.prefixes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size);

	try_list(data, size);
	text[strcspn(text, "\n")] = '\0';
	try_address(text);
	try_prefix(text);
	free(text);
	return 0;
}
