// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A target without its fuzzer: every committed input of its corpus once, as one test. In a child, so
 * that of a failing corpus the inputs can be told that fail alone.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "fuzz.h"

#define INPUT_MAX  (1 << 20)
#define INPUTS_MAX 1000

struct corpus {
	const char *directory;
	struct dirent **entries;
	int count;
};

static int is_input(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void try_input(const struct corpus *corpus, int index)
{
	static uint8_t data[INPUT_MAX];
	char path[512];
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", corpus->directory, corpus->entries[index]->d_name);
	file = fopen(path, "re");
	must(file, "%s: %s", path, strerror(errno));
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
}

/* Whether a child that tries these inputs ends well. */
static bool survives(const struct corpus *corpus, int first, int count)
{
	int status = -1;
	pid_t child;

	fflush(NULL);
	child = fork();
	must(child >= 0, "fork: %s", strerror(errno));
	if (!child) {
		for (int i = first; i < first + count; i++)
			try_input(corpus, i);
		exit(0);
	}
	must(waitpid(child, &status, 0) == child, "waitpid: %s", strerror(errno));
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static void name_failing(const struct corpus *corpus)
{
	for (int i = 0; i < corpus->count; i++)
		if (!survives(corpus, i, 1))
			printf("# %s/%s fails\n", corpus->directory, corpus->entries[i]->d_name);
}

int main(int argc, char **argv)
{
	struct corpus corpus;
	char directory[256];
	bool ok;

	must(argc == 1 && strrchr(argv[0], '_'), "its name is replay_TARGET, and no arguments");
	snprintf(directory, sizeof(directory), "tests/fuzz/corpus/%s", strrchr(argv[0], '_') + 1);
	corpus.directory = directory;
	corpus.count = scandir(corpus.directory, &corpus.entries, is_input, alphasort);
	must(corpus.count > 0, "%s: no inputs", corpus.directory);
	ok = survives(&corpus, 0, corpus.count);
	printf("1..1\n%sok 1 - %s: %d inputs\n", ok ? "" : "not ", corpus.directory, corpus.count);
	if (!ok)
		name_failing(&corpus);
	for (int i = 0; i < corpus.count; i++)
		free(corpus.entries[i]);
	free(corpus.entries);
	return !ok;
}
